/**
 * Free space of the disk, and the reserve: a file of some megabytes in the data directory. When the disk is full, hooks and
 * the store delete it and try again, so that events can still be stored while the user frees some space. The hook bundles
 * this file, so it may not import a package.
 */
import { rmSync, statfsSync } from 'node:fs'
import { systemCode } from './errors.ts'

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
 * Runs `work`; if the disk is full, deletes the reserve and runs it once more. Also where there is no reserve: another
 * process may have deleted it after `work` failed here.
 */
export function withReserve<T>(reserveFile: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isDiskFull(error)) throw error
    rmSync(reserveFile, { force: true })
    return work()
  }
}
