/** Opens the database for writing: recovered if it is damaged, upgraded if it is old, refused if it is newer. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { listBackups } from './backup.ts'
import { storageError } from './errors.ts'
import { clearSuspect, ensurePrivateDirectory, ensurePrivateFile, isSuspect, sizeOf } from './files.ts'
import { type Inspection, inspectFile } from './inspect.ts'
import { refuseNewer } from './migrate.ts'
import { finishReplacement, recover } from './recovery.ts'
import { distrustIndex } from './search/index-version.ts'
import type { Connection } from './statement.ts'
import { upgrade } from './upgrade.ts'

export interface OpenOptions {
  databaseFile: string
  backupsDir: string
  now?: () => number
  /** Largest file that is checked at the start; a larger one is checked by `quickCheck` when there is time. */
  checkUpToBytes?: number
}

/** Checking reads the whole file: 64 MB take a fraction of a second. */
const CHECK_UP_TO_BYTES = 64 * 1024 * 1024

/** How long to wait for another process that holds the file: a command line tool at its work. */
const BUSY_TIMEOUT_MS = 5_000

/** The log shrinks back to this after a burst. */
const LOG_SIZE_LIMIT_BYTES = 32 * 1024 * 1024

export interface Opened {
  db: Connection
  notes: string[]
}

export async function openDatabase(options: OpenOptions): Promise<Opened> {
  const now = options.now ?? Date.now
  try {
    const { notes, indexDamaged } = makeReady(options, now)
    const db = connect(options.databaseFile)
    try {
      notes.push(...(await upgrade(db, options, now())))
      if (indexDamaged) {
        distrustIndex(db)
        notes.push('The index of words was damaged. It is being made anew; nothing is lost.')
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

/** Leaves a file that can be opened: an empty one, a sound one, or a recovered one. */
function makeReady(options: OpenOptions, now: () => number): { notes: string[]; indexDamaged: boolean } {
  const file = options.databaseFile
  ensurePrivateDirectory(dirname(file))
  const notes: string[] = []
  const aside = finishReplacement(file, now())
  if (aside !== null) notes.push(`An interrupted recovery was finished. The file it replaced was kept as ${aside}.`)
  const { damage, indexDamaged } = damageOf(options)
  if (damage !== null) notes.push(...recover(options, damage, now()))
  ensurePrivateFile(file)
  clearSuspect(file)
  return { notes, indexDamaged }
}

function damageOf(options: OpenOptions): Pick<Inspection, 'damage' | 'indexDamaged'> {
  const file = options.databaseFile
  if (sizeOf(file) === 0) return { damage: emptyThoughUsed(options), indexDamaged: false }
  const limit = options.checkUpToBytes ?? CHECK_UP_TO_BYTES
  const inspection = inspectFile(file, sizeOf(file) <= limit || isSuspect(file))
  refuseNewer(inspection.version, file)
  return inspection
}

/** A file that was cut to nothing looks like a new one to SQLite, which would then delete its log. */
function emptyThoughUsed(options: OpenOptions): string | null {
  const file = options.databaseFile
  if (sizeOf(`${file}-wal`) > 0) return 'it is empty, but its log is not'
  if (!existsSync(file)) return null
  return listBackups(options.backupsDir).length > 0 ? 'it is empty, but there are backups of it' : null
}

function connect(file: string): Connection {
  const db = new BetterSqlite3(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    db.pragma('journal_mode = WAL')
    // Acknowledged means on disk; the WAL default would leave the last commits to a power cut.
    db.pragma('synchronous = FULL')
    db.pragma('foreign_keys = ON')
    // What is forgotten is overwritten, not only unlinked.
    db.pragma('secure_delete = ON')
    db.pragma(`journal_size_limit = ${LOG_SIZE_LIMIT_BYTES}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
