/** What the store does for a team: the outbox of records that wait to be pushed, and the application of received ones. */
import type { ReceivedRecord, RecordId, RecordKind, TeamRecord } from '../domain/team-record.ts'

/** A project whose memories travel. */
export interface SharedProject {
  /** Key of the project, which is also the identity of the repository in the shared log. */
  project: string
  /** Only memories made at or after this time; 0: all. */
  since: number
  /** Whether passages travel too. */
  passages: boolean
  at: number
}

/** Place in the shared log up to which a repository was received. */
export interface LogCursor {
  repository: string
  /** The log was built anew when this changes: everything is received again. */
  generation: string
  /** Transaction id, as decimal digits: a bigint does not fit into a number. */
  transaction: string
  sequence: string
}

export interface OutboxBatch {
  /** Oldest first. */
  records: TeamRecord[]
  /** Pass to `outboxDone` when the log has stored them. */
  upTo: number
  /** Still waiting after these. */
  left: number
}

export interface OutboxStats {
  waiting: number
  /** Epoch ms of the oldest; null: nothing waits. */
  oldestAt: number | null
}

/** Counts of what sharing a project would send, or has put into the outbox. */
export type SharedCounts = Record<Exclude<RecordKind, 'tombstone' | 'project'>, number>

/** Memories of a shared project that are on this machine. */
export interface SharedMemories {
  project: string
  /** Learned here, and in the log or on the way to it. */
  own: number
  /** From other machines. */
  received: number
}

export interface SharePreview {
  /** In the order in which they would leave. */
  records: TeamRecord[]
  /** Pass as `after` for more; null: there are no more. */
  next: number | null
}

export interface AppliedRecords {
  added: number
  known: number
  erased: number
  /** Local ids of the observations among the erased, for indexes outside of the database. */
  erasedObservations: number[]
  /** Records that are invalid or not allowed, with the reason; they are not asked for again. */
  refused: { id: RecordId; reason: string }[]
  /** Records about others that have not arrived yet. They are applied when those arrive. */
  waiting: number
  /** Keys of projects with a change. */
  projects: string[]
  /** Number in the live stream; null where nothing changed. */
  seq: number | null
}

/** Part of the store's port; every method is one transaction. */
export interface TeamStore {
  sharedProjects(): Promise<SharedProject[]>
  /** In the order of `sharedProjects`. */
  sharedMemories(): Promise<SharedMemories[]>
  /** Puts everything of the project that is older than the outbox into it. `dryRun`: only counts. */
  shareProject(project: Omit<SharedProject, 'at'>, at: number, dryRun: boolean): Promise<SharedCounts>
  /** The records that sharing a project would put into the outbox, from the one with this number on. */
  previewShare(project: Omit<SharedProject, 'at'>, after: number, limit: number): Promise<SharePreview>
  /** Puts everything of a shared project into the outbox once more: the log was made anew, or refused it before. */
  resendProject(project: string): Promise<void>
  /**
   * Stops sharing. `withdraw`: puts a tombstone for each own record that was sent into the outbox, without erasing anything
   * here; the project stops being shared when those are sent.
   */
  unshareProject(project: string, at: number, withdraw: boolean): Promise<SharedCounts>
  /** At most `maxRecords` and about `maxBytes`. */
  outbox(maxRecords: number, maxBytes: number): Promise<OutboxBatch>
  outboxDone(upTo: number): Promise<void>
  outboxStats(): Promise<OutboxStats>
  /**
   * Applies received records and moves the cursors, in one transaction. Applying a record again changes nothing.
   * `ownAuthor`: the name of this machine's user in the log. Without it, a memory of this machine that was also made on
   * another one of the same author stays when it is erased there.
   */
  applyRecords(
    records: readonly ReceivedRecord[],
    cursors: readonly LogCursor[],
    at: number,
    ownAuthor?: string | null,
  ): Promise<AppliedRecords>
  logCursors(): Promise<LogCursor[]>
}
