/** What can be asked of a daemon, whichever door the question came through. */
import type { BudgetView } from '../actors/budget.ts'
import type { MemoryChange } from '../actors/stream.ts'
import type { Supervisor } from '../actors/supervisor.ts'
import type { FileProjections } from '../context/files/projections.ts'
import type { ContextKeeper } from '../context/keeper.ts'
import type { SessionContext } from '../context/kept-file.ts'
import type { ContextPreview } from '../context/load.ts'
import { chosenProject } from '../context/project.ts'
import type { Recall } from '../context/recall.ts'
import { MemError } from '../errors.ts'
import type { LiveSettings } from '../live-settings.ts'
import { startOfDay } from '../memory/day.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { FileQuestion } from '../memory/file-question.ts'
import { isTranscriptId } from '../memory/transcript-ids.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import type { ImportBatch, ImportOutcome } from '../store/import-port.ts'
import { callsNamed, sessionNamed, viewNamed } from '../store/named.ts'
import type { SessionFilter, SessionListItem, SessionView, Store } from '../store/port.ts'
import { type UsageView, usageView } from '../store/usage-view.ts'
import { compareVersions, VERSION } from '../version.ts'
import { type FilesReport, type FilesRequest, filesReport } from './files.ts'
import { cleanedBatch } from './import.ts'
import type { ForgetReport, Memory } from './memory.ts'
import { NamedMemory } from './named-memory.ts'
import { Projects } from './projects.ts'
import type { ContextWish, Status } from './protocol.ts'
import { settled } from './settled.ts'

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
  /** Without it settings can be neither seen nor changed. */
  settings?: LiveSettings
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
  get settings(): LiveSettings {
    const { settings } = this.#options
    if (settings === undefined) throw new MemError('bad_request', 'this daemon shows no settings')
    return settings
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

  now(): number {
    return this.#now()
  }

  /** `given`: a project's key or name; `wish`: other than what is set. */
  async context(given: string, wish: ContextWish = {}): Promise<ContextPreview> {
    return await this.#options.keeper.preview(await chosenProject(this.store, given), wish)
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
  resolveSession(prefix: string): Promise<string> {
    return sessionNamed(this.store, prefix)
  }

  view(prefix: string, trace: number): Promise<SessionView> {
    return viewNamed(this.store, prefix, trace)
  }

  usage(by: UsageKey, days: number): Promise<UsageView> {
    return usageView(this.store, by, days, this.#now())
  }

  /** The newest `limit`, oldest of them first. */
  calls(prefix: string, limit: number): Promise<{ session: string; calls: CallRow[] }> {
    return callsNamed(this.store, prefix, limit)
  }

  async flush(prefix: string | null, wait: boolean): Promise<number> {
    const session = await this.#resolveOrAll(prefix)
    const sessions = await this.supervisor.flush(session)
    if (wait) await settled(this.supervisor, this.store, session)
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
    await settled(this.supervisor, this.store, session)
    return await this.view(session, 0)
  }

  async reopenSession(prefix: string): Promise<SessionView> {
    const session = await this.resolveSession(prefix)
    await this.supervisor.reopenSession(session)
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
    const erased = await this.store.eraseSession(session)
    if (erased !== null) this.#changed(erased.seq, { change: 'erased', session })
    return report
  }

  async files(request: FilesRequest): Promise<FilesReport> {
    const { files } = this.#options
    if (files === undefined) throw new MemError('bad_request', 'this daemon writes no files')
    return await filesReport(request, files, this.store)
  }

  /** What became of each record, in their order. */
  async import(batch: ImportBatch): Promise<ImportOutcome[]> {
    const { outcomes, projects, seq } = await this.store.importBatch(cleanedBatch(batch), this.#now())
    if (seq !== null) this.#changed(seq, { change: 'imported', projects })
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

  #changed(seq: number, change: MemoryChange): void {
    this.supervisor.publish({ type: 'change', seq, at: this.#now(), ...change })
  }

  #resolveOrAll(prefix: string | null): Promise<string | null> {
    return prefix === null ? Promise.resolve(null) : this.resolveSession(prefix)
  }
}
