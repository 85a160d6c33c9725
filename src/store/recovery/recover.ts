/**
 * Replaces the database: by a recovery at the start, or by a restore on the command line.
 *
 * Recovery: a damaged database is replaced by the newest intact backup plus everything that can still be read from the
 * damaged file, which is renamed and never deleted.
 *
 * The replacement is built as `.recovering` and renamed to `.recovered` when it is complete and on disk. From then on
 * every start completes the replacement, so a crash between two renames loses nothing.
 */
import { copyFileSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import type { Paths } from '../../lib/paths.ts'
import { migrate, refuseNewer, SCHEMA_VERSION } from '../migrations/index.ts'
import type { BackupInfo } from '../port.ts'
import { Database, isCorruption, storageError } from '../sqlite/database.ts'
import { forgetAgain } from '../sqlite/forget.ts'
import { addTombstones, copyRecordTombstones, hasTombstones, readTombstones } from '../sqlite/tombstones.ts'
import { backupFile, copyDatabase, listBackups, requireBackupSpace, rotateBackups, writeBackup } from './backup.ts'
import {
  ensurePrivateDirectory,
  ensurePrivateFile,
  fileSize,
  inspectFile,
  publishFile,
  removeDatabase,
  requireSpaceForCopy,
  setDatabaseAside,
} from './database-files.ts'
import { reconcile } from './reconcile.ts'
import { noteRecovery } from './recovery-notes.ts'
import { type SalvageResult, salvage } from './salvage.ts'

export interface DatabaseLocation {
  databaseFile: string
  backupsDir: string
}

/** Returns notes for the user. */
export function recover(location: DatabaseLocation, damage: string, at: number): string[] {
  const file = location.databaseFile
  const replacement = `${file}.recovering`
  removeDatabase(replacement)
  const backup = newestIntactBackup(location.backupsDir)
  // Rows of both files.
  requireSpaceForCopy(dirname(file), [...(backup === null ? [] : [backup.file]), file])
  if (backup !== null) copyFileSync(backup.file, replacement)
  ensurePrivateFile(replacement)
  const salvaged = fillFromDamaged(replacement, file, at)
  const notes = [
    `The database was damaged (${damage}).`,
    backup === null
      ? 'There was no intact backup: a new database was created.'
      : `The backup of ${new Date(backup.at).toISOString()} was restored.`,
    ...describeSalvage(salvaged),
  ]
  // Before the replacement is final: afterwards no start finds the damage again.
  noteRecovery(file, at, notes)
  publishFile(replacement, recoveredName(file))
  const aside = finishReplacement(file, at)
  return aside === null ? notes : [...notes, `The damaged file was kept as ${aside}.`]
}

function fillFromDamaged(replacement: string, damaged: string, at: number): SalvageResult {
  return withMigrated(replacement, (db) => {
    const salvaged = salvage(db, damaged, at)
    return { ...salvaged, lostMessages: reconcile(db, at) }
  })
}

/** Opens a replacement for writing and applies missing migrations. */
function withMigrated<T>(file: string, work: (db: Database) => T): T {
  const db = new Database(file)
  try {
    db.pragma('foreign_keys = ON')
    db.pragma('secure_delete = ON')
    migrate(db)
    return work(db)
  } finally {
    db.close()
  }
}

/** Not one from before a restore: the user replaced that state on purpose. */
function newestIntactBackup(directory: string): BackupInfo | null {
  return listBackups(directory).find((backup) => backup.reason !== 'before-restore' && isIntact(backup.file)) ?? null
}

function isIntact(file: string): boolean {
  try {
    const { version, damage } = inspectFile(file, true)
    return damage === null && version > 0 && version <= SCHEMA_VERSION
  } catch {
    return false // the next older backup is tried
  }
}

function recoveredName(file: string): string {
  return `${file}.recovered`
}

/** Completes a replacement. Returns the new name of the old file; null if there was none or nothing to do. */
export function finishReplacement(file: string, at: number): string | null {
  if (!existsSync(recoveredName(file))) return null
  const aside = setDatabaseAside(file, at)
  publishFile(recoveredName(file), file)
  return aside
}

function describeSalvage(salvaged: SalvageResult): string[] {
  const recovered = salvaged.tables.filter(({ rows }) => rows > 0).map(({ rows, label }) => `${label} ${rows}`)
  const notes = [
    recovered.length === 0
      ? 'Nothing newer could be read from the damaged file.'
      : `Recovered from the damaged file: ${recovered.join(', ')}.`,
  ]
  const unreadable = salvaged.tables.filter(({ complete }) => !complete).map(({ label }) => label)
  if (unreadable.length > 0) notes.push(`Parts of it could not be read: ${unreadable.join(', ')}.`)
  if (salvaged.refused > 0) notes.push(`Rows too damaged to keep: ${salvaged.refused}.`)
  if (salvaged.lostSessions > 0) {
    notes.push(`Sessions whose row was lost, rebuilt from their memories: ${salvaged.lostSessions}.`)
  }
  if (salvaged.lostMessages > 0) {
    notes.push(`Events whose content was lost, now marked as failed: ${salvaged.lostMessages}.`)
  }
  return notes
}

/** Replaces the database by a backup; no daemon may be running. `before`: where the previous state was saved; null if there was none. */
export async function restoreBackup(
  paths: Pick<Paths, 'database' | 'backups'>,
  file: string,
  now: () => number = Date.now,
): Promise<{ before: string | null }> {
  try {
    refuseUnusable(file)
    ensurePrivateDirectory(dirname(paths.database))
    ensurePrivateDirectory(paths.backups)
    const replacement = `${paths.database}.recovering`
    removeDatabase(replacement)
    // Once as the replacement, and once as the newest backup.
    requireSpaceForCopy(dirname(paths.database), [file, file])
    copyFileSync(file, replacement)
    ensurePrivateFile(replacement)
    applyTombstones(replacement, paths.database)
    const before = await saveCurrent(paths, now())
    addRestoredBackup(paths.backups, replacement, now())
    publishFile(replacement, recoveredName(paths.database))
    removeDatabase(paths.database)
    finishReplacement(paths.database, now())
    return { before }
  } catch (error) {
    throw storageError(error)
  }
}

function refuseUnusable(file: string): void {
  if (!existsSync(file)) throw new MemError('not_found', `There is no backup ${file}.`)
  const { version, damage } = inspectFile(file, true)
  if (damage !== null) {
    throw new MemError('corrupt_database', `${file} is damaged (${damage}); choose another backup.`)
  }
  refuseNewer(version, file)
  if (version === 0) throw new MemError('bad_request', `${file} is not a backup of claude-mem.`)
}

/** Memories that were forgotten after the backup stay forgotten. */
function applyTombstones(replacement: string, current: string): void {
  const tombstones = readTombstones(current)
  const isMigrated = inspectFile(replacement, false).version === SCHEMA_VERSION
  if (!hasTombstones(tombstones) && !isMigrated) return
  withMigrated(replacement, (db) =>
    db.transaction(() => {
      addTombstones(db, tombstones)
      forgetAgain(db)
      // After the triggers sent tombstones again that may have waited in the outbox of the current state.
      copyRecordTombstones(db, current)
    })(),
  )
}

/** A database that is too damaged for a backup is renamed. */
async function saveCurrent(paths: Pick<Paths, 'database' | 'backups'>, at: number): Promise<string | null> {
  if (fileSize(paths.database) === 0) return null
  try {
    requireBackupSpace(paths.backups, paths.database)
    const copyTo = (file: string) => copyDatabase(paths.database, file)
    return (await writeBackup(copyTo, paths.backups, 'before-restore', 1, at)).file
  } catch (error) {
    if (isCorruption(error)) return setDatabaseAside(paths.database, at)
    throw error
  }
}

/** Number of kept copies of restored states. */
const KEEP_RESTORED = 3

/** A recovery uses the newest backup, which must now be the restored state and not the one it replaced. */
function addRestoredBackup(directory: string, file: string, at: number): void {
  const name = backupFile(directory, 'restored', at)
  const partial = join(directory, 'restored.partial')
  copyFileSync(file, partial)
  publishFile(partial, name)
  rotateBackups(directory, 'restored', KEEP_RESTORED)
}
