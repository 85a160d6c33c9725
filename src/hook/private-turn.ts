/**
 * A turn whose whole prompt is private is not observed, nor are late events of it (`src/domain/private-turns.ts`). Each
 * hook is a separate process, so a file named after the session records its turns since the first private one. It has one
 * JSON line per entry: hooks of several agents may append at the same time.
 *
 * While the data directory cannot be written (read-only, no space, no inodes), the entries go to a directory in memory, and
 * stay there for the rest of the session: its lines follow those of the data directory.
 */
import { appendFileSync, existsSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import {
  belongsToPrivateTurn,
  type EventOwner,
  NO_PRIVATE_TURNS,
  type PrivateTurns,
  withPrivateAgent,
  withPrivatePrompt,
} from '../domain/private-turns.ts'
import { moveFileSync, readTextFile } from '../lib/files.ts'
import { shortHash } from '../lib/paths.ts'
import { SHARED_MEMORY } from './shared-memory.ts'

/** Whether the event may be sent or spooled. Updates the session's file. */
export function mayReport(event: MemoryEvent, directory: string): boolean {
  const files = recordFiles(event.session, directory)
  switch (event.kind) {
    case 'prompt':
      if (event.private) append(files, 'private', event.promptId)
      else if (files.some(existsSync)) append(files, 'public', event.promptId)
      return true
    case 'session_start':
      if (event.source === 'startup' || event.source === 'clear') files.forEach(remove)
      return true
    case 'session_end':
      files.forEach(remove)
      return true
    default: {
      const owner = { promptId: event.promptId, agentId: event.agent?.id ?? null }
      const turns = readTurns(files)
      if (turns === null || !isPrivate(turns, owner)) return true
      if (owner.agentId !== null && !turns.agentIds.includes(owner.agentId)) append(files, 'agent', owner.agentId)
      return false
    }
  }
}

/** In the data directory and in memory, in the order of their entries. */
type RecordFiles = readonly [string, string]

function recordFiles(session: string, directory: string): RecordFiles {
  const name = privateTurnFile(session)
  return [join(directory, name), join(privateTurnsFallback(directory), name)]
}

/** Only of this user and data directory. */
export function privateTurnsFallback(directory: string): string {
  const memory = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir()
  return join(memory, `claude-mem-private-${process.getuid?.() ?? ''}-${shortHash(directory)}`)
}

/** Whether something that is not an event, such as a question about a file, belongs to a private turn. */
export function isPrivateTurn(session: string, owner: EventOwner, directory: string): boolean {
  const turns = readTurns(recordFiles(session, directory))
  return turns !== null && isPrivate(turns, owner)
}

/** The turns that a file records. `publicPromptIds`: of the newest turns that are not private. */
interface RecordedTurns extends PrivateTurns {
  isPrivate: boolean
  publicPromptIds: string[]
}

/** The hook of a prompt that was never seen may have failed, and the prompt may have been private. */
function isPrivate(turns: RecordedTurns, owner: EventOwner): boolean {
  const isUnseen = owner.promptId !== null && !turns.publicPromptIds.includes(owner.promptId)
  return belongsToPrivateTurn(turns, { ...turns, isPrivate: turns.isPrivate || isUnseen }, owner)
}

type Entry = [what: 'private' | 'public' | 'agent', id: string | null]

/** Null: the session had no private turn. */
function readTurns(files: RecordFiles): RecordedTurns | null {
  // Checks first: there is rarely a file, and `existsSync` is the cheapest call.
  const existing = files.filter((file) => existsSync(file))
  if (existing.length === 0) return null
  const start: RecordedTurns = { ...NO_PRIVATE_TURNS, isPrivate: false, publicPromptIds: [] }
  return existing.flatMap(readEntries).reduce(withEntry, start)
}

/** A file that is empty or cannot be read may be of a private turn. */
function readEntries(file: string): Entry[] {
  const lines = (readTextFile(file) ?? '').split('\n').filter((line) => line !== '')
  return lines.length === 0 ? [['private', null]] : lines.map(parseEntry)
}

/** A line that cannot be read may be of a private turn. */
function parseEntry(line: string): Entry {
  try {
    const [what, id] = JSON.parse(line)
    if (what === 'private' || what === 'public' || what === 'agent') return [what, typeof id === 'string' ? id : null]
  } catch {
    // A torn line: see above.
  }
  return ['private', null]
}

function withEntry(turns: RecordedTurns, [what, id]: Entry): RecordedTurns {
  switch (what) {
    case 'private':
      return { ...turns, ...withPrivatePrompt(turns, id), isPrivate: true }
    case 'public': {
      const publicPromptIds =
        id === null
          ? turns.publicPromptIds
          : // A prompt is recorded twice where its first hook got no answer.
            [...turns.publicPromptIds.filter((known) => known !== id), id].slice(-MAX_PUBLIC_IDS)
      return { ...turns, isPrivate: false, publicPromptIds }
    }
    case 'agent':
      return { ...turns, ...withPrivateAgent(turns, id) }
  }
}

/** Late events of turns before these count as private. */
const MAX_PUBLIC_IDS = 20
/** A file beyond this size is rewritten with what is still needed, in bytes. */
const MAX_FILE_BYTES = 32_768

function append(files: RecordFiles, ...entry: Entry): void {
  const [inDataDirectory, inMemory] = files
  const tried = existsSync(inMemory) ? [inMemory] : [inDataDirectory, inMemory]
  // The daemon also drops the events of private turns: where both fail, it knows from the prompt event if it got that.
  tried.some((file) => appendTo(file, entry, files))
}

/** Whether the entry is in the file. */
function appendTo(file: string, entry: Entry, files: RecordFiles): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if (file === files[1] && !isOwn(dirname(file))) return false
    // An empty file counts as a private turn, also with lines added.
    const before = existsSync(file) && statSync(file).size === 0 ? `${JSON.stringify(['private', null])}\n` : ''
    appendFileSync(file, `${before}${JSON.stringify(entry)}\n`, { mode: 0o600 })
    if (entry[0] !== 'agent' && statSync(file).size > MAX_FILE_BYTES) compact(file, files)
    return true
  } catch {
    return false
  }
}

/** Another user may have made it first in a shared directory. */
function isOwn(directory: string): boolean {
  const user = process.getuid?.()
  const stat = lstatSync(directory)
  return stat.isDirectory() && (user === undefined || (stat.uid === user && (stat.mode & 0o077) === 0))
}

/** Only at a prompt: a session has one at a time. */
function compact(file: string, files: RecordFiles): void {
  const turns = readTurns(files)
  if (turns === null) return
  const newest = turns.isPrivate ? turns.promptIds.slice(-1) : []
  const entries: Entry[] = [
    ...(turns.unknownIds ? [['private', null] satisfies Entry] : []),
    ...turns.promptIds.filter((id) => !newest.includes(id)).map((id): Entry => ['private', id]),
    ...turns.agentIds.map((id): Entry => ['agent', id]),
    ...(turns.publicPromptIds.length > 0 ? turns.publicPromptIds : [null]).map((id): Entry => ['public', id]),
    ...newest.map((id): Entry => ['private', id]),
    ...(turns.isPrivate && newest.length === 0 ? [['private', null] satisfies Entry] : []),
  ]
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`, { mode: 0o600 })
  moveFileSync(temporary, file)
}

function remove(file: string): void {
  if (!existsSync(file)) return
  try {
    rmSync(file, { force: true })
  } catch {
    // The turn is then not observed, which is the safe side.
  }
}

/**
 * Session ids are untrusted: the file name must not be a path or, on Windows, the name of a device (`NUL`, `COM1.txt`), and
 * two ids that differ only in case must not share a file where case is ignored.
 */
export function privateTurnFile(session: string): string {
  return /^[a-z0-9][a-z0-9-]{7,99}$/.test(session) ? session : `s-${shortHash(session)}`
}
