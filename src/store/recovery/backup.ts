/**
 * Online backups: complete, checked copies of the database. Their names begin with a number that counts up, which alone says
 * which one is newest: the clock may have been wrong when a backup was made.
 */
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import type { BackupInfo } from '../port.ts'
import { Database, storageError } from '../sqlite/database.ts'
import {
  checkIntegrity,
  ensurePrivateDirectory,
  ensurePrivateFile,
  fileSize,
  parseTimestamp,
  publishFile,
  removeDatabase,
  requireSpaceForCopy,
  timestamp,
} from './database-files.ts'

const BACKUP_NAME = /^db-(\d{6,})-(\d{8}T\d{9}Z)-([a-z][a-z-]*)\.sqlite$/
const PARTIAL = /\.partial(-journal|-wal|-shm)?$/

/** Number of kept backups of every reason except `daily`, for which the caller decides. */
export const KEEP_OTHERS = 3

/** Newest first, whatever their dates say. */
export function listBackups(directory: string): BackupInfo[] {
  return numberedBackups(directory).map(({ backup }) => backup)
}

function numberedBackups(directory: string): { number: number; backup: BackupInfo }[] {
  return filesIn(directory)
    .flatMap((name) => {
      const [, number = '', at = '', reason = ''] = BACKUP_NAME.exec(name) ?? []
      const file = join(directory, name)
      if (number === '') return []
      return [{ number: Number(number), backup: { file, at: parseTimestamp(at), bytes: fileSize(file), reason } }]
    })
    .sort((a, b) => b.number - a.number)
}

/** Damaged databases, and logs of one, that a recovery kept. They are never deleted automatically. */
export function listSetAside(databaseFile: string): BackupInfo[] {
  const directory = dirname(databaseFile)
  const prefixes = ['', '-wal'].map((suffix) => `${basename(databaseFile)}${suffix}.corrupt-`)
  return filesIn(directory).flatMap((name) => {
    const prefix = prefixes.find((one) => name.startsWith(one))
    const at = prefix === undefined ? Number.NaN : parseTimestamp(name.slice(prefix.length))
    const file = join(directory, name)
    return Number.isNaN(at) ? [] : [{ file, at, bytes: fileSize(file), reason: 'damaged' }]
  })
}

/** Writes a complete, checked copy of the database into an empty file. */
export type CopyTo = (file: string) => Promise<void>

/** The copy needs as much space as the database with its log. */
export function requireBackupSpace(directory: string, databaseFile: string): void {
  requireSpaceForCopy(directory, [databaseFile, `${databaseFile}-wal`])
}

export async function writeBackup(
  copyTo: CopyTo,
  directory: string,
  reason: string,
  keep: number,
  at: number,
): Promise<BackupInfo> {
  const file = backupFile(directory, reason, at)
  const partial = `${file}.partial`
  try {
    ensurePrivateDirectory(directory)
    removePartials(directory)
    ensurePrivateFile(partial)
    await copyTo(partial)
    faultPoint('backup.written')
    publishFile(partial, file)
  } catch (error) {
    removeDatabase(partial)
    throw storageError(error)
  }
  rotateBackups(directory, reason, reason === 'daily' ? keep : KEEP_OTHERS)
  const info = listBackups(directory).find((backup) => backup.file === file)
  if (info === undefined) throw new MemError('storage', `The backup ${file} was removed while it was being made.`)
  return info
}

export function backupFile(directory: string, reason: string, at: number): string {
  const next = (numberedBackups(directory)[0]?.number ?? 0) + 1
  const name = `db-${String(next).padStart(6, '0')}-${timestamp(at)}-${reason}.sqlite`
  if (!BACKUP_NAME.test(name)) {
    throw new MemError('bad_request', `The reason of a backup must be lower-case letters and dashes, not "${reason}".`)
  }
  return join(directory, name)
}

/** All pages in one step. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies page by page, so that pages of the copy can replace pages of a damaged database. In one step, because a commit of
 * another connection between two steps would restart the copy.
 */
export async function copyDatabase(databaseFile: string, to: string): Promise<void> {
  const db = new Database(databaseFile, { readonly: true, fileMustExist: true })
  try {
    await db.backup(to, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
  makeStandalone(to)
}

/** Makes the copy a single file without a log. Refuses a damaged copy, before rotation deletes a good one. */
function makeStandalone(file: string): void {
  const copy = new Database(file)
  try {
    copy.pragma('journal_mode = DELETE')
    const [problem] = checkIntegrity(copy).problems
    if (problem !== undefined) {
      throw new MemError(
        'corrupt_database',
        `The database is damaged (${problem}); no backup was made and the older ones are kept. ` +
          'It is recovered when the daemon starts; a running one starts again by itself.',
      )
    }
  } finally {
    copy.close()
  }
}

export function rotateBackups(directory: string, reason: string, keep: number): void {
  const ofReason = listBackups(directory).filter((backup) => backup.reason === reason)
  for (const { file } of ofReason.slice(Math.max(1, keep))) rmSync(file, { force: true })
}

/** Left behind by a process that died during a backup. */
export function removePartials(directory: string): void {
  for (const name of filesIn(directory)) {
    if (PARTIAL.test(name)) rmSync(join(directory, name), { force: true })
  }
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // the directory does not exist before the first backup
  }
}
