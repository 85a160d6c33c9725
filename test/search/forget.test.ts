/** What was forgotten is found by no path: not by words, meaning, place or time, and no derived file holds it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { ReadContext } from '../../src/api/context.ts'
import { OPERATIONS } from '../../src/api/index.ts'
import { LOCAL_CALLER } from '../../src/api/operation.ts'
import { Forgetting } from '../../src/daemon/forgetting.ts'
import { RenderedContextCache } from '../../src/daemon/rendered-context-cache.ts'
import { MEMORY_KINDS, NO_FILTERS, type SearchMode } from '../../src/domain/search-query.ts'
import type { Indexer } from '../../src/search/indexer.ts'
import { searchRowId } from '../../src/store/search-port.ts'
import { CONTEXT_SETTINGS } from '../context/samples.ts'
import { NOW, PROJECT, promptOf, record, stateOf, summaryOf } from '../store/samples.ts'
import { NO_ACTORS } from '../support/forgetting.ts'
import { corpus, store } from './corpus.ts'
import { nameOf } from './oracle.ts'
import { HAS_HNSW, learn, type SearchFixture, searchFixture, wordEmbedder } from './search-fixture.ts'

/** Stands nowhere else, and is not changed by a stemmer. */
const SECRET = 'zanzibarko'
const MODES: readonly SearchMode[] = ['auto', 'strict', 'semantic', 'hybrid']

let here: SearchFixture | null = null
afterEach(async () => {
  await here?.dispose()
  here = null
})

function readContext(place: SearchFixture): ReadContext {
  return {
    reader: place.store,
    search: async () => place.calls(),
    previewContext: () => Promise.reject(new Error('not used here')),
    now: () => NOW,
    me: () => null,
  }
}

interface Living {
  place: SearchFixture
  memory: Forgetting
  indexer: Indexer
  contextCache: RenderedContextCache
}

async function living(): Promise<Living> {
  const made = await searchFixture(wordEmbedder())
  here = made
  await made.open({ hnswThreshold: 1 })
  const indexer = made.indexer()
  const contextCache = new RenderedContextCache({
    reader: made.store,
    directory: join(made.directory, 'context'),
    settings: () => CONTEXT_SETTINGS,
    notice: (text) => made.messages.push(text),
    now: () => NOW,
  })
  const memory = new Forgetting({
    store: made.store,
    search: async () => made.calls(),
    indexer,
    contextCache,
    sessions: NO_ACTORS,
    keepBackups: () => 7,
    now: () => NOW,
  })
  return { place: made, memory, indexer, contextCache }
}

/** #2 of three tells it, in every field; #4 stands in another session. */
async function told({ place, indexer, contextCache }: Living): Promise<void> {
  await learn(place, 's1', [
    { title: 'cache enlarged', narrative: 'the cache was too small' },
    {
      title: `login by ${SECRET}`,
      subtitle: `about ${SECRET}`,
      narrative: `the token is ${SECRET} now`,
      facts: [`${SECRET} is new`, 'the queue waits'],
      concepts: [SECRET],
      filesRead: [`src/${SECRET}.ts`],
      functionsChanged: [{ name: SECRET, file: `src/${SECRET}.ts`, action: 'new' }],
    },
    { title: 'retry added', narrative: 'the queue is tried again' },
  ])
  await learn(place, 's2', [{ title: 'pool closed', narrative: 'the pool leaked' }])
  indexer.wake()
  await indexer.whenIdle()
  await place.search('the token')
  while (place.engine().vectors?.build(1_000));
  contextCache.changed(PROJECT.key)
  await contextCache.flush()
}

const holds = (directory: string, text: string | Buffer) =>
  existsSync(directory) && readdirSync(directory).some((name) => readFileSync(join(directory, name)).includes(text))

describe('a forgotten observation', () => {
  test.skipIf(!HAS_HNSW)('cannot be found in any way', async () => {
    const alive = await living()
    await told(alive)
    const { place, memory } = alive
    const vector = await secretVector(place)
    expect(await place.found(SECRET)).toContain(2)
    expect(holds(join(place.directory, 'context'), SECRET)).toBe(true)
    expect(holds(place.vectors, '[2,"narrative"]')).toBe(true)
    expect(holds(place.vectors, vector)).toBe(true)
    expect(await memory.forget({ ids: [2], filters: null, related: false, confirm: false })).toMatchObject({
      dryRun: true,
      ids: [2],
    })
    expect(await place.found(SECRET)).toContain(2)

    expect(await memory.forget({ ids: [2], filters: null, related: false, confirm: true })).toMatchObject({
      dryRun: false,
      ids: [2],
    })

    for (const mode of MODES) {
      for (const query of [SECRET, `login ${SECRET} token queue`, '']) {
        const { hits } = await place.search(query, { mode, kinds: MEMORY_KINDS, limit: 100 })
        expect(hits.flatMap(({ id, similar }) => [id, ...similar])).not.toContain(2)
        expect(JSON.stringify(hits)).not.toContain(SECRET)
      }
      expect((await place.search(SECRET, { mode, concepts: [SECRET] })).hits).toEqual([])
      expect((await place.search('', { mode, files: [SECRET] })).hits).toEqual([])
    }
    for (const id of [1, 3, 4]) {
      const near = place.engine().similarTo(PROJECT.key, id, 10)
      expect(near.map(({ observationId }) => observationId)).not.toContain(2)
    }
    expect(place.engine().similarTo(PROJECT.key, 2, 10)).toEqual([])
    const context = readContext(place)
    const around = { query: null, project: null, before: 9, after: 9 }
    const timeline = await OPERATIONS.timeline.handle(context, { ...around, anchor: 1 }, LOCAL_CALLER)
    expect(timeline.items.map(({ id }) => id)).toEqual([1, 3, 4])
    await expect(OPERATIONS.timeline.handle(context, { ...around, anchor: 2 }, LOCAL_CALLER)).rejects.toThrow('2')
    expect(await OPERATIONS.observations.handle(context, { ids: [2] }, LOCAL_CALLER)).toEqual({
      observations: [],
      passages: [],
      missing: [2],
    })
    expect(await place.calls().loadMemories([searchRowId('observation', 2)])).toEqual([])
    expect(holds(join(place.directory, 'context'), SECRET)).toBe(false)
    expect(holds(place.vectors, '[2,"')).toBe(false)
    expect(holds(place.vectors, vector)).toBe(false)
  })

  test.skipIf(!HAS_HNSW)(
    'is in no file of the data directory, also after the search was closed and opened again',
    async () => {
      const alive = await living()
      await told(alive)
      const vector = await secretVector(alive.place)
      await alive.memory.forget({ ids: [2], filters: null, related: false, confirm: true })
      await alive.place.open({ hnswThreshold: 1 })
      await alive.place.search('token')
      while (alive.place.engine().vectors?.build(1_000));
      for (const directory of [alive.place.directory, alive.place.vectors]) {
        for (const name of readdirSync(directory, { withFileTypes: true })) {
          if (!name.isFile()) continue
          const bytes = readFileSync(join(directory, name.name))
          expect([name.name, bytes.includes(SECRET), bytes.includes(vector)]).toEqual([name.name, false, false])
        }
      }
    },
  )

  test('forgetting by filter includes summaries and prompts', async () => {
    const alive = await living()
    await told(alive)
    const { place, memory } = alive
    const event = promptOf('s3', 'p', `what is ${SECRET}?`)
    await place.commit('s3', {
      state: stateOf(),
      events: [record(event, { kind: 'noted', reason: null })],
      prompts: [{ eventId: 'p', number: 1, text: event.text, private: false, at: NOW }],
      summaries: [summaryOf({ learned: SECRET })],
    })
    alive.indexer.wake()
    await alive.indexer.whenIdle()
    const all = { mode: 'strict' as const, kinds: MEMORY_KINDS }
    expect((await place.search(SECRET, all)).total).toBe(3)
    const filters = { ...NO_FILTERS, kinds: MEMORY_KINDS, session: 's3' }
    expect(await memory.forget({ ids: [], filters, related: false, confirm: true })).toMatchObject({
      summaries: 1,
      prompts: 1,
    })
    expect((await place.search(SECRET, all)).hits.map(nameOf)).toEqual(['observation 2'])
  })
})

/** As the graph keeps it. */
async function secretVector(place: SearchFixture): Promise<Buffer> {
  const { vectors } = place.engine()
  const text = `login by ${SECRET}. about ${SECRET}. the token is ${SECRET} now`
  const [vector] = (await vectors?.embedder.embed([text])) ?? []
  if (vector == null) throw new Error('it has no vector')
  return Buffer.from(vector.buffer)
}

test('after forgetting random memories, exactly the others are found', async () => {
  await fc.assert(
    fc.asyncProperty(corpus, fc.infiniteStream(fc.boolean()), async (made, choices) => {
      const alive = await living()
      const { place, memory, indexer } = alive
      try {
        const stored = await store(place, made)
        indexer.wake()
        await indexer.whenIdle()
        await place.search('token')
        while (place.engine().vectors?.build(1_000));
        const ids = stored.filter(({ kind }) => kind === 'observation').map(({ id }) => id)
        const gone = ids.filter(() => choices.next().value)
        await memory.forget({ ids: gone, filters: null, related: false, confirm: true })
        const left = ids.filter((id) => !gone.includes(id))
        for (const reopened of [false, true]) {
          if (reopened) await place.open({ hnswThreshold: 1 })
          for (const mode of MODES) {
            const { hits } = await place.search('token login cache pool', { mode, kinds: ['observation'], limit: 100 })
            const found = hits.flatMap(({ id, similar, further }) => [id, ...similar, ...further.map((one) => one.id)])
            expect(found.filter((id) => !left.includes(id))).toEqual([])
          }
          expect(new Set(await place.near('token login cache pool'))).toEqual(new Set(left))
          for (const id of left) {
            const project = stored.find((one) => one.kind === 'observation' && one.id === id)?.project ?? ''
            const near = place.engine().similarTo(project, id, 100)
            expect(near.filter(({ observationId }) => gone.includes(observationId))).toEqual([])
          }
        }
      } finally {
        await place.dispose()
        here = null
      }
    }),
    { numRuns: 12 },
  )
})
