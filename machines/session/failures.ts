/** Failures have an owner: the provider, a message, or the context (the conversation is too long). */
import { addUsage } from '../../src/domain/observation.ts'
import {
  decide,
  dropFinishedTurns,
  type EventOf,
  promptAfterMerge,
  withoutPending,
  withSummaryDue,
  withTurn,
  withWholeSummaryDue,
} from './context.ts'
import type { Change, Effect, Policy, SessionContext, Turn, Waiting } from './types.ts'

/** Wait before the retry of an effect that timed out, in ms. */
const RETRY_AFTER_TIMEOUT_MS = 30_000

/** Ends the effect without a result: its messages or its summary are due again. `counted`: as a failed attempt. */
export function releaseEffect(context: SessionContext, counted: boolean, reason: string): [SessionContext, Change[]] {
  const { effect } = context
  if (effect === null) return [context, []]
  const turns = turnsAfterRelease(context, effect)
  return [{ ...context, effect: null, turns }, [{ do: 'release', effectId: effect.id, counted, reason }]]
}

function turnsAfterRelease({ turns }: SessionContext, effect: Effect): Turn[] {
  if (effect.kind !== 'summarize') return turns
  return effect.whole === true ? withWholeSummaryDue(turns, effect.prompt) : withSummaryDue(turns, effect.prompt)
}

/** The usage of a failed effect counts, with any owner of the failure. */
export function recordUsage(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  return { ...context, usage: addUsage(context.usage, event.usage) }
}

/** The compaction failed: no other is tried before the observer has answered again. */
export function giveUpCompaction(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const next: SessionContext = { ...context, effect: null, waiting: null, compaction: 'done' }
  return decide(next, event.env, `not compacted: ${event.reason}`)
}

/** Owned by the provider: nothing is counted, the session waits until the circuit breaker allows a retry. */
export function waitForProvider(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = releaseEffect(context, false, event.reason)
  const since = context.waiting?.since ?? event.env.at
  const waiting = { since, until: event.retryAt, reason: event.reason }
  return decide({ ...next, waiting }, event.env, `waits: ${event.reason}`, ...changes)
}

/** No result at the deadline of the effect: as if the provider had failed. */
export function waitAfterTimeout(context: SessionContext, { env }: EventOf<'DEADLINE'>): SessionContext {
  const reason = `no answer within ${Math.round((context.effect?.timeoutMs ?? 0) / 1000)} s`
  const [next, changes] = releaseEffect(context, false, reason)
  const since = context.waiting?.since ?? env.at
  const waiting = { since, until: env.at + RETRY_AFTER_TIMEOUT_MS, reason }
  return decide({ ...next, waiting }, env, `waits: ${reason}`, ...changes)
}

export function resumeAfterWait(context: SessionContext, { env }: EventOf<'DEADLINE'>): SessionContext {
  return decide(context, env, 'tries again')
}

/** The daemon stops: claimed messages are released and due at once at the next start. */
export function releaseClaims(context: SessionContext, { env }: EventOf<'DRAIN'>): SessionContext {
  const [next, changes] = releaseEffect(context, false, 'the daemon stopped')
  const waiting = { since: env.at, until: env.at, reason: 'the daemon stopped' }
  return decide({ ...next, waiting }, env, 'released: the daemon stops', ...changes)
}

/** The failed attempts at what the effect works on, this one included. */
function attemptsOf(context: SessionContext): number {
  const before = context.effect?.kind === 'summarize' ? context.summaryAttempts : (context.split?.attempts ?? 0)
  return before + 1
}

/** Attempts in larger batches count, but only a message that is alone can be blamed. */
export function attemptsUsedUp(context: SessionContext, { maxAttempts }: Policy): boolean {
  const { effect } = context
  if (effect === null || effect.kind === 'compact') return false
  return attemptsOf(context) >= maxAttempts && (effect.kind === 'summarize' || effect.limit === 1)
}

/** Owned by the message, and its attempts are used up: its status is `failed`, until a user retries it. */
export function setMessageAside(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const { effect } = context
  if (effect?.kind !== 'observe') return context
  const next: SessionContext = {
    ...context,
    effect: null,
    waiting: null,
    compaction: 'none',
    split: null,
    failed: context.failed + 1,
    turns: withoutPending(context.turns, effect.prompt, 1),
  }
  const change: Change = { do: 'fail', effectId: effect.id, reason: event.reason }
  const reason = `failed after ${attemptsOf(context)} attempts: ${event.reason}`
  return decide(dropFinishedTurns(next), event.env, reason, change)
}

/** The same for a summary: the message is the turn end. One that became due meanwhile is separate. */
export function setSummaryAside(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const { effect } = context
  if (effect?.kind !== 'summarize') return context
  const next: SessionContext = { ...context, effect: null, waiting: null, compaction: 'none', summaryAttempts: 0 }
  const change: Change = { do: 'fail', effectId: effect.id, reason: event.reason }
  const reason = `no summary after ${attemptsOf(context)} attempts: ${event.reason}`
  return decide(dropFinishedTurns(next), event.env, reason, change)
}

/** Owned by the message: the attempt is counted, and the batch is split until the failing message is alone. */
export function retryInHalves(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const { effect } = context
  if (effect?.kind !== 'observe') return context
  const [next, changes] = releaseEffect(context, true, event.reason)
  const left = Math.max(context.split?.left ?? 0, effect.limit)
  // Messages that were claimed together stay due, although they may be fewer than a full batch.
  const turns = withTurn(next.turns, promptAfterMerge(next.turns, effect.prompt), (turn) => ({ ...turn, flush: true }))
  const split = { limit: Math.max(1, Math.ceil(effect.limit / 2)), left, attempts: attemptsOf(context) }
  const reason = `attempt ${split.attempts} failed: ${event.reason}`
  return decide({ ...next, waiting: pauseAfter(context, event), turns, split }, event.env, reason, ...changes)
}

export function retrySummary(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = releaseEffect(context, true, event.reason)
  const summaryAttempts = attemptsOf(context)
  const reason = `attempt ${summaryAttempts} failed: ${event.reason}`
  return decide({ ...next, waiting: pauseAfter(context, event), summaryAttempts }, event.env, reason, ...changes)
}

const FIRST_PAUSE_MS = 1_000
/** Longest pause before a message is tried again, in ms. */
const MAX_PAUSE_MS = 60_000

/** Each call to a model costs: after a failed attempt the next one waits, twice as long each time. */
function pauseAfter(context: SessionContext, { env, reason }: EventOf<'FAILED'>): Waiting | null {
  if (context.effect === null || context.effect.starts === 0) return null
  const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attemptsOf(context) - 1))
  return { since: env.at, until: env.at + pauseMs, reason }
}

/** Owned by the context: the conversation is too long and is replaced by its digest, then the batch is sent again. */
export function requestCompaction(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = releaseEffect(context, false, event.reason)
  return decide({ ...next, compaction: 'asked' }, event.env, 'too long', ...changes)
}
