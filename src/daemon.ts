/** The daemon's process: puts the parts together, and takes them apart again. */
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Budget } from './actors/budget.ts'
import { type Log, Supervisor } from './actors/supervisor.ts'
import { readOrMakeToken } from './channel/access.ts'
import { LiveMemory } from './channel/live-memory.ts'
import { type DaemonLock, ownDataDirectory } from './channel/ownership.ts'
import { Projects } from './channel/projects.ts'
import { ChannelServer } from './channel/server.ts'
import { Service } from './channel/service.ts'
import { SpoolReader } from './channel/spool-reader.ts'
import { viewerDirectory } from './channel/viewer-files.ts'
import { fileLimits } from './context/files/limits.ts'
import { FileProjections } from './context/files/projections.ts'
import { ContextKeeper } from './context/keeper.ts'
import { contextSettings } from './context/options.ts'
import { Recall } from './context/recall.ts'
import { MemError, messageOf } from './errors.ts'
import { Housekeeping } from './housekeeping.ts'
import { LiveSettings } from './live-settings.ts'
import { fileLogger, logTo } from './log.ts'
import { makeObserver } from './observer/make.ts'
import { offlineObserver } from './observer/offline/index.ts'
import { dataDirectory, type Paths, pathsOf } from './paths.ts'
import { policyOf } from './policy.ts'
import { SearchGate } from './search/gate.ts'
import { Indexer } from './search/indexer.ts'
import { searchOptions } from './search/options.ts'
import { type LoadedSettings, loadSettings } from './settings.ts'
import { openStore } from './store/sqlite/client.ts'

/** An exit that hangs is worse than one that forgets to say goodbye, in ms. */
const FORCED_EXIT_MS = 8_000
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
  const loaded = loadSettings(paths.dataDir)
  const settings = loaded.values
  const log = logTo(
    fileLogger(paths.logs, settings.CLAUDE_MEM_LOG_LEVEL, settings.CLAUDE_MEM_KEEP_LOGS),
    options.terminal,
  )
  // Node ends the process as it would anyway; a detached daemon has no other way to say why.
  process.on('uncaughtExceptionMonitor', (error) => log('error', `crashed: ${messageOf(error)}`, { error }))
  try {
    const lock = await ownDataDirectory(paths, log)
    const daemon = await serve(paths, loaded, lock, log).catch((error: unknown) => {
      lock.release()
      throw error
    })
    startIsOver(paths)
    return daemon
  } catch (error) {
    log('error', `could not start: ${messageOf(error)}`, { error })
    // Another one serves. After any other failure the mark stays: hooks try again in a while, not with every tool use.
    if (error instanceof MemError && error.code === 'already_running') startIsOver(paths)
    throw error
  }
}

/** A hook that finds nobody may start the next one. */
function startIsOver(paths: Paths): void {
  rmSync(paths.starting, { force: true })
}

async function serve(paths: Paths, loaded: LoadedSettings, lock: DaemonLock, log: Log): Promise<Daemon> {
  const { values: settings, problems } = loaded
  const { observer, choice, problems: observerProblems } = await makeObserver(loaded, paths, process.env)
  const store = await openStore({
    databaseFile: paths.database,
    backupsDir: paths.backups,
    onExit: (error: unknown) => {
      log('error', `the store died: ${messageOf(error)}`)
      process.exit(1)
    },
  })
  const budget = new Budget({
    limits: () => ({ usd: settings.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: settings.CLAUDE_MEM_DAILY_BUDGET_TOKENS }),
    now: Date.now,
    spentSince: (dayStart) => store.spentSince(dayStart),
  })
  await budget.load()
  const asksModel = choice.setUp !== null
  const projects: Projects = new Projects({
    store,
    changed: (project) => {
      keeper.changed(project)
      files.changed(project)
    },
    moved: async (from, into) => await (await search.open()).moved(from, into),
    numbered: (seq) => supervisor.publish({ type: 'change', seq, at: Date.now(), change: 'projects' }),
    notice: (level, text) => supervisor.notice(level, text),
  })
  const spool = new SpoolReader(paths.spool, log, (text) => supervisor.notice('warn', text))
  const supervisor: Supervisor = new Supervisor({
    store,
    observer: () => observer,
    offlineObserver,
    noModel: () => (asksModel ? budget.reason : null),
    goesOffline: () => settings.CLAUDE_MEM_WHEN_UNAVAILABLE === 'offline',
    spent: (calls) => budget.add(calls),
    policy: () => policyOf(loaded, choice.provider === 'offline'),
    concurrency: () => settings.CLAUDE_MEM_EFFECT_CONCURRENCY,
    spool,
    filing: projects,
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
  const keeper = new ContextKeeper({
    reader: store,
    directory: paths.context,
    settings: () => contextSettings(settings),
    keyOf: (project) => projects.keyOf(project),
    waiting: () =>
      asksModel && budget.reason !== null ? { reason: budget.reason, offline: true } : supervisor.waiting,
    notice: (text, error) => supervisor.notice('warn', `${text}: ${messageOf(error)}`, { error }),
  })
  const files = new FileProjections({
    store,
    limits: () => fileLimits(settings),
    notice: (text) => supervisor.notice('warn', text),
  })
  const search = new SearchGate({
    options: () => searchOptions(settings, paths),
    notice: (text) => supervisor.notice('warn', text),
    log: (text) => log('info', text),
  })
  const indexer = new Indexer({
    store,
    search: () => search.open(),
    notice: (text) => supervisor.notice('warn', text),
    now: Date.now,
    busy: () => supervisor.idleSince === null,
  })
  supervisor.subscribe((item) => {
    // What people change by hand is told to the keeper where it is done.
    if (item.type !== 'commit') return
    const { project, observations, summaries, waiting } = item
    if (observations.length + summaries.length > 0) {
      keeper.changed(project)
      files.changed(project)
    }
    keeper.waits(project, waiting)
    if (observations.length > 0) indexer.wake()
  })
  for (const note of await store.startNotes()) supervisor.notice('warn', note)
  for (const text of [...problems.map(({ message }) => message), ...observerProblems]) supervisor.notice('warn', text)

  const liveSettings = new LiveSettings({
    dataDir: paths.dataDir,
    loaded,
    env: process.env,
    changed: () => {
      void keeper.refresh()
      void files.refresh()
    },
  })
  const service = new Service({
    supervisor,
    store,
    settings: liveSettings,
    memory: new LiveMemory({
      store,
      search: () => search.open(),
      indexer,
      keeper,
      files,
      keyOf: (project) => projects.keyOf(project),
      publish: (item) => supervisor.publish(item),
      keepBackups: () => settings.CLAUDE_MEM_KEEP_BACKUPS,
    }),
    keeper,
    projects,
    files,
    imported: (changed) => {
      for (const project of changed) {
        keeper.changed(project)
        files.changed(project)
      }
      indexer.wake()
    },
    recall: new Recall({
      store,
      search: () => search.open(),
      settings,
      keyOf: (project) => projects.keyOf(project),
      log: (text, error) => log('warn', `${text}: ${messageOf(error)}`, { error }),
    }),
    provider: () => ({ name: choice.provider, model: choice.setUp?.model ?? null }),
    budget: () => (asksModel ? budget.view : null),
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
    viewerDir: viewerDirectory(dirname(fileURLToPath(import.meta.url))),
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
    await projects.stop()
    await indexer.stop()
    await search.close()
    await keeper.flush()
    await files.flush()
    await channel.close()
    await store.close()
  }

  await projects.load()
  await supervisor.restore()
  await channel.listen()
  await supervisor.serve()
  // Whoever was killed may have left a file behind its database.
  void keeper.refresh()
  void files.refresh()
  indexer.wake()
  return { paths, port: channel.port, service, stop, stopped }
}

function prepareDataDirectory(paths: Paths): void {
  // Whatever is made from here on, by SQLite too, is its owner's alone.
  if (process.platform !== 'win32') process.umask(0o077)
  mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(paths.dataDir, 0o700)
}

/** Runs a daemon until it is told to stop. SIGHUP is left alone: a closed terminal must not end a detached daemon. */
export async function runDaemon(
  terminal: ((line: string) => void) | null,
  ready: (daemon: Daemon) => void,
): Promise<void> {
  // A daemon waits most of its life: a heap that is kept small is worth more to its user than the last bit of speed.
  setFlagsFromString('--optimize-for-size')
  let daemon: Daemon | null = null
  let asked: string | null = null
  const stop = (reason: string) => {
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref()
    asked = reason
    void daemon?.stop(reason)
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('SIGHUP', () => undefined)
  daemon = await startDaemon({ terminal })
  // Told to stop while it was starting: it leaves the way it would have later.
  if (asked !== null) void daemon.stop(asked)
  else ready(daemon)
  await daemon.stopped
}
