/**
 * The read operations of the store, and the database opened for reading without a daemon. After a crash the last
 * commits are still in the write-ahead log; SQLite reads them from there.
 */
import { existsSync } from 'node:fs'
import { MemError } from '../../lib/errors.ts'
import { callLocally } from '../../lib/worker-rpc.ts'
import { refuseNewer, SCHEMA_VERSION, schemaVersion } from '../migrations/index.ts'
import type { StoreReader } from '../port.ts'
import { selectCalls, selectSpentSince, selectUsage } from './calls.ts'
import { selectAliases, selectContextMaterial } from './context.ts'
import { type Bound, bindDatabase, Database, seqNow, storageError } from './database.ts'
import { selectEventIds, selectEvents, selectRecordedEvents, selectStoredSessionStates } from './events.ts'
import { selectQueue, selectQueueStats } from './inbox.ts'
import { selectAuthorsOf, selectObservation, selectObservations, selectSummaries } from './memories.ts'
import { selectNewestPassages, selectPassagesOfEvent, selectPassagesOfTurn } from './passages.ts'
import { selectProjectContents, selectProjectOverviews, selectProjectSettings, selectProjects } from './projects.ts'
import { selectDirectories } from './repositories.ts'
import { listSessions, selectSession, sessionsWithPrefix } from './sessions.ts'
import { selectOutboxStats, selectSharedMemories, selectSharedProjects } from './team-outbox.ts'
import {
  selectActivity,
  selectEventView,
  selectProvenance,
  selectReceivedFrom,
  selectSessionHistory,
  selectSessionView,
  selectStats,
} from './views.ts'

/** Everything that can be read. A new entry here is a new method of `StoreReader` and of `Store`. */
export const readOperations = {
  session: selectSession,
  /** Full ids that start with a prefix: people type the first characters. */
  findSessions: sessionsWithPrefix,
  sessions: listSessions,
  sessionView: snapshot(selectSessionView),
  sessionHistory: snapshot(selectSessionHistory),
  receivedFrom: snapshot(selectReceivedFrom),
  queue: selectQueue,
  queueStats: selectQueueStats,
  stats: snapshot(selectStats),
  observation: selectObservation,
  observations: selectObservations,
  authorsOf: selectAuthorsOf,
  summaries: selectSummaries,
  passagesOfEvent: selectPassagesOfEvent,
  passagesOfTurn: selectPassagesOfTurn,
  newestPassages: selectNewestPassages,
  projects: selectProjects,
  listProjects: selectProjectOverviews,
  projectSettings: selectProjectSettings,
  projectDirectories: selectDirectories,
  projectContents: snapshot(selectProjectContents),
  aliases: selectAliases,
  contextMaterial: snapshot(selectContextMaterial),
  events: selectEvents,
  eventView: snapshot(selectEventView),
  findEvents: selectEventIds,
  recordedEvents: snapshot(selectRecordedEvents),
  storedSessionStates: snapshot(selectStoredSessionStates),
  provenance: snapshot(selectProvenance),
  activity: snapshot(selectActivity),
  calls: selectCalls,
  usage: snapshot(selectUsage),
  spentSince: selectSpentSince,
  sharedProjects: selectSharedProjects,
  sharedMemories: snapshot(selectSharedMemories),
  outboxStats: selectOutboxStats,
  /** Sequence number of the newest commit; 0 before the first. */
  lastSeq: seqNow,
}

export type SqliteReader = Bound<typeof readOperations> & { close(): void }

/** All statements of the operation see one state of the database, even while another process writes. */
function snapshot<Args extends unknown[], Result>(read: (db: Database, ...args: Args) => Result) {
  return (db: Database, ...args: Args): Result => db.transaction(() => read(db, ...args))()
}

export async function openStoreReader(file: string): Promise<StoreReader> {
  return callLocally(openSqliteReader(file), storageError)
}

export function openSqliteReader(file: string): SqliteReader {
  const db = openForReading(file)
  return {
    ...bindDatabase(db, readOperations),
    close: () => {
      db.close()
    },
  }
}

export function openForReading(file: string): Database {
  if (!existsSync(file)) throw noDatabaseError(file)
  let db: Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    refuseOtherVersions(schemaVersion(db), file)
    return db
  } catch (error) {
    db?.close()
    throw storageError(error)
  }
}

function refuseOtherVersions(version: number, file: string): void {
  refuseNewer(version, file)
  if (version === 0) throw noDatabaseError(file)
  if (version < SCHEMA_VERSION) {
    throw new MemError(
      'unsupported_version',
      `${file} was written by an older claude-mem (schema ${version}, now ${SCHEMA_VERSION}). Run \`claude-mem start\` to upgrade it.`,
    )
  }
}

function noDatabaseError(file: string): MemError {
  return new MemError('not_found', `There is no memory yet: ${file} is created when the first session is observed.`)
}
