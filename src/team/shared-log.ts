/** The shared log as the rest of the program sees it. `postgres/` implements it. */
import type { ReceivedRecord, RecordOrigin, TeamRecord } from '../domain/team-record.ts'
import type { LogCursor } from '../store/team-port.ts'

export type PushOutcome =
  | { is: 'stored' | 'known' }
  /** It is about a memory of another member, whose author alone changes it for everybody. Here the change stays. */
  | { is: 'others' }
  /** It will never be accepted: no right to write there, too large, another author's record to erase. */
  | { is: 'refused'; reason: string }

export interface PulledRecords {
  /** In the order of the log. */
  records: ReceivedRecord[]
  /** After these records. */
  cursors: LogCursor[]
  /** There are more. */
  more: boolean
  /** Age in ms of the oldest transaction in the server that holds back newer records; null: none does. */
  heldBackMs: number | null
}

export interface LogRepository {
  /** Key of the project. */
  key: string
  mayWrite: boolean
  mayEraseOthers: boolean
}

export interface LogGrant {
  /** Key of the project; `*`: all. */
  repository: string
  mayWrite: boolean
  mayEraseOthers: boolean
  mayGrant: boolean
}

export interface LogMember {
  /** A login role, or a group whose members have its grants. */
  role: string
  author: string
  /** Last seen first. */
  machines: string[]
  grants: LogGrant[]
}

/** Every method rejects with a `TeamError` (errors.ts): why, whether it is worth trying again, and what to do. */
export interface SharedLog {
  /** At least once on the wire: a record that is known is not stored again. In the order of the records. */
  push(records: readonly TeamRecord[], origin: RecordOrigin): Promise<PushOutcome[]>
  /** Records after the cursors, at most `limit`. A transaction that commits late is never passed. */
  pull(cursors: readonly LogCursor[], limit: number): Promise<PulledRecords>
  /** How many records are after the cursors, for a progress bar; counting ends at a million. */
  behind(cursors: readonly LogCursor[]): Promise<number>
  /** The newest observations and summaries of a repository, for a machine that has nothing yet. */
  newest(repository: string, limit: number): Promise<ReceivedRecord[]>
  /** The start of each repository in the present generation of the log. */
  start(repositories: readonly string[]): Promise<LogCursor[]>
  /** Repositories that this role may read. */
  repositories(): Promise<LogRepository[]>
  /** Makes a repository known to the log, with this role as its owner. Nothing if it is known. */
  register(repository: string): Promise<void>
  /** Calls back when others may have pushed. A hint: the caller polls too. Null where the connection cannot listen. */
  listen(heard: (repository: string) => void): Promise<(() => Promise<void>) | null>
  close(): Promise<void>
}

/** Who may do what in the shared log. Rejects with `TeamError` as `SharedLog` does; `denied`: this role may not. */
export interface LogAdministration {
  /** Roles with the grants that this role may see: its own, and all for repositories where it may grant. */
  members(): Promise<LogMember[]>
  /** Replaces what the role may do there. A right that this role does not have cannot be granted. */
  grant(role: string, grant: LogGrant): Promise<void>
  /** False: there was no such grant. */
  revoke(role: string, repository: string): Promise<boolean>
  /** Name under which this role writes from now on; empty: the role itself. Returns the name. */
  setMember(author: string): Promise<string>
  /** Frees the space of erased bodies; `full` rewrites the table, which blocks it meanwhile. For the owner of the schema. */
  cleanBodies(full: boolean): Promise<void>
}
