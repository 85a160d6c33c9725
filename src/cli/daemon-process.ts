/** Starting and stopping the daemon from outside: it is asked, never signalled. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelClient } from '../channel/client.ts'
import { takeLock } from '../channel/ownership.ts'
import type { Status } from '../channel/protocol.ts'
import { MemError, messageOf } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { compareVersions, VERSION } from '../version.ts'
import type { Cli } from './cli.ts'
import { lastErrorOf } from './log-files.ts'
import { connectIfRunning } from './reader.ts'

/** A daemon drains for five seconds at most and starts in less than one; twice that, and something is wrong. */
const PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 50
/** After its socket is gone a daemon closes its database, in ms. */
const CLOSE_MS = 3_000
/** A start that takes no longer than this needs no progress line, in ms. */
const QUIET_MS = 300

export interface Started {
  status: Status
  /** It ran before. */
  already: boolean
}

/** A running daemon of this version or a newer one, started if need be. */
export async function ensureStarted(cli: Cli): Promise<Started> {
  const { paths } = cli
  // One that closes the door just now does not answer properly: the one we start waits for its lock.
  const running = await askStatus(paths).catch(() => null)
  if (running !== null && running.state !== 'draining' && running.state !== 'stopped') {
    if (compareVersions(running.version, VERSION) >= 0) return { status: running, already: true }
  } else if (running !== null) {
    await untilGone(cli, running.pid, 'Waiting for the daemon that stops')
  }
  const daemon = launch(cli)
  const status = await until(cli, 'Starting claude-mem', async () => {
    // Looked at first: ours may have ended because another one was faster, which then answers.
    const { failure } = daemon
    const now = await askStatus(paths).catch(() => null)
    // An older daemon answers until it has handed over.
    if (now !== null && now.pid !== running?.pid) return now
    if (failure !== null) throw startFailure(paths, failure, daemon.pid)
    return null
  })
  if (status !== null) return { status, already: false }
  throw new MemError('not_running', `the daemon did not answer within ${PATIENCE_MS / 1000} s; see: claude-mem logs`)
}

/** The daemon that was running, null when there was none. */
export async function stopDaemon(cli: Cli): Promise<{ pid: number } | null> {
  const client = await connectIfRunning(cli.paths)
  if (client === null) return null
  const { pid } = await hello(client)
  try {
    await client.request('done', { type: 'stop' })
  } catch (error) {
    // It may close the connection before its answer is out.
    if (!(error instanceof MemError && error.code === 'not_running')) throw error
  } finally {
    client.close()
  }
  await untilGone(cli, pid, 'Stopping claude-mem')
  return { pid }
}

export async function askStatus(paths: Paths): Promise<Status | null> {
  const client = await connectIfRunning(paths)
  if (client === null) return null
  try {
    return (await client.request('status', { type: 'status' })).status
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_running') return null
    throw error
  } finally {
    client.close()
  }
}

function hello(client: ChannelClient) {
  return client.request('hello', { type: 'hello', version: VERSION })
}

interface Launched {
  pid: number | undefined
  failure: string | null
}

function launch(cli: Cli): Launched {
  const file = join(cli.dist, 'daemon.js')
  if (!existsSync(file)) throw new MemError('internal', `${file} is missing; install claude-mem again`)
  const { dataDir } = cli.paths
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const child = spawn(process.execPath, [file], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    // A daemon must not keep the directory busy that it happened to be started from; its own path stays absolute.
    cwd: dataDir,
    env: { ...cli.env, CLAUDE_MEM_DATA_DIR: dataDir },
  })
  const launched: Launched = { pid: child.pid, failure: null }
  child.on('error', (error) => {
    launched.failure = messageOf(error)
  })
  child.on('exit', (code, signal) => {
    launched.failure = signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  child.unref()
  return launched
}

function startFailure(paths: Paths, failure: string, pid: number | undefined): MemError {
  const said = pid === undefined ? null : lastErrorOf(paths.logs, pid)
  return new MemError('not_running', said ?? `the daemon ended at its start (${failure}); see: claude-mem logs`)
}

async function untilGone(cli: Cli, pid: number, doing: string): Promise<void> {
  const gone = await until(cli, doing, async () => ((await pidThatAnswers(cli.paths)) === pid ? null : true))
  if (gone === null) {
    throw new MemError('already_running', `the daemon (pid ${pid}) is still stopping after ${PATIENCE_MS / 1000} s`)
  }
  const deadline = Date.now() + CLOSE_MS
  while (!isFree(cli.paths) && Date.now() < deadline) {
    // A hook may have started the next one, which then holds it.
    if ((await pidThatAnswers(cli.paths)) !== null) return
    await sleep(LOOK_AGAIN_MS)
  }
}

async function pidThatAnswers(paths: Paths): Promise<number | null> {
  const client = await connectIfRunning(paths).catch(() => null)
  if (client === null) return null
  try {
    return (await hello(client)).pid
  } catch {
    return null
  } finally {
    client.close()
  }
}

/** The last thing that a daemon lets go of is its lock. */
function isFree(paths: Paths): boolean {
  const lock = takeLock(paths.lock)
  lock?.release()
  return lock !== null
}

async function until<T>(cli: Cli, doing: string, look: () => Promise<T | null>): Promise<T | null> {
  const start = Date.now()
  try {
    for (;;) {
      const found = await look()
      const waited = Date.now() - start
      if (found !== null || waited > PATIENCE_MS) return found
      if (waited > QUIET_MS) cli.progress(`${doing} … ${(waited / 1000).toFixed(1)} s`)
      await sleep(LOOK_AGAIN_MS)
    }
  } finally {
    cli.progress('')
  }
}
