/** Online backups: whole, checked copies under names that sort by time. */
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { MemError } from '../../errors.ts'
import { fault } from '../../faults.ts'
import type { BackupInfo } from '../port.ts'
import { storageError } from './errors.ts'
import {
  ensurePrivateDirectory,
  ensurePrivateFile,
  freeName,
  parseTimestamp,
  publish,
  removeDatabase,
  sizeOf,
  timestamp,
} from './files.ts'
import { quickCheck } from './inspect.ts'

const NAME = /^db-(\d{8}T\d{9}Z)-([a-z][a-z-]*)\.sqlite$/
const PARTIAL = /\.partial(-journal|-wal|-shm)?$/

/** Kept of every reason but the daily one, whose number is the caller's. */
const KEEP_OTHERS = 3

/** Newest first. */
export function listBackups(directory: string): BackupInfo[] {
  return filesIn(directory)
    .flatMap((name) => {
      const [, at = '', reason = ''] = NAME.exec(name) ?? []
      const file = join(directory, name)
      return at === '' ? [] : [{ file, at: parseTimestamp(at), bytes: sizeOf(file), reason }]
    })
    .sort((a, b) => b.at - a.at)
}

/** Damaged databases that were set aside: nothing ever deletes them. */
export function listSetAside(databaseFile: string): BackupInfo[] {
  const directory = dirname(databaseFile)
  const prefix = `${basename(databaseFile)}.corrupt-`
  return filesIn(directory).flatMap((name) => {
    const at = name.startsWith(prefix) ? parseTimestamp(name.slice(prefix.length)) : Number.NaN
    const file = join(directory, name)
    return Number.isNaN(at) ? [] : [{ file, at, bytes: sizeOf(file), reason: 'damaged' }]
  })
}

/** Makes a copy of the database, whole and checked, in an empty file. */
export type CopyTo = (file: string) => Promise<void>

export async function writeBackup(
  copyTo: CopyTo,
  directory: string,
  reason: string,
  keep: number,
  at: number,
): Promise<BackupInfo> {
  const file = backupName(directory, reason, at)
  const partial = `${file}.partial`
  try {
    ensurePrivateDirectory(directory)
    removePartials(directory)
    ensurePrivateFile(partial)
    await copyTo(partial)
    fault('backup.written')
    publish(partial, file)
  } catch (error) {
    removeDatabase(partial)
    throw storageError(error)
  }
  rotate(directory, reason, reason === 'daily' ? keep : KEEP_OTHERS)
  const info = listBackups(directory).find((backup) => backup.file === file)
  if (info === undefined) throw new MemError('storage', `The backup ${file} was removed while it was being made.`)
  return info
}

export function backupName(directory: string, reason: string, at: number): string {
  const name = (n: number) => `db-${timestamp(at + n)}-${reason}.sqlite`
  if (!NAME.test(name(0))) {
    throw new MemError('bad_request', `A backup's reason is lower-case letters and dashes, not "${reason}".`)
  }
  return freeName((n) => join(directory, name(n)))
}

/** More pages than any file has. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Page by page, so that a damaged database can borrow from its copy. In one step: between two of them a commit of
 * another connection would make it begin anew.
 */
export async function copyDatabase(databaseFile: string, to: string): Promise<void> {
  const db = new BetterSqlite3(databaseFile, { readonly: true, fileMustExist: true })
  try {
    await db.backup(to, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
  makeStandalone(to)
}

/** One file with no log beside it. A damaged copy is refused here, before it can push a good one out. */
function makeStandalone(file: string): void {
  const copy = new BetterSqlite3(file)
  try {
    copy.pragma('journal_mode = DELETE')
    const [problem] = quickCheck(copy).problems
    if (problem !== undefined) {
      throw new MemError(
        'corrupt_database',
        `The database is damaged (${problem}); no backup was made and the older ones are kept. ` +
          'Start claude-mem again to have it recovered.',
      )
    }
  } finally {
    copy.close()
  }
}

export function rotate(directory: string, reason: string, keep: number): void {
  const ofReason = listBackups(directory).filter((backup) => backup.reason === reason)
  for (const { file } of ofReason.slice(Math.max(1, keep))) rmSync(file, { force: true })
}

/** What a process that died in the middle of a backup left behind. */
function removePartials(directory: string): void {
  for (const name of filesIn(directory)) {
    if (PARTIAL.test(name)) rmSync(join(directory, name), { force: true })
  }
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // there is no directory before the first backup
  }
}
