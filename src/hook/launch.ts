/** Starts the daemon, if none answers. */
import type { ChildProcess } from 'node:child_process'
import { linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { currentWorkingTree } from '../domain/project.ts'
import { daemonEnvironment } from '../lib/daemon-environment.ts'
import { systemCode } from '../lib/errors.ts'
import { isMissingFile } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'
import { failureReason } from '../lib/start-failure.ts'
import { loadSettings } from '../settings/settings.ts'

/** A daemon answers well within this time; an older start lock belongs to a start that failed. */
const START_LOCK_MS = 10_000

/**
 * Starts the daemon, detached. The lock file `starting` lets only one of many concurrent hooks start it, to avoid a
 * thousand processes; that only one daemon serves a data directory is guaranteed by the daemon's own lock. Never throws:
 * the caller has already spooled its event. Returns why no daemon could be started; empty: one is starting.
 */
export async function launchDaemon(paths: Paths, dist: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
    if (!takeStartLock(paths.starting, Date.now())) return ''
  } catch (error) {
    return failureReason(paths, error)
  }
  try {
    const child = await spawnDaemon(dist, paths.dataDir, env)
    const failed = new Promise<unknown>((resolve) => child.once('error', resolve))
    child.unref()
    if (child.pid !== undefined) return ''
    throw await failed
  } catch (error) {
    rmSync(paths.starting, { force: true })
    return failureReason(paths, error)
  }
}

function takeStartLock(lock: string, now: number): boolean {
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
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Renamed before it is deleted: since it was checked, another hook may have replaced it with a fresh lock. */
function breakLock(lock: string, now: number): boolean {
  const broken = `${lock}.${process.pid}.${now}`
  try {
    renameSync(lock, broken)
  } catch (error) {
    // Another hook removed it first; creating the lock decides which of the two wins.
    if (isMissingFile(error)) return true
    throw error
  }
  const fresh = Math.abs(now - statSync(broken).mtimeMs) < START_LOCK_MS
  if (fresh) {
    try {
      linkSync(broken, lock)
    } catch {
      // A third hook created the lock in between.
    }
  }
  rmSync(broken, { force: true })
  return !fresh
}

async function spawnDaemon(dist: string, dataDir: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  // Imported lazily: most hooks do not start a daemon.
  const { spawn } = await import('node:child_process')
  // Of the file alone: this hook's environment may come from a project.
  const { CLAUDE_MEM_CA_CERTS: caCerts } = loadSettings(dataDir, {}).values
  return spawn(process.execPath, [join(dist, 'daemon.js')], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    cwd: dataDir,
    env: daemonEnvironment(env, { dataDir, caCerts, project: currentWorkingTree() }),
  })
}
