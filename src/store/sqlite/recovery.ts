/**
 * A damaged database is replaced by the newest good backup plus everything that can still be read from the damaged
 * file, which is set aside and never deleted.
 *
 * The replacement is built beside the database as `.recovering` and called `.recovered` once it is complete and on
 * disk. From then on every start finishes the swap: a crash between two renames loses nothing.
 */
import { copyFileSync, existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import type { BackupInfo } from '../port.ts'
import { listBackups } from './backup.ts'
import { ensurePrivateFile, publish, removeDatabase, setDatabaseAside } from './files.ts'
import { inspectFile } from './inspect.ts'
import { migrate } from './migrate.ts'
import { SCHEMA_VERSION } from './migrations/index.ts'
import { reconcile } from './reconcile.ts'
import { type Salvaged, salvage } from './salvage.ts'

export interface Place {
  databaseFile: string
  backupsDir: string
}

/** Says what was done, for people. */
export function recover(place: Place, damage: string, at: number): string[] {
  const file = place.databaseFile
  const building = `${file}.recovering`
  removeDatabase(building)
  const backup = newestGoodBackup(place.backupsDir)
  if (backup !== null) copyFileSync(backup.file, building)
  ensurePrivateFile(building)
  const salvaged = fill(building, file, at)
  publish(building, recoveredName(file))
  const aside = finishReplacement(file, at)
  return [
    `The database was damaged (${damage}).${aside === null ? '' : ` The damaged file was kept as ${aside}.`}`,
    backup === null
      ? 'There was no good backup: a new database was begun.'
      : `The backup of ${new Date(backup.at).toISOString()} was restored.`,
    ...describe(salvaged),
  ]
}

function fill(building: string, damaged: string, at: number): Salvaged {
  const db = new BetterSqlite3(building)
  try {
    db.pragma('foreign_keys = ON')
    db.pragma('secure_delete = ON')
    migrate(db)
    const salvaged = salvage(db, building, damaged, at)
    return { ...salvaged, lostMessages: reconcile(db) }
  } finally {
    db.close()
  }
}

/** What was there before a restore was replaced on purpose: it is not what a recovery brings back. */
export function newestGoodBackup(directory: string): BackupInfo | null {
  return listBackups(directory).find((backup) => backup.reason !== 'before-restore' && isGood(backup.file)) ?? null
}

function isGood(file: string): boolean {
  try {
    const { version, damage } = inspectFile(file, true)
    return damage === null && version > 0 && version <= SCHEMA_VERSION
  } catch {
    return false // one that cannot even be opened is passed over for an older one
  }
}

export function recoveredName(file: string): string {
  return `${file}.recovered`
}

/** Puts a complete replacement in the database's place; returns where the old one went. */
export function finishReplacement(file: string, at: number): string | null {
  if (!existsSync(recoveredName(file))) return null
  const aside = setDatabaseAside(file, at)
  publish(recoveredName(file), file)
  return aside
}

function describe(salvaged: Salvaged): string[] {
  const brought = salvaged.tables.filter(({ rows }) => rows > 0).map(({ rows, what }) => `${what} ${rows}`)
  const notes = [
    brought.length === 0
      ? 'Nothing newer could be read from the damaged file.'
      : `Brought back from the damaged file: ${brought.join(', ')}.`,
  ]
  const unreadable = salvaged.tables.filter(({ complete }) => !complete).map(({ what }) => what)
  if (unreadable.length > 0) notes.push(`Parts of it could not be read: ${unreadable.join(', ')}.`)
  if (salvaged.refused > 0) notes.push(`Rows too damaged to keep: ${salvaged.refused}.`)
  if (salvaged.lostSessions > 0) {
    notes.push(`Sessions that lost their own row, now quarantined with all they learned: ${salvaged.lostSessions}.`)
  }
  if (salvaged.lostMessages > 0) {
    notes.push(`Events that lost their content, now marked as failed: ${salvaged.lostMessages}.`)
  }
  return notes
}
