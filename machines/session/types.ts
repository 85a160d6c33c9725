/** Types of the session machine: context, events, effects and changes. */
import type { FailureOwner } from '../../src/domain/model-call.ts'
import type { Usage } from '../../src/domain/observation.ts'
import type { EventOwner, PrivateTurns } from '../../src/domain/private-turns.ts'

/** The settings a decision depends on. They come with each event, so a changed setting applies from the next event on. */
export interface Policy {
  batching: boolean
  /** Messages in a full batch. */
  batchMaxSize: number
  /** Time without an event after which pending messages are flushed, in ms. */
  idleFlushMs: number
  /** How long one effect may take, in ms. */
  effectTimeoutMs: number
  /** Size of the observer's conversation at which it is compacted before any batch, in tokens. */
  compactTokens: number
  /** Failed attempts after which a message that is alone in its batch is set aside: its status is `failed`. */
  maxAttempts: number
}

/** What the session actor adds to every event: the machine has no clock and no settings. */
export interface EventEnvironment {
  at: number
  /** The id of the effect that this event may start. */
  freshId: string
  policy: Policy
  /** Why no model may be called now (the daily budget is spent, the provider is unavailable). Null: one may. */
  offline: string | null
}

export type SessionInput =
  | { type: 'SESSION_START' }
  | { type: 'PROMPT'; promptId: string | null; private: boolean }
  | ({ type: 'MESSAGE' } & EventOwner)
  | ({ type: 'TURN_END' } & EventOwner)
  | { type: 'PRE_COMPACT' }
  | { type: 'SESSION_END' }
  /** A user reopens the session. */
  | { type: 'REOPEN' }
  | { type: 'FLUSH' }
  /** A user wants the summary of this turn now; null: one of the whole session. */
  | { type: 'SUMMARIZE'; prompt: number | null }
  /** `clockSetBack`: the time of the wake-up was computed before the clock was set back and means nothing now. */
  | { type: 'DEADLINE'; clockSetBack?: boolean }
  | { type: 'DRAIN' }
  /** Failed messages, counted by turn, and failed summaries, by prompt number, are tried again. */
  | { type: 'RETRY'; messages: TurnCount[]; summaries: number[] }
  /** Messages that a user dropped: pending ones, counted by turn (null: they stay), and the number of failed ones. */
  | { type: 'CLEAR'; pending: TurnCount[] | null; failed: number }
  /**
   * A user forgets memories of the session: messages of its inbox go with them, pending and claimed ones counted by turn,
   * and summaries that are due (null: all of them). `rows`: the ids of the messages, for the store.
   */
  | { type: 'FORGET'; messages: TurnCount[]; failed: number; summaries: number[] | null; rows: number[] }
  /** A model is about to be called. Committed before the request is sent. */
  | { type: 'CALL_BEGUN'; effectId: string }
  | { type: 'OBSERVED'; effectId: string; usage: Usage; contextTokens: number }
  | { type: 'SUMMARIZED'; effectId: string; usage: Usage; contextTokens: number }
  | { type: 'COMPACTED'; effectId: string; usage: Usage; contextTokens: number }
  /** `usage`: what the failed effect cost. */
  | { type: 'FAILED'; effectId: string; owner: FailureOwner; reason: string; retryAt: number; usage: Usage }

export type SessionEvent = SessionInput & { env: EventEnvironment }

export interface TurnCount {
  /** The prompt number of the turn. */
  prompt: number
  count: number
}

/**
 * A turn with work left. Its messages are the inbox rows with a prompt number up to `prompt` that
 * belong to no earlier turn of the list: so the two oldest can be merged when there are too many.
 */
export interface Turn {
  /** The prompt number; of a merged turn, the highest one. */
  prompt: number
  /** Messages in the inbox, claimed ones included. */
  pending: number
  /** Pending messages are flushed now, however few they are. */
  flush: boolean
  /** A summary is due once no message is pending. False while it is being made: the turn may end again meanwhile. */
  summary: boolean
  /** A user wants a summary of the whole session, once this turn and all earlier ones have no work left. */
  whole?: boolean
}

interface EffectBase {
  id: string
  /** The prompt number of the turn it works on; for a compaction, the one that is worked on next. */
  prompt: number
  timeoutMs: number
  deadline: number
  /** Done without a model, for this reason. */
  offline: string | null
  /** Model calls that were begun for it. More than one: the daemon ended during the calls before. */
  starts: number
}
export type Effect =
  | (EffectBase & { kind: 'observe'; limit: number })
  /** `whole`: of the session, not of the turn. */
  | (EffectBase & { kind: 'summarize'; whole?: boolean })
  | (EffectBase & { kind: 'compact' })

/** What a decision changes besides the snapshot: the store applies it to its rows. `prompt` is a prompt number. */
export type Change =
  | { type: 'add_prompt'; number: number; private: boolean }
  | { type: 'add_message'; prompt: number }
  | { type: 'add_turn_end'; prompt: number }
  | { type: 'skip_event'; reason: string }
  | { type: 'claim'; effect: Effect }
  | { type: 'release'; effectId: string; counted: boolean; reason: string }
  | { type: 'settle'; effectId: string; prompt: number; kind: Effect['kind'] }
  | { type: 'fail'; effectId: string; reason: string }
  | { type: 'retry_failed' }
  | { type: 'clear'; pending: boolean }
  | { type: 'forget'; rows: number[] }

/** What the machine emits about an event: changes, and why. An event that it ignores emits nothing. */
export type SessionAction = Change | { type: 'explain'; reason: string }

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
  /** The prompt number of the newest turn; 0 before the first prompt. */
  prompt: number
  /** The client's ids of the newest prompt and of the one before it, to recognise late events. */
  promptId: string | null
  previousPromptId: string | null
  /** To recognise late events of private turns. */
  privateTurns: PrivateTurns
  /** Turns with work left, oldest first; at most MAX_TURNS. */
  turns: Turn[]
  lastEventAt: number
  /** How the session ended for its user; pending work is still done. */
  outcome: Outcome
  /** Messages with the status `failed`. */
  failed: number
  effect: Effect | null
  /** Kept during the next attempt, until one succeeds. */
  waiting: Waiting | null
  /** Not an error. It ends with the first effect that may use a model again. */
  offline: Offline | null
  /** A batch that failed is being split: `limit` at a time for the next `left` messages. */
  split: { limit: number; left: number; attempts: number } | null
  /** Failed attempts at the summary that is due. */
  summaryAttempts: number
  /** A compaction was just tried: no other one before the observer has answered. */
  compacted: boolean
  /** The turn whose batches the conversation has without its summary, by prompt number; null after a summary. */
  unsummarized: number | null
  /** The observer's conversation: a compaction starts its next generation. */
  generation: number
  contextTokens: number
  usage: Usage
}

/** The states of both regions. A state of life that works has one of its own inside: `{ batching: 'calling' }`. */
export type RegionStates = { life: string | { [state: string]: string | undefined }; turn: TurnState }
export type TurnState = 'none' | 'open' | 'private'

/** A session's state as it is stored. */
export interface StoredSnapshot {
  version: number
  value: RegionStates
  context: SessionContext
}
