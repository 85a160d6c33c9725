/**
 * The database as files: created private, written to disk before they get their final name, moved and removed together
 * with their write-ahead log, and checked for damage.
 */
import { chmodSync, closeSync, copyFileSync, existsSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { freeBytes } from '../../lib/disk-space.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { makePrivateDirectory, moveFileSync, syncDirectory, syncFile } from '../../lib/files.ts'
import { schemaVersion } from '../migrations/index.ts'
import { Database, isCorruption, isGroupFailure, raw, storageError } from '../sqlite/database.ts'

/** SQLite finds the write-ahead log, its index and the rollback journal by these suffixes. */
const COMPANIONS = ['-wal', '-shm', '-journal']

export function ensurePrivateDirectory(directory: string): void {
  makePrivateDirectory(directory)
}

/** SQLite creates the log and its index with the mode of the database file. */
export function ensurePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
}

export function fileSize(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

/** Space that a copy leaves free, in bytes: for events, the write-ahead log and everybody else's files. */
const COPY_RESERVE_BYTES = 32 * 1024 * 1024
/** The copy of a database is hardly larger than the database; its own journal is small. */
const COPY_FACTOR = 1.1

/** A copy must not take the last bytes of the disk. `files` are those whose content is copied into the directory. */
export function requireSpaceForCopy(directory: string, files: readonly string[]): void {
  const copied = files.reduce((sum, file) => sum + fileSize(file), 0)
  const needed = copied * COPY_FACTOR + COPY_RESERVE_BYTES
  const free = freeBytes(existsSync(directory) ? directory : dirname(directory))
  if (free >= needed) return
  const megabytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024)
  throw new MemError(
    'storage',
    `There is not enough space in ${directory}: the copy of the database needs ${megabytes(needed)} MB, and ` +
      `${megabytes(free)} MB are free. Free some space; nothing was changed.`,
    { retryable: true },
  )
}

/** Gives a complete file its final name, durably: syncs the content, renames, syncs the directory. */
export function publishFile(complete: string, name: string): void {
  syncFile(complete)
  moveFileSync(complete, name)
  syncDirectory(dirname(name))
}

export function removeDatabase(file: string): void {
  for (const companion of COMPANIONS) rmSync(file + companion, { force: true })
  rmSync(file, { force: true })
}

/** Renames a damaged database with its companion files. Null if there is no file. */
export function setDatabaseAside(file: string, at: number): string | null {
  const aside = freeName((n) => `${file}.corrupt-${timestamp(at + n)}`)
  let moved = false
  for (const companion of ['', ...COMPANIONS]) {
    if (!existsSync(file + companion)) continue
    moveFileSync(file + companion, aside + companion)
    moved = true
  }
  return moved ? aside : null
}

/** Copies a damaged write-ahead log; SQLite still takes in what is intact of it, and then deletes it. */
export function keepLog(file: string, at: number): string {
  const log = `${file}-wal`
  const copy = `${file}.recovering`
  requireSpaceForCopy(dirname(file), [log])
  copyFileSync(log, copy)
  const aside = freeName((n) => `${log}.corrupt-${timestamp(at + n)}`)
  publishFile(copy, aside)
  return aside
}

function freeName(candidate: (attempt: number) => string): string {
  let attempt = 0
  while (existsSync(candidate(attempt))) attempt += 1
  return candidate(attempt)
}

/** `20261130T101112345Z`: sorts by time and is a valid file name on every system. */
export function timestamp(at: number): string {
  return new Date(at).toISOString().replace(/[-:.]/g, '')
}

export function parseTimestamp(text: string): number {
  return Date.parse(
    text.replace(
      /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/,
      (_, year, month, day, hour, minute, second, ms) => `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`,
    ),
  )
}

function suspectMark(file: string): string {
  return `${file}.suspect`
}

/** The next start checks the whole file, however large it is. */
export function markSuspect(file: string, why: string): void {
  try {
    writeFileSync(suspectMark(file), `${why}\n`, { mode: 0o600 })
  } catch {
    // The caller reports the damage itself. Without the mark the next start may not notice it.
  }
}

export function isSuspect(file: string): boolean {
  return existsSync(suspectMark(file))
}

export function clearSuspect(file: string): void {
  rmSync(suspectMark(file), { force: true })
}

/** Problems that one check reports; the first few are enough. */
const MAX_PROBLEMS = 20

/** A problem of a full-text table: it is derived and can be rebuilt from the rows. */
const INDEX_PROBLEM = /FTS5 table main\.(memory|chunk|passage)_fts\b|fts5: .* table "(memory|chunk|passage)_fts"/

/** An index disagrees with its table, which is intact: it can be built again. */
const REINDEX_PROBLEM = /^(?:row \d+ (?:missing|values differ) from|wrong # of entries in|non-unique entry in) index /

interface IntegrityCheck {
  /** Problems of the rows and their indexes; empty if they are intact. */
  problems: string[]
  /** The full-text index is damaged. */
  indexDamaged: boolean
}

/** Not `quick_check`, which does not compare indexes with their tables: it takes 0.5 s for 64 MB, and this one 0.6 s. */
export function checkIntegrity(db: Database): IntegrityCheck {
  try {
    const problems = db.all<{ integrity_check: string }>`PRAGMA integrity_check(${raw(String(MAX_PROBLEMS))})`
      .map((row) => row.integrity_check)
      .filter((problem) => problem !== 'ok')
    const rowProblems = problems.filter((problem) => !INDEX_PROBLEM.test(problem))
    return { problems: rowProblems, indexDamaged: rowProblems.length < problems.length }
  } catch (error) {
    if (isCorruption(error)) return { problems: [errorMessage(error)], indexDamaged: false }
    throw storageError(error)
  }
}

export interface FileInspection {
  version: number
  /** The first problem; null if none was found. */
  damage: string | null
  /** Of the full-text index. */
  indexDamaged: boolean
  /** The damage is one that `reindex` mends. */
  needsReindex: boolean
}

const NOT_CHECKED: IntegrityCheck = { problems: [], indexDamaged: false }

/** Does not change the file: a read-only connection neither migrates nor checkpoints. */
export function inspectFile(file: string, check: boolean): FileInspection {
  let db: Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    const version = schemaVersion(db)
    const { problems, indexDamaged } = check ? checkIntegrity(db) : NOT_CHECKED
    const needsReindex = problems.length > 0 && problems.every((problem) => REINDEX_PROBLEM.test(problem))
    return { version, damage: problems[0] ?? null, indexDamaged, needsReindex }
  } catch (error) {
    if (isCorruption(error)) {
      return { version: 0, damage: errorMessage(error), indexDamaged: false, needsReindex: false }
    }
    throw storageError(error)
  } finally {
    db?.close()
  }
}

/** Builds all indexes of the tables again. False if the database is damaged in other ways, too. */
export function reindex(file: string): boolean {
  const db = new Database(file)
  try {
    db.exec('REINDEX')
    return checkIntegrity(db).problems.length === 0
  } catch (error) {
    // Without its index a column has got the same value twice.
    if (isCorruption(error) || !isGroupFailure(error)) return false
    throw storageError(error)
  } finally {
    db.close()
  }
}
