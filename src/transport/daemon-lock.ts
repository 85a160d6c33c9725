/**
 * One daemon per data directory. The lock is a file lock of the operating system, taken by SQLite on every platform: it
 * ends with the process that holds it, so no stale lock file can prevent a start. The holder is identified by connecting
 * to it; a file with its process is only asked when it does not answer (lock-holder.ts).
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallArguments, OutputOf } from '../api/index.ts'
import { MemError, systemCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { databaseDriver } from '../lib/packages.ts'
import type { Paths } from '../lib/paths.ts'
import { compareVersions, VERSION } from '../lib/version.ts'
import { DaemonClient } from './client.ts'
import { lockHolder, recordHolder } from './lock-holder.ts'

/** Timeout of a handover, in ms: a draining daemon releases the lock within five seconds. */
const HANDOVER_TIMEOUT_MS = 10_000
/** Pause between two attempts to take the lock, in ms. */
const RETRY_MS = 50
/** How long the holder of the lock may take to answer, in ms. */
const HELLO_TIMEOUT_MS = 1_000

export interface DaemonLock {
  release(): void
}

/** Null when another process holds it. */
export function tryLock(file: string): DaemonLock | null {
  const driver = databaseDriver()
  const database = new driver(file, { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    if (process.platform !== 'win32') chmodSync(file, 0o600)
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (systemCode(error)?.startsWith('SQLITE_BUSY') === true) return null
    throw error
  }
}

/** Only the holder of the lock may do this: then the process that created the socket is dead. */
export function removeStaleSocket(path: string): void {
  if (process.platform === 'win32') return
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path, { force: true })
}

/** Takes the lock; an older daemon that holds it is asked to hand over. */
export async function lockDataDirectory(paths: Paths, log: Log): Promise<DaemonLock> {
  const deadline = Date.now() + HANDOVER_TIMEOUT_MS
  let handoverRequested = false
  for (;;) {
    const lock = tryLock(paths.lock)
    if (lock !== null) {
      recordHolder(paths)
      return lock
    }
    const other = await callHolder(paths, 'hello', { version: VERSION }, HELLO_TIMEOUT_MS)
    if (other !== null && compareVersions(other.version, VERSION) >= 0) {
      throw new MemError(
        'already_running',
        `claude-mem ${other.version} (pid ${other.pid}) already serves ${paths.dataDir}`,
      )
    }
    if (other !== null && !handoverRequested) {
      log('info', `requesting a handover from claude-mem ${other.version} (pid ${other.pid})`)
      handoverRequested = (await callHolder(paths, 'handover', { version: VERSION })) !== null
    }
    if (Date.now() > deadline) {
      const pid = lockHolder(paths)
      const which = pid === null ? 'another process' : `another daemon (pid ${pid})`
      const text = `${which} holds ${paths.lock} and does not answer on ${paths.socket}`
      throw new MemError('unresponsive', `${text}; end that process, then run: claude-mem start`)
    }
    await sleep(RETRY_MS)
  }
}

/** Null where it does not answer: it is starting or stopping, and the next attempt to lock will tell. */
async function callHolder<N extends 'hello' | 'handover'>(
  paths: Paths,
  name: N,
  ...args: CallArguments<N>
): Promise<OutputOf<N> | null> {
  try {
    const client = await DaemonClient.connect(paths)
    return await client.call(name, ...args).finally(() => client.close())
  } catch {
    return null
  }
}
