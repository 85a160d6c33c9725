/**
 * Removes what was forgotten from copies of the database: backups are rewritten, damaged databases that were set aside are
 * deleted. Each step can be repeated: a process that dies leaves the old file or the new one, and the tombstones say what
 * is still to do.
 */
import { copyFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import { SCHEMA_VERSION } from '../migrations/index.ts'
import { Database, selectMeta, setMeta, storageError } from '../sqlite/database.ts'
import { forgetAgain, holdsForgotten } from '../sqlite/forget.ts'
import { resetIndex } from '../sqlite/full-text-index.ts'
import { attachTombstones, type Tombstones } from '../sqlite/tombstones.ts'
import { listBackups, removePartials } from './backup.ts'
import {
  checkIntegrity,
  ensurePrivateFile,
  inspectFile,
  parseTimestamp,
  publishFile,
  removeDatabase,
} from './database-files.ts'

/** `unchanged`: it contains nothing that was forgotten. */
export type CopyOutcome = 'rewritten' | 'removed' | 'unchanged'

/** The oldest schema whose rows can be found by their tombstones. */
const OLDEST_REWRITTEN_VERSION = 3

/** Backups, and what recoveries left beside the database. */
export function listCopies(databaseFile: string, backupsDir: string): string[] {
  return [...listBackups(backupsDir).map(({ file }) => file), ...leftBeside(databaseFile)]
}

/** `.corrupt-…`: set aside. `.recovering`: of a recovery that was killed. */
const LEFT_BEHIND = /^(?:-wal)?\.(?:corrupt-(\w+)|recovering)$/

function leftBeside(databaseFile: string): string[] {
  const name = basename(databaseFile)
  const directory = dirname(databaseFile)
  return readdirSync(directory)
    .filter((other) => other.startsWith(name) && LEFT_BEHIND.test(other.slice(name.length)))
    .map((other) => join(directory, other))
}

/** `file`: one of `listCopies`. */
export function cleanCopy(file: string, databaseFile: string, tombstones: Tombstones): CopyOutcome {
  try {
    return dirname(file) === dirname(databaseFile) && basename(file).startsWith(basename(databaseFile))
      ? cleanSetAside(file, databaseFile, tombstones)
      : cleanBackup(file, tombstones)
  } catch (error) {
    throw storageError(error)
  }
}

/** A damaged file cannot be searched: it is deleted if something was forgotten that is older than it. */
function cleanSetAside(file: string, databaseFile: string, { memories, sessions, turns }: Tombstones): CopyOutcome {
  const at = parseTimestamp(LEFT_BEHIND.exec(file.slice(databaseFile.length))?.[1] ?? '')
  const mayContain =
    Number.isNaN(at) ||
    sessions.length > 0 ||
    [...memories, ...turns].some(({ created_at_epoch }) => created_at_epoch <= at)
  if (!mayContain) return 'unchanged'
  removeDatabase(file)
  return 'removed'
}

function cleanBackup(file: string, tombstones: Tombstones): CopyOutcome {
  removePartials(dirname(file))
  const { version, damage } = inspectFile(file, true)
  if (version > SCHEMA_VERSION) {
    throw new MemError(
      'newer_database',
      `${file} was written by a newer claude-mem: run this with that one, or delete it`,
    )
  }
  if (damage !== null || version < OLDEST_REWRITTEN_VERSION) {
    removeDatabase(file)
    return 'removed'
  }
  if (!withTombstones(file, { readonly: true }, tombstones, holdsAny)) return 'unchanged'
  const partial = `${file}.partial`
  try {
    ensurePrivateFile(partial)
    copyFileSync(file, partial)
    withTombstones(partial, {}, tombstones, rewrite)
    faultPoint('copy.rewritten')
    publishFile(partial, file)
  } catch (error) {
    removeDatabase(partial)
    throw error
  }
  return 'rewritten'
}

/** A backup that was made before the full-text index was purged has words of deleted rows in its index. */
function holdsAny(db: Database): boolean {
  return holdsForgotten(db) || selectMeta(db, 'purge') !== null
}

/** The index is built again when the backup is restored. `VACUUM` writes only what is left, into new pages. */
function rewrite(db: Database): void {
  db.pragma('foreign_keys = ON')
  db.pragma('secure_delete = ON')
  db.write(() => {
    resetIndex(db)
    forgetAgain(db)
    setMeta(db, 'purge', null)
  })
  db.exec('VACUUM')
  const [problem] = checkIntegrity(db).problems
  if (problem !== undefined || holdsAny(db)) {
    throw new MemError(
      'storage',
      `the backup could not be rewritten (${problem ?? 'rows are left'}); delete it by hand`,
    )
  }
}

function withTombstones<T>(
  file: string,
  options: { readonly?: boolean },
  tombstones: Tombstones,
  work: (db: Database) => T,
): T {
  const db = new Database(file, { ...options, fileMustExist: true })
  try {
    // Temporary tables in memory: nothing of them reaches the disk.
    db.pragma('temp_store = MEMORY')
    attachTombstones(db, tombstones)
    return work(db)
  } finally {
    db.close()
  }
}
