/**
 * The spool: events that no daemon acknowledged, one file per event, written atomically. The daemon reads them in the
 * order of their names, which begin with the time, and deletes a file only after its event is committed.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { EVENT_KINDS, type MemoryEvent } from '../domain/event.ts'
import { PROTOCOL_VERSION, type SpoolEnvelope } from '../domain/protocol.ts'
import { isMissingFile, readFileIfExists, syncDirectory, writeFileDurably } from '../lib/files.ts'
import { shortHash } from '../lib/paths.ts'

const FINISHED = '.json'
const TEMPORARY = '.tmp'
const BAD = 'bad'

/** Writing one file takes milliseconds: the writer of an older temporary file has died. */
const STALE_TEMPORARY_MS = 60_000

let fileCount = 0

/** Durable on return. Returns the file's path. */
export function writeSpool(directory: string, event: MemoryEvent): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const name = `${String(event.at).padStart(15, '0')}-${process.pid}-${fileCount++}-${shortHash(event.id)}`
  const temporary = join(directory, name + TEMPORARY)
  const file = join(directory, name + FINISHED)
  const envelope: SpoolEnvelope = { v: PROTOCOL_VERSION, event }
  writeFileDurably(temporary, JSON.stringify(envelope), 'wx')
  renameSync(temporary, file)
  syncDirectory(directory)
  return file
}

/** Complete events, oldest first. A dead writer's temporary file is adopted if it is complete, else moved to `bad/`. */
export function listSpool(directory: string, now: number = Date.now()): string[] {
  const files: string[] = []
  for (const name of namesIn(directory)) {
    const file = join(directory, name)
    if (name.endsWith(FINISHED)) files.push(file)
    else if (name.endsWith(TEMPORARY) && isStale(file, now)) {
      const adopted = adopt(file)
      if (adopted !== null) files.push(adopted)
    }
  }
  return files.sort()
}

interface BadSpoolFile {
  bad: string
  /** Written by a newer version: the file stays in place for that version to read. */
  newer: boolean
}

/** Null if another reader removed it first. File system errors are thrown: they do not mean that the file is bad. */
export function readSpool(file: string): MemoryEvent | BadSpoolFile | null {
  const text = readFileIfExists(file)
  if (text === null) return null
  let envelope: unknown
  try {
    envelope = JSON.parse(text)
  } catch {
    return { bad: 'it is not JSON', newer: false }
  }
  if (!isRecord(envelope) || typeof envelope.v !== 'number') return { bad: 'it is not a spooled event', newer: false }
  if (envelope.v > PROTOCOL_VERSION)
    return { bad: `it has version ${envelope.v}, made by a newer program`, newer: true }
  return isEvent(envelope.event) ? envelope.event : { bad: 'its event is not complete', newer: false }
}

/** Moves a bad file to `bad/`, where it can be inspected. Returns its new path, or null if it was gone. */
export function setAside(file: string): string | null {
  const directory = join(dirname(file), BAD)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return move(file, join(directory, basename(file)))
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
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat !== undefined && now - stat.mtimeMs > STALE_TEMPORARY_MS
}

function adopt(temporary: string): string | null {
  const content = readSpool(temporary)
  if (content === null) return null
  if (!('bad' in content)) return move(temporary, temporary.slice(0, -TEMPORARY.length) + FINISHED)
  if (!content.newer) setAside(temporary)
  return null
}

function move(from: string, to: string): string | null {
  try {
    renameSync(from, to)
    return to
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
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
