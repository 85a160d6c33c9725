/** Every time limit of a session, in ms. The daemon sends DEADLINE at `wakeAtOf`; the guards compare with the event's time. */
import { pendingOf } from './context.ts'
import type { EventEnvironment, Policy, SessionContext } from './types.ts'

/** A session ends after this time without an event; in an open turn it counts as interrupted. */
export const SESSION_IDLE_MS = 24 * 3_600_000
/** Upper bound of the time until a wake-up; a later one was set before the clock was set back. */
export const MAX_WAKE_MS = SESSION_IDLE_MS + 3_600_000
/** Wait before the retry of an effect that timed out: as long as a provider that restarts needs. */
export const RETRY_AFTER_TIMEOUT_MS = 30_000
/** Each call to a model costs: after a failed attempt the next one waits, twice as long each time. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000

export function pauseAfterAttempt(attempt: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1))
}

/** Tags of the states that a DEADLINE leaves; `closed` has none. */
export type TimedTag = 'calling' | 'waiting' | 'idle'

/** The time of the next DEADLINE in a state with this tag. */
const DEADLINES: Record<TimedTag, (context: SessionContext, policy: Policy) => number | undefined> = {
  calling: ({ effect }) => effect?.deadline,
  waiting: ({ waiting }) => waiting?.until,
  idle: (context, policy) => context.lastEventAt + (pendingOf(context) > 0 ? policy.idleFlushMs : SESSION_IDLE_MS),
}

interface TaggedState {
  tags: ReadonlySet<string>
  context: SessionContext
}

/** Null: no DEADLINE is needed. */
export function wakeAtOf({ tags, context }: TaggedState, policy: Policy): number | null {
  for (const [tag, deadline] of Object.entries(DEADLINES)) if (tags.has(tag)) return deadline(context, policy) ?? null
  return null
}

export function isEffectOverdue({ effect }: SessionContext, { at }: EventEnvironment): boolean {
  // A deadline further away than the effect may take was set before the clock was set back.
  return effect !== null && (at >= effect.deadline || effect.deadline - at > effect.timeoutMs)
}

export function isWaitOver({ waiting }: SessionContext, { at }: EventEnvironment): boolean {
  return waiting === null || at >= waiting.until || waiting.until - at > MAX_WAKE_MS
}

export function isSessionIdle({ lastEventAt }: SessionContext, { at }: EventEnvironment): boolean {
  return at - lastEventAt >= SESSION_IDLE_MS
}

export function isInboxIdle(context: SessionContext, { at, policy }: EventEnvironment): boolean {
  return pendingOf(context) > 0 && at - context.lastEventAt >= policy.idleFlushMs
}
