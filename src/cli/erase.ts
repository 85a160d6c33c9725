/** Deletes the data directory, when nobody uses it any more. */
import { lstatSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeStaleSocket, takeLock } from '../channel/ownership.ts'
import { MemError, systemCode } from '../errors.ts'
import { ownEntries } from '../install/data-directory.ts'
import type { Paths } from '../paths.ts'
import type { Cli } from './cli.ts'
import { stopDaemon } from './daemon-process.ts'

/** A process that has let go of everything is gone in an instant; a machine under load takes its time. */
const EXIT_MS = 10_000
const LOOK_AGAIN_MS = 20
/** A hook of an open session may start the daemon again while it stops. */
const TRIES = 3

/** The pids of the daemons that were stopped. */
export async function stopForGood(cli: Cli): Promise<number[]> {
  const pids: number[] = []
  for (let n = 0; n < TRIES; n++) {
    const stopped = await stopDaemon(cli)
    if (stopped === null) return pids
    pids.push(stopped.pid)
    await untilExited(stopped.pid)
  }
  throw new MemError(
    'already_running',
    'the daemon was started again while it was being stopped; close the sessions that are open, then try again',
    { retryable: true },
  )
}

/** The lock is held meanwhile: a daemon that a hook starts now finds it taken. */
export function eraseDataDirectory(paths: Paths, home: string): void {
  if (ownEntries(paths, home) === null) return
  const lock = takeLock(paths.lock)
  if (lock === null) {
    throw new MemError('already_running', `another process uses ${paths.dataDir}; stop it, then try again`, {
      retryable: true,
    })
  }
  // The lock has files of its own beside it: listed only now.
  const entries = ownEntries(paths, home) ?? []
  const isLock = (name: string) => name.startsWith(basename(paths.lock))
  const remove = (name: string) => rmSync(join(paths.dataDir, name), { recursive: true, force: true, maxRetries: 3 })
  try {
    for (const name of entries.filter((name) => !isLock(name))) remove(name)
    removeStaleSocket(paths.socket)
    // An open file cannot be deleted on Windows.
    if (process.platform === 'win32') lock.release()
    for (const name of entries.filter(isLock)) remove(name)
    removeDirectory(paths.dataDir)
  } finally {
    if (process.platform !== 'win32') lock.release()
  }
  if (dirname(paths.socket) !== paths.dataDir) removeIfEmpty(dirname(paths.socket))
}

/** Where it is a link, with what it leads to. */
function removeDirectory(directory: string): void {
  const isLink = lstatSync(directory).isSymbolicLink()
  try {
    rmdirSync(isLink ? realpathSync(directory) : directory)
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY') throw error
    throw new MemError(
      'already_running',
      `something was written to ${directory} while it was being deleted; close the sessions that are open, then try again`,
      { cause: error, retryable: true },
    )
  }
  if (isLink) rmSync(directory)
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // The socket of another data directory is in it, or it is a pipe's.
  }
}

async function untilExited(pid: number): Promise<void> {
  const deadline = Date.now() + EXIT_MS
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new MemError('already_running', `the daemon (pid ${pid}) does not exit`)
    await sleep(LOOK_AGAIN_MS)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
