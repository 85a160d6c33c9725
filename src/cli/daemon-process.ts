/** Starts and stops the daemon process. It is stopped by a request, so that it can finish its work; only one that hangs by a signal. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonStatus } from '../api/operations/daemon.ts'
import { currentWorkingTree } from '../domain/project.ts'
import { daemonEnvironment } from '../lib/daemon-environment.ts'
import { errorMessage, isUnresponsive, MemError } from '../lib/errors.ts'
import { makeDataDirectory } from '../lib/files.ts'
import { daemonDist, isReplacedProgram } from '../lib/installed-program.ts'
import { prepareSocketDirectory } from '../lib/own-directory.ts'
import { loadDatabaseDriver } from '../lib/packages.ts'
import type { Paths } from '../lib/paths.ts'
import { compareVersions, VERSION } from '../lib/version.ts'
import { loadSettings } from '../settings/settings.ts'
import type { DaemonClient } from '../transport/client.ts'
import { tryLock } from '../transport/daemon-lock.ts'
import { lockHolder } from '../transport/lock-holder.ts'
import type { Cli } from './cli.ts'
import { isNotRunning, withDaemonIfRunning } from './daemon-connection.ts'
import { lastLoggedError } from './log-files.ts'

/** A daemon drains for at most 5 s and starts in less than 1 s; after twice that something is wrong. */
const TIMEOUT_MS = 10_000
const POLL_MS = 50
/** A daemon removes its socket first and then closes its database, which takes at most this long. */
const CLOSE_TIMEOUT_MS = 3_000
/** A faster start or stop prints no progress line. */
const PROGRESS_DELAY_MS = 300

interface StartedDaemon {
  status: DaemonStatus
  wasRunning: boolean
}

interface StartOptions {
  /** The user asked for a daemon with the environment of their terminal. Otherwise see daemon-environment.ts. */
  keepEnvironment?: boolean
}

/** Resolves with a running daemon of this version or a newer one; starts one if needed. */
export async function ensureDaemonRunning(cli: Cli, options: StartOptions = {}): Promise<StartedDaemon> {
  const { paths } = cli
  await ensureDatabaseDriver(cli)
  // A daemon that is closing its socket may not answer properly: the one started below waits for its lock.
  prepareSocketDirectory(paths)
  const running = await fetchDaemonStatus(paths).catch((error: unknown) => {
    if (isUnresponsive(error)) throw error
    return null
  })
  if (running !== null && running.state !== 'draining' && running.state !== 'stopped') {
    const isCurrent = compareVersions(running.version, VERSION) >= 0 || isReplacedProgram(paths, cli.dist)
    if (isCurrent) return { status: running, wasRunning: true }
  } else if (running !== null) {
    await waitUntilStopped(cli, running.pid, 'Waiting for the previous daemon to stop')
  }
  const child = launchDaemon(cli, options)
  const status = await pollUntil(cli, 'Starting claude-mem', async () => {
    // Read before asking for the status: our process may have exited because another daemon started first, which then answers.
    const { failure } = child
    const current = await fetchDaemonStatus(paths).catch(() => null)
    // An older daemon answers until it has handed over.
    if (current !== null && current.pid !== running?.pid) return current
    if (failure !== null) throw startError(paths, failure, child.pid)
    return null
  })
  if (status !== null) return { status, wasRunning: false }
  throw new MemError('not_running', `the daemon did not answer within ${TIMEOUT_MS / 1000} s; see: claude-mem logs`)
}

/** The daemon would fetch it itself, but without a progress bar, and longer than a start may take. */
export async function ensureDatabaseDriver(cli: Cli): Promise<void> {
  if (loadDatabaseDriver(cli.paths.packages).driver !== null) return
  const { fetchWithProgress } = await import('./commands/packages.ts')
  await fetchWithProgress(cli, 'better-sqlite3')
}

interface StoppedDaemon {
  pid: number
  /** It did not answer, so its process was ended. */
  hung: boolean
}

/** Resolves when the daemon has stopped; null if none was running. One that does not answer is ended if it is surely ours. */
export async function stopDaemon(cli: Cli): Promise<StoppedDaemon | null> {
  let pid: number | null
  try {
    pid = await withDaemonIfRunning(cli.paths, askToStop)
  } catch (error) {
    const holder = isUnresponsive(error) ? lockHolder(cli.paths) : null
    if (holder === null) throw error
    await endHungDaemon(cli, holder)
    return { pid: holder, hung: true }
  }
  if (pid === null) return null
  await waitUntilStopped(cli, pid, 'Stopping claude-mem')
  return { pid, hung: false }
}

async function askToStop(client: DaemonClient): Promise<number> {
  const { pid } = await client.call('hello', { version: VERSION })
  // It may close the connection before its answer is sent.
  await client.call('stop').catch(ignoreNotRunning)
  return pid
}

/** How long a hung daemon may take to end in order, in ms. */
const ORDERLY_END_MS = 3_000

/** Nothing that it acknowledged is lost. */
async function endHungDaemon(cli: Cli, pid: number): Promise<void> {
  const activity = `Ending the daemon (pid ${pid}), which does not answer`
  const hasEnded = async () => (lockHolder(cli.paths) === pid ? null : true)
  // One that was only suspended continues, and ends in order.
  process.kill(pid, 'SIGTERM')
  process.kill(pid, 'SIGCONT')
  if ((await pollUntil(cli, activity, hasEnded, ORDERLY_END_MS)) !== null) return
  process.kill(pid, 'SIGKILL')
  if ((await pollUntil(cli, activity, hasEnded)) !== null) return
  throw new MemError('unresponsive', `the daemon (pid ${pid}) does not answer and cannot be ended; end that process`)
}

/** Null if no daemon is running. */
export async function fetchDaemonStatus(paths: Paths): Promise<DaemonStatus | null> {
  const answer = await withDaemonIfRunning(paths, (client) => client.call('status').catch(ignoreNotRunning))
  return answer?.status ?? null
}

function ignoreNotRunning(error: unknown): null {
  if (isNotRunning(error)) return null
  throw error
}

interface LaunchedProcess {
  pid: number | undefined
  failure: string | null
}

function launchDaemon(cli: Cli, { keepEnvironment = false }: StartOptions): LaunchedProcess {
  const file = join(daemonDist(cli.paths, cli.dist), 'daemon.js')
  if (!existsSync(file)) throw new MemError('internal', `${file} is missing; install claude-mem again`)
  const { dataDir } = cli.paths
  makeDataDirectory(dataDir)
  const { CLAUDE_MEM_CA_CERTS: caCerts } = loadSettings(dataDir, {}).values
  const child = spawn(process.execPath, [file], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    // The current directory would be busy as long as the daemon runs.
    cwd: dataDir,
    env: keepEnvironment
      ? { ...(caCerts === '' ? {} : { NODE_EXTRA_CA_CERTS: caCerts }), ...cli.env, CLAUDE_MEM_DATA_DIR: dataDir }
      : daemonEnvironment(cli.env, { dataDir, caCerts, project: currentWorkingTree() }),
  })
  const launched: LaunchedProcess = { pid: child.pid, failure: null }
  child.on('error', (error) => {
    launched.failure = errorMessage(error)
  })
  child.on('exit', (code, signal) => {
    launched.failure = signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  child.unref()
  return launched
}

function startError(paths: Paths, failure: string, pid: number | undefined): MemError {
  const logged = pid === undefined ? null : lastLoggedError(paths.logs, pid)
  return new MemError(
    'not_running',
    logged ?? `the daemon exited at its start (${failure}); to see why: claude-mem doctor`,
  )
}

async function waitUntilStopped(cli: Cli, pid: number, activity: string): Promise<void> {
  const stopped = await pollUntil(cli, activity, async () => ((await answeringPid(cli.paths)) === pid ? null : true))
  if (stopped === null) {
    const text = `the daemon (pid ${pid}) is still stopping after ${TIMEOUT_MS / 1000} s`
    throw new MemError('already_running', `${text}; try again later, or end that process (see: claude-mem logs)`)
  }
  const deadline = Date.now() + CLOSE_TIMEOUT_MS
  while (!isLockFree(cli.paths) && Date.now() < deadline) {
    // A hook may have started the next daemon, which then holds the lock.
    if ((await answeringPid(cli.paths)) !== null) return
    await sleep(POLL_MS)
  }
}

async function answeringPid(paths: Paths): Promise<number | null> {
  const hello = withDaemonIfRunning(paths, (client) => client.call('hello', { version: VERSION }))
  return (await hello.catch(() => null))?.pid ?? null
}

/** A daemon releases its lock last. */
function isLockFree(paths: Paths): boolean {
  const lock = tryLock(paths.lock)
  lock?.release()
  return lock !== null
}

/** Null: timeout. */
async function pollUntil<T>(
  cli: Cli,
  activity: string,
  check: () => Promise<T | null>,
  timeoutMs = TIMEOUT_MS,
): Promise<T | null> {
  const startedAt = Date.now()
  try {
    for (;;) {
      const result = await check()
      const elapsedMs = Date.now() - startedAt
      if (result !== null || elapsedMs > timeoutMs) return result
      if (elapsedMs > PROGRESS_DELAY_MS) cli.progress(`${activity} … ${(elapsedMs / 1000).toFixed(1)} s`)
      await sleep(POLL_MS)
    }
  } finally {
    cli.progress('')
  }
}
