/** The composition root: creates the daemon's parts, connects them, starts and stops them. */
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import type { DaemonContext } from '../api/context.ts'
import { FileSections } from '../context/files/file-sections.ts'
import { fileLimits } from '../context/files/section-content.ts'
import { renderNotes } from '../context/message.ts'
import { contextSettings } from '../context/options.ts'
import { Recall } from '../context/recall.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { forceExit } from '../lib/exit.ts'
import { commandCall, isReplacedProgram } from '../lib/installed-program.ts'
import { fileLogger, type Log, loggedMessage, logTo } from '../lib/log.ts'
import { prepareSocketDirectory } from '../lib/own-directory.ts'
import { dataDirectory, dataPaths, type Paths } from '../lib/paths.ts'
import { recordStartFailure } from '../lib/start-failure.ts'
import { removeStaleTemporary } from '../lib/temporary.ts'
import { type ConfiguredObserver, makeObserver } from '../observer/make-observer.ts'
import { offlineObserver } from '../observer/offline/index.ts'
import { makePassageFilter } from '../observer/passage-filter.ts'
import { Indexer } from '../search/indexer.ts'
import { LazySearchThread, searchOptions } from '../search/search-thread.ts'
import { type LoadedSettings, loadSettings, unusedExclusions } from '../settings/settings.ts'
import type { Store, StoreReader } from '../store/port.ts'
import { recentRecoveryNotes, takeRecoveryNotes } from '../store/recovery/recovery-notes.ts'
import { openReaderThread, openStore } from '../store/sqlite/client.ts'
import { postgresServer } from '../team/server.ts'
import { Team } from '../team/team.ts'
import { readOrMakeToken } from '../transport/access.ts'
import { type DaemonLock, lockDataDirectory } from '../transport/daemon-lock.ts'
import { DaemonServer } from '../transport/server.ts'
import { SpoolReader } from '../transport/spool-reader.ts'
import { viewerDirectory } from '../transport/viewer-access.ts'
import { DailyBudget } from './actors/model-calls.ts'
import type { StreamItem } from './actors/stream.ts'
import { Supervisor, sessionPolicy } from './actors/supervisor.ts'
import { DirectoryWatch } from './directory-watch.ts'
import { DiskReserve } from './disk-reserve.ts'
import { EventIntake } from './event-intake.ts'
import { Forgetting } from './forgetting.ts'
import { ForgottenCopies } from './forgotten-copies.ts'
import { Housekeeping } from './housekeeping.ts'
import { LiveSettings } from './live-settings.ts'
import { MemoryChanges } from './memory-changes.ts'
import { Projects } from './projects.ts'
import { QueueWatch } from './queue-watch.ts'
import { RenderedContextCache } from './rendered-context-cache.ts'
import { RestartLimit, StoreHealth } from './store-health.ts'
import { TranscriptWords } from './transcript-words.ts'

/** After this time a stop that hangs becomes a forced exit, in ms. */
const FORCED_EXIT_MS = 8_000

export interface Daemon {
  paths: Paths
  port: number | null
  stop(reason: string): Promise<void>
  /** Resolves once everything is released. `restart`: the daemon is started again to recover its database. */
  stopped: Promise<{ restart: boolean }>
}

interface StartOptions {
  terminal: ((line: string) => void) | null
  /** Whether the daemon may start again because of a damaged database; asked when it is found. */
  mayRestart: () => boolean
}

export async function startDaemon(options: StartOptions): Promise<Daemon> {
  const paths = dataPaths(dataDirectory())
  prepareDataDirectory(paths)
  const loaded = loadSettings(paths.dataDir)
  const { CLAUDE_MEM_LOG_LEVEL: level, CLAUDE_MEM_KEEP_LOGS: keep } = loaded.values
  const log = logTo(fileLogger(paths.logs, level, keep), options.terminal)
  // Node ends the process anyway; a detached daemon has no other place to report why.
  process.removeAllListeners('uncaughtExceptionMonitor')
  process.on('uncaughtExceptionMonitor', (error) => log('error', `crashed: ${loggedMessage(error)}`, { error }))
  try {
    const lock = await lockDataDirectory(paths, log)
    refuseReplaced(paths, lock)
    const daemon = await openAndServe(paths, loaded, lock, log, options.mayRestart).catch((error: unknown) => {
      lock.release()
      throw error
    })
    removeStartMark(paths)
    for (const outdated of [paths.startFailure, paths.hung]) rmSync(outdated, { force: true })
    return daemon
  } catch (error) {
    log('error', `could not start: ${errorMessage(error)}`, { error })
    // After any other failure the mark stays: hooks then retry the start after a while, not with every tool use.
    if (error instanceof MemError && error.code === 'already_running') removeStartMark(paths)
    throw error
  }
}

/** While the mark exists, hooks do not start another daemon. */
function removeStartMark(paths: Paths): void {
  rmSync(paths.starting, { force: true })
}

async function openAndServe(
  paths: Paths,
  loaded: LoadedSettings,
  lock: DaemonLock,
  log: Log,
  mayRestart: () => boolean,
): Promise<Daemon> {
  const { values: settings } = loaded
  const observer = await makeObserver(loaded, paths, process.env)
  let parts: DaemonParts | null = null
  const health = new StoreHealth((reason) => parts?.onDamage(reason))
  const opened = await openStore({
    databaseFile: paths.database,
    backupsDir: paths.backups,
    reserveFile: paths.reserve,
    onExit: (error: unknown) => {
      if (parts === null) recordStartFailure(paths, error)
      log('error', `the store thread died, so the daemon exits: ${errorMessage(error)}`)
      forceExit()
    },
  })
  const store = health.watch(opened)
  const budget = new DailyBudget({
    limits: () => ({ usd: settings.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: settings.CLAUDE_MEM_DAILY_BUDGET_TOKENS }),
    now: Date.now,
    spentSince: (dayStart) => store.spentSince(dayStart),
  })
  await budget.load()
  const seq = await store.lastSeq()
  parts = new DaemonParts({ paths, loaded, lock, log, observer, store, health, budget, seq, mayRestart })
  await parts.start()
  return parts
}

interface DaemonBase {
  paths: Paths
  /** Changed in place by `LiveSettings`. */
  loaded: LoadedSettings
  lock: DaemonLock
  log: Log
  observer: ConfiguredObserver
  store: Store
  health: StoreHealth
  budget: DailyBudget
  /** The newest number of the live stream. */
  seq: number
  mayRestart: () => boolean
}

/** Longest time that a search waits for what was stored a moment ago. */
const INDEX_BEFORE_SEARCH_MS = 300

/** The parts refer to each other through `this`, so closures may name parts that are created later. */
class DaemonParts implements Daemon {
  readonly #base: DaemonBase
  readonly #projects: Projects
  readonly #spool: SpoolReader
  readonly #queueWatch: QueueWatch
  readonly #supervisor: Supervisor
  readonly #contextCache: RenderedContextCache
  readonly #files: FileSections
  readonly #search: LazySearchThread
  readonly #indexer: Indexer
  /** What clients ask for. Actors read from the store itself: a long read would make their hooks wait. */
  readonly #reader: StoreReader
  readonly #memory: MemoryChanges
  readonly #forgetting: Forgetting
  readonly #team: Team
  readonly #server: DaemonServer
  readonly #directory: DirectoryWatch
  /** The name of this machine's user in a team. */
  readonly #me = (): string | null => this.#team.author ?? (this.#base.loaded.values.CLAUDE_MEM_TEAM_AUTHOR || null)
  readonly #warn = (text: string): void => this.#supervisor.notice('warn', text)
  readonly stopped: Promise<{ restart: boolean }>
  #released: (result: { restart: boolean }) => void = () => undefined
  #restart = false
  #stopping: Promise<void> | null = null

  constructor(base: DaemonBase) {
    this.#base = base
    this.stopped = new Promise((resolve) => {
      this.#released = resolve
    })
    this.#projects = this.#createProjects()
    this.#spool = this.#createSpoolReader()
    this.#queueWatch = this.#createQueueWatch()
    this.#supervisor = this.#createSupervisor()
    this.#contextCache = this.#createRenderedContextCache()
    this.#files = this.#createFileSections()
    this.#search = this.#createSearch()
    this.#indexer = this.#createIndexer()
    this.#reader = base.health.watch(
      openReaderThread({ databaseFile: base.paths.database, log: (text) => base.log('warn', text) }),
    )
    this.#memory = this.#createMemoryChanges()
    this.#forgetting = this.#createForgetting()
    this.#team = this.#createTeam()
    this.#server = this.#createServer()
    this.#directory = this.#createDirectoryWatch()
    this.#supervisor.subscribe((item) => this.#updateDerivedData(item))
  }

  get paths(): Paths {
    return this.#base.paths
  }
  get port(): number | null {
    return this.#server.port
  }

  async start(): Promise<void> {
    const { store, loaded, observer, paths } = this.#base
    // Of recoveries by daemons that ended since.
    for (const { at, text } of recentRecoveryNotes(paths.database, Date.now())) {
      this.#supervisor.notices.add(at, 'warn', text)
    }
    const problems = [...loaded.problems.map(({ message }) => message), ...observer.problems]
    for (const text of [...(await store.startupNotes()), ...problems]) this.#supervisor.notice('warn', text)
    await this.#projects.load()
    await this.#supervisor.restore()
    await this.#team.start()
    await this.#server.listen()
    await this.#supervisor.serve()
    this.#directory.start()
    // A daemon that was killed may have left files that are older than its database.
    void this.#contextCache.refresh()
    void this.#files.refresh()
    void this.#projects.directories.adoptKnown()
    this.#indexer.wake()
  }

  stop(reason: string): Promise<void> {
    this.#stopping ??= this.#stopWithDeadline(reason)
    return this.#stopping
  }

  /** Hooks write to the spool until the daemon serves again. */
  onDamage(reason: string): void {
    if (!this.#base.mayRestart()) {
      const next = 'hooks write to the spool, and nothing is stored. Check the disk, then run: claude-mem restart'
      this.#supervisor.notice('error', `the database is damaged again after several recoveries (${reason}); ${next}`)
      return
    }
    this.#supervisor.notice('error', `the database is damaged, so the daemon starts again to recover it: ${reason}`)
    this.#restart = true
    void this.stop('the database is damaged')
  }

  /** The deadline holds for every reason to stop: a newer daemon or the user waits for the data directory. */
  async #stopWithDeadline(reason: string): Promise<void> {
    const { lock, log } = this.#base
    const deadline = setTimeout(() => {
      log('error', 'did not stop in time, so the process is killed; nothing that was acknowledged is lost', { reason })
      forceExit()
    }, FORCED_EXIT_MS)
    await this.#shutDown(reason)
    clearTimeout(deadline)
    lock.release()
    log('info', 'stopped')
    this.#released({ restart: this.#restart })
  }

  async #shutDown(reason: string): Promise<void> {
    this.#base.log('info', 'stopping', { reason })
    this.#directory.stop()
    await this.#stopPart('supervisor', () => this.#supervisor.drain(reason))
    await this.#stopPart('team', () => this.#team.stop())
    await this.#stopPart('projects', () => this.#projects.stop())
    await this.#stopPart('indexer', () => this.#indexer.stop())
    await this.#stopPart('search', () => this.#search.close())
    await this.#stopPart('contexts', () => this.#contextCache.flush())
    await this.#stopPart('files', () => this.#files.flush())
    await this.#stopPart('server', () => this.#server.close())
    await this.#stopPart('reader', () => this.#reader.close())
    await this.#stopPart('store', () => this.#base.store.close())
  }

  /** A part that fails to stop, as with a damaged database, does not keep the others from it. */
  async #stopPart(name: string, stop: () => Promise<unknown>): Promise<void> {
    try {
      await stop()
    } catch (error) {
      this.#base.log('error', `the part ${name} did not stop cleanly: ${errorMessage(error)}`, { error })
    }
  }

  #createProjects(): Projects {
    return new Projects({
      store: this.#base.store,
      changed: (project) => this.#projectChanged(project),
      moved: async (from, into) => await (await this.#search.open()).moved(from, into),
      publish: (seq) => this.#supervisor.publish({ type: 'change', seq, at: Date.now(), change: 'projects' }),
      notice: (level, text) => this.#supervisor.notice(level, text),
      together: () => this.#base.loaded.values.CLAUDE_MEM_CLONES === 'together',
      isShared: async (key) => (await this.#base.store.sharedProjects()).some(({ project }) => project === key),
    })
  }

  #createSpoolReader(): SpoolReader {
    const { paths, log, loaded } = this.#base
    const words = new TranscriptWords()
    const mayBeKept = (event: MemoryEvent) => this.#supervisor.clean(event).type === 'event'
    return new SpoolReader(paths.spool, log, this.#warn, (event) =>
      words.complete(event, mayBeKept, loaded.values.CLAUDE_MEM_EXCLUDED_PROJECTS),
    )
  }

  #createQueueWatch(): QueueWatch {
    const { loaded, budget } = this.#base
    return new QueueWatch({
      settings: loaded.values,
      waiting: () => this.#supervisor.waiting,
      budgetReason: () => (this.#usesModel ? budget.reason : null),
      notice: (level, text) => this.#supervisor.notice(level, text),
    })
  }

  #createSupervisor(): Supervisor {
    const { paths, store, loaded, log, observer, budget } = this.#base
    const settings = loaded.values
    const supervisor = new Supervisor({
      store,
      observer: () => observer.observer,
      offlineObserver,
      modelDisabledReason: () => (this.#usesModel ? budget.reason : null),
      fallsBackToOffline: () => settings.CLAUDE_MEM_WHEN_UNAVAILABLE === 'offline',
      answersAgain: () => rmSync(this.#base.paths.hung, { force: true }),
      onModelCallsStored: (calls) => budget.add(calls),
      cleaningRules: () => settings,
      keepsPayloads: () => settings.CLAUDE_MEM_KEEP_PAYLOADS_DAYS > 0,
      mayBePassage: makePassageFilter({
        tools: settings.CLAUDE_MEM_NEVER_SEND_TOOLS,
        paths: settings.CLAUDE_MEM_NEVER_SEND_PATHS,
      }),
      keepsPassages: () => settings.CLAUDE_MEM_PASSAGE_DAYS > 0 && settings.CLAUDE_MEM_PASSAGE_MB > 0,
      passagesStored: (project) => {
        this.#team.changed(project)
        this.#contextCache.outdated(project)
        this.#indexer.wakeForWords()
      },
      policy: () => sessionPolicy(loaded, observer.choice.provider === 'offline'),
      concurrency: () => settings.CLAUDE_MEM_EFFECT_CONCURRENCY,
      spool: this.#spool,
      projectKeys: this.#projects,
      log,
      freshId: randomUUID,
      housekeeping: () => housekeeping.run(),
    })
    const housekeeping = new Housekeeping({
      store,
      settings,
      supervisor,
      log,
      connections: () => this.#server.connections,
      reserve: new DiskReserve({ file: paths.reserve, notice: (level, text) => supervisor.notice(level, text) }),
      queueWatch: this.#queueWatch,
      stop: (reason) => void this.stop(reason),
      removed: () => this.#contextCache.outdated(),
    })
    return supervisor
  }

  #createRenderedContextCache(): RenderedContextCache {
    const { store, paths, loaded, budget } = this.#base
    return new RenderedContextCache({
      reader: store,
      directory: paths.context,
      command: () => commandCall(paths),
      settings: () => contextSettings(loaded.values),
      me: this.#me,
      keyOf: (project) => this.#projects.keyOf(project),
      waiting: () => {
        if (this.#usesModel && budget.reason !== null) return { reason: budget.reason, offline: true }
        const alert = this.#queueWatch.alert
        return this.#supervisor.waiting ?? (alert === null ? null : { reason: alert.text, offline: false })
      },
      notice: (text, error) => this.#supervisor.notice('warn', `${text}: ${errorMessage(error)}`, { error }),
    })
  }

  #createFileSections(): FileSections {
    const { store, loaded } = this.#base
    return new FileSections({ store, limits: () => fileLimits(loaded.values), me: this.#me, notice: this.#warn })
  }

  #createSearch(): LazySearchThread {
    const { paths, loaded, log } = this.#base
    return new LazySearchThread({
      options: () => searchOptions(loaded.values, paths),
      notice: this.#warn,
      log: (text) => log('info', text),
    })
  }

  #createIndexer(): Indexer {
    return new Indexer({
      store: this.#base.store,
      search: () => this.#search.open(),
      notice: this.#warn,
      now: Date.now,
      busy: () => this.#supervisor.idleSince === null,
      linked: (project) => this.#contextCache.changed(project),
    })
  }

  #createMemoryChanges(): MemoryChanges {
    return new MemoryChanges({
      store: this.#base.store,
      search: () => this.#search.open(),
      indexer: this.#indexer,
      contextCache: this.#contextCache,
      files: this.#files,
      keyOf: (project) => this.#projects.keyOf(project),
      publish: (item) => this.#supervisor.publish(item),
      me: this.#me,
    })
  }

  #createForgetting(): Forgetting {
    const { store, loaded } = this.#base
    return new Forgetting({
      store,
      sessions: this.#supervisor,
      search: () => this.#search.open(),
      indexer: this.#indexer,
      contextCache: this.#contextCache,
      files: this.#files,
      publish: (item) => this.#supervisor.publish(item),
      me: this.#me,
      keepBackups: () => loaded.values.CLAUDE_MEM_KEEP_BACKUPS,
    })
  }

  #createTeam(): Team {
    const { paths, store, loaded, log } = this.#base
    return new Team({
      paths,
      store,
      settings: () => ({
        author: loaded.values.CLAUDE_MEM_TEAM_AUTHOR,
        machine: loaded.values.CLAUDE_MEM_TEAM_MACHINE,
        passages: loaded.values.CLAUDE_MEM_TEAM_PASSAGES,
        startWaitMs: loaded.values.CLAUDE_MEM_TEAM_START_WAIT_MS,
      }),
      serverOf: postgresServer,
      receive: async (records, cursors, author) => {
        const applied = await this.#memory.receive(records, cursors, author)
        const { erased, erasedObservations, projects } = applied
        if (erased > 0) await this.#forgetting.erasedByTeam(erasedObservations, projects)
        return applied
      },
      findProject: async (given) => await this.#projects.find(given),
      listProjects: async () => await store.projects({}),
      hasMemories: async (project) => (await store.observations({ project, limit: 1 })).length > 0,
      notice: (level, text) => this.#supervisor.notice(level, text),
      log,
    })
  }

  #createServer(): DaemonServer {
    const { paths, loaded, log, seq } = this.#base
    return new DaemonServer({
      paths,
      token: readOrMakeToken(paths.token),
      context: this.#createContext(),
      port: loaded.values.CLAUDE_MEM_WORKER_PORT,
      maxMessageBytes: loaded.values.CLAUDE_MEM_MAX_MESSAGE_KB * 1024,
      seq,
      viewerDir: viewerDirectory(dirname(fileURLToPath(import.meta.url))),
      log,
    })
  }

  #createDirectoryWatch(): DirectoryWatch {
    const { paths, log } = this.#base
    return new DirectoryWatch(paths, (gone) => {
      log('error', `${gone} was removed or replaced, so the daemon exits`)
      // Without clean-up: it would create the directory again, or delete the socket of another daemon.
      forceExit()
    })
  }

  /** What the handlers of operations work with. */
  #createContext(): DaemonContext {
    const { store, paths, loaded, log, observer, budget } = this.#base
    const settings = loaded.values
    const search = async () => {
      await this.#indexer.beforeSearch(INDEX_BEFORE_SEARCH_MS)
      return await this.#search.open()
    }
    const keyOf = (project: string) => this.#projects.keyOf(project)
    const keepBackups = () => settings.CLAUDE_MEM_KEEP_BACKUPS
    const recall = new Recall({
      store,
      // A prompt waits for it: without what was stored a moment ago.
      search: () => this.#search.open(),
      settings,
      keyOf,
      me: this.#me,
      log: (text, error) => log('warn', `${text}: ${errorMessage(error)}`, { error }),
    })
    return {
      reader: this.#reader,
      store,
      search,
      now: Date.now,
      me: this.#me,
      previewContext: (project, overrides) => this.#contextCache.preview(project, overrides),
      supervisor: this.#supervisor,
      events: new EventIntake({
        supervisor: this.#supervisor,
        contextCache: this.#contextCache,
        recall,
        keyOf,
        excluded: () => settings.CLAUDE_MEM_EXCLUDED_PROJECTS,
        cleanAside: (event) => this.#server.cleanAside(event),
        beforeContext: (project) => this.#team.sessionStarts(project),
        question: (project) => (settings.CLAUDE_MEM_CONTEXT_MESSAGE === 'off' ? null : this.#takeMessage(project)),
      }),
      memory: this.#memory,
      forgetting: this.#forgetting,
      forgottenCopies: new ForgottenCopies({
        store,
        paths,
        renderContexts: async () => {
          for (const { key } of await store.projects({})) this.#contextCache.changed(key)
          await this.#contextCache.flush()
        },
      }),
      projects: this.#projects,
      team: this.#team,
      files: this.#files,
      settings: new LiveSettings({
        dataDir: paths.dataDir,
        loaded,
        env: process.env,
        changed: () => {
          void this.#contextCache.refresh()
          void this.#files.refresh()
        },
      }),
      process: {
        dataDir: paths.dataDir,
        socket: paths.socket,
        port: () => this.#server.port,
        provider: () => ({ name: observer.choice.provider, model: observer.choice.config?.model ?? null }),
        budget: () => (this.#usesModel ? budget.view : null),
        spooled: () => this.#spool.size,
        queueTrend: () => this.#queueWatch.trend,
        queueAlert: () => this.#queueWatch.alert,
        keepBackups,
        settleTimeoutMs: () => settings.CLAUDE_MEM_DELETE_TIMEOUT * 1_000,
        limitsAgents: () => settings.CLAUDE_MEM_AGENT_SCOPE === 'project',
        stop: (reason) => void this.stop(reason),
      },
    }
  }

  /** What a session start shows: recoveries of the database, exclusions that are not in use, and what is asked about the directory. */
  #takeMessage(project: string): string | null {
    const { database, dataDir } = this.#base.paths
    const notes = [...takeRecoveryNotes(database), ...unusedExclusions(dataDir)]
    const question = this.#projects.directories.takeQuestion(project)
    const texts = [...(notes.length === 0 ? [] : [renderNotes(notes)]), ...(question === null ? [] : [question])]
    return texts.length === 0 ? null : texts.join('\n')
  }

  /** After each commit: rendered context, files and indexes. Changes made by hand invalidate them in `MemoryChanges`. */
  #updateDerivedData(item: StreamItem): void {
    this.#team.changed(item.type === 'commit' ? item.project : null)
    if (item.type !== 'commit') {
      this.#contextCache.outdated()
      return
    }
    if (item.status !== 'active') this.#team.sessionEnded()
    const { project, observations, summaries, newPrompts, waiting } = item
    if (observations.length + summaries.length > 0) this.#projectChanged(project)
    else if (newPrompts.length > 0) this.#contextCache.outdated(project)
    this.#contextCache.setWaitReason(project, waiting)
    if (observations.length > 0) this.#indexer.wake()
    else if (newPrompts.length > 0) this.#indexer.wakeForWords()
  }

  #projectChanged(project: string): void {
    this.#contextCache.changed(project)
    this.#files.changed(project)
  }

  get #usesModel(): boolean {
    return this.#base.observer.choice.config !== null
  }
}

function prepareDataDirectory(paths: Paths): void {
  // Every file created from here on, also by SQLite, is readable by its owner only.
  if (process.platform !== 'win32') process.umask(0o077)
  mkdirSync(paths.dataDir, { recursive: true, mode: 0o700 })
  // What others may write is not taken over silently: they may have written it.
  prepareSocketDirectory(paths)
  // Sticky: nobody else may replace the socket, which is how the fast hook knows that the mode was checked.
  if (process.platform !== 'win32') chmodSync(paths.dataDir, 0o1700)
  removeStaleTemporary(paths.temporary)
}

/** Checked with the lock: a daemon that waited for it may have been replaced by an update or a rollback meanwhile. */
function refuseReplaced(paths: Paths, lock: DaemonLock): void {
  const program = process.argv[1]
  if (program === undefined || !isReplacedProgram(paths, dirname(program))) return
  lock.release()
  throw new MemError(
    'already_running',
    `${program} is not the current program of ${paths.dataDir}; the current one serves it`,
  )
}

/** Runs a daemon until it is stopped. SIGHUP is ignored: a closed terminal must not end a detached daemon. */
export async function runDaemon(
  terminal: ((line: string) => void) | null,
  ready: (daemon: Pick<Daemon, 'paths' | 'port' | 'stop'>) => void,
): Promise<void> {
  // A smaller heap: without it the daemon peaks at 231 MB instead of 137 when it works off a large backlog (bench restore).
  setFlagsFromString('--optimize-for-size')
  let daemon: Daemon | null = null
  let stopReason: string | null = null
  const stop = (reason: string) => {
    // Also while it starts. `process.exit` would wait for a blocked thread.
    setTimeout(forceExit, FORCED_EXIT_MS).unref()
    stopReason = reason
    void daemon?.stop(reason)
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  process.on('SIGHUP', () => undefined)
  const restarts = new RestartLimit()
  for (let isFirst = true, restart = true; restart; isFirst = false) {
    daemon = await startDaemon({ terminal, mayRestart: () => restarts.allows(Date.now()) })
    // A stop that arrived during the start.
    if (stopReason !== null) void daemon.stop(stopReason)
    else if (isFirst) ready({ paths: daemon.paths, port: daemon.port, stop: async (reason) => daemon?.stop(reason) })
    restart = (await daemon.stopped).restart && stopReason === null
  }
}
