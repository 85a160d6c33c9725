/**
 * Free space of the disk, and the reserve: a file of some megabytes in the data directory. When the disk is full, hooks and
 * the store delete it and try again, so that events can still be stored while the user frees some space. The hook bundles
 * this file, so it may not import a package.
 */
import { rmSync, statfsSync } from 'node:fs'
import { systemCode } from './errors.ts'
import { pause } from './timeout.ts'

/** Room for hundreds of events: most take a few KB, the largest some hundred. */
export const RESERVE_BYTES = 8 * 1024 * 1024

/** Available to this user, in bytes. Infinity where it is not known. */
export function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

export function isDiskFull(error: unknown): boolean {
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)/.test(systemCode(error) ?? '')) return true
  return error instanceof Error && error.cause !== undefined && isDiskFull(error.cause)
}

/**
 * Waits before each further attempt, in ms. A deleted file's space is free only some time after its name is gone: another
 * process that finds no reserve may be faster than the file system that is still freeing it.
 */
const RETRY_AFTER_MS = [0, 10, 50, 150]

/**
 * Runs `work`; if the disk is full, deletes the reserve and runs it again. Also where there is no reserve: another process
 * may have deleted it after `work` failed here.
 */
export function withReserve<T>(reserveFile: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
  rmSync(reserveFile, { force: true })
  return attempt(work, RETRY_AFTER_MS)
}

function attempt<T>(work: () => T, [wait = 0, ...further]: readonly number[]): T {
  if (wait > 0) pause(wait)
  try {
    return work()
  } catch (error) {
    if (!isDiskFull(error) || further.length === 0) throw error
  }
  return attempt(work, further)
}
