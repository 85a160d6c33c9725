import { describe, expect, test } from 'vitest'
import { MAX_TURNS } from '../../machines/session/context.ts'
import { SESSION_IDLE_MS } from '../../machines/session/timeouts.ts'
import { POLICY, Session } from './inbox-model.ts'

const prompt = (promptId: string | null = null) => ({ type: 'PROMPT', promptId, private: false }) as const
const message = (promptId: string | null = null, agentId: string | null = null) =>
  ({ type: 'MESSAGE', promptId, agentId }) as const
const turnEnd = (promptId: string | null = null) => ({ type: 'TURN_END', promptId, agentId: null }) as const

function session(...inputs: Parameters<Session['send']>[0][]): Session {
  const made = new Session()
  for (const input of inputs) made.send(input)
  return made
}

function many(count: number): ReturnType<typeof message>[] {
  return Array.from({ length: count }, () => message())
}

describe('session.turn (rule 3)', () => {
  test('messages collect until the turn ends, then make one batch and one summary', () => {
    const s = session(prompt(), message(), message())
    expect(s.state).toBe('observing')
    s.send(turnEnd())
    expect(s.state).toBe('batching.calling')
    expect(s.context.effect).toMatchObject({ kind: 'observe', limit: 2, prompt: 1 })
    s.observed()
    expect(s.state).toBe('summarizing.calling')
    s.summarized()
    expect(s.state).toBe('observing')
    expect(s.inbox).toMatchObject({ batches: [2], summaries: [1], rows: [], ends: [] })
  })

  test.each([
    [2, [2]],
    [5, [3, 2]],
    [10, [3, 3, 3, 1]],
  ])('%i tools with a limit of 3 make batches of %j', (tools, batches) => {
    const s = session(prompt())
    for (const input of many(tools)) {
      s.send(input)
      if (s.context.effect !== null) s.observed()
    }
    s.send(turnEnd())
    s.settle()
    expect(s.inbox.batches).toEqual(batches)
  })

  test('messages that arrive while a batch is in flight wait for the next one', () => {
    const s = session(prompt(), ...many(3))
    expect(s.state).toBe('batching.calling')
    for (const input of many(4)) s.send(input)
    s.observed()
    expect(s.context.effect).toMatchObject({ limit: 3 })
    s.observed()
    expect(s.state).toBe('observing')
    expect(s.inbox.rows).toHaveLength(1)
  })

  test('with batching off every message is its own batch', () => {
    const s = new Session(1_000_000, { ...POLICY, batching: false })
    for (const input of [prompt(), ...many(3), turnEnd()]) s.send(input)
    s.settle()
    expect(s.inbox.batches).toEqual([1, 1, 1])
  })

  test('leftovers of an interrupted turn are observed at the next prompt, under their own number', () => {
    const s = session(prompt(), message(), prompt())
    expect(s.context.effect).toMatchObject({ kind: 'observe', prompt: 1, limit: 1 })
    s.send(message())
    s.observed()
    expect(s.state).toBe('observing')
    expect(s.inbox.rows).toMatchObject([{ prompt: 2 }])
  })

  test('a tool use that arrives after its Stop belongs to its own turn', () => {
    const s = session(prompt('a'), turnEnd('a'))
    s.settle()
    s.send(prompt('b'))
    s.send(message('a'))
    expect(s.context.effect).toMatchObject({ kind: 'observe', prompt: 1 })
    expect(s.inbox.rows).toMatchObject([{ prompt: 1, status: 'processing' }])
  })

  test('a late reply belongs to the prompt number its messages had', () => {
    const s = session(prompt(), message(), turnEnd(), prompt(), message())
    expect(s.context.effect).toMatchObject({ kind: 'observe', prompt: 1, limit: 1 })
    s.observed()
    expect(s.context.effect).toMatchObject({ kind: 'summarize', prompt: 1 })
    s.summarized()
    expect(s.inbox.summaries).toEqual([1])
    expect(s.inbox.rows).toMatchObject([{ prompt: 2 }])
  })

  test('a turn that ends once more while its summary is made gets another one', () => {
    const s = session(prompt(), turnEnd())
    s.send(turnEnd())
    s.summarized()
    expect(s.state).toBe('summarizing.calling')
    s.settle()
    expect(s.inbox).toMatchObject({ summaries: [1, 1], ends: [] })
  })

  test('before the client compacts, what waits is observed', () => {
    const s = session(prompt(), message(), { type: 'PRE_COMPACT' })
    expect(s.context.effect).toMatchObject({ kind: 'observe', limit: 1 })
  })

  test('a private turn is not observed at all', () => {
    const s = session({ type: 'PROMPT', promptId: null, private: true }, message(), turnEnd())
    expect(s.inbox).toMatchObject({ added: 0, skipped: 2, ends: [] })
    expect(s.state).toBe('observing')
  })
})

describe('session.end (rule 9)', () => {
  test('a session that ends finishes its pending work, then closes', () => {
    const s = session(prompt(), message(), { type: 'SESSION_END' })
    s.settle()
    expect(s.state).toBe('closed')
    expect(s.context.outcome).toBe('completed')
    expect(s.inbox).toMatchObject({ batches: [1], summaries: [1] })
  })

  test('a prompt reopens a closed session', () => {
    const s = session(prompt(), { type: 'SESSION_END' })
    s.settle()
    s.send(prompt())
    expect(s.state).toBe('observing')
    expect(s.context).toMatchObject({ outcome: 'active', prompt: 2 })
  })

  test('a user reopens a closed session, and it closes again after a day without an event', () => {
    const s = session(prompt(), message(), { type: 'SESSION_END' })
    s.settle()
    expect(s.state).toBe('closed')
    s.now += 3_600_000
    expect(s.send({ type: 'REOPEN' })).toBe(true)
    expect(s.state).toBe('observing')
    expect(s.context).toMatchObject({ outcome: 'active', lastEventAt: s.now })
    expect(s.reasons.at(-1)).toBe('reopened by hand')
    s.now += SESSION_IDLE_MS
    s.send({ type: 'DEADLINE' })
    expect(s.state).toBe('closed')
    expect(s.context.outcome).toBe('completed')
  })

  test('a user reopens an ended session that still has work', () => {
    const s = session(prompt(), message(), { type: 'SESSION_END' })
    expect(s.state).toBe('batching.calling')
    expect(s.send({ type: 'REOPEN' })).toBe(true)
    expect(s.state).toBe('batching.calling')
    s.settle()
    expect(s.state).toBe('observing')
    expect(s.inbox).toMatchObject({ batches: [1], summaries: [1] })
  })

  test('a session that is open is not reopened', () => {
    for (const inputs of [[], [prompt()], [prompt(), ...many(3)]]) {
      const s = session(...inputs)
      const before = s.snapshot
      expect(s.send({ type: 'REOPEN' })).toBe(false)
      expect(s.snapshot).toBe(before)
    }
  })

  test('a message that comes late to a closed session is observed, and it closes again', () => {
    const s = session(prompt(), { type: 'SESSION_END' })
    s.settle()
    s.send(message())
    expect(s.state).toBe('batching.calling')
    s.observed()
    expect(s.state).toBe('closed')
  })

  test('24 hours without an event interrupt a session with an open turn and complete one without', () => {
    const open = session(prompt(), message())
    open.now += 600_000
    open.send({ type: 'DEADLINE' })
    open.settle()
    open.now += SESSION_IDLE_MS
    open.send({ type: 'DEADLINE' })
    open.settle()
    expect(open.state).toBe('closed')
    expect(open.context.outcome).toBe('interrupted')
    expect(open.inbox.summaries).toEqual([1])

    const done = session(prompt(), turnEnd())
    done.settle()
    done.now += SESSION_IDLE_MS
    done.send({ type: 'DEADLINE' })
    expect(done.state).toBe('closed')
    expect(done.context.outcome).toBe('completed')
  })
})

describe('session.time (rule 12)', () => {
  test('idle messages are observed without ending the turn', () => {
    const s = session(prompt(), message())
    expect(s.wakeAt).toBe(s.now + POLICY.idleFlushMs)
    s.now += POLICY.idleFlushMs
    s.send({ type: 'DEADLINE' })
    expect(s.state).toBe('batching.calling')
    s.observed()
    expect(s.turn).toBe('open')
  })

  test('a day without an event interrupts an open turn also while the session waits for a provider', () => {
    const s = session(prompt(), ...many(3))
    s.failed('provider', s.now + 2 * SESSION_IDLE_MS)
    s.now += 2 * SESSION_IDLE_MS
    s.send({ type: 'DEADLINE' })
    expect(s.context.outcome).toBe('interrupted')
    s.settle()
    expect(s.state).toBe('closed')
    expect(s.inbox).toMatchObject({ batches: [3], summaries: [1] })
  })

  test('a wake-up that was set for a shorter idle time is rescheduled', () => {
    const s = session(prompt(), message())
    s.now += POLICY.idleFlushMs / 2
    expect(s.send({ type: 'DEADLINE' })).toBe(true)
    expect(s.state).toBe('observing')
    expect(s.wakeAt).toBe(s.now + POLICY.idleFlushMs / 2)
  })

  test('after the clock was set back, the idle time restarts', () => {
    const s = session(prompt(), message())
    s.now -= 365 * 86_400_000
    s.send({ type: 'DEADLINE' })
    expect(s.wakeAt).toBe(s.now + POLICY.idleFlushMs)
  })
})

describe("session.failure: the provider's (rules 4 and 6)", () => {
  test('nothing is counted, and the session waits until `retryAt` with a reason', () => {
    const s = session(prompt(), message(), turnEnd())
    s.failed('provider', s.now + 5_000)
    expect(s.state).toBe('batching.waiting')
    expect(s.context.waiting).toEqual({ since: s.now, until: s.now + 5_000, reason: "provider's fault" })
    expect(s.wakeAt).toBe(s.now + 5_000)
    expect(s.inbox.rows).toMatchObject([{ status: 'pending' }])
    expect(s.send({ type: 'DEADLINE' })).toBe(false)
    s.now += 5_000
    s.send({ type: 'DEADLINE' })
    expect(s.state).toBe('batching.calling')
    s.settle()
    expect(s.context.waiting).toBeNull()
    expect(s.inbox.summaries).toEqual([1])
  })

  test('`since` is the time of the first failure, however many retries fail', () => {
    const s = session(prompt(), message(), turnEnd())
    const since = s.now
    for (let i = 0; i < 5; i++) {
      s.failed('provider')
      s.now += 1_000
      s.send({ type: 'DEADLINE' })
    }
    s.failed('provider')
    expect(s.context.waiting?.since).toBe(since)
    expect(s.context.failed).toBe(0)
  })

  test('an effect without an answer times out at its deadline; a later answer is ignored', () => {
    const s = session(prompt(), message(), turnEnd())
    const late = s.effectId
    s.now += POLICY.effectTimeoutMs
    s.send({ type: 'DEADLINE' })
    expect(s.state).toBe('batching.waiting')
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    expect(s.send({ type: 'OBSERVED', effectId: late, usage, contextTokens: 0 })).toBe(false)
    expect(s.inbox.settled).toBe(0)
  })

  test('a user can retry at once', () => {
    const s = session(prompt(), message(), turnEnd())
    s.failed('provider', s.now + 1e6)
    s.send({ type: 'FLUSH' })
    expect(s.state).toBe('batching.calling')
  })

  test('a draining daemon releases the batch; it is due at the next start', () => {
    const s = session(prompt(), message(), turnEnd())
    s.send({ type: 'DRAIN' })
    expect(s.inbox.rows).toMatchObject([{ status: 'pending' }])
    expect(s.wakeAt).toBe(s.now)
    s.send({ type: 'DEADLINE' })
    expect(s.state).toBe('batching.calling')
  })
})

describe("session.failure: the message's (rule 6)", () => {
  /** Answers like an observer that fails with one message. Returns the number of calls. */
  function failWith(s: Session, failing: number): number {
    let calls = 0
    while (s.context.effect !== null && calls < 100) {
      if (s.context.effect.kind !== 'observe') {
        s.settle()
        break
      }
      calls++
      const claimed = s.inbox.rows.filter((row) => row.effectId === s.effectId)
      if (claimed.some((row) => row.id === failing)) s.failed('message')
      else s.observed()
    }
    return calls
  }

  test('a batch is split until the failing message is alone and fails; the others are observed', () => {
    const s = new Session(1_000_000, { ...POLICY, batchMaxSize: 8 })
    for (const input of [prompt(), ...many(8)]) s.send(input)
    const calls = failWith(s, 5)
    expect(calls).toBeLessThanOrEqual(10)
    expect(s.inbox.rows).toMatchObject([{ id: 5, status: 'failed' }])
    expect(s.inbox.settled).toBe(7)
    expect(s.context.failed).toBe(1)
  })

  test('a message that is alone has three attempts', () => {
    const s = session(prompt(), message(), turnEnd())
    expect(failWith(s, 0)).toBe(3)
    expect(s.context.failed).toBe(1)
    expect(s.inbox.summaries).toEqual([1])
  })

  test('failed messages can be retried or dropped', () => {
    const s = session(prompt(), message(), turnEnd())
    failWith(s, 0)
    s.send({ type: 'RETRY', messages: s.inbox.counts('failed'), summaries: [] })
    expect(s.state).toBe('batching.calling')
    s.settle()
    expect(s.inbox).toMatchObject({ rows: [], settled: 1 })

    const t = session(prompt(), message(), turnEnd())
    failWith(t, 0)
    t.send({ type: 'CLEAR', failed: 1, pending: null })
    expect(t.inbox).toMatchObject({ rows: [], dropped: 1 })
  })

  test('a turn that ends once more during the last attempt still gets a summary', () => {
    const s = session(turnEnd())
    s.failed('message')
    s.failed('message')
    s.send(turnEnd())
    s.failed('message')
    expect(s.state).toBe('summarizing.calling')
    s.settle()
    expect(s.inbox.summaries).toEqual([0])
    expect(s.inbox.ends).toMatchObject([{ status: 'failed' }])
  })

  test('a summary that fails is given up after three attempts', () => {
    const s = session(prompt(), turnEnd())
    for (let i = 0; i < 3; i++) s.failed('message')
    expect(s.state).toBe('observing')
    expect(s.inbox.summaries).toEqual([])
    expect(s.inbox.ends).toMatchObject([{ status: 'failed' }])
    s.send({ type: 'RETRY', messages: [], summaries: s.inbox.failedSummaries() })
    s.settle()
    expect(s.inbox.summaries).toEqual([1])
  })
})

describe('session.compaction (rule 7)', () => {
  test('starts after a summary, once the conversation is half as large as it may become', () => {
    const s = session(prompt(), message(), turnEnd())
    s.observed(POLICY.compactTokens / 2 + 1)
    expect(s.state).toBe('summarizing.calling')
    s.summarized(POLICY.compactTokens / 2 + 1)
    expect(s.state).toBe('observing')
    for (const input of [prompt(), message(), turnEnd()]) s.send(input)
    expect(s.state).toBe('compacting.calling')
    s.compacted(100)
    expect(s.context).toMatchObject({ generation: 2, contextTokens: 100 })
    expect(s.state).toBe('batching.calling')
  })

  test('does not start between the last batch of a turn and its summary, unless it is far over the limit', () => {
    const s = session(prompt(), ...many(3))
    s.observed(POLICY.compactTokens * 1.5)
    expect(s.state).toBe('observing')
    s.send(turnEnd())
    expect(s.state).toBe('summarizing.calling')
    const far = session(prompt(), ...many(3))
    far.observed(POLICY.compactTokens * 1.5 + 1)
    far.send(turnEnd())
    expect(far.state).toBe('compacting.calling')
    far.compacted(100)
    expect(far.state).toBe('summarizing.calling')
  })

  test('starts before the next batch of a long turn that is over the limit', () => {
    const s = session(prompt(), ...many(6))
    s.observed(POLICY.compactTokens)
    expect(s.state).toBe('batching.calling')
    for (const input of many(3)) s.send(input)
    s.observed(POLICY.compactTokens + 1)
    expect(s.state).toBe('compacting.calling')
    s.compacted(100)
    expect(s.state).toBe('batching.calling')
  })

  test('a turn without a summary does not keep the conversation', () => {
    const s = session(prompt(), message(), prompt())
    s.observed(POLICY.compactTokens / 2 + 1)
    for (const input of many(3)) s.send(input)
    expect(s.state).toBe('compacting.calling')
  })

  test('a turn that is merged into the next one while its batch is observed keeps the conversation for its summary', () => {
    const s = session(prompt(), ...many(3), turnEnd())
    for (let i = 0; i < MAX_TURNS; i++) for (const input of [prompt(), turnEnd()]) s.send(input)
    expect(s.context.turns[0]?.prompt).toBe(2)
    s.observed(POLICY.compactTokens + 1)
    expect(s.context.unsummarized).toBe(2)
    expect(s.state).toBe('summarizing.calling')
  })

  test('names the turn that is worked on next, not the newest one', () => {
    const s = session(prompt(), message(), turnEnd(), prompt(), message(), turnEnd(), prompt())
    s.observed(10)
    s.summarized(POLICY.compactTokens)
    expect(s.context.effect).toMatchObject({ kind: 'compact', prompt: 2 })
    expect(s.context.prompt).toBe(3)
  })

  test('an overflow that the provider reports compacts also before a summary', () => {
    const s = session(prompt(), message(), turnEnd())
    s.observed(10)
    s.failed('context')
    expect(s.state).toBe('compacting.calling')
    s.compacted(100)
    expect(s.state).toBe('summarizing.calling')
  })

  test('"too long" compacts, then the batch is sent again; a second "too long" is owned by the message', () => {
    const s = session(prompt(), ...many(3))
    s.observed(500)
    for (const input of many(3)) s.send(input)
    s.failed('context')
    expect(s.state).toBe('compacting.calling')
    s.compacted(100)
    expect(s.state).toBe('batching.calling')
    expect(s.context.effect).toMatchObject({ limit: 3 })
    s.failed('context')
    expect(s.state).toBe('batching.calling')
    expect(s.context.effect).toMatchObject({ limit: 2 })
    s.settle()
    expect(s.inbox.settled).toBe(6)
  })

  test('a digest that is itself too large does not start another compaction', () => {
    const s = session(prompt(), ...many(3))
    s.send(turnEnd())
    s.observed(10)
    s.summarized(5_000)
    for (const input of [prompt(), message(), turnEnd()]) s.send(input)
    s.compacted(5_000)
    expect(s.state).toBe('batching.calling')
  })
})

describe('session.budget (rule 8)', () => {
  const SPENT = '2.01 of 2.00 US dollars spent today'

  test('past it a session continues without a model, with the reason, until it may call one again', () => {
    const s = session(prompt(), message())
    s.offline = SPENT
    s.send(turnEnd())
    expect(s.context.effect).toMatchObject({ kind: 'observe', offline: SPENT })
    expect(s.context.offline).toEqual({ since: s.now, reason: SPENT })
    expect(s.reasons.at(-1)).toContain(`offline: ${SPENT}`)
    s.observed()
    expect(s.context.effect).toMatchObject({ kind: 'summarize', offline: SPENT })
    s.summarized()
    const since = s.context.offline?.since
    s.now += 3_600_000
    for (const input of [prompt(), message(), turnEnd()]) s.send(input)
    expect(s.context.offline).toEqual({ since, reason: SPENT })
    s.offline = null
    s.observed()
    expect(s.context.effect).toMatchObject({ kind: 'summarize', offline: null })
    expect(s.context.offline).toBeNull()
  })

  test('a session that waits for a provider continues without it, also after a crash', () => {
    const s = session(prompt(), message(), turnEnd())
    s.failed('provider', s.now)
    s.offline = 'the provider does not answer'
    s.crash()
    s.send({ type: 'DEADLINE' })
    expect(s.context.effect).toMatchObject({ kind: 'observe', offline: 'the provider does not answer' })
    s.crash()
    expect(s.context.offline?.reason).toBe('the provider does not answer')
  })

  test('nothing is compacted without a model; with one again it is', () => {
    const s = session(prompt(), message(), turnEnd(), prompt(), message(), turnEnd())
    s.observed()
    s.summarized(POLICY.compactTokens + 1)
    expect(s.state).toBe('compacting.calling')
    const held = session(prompt(), message(), turnEnd())
    held.offline = SPENT
    held.observed(POLICY.compactTokens + 1)
    expect(held.state).toBe('summarizing.calling')
    held.offline = null
    held.summarized(POLICY.compactTokens + 1)
    for (const input of [prompt(), message(), turnEnd()]) held.send(input)
    expect(held.state).toBe('compacting.calling')
  })
})

describe('session.snapshot (rule 2)', () => {
  test('stays under 4 KB with a thousand messages in a thousand turns', () => {
    const s = session(prompt(), message(), turnEnd())
    s.failed('provider', s.now + 1e9)
    for (let i = 0; i < 999; i++) for (const input of [prompt(), message(), turnEnd()]) s.send(input)
    expect(s.inbox.rows).toHaveLength(1_000)
    expect(s.snapshot.length).toBeLessThan(4_096)
    s.send({ type: 'FLUSH' })
    s.settle()
    expect(s.inbox).toMatchObject({ rows: [], settled: 1_000 })
  })

  test('stays under 4 KB with a thousand messages in one turn', () => {
    const s = session(prompt(), ...many(1_000))
    expect(s.inbox.rows).toHaveLength(1_000)
    expect(s.snapshot.length).toBeLessThan(4_096)
  })
})

describe('session.summary on demand (rule 10)', () => {
  test('of an open turn: its messages are observed first, and the turn stays open', () => {
    const s = session(prompt(), message(), { type: 'SUMMARIZE', prompt: 1 })
    expect(s.context.effect).toMatchObject({ kind: 'observe', limit: 1 })
    s.observed()
    expect(s.context.effect).toMatchObject({ kind: 'summarize', prompt: 1 })
    s.summarized()
    expect(s.state).toBe('observing')
    expect(s.turn).toBe('open')
  })

  test('of the whole session: after the summaries that are due', () => {
    const s = session(prompt(), message(), { type: 'SUMMARIZE', prompt: null }, turnEnd())
    s.observed()
    expect(s.context.effect).toMatchObject({ kind: 'summarize' })
    expect(s.context.effect).not.toHaveProperty('whole')
    s.summarized()
    expect(s.context.effect).toMatchObject({ kind: 'summarize', whole: true })
    s.summarized()
    expect(s.context).toMatchObject({ effect: null, turns: [] })
  })

  test('a closed session makes it and closes again', () => {
    const s = session(prompt(), message(), turnEnd(), { type: 'SESSION_END' })
    s.settle()
    expect(s.state).toBe('closed')
    s.send({ type: 'SUMMARIZE', prompt: null })
    expect(s.context.effect).toMatchObject({ kind: 'summarize', whole: true })
    s.summarized()
    expect(s.state).toBe('closed')
    expect(s.context.outcome).toBe('completed')
  })

  test('one that a stop interrupted is made after the next start', () => {
    const s = session(prompt(), turnEnd())
    s.settle()
    s.send({ type: 'SUMMARIZE', prompt: null })
    s.send({ type: 'DRAIN' })
    expect(s.state).toBe('summarizing.waiting')
    s.send({ type: 'DEADLINE' })
    expect(s.context.effect).toMatchObject({ kind: 'summarize', whole: true })
  })

  test('of a private turn or one that does not exist: nothing is made', () => {
    const s = session({ type: 'PROMPT', promptId: null, private: true })
    s.send({ type: 'SUMMARIZE', prompt: 1 })
    s.send({ type: 'SUMMARIZE', prompt: 7 })
    expect(s.context.effect).toBeNull()
  })
})

describe('session.private (rule 11)', () => {
  const privatePrompt = (promptId: string | null) => ({ type: 'PROMPT', promptId, private: true }) as const

  test('late events of a private turn are skipped in every later turn', () => {
    const s = session(privatePrompt('a'), prompt('b'), message('a', 'agent-1'), prompt('c'), message('a', 'agent-1'))
    s.send(turnEnd('a'))
    expect(s.inbox).toMatchObject({ rows: [], ends: [], skipped: 3 })
    expect(s.turn).toBe('open')
    s.send(message('c'))
    expect(s.inbox.rows).toHaveLength(1)
  })

  test('an agent that was seen in a private turn stays private, whatever prompt id it has later', () => {
    const s = session(
      privatePrompt('a'),
      message('a', 'agent-1'),
      prompt('b'),
      message('b', 'agent-1'),
      message(null, 'agent-1'),
    )
    expect(s.inbox).toMatchObject({ rows: [], skipped: 3 })
    s.send(message('b', 'agent-2'))
    expect(s.inbox.rows).toHaveLength(1)
  })

  test('without prompt ids any agent may be one of a private turn, the main agent is not', () => {
    const s = session(privatePrompt(null), prompt(), message(null, 'agent-9'), message())
    expect(s.inbox).toMatchObject({ rows: [{ prompt: 2 }], skipped: 1 })
  })

  test('an unknown prompt id is private only if a private turn may have it', () => {
    const known = session(privatePrompt('a'), prompt('b'), prompt('c'), prompt('d'), message('b'))
    expect(known.inbox.skipped).toBe(0)
    const unknown = session(privatePrompt(null), prompt('b'), prompt('c'), prompt('d'), message('b'))
    expect(unknown.inbox.skipped).toBe(1)
  })

  test('of many private turns the oldest ids are forgotten, and count as private in doubt', () => {
    const s = session(
      ...Array.from({ length: 200 }, (_, i) => privatePrompt(`private-prompt-number-${i}`)),
      prompt('x'),
    )
    for (const id of ['private-prompt-number-0', 'private-prompt-number-199']) s.send(message(id, 'late'))
    expect(s.inbox).toMatchObject({ rows: [], skipped: 2 })
  })

  test('a closed session is not reopened by a late event of a private turn', () => {
    const s = session(privatePrompt('a'), turnEnd('a'), { type: 'SESSION_END' })
    expect(s.state).toBe('closed')
    s.send(message('a', 'agent-1'))
    expect(s.state).toBe('closed')
    expect(s.inbox).toMatchObject({ rows: [], summaries: [], skipped: 2 })
  })
})

describe('session.model calls (rules 5 and 6)', () => {
  const begun = (s: Session) => s.send({ type: 'CALL_BEGUN', effectId: s.effectId })

  test('a call is part of the snapshot before it is made, and the effect counts its starts', () => {
    const s = session(prompt(), message(), turnEnd())
    begun(s)
    s.crash()
    begun(s)
    expect(s.context.effect).toMatchObject({ starts: 2 })
    expect(s.send({ type: 'CALL_BEGUN', effectId: 'another' })).toBe(false)
  })

  test('after an unusable answer of a model the next attempt waits, longer each time, and a bounded time', () => {
    const s = session(prompt(), ...many(3))
    const pauses: number[] = []
    while (s.context.failed === 0) {
      begun(s)
      s.failed('message')
      if (s.context.failed > 0) break
      expect(s.state).toBe('batching.waiting')
      pauses.push((s.wakeAt ?? 0) - s.now)
      expect(s.send({ type: 'DEADLINE' })).toBe(false)
      s.now = s.wakeAt ?? 0
      s.send({ type: 'DEADLINE' })
    }
    expect(pauses).toEqual([1_000, 2_000])
    s.send(turnEnd())
    s.settle()
    begun(s)
  })

  test('a summary waits too, and a flush by hand ends the wait', () => {
    const s = session(prompt(), turnEnd())
    expect(s.state).toBe('summarizing.calling')
    begun(s)
    s.failed('message')
    expect(s.state).toBe('summarizing.waiting')
    s.send({ type: 'FLUSH' })
    expect(s.state).toBe('summarizing.calling')
  })

  test('without a model a failed message is tried again at once', () => {
    const s = session(prompt(), ...many(3))
    s.failed('message')
    expect(s.state).toBe('batching.calling')
  })
})
