/** Sessions that are erased, and memories that are forgotten, while their actors live. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transcriptId } from '../../src/domain/event.ts'
import { NO_USAGE } from '../../src/domain/observation.ts'
import { MEMORY_KINDS, NO_FILTERS } from '../../src/domain/search-query.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { plainObserver } from '../../src/observer/plain.ts'
import { type Observer, ObserverError } from '../../src/observer/port.ts'
import { type TestContext, testContext } from '../transport/context.ts'
import { events, Harness } from './actors/harness.ts'

const MARKER = 'quokkavlatigo'
let h: Harness
let context: TestContext
beforeEach(async () => {
  h = await new Harness().start()
  context = testContext(h, dataPaths(h.directory))
})
afterEach(async () => {
  await context.close()
  await h.dispose()
})

const accept = async (...list: Parameters<typeof h.supervisor.accept>[0][]) => {
  for (const event of list) await h.supervisor.accept(event)
}
const erase = (session: string) => context.forgetting.eraseSession(session)
const forgetSession = (session: string) =>
  context.forgetting.forget({
    ids: [],
    filters: { ...NO_FILTERS, kinds: MEMORY_KINDS, session },
    related: false,
    confirm: true,
  })
const told = (session: string, id: string) => ({ ...events.tool(session, id), response: MARKER })

/** Names of the files of a directory, at any depth, that contain the word. */
function filesWith(word: string, directory = h.directory): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    if (statSync(path).isDirectory()) return filesWith(word, path)
    return readFileSync(path).includes(word) ? [name] : []
  })
}

/** Counts calls. Each waits for `open`, and records what a model would have cost. */
function counted() {
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const calls: string[] = []
  const record = async (
    kind: string,
    request: Parameters<Observer['observe']>[0] | Parameters<Observer['summarize']>[0],
  ) => {
    const usage = { ...NO_USAGE, input: 10 }
    const start = { provider: 'p', model: 'm', promptVersion: '1', sent: MARKER, expected: { usage, cost: 0.5 } }
    const end = await request.calls.begin(start)
    calls.push(kind)
    return () => end({ usage, cost: 0.25, error: null, received: MARKER })
  }
  const observer: Observer = {
    ...plainObserver,
    observe: async (request, signal) => {
      const end = await record('observe', request)
      await gate
      end()
      return plainObserver.observe(request, signal)
    },
    summarize: async (request, signal) => {
      const end = await record('summarize', request)
      await gate
      end()
      return plainObserver.summarize(request, signal)
    },
  }
  return { observer, calls, open }
}

describe('erasing a session', () => {
  test('calls no model, although a turn has ended and another is open', async () => {
    h.policy = { ...h.policy, batchMaxSize: 50 }
    await accept(events.prompt('s', 'p1', MARKER), told('s', 'a'))
    const { observer, calls, open } = counted()
    h.observer = observer
    open()
    await erase('s')
    await h.settle()
    expect(calls).toEqual([])
    expect(await h.store.session('s')).toBeNull()
    expect(filesWith(MARKER)).toEqual([])
  })

  test('cancels the effect in flight: its result does not come back, its cost counts', async () => {
    const { observer, calls, open } = counted()
    h.observer = observer
    await accept(events.prompt('s', 'p1', MARKER), told('s', 'a'), events.turnEnd('s', 'z'))
    await expect.poll(() => calls).toEqual(['observe'])
    await erase('s')
    // The client continues at once: the late result finds a session of the same id.
    h.clockOffset += 1_000
    await accept({ ...events.prompt('s', 'p2', 'go on'), at: h.now() })
    open()
    await expect.poll(async () => (await h.store.calls({})).length).toBe(1)
    expect(await h.store.calls({})).toMatchObject([{ session: null, sent: null, received: null, cost: 0.5 }])
    expect(await h.store.session('s')).toMatchObject({ prompts: 1 })
    expect(await h.store.observations({ session: 's' })).toEqual([])
    expect(calls).toEqual(['observe'])
    expect(filesWith(MARKER)).toEqual([])
  })

  test('late events of it are acknowledged and not stored, new ones are; also after a restart', async () => {
    await accept(events.prompt('s', 'p1'), events.tool('s', 'a'))
    const late = events.tool('s', 'late')
    await erase('s')
    for (const restart of [false, true]) {
      if (restart) await h.crash()
      h.spooled = [{ ...events.tool('s', 'spooled'), at: late.at }]
      await h.supervisor.tick()
      expect(await h.supervisor.accept(late)).toEqual({ duplicate: true })
      const transcript = { ...events.prompt('s', transcriptId('prompt', 1)), at: h.now() + 60_000 }
      expect(await h.supervisor.accept(transcript)).toEqual({ duplicate: true })
      expect(await h.store.session('s')).toBeNull()
    }
    h.clockOffset += 1_000
    expect(await h.supervisor.accept({ ...events.prompt('s', 'p2'), at: h.now() })).toEqual({ duplicate: false })
    expect(await h.store.session('s')).toMatchObject({ prompts: 1 })
  })

  test('can be taken back: its events are accepted again', async () => {
    await accept(events.prompt('s', 'p1'))
    const late = events.tool('s', 'late')
    await erase('s')
    expect(await h.supervisor.reviveSessions(['s', 'never-seen'])).toBe(1)
    expect(await h.supervisor.accept(late)).toEqual({ duplicate: false })
  })

  test('a quarantined session is erased too', async () => {
    await accept(events.prompt('s', 'p1', MARKER), told('s', 'a'))
    await h.store.quarantine('s', 'broken', h.now())
    await h.crash()
    context = testContext(h, dataPaths(h.directory))
    expect(await erase('s')).toMatchObject({ prompts: 1, messages: 1 })
    expect(filesWith(MARKER)).toEqual([])
  })
})

test('dropping pending messages drops the summary of an ended turn: no model is called', async () => {
  const wait = new ObserverError('provider', 'down', { retryAfterMs: 3_600_000 })
  h.observer = { ...plainObserver, observe: () => Promise.reject(wait), summarize: () => Promise.reject(wait) }
  await accept(events.prompt('s', 'p1'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
  await h.settle()
  const { observer, calls, open } = counted()
  h.observer = observer
  open()
  expect(await h.supervisor.clear('s', true)).toBe(1)
  await h.supervisor.flush('s')
  h.clockOffset += 4_000_000
  await h.supervisor.tick()
  await h.supervisor.closeSession('s')
  await h.settle()
  expect(calls).toEqual([])
  expect(await h.store.summaries({ session: 's' })).toEqual([])
})

describe('forgetting a whole session', () => {
  test('covers messages that nobody has observed yet', async () => {
    h.policy = { ...h.policy, batchMaxSize: 50 }
    await accept(events.prompt('s', 'p1', MARKER), told('s', 'a'), told('t', 'b'))
    expect(await forgetSession('s')).toMatchObject({ prompts: 1, messages: 1 })
    expect(await h.store.queue({})).toMatchObject([{ session: 't' }])
    await accept(events.end('s', 'end'))
    await h.settle()
    expect(await h.store.observations({ session: 's' })).toEqual([])
    expect((await h.store.events('s', 9)).map(({ eventId, outcome }) => [eventId, outcome])).toContainEqual([
      'a',
      'dropped',
    ])
  })

  test('cancels the batch in flight and leaves no word of it', async () => {
    const { observer, calls, open } = counted()
    h.observer = observer
    await accept(events.prompt('s', 'p1', MARKER), told('s', 'a'), events.turnEnd('s', 'z'))
    await expect.poll(() => calls).toEqual(['observe'])
    expect(await forgetSession('s')).toMatchObject({ prompts: 1, messages: 2 })
    open()
    await h.settle()
    await expect.poll(async () => (await h.store.calls({})).length).toBe(1)
    expect(await h.store.observations({})).toEqual([])
    expect(await h.store.summaries({})).toEqual([])
    expect(calls).toEqual(['observe'])
    expect(await h.store.queue({})).toEqual([])
    expect(filesWith(MARKER)).toEqual([])
    // The session lives on.
    await accept(events.prompt('s', 'p2'), events.tool('s', 'c'), events.turnEnd('s', 'z2'))
    await h.settle()
    expect((await h.store.observations({ session: 's' })).map(({ title }) => title)).toEqual(['Edit c.ts'])
  })

  test('clears what errors quote: of messages, events, the wait of the session, the trace', async () => {
    h.observer = { ...plainObserver, observe: () => Promise.reject(new ObserverError('message', `bad: ${MARKER}`)) }
    await accept(events.prompt('s', 'p1'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await h.settle()
    await expect.poll(async () => (await h.store.queueStats()).failed).toBe(1)
    const provider = new ObserverError('provider', `down: ${MARKER}`, { retryAfterMs: 3_600_000 })
    h.observer = { ...plainObserver, observe: () => Promise.reject(provider) }
    await accept(events.prompt('s', 'p2'), events.tool('s', 'b'), events.turnEnd('s', 'z2'))
    await h.settle()
    await expect.poll(async () => (await h.store.session('s'))?.waiting).toContain(MARKER)
    await forgetSession('s')
    expect(filesWith(MARKER)).toEqual([])
  })
})

test('forgetting an observation drops the rest of its turn from the inbox, not that of other turns', async () => {
  await accept(events.prompt('s', 'p1'), told('s', 'a'), told('s', 'b'), told('s', 'c'))
  await h.settle()
  await accept(told('s', 'd'))
  const [made] = await h.store.observations({ session: 's' })
  const request = { ids: [made?.id ?? 0], filters: null, related: false }
  const planned = await context.forgetting.forget({ ...request, confirm: false })
  expect(planned).toMatchObject({ observations: 1, messages: 1, related: { summaries: [], prompts: [1] } })
  await accept(events.prompt('t', 'p'), events.tool('t', 'x'))
  await context.forgetting.forget({ ...request, confirm: true })
  expect((await h.store.queue({})).map(({ eventId }) => eventId)).toEqual(['x'])
})

test('with what may say the same, the next session is told nothing of it; without, the answer names what stays', async () => {
  const project = { key: 'dir:/w/shop', name: 'shop' }
  await accept(events.prompt('s', 'p1', `about ${MARKER}`), told('s', 'a'), told('s', 'b'))
  await accept({ ...events.turnEnd('s', 'z'), kind: 'turn_end', lastMessage: MARKER, error: null, words: [MARKER] })
  await h.settle()
  const [b = 0, a = 0] = (await h.store.observations({ session: 's' })).map(({ id }) => id)
  await h.store.link({ from: b, to: a, kind: 'repeats', by: 'search', at: h.now() })
  const request = { ids: [a], filters: null, confirm: true }
  const report = await context.forgetting.forget({ ...request, related: false })
  expect(report.related).toEqual({ observations: [b], summaries: [1], prompts: [1] })
  expect((await context.previewContext(project, {})).context).toContain(MARKER)
  expect(await context.forgetting.forget({ ...request, ids: [b], related: true })).toMatchObject({
    observations: 1,
    summaries: 1,
    prompts: 1,
    related: { observations: [], summaries: [], prompts: [] },
  })
  expect((await context.previewContext(project, {})).context).not.toContain(MARKER)
  expect(filesWith(MARKER)).toEqual([])
})

test('the summary of the whole session may say the same as any of its observations', async () => {
  await accept(events.prompt('s', 'p1'), told('s', 'a'), events.turnEnd('s', 'z'), events.prompt('s', 'p2'))
  await h.settle()
  await h.supervisor.summarize('s', null)
  await h.settle()
  const [made] = await h.store.observations({ session: 's' })
  const whole = (await h.store.summaries({ session: 's' })).find((summary) => summary.whole === true)
  const request = { ids: [made?.id ?? 0], filters: null, related: false, confirm: false }
  expect((await context.forgetting.forget(request)).related.summaries).toContain(whole?.id)
})
