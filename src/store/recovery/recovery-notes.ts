/**
 * What recoveries did to the database, for the user. Kept in a file beside it, because the database may be the one that was
 * rebuilt, and because the daemon that recovered may end before anybody looks.
 */
import { dirname } from 'node:path'
import { DAY_MS } from '../../domain/dates.ts'
import { moveFileSync, readTextFile, syncDirectory, writeFileDurably } from '../../lib/files.ts'

export interface RecoveryNote {
  at: number
  text: string
  /** Shown when a session started. */
  shown: boolean
}

/** `status` lists a note for this long. */
const LISTED_MS = 7 * DAY_MS
/** Newest ones that are kept: those of several recoveries. */
const MAX_NOTES = 40

function notesFile(databaseFile: string): string {
  return `${databaseFile}.recovery-notes.json`
}

/** Durable on return. A note with the same text replaces the older one: a recovery that was interrupted is repeated. */
export function noteRecovery(databaseFile: string, at: number, texts: readonly string[]): void {
  if (texts.length === 0) return
  const others = readNotes(databaseFile).filter(({ text }) => !texts.includes(text))
  const added = texts.map((text) => ({ at, text, shown: false }))
  writeNotes(databaseFile, [...others, ...added].slice(-MAX_NOTES))
}

/** A clock that was wrong hides notes at most; it deletes none. */
export function recentRecoveryNotes(databaseFile: string, now: number): RecoveryNote[] {
  return readNotes(databaseFile).filter(({ at }) => Math.abs(now - at) < LISTED_MS)
}

/** Those that were not taken before, however old they are. */
export function takeRecoveryNotes(databaseFile: string): string[] {
  const notes = readNotes(databaseFile)
  const taken = notes.filter(({ shown }) => !shown).map(({ text }) => text)
  if (taken.length === 0) return []
  try {
    writeNotes(
      databaseFile,
      notes.map((note) => ({ ...note, shown: true })),
    )
  } catch {
    // On a full disk they are shown again at the next start.
  }
  return taken
}

function readNotes(databaseFile: string): RecoveryNote[] {
  try {
    const notes: unknown = JSON.parse(readTextFile(notesFile(databaseFile)) ?? '[]')
    return Array.isArray(notes) ? notes.filter(isNote) : []
  } catch {
    return [] // the disk that damaged the database may have damaged this file
  }
}

function isNote(value: unknown): value is RecoveryNote {
  const { at, text, shown }: Record<string, unknown> = Object(value)
  return typeof at === 'number' && typeof text === 'string' && typeof shown === 'boolean'
}

function writeNotes(databaseFile: string, notes: readonly RecoveryNote[]): void {
  const file = notesFile(databaseFile)
  const partial = `${file}.partial`
  writeFileDurably(partial, JSON.stringify(notes), 'w')
  moveFileSync(partial, file)
  syncDirectory(dirname(file))
}
