/** Types of the session machine: context, events, effects and changes. */
import type { StateValue } from 'xstate'
import type { FailureOwner } from '../../src/domain/model-call.ts'
import type { Usage } from '../../src/domain/observation.ts'

/** The settings a decision depends on. They come with each event, so a changed setting holds from the next event on. */
export interface Policy {
  batching: boolean
  /** Messages that make a batch overflow. */
  batchMaxSize: number
  /** Silence after which waiting messages go to the observer, in ms. */
  idleFlushMs: number
  /** Silence after which a session counts as over, in ms. */
  silenceMs: number
  /** How long one effect may take, in ms. */
  effectTimeoutMs: number
  /** Size of the observer's conversation that starts a compaction, in tokens. */
  compactTokens: number
  /** Failed attempts after which a message that is alone in its batch gets the status `failed`. */
  maxAttempts: number
}

/** What the host adds to every event: the machine has no clock and no random numbers. */
export interface Tick {
  /** Unique for each decision. The machine ignores an event by not writing a decision with this key. */
  key: string
  at: number
  random: number
  /** A fresh id, for the effect this event may start. */
  freshId: string
  policy: Policy
  /** Why no model may be called now: the daily budget is spent. Null: one may. */
  offline: string | null
}

export type SessionInput =
  | { type: 'SESSION_START' }
  | { type: 'PROMPT'; promptId: string | null; private: boolean }
  | { type: 'MESSAGE'; promptId: string | null }
  | { type: 'TURN_END'; promptId: string | null }
  | { type: 'PRE_COMPACT' }
  | { type: 'SESSION_END' }
  /** A user reopens the session. */
  | { type: 'REOPEN' }
  | { type: 'FLUSH' }
  | { type: 'DEADLINE' }
  | { type: 'DRAIN' }
  /** What failed goes back into the inbox: messages counted by turn, and turns without their summary. */
  | { type: 'RETRY'; messages: TurnCount[]; summaries: number[] }
  /** What a user dropped. Null: pending messages stay. */
  | { type: 'CLEAR'; pending: TurnCount[] | null; failed: number }
  | { type: 'OBSERVED'; effectId: string; usage: Usage; contextTokens: number }
  | { type: 'SUMMARIZED'; effectId: string; usage: Usage; contextTokens: number }
  | { type: 'COMPACTED'; effectId: string; usage: Usage; contextTokens: number }
  /** `usage`: what the failed effect cost. */
  | { type: 'FAILED'; effectId: string; owner: FailureOwner; reason: string; retryAt: number; usage: Usage }

export type SessionEvent = SessionInput & { tick: Tick }

export interface TurnCount {
  prompt: number
  count: number
}

/**
 * A turn that is not finished with. Its messages are the inbox rows with a prompt number up to `prompt`
 * that no earlier turn holds: so the two oldest can be merged into one when there are too many.
 */
export interface Turn {
  prompt: number
  /** Messages in the inbox, claimed ones included. */
  pending: number
  /** Pending messages are flushed now, however few they are. */
  flush: boolean
  /** A summary is due once no message is pending. False while it is being made: the turn may end again meanwhile. */
  summary: boolean
}

interface EffectBase {
  id: string
  prompt: number
  timeoutMs: number
  deadline: number
  /** Done without a model, for this reason. */
  offline: string | null
}
export type Effect =
  | (EffectBase & { kind: 'observe'; limit: number })
  | (EffectBase & { kind: 'summarize' })
  | (EffectBase & { kind: 'compact' })

/** What a decision changes besides the snapshot. The store applies these changes to the rows as they are. */
export type Change =
  | { do: 'add_prompt'; number: number; private: boolean }
  | { do: 'add_message'; prompt: number }
  | { do: 'add_turn_end'; prompt: number }
  | { do: 'skip_event'; reason: string }
  | { do: 'claim'; effect: Effect }
  | { do: 'release'; effectId: string; counted: boolean; reason: string }
  | { do: 'settle'; effectId: string; prompt: number; kind: Effect['kind'] }
  | { do: 'fail'; effectId: string; reason: string }
  | { do: 'retry_failed' }
  | { do: 'clear'; pending: boolean }

export interface Decision {
  key: string
  reason: string
  changes: Change[]
}

export interface Waiting {
  since: number
  until: number
  reason: string
}

/** Since when, and why, the session continues without a model. */
export interface Offline {
  since: number
  reason: string
}

export type Outcome = 'active' | 'completed' | 'interrupted'

export interface SessionContext {
  /** Number of the newest prompt; 0 before the first. */
  prompt: number
  promptId: string | null
  previousPromptId: string | null
  turnOpen: boolean
  turnPrivate: boolean
  /** Unfinished turns, oldest first; at most MAX_TURNS. */
  turns: Turn[]
  lastEventAt: number
  /** The session has ended for its user; pending work is still done. */
  ended: boolean
  outcome: Outcome
  /** Messages with the status `failed`. */
  failed: number
  effect: Effect | null
  waiting: Waiting | null
  /** A state and not an error: it ends with the first effect that may use a model again. */
  offline: Offline | null
  /** A batch that failed is being split: `limit` at a time for the next `left` messages. */
  split: { limit: number; left: number; attempts: number } | null
  /** Failed attempts at the summary that is due. */
  summaryAttempts: number
  /** Asked for because the provider said "too long", or just done: never twice without an answer in between. */
  compaction: 'none' | 'asked' | 'done'
  /** The observer's conversation: a compaction starts its next generation. */
  generation: number
  contextTokens: number
  usage: Usage
  decided: Decision | null
}

/** A session's state as it is kept. */
export interface StoredSnapshot {
  version: number
  value: StateValue
  context: SessionContext
}
