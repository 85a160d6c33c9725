/**
 * The store on the calling thread: every operation is a synchronous function of the connection. `client.ts` runs it on
 * a worker thread; `openLocalStore` runs it here behind the same interface.
 */
import { withReserve } from '../../lib/disk-space.ts'
import { errorMessage, type MemError } from '../../lib/errors.ts'
import { faultByBlocking } from '../../lib/faults.ts'
import { SerialQueue } from '../../lib/serial-queue.ts'
import { callLocally } from '../../lib/worker-rpc.ts'
import type { BackupInfo, Store } from '../port.ts'
import {
  type CopyTo,
  copyDatabase,
  listBackups,
  listSetAside,
  requireBackupSpace,
  writeBackup,
} from '../recovery/backup.ts'
import { type CopyOutcome, cleanCopy, listCopies } from '../recovery/clean-copies.ts'
import { markSuspect } from '../recovery/database-files.ts'
import type { ErasedSession, ForgetOptions, ForgetResult } from '../search-port.ts'
import { recordCalls } from './calls.ts'
import { commitGroup } from './commit.ts'
import { deleteShown, insertShown, selectShown } from './context.ts'
import { type Bound, bindDatabase, type Database, isCorruption, nextSeq, storageError } from './database.ts'
import { countTime } from './elapsed-time.ts'
import { deleteVectors, putVectors, selectUnembedded } from './embeddings.ts'
import { selectHeldEvents } from './events.ts'
import { eraseSession, forgetMemories, selectInboxToForget } from './forget.ts'
import { indexNext, indexState, purge, rebuildIndex } from './full-text-index.ts'
import { importBatch } from './import.ts'
import { countMessagesByPrompt, countMessagesBySession, sampleQueue, selectClaimedMessages } from './inbox.ts'
import {
  linkObservations,
  pinObservations,
  selectClaimedPrompts,
  selectOpenProblems,
  selectPromptEvents,
  selectTurnMaterial,
  unlinkObservations,
} from './memories.ts'
import { selectObserverTurns, selectSeenDigests } from './observer-turns.ts'
import { type OpenOptions, openDatabase } from './open.ts'
import { addPassages, selectClosingWords } from './passages.ts'
import { moveMergedRows, updateProjects } from './projects.ts'
import { readOperations } from './reader.ts'
import { applyRetention } from './retention.ts'
import {
  acceptForQuarantined,
  quarantineSession,
  selectDueSessions,
  selectNewestActivity,
  selectNextWakeAt,
  selectNextWorkAt,
  selectStrandedSessions,
  selectUnfinishedEffects,
  selectWakeUpsAfter,
} from './sessions.ts'
import { applyRecords, selectLogCursors } from './team-apply.ts'
import {
  deleteFromOutbox,
  previewShare,
  resendProject,
  selectOutbox,
  shareProject,
  unshareProject,
} from './team-outbox.ts'
import { deleteSessionTombstones, selectSessionErasedAt, selectTombstones, type Tombstones } from './tombstones.ts'

/** What only the daemon uses. A new entry here is a new method of `Store`. */
const daemonOperations = {
  commit: commitGroup,
  unfinishedEffects: selectUnfinishedEffects,
  strandedSessions: selectStrandedSessions,
  dueSessions: selectDueSessions,
  nextWakeAt: selectNextWakeAt,
  nextWorkAt: selectNextWorkAt,
  wakeUpsAfter: selectWakeUpsAfter,
  newestActivity: selectNewestActivity,
  claimedMessages: selectClaimedMessages,
  claimedPrompts: selectClaimedPrompts,
  promptEvents: selectPromptEvents,
  addPassages,
  countMessagesByPrompt,
  countMessagesBySession,
  turnMaterial: selectTurnMaterial,
  closingWords: selectClosingWords,
  openProblems: selectOpenProblems,
  observerTurns: selectObserverTurns,
  seenDigests: selectSeenDigests,
  quarantine: quarantineSession,
  acceptQuarantined: acceptForQuarantined,
  heldEvents: selectHeldEvents,
  inboxToForget: selectInboxToForget,
  sessionErasedAt: selectSessionErasedAt,
  recordCalls,
  reviveSessions: deleteSessionTombstones,
  applyRetention,
  countTime,
  sampleQueue,
  importBatch,
  /** A sequence number for a change that took several transactions and is complete now. */
  nextSeq,
  updateProjects,
  moveMergedRows,
  shownObservations: selectShown,
  markShown: insertShown,
  clearShown: deleteShown,
  link: linkObservations,
  unlink: unlinkObservations,
  pin: pinObservations,
  putEmbeddings: putVectors,
  missingEmbeddings: selectUnembedded,
  dropEmbeddings: deleteVectors,
  indexNext,
  indexState,
  rebuildSearch: rebuildIndex,
  /** Removes words of deleted rows from the index and the write-ahead log. True when nothing is left to do. */
  purgeForgotten: purge,
  shareProject,
  previewShare,
  resendProject,
  unshareProject,
  outbox: selectOutbox,
  outboxDone: deleteFromOutbox,
  applyRecords,
  logCursors: selectLogCursors,
}

interface SqliteStoreOptions extends OpenOptions {
  /** Copies the database for a backup; by default on the calling thread. */
  copyTo?: CopyTo
  /** Removes what was forgotten from a copy; by default on the calling thread. */
  cleanCopy?: (file: string, tombstones: Tombstones) => Promise<CopyOutcome>
}

export interface SqliteStore extends Bound<typeof readOperations>, Bound<typeof daemonOperations> {
  readonly db: Database
  forget(options: ForgetOptions): Promise<ForgetResult>
  eraseSession(session: string, at: number): Promise<ErasedSession | null>
  backup(reason: string, keep: number): Promise<BackupInfo>
  backups(): BackupInfo[]
  /** Files beside the database that may contain what was forgotten. */
  copies(): string[]
  cleanCopy(file: string): Promise<CopyOutcome>
  /** What the user should know about the start: a migration, a recovery. */
  startupNotes(): string[]
  close(): Promise<void>
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { databaseFile, backupsDir, now = Date.now } = options
  const { copyTo = (file: string) => copyDatabase(databaseFile, file) } = options
  const { cleanCopy: clean = async (file, tombstones) => cleanCopy(file, databaseFile, tombstones) } = options
  const { db, notes } = await openDatabase(options)
  const operations = bindDatabase(db, daemonOperations)
  const { reserveFile } = options
  const keepEvents = <T>(store: () => T): T => (reserveFile === undefined ? store() : withReserve(reserveFile, store))
  // One at a time: each starts by deleting what an interrupted one left behind.
  const copying = new SerialQueue()
  const forgetting = new SerialQueue()
  const knownCopies = () => [...listBackups(backupsDir), ...listSetAside(databaseFile)]
  return {
    ...bindDatabase(db, readOperations),
    ...operations,
    commit: (group) => keepEvents(() => operations.commit(group)),
    acceptQuarantined: (...args) => keepEvents(() => operations.acceptQuarantined(...args)),
    db,
    forget: (request) => forgetting.run(() => forgetMemories(db, request, knownCopies())),
    eraseSession: (session, at) => forgetting.run(() => eraseSession(db, session, at, knownCopies())),
    backup: (reason, keep) =>
      copying.run(() => {
        requireBackupSpace(backupsDir, databaseFile)
        return writeBackup(copyTo, backupsDir, reason, keep, now())
      }),
    backups: () => listBackups(backupsDir),
    copies: () => listCopies(databaseFile, backupsDir),
    cleanCopy: async (file) => {
      if (!listCopies(databaseFile, backupsDir).includes(file)) return 'unchanged'
      return await copying.run(() => clean(file, selectTombstones(db)))
    },
    startupNotes: () => [...notes],
    close: async () => {
      await Promise.all([copying.idle(), forgetting.idle()])
      faultByBlocking('close.hang')
      db.close()
    },
  }
}

/** Maps errors of store operations. Damage is recorded beside the file, so that the next start checks and recovers it. */
export function storeErrors(databaseFile: string): (error: unknown) => MemError {
  return (error) => {
    if (isCorruption(error)) markSuspect(databaseFile, errorMessage(error))
    return storageError(error)
  }
}

/** For tests and small tools. */
export async function openLocalStore(options: OpenOptions): Promise<Store> {
  return callLocally(await openSqliteStore(options), storeErrors(options.databaseFile))
}
