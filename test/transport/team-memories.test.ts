/** Memories and sessions that came from other machines, through the operations of a daemon with a real store. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CallableName, runOperation } from '../../src/api/index.ts'
import { LOCAL_CALLER } from '../../src/api/operation.ts'
import { sessionViewLines } from '../../src/cli/render/session.ts'
import { createStyle } from '../../src/cli/style.ts'
import { Forgetting } from '../../src/daemon/forgetting.ts'
import { MemoryChanges } from '../../src/daemon/memory-changes.ts'
import type { SearchHit } from '../../src/domain/search-query.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import type { SessionView } from '../../src/store/port.ts'
import { Harness } from '../daemon/actors/harness.ts'
import { commitOf, NOW, observationOf, passageOf, promptOf, record, stateOf, summaryOf } from '../store/samples.ts'
import { type TestContext, testContext } from './context.ts'

const ME = 'carol'
const ALICE = { author: 'alice', machine: 'laptop' }
const DESKTOP = { author: ME, machine: 'desktop' }
const state = stateOf({ status: 'completed', state: 'closed' })

let h: Harness
let context: TestContext

beforeEach(async () => {
  h = await new Harness().start()
  context = testContext(h, dataPaths(h.directory), { now: () => NOW, me: () => ME })
  await h.store.commit([
    commitOf('here', 1, {
      events: [record(promptOf('here', 'e1'))],
      observations: [observationOf([], { title: 'Own token cache', model: 'offline' })],
    }),
    commitOf('of-desktop', 1, {
      state,
      observations: [observationOf([], { title: 'Desktop token cache', ...DESKTOP })],
    }),
    commitOf('of-alice', 1, {
      state,
      observations: [observationOf([], { title: 'Alice token cache', model: 'offline', status: 'open', ...ALICE })],
      summaries: [summaryOf({ request: 'Rework the token cache', ...ALICE })],
      passages: [{ ...passageOf('token cache of alice'), ...ALICE }],
    }),
  ])
  for (let left = true; left; ) {
    const { done, total } = await h.store.indexNext(100)
    left = done < total
  }
})
afterEach(async () => {
  await context.close()
  await h.dispose()
})

const call = async (name: CallableName, input: object = {}) =>
  (await runOperation(name, input, context, LOCAL_CALLER)) as Record<string, unknown>
const hits = async (input: object) => ((await call('search', input)).answer as { hits: SearchHit[] }).hits

describe('the author filter', () => {
  test.each([
    ['me', [1, 2]],
    [ME, [1, 2]],
    ['alice', [3]],
    ['offline', [1]],
    ['nobody', []],
  ])('author %s', async (author, expected) => {
    const found = await hits({ author, kinds: ['observation'] })
    expect(found.map(({ id }) => id).sort()).toEqual(expected)
  })

  test('applies to summaries and passages too', async () => {
    const kinds = async (author: string) =>
      (await hits({ query: 'token cache', author })).flatMap((hit) => [hit, ...hit.further]).map(({ kind }) => kind)
    expect(new Set(await kinds('alice'))).toEqual(new Set(['observation', 'summary', 'passage']))
    expect(new Set(await kinds('me'))).toEqual(new Set(['observation']))
  })
})

describe('what is shown', () => {
  test("a hit of somebody else has its author; one's own has none, also from another machine", async () => {
    const found = await hits({ kinds: ['observation'] })
    const byId = new Map(found.map((hit) => [hit.id, hit]))
    expect(byId.get(3)).toMatchObject(ALICE)
    expect(byId.get(2)).toMatchObject({ author: null, machine: 'desktop' })
    expect(byId.get(1)?.author ?? null).toBeNull()
  })

  test('a memory of somebody else ranks by the same rules as the same memory of ones own', async () => {
    const scores = await Promise.all(
      ['me', 'alice'].map(
        async (author) => (await hits({ query: 'token', author, kinds: ['observation'] }))[0]?.explanation,
      ),
    )
    expect(scores[0]?.score).toBeGreaterThan(0)
    expect(scores[1]?.score).toBeCloseTo(scores[0]?.score ?? 0, 1)
  })

  test('observations, timeline, summaries and the story have the author', async () => {
    expect(await call('observations', { ids: [3, 2] })).toMatchObject({
      observations: [ALICE, { author: null, machine: 'desktop' }],
    })
    const { items } = (await call('timeline', { anchor: 3 })) as {
      items: { id: number; kind: string; author?: string }[]
    }
    expect(items.find(({ id, kind }) => id === 3 && kind === 'observation')?.author).toBe('alice')
    expect(await call('summaries', { session: 'of-alice' })).toMatchObject({ summaries: [ALICE] })
    expect(await call('story', { session: 'of-alice' })).toMatchObject({
      story: { received: ALICE, observationRows: [ALICE], summaryRows: [ALICE] },
    })
    expect(await call('story', { session: 'of-desktop' })).toMatchObject({
      story: { received: { author: null, machine: 'desktop' } },
    })
    expect(await call('story', { session: 'here' })).toMatchObject({ story: { received: null } })
  })

  test('a received session explains itself, and the list names its author', async () => {
    const { view } = (await call('session', { session: 'of-alice' })) as { view: SessionView }
    const text = sessionViewLines(view, 10, { style: createStyle(false), columns: 100, now: NOW }).join('\n')
    expect(text).toContain("received from “alice”'s machine “laptop”")
    expect(text).toContain('Its events are not on this machine')
    expect(text).not.toContain('Transitions')
    const { sessions } = (await call('sessions')) as { sessions: { session: string; author: string | null }[] }
    expect(Object.fromEntries(sessions.map(({ session, author }) => [session, author]))).toEqual({
      here: null,
      'of-desktop': ME,
      'of-alice': 'alice',
    })
  })
})

describe('operations that need events', () => {
  test.each<[CallableName, object]>([
    ['close_session', {}],
    ['reopen_session', {}],
    ['queue_retry', {}],
    ['queue_clear', { pending: false }],
    ['flush', { wait: false }],
    ['summarize', {}],
    ['payloads', { limit: 10 }],
  ])('%s of a received session says why it cannot be', async (name, input) => {
    await expect(call(name, { session: 'of-alice', ...input })).rejects.toThrow(
      "session of-alice was received from “alice”'s machine “laptop”: its events are not on this machine",
    )
    await expect(call(name, { session: 'of-desktop', ...input })).rejects.toThrow(
      'received from your machine “desktop”',
    )
  })
})

describe('changes', () => {
  test('forget says that a memory is by somebody else', async () => {
    const { store, supervisor } = h
    const forgetting = new Forgetting({
      store,
      sessions: supervisor,
      search: async () => ({ ...(await context.search()), forget: async () => undefined }),
      indexer: { wake: () => undefined },
      contextCache: { changed: () => undefined, flush: async () => undefined },
      keepBackups: () => 3,
      me: () => ME,
    })
    const request = { ids: [1, 2, 3], filters: null, related: false }
    const others = [{ author: 'alice', observations: 1 }]
    expect(await forgetting.forget({ ...request, confirm: false })).toMatchObject({ dryRun: true, others })
    expect(await forgetting.forget({ ...request, confirm: true })).toMatchObject({ observations: 3, others })
    expect(await store.observation(3)).toBeNull()
  })

  test("a correction of somebody else's memory is one's own, and supersedes it", async () => {
    const memory = new MemoryChanges({
      store: h.store,
      search: async () => ({ ...(await context.search()), reset: async () => undefined }),
      indexer: { wake: () => undefined, startOver: () => undefined, progress: null },
      contextCache: { changed: () => undefined },
      me: () => ME,
      now: () => NOW,
    })
    const id = await memory.correct({ observation: 3, title: 'The cache holds tokens for an hour' })
    const { observations } = (await call('observations', { ids: [id, 3] })) as { observations: object[] }
    expect(observations).toMatchObject([
      { author: null, saidBy: 'agent', saidIn: 'in place of a memory by “alice”', supersedes: [3] },
      { author: 'alice', title: 'Alice token cache', supersededBy: id },
    ])
  })

  test('an observer neither supersedes nor resolves what somebody else learned', async () => {
    await h.store.commit([
      commitOf('here', 2, {
        observations: [
          observationOf([], {
            title: 'Newer token cache',
            links: [1, 3].map((to) => ({ to, kind: 'supersedes', by: 'model' })),
          }),
        ],
        resolved: [3],
      }),
    ])
    const { observations } = (await call('observations', { ids: [1, 3] })) as {
      observations: { supersededBy: number | null; status: string | null }[]
    }
    expect(observations).toMatchObject([{ supersededBy: 4 }, { supersededBy: null, status: 'open' }])
    expect(await h.store.openProblems(commitOf('x', 1).state.project.key, 10)).toEqual([])
  })
})
