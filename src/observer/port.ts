/** The second agent: reads messages, answers with observations and summaries, never talks to the user. */
import type { FailureOwner } from '../../machines/session/types.ts'
import type { CallLedger } from '../memory/call.ts'
import type { MessageEvent, TurnEndEvent } from '../memory/event.ts'
import type { Observation, ObservationDraft, Summary, SummaryDraft, Usage } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { ObserverTurn } from '../store/commit.ts'

/** What every request knows about the session. */
export interface SessionMatter {
  session: string
  project: Project
  cwd: string
  /** Epoch ms. */
  at: number
  promptNumber: number
  /** Null where no prompt was seen. Private parts are gone. */
  prompt: string | null
  /** The memory session's conversation so far, this generation's. */
  conversation: readonly ObserverTurn[]
  /** Its size in tokens, as the last answer left it. */
  contextTokens: number
  /** Where every call to a model is written down. */
  calls: CallLedger
}

/** What a tool was used on, and what it showed then: the same digest again is nothing new. */
export interface Seen {
  subject: string
  digest: string
}

export interface ObserveRequest extends SessionMatter {
  messages: readonly MessageEvent[]
  /** The digests under which these subjects were seen last, by subject. */
  seen(subjects: readonly string[]): Promise<ReadonlyMap<string, string>>
}

export interface SummarizeRequest extends SessionMatter {
  /** Null where the turn ended without a word: the session was over. */
  turnEnd: TurnEndEvent | null
  observations: readonly Observation[]
}

export interface CompactRequest extends SessionMatter {
  /** What the session has come to so far, newest first. */
  observations: readonly Observation[]
  summaries: readonly Summary[]
}

interface Answer {
  usage: Usage
  /** What the conversation grows by; empty for an observer that keeps none. */
  turns: readonly Omit<ObserverTurn, 'generation' | 'at'>[]
  /** Size of the conversation after this, in tokens. */
  contextTokens: number
  model: string | null
  promptVersion: string | null
}

export interface ObserveAnswer extends Answer {
  observations: readonly ObservationDraft[]
  /** What became of messages that no observation names as its source. */
  folded: readonly { eventId: string; reason: string }[]
  skipped: readonly { eventId: string; reason: string }[]
  /** What the next batch need not be told again. */
  seen: readonly Seen[]
}

export interface SummarizeAnswer extends Answer {
  /** Null: there was nothing to say, for `skipReason`. */
  summary: SummaryDraft | null
  skipReason: string | null
  /** What the turn's closing words add: decisions, above all. */
  observations: readonly ObservationDraft[]
}

export interface CompactAnswer extends Answer {}

export interface Observer {
  /** One breaker per name. */
  readonly provider: string
  observe(request: ObserveRequest, signal: AbortSignal): Promise<ObserveAnswer>
  summarize(request: SummarizeRequest, signal: AbortSignal): Promise<SummarizeAnswer>
  /** Replaces the conversation by its digest; the digest is the first turn of the next generation. */
  compact(request: CompactRequest, signal: AbortSignal): Promise<CompactAnswer>
}

/** A failure with its owner: see DESIGN "failures have an owner". */
export class ObserverError extends Error {
  readonly owner: FailureOwner
  readonly retryAfterMs: number | null
  /** What was paid for all the same: the model was asked, and its answer is of no use. */
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
