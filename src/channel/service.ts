/** What can be asked of a daemon, whichever door the question came through. */
import type { BudgetView } from '../actors/budget.ts'
import type { Supervisor } from '../actors/supervisor.ts'
import type { ContextKeeper } from '../context/keeper.ts'
import { type ContextView, contextView } from '../context/load.ts'
import { chosenProject } from '../context/project.ts'
import { MemError } from '../errors.ts'
import { startOfDay } from '../memory/day.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import { chosenSession, noSession } from '../store/find-session.ts'
import type { SessionView, Store } from '../store/port.ts'
import { type UsageView, usageView } from '../store/usage-view.ts'
import { compareVersions, VERSION } from '../version.ts'
import type { ForgetReport, Memory } from './memory.ts'
import { NamedMemory } from './named-memory.ts'
import type { Status } from './protocol.ts'

/** How long closing or flushing a session waits for its effect, in ms. */
const SETTLE_MS = 5_000

export interface ServiceOptions {
  supervisor: Supervisor
  store: Store
  memory: Memory
  keeper: ContextKeeper
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
  readonly #options: ServiceOptions
  readonly #now: () => number

  constructor(options: ServiceOptions) {
    this.#options = options
    this.memory = new NamedMemory(options.memory, options.store)
    this.#now = options.now ?? Date.now
  }

  get supervisor(): Supervisor {
    return this.#options.supervisor
  }
  get store(): Store {
    return this.#options.store
  }

  /** `context` is for a session that starts; else, and where nothing is known, it is empty. */
  async accept(event: MemoryEvent): Promise<{ duplicate: boolean; context: string }> {
    const { duplicate } = await this.supervisor.accept(event)
    const starts = event.kind === 'session_start'
    return { duplicate, context: starts ? await this.#options.keeper.forSession(event.project.key) : '' }
  }

  /** `given`: a project's key or name. */
  async context(given: string): Promise<ContextView> {
    const project = await chosenProject(this.store, given)
    return contextView(project, await this.#options.keeper.render(project.key))
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
