/**
 * A turn whose whole prompt is private is not observed, nor are late events of it (`src/domain/private-turns.ts`). Each
 * hook is a separate process, so a file named after the session records its turns since the first private one. It has one
 * JSON line per entry: hooks of several agents may append at the same time.
 */
import { appendFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** Whether the event may be sent or spooled. Updates the session's file. */
export function mayReport(event: MemoryEvent, directory: string): boolean {
  const file = join(directory, privateTurnFile(event.session))
  switch (event.kind) {
    case 'prompt':
      if (event.private) append(directory, file, 'private', event.promptId)
      else if (existsSync(file)) append(directory, file, 'public', event.promptId)
      return true
    case 'session_start':
      if (event.source === 'startup' || event.source === 'clear') remove(file)
      return true
    case 'session_end':
      remove(file)
      return true
    default: {
      const owner = { promptId: event.promptId, agentId: event.agent?.id ?? null }
      const turns = readTurns(file)
      if (turns === null || !isPrivate(turns, owner)) return true
      if (owner.agentId !== null && !turns.agentIds.includes(owner.agentId)) {
        append(directory, file, 'agent', owner.agentId)
      }
      return false
    }
  }
}

/** Whether something that is not an event, such as a question about a file, belongs to a private turn. */
export function isPrivateTurn(session: string, owner: EventOwner, directory: string): boolean {
  const turns = readTurns(join(directory, privateTurnFile(session)))
  return turns !== null && isPrivate(turns, owner)
}

/** The turns that a file records. `publicPromptIds`: of the newest turns that are not private. */
interface RecordedTurns extends PrivateTurns {
  isPrivate: boolean
  publicPromptIds: string[]
}

const isPrivate = (turns: RecordedTurns, owner: EventOwner): boolean => belongsToPrivateTurn(turns, turns, owner)

type Entry = [what: 'private' | 'public' | 'agent', id: string | null]

/** Null: the session had no private turn. */
function readTurns(file: string): RecordedTurns | null {
  // Checks first: there is rarely a file, and `existsSync` is the cheapest call.
  if (!existsSync(file)) return null
  const text = readTextFile(file) ?? ''
  const start: RecordedTurns = { ...NO_PRIVATE_TURNS, isPrivate: false, publicPromptIds: [] }
  // An empty file is of an older version: the turn is private.
  if (text === '') return withEntry(start, ['private', null])
  return text.split('\n').reduce((turns, line) => (line === '' ? turns : withEntry(turns, parseEntry(line))), start)
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

/** Late events of turns before these count as private only in doubt. */
const MAX_PUBLIC_IDS = 2
/** A file beyond this size is rewritten with what is still needed, in bytes. */
const MAX_FILE_BYTES = 32_768

function append(directory: string, file: string, ...entry: Entry): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // An empty file of an older version counts as a private turn, also with lines added.
    const before = existsSync(file) && statSync(file).size === 0 ? `${JSON.stringify(['private', null])}\n` : ''
    appendFileSync(file, `${before}${JSON.stringify(entry)}\n`, { mode: 0o600 })
    if (entry[0] !== 'agent' && statSync(file).size > MAX_FILE_BYTES) compact(file)
  } catch {
    // The daemon also drops the events of private turns; it knows from the prompt events.
  }
}

/** Only at a prompt: a session has one at a time. */
function compact(file: string): void {
  const turns = readTurns(file)
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
