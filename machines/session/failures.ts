/** Failures have an owner: the provider, a message, or the context (the conversation is too long). */
import { decide, on, onFailure } from './action.ts'
import { promptAfterMerge, withoutPending, withSummaryDue, withTurn, withWholeSummaryDue } from './context.ts'
import { tooManyTokens } from './effects.ts'
import { pauseAfterAttempt, RETRY_AFTER_TIMEOUT_MS } from './timeouts.ts'
import type { Change, Effect, Policy, SessionContext, Turn } from './types.ts'

/** Ends the effect without a result: its messages or its summary are due again. `counted`: as a failed attempt. */
export function releaseEffect(context: SessionContext, counted: boolean, reason: string): [SessionContext, Change[]] {
  const { effect } = context
  if (effect === null) return [context, []]
  const turns = turnsAfterRelease(context, effect)
  return [{ ...context, effect: null, turns }, [{ type: 'release', effectId: effect.id, counted, reason }]]
}

function turnsAfterRelease({ turns }: SessionContext, effect: Effect): Turn[] {
  if (effect.kind !== 'summarize') return turns
  return effect.whole === true ? withWholeSummaryDue(turns, effect.prompt) : withSummaryDue(turns, effect.prompt)
}

function releaseAndWait(context: SessionContext, at: number, until: number, reason: string) {
  const [next, changes] = releaseEffect(context, false, reason)
  const since = context.waiting?.since ?? at
  return decide({ ...next, waiting: { since, until, reason } }, `waits: ${reason}`, ...changes)
}

/** The failed attempts at what the effect works on, this one included. */
function attemptsOf(context: SessionContext): number {
  const before = context.effect?.kind === 'summarize' ? context.summaryAttempts : (context.split?.attempts ?? 0)
  return before + 1
}

/** Attempts in larger batches count, but only a message that is alone can be blamed. A compaction is tried once. */
export function areAttemptsUsedUp(context: SessionContext, { maxAttempts }: Policy): boolean {
  const { effect } = context
  if (effect?.kind === 'compact') return true
  return attemptsOf(context) >= maxAttempts && (effect?.kind === 'summarize' || effect?.limit === 1)
}

export const failureActions = {
  /** Owned by the provider: nothing is counted, the session waits until the circuit breaker allows a retry. */
  waitForProvider: onFailure((context, { env, retryAt, reason }) => releaseAndWait(context, env.at, retryAt, reason)),

  /** No result at the deadline of the effect: as if the provider had failed. */
  waitAfterTimeout: on('DEADLINE', (context, { env }) => {
    const reason = `no answer within ${Math.round((context.effect?.timeoutMs ?? 0) / 1000)} s`
    return releaseAndWait(context, env.at, env.at + RETRY_AFTER_TIMEOUT_MS, reason)
  }),

  tryAgain: on('DEADLINE', (context) => decide(context, 'tries again')),

  /** Claimed messages are due at once at the next start. */
  releaseClaims: on('DRAIN', (context, { env }) => {
    const [next, changes] = releaseEffect(context, false, 'the daemon stopped')
    const waiting = { since: env.at, until: env.at, reason: 'the daemon stopped' }
    return decide({ ...next, waiting }, 'released: the daemon stops', ...changes)
  }),

  /** Owned by the context: the conversation is too long and is replaced by its digest, then the batch is sent again. */
  requestCompaction: onFailure((context, { env, reason }) => {
    const [next, changes] = releaseEffect(context, false, reason)
    return decide({ ...next, contextTokens: tooManyTokens(context, env.policy) }, 'too long', ...changes)
  }),

  /** The status of the message becomes `failed`, until a user retries it. Nothing depends on a compaction. */
  giveUp: onFailure((context, { reason }) => {
    const { effect } = context
    if (effect === null) return null
    const next: SessionContext = { ...context, effect: null, waiting: null, compacted: false }
    const fail: Change = { type: 'fail', effectId: effect.id, reason }
    const attempts = attemptsOf(context)
    switch (effect.kind) {
      case 'observe': {
        const turns = withoutPending(context.turns, effect.prompt, 1)
        const alone = { ...next, split: null, failed: context.failed + 1, turns }
        return decide(alone, `failed after ${attempts} attempts: ${reason}`, fail)
      }
      // The message is the turn end. A summary that became due meanwhile is separate.
      case 'summarize':
        return decide({ ...next, summaryAttempts: 0 }, `no summary after ${attempts} attempts: ${reason}`, fail)
      case 'compact':
        return decide({ ...next, compacted: true }, `not compacted: ${reason}`)
    }
  }),

  /** Owned by the message: the attempt is counted. A batch is split until the failing message is alone. */
  retry: onFailure((context, { env, reason }) => {
    const { effect } = context
    if (effect === null) return null
    const [released, changes] = releaseEffect(context, true, reason)
    const attempts = attemptsOf(context)
    // Without a call to a model there is no pause.
    const waiting = effect.starts > 0 ? { since: env.at, until: env.at + pauseAfterAttempt(attempts), reason } : null
    const next: SessionContext = { ...released, waiting }
    const why = `attempt ${attempts} failed: ${reason}`
    if (effect.kind !== 'observe') return decide({ ...next, summaryAttempts: attempts }, why, ...changes)
    const left = Math.max(context.split?.left ?? 0, effect.limit)
    const split = { limit: Math.max(1, Math.ceil(effect.limit / 2)), left, attempts }
    // Messages that were claimed together stay due, although they may be fewer than a full batch.
    const prompt = promptAfterMerge(next.turns, effect.prompt)
    const turns = withTurn(next.turns, prompt, (turn) => ({ ...turn, flush: true }))
    return decide({ ...next, turns, split }, why, ...changes)
  }),
}
