/**
 * What is kept. `Store` is the only way to write; `Reader` is what `inspect` may also use on the file itself
 * while no daemon runs. Both are asynchronous, so that the work may be done on another thread or machine.
 */
import type { Effect } from '../../machines/session/types.ts'
import type { EventKind, MemoryEvent } from '../memory/event.ts'
import type { Observation, Summary } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { AskedSession, ReportedSession } from '../memory/reported.ts'
import type { CallFilter, CallRow, Spent, UsageFilter, UsageRow } from './accounting.ts'
import type { Commit, CommitResult, ObserverTurn, SessionState, SessionStatus, TraceEntry } from './commit.ts'
import type { Alias, ContextMaterial, ContextQuery } from './context-port.ts'
import type { ImportStore } from './import-port.ts'
import type { OriginReader, QueueDepthStore } from './origin-port.ts'
import type { ProjectReader, ProjectStore } from './project-port.ts'
import type { SearchStore } from './search-port.ts'
import type { ShownStore } from './shown-port.ts'

export interface SessionRow extends SessionState {
  session: string
  revision: number
  memorySession: string
  createdAt: number
  /** Why it is quarantined, null when it is not. */
  quarantine: string | null
  /** Sequence number of the commit that wrote it last. */
  seq: number
}

export type MessageStatus = 'pending' | 'processing' | 'failed'

export interface Message {
  id: number
  session: string
  eventId: string
  kind: EventKind
  tool: string | null
  prompt: number
  status: MessageStatus
  claimedAt: number | null
  effectId: string | null
  attempts: number
  error: string | null
  createdAt: number
}
export interface ClaimedMessage extends Message {
  event: MemoryEvent
}

export interface PromptRow {
  number: number
  text: string
  private: boolean
  at: number
}

export interface EventRow {
  eventId: string
  session: string
  kind: EventKind
  tool: string | null
  at: number
  receivedAt: number
  payloadHash: string
  outcome: string | null
  reason: string | null
  observationIds: number[]
  /** The effect that settled it; null while it waits, or where none had to. */
  effectId: string | null
  /** Attempts that failed before. */
  attempts: number
}

export interface SessionListItem {
  session: string
  project: string
  projectName: string
  status: SessionStatus
  state: string
  prompts: number
  pending: number
  processing: number
  failed: number
  observations: number
  waiting: string | null
  quarantine: string | null
  wakeAt: number | null
  createdAt: number
  updatedAt: number
}

export interface TraceRow extends TraceEntry {
  id: number
}

/** Everything `inspect SESSION` shows. */
export interface SessionView {
  row: SessionRow
  messages: Message[]
  trace: TraceRow[]
  /** Trace entries that retention removed. */
  traceDropped: number
  observations: number
  summaries: number
}

export interface QueueStats {
  pending: number
  processing: number
  failed: number
  sessions: number
  oldestAt: number | null
}

export interface StoreStats extends QueueStats {
  observationsToday: number
  observations: number
  sessionsTotal: number
  databaseBytes: number
}

export interface SessionFilter {
  status?: SessionStatus
  project?: string
  limit?: number
}
/** A project as far as it is remembered, with the name by hand or its newest one. */
export interface ProjectRow extends Project {
  observations: number
  /** When its oldest observation was made; null before the first. */
  since: number | null
  /** When a session of it was last heard of. */
  updatedAt: number
}
export interface ProjectFilter {
  /** Of a merged project: finds the one that it was merged into. */
  key?: string
  name?: string
  limit?: number
}
export interface QueueFilter {
  session?: string
  status?: MessageStatus
  limit?: number
}

export interface Reader extends ProjectReader, OriginReader {
  session(id: string): Promise<SessionRow | null>
  /** Full ids that start with `prefix`; people type the first characters. */
  findSessions(prefix: string): Promise<string[]>
  sessions(filter: SessionFilter): Promise<SessionListItem[]>
  view(session: string, traceLimit: number): Promise<SessionView | null>
  queue(filter: QueueFilter): Promise<Message[]>
  queueStats(): Promise<QueueStats>
  /** `dayStart`: epoch ms at which today began for the user. */
  stats(dayStart: number): Promise<StoreStats>
  observation(id: number): Promise<Observation | null>
  observations(filter: { session?: string; project?: string; limit?: number }): Promise<Observation[]>
  summaries(filter: { session?: string; project?: string; limit?: number }): Promise<Summary[]>
  /** The one that was last heard of first. */
  projects(filter: ProjectFilter): Promise<ProjectRow[]>
  /** Null where nobody has heard of the project. Reads as much at a hundred observations as at a hundred thousand. */
  contextMaterial(query: ContextQuery): Promise<ContextMaterial | null>
  /** Projects that were merged into this one, and places that it moved away from. */
  aliases(key: string): Promise<Alias[]>
  events(session: string, limit: number): Promise<EventRow[]>
  /** Of those that are known: where they came from. */
  reported(sessions: readonly AskedSession[]): Promise<ReportedSession[]>
  /** The newest `limit`, oldest of them first. */
  calls(filter: CallFilter): Promise<CallRow[]>
  /** Days in their order, anything else with the most expensive first. What has no calls is left out. */
  usage(filter: UsageFilter): Promise<UsageRow[]>
  /** What was spent from `since` (epoch ms) on. */
  spentSince(since: number): Promise<Spent>
  /** Sequence number of the newest commit; 0 before the first. */
  lastSeq(): Promise<number>
  close(): Promise<void>
}

/** What a summary is made from. */
export interface TurnMaterial {
  prompt: PromptRow | null
  observations: Observation[]
}

export interface Retention {
  payloadDays: number
  /** Bound on all kept payloads together, in bytes. */
  payloadBytes: number
  traceDays: number
  tracePerSession: number
  observerTurnDays: number
}

export interface BackupInfo {
  file: string
  at: number
  bytes: number
  /** `daily`, `migration`, `manual`, `before-restore`. */
  reason: string
}

export interface Store extends Reader, SearchStore, ShownStore, ProjectStore, ImportStore, QueueDepthStore {
  /**
   * Applies a group in one durable transaction, each member in a savepoint of its own. Results are in the
   * members' order. It rejects only when the transaction as a whole could not be made durable.
   */
  commit(group: readonly Commit[]): Promise<CommitResult[]>
  /** Sessions with an effect to run again after a start. */
  unfinishedEffects(): Promise<{ session: string; effect: Effect }[]>
  /** Sessions with pending messages that nothing would ever wake: no effect, no wake-up. */
  strandedSessions(): Promise<string[]>
  /** Sessions whose wake-up is due, or further away than any may be: then the clock went back. */
  dueSessions(now: number, horizonMs: number, limit: number): Promise<string[]>
  nextWakeAt(): Promise<number | null>
  claimed(session: string, effectId: string): Promise<ClaimedMessage[]>
  turnMaterial(session: string, prompt: number): Promise<TurnMaterial>
  conversation(session: string, generation: number): Promise<ObserverTurn[]>
  /** The digests under which these subjects were seen last, by subject; what was never seen is not in it. */
  seen(session: string, subjects: readonly string[]): Promise<ReadonlyMap<string, string>>
  countByPrompt(session: string, status: MessageStatus): Promise<{ prompt: number; count: number }[]>
  /** Its snapshot cannot be restored: kept as it is, with the reason, until a person revives or erases it. */
  quarantine(session: string, reason: string, at: number): Promise<{ seq: number }>
  /** The session is gone with everything that hangs on it; what its calls cost stays. Null where it was not there. */
  eraseSession(session: string): Promise<{ seq: number } | null>
  /** An event for a quarantined session: stored and readable, without an actor. */
  acceptQuarantined(session: string, event: MemoryEvent, at: number): Promise<'accepted' | 'duplicate'>
  /** Removes what is older or larger than it may be, a bounded piece at a time; how many rows went. */
  retain(rules: Retention, now: number): Promise<number>
  backup(reason: string, keep: number): Promise<BackupInfo>
  backups(): Promise<BackupInfo[]>
  /** What happened at the start that people should know: a migration, a recovery. */
  startNotes(): Promise<string[]>
}
