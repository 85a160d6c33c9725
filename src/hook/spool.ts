/**
 * The spool: events that no daemon acknowledged, one file per event, written atomically. The daemon reads them in the
 * order of their names, which begin with the time, and deletes a file only after its event is committed.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EVENT_KINDS, type MemoryEvent } from '../domain/event.ts'
import { PROTOCOL_VERSION, type SpoolEnvelope } from '../domain/protocol.ts'
import { errorMessage, systemCode } from '../lib/errors.ts'
import {
  isMissingFile,
  makeDirectoryDurably,
  moveFileSync,
  readRegularFileSync,
  syncDirectory,
  writeFileDurably,
} from '../lib/files.ts'
import { shortHash } from '../lib/paths.ts'

const FINISHED = '.json'
const TEMPORARY = '.tmp'
const BAD = 'bad'

/** Writing one file takes milliseconds: the writer of an older temporary file has died. */
const STALE_TEMPORARY_MS = 60_000

let fileCount = 0

/** Durable on return. Returns the file's path. */
export function writeSpool(directory: string, event: MemoryEvent): string {
  makeDirectoryDurably(directory)
  const name = `${String(event.at).padStart(15, '0')}-${process.pid}-${fileCount++}-${shortHash(event.id)}`
  const temporary = join(directory, name + TEMPORARY)
  const file = join(directory, name + FINISHED)
  const envelope: SpoolEnvelope = { v: PROTOCOL_VERSION, event }
  writeFileDurably(temporary, JSON.stringify(envelope), 'wx')
  moveFileSync(temporary, file)
  syncDirectory(directory)
  return file
}

/** Events to read, oldest first: complete files, and temporary files whose writer has died. Changes nothing. */
export function listSpool(directory: string, now: number = Date.now()): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith(FINISHED) || (name.endsWith(TEMPORARY) && isStale(join(directory, name), now)))
    .sort()
    .map((name) => join(directory, name))
}

/** Far above any event: the hook cuts them to the largest message that a daemon may be set to accept. */
const MAX_SPOOL_FILE_BYTES = 64 * 1024 * 1024

interface BadSpoolFile {
  bad: string
  /** `newer`: the file stays in place for the newer version that wrote it. `busy`: it may be readable in a moment. */
  because: 'content' | 'newer' | 'busy'
}

/** Null if another reader removed it first. Never throws. */
export function readSpool(file: string): MemoryEvent | BadSpoolFile | null {
  let envelope: unknown
  try {
    // No link: a hook writes none.
    if (!lstatSync(file).isFile()) return { bad: 'it is not a regular file', because: 'content' }
    envelope = JSON.parse(readRegularFileSync(file, MAX_SPOOL_FILE_BYTES).toString('utf8'))
  } catch (error) {
    if (isMissingFile(error)) return null
    if (error instanceof SyntaxError) return { bad: 'it is not JSON', because: 'content' }
    return { bad: errorMessage(error), because: isBusy(error) ? 'busy' : 'content' }
  }
  if (!isRecord(envelope) || typeof envelope.v !== 'number') {
    return { bad: 'it is not a spooled event', because: 'content' }
  }
  if (envelope.v > PROTOCOL_VERSION) {
    return { bad: `it has version ${envelope.v}, made by a newer program`, because: 'newer' }
  }
  return isEvent(envelope.event) ? envelope.event : { bad: 'its event is not complete', because: 'content' }
}

/** Too many open files, or a program (on Windows: a virus scanner) that has the file open. */
const BUSY_CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EINTR']
const WINDOWS_BUSY_CODES = ['EACCES', 'EPERM']

function isBusy(error: unknown): boolean {
  const code = systemCode(error) ?? ''
  return BUSY_CODES.includes(code) || (process.platform === 'win32' && WINDOWS_BUSY_CODES.includes(code))
}

/** Moves a bad file to `bad/`, where it can be inspected. Returns its new path, or null if it was gone. */
export function setAside(file: string): string | null {
  const directory = join(dirname(file), BAD)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const name = basename(file)
  let target = join(directory, name)
  for (let n = 1; existsSync(target); n++) target = join(directory, `${name}.${n}`)
  try {
    moveFileSync(file, target)
    return target
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

export function removeSpooled(file: string): void {
  rmSync(file, { force: true })
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}

function isStale(file: string, now: number): boolean {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat !== undefined && now - stat.mtimeMs > STALE_TEMPORARY_MS
  } catch {
    return true // reading it finds out why
  }
}

/** A minimal check; the daemon validates the rest with its schema. */
function isEvent(value: unknown): value is MemoryEvent {
  if (!isRecord(value)) return false
  const kinds: readonly unknown[] = EVENT_KINDS
  return isName(value.id) && isName(value.session) && kinds.includes(value.kind) && Number.isFinite(value.at)
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
