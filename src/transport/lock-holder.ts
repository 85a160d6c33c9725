/**
 * Which process serves a data directory, for the case that it does not answer. Whether one does is decided by the lock
 * (daemon-lock.ts), never by this file.
 */
import { writeFileSync } from 'node:fs'
import { parseJsonObject } from '../hook/payload.ts'
import { MemError } from '../lib/errors.ts'
import { readTextFile } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'
import { processStart } from '../lib/processes.ts'

/** Called by the process that has taken the lock. */
export function recordHolder(paths: Paths): void {
  const holder = { pid: process.pid, started: processStart(process.pid) }
  try {
    writeFileSync(paths.holder, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  } catch {
    // A daemon must start on a full disk, too. It is then not known, and nobody ends it by its number.
  }
}

/** The process that took the lock last and still lives; null if that is not sure: its number may be another process's now. */
export function lockHolder(paths: Paths): number | null {
  const { pid, started } = parseJsonObject(readTextFile(paths.holder) ?? '') ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string') return null
  return processStart(pid) === started ? pid : null
}

/** The socket takes connections, and nothing is answered on it. */
export function unresponsiveError(paths: Paths): MemError {
  const pid = lockHolder(paths)
  const text =
    pid === null
      ? `something listens on ${paths.socket} and does not answer; claude-mem cannot tell which process it is: end it, then try again`
      : `the daemon (pid ${pid}) does not answer; to end it and start another: claude-mem restart`
  return new MemError('unresponsive', text, { retryable: true })
}
