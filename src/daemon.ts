/** The daemon's process: puts the parts together, and takes them apart again. */
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import type { Policy } from '../machines/session/types.ts'
import { type Log, Supervisor } from './actors/supervisor.ts'
import { readOrMakeToken } from './channel/access.ts'
import { type DaemonLock, ownDataDirectory } from './channel/ownership.ts'
import { ChannelServer } from './channel/server.ts'
import { Service } from './channel/service.ts'
import { SpoolReader } from './channel/spool-reader.ts'
import { messageOf } from './errors.ts'
import { Housekeeping } from './housekeeping.ts'
import { fileLogger, logTo } from './log.ts'
import { plainObserver } from './observer/plain.ts'
import { dataDirectory, type Paths, pathsOf } from './paths.ts'
import { loadSettings, type SettingProblem, type Settings } from './settings.ts'
import { openStore } from './store/sqlite/client.ts'

/** An exit that hangs is worse than one that forgets to say goodbye, in ms. */
const FORCED_EXIT_MS = 8_000
const SILENCE_MS = 24 * 3_600_000
const MAX_ATTEMPTS = 3
/** Exit code when another daemon serves the data directory. */
export const EXIT_ALREADY_RUNNING = 3

export interface Daemon {
  paths: Paths
  port: number | null
  service: Service
  stop(reason: string): Promise<void>
  /** Resolves once everything is let go of. */
  stopped: Promise<void>
}

export async function startDaemon(options: { terminal: ((line: string) => void) | null }): Promise<Daemon> {
  const paths = pathsOf(dataDirectory())
  prepareDataDirectory(paths)
  const { values: settings, problems } = loadSettings(paths.dataDir)
  const log = logTo(
    fileLogger(paths.logs, settings.CLAUDE_MEM_LOG_LEVEL, settings.CLAUDE_MEM_KEEP_LOGS),
    options.terminal,
  )
  try {
    const lock = await ownDataDirectory(paths, log)
    try {
      return await serve(paths, settings, problems, lock, log)
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    log('error', `could not start: ${messageOf(error)}`, { error })
    throw error
  } finally {
    // However it went, this start is over: a hook that finds nobody may try the next one.
    rmSync(paths.starting, { force: true })
  }
}

async function serve(
  paths: Paths,
  settings: Settings,
  problems: readonly SettingProblem[],
  lock: DaemonLock,
  log: Log,
): Promise<Daemon> {
  const store = await openStore({
    databaseFile: paths.database,
    backupsDir: paths.backups,
    onExit: (error: unknown) => {
      log('error', `the store died: ${messageOf(error)}`)
      process.exit(1)
    },
  })
  const spool = new SpoolReader(paths.spool, log, (text) => supervisor.notice('warn', text))
  const supervisor: Supervisor = new Supervisor({
    store,
    observer: () => plainObserver,
    policy: () => policyOf(settings),
    concurrency: () => settings.CLAUDE_MEM_EFFECT_CONCURRENCY,
    spool,
    log,
    freshId: randomUUID,
    housekeeping: () => housekeeping.run(),
  })
  const housekeeping = new Housekeeping({
    store,
    settings,
    supervisor,
    log,
    connections: () => channel.connections,
    stop: (reason) => void stop(reason),
  })
  for (const note of await store.startNotes()) supervisor.notice('warn', note)
  for (const problem of problems) supervisor.notice('warn', problem.message)

  const service = new Service({
    supervisor,
    store,
    provider: () => plainObserver.provider,
    dataDir: paths.dataDir,
    socket: paths.socket,
    port: () => channel.port,
    spooled: () => spool.size,
    keepBackups: () => settings.CLAUDE_MEM_KEEP_BACKUPS,
    stop: (reason) => void stop(reason),
  })
  const channel: ChannelServer = new ChannelServer({
    paths,
    token: readOrMakeToken(paths.token),
    service,
    port: settings.CLAUDE_MEM_WORKER_PORT,
    maxMessageBytes: settings.CLAUDE_MEM_MAX_MESSAGE_KB * 1024,
    seq: await store.lastSeq(),
    log,
  })

  let stopping: Promise<void> | null = null
  let letGo: () => void = () => undefined
  const stopped = new Promise<void>((resolve) => {
    letGo = resolve
  })
  function stop(reason: string): Promise<void> {
    stopping ??= shutDown(reason)
      .catch((error: unknown) => log('error', `did not stop cleanly: ${messageOf(error)}`, { error }))
      .finally(() => {
        lock.release()
        log('info', 'stopped')
        letGo()
      })
    return stopping
  }
  async function shutDown(reason: string): Promise<void> {
    log('info', 'stopping', { reason })
    await supervisor.drain(reason)
    await channel.close()
    await store.close()
  }

  await supervisor.restore()
  await channel.listen()
  await supervisor.serve()
  return { paths, port: channel.port, service, stop, stopped }
}

function prepareDataDirectory(paths: Paths): void {
  mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(paths.dataDir, 0o700)
}

export function policyOf(settings: Settings): Policy {
  return {
    batching: settings.CLAUDE_MEM_BATCHING_ENABLED,
    batchMaxSize: settings.CLAUDE_MEM_BATCH_MAX_SIZE,
    idleFlushMs: settings.CLAUDE_MEM_IDLE_FLUSH_MINUTES * 60_000,
    silenceMs: SILENCE_MS,
    effectTimeoutMs: settings.CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000,
    compactTokens: settings.CLAUDE_MEM_COMPACT_TOKENS,
    maxAttempts: MAX_ATTEMPTS,
  }
}

/** Runs a daemon until it is told to stop. SIGHUP is left alone: a closed terminal must not end a detached daemon. */
export async function runDaemon(
  terminal: ((line: string) => void) | null,
  ready: (daemon: Daemon) => void,
): Promise<void> {
  const daemon = await startDaemon({ terminal })
  const stop = (reason: string) => {
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref()
    void daemon.stop(reason)
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('SIGHUP', () => undefined)
  ready(daemon)
  await daemon.stopped
}
