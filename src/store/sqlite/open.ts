/** Opens the database for writing: recovers a damaged file, upgrades an older schema, refuses a newer one. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { hasTables, MIGRATIONS, type Migration, migrate, refuseNewer, schemaVersion } from '../migrations/index.ts'
import { copyDatabase, listBackups, requireBackupSpace, writeBackup } from '../recovery/backup.ts'
import {
  clearSuspect,
  ensurePrivateDirectory,
  ensurePrivateFile,
  type FileInspection,
  fileSize,
  inspectFile,
  isSuspect,
  keepLog,
  reindex,
} from '../recovery/database-files.ts'
import { type DatabaseLocation, finishReplacement, recover } from '../recovery/recover.ts'
import { noteRecovery } from '../recovery/recovery-notes.ts'
import { hasLostCommits } from '../recovery/write-ahead-log.ts'
import { Database, markIndexDamaged, storageError } from './database.ts'

export interface OpenOptions {
  databaseFile: string
  backupsDir: string
  now?: () => number
  /** Deleted when the disk is full, to make room for commits. */
  reserveFile?: string
  /** Largest file that is checked at every start; a larger one only after an operation met damage. */
  checkUpToBytes?: number
}

/** The check reads the whole file: 64 MB take a fraction of a second. */
const CHECK_UP_TO_BYTES = 64 * 1024 * 1024

/** How long to wait for a lock of another process, such as a command. */
const BUSY_TIMEOUT_MS = 5_000

/** The write-ahead log is truncated to this size after a burst. */
const LOG_SIZE_LIMIT_BYTES = 32 * 1024 * 1024

interface OpenedDatabase {
  db: Database
  /** What was done, for the user. */
  notes: string[]
}

export async function openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  const now = options.now ?? Date.now
  try {
    const { notes, indexDamaged, logDamaged } = prepareFile(options, now)
    const db = connect(options.databaseFile)
    try {
      // Otherwise what is behind the damage stays in the log, and is found again after the next crash.
      if (logDamaged) db.pragma('wal_checkpoint(TRUNCATE)')
      notes.push(...(await upgrade(db, options, now())))
      if (indexDamaged) {
        markIndexDamaged(db)
        notes.push('The search index was damaged. It is being rebuilt; nothing is lost.')
      }
      return { db, notes }
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw storageError(error)
  }
}

/** Leaves a file that can be opened: an empty, an intact or a recovered one. */
function prepareFile(
  options: OpenOptions,
  now: () => number,
): { notes: string[]; indexDamaged: boolean; logDamaged: boolean } {
  const file = options.databaseFile
  ensurePrivateDirectory(dirname(file))
  const notes: string[] = []
  const aside = finishReplacement(file, now())
  if (aside !== null) notes.push(`An interrupted recovery was completed. The file it replaced was kept as ${aside}.`)
  const logDamaged = hasLostCommits(file)
  const { damage, indexDamaged, needsReindex } = findDamage(options)
  if (logDamaged) {
    const kept = keepLog(file, now())
    notes.push(`The write-ahead log was damaged: what was stored last may be lost. The log was kept as ${kept}.`)
  }
  if (needsReindex && reindex(file)) notes.push(REINDEXED)
  else if (damage !== null) notes.push(...recover(options, damage, now()))
  noteRecovery(file, now(), notes)
  ensurePrivateFile(file)
  clearSuspect(file)
  return { notes, indexDamaged, logDamaged }
}

const REINDEXED = 'An index of the database was damaged and has been built again; nothing is lost.'

function findDamage(options: OpenOptions): Omit<FileInspection, 'version'> {
  const file = options.databaseFile
  if (fileSize(file) === 0) return { damage: findTruncation(options), indexDamaged: false, needsReindex: false }
  const limit = options.checkUpToBytes ?? CHECK_UP_TO_BYTES
  const inspection = inspectFile(file, fileSize(file) <= limit || isSuspect(file))
  refuseNewer(inspection.version, file)
  return inspection
}

/** SQLite takes a file of 0 bytes for a new database and would delete its write-ahead log. */
function findTruncation(options: OpenOptions): string | null {
  const file = options.databaseFile
  if (fileSize(`${file}-wal`) > 0) return 'it is empty, but its write-ahead log is not'
  if (!existsSync(file)) return null
  return listBackups(options.backupsDir).length > 0 ? 'it is empty, but there are backups of it' : null
}

function connect(file: string): Database {
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    db.pragma('journal_mode = WAL')
    // An acknowledged commit is on disk. With the default of WAL mode a power failure could lose the last ones.
    db.pragma('synchronous = FULL')
    // On macOS a plain fsync leaves data in the drive's cache. Other systems ignore these.
    db.pragma('fullfsync = ON')
    db.pragma('checkpoint_fullfsync = ON')
    db.pragma('foreign_keys = ON')
    // Deleted content is overwritten, not only unlinked.
    db.pragma('secure_delete = ON')
    db.pragma(`journal_size_limit = ${LOG_SIZE_LIMIT_BYTES}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Applies missing migrations, after a backup if the database has data. Returns notes for the user. */
export async function upgrade(
  db: Database,
  location: DatabaseLocation,
  at: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const from = schemaVersion(db)
  if (migrations.every(({ version }) => version <= from)) return []
  if (!hasTables(db)) {
    migrate(db, migrations)
    return []
  }
  if (from === 0) {
    throw new MemError(
      'storage',
      `${location.databaseFile} belongs to another program. Move it away, or set CLAUDE_MEM_DATA_DIR to another directory.`,
    )
  }
  requireBackupSpace(location.backupsDir, location.databaseFile)
  const copyTo = (file: string) => copyDatabase(location.databaseFile, file)
  const backup = await writeBackup(copyTo, location.backupsDir, 'migration', 1, at)
  migrate(db, migrations)
  return [
    `The database was upgraded from version ${from} to ${schemaVersion(db)}; the backup from before is ${backup.file}.`,
  ]
}
