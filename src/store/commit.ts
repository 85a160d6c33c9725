/**
 * A commit is one plain value with everything that one decision of a session changes, or several decisions that were
 * queued together. The store applies it completely or not at all.
 */

import { createHash } from 'node:crypto'
import { newContext } from '../../machines/session/context.ts'
import { SESSION_MACHINE_VERSION } from '../../machines/session/migrations.ts'
import { stateName, writeSnapshot } from '../../machines/session/snapshot.ts'
import type { Change, Effect, Outcome } from '../../machines/session/types.ts'
import type { MemoryEvent } from '../domain/event.ts'
import type { ModelCall } from '../domain/model-call.ts'
import { NO_USAGE, type Observation, type ObservationDraft, type Summary, type Usage } from '../domain/observation.ts'
import type { PassageDraft } from '../domain/passage.ts'
import type { Project } from '../domain/project.ts'
import type { PromptRow } from './port.ts'
import type { Link } from './search-port.ts'

export type SessionStatus = Outcome | 'failed'

/** The session's row after the commit. */
export interface SessionState {
  project: Project
  client: string
  cwd: string
  transcriptPath: string | null
  /** Time of the last event. Long ago for a session that is read from a transcript. */
  heardAt: number
  status: SessionStatus
  /** `batching.calling`: for display and queries; the machine is restored from the snapshot. */
  state: string
  /** JSON, as `machines/session` writes it. */
  snapshot: string
  machineVersion: number
  wakeAt: number | null
  effect: Effect | null
  /** Why it waits; null when it does not. */
  waiting: string | null
  prompts: number
  generation: number
  contextTokens: number
  usage: Usage
}

export interface EventRecord {
  event: MemoryEvent
  receivedAt: number
  /** Null while the event is pending in the inbox. */
  outcome: { kind: 'noted' | 'skipped'; reason: string | null } | null
}

export type EventOutcome = { eventId: string; kind: 'observed' | 'folded' | 'skipped'; reason: string | null }

/** The changes of one decision as the machine made them, with the data that the machine does not see. Applied in order. */
export interface InboxUpdate {
  at: number
  changes: readonly Change[]
  /** What `add_message` and `add_turn_end` add. */
  event: MemoryEvent | null
  /** Outcomes of the messages that `settle` settles. Messages without one count as read together with the others. */
  outcomes: readonly EventOutcome[]
}

/** From a new observation to an older one of the same project. Ignored if the older one does not exist. */
export type NewLink = Pick<Link, 'to' | 'kind' | 'by'>

export interface NewObservation extends Omit<Observation, 'id' | 'session' | 'project'> {
  /** The effect that made it; absent where no observer was called. */
  effectId?: string
  links?: NewLink[]
  /** The repository in whose shared log it is already; absent: in none. */
  repository?: string
}

export interface NewSummary extends Omit<Summary, 'id' | 'session' | 'project'> {
  effectId?: string
  repository?: string
}

export interface NewPrompt extends PromptRow {
  eventId: string
}

/** One message of the observer's conversation. */
export interface ObserverTurn {
  generation: number
  role: 'user' | 'assistant'
  content: string
  model: string | null
  usage: Usage | null
  at: number
}

/** One transition of the session's machine. */
export interface TraceEntry {
  at: number
  /** The machine's input: `PROMPT`, `DEADLINE`, … */
  event: string
  /** The hook event behind it; null where there is none. */
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
  /** Events that were held while the session was quarantined: `events` has them again, as the machine decided them. */
  released: string[]
  events: EventRecord[]
  prompts: NewPrompt[]
  /** Of a session that is stored as a whole. Those of a live one are stored with its effects. */
  passages: PassageDraft[]
  inbox: InboxUpdate[]
  observations: NewObservation[]
  /** Open problems of the session's project that are solved now. Other ids are ignored. */
  resolved: number[]
  summaries: NewSummary[]
  turns: ObserverTurn[]
  /** Model calls that begin, and finished ones, successful or not. */
  calls: ModelCall[]
  /** Digest of what a tool showed, by subject (a file, a command). A later digest replaces an earlier one. */
  seen: { subject: string; digest: string }[]
  trace: TraceEntry[]
  /** False: payloads are deleted when their messages are settled. */
  keepPayloads?: boolean
}

/** A commit that is being built: the state is added last, after all decisions. */
export type CommitParts = Omit<Commit, 'state'>

export function emptyCommit(session: string, revision: number, at: number): CommitParts {
  return {
    session,
    revision,
    at,
    released: [],
    events: [],
    prompts: [],
    passages: [],
    inbox: [],
    observations: [],
    resolved: [],
    summaries: [],
    turns: [],
    calls: [],
    seen: [],
    trace: [],
  }
}

/**
 * The result of one member of a group. `duplicate` lists the events that the session has already accepted; the caller
 * decides again without them. `stale`: another commit wrote the row in between.
 */
export type CommitResult =
  | { ok: true; seq: number; observationIds: number[]; summaryIds: number[]; promptIds: number[] }
  | { ok: false; why: 'duplicate'; eventIds: string[] }
  | { ok: false; why: 'stale' | 'failed'; message: string; retryable: boolean }

type ClosedSession = Pick<SessionState, 'project' | 'client' | 'cwd' | 'heardAt'> &
  Partial<Pick<SessionState, 'prompts'>>

/** The state of a session that no client opens and no observer reads: notes written by hand, imported memories. */
export function closedSessionState({ project, client, cwd, heardAt, prompts = 0 }: ClosedSession): SessionState {
  const closed = { life: 'closed', turn: 'none' } as const
  const context = { ...newContext(heardAt), prompt: prompts, outcome: 'completed' as const }
  return {
    project,
    client,
    cwd,
    transcriptPath: null,
    heardAt,
    status: 'completed',
    state: stateName(closed),
    snapshot: writeSnapshot(closed, context),
    machineVersion: SESSION_MACHINE_VERSION,
    wakeAt: null,
    effect: null,
    waiting: null,
    prompts,
    generation: context.generation,
    contextTokens: 0,
    usage: NO_USAGE,
  }
}

/** Identifies the content of an observation, to detect duplicates. */
export function contentHash(draft: ObservationDraft): string {
  const content = [draft.type, draft.title, draft.subtitle, draft.narrative, draft.facts]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
