/** A session with a model, through the real machine and store: batches, conversation, compaction, budget, privacy. */
import { afterEach, describe, expect, test } from 'vitest'
import { DailyBudget } from '../../../../src/daemon/actors/model-calls.ts'
import type { MemoryEvent } from '../../../../src/domain/event.ts'
import { toolUsesIn } from '../../../observer/servers/answers.ts'
import { events, POLICY } from '../harness.ts'
import { ModelPlace } from './place.ts'

let place: ModelPlace
afterEach(() => place.dispose())

const accept = (event: MemoryEvent) => place.harness.supervisor.accept(event)

async function tools(session: string, count: number, from = 1): Promise<void> {
  for (let n = from; n < from + count; n++) await accept(events.tool(session, `t${n}`))
}

/** The tool uses that each call to the model was about. */
const batches = () =>
  place.server.requests.map(({ call }) => toolUsesIn(call?.messages.at(-1)?.content ?? '').length).filter((n) => n > 0)

function used(session: string, id: string, tool: string, input: unknown, response: unknown): MemoryEvent {
  const base = events.tool(session, id)
  return { ...base, kind: 'tool_use', tool, input, response, durationMs: 1 }
}

describe('model.summary of a whole session', () => {
  test('asks the model about the turns it has read, and stores the answer as the one of the session', async () => {
    place = await ModelPlace.make('anthropic')
    place.script = ({ messages }) =>
      messages.at(-1)?.content.includes('<turns>') === true
        ? '<summary><request>the session</request><completed>all of it</completed></summary>'
        : null
    await accept(events.prompt('s', 'p1', 'Make totals integers'))
    await tools('s', 2)
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    await place.harness.supervisor.summarize('s', null)
    await place.harness.settle()
    const asked = place.server.requests.at(-1)?.call?.messages.at(-1)?.content
    expect(asked).toContain('- turn 1: what was asked | what was done')
    const [whole] = (await place.harness.store.summaries({ session: 's' })).filter((one) => one.whole === true)
    expect(whole).toMatchObject({ request: 'the session', completed: 'all of it' })
    expect(whole?.model).toContain('haiku')
  })
})

describe('model.batching', () => {
  test.each([
    [2, [2]],
    [5, [3, 2]],
    [10, [3, 3, 3, 1]],
  ])('%i tools with a limit of 3 are told in batches of %j, then summed up once', async (count, expected) => {
    place = await ModelPlace.make('anthropic')
    await accept(events.prompt('s', 'p1'))
    await tools('s', count)
    await place.harness.settle()
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    expect(batches()).toEqual(expected)
    expect(place.server.requests).toHaveLength(expected.length + 1)
    expect(Object.values(await place.told('s'))).toEqual(Array.from({ length: count }, () => 1))
  })

  test('a turn that fits one batch costs two calls, in one conversation that is told the request once', async () => {
    place = await ModelPlace.make('anthropic')
    await accept(events.prompt('s', 'p1', 'Make totals integers'))
    await tools('s', 2)
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    const [observe, summary, ...more] = place.server.requests
    expect(more).toEqual([])
    expect(observe?.call?.messages.map(({ role }) => role)).toEqual(['user'])
    expect(observe?.call?.messages[0]?.content).toContain('Make totals integers')
    expect(observe?.call?.messages[0]?.content).toContain('Project: shop')
    expect(summary?.call?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(summary?.call?.system).toBe(observe?.call?.system)
    expect(summary?.call?.messages.at(-1)?.content).not.toContain('Project: shop')
    await accept(events.prompt('s', 'p2', 'Now the tests'))
    await tools('s', 1, 3)
    await accept(events.turnEnd('s', 'end2'))
    await place.harness.settle()
    const third = place.server.requests[2]?.call?.messages.at(-1)?.content
    expect(third).toContain('Now the tests')
    expect(third).not.toContain('Make totals integers')
  })

  test('what an interrupted turn left behind is told at the next prompt, under its own number', async () => {
    place = await ModelPlace.make('anthropic')
    await accept(events.prompt('s', 'p1'))
    await tools('s', 2)
    expect(place.server.requests).toHaveLength(0)
    await accept(events.prompt('s', 'p2'))
    await place.harness.settle()
    expect(batches()).toEqual([2])
    const observations = await place.harness.store.observations({ session: 's' })
    expect(observations.map((one) => one.promptNumber)).toEqual([1, 1])
  })

  test('an answer that comes during a later turn belongs to the prompt its tool uses had', async () => {
    place = await ModelPlace.make('anthropic')
    let answer: () => void = () => undefined
    const until = new Promise<void>((resolve) => {
      answer = resolve
    })
    const text = '<observation from="1"><title>The first turn</title></observation>'
    place.script = ({ index }) => (index === 0 ? { fault: 'slow-headers', text, until } : null)
    await accept(events.prompt('s', 'p1'))
    await tools('s', 1)
    await accept(events.turnEnd('s', 'end1'))
    await place.server.arrived(1)
    await accept(events.prompt('s', 'p2'))
    await tools('s', 1, 2)
    answer()
    await place.harness.settle()
    const [first] = await place.harness.store.observations({ session: 's' })
    expect(first).toMatchObject({ title: 'The first turn', promptNumber: 1, sources: ['t1'] })
  })

  test('with batching off every tool use is a call of its own', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.policy = { ...POLICY, batching: false }
    await accept(events.prompt('s', 'p1'))
    await tools('s', 3)
    await place.harness.settle()
    expect(batches()).toEqual([1, 1, 1])
  })
})

describe('model.breaker', () => {
  test('a provider that said when is asked by no session before that', async () => {
    place = await ModelPlace.make('anthropic')
    place.script = ({ index }) => (index === 0 ? { fault: 'status', status: 429, retryAfterSeconds: 90 } : null)
    for (const session of ['a', 'b']) {
      await accept(events.prompt(session, 'p1'))
      await tools(session, 1)
      await accept(events.turnEnd(session, 'end'))
      await place.harness.settle()
      expect(await place.state(session)).toMatchObject({ state: 'batching.waiting' })
    }
    expect(place.server.requests).toHaveLength(1)
    await place.later(80_000)
    expect(place.server.requests).toHaveLength(1)
    await place.later(20_000)
    expect(await place.told('a')).toEqual({ t1: 1 })
    expect(await place.told('b')).toEqual({ t1: 1 })
  })

  test('where the user said so, sessions go on offline while the model cannot be reached, and come back to it', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.fallsBackToOffline = true
    place.script = ({ index }) => (index === 0 ? { fault: 'status', status: 529, retryAfterSeconds: 600 } : null)
    await accept(events.prompt('s', 'p1'))
    await accept(
      used('s', 't1', 'Write', { file_path: '/w/shop/a.ts', content: 'export const a = 1\n' }, { type: 'create' }),
    )
    await accept(events.turnEnd('s', 'end1'))
    await place.harness.settle()
    await place.harness.supervisor.tick()
    await place.harness.settle()
    const [offline] = await place.harness.store.observations({ session: 's' })
    expect(offline).toMatchObject({ model: 'offline', sources: expect.arrayContaining(['t1']) })
    const view = await place.harness.store.sessionView('s', 100)
    expect(view?.trace.some((entry) => /offline: anthropic is not available/.test(entry.reason))).toBe(true)
    expect(place.server.requests).toHaveLength(1)
    place.harness.clockOffset += 700_000
    await accept(events.prompt('s', 'p2'))
    await tools('s', 1, 2)
    await accept(events.turnEnd('s', 'end2'))
    await place.harness.settle()
    const [online] = await place.harness.store.observations({ session: 's' })
    expect(online).toMatchObject({ model: 'claude-haiku-4-5', sources: ['t2'] })
  })

  test('a model that never answers in the format is the provider, not every message', async () => {
    place = await ModelPlace.make('openrouter')
    place.script = () => 'Sure! Here is a haiku about tool use.'
    await accept(events.prompt('s', 'p1'))
    await tools('s', 9)
    await accept(events.turnEnd('s', 'end'))
    await place.attempts()
    const { state, waiting } = await place.state('s')
    expect(state).toMatch(/waiting$/)
    expect(waiting).toMatch(/claude-haiku-4-5 gave 12 answers in a row that cannot be used; choose another model/)
    expect(place.server.requests).toHaveLength(12)
    place.script = () => null
    await place.later()
    await place.harness.supervisor.retry('s')
    await place.harness.settle()
    expect(Object.values(await place.told('s'))).toEqual(Array.from({ length: 9 }, () => 1))
  })
})

describe('model.budget', () => {
  test('spent in mid-session it goes on offline and says so; the next day the model is used again', async () => {
    place = await ModelPlace.make('anthropic')
    const { harness } = place
    // Noon, so that an hour more is the same day.
    const noon = new Date(Date.now())
    noon.setHours(12, 0, 0, 0)
    harness.clockOffset = noon.getTime() - Date.now()
    harness.budget = new DailyBudget({
      limits: () => ({ usd: 0.001, tokens: 1e9 }),
      now: harness.now,
      spentSince: (since) => harness.store.spentSince(since),
    })
    await harness.budget.load()
    const turn = async (n: number) => {
      await accept(events.prompt('s', `p${n}`))
      await accept(
        used(
          's',
          `t${n}`,
          'Write',
          { file_path: `/w/shop/${n}.ts`, content: `export const n = ${n}\n` },
          { type: 'create' },
        ),
      )
      await accept(events.turnEnd('s', `end${n}`))
      await harness.settle()
      // What was decided before the money was gone waits for the next tick.
      await place.later(2_000)
    }
    await turn(1)
    const spent = harness.budget.view
    expect(spent.spentUsd).toBeGreaterThan(0.001)
    expect(spent.reason).toMatch(/^0\.00\d+ of 0\.0010 US dollars spent today$/)
    const asked = place.server.requests.length
    await turn(2)
    expect(place.server.requests).toHaveLength(asked)
    const [offline] = await harness.store.observations({ session: 's' })
    expect(offline).toMatchObject({ model: 'offline', sources: expect.arrayContaining(['t2']) })
    const row = await harness.store.session('s')
    expect(JSON.parse(row?.snapshot ?? '{}').context.offline).toMatchObject({ reason: spent.reason })
    // What was spent is known after a restart, too.
    await harness.crash()
    const reloaded = new DailyBudget({
      limits: () => ({ usd: 0.001, tokens: 1e9 }),
      now: harness.now,
      spentSince: (since) => harness.store.spentSince(since),
    })
    await reloaded.load()
    expect(reloaded.reason).toBe(spent.reason)
    harness.budget = reloaded
    harness.clockOffset += 24 * 3_600_000
    expect(harness.budget.reason).toBeNull()
    await turn(3)
    const online = { model: 'claude-haiku-4-5', sources: ['t3'] }
    expect(await harness.store.observations({ session: 's' })).toContainEqual(expect.objectContaining(online))
  })
})

describe('model.accounting', () => {
  test('every call is kept with its tokens, its money and the words that left the machine', async () => {
    place = await ModelPlace.make('anthropic')
    await accept(events.prompt('s', 'p1'))
    await tools('s', 1)
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    const calls = await place.calls('s')
    expect(calls.map(({ kind, provider, model, error }) => ({ kind, provider, model, error }))).toEqual([
      { kind: 'observe', provider: 'anthropic', model: 'claude-haiku-4-5', error: null },
      { kind: 'summarize', provider: 'anthropic', model: 'claude-haiku-4-5', error: null },
    ])
    for (const [i, call] of calls.entries()) {
      const { usage, call: sent } = place.server.requests[i] ?? {}
      expect(call.usage).toEqual(usage)
      expect(sent?.messages.at(-1)?.content).toBe(call.sent)
      expect(call.received).toMatch(/^<(observation|summary)/)
      const { input, output, cacheRead, cacheWrite } = call.usage
      expect(call.cost).toBeCloseTo((input + 5 * output + 0.1 * cacheRead + 1.25 * cacheWrite) / 1e6, 9)
    }
    const [row] = await place.harness.store.usage({ by: 'model', since: 0 })
    expect(row).toMatchObject({ key: 'claude-haiku-4-5', calls: 2 })
  })

  test('a call whose answer nobody wants any more is paid for, and so written down', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.policy = { ...POLICY, effectTimeoutMs: 400 }
    place.script = ({ index }) => (index === 0 ? { fault: 'hang' } : null)
    await accept(events.prompt('s', 'p1'))
    await tools('s', 1)
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    const [call] = await place.calls('s')
    expect(call).toMatchObject({ error: 'no answer within 0 s', received: null })
    expect(call?.usage.input).toBeGreaterThan(1_000)
    expect(call?.cost).toBeGreaterThan(0.001)
  })
})

test('model.drain: a call that a stop cuts off is written down, counted against nothing, and made again', async () => {
  place = await ModelPlace.make('anthropic')
  place.script = ({ index }) => (index === 0 ? { fault: 'hang' } : null)
  await accept(events.prompt('s', 'p1'))
  await tools('s', 1)
  await accept(events.turnEnd('s', 'end'))
  await place.server.arrived(1)
  await place.harness.supervisor.drain('a test')
  expect(await place.calls('s')).toMatchObject([{ error: 'the daemon stops', received: null }])
  expect(await place.harness.store.queue({ session: 's' })).toMatchObject([{ attempts: 0 }, { attempts: 0 }])
  await place.harness.crash()
  await place.later(1_000)
  expect(await place.told('s')).toEqual({ t1: 1 })
}, 20_000)

describe('model.novelty', () => {
  test('what adds nothing is not sent, the batch counts it, and the trace says so', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.policy = { ...POLICY, batchMaxSize: 20 }
    const read = (id: string) =>
      used(
        's',
        id,
        'Read',
        { file_path: '/w/shop/cart.ts' },
        { type: 'text', file: { content: 'const a = 1', filePath: '/w/shop/cart.ts' } },
      )
    await accept(events.prompt('s', 'p1'))
    await accept(read('r1'))
    await accept(read('r2'))
    await accept(used('s', 'ls', 'Bash', { command: 'ls -la' }, { stdout: 'cart.ts', stderr: '', interrupted: false }))
    await accept(events.tool('s', 't1'))
    await accept(events.turnEnd('s', 'end1'))
    await place.harness.settle()
    expect(batches()).toEqual([2])
    expect(place.server.requests[0]?.call?.messages[0]?.content).toContain('2 more tool uses with nothing new')
    const outcomes = Object.fromEntries(
      (await place.events('s')).map((row) => [row.eventId, `${row.outcome}: ${row.reason}`]),
    )
    expect(outcomes.r2).toBe('folded: read again, unchanged')
    expect(outcomes.ls).toMatch(/^folded: /)
    const view = await place.harness.store.sessionView('s', 100)
    expect(view?.trace.some((entry) => /left out: .*1 read again, unchanged/.test(entry.reason))).toBe(true)
    // In a later turn, after a restart, it is still nothing new: no call at all for it.
    const asked = place.server.requests.length
    await place.harness.crash()
    await accept(events.prompt('s', 'p2'))
    await accept(read('r3'))
    await accept(events.turnEnd('s', 'end2'))
    await place.harness.settle()
    expect(place.server.requests).toHaveLength(asked + 1)
    expect(batches()).toEqual([2])
    expect((await place.events('s')).find((row) => row.eventId === 'r3')).toMatchObject({ outcome: 'folded' })
  })
})

describe('model.privacy', () => {
  test('files and tools on the lists never reach the model, whatever way they are read', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.observer = place.observerWith({ CLAUDE_MEM_NEVER_SEND_TOOLS: 'mcp__mail__*' })
    place.harness.policy = { ...POLICY, batchMaxSize: 20 }
    const word = 'cobalt-heron-42'
    await accept(events.prompt('s', 'p1'))
    await accept(used('s', 'a', 'Read', { file_path: '/w/shop/.env' }, { file: { content: `WORD=${word}` } }))
    await accept(used('s', 'b', 'Bash', { command: 'cat config/.env | sort' }, { stdout: `WORD=${word}`, stderr: '' }))
    await accept(used('s', 'c', 'mcp__mail__search', { query: 'invoice' }, [{ type: 'text', text: word }]))
    await accept(events.tool('s', 't1'))
    await accept(events.turnEnd('s', 'end'))
    await place.harness.settle()
    expect(JSON.stringify(place.server.requests.map((request) => request.body))).not.toContain(word)
    expect(place.server.requests[0]?.call?.messages[0]?.content).toContain('3 more tool uses withheld')
    const outcomes = Object.fromEntries((await place.events('s')).map((row) => [row.eventId, row.reason]))
    expect(outcomes.a).toBe('not sent: .env is on your list (CLAUDE_MEM_NEVER_SEND_PATHS)')
    expect(outcomes.b).toBe(outcomes.a)
    expect(outcomes.c).toBe('not sent: mcp__mail__* is on your list (CLAUDE_MEM_NEVER_SEND_TOOLS)')
  })
})
