/**
 * A turn whose whole prompt is private is not observed. Each hook is a process of its own, so an empty file
 * named after the session tells the later ones.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryEvent } from '../memory/event.ts'
import { shortHash } from '../paths.ts'

/** Whether the event may leave the process; keeps the session's mark up to date. */
export function mayLeave(event: MemoryEvent, directory: string): boolean {
  const mark = join(directory, safeName(event.session))
  switch (event.kind) {
    case 'prompt':
      if (event.private) setMark(directory, mark)
      else removeMark(mark)
      return true
    case 'session_start':
      if (event.source === 'startup' || event.source === 'clear') removeMark(mark)
      return true
    case 'session_end':
      removeMark(mark)
      return true
    default:
      return !existsSync(mark)
  }
}

export function isPrivateTurn(session: string, directory: string): boolean {
  return existsSync(join(directory, safeName(session)))
}

function setMark(directory: string, mark: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeFileSync(mark, '', { mode: 0o600 })
  } catch {
    // A data directory that cannot be written keeps nothing of this turn either; the daemon knows from the prompt.
  }
}

/** Looks first: deleting is the rare case, and looking is the cheapest call there is. */
function removeMark(mark: string): void {
  if (!existsSync(mark)) return
  try {
    rmSync(mark, { force: true })
  } catch {
    // The turn stays unobserved: the safe side.
  }
}

/** Session ids come from outside: never a path, never a device name. */
function safeName(session: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{7,99}$/.test(session) ? session : `s-${shortHash(session)}`
}
