/** What must hold whatever the timing: the budget under a burst, offline spells, servers that count wrong. */
import { afterEach, describe, expect, test } from 'vitest'
import { DailyBudget } from '../../../../src/daemon/actors/model-calls.ts'
import type { MemoryEvent } from '../../../../src/domain/event.ts'
import { NO_USAGE } from '../../../../src/domain/observation.ts'
import { events, POLICY } from '../harness.ts'
import { ModelPlace } from './place.ts'

let place: ModelPlace
afterEach(() => place.dispose())

const accept = (event: MemoryEvent) => place.harness.supervisor.accept(event)

async function turn(session: string, n = 1): Promise<void> {
  await accept(events.prompt(session, `p${n}`, `request ${n}`))
  await accept(events.tool(session, `t${n}`))
  await accept(events.turnEnd(session, `end${n}`))
}

function limited(usd: number): DailyBudget {
  const { harness } = place
  return new DailyBudget({
    limits: () => ({ usd, tokens: 1e9 }),
    now: harness.now,
    spentSince: (since) => harness.store.spentSince(since),
  })
}

describe('limits.budget', () => {
  test('sessions that were decided while money was left, but come too late, are not paid for', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.budget = limited(0.0001)
    let open: () => void = () => undefined
    const until = new Promise<void>((resolve) => {
      open = resolve
    })
    place.script = () => ({ fault: 'slow-headers', text: '<skip reason="nothing"/>', until })
    const sessions = Array.from({ length: 12 }, (_, i) => `s${i}`)
    for (const session of sessions) await turn(session)
    await place.server.arrived(1)
    open()
    await place.harness.settle()
    // Two at a time, and the estimate of a call counts before the call is made.
    expect(place.server.requests.length).toBeLessThanOrEqual(2)
    await place.later(2_000)
    expect(place.server.requests.length).toBeLessThanOrEqual(2)
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
  })

  test('what a dead process left in flight is not paid for with money that is gone', async () => {
    place = await ModelPlace.make('anthropic')
    place.script = () => ({ fault: 'hang' })
    await turn('s')
    await place.server.arrived(1)
    const budget = limited(0.01)
    budget.add([
      {
        callId: '',
        effectId: '',
        kind: 'observe',
        provider: '',
        model: '',
        promptVersion: null,
        at: 0,
        durationMs: 0,
        usage: NO_USAGE,
        cost: 5,
        error: null,
        sent: '',
        received: null,
      },
    ])
    place.harness.budget = budget
    await place.harness.crash()
    await place.harness.settle()
    await place.later(2_000)
    expect(place.server.requests).toHaveLength(1)
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
  })
})

describe('limits.refusal', () => {
  test('a session whose content is always refused ends with its messages set aside, and blocks nobody', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.policy = { ...POLICY, batchMaxSize: 20 }
    place.script = ({ messages }) => (messages.at(0)?.content.includes('poison') === true ? { fault: 'refusal' } : null)
    await accept(events.prompt('bad', 'p1', 'poison'))
    for (let n = 0; n < 8; n++) await accept(events.tool('bad', `t${n}`))
    await accept(events.turnEnd('bad', 'end'))
    await place.attempts()
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 9 })
    expect(place.harness.supervisor.waiting).toBeNull()
    await turn('good')
    await place.harness.settle()
    expect(await place.told('good')).toEqual({ t1: 1 })
  })
})

describe('limits.offline', () => {
  test('what was noted without a model is not told to one later: it may be about what must not be sent', async () => {
    place = await ModelPlace.make('anthropic')
    const { harness } = place
    await turn('s', 1)
    await harness.settle()
    harness.budget = limited(0)
    await accept(events.prompt('s', 'p2', 'look at the settings'))
    const secret = { file_path: '/w/shop/.env', content: 'COLOUR=cobalt-heron\n' }
    await accept({
      ...events.tool('s', 'w'),
      kind: 'tool_use',
      tool: 'Write',
      input: secret,
      response: { type: 'create' },
      durationMs: 1,
    })
    await accept({ ...events.turnEnd('s', 'end2'), kind: 'turn_end', lastMessage: 'done', error: null, words: [] })
    await harness.settle()
    harness.budget = null
    place.script = ({ index }) =>
      index === place.server.requests.length - 1 && index === 2 ? { fault: 'too-long' } : null
    await turn('s', 3)
    await harness.settle()
    expect((await harness.store.session('s'))?.generation).toBe(2)
    expect(JSON.stringify(place.server.requests.map((request) => request.body))).not.toContain('cobalt-heron')
    // The digest that opens the next generation left the machine: it can be seen.
    const calls = await place.calls('s')
    expect(calls.some((call) => call.sent?.includes('<memory>') === true)).toBe(true)
  })

  test('while the model cannot be reached no session waits, however many there are', async () => {
    place = await ModelPlace.make('anthropic')
    place.harness.fallsBackToOffline = true
    place.script = () => ({ fault: 'status', status: 529, retryAfterSeconds: 3_000 })
    for (let n = 0; n < 6; n++) await turn(`s${n}`)
    await place.harness.settle()
    for (let n = 0; n < 3; n++) await place.later(1_000)
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
    expect(place.harness.supervisor.waiting).toMatchObject({ offline: true })
  })
})

describe('limits.counting', () => {
  test('a server that counts no tokens is compacted by our own count', async () => {
    place = await ModelPlace.make('openrouter')
    place.harness.policy = { ...POLICY, compactTokens: 4_000 }
    place.harness.observer = place.observerWith()
    place.script = ({ messages }) => ({
      fault: 'other-json',
      body: {
        choices: [
          {
            message: {
              content: messages.at(-1)?.content.includes('The turn is over')
                ? '<summary><request>a</request><completed>b</completed></summary>'
                : `<observation from="1"><title>One</title><narrative>${'words '.repeat(200)}</narrative></observation>`,
            },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 0, completion_tokens: 0 },
      },
    })
    for (let n = 1; n <= 12; n++) {
      await turn('s', n)
      await place.harness.settle()
    }
    expect((await place.harness.store.session('s'))?.generation).toBeGreaterThan(1)
    const calls = await place.calls('s')
    expect(calls.every((call) => call.usage.input > 0 && call.usage.output > 0)).toBe(true)
  })
})
