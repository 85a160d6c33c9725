/**
 * The session's bookkeeping as pure functions: context and event in, new context out. `machine.ts` says when
 * each of them applies.
 */
import type { Usage } from '../../src/memory/observation.ts'
import type { Change, Effect, Policy, SessionContext, SessionEvent, Tick, Turn, TurnCount } from './types.ts'

/** Unfinished turns remembered one by one; beyond that the two oldest become one. Keeps the snapshot small. */
export const MAX_TURNS = 32
/** How long to wait after an effect whose answer never came: long enough for a busy machine, short for a person. */
const RETRY_AFTER_SILENCE_MS = 30_000
/** No wake-up is ever further away than this; one that is was set before the clock went back. */
export const MAX_WAKE_MS = 25 * 3_600_000

export type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>

export function newContext(at: number): SessionContext {
  return {
    prompt: 0,
    promptId: null,
    previousPromptId: null,
    turnOpen: false,
    turnPrivate: false,
    turns: [],
    lastEventAt: at,
    ended: false,
    outcome: 'active',
    failed: 0,
    effect: null,
    waiting: null,
    split: null,
    summaryAttempts: 0,
    compaction: 'none',
    generation: 1,
    contextTokens: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    decided: null,
  }
}

/** Writes down what an event came to. Several rules may add to the decision of one event. */
function decide(context: SessionContext, tick: Tick, reason: string, ...changes: Change[]): SessionContext {
  const before = context.decided?.key === tick.key ? context.decided : { key: tick.key, reason: '', changes: [] }
  return {
    ...context,
    decided: {
      key: tick.key,
      reason: before.reason === '' ? reason : `${before.reason}; ${reason}`,
      changes: [...before.changes, ...changes],
    },
  }
}

// ---- what hooks report -------------------------------------------------------------------------------------

/** The turn a late event belongs to: the one before, where the client says so; else the newest. */
function promptFor(context: SessionContext, promptId: string | null): number {
  const late = promptId !== null && promptId !== context.promptId && promptId === context.previousPromptId
  return late ? context.prompt - 1 : context.prompt
}

function withTurn(turns: readonly Turn[], prompt: number, change: (turn: Turn) => Turn): Turn[] {
  if (turns.some((turn) => turn.prompt === prompt)) {
    return turns.map((turn) => (turn.prompt === prompt ? change(turn) : turn))
  }
  const added = change({ prompt, pending: 0, flush: false, summary: false })
  return [...turns, added].sort((a, b) => a.prompt - b.prompt)
}

function withSummaryDue(turns: readonly Turn[], prompt: number): Turn[] {
  return withTurn(turns, prompt, (turn) => ({ ...turn, summary: true }))
}

function bounded(turns: Turn[]): Turn[] {
  const [oldest, second, ...rest] = turns
  if (turns.length <= MAX_TURNS || oldest === undefined || second === undefined) return turns
  const merged: Turn = {
    prompt: second.prompt,
    pending: oldest.pending + second.pending,
    flush: oldest.flush || second.flush,
    summary: oldest.summary || second.summary,
  }
  return bounded([merged, ...rest])
}

/** Drops turns with nothing left to do; the open one stays. */
function tidy(context: SessionContext): SessionContext {
  const isOpen = (turn: Turn) => context.turnOpen && turn.prompt === context.prompt
  const turns = context.turns.filter((turn) => turn.pending > 0 || turn.summary || isOpen(turn))
  return { ...context, turns: bounded(turns) }
}

function heard(context: SessionContext, tick: Tick): SessionContext {
  return { ...context, lastEventAt: tick.at }
}

export function takeStart(context: SessionContext, { tick }: EventOf<'SESSION_START'>): SessionContext {
  return decide(heard(context, tick), tick, 'session started')
}

export function takePrompt(context: SessionContext, event: EventOf<'PROMPT'>): SessionContext {
  const number = context.prompt + 1
  const leftovers = pendingOf(context)
  const reason = event.private ? `prompt ${number} is private: its turn is not observed` : `prompt ${number}`
  const next: SessionContext = {
    ...heard(context, event.tick),
    prompt: number,
    promptId: event.promptId,
    previousPromptId: context.promptId,
    turnOpen: true,
    turnPrivate: event.private,
    ended: false,
    outcome: 'active',
    turns: withTurn(flushed(context.turns), number, (turn) => turn),
  }
  const why = leftovers > 0 ? `${reason}; ${leftovers} left over from before` : reason
  return decide(tidy(next), event.tick, why, { do: 'add_prompt', number, private: event.private })
}

export function takeMessage(context: SessionContext, event: EventOf<'MESSAGE'>): SessionContext {
  const prompt = promptFor(context, event.promptId)
  const next = heard(context, event.tick)
  if (context.turnPrivate && prompt === context.prompt) {
    return decide(next, event.tick, 'not observed: private turn', { do: 'skip_event', reason: 'private turn' })
  }
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, pending: turn.pending + 1 }))
  const changed = tidy({ ...next, turns })
  return decide(changed, event.tick, `queued, ${pendingOf(changed)} waiting`, { do: 'add_message', prompt })
}

export function takeTurnEnd(context: SessionContext, event: EventOf<'TURN_END'>): SessionContext {
  const prompt = promptFor(context, event.promptId)
  const current = prompt === context.prompt
  const next: SessionContext = { ...heard(context, event.tick), turnOpen: context.turnOpen && !current }
  if (current && context.turnPrivate) {
    return decide(tidy(next), event.tick, 'private turn ended', { do: 'skip_event', reason: 'private turn' })
  }
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, flush: true, summary: true }))
  return decide(tidy({ ...next, turns }), event.tick, `turn ${prompt} ended`, { do: 'add_turn_end', prompt })
}

export function takePreCompact(context: SessionContext, { tick }: EventOf<'PRE_COMPACT'>): SessionContext {
  return decide({ ...heard(context, tick), turns: flushed(context.turns) }, tick, 'the client is about to compact')
}

export function takeSessionEnd(context: SessionContext, { tick }: EventOf<'SESSION_END'>): SessionContext {
  return decide(ended(heard(context, tick), 'completed'), tick, 'session ended')
}

/** What is still open is observed and summarised, then the session closes. */
function ended(context: SessionContext, outcome: 'completed' | 'interrupted'): SessionContext {
  const summarise = context.turnOpen && !context.turnPrivate && context.prompt > 0
  const turns = summarise
    ? withTurn(context.turns, context.prompt, (turn) => ({ ...turn, flush: true, summary: true }))
    : context.turns
  return tidy({ ...context, ended: true, outcome, turnOpen: false, turns })
}

function flushed(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => (turn.pending > 0 ? { ...turn, flush: true } : turn))
}

// ---- what people and time ask ------------------------------------------------------------------------------

export function takeFlush(context: SessionContext, { tick }: EventOf<'FLUSH'>): SessionContext {
  return decide({ ...context, waiting: null, turns: flushed(context.turns) }, tick, 'flushed by hand')
}

export function takeSilence(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  const silentMs = tick.at - context.lastEventAt
  if (silentMs >= tick.policy.silenceMs) {
    const outcome = context.turnOpen ? 'interrupted' : 'completed'
    return decide(ended(context, outcome), tick, `nothing heard for ${hours(silentMs)}: ${outcome}`)
  }
  return decide({ ...context, turns: flushed(context.turns) }, tick, 'idle: what waits is observed')
}

/** Counts silence from now: what was heard last lies in the future of a clock that went back. */
export function rebase(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  return decide({ ...context, lastEventAt: tick.at }, tick, 'the clock went back')
}

export function takeRetry(context: SessionContext, event: EventOf<'RETRY'>): SessionContext {
  const count = sum(event.messages)
  const messages = event.messages.reduce<Turn[]>(
    (all, { prompt, count: added }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: turn.pending + added, flush: true })),
    context.turns,
  )
  const turns = event.summaries.reduce<Turn[]>(withSummaryDue, messages)
  const next = tidy({ ...context, failed: Math.max(0, context.failed - count), turns })
  const reason = `tried again: ${count} messages, ${event.summaries.length} summaries`
  return decide(next, event.tick, reason, { do: 'retry_failed' })
}

export function takeClear(context: SessionContext, event: EventOf<'CLEAR'>): SessionContext {
  const pending = event.pending ?? []
  const turns = pending.reduce<Turn[]>(
    (all, { prompt, count }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: Math.max(0, turn.pending - count) })),
    context.turns,
  )
  const next = tidy({ ...context, failed: Math.max(0, context.failed - event.failed), split: null, turns })
  const dropped = event.failed + sum(pending)
  return decide(next, event.tick, `${dropped} messages dropped by hand`, {
    do: 'clear',
    pending: event.pending !== null,
  })
}

// ---- effects -----------------------------------------------------------------------------------------------

export type Work = { kind: 'observe' | 'summarize'; turn: Turn }

/** The oldest thing to do when nothing is in flight. */
export function nextWork(context: SessionContext, policy: Policy): Work | null {
  for (const turn of context.turns) {
    if (turn.pending > 0) return flushReason(context, turn, policy) === null ? null : { kind: 'observe', turn }
    if (turn.summary) return { kind: 'summarize', turn }
  }
  return null
}

/** Why what a turn has gathered goes to the observer now; null: it goes on gathering. */
function flushReason(context: SessionContext, turn: Turn, policy: Policy): string | null {
  if (!policy.batching) return 'batching is off'
  if (turn.flush) return 'flush'
  if (context.ended) return 'session ended'
  if (turn.prompt < context.prompt) return 'an earlier turn'
  if (turn.pending >= policy.batchMaxSize) return 'overflow'
  return null
}

function effectBase(tick: Tick, prompt: number) {
  return {
    id: tick.freshId,
    prompt,
    timeoutMs: tick.policy.effectTimeoutMs,
    deadline: tick.at + tick.policy.effectTimeoutMs,
  }
}

function started(context: SessionContext, tick: Tick, effect: Effect, reason: string): SessionContext {
  return decide({ ...context, effect }, tick, reason, { do: 'claim', effect })
}

export function startBatch(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const work = nextWork(context, tick.policy)
  if (work === null) return context
  const most = tick.policy.batching ? Math.min(tick.policy.batchMaxSize, context.split?.limit ?? Infinity) : 1
  const limit = Math.min(work.turn.pending, most)
  const why = context.split === null ? flushReason(context, work.turn, tick.policy) : 'split to find the culprit'
  const effect: Effect = { ...effectBase(tick, work.turn.prompt), kind: 'observe', limit }
  return started(context, tick, effect, `batch of ${limit} (${why})`)
}

export function startSummary(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const work = nextWork(context, tick.policy)
  if (work === null) return context
  const effect: Effect = { ...effectBase(tick, work.turn.prompt), kind: 'summarize' }
  const turns = withTurn(context.turns, work.turn.prompt, (turn) => ({ ...turn, summary: false }))
  return started({ ...context, turns }, tick, effect, `summary of turn ${work.turn.prompt}`)
}

export function startCompaction(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const effect: Effect = { ...effectBase(tick, context.prompt), kind: 'compact' }
  const why = context.compaction === 'asked' ? 'too long for the provider' : `${context.contextTokens} tokens`
  return started(context, tick, effect, `compaction (${why})`)
}

interface Result {
  usage: Usage
  contextTokens: number
}

function answered(context: SessionContext, result: Result): SessionContext {
  return {
    ...context,
    effect: null,
    waiting: null,
    compaction: 'none',
    contextTokens: result.contextTokens,
    usage: addUsage(context.usage, result.usage),
  }
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  }
}

export function settleBatch(context: SessionContext, event: EventOf<'OBSERVED'>): SessionContext {
  const effect = context.effect
  if (effect?.kind !== 'observe') return context
  const left = (context.split?.left ?? 0) - effect.limit
  const next: SessionContext = {
    ...answered(context, event),
    split: context.split !== null && left > 0 ? { ...context.split, left } : null,
    turns: withoutPending(context.turns, effect.prompt, effect.limit),
  }
  return decide(tidy(next), event.tick, `${effect.limit} observed`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

/** The turn may have been merged into the next one while its batch was away. */
function holding(turns: readonly Turn[], prompt: number): number {
  return turns.find((turn) => turn.prompt >= prompt)?.prompt ?? prompt
}

function withoutPending(turns: readonly Turn[], prompt: number, count: number): Turn[] {
  return withTurn(turns, holding(turns, prompt), (turn) => {
    const pending = Math.max(0, turn.pending - count)
    return { ...turn, pending, flush: turn.flush && pending > 0 }
  })
}

export function settleSummary(context: SessionContext, event: EventOf<'SUMMARIZED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const next = tidy({ ...answered(context, event), summaryAttempts: 0 })
  return decide(next, event.tick, `turn ${effect.prompt} summarised`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

export function settleCompaction(context: SessionContext, event: EventOf<'COMPACTED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const next = { ...answered(context, event), compaction: 'done' as const, generation: context.generation + 1 }
  return decide(next, event.tick, `generation ${next.generation} of the memory session`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

// ---- failures: each has an owner ---------------------------------------------------------------------------

function released(context: SessionContext, counted: boolean, reason: string): [SessionContext, Change[]] {
  const { effect } = context
  if (effect === null) return [context, []]
  const turns = effect.kind === 'summarize' ? withSummaryDue(context.turns, effect.prompt) : context.turns
  return [{ ...context, effect: null, turns }, [{ do: 'release', effectId: effect.id, counted, reason }]]
}

/** The provider's: nothing is counted, the session waits until the breaker's time. */
export function waitForProvider(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = released(context, false, event.reason)
  const since = context.waiting?.since ?? event.tick.at
  const waiting = { since, until: event.retryAt, reason: event.reason }
  return decide({ ...next, waiting }, event.tick, `waits: ${event.reason}`, ...changes)
}

export function waitAfterSilence(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  const reason = `no answer within ${Math.round((context.effect?.timeoutMs ?? 0) / 1000)} s`
  const [next, changes] = released(context, false, reason)
  const since = context.waiting?.since ?? tick.at
  const waiting = { since, until: tick.at + RETRY_AFTER_SILENCE_MS, reason }
  return decide({ ...next, waiting }, tick, `waits: ${reason}`, ...changes)
}

export function goOn(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  return decide(context, tick, 'tries again')
}

/** The daemon stops: what is claimed is let go of, and due at once at the next start. */
export function letGo(context: SessionContext, { tick }: EventOf<'DRAIN'>): SessionContext {
  const [next, changes] = released(context, false, 'the daemon stopped')
  const waiting = { since: tick.at, until: tick.at, reason: 'the daemon stopped' }
  return decide({ ...next, waiting }, tick, 'let go of: the daemon stops', ...changes)
}

/** The message's: counted. A batch is split until the culprit is alone; then it is set aside. */
export function blameMessage(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const effect = context.effect
  if (effect?.kind !== 'observe') return context
  const attempts = (context.split?.attempts ?? 0) + 1
  if (effect.limit === 1 && attempts >= event.tick.policy.maxAttempts) {
    const next: SessionContext = {
      ...context,
      effect: null,
      waiting: null,
      compaction: 'none',
      split: null,
      failed: context.failed + 1,
      turns: withoutPending(context.turns, effect.prompt, 1),
    }
    return decide(tidy(next), event.tick, `set aside after ${attempts} attempts: ${event.reason}`, {
      do: 'set_aside',
      effectId: effect.id,
      reason: event.reason,
    })
  }
  const [next, changes] = released(context, true, event.reason)
  const left = Math.max(context.split?.left ?? 0, effect.limit)
  // A batch is one decision: what was claimed together stays due although its count may be below the overflow.
  const turns = withTurn(next.turns, holding(next.turns, effect.prompt), (turn) => ({ ...turn, flush: true }))
  const split = { limit: Math.max(1, Math.ceil(effect.limit / 2)), left, attempts }
  return decide(
    { ...next, waiting: null, turns, split },
    event.tick,
    `attempt ${attempts} failed: ${event.reason}`,
    ...changes,
  )
}

export function blameTurn(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const attempts = context.summaryAttempts + 1
  if (attempts >= event.tick.policy.maxAttempts) {
    const turns = withTurn(context.turns, holding(context.turns, effect.prompt), (turn) => ({
      ...turn,
      summary: false,
    }))
    const next = tidy({
      ...context,
      effect: null,
      waiting: null,
      compaction: 'none' as const,
      summaryAttempts: 0,
      turns,
    })
    return decide(next, event.tick, `no summary after ${attempts} attempts: ${event.reason}`, {
      do: 'set_aside',
      effectId: effect.id,
      reason: event.reason,
    })
  }
  const [next, changes] = released(context, true, event.reason)
  return decide(
    { ...next, waiting: null, summaryAttempts: attempts },
    event.tick,
    `attempt ${attempts} failed: ${event.reason}`,
    ...changes,
  )
}

/** Neither's: the conversation has grown too long and is replaced by its digest, then the batch goes again. */
export function blameLength(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = released(context, false, event.reason)
  return decide({ ...next, compaction: 'asked' }, event.tick, 'too long', ...changes)
}

// ---- what the host reads -----------------------------------------------------------------------------------

export function pendingOf(context: SessionContext): number {
  return context.turns.reduce((total, turn) => total + turn.pending, 0)
}

export function isWaiting(state: string): boolean {
  return state.endsWith('.waiting')
}

/** When the session wants to be woken; null: only by an event. */
export function wakeAtOf(state: string, context: SessionContext, policy: Policy): number | null {
  if (context.effect !== null) return context.effect.deadline
  if (isWaiting(state) && context.waiting !== null) return context.waiting.until
  if (state === 'closed') return null
  return context.lastEventAt + (pendingOf(context) > 0 ? policy.idleFlushMs : policy.silenceMs)
}

function sum(counts: readonly TurnCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

function hours(ms: number): string {
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
