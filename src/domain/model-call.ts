/** One call to a model: what was sent, what was received, what it cost. */
import type { Usage } from './observation.ts'

/** The error of a call that was begun: its result is not committed yet, or never will be. */
export const UNKNOWN_OUTCOME = 'unknown outcome: the call has not ended, or the daemon ended before it did'

export interface ModelCall {
  /** Unique. The call is recorded when it begins, and again when its result is known. */
  callId: string
  /** The session effect that caused the call. */
  effectId: string
  kind: 'observe' | 'summarize' | 'compact'
  provider: string
  model: string
  promptVersion: string | null
  at: number
  durationMs: number
  usage: Usage
  /** US dollars at the price of that time; null if no price is known for the model. */
  cost: number | null
  /** Null if the reply was usable. */
  error: string | null
  /** The messages that this call added to the conversation. */
  sent: string
  received: string | null
}

/** What is known before a call is made. */
export interface CallStart extends Pick<ModelCall, 'provider' | 'model' | 'promptVersion' | 'sent'> {
  /** Estimated cost, used if the call never reports its usage: an interrupted call is billed too. */
  expected: Pick<ModelCall, 'usage' | 'cost'>
}
export type CallEnd = Pick<ModelCall, 'usage' | 'cost' | 'error' | 'received'>

/** A call without an end counts as failed and as paid. */
export interface ModelCallRecorder {
  /** Resolves when the beginning is durable: only then may the request be sent, so that no crash hides its cost. */
  begin(call: CallStart): Promise<(end: CallEnd) => void>
}

/**
 * Who has to act on a failed call. `provider`: connection, key, quota or model; every message waits until it is fixed.
 * `message`: this request cannot be answered. `context`: the conversation is too long and must be compacted.
 */
export type FailureOwner = 'provider' | 'message' | 'context'
