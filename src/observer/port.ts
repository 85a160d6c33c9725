/**
 * What an observer is.
 *
 * An observer turns a session's tool uses into memory. It is a second agent beside the coding agent and never talks to
 * the user. It has three operations: `observe` turns a batch of messages into observations, `summarize` closes a turn
 * with a summary or sums up the whole session, `compact` replaces the conversation with a short digest once it has grown too long.
 *
 * An observer holds no state between calls. Everything it needs comes with the request (conversation, earlier digests)
 * and everything that must be kept is in the answer, so that the session actor can commit it in one transaction and
 * repeat a call after a crash. A failed call throws an `ObserverError` that names who has to act.
 *
 * Implementations: `offline/` (no model, the default), `model/` (any chat model, reached through `providers/`) and
 * `plain.ts` (one observation per message). `make-observer.ts` builds the one that the settings ask for.
 */

import type { InboxEvent, TurnEndEvent } from '../domain/event.ts'
import type { FailureOwner, ModelCallRecorder } from '../domain/model-call.ts'
import type { Observation, ObservationDraft, Summary, SummaryDraft, Usage } from '../domain/observation.ts'
import type { Passage } from '../domain/passage.ts'
import type { Project } from '../domain/project.ts'
import type { ObserverTurn } from '../store/commit.ts'

/** The part of a request that describes the session. */
export interface ObserverSession {
  session: string
  project: Project
  cwd: string
  /** When it happened, epoch ms. Long ago for a session that is read from a transcript. */
  at: number
  promptNumber: number
  /** The user's prompt of this turn without private parts; null if there was none. */
  prompt: string | null
  /** The agent's closing words of the turn before; null if there are none. */
  reportBefore?: () => Promise<string | null>
  /** The observer's conversation so far, current generation only. */
  conversation: readonly ObserverTurn[]
  /** Size of the conversation in tokens after the last answer. */
  contextTokens: number
  /** The session's newest observations that no later one supersedes, newest first. */
  recorded(): Promise<readonly Observation[]>
  /** What was said and done in this turn, in the order of the session. */
  turnPassages(): Promise<readonly Passage[]>
  /** The newest open problems of the project, of any session, newest first. */
  openProblems(): Promise<readonly Observation[]>
  /** Records every model call. */
  calls: ModelCallRecorder
}

/** The fingerprint of the last result for a subject (a file, a command). An equal digest later means nothing new. */
export interface SeenResult {
  subject: string
  digest: string
}

export interface ObserveRequest extends ObserverSession {
  messages: readonly InboxEvent[]
  /** The last stored digest of each of these subjects. */
  seen(subjects: readonly string[]): Promise<ReadonlyMap<string, string>>
}

export interface SummarizeRequest extends ObserverSession {
  /** Null if the session ended without a turn end event. */
  turnEnd: TurnEndEvent | null
  observations: readonly Observation[]
  /**
   * The summaries of the turns, oldest first, where a summary of the whole session is wanted; `observations` are then those
   * of the session. Null: the summary of one turn.
   */
  turns: readonly Summary[] | null
}

export interface CompactRequest extends ObserverSession {
  /** The session's observations that no later one supersedes, and its summaries, newest first. */
  observations: readonly Observation[]
  summaries: readonly Summary[]
}

export interface ObserverAnswer {
  usage: Usage
  /** Turns to append to the conversation; empty for an observer without one. */
  turns: readonly Omit<ObserverTurn, 'generation' | 'at'>[]
  /** Size of the conversation after this answer, in tokens. */
  contextTokens: number
  model: string | null
  promptVersion: string | null
}

export interface LeftOutMessage {
  eventId: string
  reason: string
}

export interface ObserveAnswer extends ObserverAnswer {
  observations: readonly ObservationDraft[]
  /** Messages that are no observation's source: `folded` repeat earlier ones, `skipped` were left out. */
  folded: readonly LeftOutMessage[]
  skipped: readonly LeftOutMessage[]
  /** Digests to store for the next batch. */
  seen: readonly SeenResult[]
  /** Ids of open problems that are solved now. */
  resolved?: readonly number[]
}

export interface SummarizeAnswer extends ObserverAnswer {
  /** Null if there was nothing to summarize; `skipReason` says why. */
  summary: SummaryDraft | null
  skipReason: string | null
  /** Observations found in the agent's last message, mostly decisions. */
  observations: readonly ObservationDraft[]
  /** Ids of open problems that are solved now. */
  resolved?: readonly number[]
}

export type CompactAnswer = ObserverAnswer

export interface Observer {
  /** Key of the circuit breaker: one per provider. */
  readonly provider: string
  observe(request: ObserveRequest, signal: AbortSignal): Promise<ObserveAnswer>
  summarize(request: SummarizeRequest, signal: AbortSignal): Promise<SummarizeAnswer>
  /** The answer's `turns` are the beginning of the next generation of the conversation. */
  compact(request: CompactRequest, signal: AbortSignal): Promise<CompactAnswer>
}

export class ObserverError extends Error {
  readonly owner: FailureOwner
  readonly retryAfterMs: number | null
  /** Tokens that were paid for although the answer is of no use. */
  readonly usage: Usage | null

  constructor(
    owner: FailureOwner,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number; usage?: Usage } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ObserverError'
    this.owner = owner
    this.retryAfterMs = options.retryAfterMs ?? null
    this.usage = options.usage ?? null
  }
}
