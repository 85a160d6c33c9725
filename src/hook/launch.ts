/**
 * Starts the daemon, detached. Of many hooks that find no daemon one starts it: the file `starting` is theirs to
 * agree on. That keeps a thousand hooks from starting a thousand processes; that only one daemon serves a data
 * directory is the daemon's own lock.
 */
import type { ChildProcess } from 'node:child_process'
import { linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Paths } from '../paths.ts'

/** A daemon serves well within this; after it whoever holds the lock has failed. */
const START_LOCK_MS = 10_000

export type Spawn = (dist: string, dataDir: string, env: NodeJS.ProcessEnv) => Promise<ChildProcess>

/** True when this process started one. Never throws: a hook that cannot start the daemon has spooled its event. */
export async function launchDaemon(
  paths: Paths,
  dist: string,
  env: NodeJS.ProcessEnv,
  spawn: Spawn = spawnDetached,
): Promise<boolean> {
  try {
    if (!takeStartLock(paths.starting)) return false
  } catch {
    return false
  }
  try {
    const child = await spawn(dist, paths.dataDir, env)
    child.on('error', () => {})
    child.unref()
    if (child.pid !== undefined) return true
  } catch {
    // Falls through: as with a child without a pid, nothing is starting.
  }
  rmSync(paths.starting, { force: true })
  return false
}

export function takeStartLock(lock: string, now: number = Date.now()): boolean {
  if (createLock(lock, now)) return true
  const stat = statSync(lock, { throwIfNoEntry: false })
  if (stat !== undefined && Math.abs(now - stat.mtimeMs) < START_LOCK_MS) return false
  return breakLock(lock, now) && createLock(lock, now)
}

function createLock(lock: string, now: number): boolean {
  try {
    writeFileSync(lock, JSON.stringify({ pid: process.pid, at: now }), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** Renamed before it is deleted: between our look and our act another hook may have broken it and made its own. */
function breakLock(lock: string, now: number): boolean {
  const broken = `${lock}.${process.pid}.${now}`
  try {
    renameSync(lock, broken)
  } catch {
    // Gone already: whoever breaks a lock takes it.
    return true
  }
  const fresh = Math.abs(now - statSync(broken).mtimeMs) < START_LOCK_MS
  if (fresh) {
    try {
      linkSync(broken, lock)
    } catch {
      // A third hook holds it by now.
    }
  }
  rmSync(broken, { force: true })
  return !fresh
}

/** Loads `child_process` only here: a hook hardly ever needs it. */
const spawnDetached: Spawn = async (dist, dataDir, env) => {
  const { spawn } = await import('node:child_process')
  return spawn(process.execPath, [join(dist, 'daemon.js')], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    cwd: dataDir,
    // It runs in another directory: a relative path in our environment would mean another place there.
    env: { ...env, CLAUDE_MEM_DATA_DIR: dataDir },
  })
}
