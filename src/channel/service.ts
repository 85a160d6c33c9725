/** What can be asked of a daemon, whichever door the question came through. */
import type { BudgetView } from '../actors/budget.ts'
import type { Supervisor } from '../actors/supervisor.ts'
import type { FileProjections } from '../context/files/projections.ts'
import type { ContextKeeper } from '../context/keeper.ts'
import type { SessionContext } from '../context/kept-file.ts'
import type { ContextPreview } from '../context/load.ts'
import { chosenProject } from '../context/project.ts'
import type { Recall } from '../context/recall.ts'
import { MemError } from '../errors.ts'
import { startOfDay } from '../memory/day.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { FileQuestion } from '../memory/file-question.ts'
import { isTranscriptId } from '../memory/transcript-ids.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import { chosenSession, noSession } from '../store/find-session.ts'
import type { ImportBatch, ImportOutcome } from '../store/import-port.ts'
import type { SessionFilter, SessionListItem, SessionView, Store } from '../store/port.ts'
import { type UsageView, usageView } from '../store/usage-view.ts'
import { compareVersions, VERSION } from '../version.ts'
import { type FilesReport, type FilesRequest, filesReport } from './files.ts'
import { cleanedBatch } from './import.ts'
import type { ForgetReport, Memory } from './memory.ts'
import { NamedMemory } from './named-memory.ts'
import { Projects } from './projects.ts'
import type { Status } from './protocol.ts'

/** How long closing or flushing a session waits for its effect, in ms. */
const SETTLE_MS = 5_000

export interface ServiceOptions {
  supervisor: Supervisor
  store: Store
  memory: Memory
  keeper: ContextKeeper
  /** Those that the supervisor files by. */
  projects?: Projects
  /** Without it prompts and files are told nothing. */
  recall?: Recall
  /** Without it no files are written. */
  files?: FileProjections
  /** Something of these projects was imported. */
  imported?: (projects: readonly string[]) => void
  provider: () => { name: string; model: string | null }
  /** Null where no model is asked. */
  budget: () => BudgetView | null
  dataDir: string
  socket: string
  port: () => number | null
  /** Files that wait in the spool. */
  spooled: () => number
  keepBackups: () => number
  /** Drain, let go of the data directory, exit. */
  stop: (reason: string) => void
  now?: () => number
}

export class Service {
  readonly memory: NamedMemory
  readonly projects: Projects
  readonly #options: ServiceOptions
  readonly #now: () => number

  constructor(options: ServiceOptions) {
    this.#options = options
    this.memory = new NamedMemory(options.memory, options.store)
    this.projects = options.projects ?? new Projects({ store: options.store })
    this.#now = options.now ?? Date.now
  }

  get supervisor(): Supervisor {
    return this.#options.supervisor
  }
  get store(): Store {
    return this.#options.store
  }

  /** `context` and `message` are for a session that starts, `context` for a prompt too; else they are empty. */
  async accept(event: MemoryEvent): Promise<{ duplicate: boolean } & SessionContext> {
    const accepted = this.supervisor.accept(event)
    const recalled = this.#recalled(event, accepted)
    const { duplicate } = await accepted
    // A session of the past is not starting now.
    if (event.kind !== 'session_start' || isTranscriptId(event.id)) {
      return { duplicate, context: await recalled, message: '' }
    }
    await this.#options.recall?.sessionStarts(event.session, event.source)
    return { duplicate, ...(await this.#options.keeper.forSession(this.projects.keyOf(event.project.key))) }
  }

  async fileContext(question: FileQuestion): Promise<string> {
    return (await this.#options.recall?.forFile(question)) ?? ''
  }

  /** Looked for while the prompt is being stored. */
  async #recalled(event: MemoryEvent, accepted: Promise<{ duplicate: boolean }>): Promise<string> {
    if (event.kind !== 'prompt' || isTranscriptId(event.id)) return ''
    const isNew = accepted.then(
      ({ duplicate }) => !duplicate,
      () => false,
    )
    return (await this.#options.recall?.forPrompt(event, isNew)) ?? ''
  }

  /** `given`: a project's key or name; `tokens`: another budget than the one that is set. */
  async context(given: string, tokens?: number): Promise<ContextPreview> {
    const project = await chosenProject(this.store, given)
    return await this.#options.keeper.preview(project, tokens === undefined ? {} : { tokens })
  }

  async status(): Promise<Status> {
    const { supervisor, store, provider, budget, dataDir, socket, port, spooled } = this.#options
    const stats = await store.stats(startOfDay(this.#now()))
    const { pending, processing, failed, sessions, oldestAt } = stats
    return {
      version: VERSION,
      pid: process.pid,
      dataDir,
      socket,
      port: port(),
      startedAt: supervisor.startedAt,
      state: supervisor.state,
      provider: provider().name,
      model: provider().model,
      budget: budget(),
      waiting: supervisor.waiting,
      queue: { pending, processing, failed, sessions, oldestAt },
      observationsToday: stats.observationsToday,
      observations: stats.observations,
      sessions: stats.sessionsTotal,
      awake: supervisor.awake,
      databaseBytes: stats.databaseBytes,
      spooled: spooled(),
      indexing: this.memory.indexing(),
      notices: [...supervisor.notices.list],
    }
  }

  /** `filter.project`: a key or a name. */
  async sessions(filter: SessionFilter): Promise<SessionListItem[]> {
    const { project: given, ...rest } = filter
    const project = given === undefined ? {} : { project: (await chosenProject(this.store, given)).key }
    return await this.store.sessions({ ...rest, ...project })
  }

  /** People type the first characters of an id. */
  async resolveSession(prefix: string): Promise<string> {
    return chosenSession(prefix, await this.store.findSessions(prefix))
  }

  async view(prefix: string, trace: number): Promise<SessionView> {
    const session = await this.resolveSession(prefix)
    const view = await this.store.view(session, trace)
    if (view === null) throw noSession(prefix)
    return view
  }

  usage(by: UsageKey, days: number): Promise<UsageView> {
    return usageView(this.store, by, days, this.#now())
  }

  /** The newest `limit`, oldest of them first. */
  async calls(prefix: string, limit: number): Promise<{ session: string; calls: CallRow[] }> {
    const session = await this.resolveSession(prefix)
    return { session, calls: await this.store.calls({ session, limit }) }
  }

  async flush(prefix: string | null, wait: boolean): Promise<number> {
    const session = await this.#resolveOrAll(prefix)
    const sessions = await this.supervisor.flush(session)
    if (wait) await this.#settled(session)
    return sessions
  }

  async retry(prefix: string | null): Promise<number> {
    return await this.supervisor.retry(await this.#resolveOrAll(prefix))
  }

  async clear(prefix: string | null, pending: boolean): Promise<number> {
    return await this.supervisor.clear(await this.#resolveOrAll(prefix), pending)
  }

  /** Ends a session and waits a moment for what it still has to do; everything is kept. */
  async closeSession(prefix: string): Promise<SessionView> {
    const session = await this.resolveSession(prefix)
    await this.supervisor.closeSession(session)
    await this.#settled(session)
    return await this.view(session, 0)
  }

  /** Ends a session, drops what waits, forgets everything that it left behind, and the session itself. */
  async purgeSession(prefix: string): Promise<ForgetReport> {
    const session = await this.resolveSession(prefix)
    try {
      await this.supervisor.clear(session, true)
      await this.closeSession(session)
    } catch (error) {
      // A quarantined one has no actor that could be ended.
      if (!(error instanceof MemError && error.code === 'quarantined')) throw error
    }
    const report = await this.memory.forgetSession(session)
    await this.store.eraseSession(session)
    return report
  }

  async files(request: FilesRequest): Promise<FilesReport> {
    const { files } = this.#options
    if (files === undefined) throw new MemError('bad_request', 'this daemon writes no files')
    return await filesReport(request, files, this.store)
  }

  /** What became of each record, in their order. */
  async import(batch: ImportBatch): Promise<ImportOutcome[]> {
    const { outcomes, projects } = await this.store.importBatch(cleanedBatch(batch), this.#now())
    this.#options.imported?.(projects)
    return outcomes
  }

  backup() {
    return this.store.backup('manual', this.#options.keepBackups())
  }

  stop(reason: string): void {
    this.#options.stop(reason)
  }

  handover(version: string): void {
    if (compareVersions(version, VERSION) <= 0) {
      throw new MemError(
        'already_running',
        `claude-mem ${VERSION} (pid ${process.pid}) serves ${this.#options.dataDir}`,
      )
    }
    this.#options.stop(`claude-mem ${version} takes over`)
  }

  #resolveOrAll(prefix: string | null): Promise<string | null> {
    return prefix === null ? Promise.resolve(null) : this.resolveSession(prefix)
  }

  /** Until the session (or every session) has nothing in flight, or time is up. */
  async #settled(session: string | null): Promise<void> {
    const { supervisor, store } = this.#options
    const busy = async () => {
      if (session === null) return (await store.unfinishedEffects()).length > 0
      return (await store.session(session))?.effect != null
    }
    await new Promise<void>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        unsubscribe()
        resolve()
      }
      const look = () => busy().then((still) => (still ? undefined : done()), reject)
      const timer = setTimeout(done, SETTLE_MS)
      const unsubscribe = supervisor.subscribe((item) => {
        if (session === null || item.session === session) void look()
      })
      void look()
    })
  }
}
