/** One call to a model: what left the machine, what came back, what it cost. */
import type { Usage } from './observation.ts'

export interface ModelCall {
  /** The effect it was made for. */
  effectId: string
  kind: 'observe' | 'summarize' | 'compact'
  provider: string
  model: string
  promptVersion: string | null
  at: number
  durationMs: number
  usage: Usage
  /** US dollars at the price that held then; null: no price is known for the model. */
  cost: number | null
  /** Null: the answer could be used. */
  error: string | null
  /** What this call added to the conversation: the words that left the machine. */
  sent: string
  received: string | null
}

/** What is known before a call is made. */
export interface CallStart extends Pick<ModelCall, 'provider' | 'model' | 'promptVersion' | 'sent'> {
  /** What it costs if nobody ever says: a call that is cut off is paid for all the same. */
  expected: Pick<ModelCall, 'usage' | 'cost'>
}
export type CallEnd = Pick<ModelCall, 'usage' | 'cost' | 'error' | 'received'>

/** Every call is begun here before a byte leaves the machine. One that is never ended counts as failed, and as paid. */
export interface CallLedger {
  begin(call: CallStart): (end: CallEnd) => void
}
