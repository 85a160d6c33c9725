/**
 * Why the daemon cannot start, for the person: it is detached, so nobody sees its output, and its log may be what it cannot
 * write. A daemon that started removes the file. The hook bundles this file, so it may not import a package.
 */
import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withReserve } from './disk-space.ts'
import { errorMessage, systemCode } from './errors.ts'
import { readTextFile } from './files.ts'
import type { Paths } from './paths.ts'

/** A reason is a sentence or two; more would fill the person's screen. In characters. */
const MAX_REASON_CHARS = 600

export function recordStartFailure(paths: Paths, error: unknown): void {
  const text = JSON.stringify({ at: Date.now(), reason: failureReason(paths, error) })
  try {
    withReserve(paths.reserve, () => writeFileSync(paths.startFailure, text, { mode: 0o600 }))
  } catch {
    // Where the directory cannot be written a hook finds that itself; an empty file, on a full disk, says that it failed.
  }
}

/** Empty: the last daemon started, or none was started. */
export function readStartFailure({ startFailure }: Paths): string {
  const text = readTextFile(startFailure)
  if (text === undefined) return ''
  try {
    const { at, reason }: Record<string, unknown> = Object(JSON.parse(text))
    if (typeof at === 'number' && typeof reason === 'string') return `${plain(reason)} (${new Date(at).toISOString()})`
  } catch {
    // Written on a full disk: see above.
  }
  return 'the reason could not be written, as on a full disk'
}

/** The error, and where files of somebody else or without permission are the cause, which and what to do. */
export function failureReason(paths: Paths, error: unknown): string {
  const reason = errorMessage(error).replace(/\.$/, '')
  const fix = isAccessError(error) ? accessFault(paths) : ''
  return plain(fix === '' ? reason : `${reason}; ${fix}`)
}

const ACCESS_CODES = /^(EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST|ENXIO|SQLITE_(CANTOPEN|READONLY|PERM|IOERR))/

function isAccessError(error: unknown): boolean {
  if (ACCESS_CODES.test(systemCode(error) ?? '')) return true
  return error instanceof Error && error.cause !== undefined && isAccessError(error.cause)
}

/** Empty: this user may use everything that a daemon needs. */
function accessFault(paths: Paths): string {
  const { dataDir, logs, lock, database, startFailure, starting } = paths
  const user = process.getuid?.() ?? null
  const files = [dataDir, logs, join(logs, 'daemon.log'), lock, database, `${database}-wal`, startFailure, starting]
  for (const file of files) {
    try {
      const stat = statSync(file, { throwIfNoEntry: false })
      if (stat === undefined) continue
      const isDirectory = file === dataDir || file === logs
      if (isDirectory ? !stat.isDirectory() : !stat.isFile())
        return `${file} is not a ${isDirectory ? 'directory' : 'file'}; to start without what is there, move it away`
      // After one run with sudo.
      if (user !== null && user !== 0 && stat.uid !== user) {
        return `${file} belongs to another user (${stat.uid}); to get it back: sudo chown -R ${user} "${dataDir}"`
      }
      accessSync(file, stat.isDirectory() ? constants.R_OK | constants.W_OK | constants.X_OK : constants.W_OK)
    } catch (error) {
      if (systemCode(error) === 'EROFS') return `the disk of ${file} is mounted read-only; make it writable`
      const fix = process.platform === 'win32' ? 'make it writable' : `to make it writable: chmod -R u+rwX "${dataDir}"`
      return `${file} cannot be written; ${fix}`
    }
  }
  return ''
}

/** One line without control characters: it is shown in a terminal. */
function plain(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON_CHARS)
}
