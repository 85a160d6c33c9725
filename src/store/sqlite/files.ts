/** Files that must not be half there: private from the first byte, on disk before they get their name. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectory } from '../../sync-directory.ts'

/** A database is up to three files; the log and its index belong to it by name. */
const COMPANIONS = ['-wal', '-shm', '-journal']

export function ensurePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
}

/** SQLite gives the log and its index the mode of the database file. */
export function ensurePrivateFile(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
}

export function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0
}

/** Gives a finished file its name for good: content first, then the name, then the directory. */
export function publish(finished: string, name: string): void {
  syncFile(finished)
  renameSync(finished, name)
  syncDirectory(dirname(name))
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function removeDatabase(file: string): void {
  for (const companion of COMPANIONS) rmSync(file + companion, { force: true })
  rmSync(file, { force: true })
}

/** Moves a damaged database out of the way, whole. Null when there was nothing to move. */
export function setDatabaseAside(file: string, at: number): string | null {
  const aside = freeName((n) => `${file}.corrupt-${timestamp(at + n)}`)
  let moved = false
  for (const companion of ['', ...COMPANIONS]) {
    if (!existsSync(file + companion)) continue
    renameSync(file + companion, aside + companion)
    moved = true
  }
  return moved ? aside : null
}

export function freeName(candidate: (attempt: number) => string): string {
  let attempt = 0
  while (existsSync(candidate(attempt))) attempt += 1
  return candidate(attempt)
}

/** `20261130T101112345Z`: sorts by time and is a file name everywhere. */
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
    // The damage itself is what the caller reports; without the mark it is met again.
  }
}

export function isSuspect(file: string): boolean {
  return existsSync(suspectMark(file))
}

export function clearSuspect(file: string): void {
  rmSync(suspectMark(file), { force: true })
}
