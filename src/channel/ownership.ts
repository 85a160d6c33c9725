/**
 * One daemon a data directory. The lock is one of the operating system's (SQLite takes it for us, on every platform):
 * it goes with the process that held it, so no file left behind ever prevents a start. Who holds it is asked by
 * connecting, never read from a pid.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Log } from '../actors/supervisor.ts'
import { MemError, systemCode } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { compareVersions, VERSION } from '../version.ts'
import { ChannelClient } from './client.ts'

/** A draining daemon lets go within five seconds; twice that, and something is wrong with it. */
const HANDOVER_MS = 10_000
const LOOK_AGAIN_MS = 50

export interface DaemonLock {
  release(): void
}

/** Null when another process holds it. */
export function takeLock(file: string): DaemonLock | null {
  const database = new Database(file, { timeout: 0 })
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

/** Only the holder of the lock may do this: whoever made this socket is gone. */
export function removeStaleSocket(path: string): void {
  if (process.platform === 'win32') return
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path, { force: true })
}

/** The lock, from an older daemon if need be. */
export async function ownDataDirectory(paths: Paths, log: Log): Promise<DaemonLock> {
  const deadline = Date.now() + HANDOVER_MS
  let asked = false
  for (;;) {
    const lock = takeLock(paths.lock)
    if (lock !== null) return lock
    const other = await askOther(paths)
    if (other !== null && compareVersions(other.version, VERSION) >= 0) {
      throw new MemError(
        'already_running',
        `claude-mem ${other.version} (pid ${other.pid}) already serves ${paths.dataDir}`,
      )
    }
    if (other !== null && !asked) {
      log('info', `asking claude-mem ${other.version} (pid ${other.pid}) to hand over`)
      asked = await requestHandover(paths)
    }
    if (Date.now() > deadline) {
      throw new MemError(
        'already_running',
        `another process holds ${paths.lock} but does not answer on ${paths.socket}`,
      )
    }
    await sleep(LOOK_AGAIN_MS)
  }
}

async function askOther(paths: Paths): Promise<{ version: string; pid: number } | null> {
  try {
    const client = await ChannelClient.connect(paths)
    const { version, pid } = await client
      .request('hello', { type: 'hello', version: VERSION }, 1_000)
      .finally(() => client.close())
    return { version, pid }
  } catch {
    // It is starting or stopping: the lock tells in a moment.
    return null
  }
}

async function requestHandover(paths: Paths): Promise<boolean> {
  try {
    const client = await ChannelClient.connect(paths)
    await client.request('done', { type: 'handover', version: VERSION }).finally(() => client.close())
    return true
  } catch {
    return false
  }
}
