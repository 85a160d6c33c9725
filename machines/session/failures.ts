/** Failures have an owner: the provider, a message, or the context (the conversation is too long). */
import { addUsage } from '../../src/domain/observation.ts'
import { decide, type EventOf, holding, tidy, withoutPending, withSummaryDue, withTurn } from './context.ts'
import type { Change, SessionContext } from './types.ts'

/** Pause after an effect that was never answered, in ms. */
const RETRY_AFTER_SILENCE_MS = 30_000

function released(context: SessionContext, counted: boolean, reason: string): [SessionContext, Change[]] {
  const { effect } = context
  if (effect === null) return [context, []]
  const turns = effect.kind === 'summarize' ? withSummaryDue(context.turns, effect.prompt) : context.turns
  return [{ ...context, effect: null, turns }, [{ do: 'release', effectId: effect.id, counted, reason }]]
}

/** The usage of a failed effect counts, with any owner of the failure. */
export function recordUsage(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  return { ...context, usage: addUsage(context.usage, event.usage) }
}

/** The digest failed: the conversation stays as it is until the next answer. */
export function giveUpCompaction(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const next: SessionContext = { ...context, effect: null, waiting: null, compaction: 'done' }
  return decide(next, event.tick, `not compacted: ${event.reason}`)
}

/** Owned by the provider: nothing is counted, the session waits until the breaker closes. */
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

export function resumeAfterWait(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  return decide(context, tick, 'tries again')
}

/** The daemon stops: claimed messages are released and due at once at the next start. */
export function releaseClaims(context: SessionContext, { tick }: EventOf<'DRAIN'>): SessionContext {
  const [next, changes] = released(context, false, 'the daemon stopped')
  const waiting = { since: tick.at, until: tick.at, reason: 'the daemon stopped' }
  return decide({ ...next, waiting }, tick, 'released: the daemon stops', ...changes)
}

/** Owned by the message: counted. A batch is split until the failing message is alone; then it fails for good. */
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
    return decide(tidy(next), event.tick, `failed after ${attempts} attempts: ${event.reason}`, {
      do: 'fail',
      effectId: effect.id,
      reason: event.reason,
    })
  }
  const [next, changes] = released(context, true, event.reason)
  const left = Math.max(context.split?.left ?? 0, effect.limit)
  // Messages that were claimed together stay due, although their number may be below the overflow.
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
    // This summary is given up; one that became due meanwhile is separate.
    const next = tidy({ ...context, effect: null, waiting: null, compaction: 'none' as const, summaryAttempts: 0 })
    return decide(next, event.tick, `no summary after ${attempts} attempts: ${event.reason}`, {
      do: 'fail',
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

/** Owned by neither: the conversation is too long and is replaced by its digest, then the batch is sent again. */
export function requestCompaction(context: SessionContext, event: EventOf<'FAILED'>): SessionContext {
  const [next, changes] = released(context, false, event.reason)
  return decide({ ...next, compaction: 'asked' }, event.tick, 'too long', ...changes)
}
