/** What a user ends up with when a model's API goes wrong: nothing lost, nothing doubled, the reason visible. */
import { afterEach, describe, expect, test } from 'vitest'
import { toolUsesIn } from '../../../observer/servers/answers.ts'
import type { Fault } from '../../../observer/servers/fault.ts'
import { events, POLICY } from '../harness.ts'
import { APIS, type Api, ModelPlace } from './place.ts'

let place: ModelPlace
afterEach(() => place.dispose())

const TOOLS = ['t1', 't2', 't3']

/** A turn of three tool uses, until the observer has nothing in flight. */
async function turn(session = 's', n = 1): Promise<void> {
  const { supervisor } = place.harness
  await supervisor.accept(events.prompt(session, `p${n}`, `request ${n}`))
  for (const id of TOOLS) await supervisor.accept(events.tool(session, n === 1 ? id : `${id}-${n}`))
  await supervisor.accept(events.turnEnd(session, `end${n}`))
  await place.harness.settle()
}

async function expectAllTold(): Promise<void> {
  expect(await place.told('s')).toEqual({ t1: 1, t2: 1, t3: 1 })
  const outcomes = (await place.events('s')).map(({ eventId, outcome }) => [eventId, outcome])
  expect(Object.fromEntries(outcomes)).toMatchObject({ t1: 'observed', t2: 'observed', t3: 'observed', end1: 'folded' })
  expect(await place.harness.store.summaries({ session: 's' })).toHaveLength(1)
  expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
}

interface Row {
  name: string
  fault: Fault
  /** What the user reads while it waits. */
  reason: RegExp
}

/** Whatever is sent, it would go wrong: the session waits, no attempt is counted. */
const PROVIDERS: Row[] = [
  { name: '401', fault: { fault: 'status', status: 401 }, reason: /rejected the key.*config set \w+-api-key/ },
  { name: '403', fault: { fault: 'status', status: 403 }, reason: /rejected the key/ },
  { name: '404', fault: { fault: 'status', status: 404 }, reason: /no model "claude-haiku-4-5".*config set model/ },
  { name: '408', fault: { fault: 'status', status: 408 }, reason: /not available.*408/ },
  { name: '429 without retry-after', fault: { fault: 'status', status: 429 }, reason: /rate limit.*429/ },
  {
    name: '429 with retry-after',
    fault: { fault: 'status', status: 429, retryAfterSeconds: 90 },
    reason: /rate limit.*429/,
  },
  { name: '500', fault: { fault: 'status', status: 500 }, reason: /not available.*500/ },
  { name: '529', fault: { fault: 'status', status: 529 }, reason: /not available.*529/ },
  { name: 'a proxy page', fault: { fault: 'html', status: 502 }, reason: /502/ },
  { name: 'reset', fault: { fault: 'reset' }, reason: /./ },
  { name: 'reset in mid-body', fault: { fault: 'reset-mid-body' }, reason: /./ },
  { name: 'an empty body', fault: { fault: 'empty-body' }, reason: /./ },
  { name: 'wrong JSON', fault: { fault: 'wrong-json' }, reason: /./ },
]

describe.each(APIS)('model.faults with %s', (api: Api) => {
  test.each(PROVIDERS)('$name: waits with its reason, then goes on', async ({ fault, reason }) => {
    place = await ModelPlace.make(api)
    place.script = ({ index }) => (index === 0 ? fault : null)
    await turn()
    const { state, waiting } = await place.state('s')
    expect(state).toBe('batching.waiting')
    expect(waiting).toMatch(reason)
    expect(place.harness.supervisor.waiting?.reason).toBe(waiting)
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 4, processing: 0, failed: 0 })
    expect((await place.harness.store.queue({ session: 's' })).map((message) => message.attempts)).toEqual([0, 0, 0, 0])
    await place.later()
    await expectAllTold()
    expect(place.harness.supervisor.waiting).toBeNull()
    const [first, ...others] = await place.calls('s')
    expect(first).toMatchObject({ provider: api, kind: 'observe', error: waiting })
    expect(first?.sent).toContain('t1.ts')
    expect(others.map((call) => call.error)).toEqual([null, null])
  })

  test('hang: gives up at its deadline, then goes on', async () => {
    place = await ModelPlace.make(api)
    place.harness.policy = { ...POLICY, effectTimeoutMs: 400 }
    place.script = ({ index }) => (index === 0 ? { fault: 'hang' } : null)
    await turn()
    expect(await place.state('s')).toMatchObject({ state: 'batching.waiting', waiting: 'no answer within 0 s' })
    // Only the hung call needs the short deadline: an answer may take longer than that on a busy machine.
    place.harness.policy = POLICY
    await place.later()
    await expectAllTold()
    expect((await place.calls('s')).map((call) => call.error)).toEqual(['no answer within 0 s', null, null])
  })

  test.each<Row>([
    { name: 'refusal in prose', fault: { fault: 'refusal' }, reason: /refused|not in the requested format/ },
    { name: 'no text', fault: { fault: 'no-text' }, reason: /./ },
    { name: 'a request that it does not take', fault: { fault: 'status', status: 400 }, reason: /400/ },
  ])('$name: the batch is halved and goes again', async ({ fault, reason }) => {
    place = await ModelPlace.make(api)
    place.script = ({ index }) => (index === 0 ? fault : null)
    await turn()
    await place.attempts()
    await expectAllTold()
    const calls = await place.calls('s')
    expect(calls[0]?.error).toMatch(reason)
    expect(calls.slice(1).map((call) => call.error)).toEqual([null, null, null])
  })

  test('too long at the first call: compacted, which costs nothing, and then the same batch', async () => {
    place = await ModelPlace.make(api)
    place.script = ({ index }) => (index === 0 ? { fault: 'too-long' } : null)
    await turn()
    await expectAllTold()
    expect((await place.calls('s')).map((call) => call.error)).toEqual([expect.stringMatching(/too long/), null, null])
  })

  test('too long whatever is left out: the batch is halved until it fits', async () => {
    place = await ModelPlace.make(api)
    place.script = ({ messages }) =>
      toolUsesIn(messages.at(-1)?.content ?? '').length > 1 ? { fault: 'too-long' } : null
    await turn()
    await place.attempts()
    await expectAllTold()
  })

  test('prose instead of the format: a failed attempt, then the halves; only the call itself has its words', async () => {
    place = await ModelPlace.make(api)
    place.script = ({ index }) => (index === 0 ? 'I am sorry, but I cannot help with that.' : null)
    await turn()
    await place.attempts()
    await expectAllTold()
    const [call] = await place.calls('s')
    expect(call?.error).toMatch(/^the answer is not in the requested format \(40 characters/)
    expect(call?.received).toContain('I cannot help with that')
    expect(JSON.stringify(place.harness.log)).not.toContain('cannot help')
    const { trace } = (await place.harness.store.sessionView('s', 100)) ?? {}
    expect(JSON.stringify(trace)).not.toContain('cannot help')
  })

  test('truncated XML: what is there is kept', async () => {
    place = await ModelPlace.make(api)
    const text =
      '<observation from="1 2"><type>bugfix</type><title>Mend the total</title><facts><fact>cents, not euros</fact></facts></observation><observation from="3"><title>Add a che'
    place.script = ({ index }) => (index === 0 ? { fault: 'truncated', text } : null)
    await turn()
    const observations = await place.harness.store.observations({ session: 's' })
    expect(observations.map((one) => [one.title, one.sources]).reverse()).toEqual([
      ['Mend the total', ['t1', 't2']],
      ['Add a che', ['t3']],
    ])
    expect((await place.calls('s')).map((call) => call.error)).toEqual([null, null])
  })

  test('a tool use that is refused again and again is set aside alone, and can be brought back', async () => {
    place = await ModelPlace.make(api)
    let isPoisoned = true
    place.script = ({ messages }) => {
      const poisoned = messages.at(-1)?.content.includes('t2.ts') === true
      return isPoisoned && poisoned ? { fault: 'refusal' } : null
    }
    await turn()
    await place.attempts()
    expect(await place.told('s')).toEqual({ t1: 1, t3: 1 })
    const [aside] = await place.harness.store.queue({ session: 's', status: 'failed' })
    expect(aside).toMatchObject({ eventId: 't2', attempts: 3 })
    expect(aside?.error).toMatch(/refus|not in the requested format|would not/)
    isPoisoned = false
    expect(await place.harness.supervisor.retry('s')).toBe(1)
    await place.harness.settle()
    expect(await place.told('s')).toEqual({ t1: 1, t2: 1, t3: 1 })
  })

  test('too long in a conversation: compacted, then the same batch goes again', async () => {
    place = await ModelPlace.make(api)
    await turn()
    place.script = ({ index }) => (index === 2 ? { fault: 'too-long' } : null)
    await turn('s', 2)
    const row = await place.harness.store.session('s')
    expect(row).toMatchObject({ generation: 2, waiting: null, state: 'observing' })
    const told = await place.told('s')
    expect(Object.values(told)).toEqual([1, 1, 1, 1, 1, 1])
    const after = place.server.requests[3]?.call
    expect(after?.messages).toHaveLength(1)
    expect(after?.messages[0]?.content).toContain('<memory>')
    expect(after?.messages[0]?.content).toContain('t1.ts')
    expect(await place.harness.store.queueStats()).toMatchObject({ pending: 0, failed: 0 })
  })

  test('nobody listens at the address: waits, and says which setting holds it', async () => {
    place = await ModelPlace.make(api)
    const gone = place.server.url
    await place.server.close()
    place.harness.observer = place.observerWith({}, gone)
    await turn()
    const { state, waiting } = await place.state('s')
    expect(state).toBe('batching.waiting')
    expect(waiting).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+.*${api}-base-url`))
  })

  test('no key: waits, and says how to set it', async () => {
    place = await ModelPlace.make(api)
    const noKey = { [`CLAUDE_MEM_${api.toUpperCase()}_API_KEY`]: '', CLAUDE_MEM_PROVIDER: api }
    const official = { anthropic: 'https://api.anthropic.com', gemini: '', openrouter: '' }[api]
    place.harness.observer = place.observerWith(noKey, official)
    await turn()
    expect(await place.state('s')).toMatchObject({
      state: 'batching.waiting',
      waiting: expect.stringMatching(new RegExp(`no key.*claude-mem config set ${api}-api-key`)),
    })
    expect(place.server.requests).toHaveLength(0)
  })
})
