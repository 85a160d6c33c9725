/**
 * A commit is one plain value that holds everything one decision (or several queued ones) of one session
 * changes. A store applies it whole or not at all.
 */
import type { Effect, Outcome } from '../../machines/session/types.ts'
import type { ModelCall } from '../memory/call.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { ObservationDraft, SummaryDraft, Usage } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { LinkKind, LinkMaker } from './search-port.ts'

export type SessionStatus = Outcome | 'failed'

/** The session's row, as it is after the commit. */
export interface SessionState {
  project: Project
  client: string
  cwd: string
  transcriptPath: string | null
  /** When the client last reported something: of work read from a transcript, long ago. */
  heardAt: number
  status: SessionStatus
  /** `batching.calling`: for people and queries; the snapshot is what counts. */
  state: string
  /** JSON, as `machines/session` writes it. */
  snapshot: string
  machineVersion: number
  wakeAt: number | null
  effect: Effect | null
  /** Why it waits, null when it does not. */
  waiting: string | null
  prompts: number
  generation: number
  contextTokens: number
  usage: Usage
}

export interface EventRecord {
  event: MemoryEvent
  receivedAt: number
  /** Null while its outcome is open: it waits in the inbox. */
  outcome: { kind: 'noted' | 'skipped'; reason: string | null } | null
}

export type EventOutcome = { eventId: string; kind: 'observed' | 'folded' | 'skipped'; reason: string | null }

/** Changes to the inbox, applied in order. */
export type InboxChange =
  /** A message for the observer, or the end of a turn for the summary; its payload is the event. */
  | { do: 'add'; event: MemoryEvent; prompt: number; at: number }
  /** The oldest `limit` pending messages (observe) or all turn ends (summarize) up to a prompt number. */
  | { do: 'claim'; effectId: string; kind: 'observe' | 'summarize'; prompt: number; limit: number; at: number }
  | { do: 'release'; effectId: string; counted: boolean; error: string }
  /** The observer's answer is in this commit: claimed messages are done with, their payloads kept for a while. */
  | { do: 'settle'; effectId: string; outcomes: EventOutcome[]; at: number }
  | { do: 'set_aside'; effectId: string; error: string }
  /** Everything set aside is pending again. */
  | { do: 'retry_failed' }
  /** A person dropped what was set aside, or what waits too. */
  | { do: 'clear'; pending: boolean; at: number }

/** From a new observation to an older one of the same project; one that is not there is left out. */
export interface NewLink {
  to: number
  kind: LinkKind
  by: LinkMaker
}

export interface NewObservation {
  draft: ObservationDraft
  /** Event ids this observation is the outcome of. */
  sources: string[]
  promptNumber: number
  contentHash: string
  promptVersion: string | null
  model: string | null
  /** The effect whose answer it is; absent where nobody was asked. */
  effectId?: string
  createdAt: number
  links?: NewLink[]
}

export interface NewSummary {
  draft: SummaryDraft
  promptNumber: number
  model: string | null
  effectId?: string
  createdAt: number
}

export interface NewPrompt {
  eventId: string
  number: number
  text: string
  private: boolean
  at: number
}

/** One side of the observer's conversation. */
export interface ObserverTurn {
  generation: number
  role: 'user' | 'assistant'
  content: string
  model: string | null
  usage: Usage | null
  at: number
}

export interface TraceEntry {
  at: number
  /** What came in: `PROMPT`, `DEADLINE`, … */
  event: string
  /** The hook's event behind it, where there is one. */
  eventId: string | null
  from: string
  to: string
  reason: string
  effectId: string | null
}

export interface Commit {
  session: string
  /** The revision this commit writes. The row must be at `revision - 1`; 1 creates it. */
  revision: number
  at: number
  state: SessionState
  events: EventRecord[]
  prompts: NewPrompt[]
  inbox: InboxChange[]
  observations: NewObservation[]
  summaries: NewSummary[]
  turns: ObserverTurn[]
  /** Calls to a model that ended, whatever came of them. */
  calls: ModelCall[]
  /** What tools were used on and showed; the newest digest of a subject counts. */
  seen: { subject: string; digest: string }[]
  trace: TraceEntry[]
}

/** A commit that is being put together: the state comes last, when everything is decided. */
export type CommitParts = Omit<Commit, 'state'>

export function emptyCommit(session: string, revision: number, at: number): CommitParts {
  return {
    session,
    revision,
    at,
    events: [],
    prompts: [],
    inbox: [],
    observations: [],
    summaries: [],
    turns: [],
    calls: [],
    seen: [],
    trace: [],
  }
}

/**
 * What became of one member of a group. `duplicate` names the events that the session has already accepted:
 * the caller decides again without them. `stale`: someone else wrote the row.
 */
export type CommitResult =
  | { ok: true; seq: number; observationIds: number[]; summaryIds: number[]; promptIds: number[] }
  | { ok: false; why: 'duplicate'; eventIds: string[] }
  | { ok: false; why: 'stale' | 'failed'; message: string; retryable: boolean }
