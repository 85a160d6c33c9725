/**
 * What one hook leaves for the next hook of the same session, for clients that send no turn ids, and for those that take
 * the context of a session's start only with a prompt. Two files per session: `<session>.turn` has the id of the newest
 * turn; `<session>.context` exists while the context of the start is still to be given.
 *
 * The turn file outlives the session: a client may report the end of a session several times, and each has to get the
 * same id. Old files are removed when a session starts.
 */
import { mkdirSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { moveFileSync, readTextFile } from '../lib/files.ts'
import { shortHash } from '../lib/paths.ts'
import { type ClientTraits, type HookPayload, stringOrEmpty } from './clients/adapter.ts'

/** Of a session that is resumed later than this the first events have another turn id than before, which harms nothing. */
const KEPT_MS = 7 * 24 * 3_600_000

/** `raw`: the payload as sent. Adds the `prompt_id` of a client with derived turns. */
export function withDerivedTurn(
  payload: HookPayload,
  raw: string,
  traits: ClientTraits,
  directory: string,
): HookPayload {
  const session = stringOrEmpty(payload.session_id)
  if (traits.turnIds === 'sent' || session === '') return payload
  const file = join(directory, `${shortHash(session)}.turn`)
  if (!beginsTurn(payload)) return { ...payload, prompt_id: readTextFile(file)?.trim() || 'unknown' }
  // Of the payload, so that a hook that is registered twice makes one turn.
  const turn = `t-${shortHash(raw)}`
  inDirectory(directory, () => {
    // Renamed into place: hooks of one event run at the same time.
    writeFileSync(`${file}.${process.pid}`, turn, { mode: 0o600 })
    moveFileSync(`${file}.${process.pid}`, file)
  })
  return { ...payload, prompt_id: turn }
}

/** A start is a turn, too: the end of a session without a prompt differs from that of the session before a resume. */
function beginsTurn({ hook_event_name: event }: HookPayload): boolean {
  return event === 'SessionStart' || event === 'UserPromptSubmit'
}

/** A session starts, and its client takes the context with the first prompt. */
export function deferStartContext(session: string, directory: string): void {
  inDirectory(directory, () => {
    removeOld(directory)
    writeFileSync(contextFile(session, directory), '', { mode: 0o600 })
  })
}

/** Whether this prompt gets the context of the start: true once, also for hooks that run at the same time. */
export function takeStartContext(session: string, directory: string): boolean {
  try {
    unlinkSync(contextFile(session, directory))
    return true
  } catch {
    return false
  }
}

const contextFile = (session: string, directory: string): string => join(directory, `${shortHash(session)}.context`)

/** Without the files (a full or read-only disk) the events are reported all the same, with less exact ids. */
function inDirectory(directory: string, write: () => void): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    write()
  } catch {
    // See above.
  }
}

function removeOld(directory: string): void {
  const oldest = Date.now() - KEPT_MS
  for (const name of readdirSync(directory)) {
    const file = join(directory, name)
    if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? oldest) < oldest) rmSync(file, { force: true })
  }
}
