/**
 * A turn whose whole prompt is private is not observed. Each hook is a separate process, so an empty marker file named
 * after the session records that the current turn is private.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import { shortHash } from '../lib/paths.ts'

/** Whether the event may be sent or spooled. Updates the session's marker. */
export function mayReport(event: MemoryEvent, directory: string): boolean {
  const marker = join(directory, markerName(event.session))
  switch (event.kind) {
    case 'prompt':
      if (event.private) createMarker(directory, marker)
      else removeMarker(marker)
      return true
    case 'session_start':
      if (event.source === 'startup' || event.source === 'clear') removeMarker(marker)
      return true
    case 'session_end':
      removeMarker(marker)
      return true
    default:
      return !existsSync(marker)
  }
}

export function isPrivateTurn(session: string, directory: string): boolean {
  return existsSync(join(directory, markerName(session)))
}

function createMarker(directory: string, marker: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeFileSync(marker, '', { mode: 0o600 })
  } catch {
    // The daemon also drops the events of a private turn; it knows from the prompt event.
  }
}

/** Checks first: there is rarely a marker, and `existsSync` is the cheapest call. */
function removeMarker(marker: string): void {
  if (!existsSync(marker)) return
  try {
    rmSync(marker, { force: true })
  } catch {
    // The turn is then not observed, which is the safe side.
  }
}

/** Session ids are untrusted: the file name must not be a path or a device name. */
function markerName(session: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{7,99}$/.test(session) ? session : `s-${shortHash(session)}`
}
