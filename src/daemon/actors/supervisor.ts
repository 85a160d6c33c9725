/**
 * The supervisor: the registry of session actors, the effect runner, the ticker, and the machine that decides whether
 * events are accepted. Everything outside (transport, operations) goes through it; nothing in here uses a socket.
 */

import { createActor } from 'xstate'
import { MAX_WAKE_MS } from '../../../machines/session/timeouts.ts'
import type { Effect, Policy, SessionInput } from '../../../machines/session/types.ts'
import { supervisorMachine } from '../../../machines/supervisor/machine.ts'
import { type CleanedEvent, type CleaningRules, EventCleaner, NO_EXCLUSIONS } from '../../domain/clean-event.ts'
import { type MemoryEvent, sessionNotFound } from '../../domain/event.ts'
import type { ModelCall } from '../../domain/model-call.ts'
import { NO_USAGE } from '../../domain/observation.ts'
import type { Project } from '../../domain/project.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import type { Log } from '../../lib/log.ts'
import type { LoadedSettings } from '../../settings/settings.ts'
import type { Commit } from '../../store/commit.ts'
import type { Store } from '../../store/port.ts'
import type { ForgetScope } from '../../store/search-port.ts'
import { Committer } from './committer.ts'
import { type EffectHost, EffectRunner } from './effect-runner.ts'
import { QueueGauge, type QueuePeak } from './queue-gauge.ts'
import { type Accepted, SessionActor, type SessionHost } from './session-actor.ts'
import { commitItem, type StreamItem } from './stream.ts'

/** Failed attempts, owned by the message, after which its status is `failed`. */
const MAX_ATTEMPTS = 3
/** Model calls of one effect that a crash cut off, after which the failure is the message's. */
const MAX_STARTS = 3
/** The offline observer costs nothing and works better with more context, so a whole turn is one batch. */
const OFFLINE_BATCH_MAX_SIZE = 200

export function sessionPolicy({ values: settings, sources }: LoadedSettings, isOffline: boolean): Policy {
  const wholeTurns = isOffline && sources.CLAUDE_MEM_BATCH_MAX_SIZE === 'default'
  return {
    batching: settings.CLAUDE_MEM_BATCHING_ENABLED,
    batchMaxSize: wholeTurns ? OFFLINE_BATCH_MAX_SIZE : settings.CLAUDE_MEM_BATCH_MAX_SIZE,
    idleFlushMs: settings.CLAUDE_MEM_IDLE_FLUSH_MINUTES * 60_000,
    effectTimeoutMs: settings.CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000,
    compactTokens: settings.CLAUDE_MEM_COMPACT_TOKENS,
    maxAttempts: MAX_ATTEMPTS,
  }
}

/** A message for the user about the daemon: shown by `status`, newest last, and logged. */
export interface Notice {
  at: number
  level: 'info' | 'warn' | 'error'
  text: string
}

const MAX_NOTICES = 50

export class Notices {
  readonly #list: Notice[] = []

  add(at: number, level: Notice['level'], text: string): void {
    // A repeated notice moves to the end instead of filling the list.
    const known = this.#list.findIndex((notice) => notice.text === text)
    if (known !== -1) this.#list.splice(known, 1)
    this.#list.push({ at, level, text })
    if (this.#list.length > MAX_NOTICES) this.#list.shift()
  }

  get list(): readonly Notice[] {
    return this.#list
  }
}

/** Session actors in memory: one without an open turn leaves at once, others after some idle time. The rest exist only as rows. */
class Registry {
  readonly #awake = new Map<string, SessionActor>()
  readonly #host: SessionHost

  constructor(host: Omit<SessionHost, 'atRest'>) {
    this.#host = { ...host, atRest: (actor) => this.#remove(actor) }
  }

  get size(): number {
    return this.#awake.size
  }

  get(session: string): SessionActor {
    const known = this.#awake.get(session)
    if (known !== undefined) return known
    const woken = new SessionActor(session, this.#host)
    this.#awake.set(session, woken)
    return woken
  }

  /** Removes actors that were idle since `idleBefore`; the next event restores them from their row. */
  sleep(idleBefore: number): void {
    for (const actor of this.#awake.values()) {
      const since = actor.idleSince
      if (since !== null && since <= idleBefore) this.#remove(actor)
    }
  }

  #remove(actor: SessionActor): void {
    if (this.#awake.get(actor.session) === actor) this.#awake.delete(actor.session)
  }
}

/** One timer for the whole daemon. A slow tick delays the next one; two never run at the same time. */
class Ticker {
  readonly #everyMs: number
  readonly #tick: () => Promise<void>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null

  constructor(everyMs: number, tick: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#tick = tick
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.run(), this.#everyMs)
  }

  /** Runs a tick now, or joins the one that is running. */
  run(): Promise<void> {
    this.#running ??= this.#tick().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#running
  }
}

/** A smaller correction of the clock delays nothing that matters, in ms. */
const MIN_SET_BACK_MS = 5_000

/** Notices that the clock was set back, by comparing it with the monotonic clock. */
class ClockWatch {
  readonly #now: () => number
  readonly #monotonic: () => number
  /** Difference of the two clocks, in ms. It only grows while a computer sleeps, and shrinks when the clock is set back. */
  #difference: number

  constructor(now: () => number, monotonic: () => number) {
    this.#now = now
    this.#monotonic = monotonic
    this.#difference = now() - monotonic()
  }

  /** How far the clock was set back since the last call, in ms; 0: it was not. */
  setBackMs(): number {
    const difference = this.#now() - this.#monotonic()
    const setBackMs = this.#difference - difference
    if (setBackMs > 0 && setBackMs < MIN_SET_BACK_MS) return 0
    this.#difference = difference
    return Math.max(0, setBackMs)
  }
}

const TICK_MS = 1_000
/** Idle time after which an actor with an open turn leaves memory: it is a few KB, and cheap to restore. In ms. */
const SLEEP_AFTER_MS = 60_000
/** Sessions woken by one tick; the rest wait for the next, so that a long list never delays new events. */
const WAKE_AT_ONCE = 200
/**
 * Spooled events that are stored before the daemon listens, so that older events are counted first: two seconds of work. Hooks
 * find no listener until then, so that those of a longer backlog come right after.
 */
export const SPOOLED_BEFORE_LISTEN = 2_048

/** Events that hooks wrote to files because no daemon acknowledged them in time. */
export interface Spool {
  /**
   * Accepts each event in order; a file is removed once its event is durable. At most `most`, the oldest first. Returns how many
   * there were.
   */
  deliver(accept: (event: MemoryEvent) => Promise<unknown>, most?: number): Promise<number>
}

/** The key under which a project's memory is stored: projects can be merged, and repositories move. */
export interface ProjectKeyResolver {
  keyOf(project: string): string
  /** A session starts, possibly in a repository that was at another path before. Never rejects. */
  onSessionStart(event: MemoryEvent): Promise<void>
}

type EffectOptions = Omit<EffectHost, 'deliver' | 'recordCost'>
type OptionalHost = keyof EffectOptions & keyof typeof DEFAULTS

interface SupervisorOptions
  extends Omit<EffectOptions, OptionalHost>,
    Partial<Pick<EffectOptions, OptionalHost>>,
    Pick<SessionHost, 'policy' | 'freshId'>,
    Partial<Pick<SessionHost, 'keepsPayloads'>> {
  spool: Spool
  /** What may be kept of an event. Read for each event: the settings may change. */
  cleaningRules?: () => CleaningRules
  /** A clock that nobody can set, in ms. */
  monotonic?: () => number
  projectKeys?: ProjectKeyResolver
  log: Log
  /** Called before the spool is read: hooks that thought the daemon hangs may ask it again. */
  answersAgain?: () => void
  /** Called with model calls once they are durable. */
  onModelCallsStored?: (calls: readonly ModelCall[]) => void
  /** Called on every tick while serving, after the sessions: retention, backups, idle exit. */
  housekeeping?: () => Promise<void>
}

const DEFAULTS = {
  modelDisabledReason: () => null,
  fallsBackToOffline: () => false,
  keepsPayloads: () => true,
  mayBePassage: () => true,
  keepsPassages: () => true,
  passagesStored: () => undefined,
  now: Date.now,
  random: Math.random,
  cleaningRules: () => NO_EXCLUSIONS,
  projectKeys: { keyOf: (project: string) => project, onSessionStart: async () => undefined },
  answersAgain: () => undefined,
  onModelCallsStored: () => undefined,
  housekeeping: async () => undefined,
}

export class Supervisor {
  readonly notices = new Notices()
  readonly startedAt: number
  readonly #options: Required<SupervisorOptions>
  readonly #store: Store
  readonly #machine = createActor(supervisorMachine).start()
  readonly #cleaner: EventCleaner
  readonly #registry: Registry
  readonly #effects: EffectRunner
  readonly #ticker: Ticker
  readonly #gauge = new QueueGauge()
  readonly #listeners = new Set<(item: StreamItem) => void>()
  readonly #now: () => number
  readonly #clock: ClockWatch
  #lastActivity: number

  constructor(given: SupervisorOptions) {
    // A clock that a replay or a test moves is not compared with a real one.
    const monotonic = given.now ?? (() => performance.now())
    const options = { ...DEFAULTS, monotonic, ...given }
    this.#options = options
    this.#store = options.store
    this.#now = options.now
    this.#clock = new ClockWatch(options.now, options.monotonic)
    this.#lastActivity = this.#now()
    this.startedAt = this.#now()
    this.#cleaner = new EventCleaner(options.cleaningRules, this.#now)
    this.#effects = new EffectRunner({
      ...options,
      deliver: (session, delivery) => {
        this.#lastActivity = this.#now()
        return this.#registry.get(session).deliver(delivery)
      },
      recordCost: (project, calls) => this.recordCost(project, calls),
    })
    this.#registry = new Registry({
      ...options,
      committer: new Committer(options.store),
      offline: () => options.modelDisabledReason() ?? this.#effects.unavailable,
      act: (session, effect) => this.#effects.reconcile(session, effect),
      committed: (commit, result, counts) => {
        options.onModelCallsStored(commit.calls)
        this.#gauge.set(commit.session, counts.pending, commit.at)
        this.publish(commitItem(this.#withCurrentProjectKey(commit), result, counts))
      },
      quarantined: (session, reason, seq, at) => {
        const next = `its events are stored but not observed; to restore it: claude-mem queue retry --session ${session}`
        this.notice('error', `session ${session} is quarantined (${reason}); ${next}`)
        this.publish({ type: 'change', change: 'quarantined', seq, at, session, reason })
      },
    })
    this.#ticker = new Ticker(TICK_MS, () => this.#tick())
  }

  get state(): string {
    return this.#machine.getSnapshot().value
  }
  get awake(): number {
    return this.#registry.size
  }
  /** `offline`: sessions continue without the provider meanwhile. */
  get waiting(): { since: number; reason: string; offline: boolean } | null {
    const { waiting } = this.#effects
    return waiting === null ? null : { ...waiting, offline: this.#options.fallsBackToOffline() }
  }
  /** Messages of all sessions that wait for the observer. */
  get waitingMessages(): number {
    return this.#gauge.waiting
  }
  /** The highest number of waiting messages since the last call. */
  takeQueuePeak(): QueuePeak {
    return this.#gauge.takePeak(this.#now())
  }
  /** Someone uses the daemon: it does not exit because it is idle. */
  recordActivity(): void {
    this.#lastActivity = this.#now()
  }
  /** Time of the last activity; null while an effect is in flight or queued. */
  get idleSince(): number | null {
    return this.#effects.inFlight + this.#effects.queued > 0 ? null : this.#lastActivity
  }

  /** Resumes what an earlier process left: the spool, then every effect that a snapshot wants. */
  async restore(): Promise<void> {
    await this.#orFail(() => this.#restore())
  }

  async #restore(): Promise<void> {
    for (const { session, count } of await this.#store.countMessagesBySession()) {
      this.#gauge.set(session, count, this.#now())
    }
    await this.#endQuarantines()
    let spooled = 0
    await this.#step('reading the spool', async () => {
      spooled = await this.#deliverSpooled(SPOOLED_BEFORE_LISTEN)
    })
    const effects = await this.#store.unfinishedEffects()
    for (const { session, effect } of effects) {
      if (effect.starts < MAX_STARTS) this.#effects.reconcile(session, effect)
      else await this.#blameMessages(session, effect)
    }
    const stranded = await this.#store.strandedSessions()
    // A recovered database may contain messages that no snapshot counts.
    for (const session of stranded) await this.#rebuild(session, 'it had messages that no snapshot counted')
    await this.#step('adjusting to the clock', () => this.#adjustToStoredTimes())
    faultPoint('listen')
    this.#machine.send({ type: 'RESTORED' })
    this.#options.log('info', 'restored', { effects: effects.length, stranded: stranded.length, spooled })
  }

  /**
   * Called right after the server listens: the first tick reads the spool once more, for hooks that found no listener after
   * `restore` had read it.
   */
  async serve(): Promise<void> {
    await this.#ticker.run()
    this.#ticker.start()
  }

  /** The event was cleaned by these rules on another thread; it is not cleaned again while they hold. */
  addCleaned(event: MemoryEvent, rules: CleaningRules): void {
    this.#cleaner.addCleaned(event, rules)
  }

  /** What may be kept of an event. `accept` cleans too; an event that was cleaned here is not cleaned twice. */
  clean(event: MemoryEvent): CleanedEvent {
    return this.#cleaner.clean(event)
  }

  /** Resolves once the event is durable: only then may it be acknowledged. */
  async accept(event: MemoryEvent): Promise<Accepted> {
    if (this.state === 'draining' || this.state === 'stopped') {
      throw new MemError('draining', 'the daemon is stopping; write the event to the spool', { retryable: true })
    }
    this.#lastActivity = this.#now()
    try {
      return await this.#take(event)
    } catch (error) {
      // The ids are only logged: notices with the same text are shown once.
      const text = 'could not store an event; its hook writes it to the spool and the daemon retries it'
      this.notice('error', `${text}: ${errorMessage(error)}`, { session: event.session, event: event.id, error })
      throw error
    }
  }

  tick(): Promise<void> {
    return this.#ticker.run()
  }

  notice(level: 'info' | 'warn' | 'error', text: string, details: Record<string, unknown> = {}): void {
    this.notices.add(this.#now(), level, text)
    this.#options.log(level, text, details)
  }

  subscribe(listener: (item: StreamItem) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Publishes a durable change on the live stream. Also used for changes that no session makes. */
  publish(item: StreamItem): void {
    if (item.type === 'change' && item.change === 'erased') this.#gauge.set(item.session, 0, item.at)
    for (const listener of this.#listeners) listener(item)
  }

  /** Flushes waiting messages and closes the breaker. Returns how many sessions had something to flush. */
  async flush(session: string | null): Promise<number> {
    this.#effects.resetBreakers()
    const waiting = await this.#sessionsWith('pending')
    const sessions = session === null ? waiting : waiting.filter((id) => id === session)
    await Promise.all(sessions.map((id) => this.#tell(id, { type: 'FLUSH' })))
    return sessions.length
  }

  /** Retries failed messages and quarantined sessions. Returns the number of messages. */
  async retry(session: string | null): Promise<number> {
    const quarantined = (await this.#store.sessions({ status: 'failed' })).map((row) => row.session)
    const affected = session === null ? [...(await this.#sessionsWith('failed')), ...quarantined] : [session]
    return await sumOf(affected, async (id) => {
      const row = await this.#store.session(id)
      if (row?.quarantine != null) await this.#rebuild(id, 'restored by a retry of the user')
      let retried = 0
      await this.#registry.get(id).deliverPrepared(async () => {
        const failed = await this.#store.queue({ session: id, status: 'failed' })
        const messages = await this.#store.countMessagesByPrompt(id, 'failed')
        const summaries = failed.filter((message) => message.kind === 'turn_end').map((message) => message.prompt)
        retried = total(messages) + summaries.length
        return { type: 'RETRY', messages, summaries: [...new Set(summaries)] }
      })
      return retried
    })
  }

  /** Drops failed messages, and pending ones too if asked. Returns the number of messages. */
  async clear(session: string | null, pending: boolean): Promise<number> {
    const waiting = pending ? await this.#sessionsWith('pending') : []
    const affected = session === null ? [...(await this.#sessionsWith('failed')), ...waiting] : [session]
    return await sumOf(affected, async (id) => {
      let dropped = 0
      await this.#registry.get(id).deliverPrepared(async () => {
        const failed = total(await this.#store.countMessagesByPrompt(id, 'failed'))
        const waits = pending ? await this.#store.countMessagesByPrompt(id, 'pending') : null
        dropped = failed + total(waits ?? [])
        return { type: 'CLEAR', pending: waits, failed }
      })
      return dropped
    })
  }

  /**
   * Erases a session. `erase` deletes its rows; no event is decided meanwhile, no model is called for it, and the result of
   * an effect that was in flight is not stored.
   */
  async eraseSession(session: string, erase: () => Promise<void>): Promise<void> {
    const project = (await this.#store.session(session))?.project
    if (project === undefined) throw sessionNotFound(session)
    this.#effects.discard(session, project)
    await this.#registry.get(session).exclusively(erase)
  }

  /** Records calls of no session, without their texts: their cost counts against the budget. */
  async recordCost(project: Project, calls: readonly ModelCall[]): Promise<void> {
    if (calls.length === 0) return
    await this.#store.recordCalls(project, calls)
    this.#options.onModelCallsStored(calls)
  }

  /** The user wants erased sessions back: their events are accepted again. Returns how many of them were erased. */
  async reviveSessions(sessions: readonly string[]): Promise<number> {
    return await sumOf(sessions, async (session) => {
      let revived = 0
      await this.#registry.get(session).exclusively(async () => {
        revived = (await this.#store.reviveSessions([session])).length
      })
      return revived
    })
  }

  /**
   * Runs `forget`, which deletes memories, while the sessions are held: their effects are cancelled, because they may have
   * read what is forgotten, the messages of each scope are dropped, and nothing is decided before `forget` has ended.
   */
  async whileForgetting<T>(scopes: readonly ForgetScope[], forget: () => Promise<T>): Promise<T> {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const deliveries: Promise<unknown>[] = []
    try {
      await Promise.all(
        scopes.map(
          (scope) =>
            new Promise<void>((resolve, reject) => {
              const hold = () => {
                resolve()
                return held
              }
              deliveries.push(this.#forgetInbox(scope, hold).then(resolve, reject))
            }),
        ),
      )
      return await forget()
    } finally {
      release()
      await Promise.allSettled(deliveries)
    }
  }

  async #forgetInbox(scope: ForgetScope, hold: () => Promise<void>): Promise<void> {
    const { session } = scope
    const row = await this.#store.session(session)
    // A quarantined session has no machine: the store deletes its messages.
    if (row === null || row.quarantine !== null) return
    this.#effects.discard(session, row.project)
    const prepare = async () => ({ type: 'FORGET' as const, ...(await this.#store.inboxToForget(scope)) })
    try {
      await this.#registry.get(session).deliverPrepared(prepare, hold)
    } catch (error) {
      // Quarantined or erased meanwhile.
      if (!(error instanceof MemError && ['quarantined', 'not_found'].includes(error.code))) throw error
    }
  }

  /** Ends the session; waiting messages are still observed. */
  closeSession(session: string): Promise<unknown> {
    return this.#tell(session, { type: 'SESSION_END' })
  }

  /** Reopens a closed session; an open one stays as it is. */
  reopenSession(session: string): Promise<unknown> {
    return this.#tell(session, { type: 'REOPEN' })
  }

  /** Requests the summary of a turn, or of the whole session (null). Closes the breaker: a user waits for it. */
  summarize(session: string, prompt: number | null): Promise<unknown> {
    this.#effects.resetBreakers()
    return this.#tell(session, { type: 'SUMMARIZE', prompt })
  }

  /** Refuses new events, waits for effects until the deadline, releases the rest. */
  async drain(reason: string): Promise<void> {
    if (this.state === 'draining' || this.state === 'stopped') return
    this.#machine.send({ type: 'DRAIN' })
    this.#options.log('info', 'draining', { reason })
    await this.#orFail(() => this.#releaseEffects())
    this.#machine.send({ type: 'DRAINED' })
  }

  /** A step without which the daemon can neither start nor stop in order. */
  async #orFail(step: () => Promise<void>): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#machine.send({ type: 'FAILED' })
      throw error
    }
  }

  async #releaseEffects(): Promise<void> {
    await this.#ticker.stop()
    faultPoint('drain')
    const unfinished = await this.#effects.drain(DRAIN_MS)
    await Promise.all(
      unfinished.map((session) =>
        this.#tell(session, { type: 'DRAIN' }).catch((error: unknown) =>
          this.#options.log('warn', 'could not release the effect of a session; it is resumed at the next start', {
            session,
            error,
          }),
        ),
      ),
    )
  }

  async #tick(): Promise<void> {
    await this.#step('adjusting to the clock', () => this.#adjustToClock())
    await this.#step('reading the spool', () => this.#deliverSpooled())
    await this.#step('waking sessions whose time has come', () => this.#wakeDueSessions())
    this.#registry.sleep(this.#now() - SLEEP_AFTER_MS)
    await this.#step('housekeeping', () => this.#options.housekeeping())
  }

  /** A failure of one step does not keep the others from running. */
  async #step(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const text = `${name} failed; retried in ${TICK_MS / 1_000} s: ${errorMessage(error)}`
      this.notice('error', text, { error })
    }
  }

  /** The clock may have been set back while no daemon ran. */
  async #adjustToStoredTimes(): Promise<void> {
    const newest = await this.#store.newestActivity()
    const setBackMs = newest === null ? 0 : newest - this.#now()
    if (setBackMs >= MIN_SET_BACK_MS) await this.#computeWakeUps(setBackMs)
  }

  async #adjustToClock(): Promise<void> {
    const setBackMs = this.#clock.setBackMs()
    if (setBackMs === 0) return
    this.#lastActivity -= setBackMs
    this.#effects.clockSetBack(setBackMs)
    await this.#computeWakeUps(setBackMs)
  }

  /** After the clock was set back, every wake-up is computed again; otherwise all waits would last longer by that much. */
  async #computeWakeUps(setBackMs: number): Promise<void> {
    const sessions = await this.#store.wakeUpsAfter(this.#now())
    this.#options.log('info', 'the clock was set back; wake-ups are computed again', {
      setBackMs,
      sessions: sessions.length,
    })
    const input = { type: 'DEADLINE', clockSetBack: true } as const
    for (let start = 0; start < sessions.length; start += WAKE_AT_ONCE) {
      const some = sessions.slice(start, start + WAKE_AT_ONCE).filter((session) => !this.#effects.has(session))
      await Promise.all(some.map((session) => this.#tell(session, input).catch(() => undefined)))
    }
  }

  async #wakeDueSessions(): Promise<void> {
    const busy = this.#effects.inFlight + this.#effects.queued
    const due = await this.#store.dueSessions(this.#now(), MAX_WAKE_MS, WAKE_AT_ONCE + busy)
    const alone = due.filter((session) => !this.#effects.has(session))
    await Promise.all(alone.map((session) => this.#tell(session, { type: 'DEADLINE' }).catch(() => undefined)))
  }

  async #deliverSpooled(most?: number): Promise<number> {
    this.#options.answersAgain()
    return await this.#options.spool.deliver((event) => {
      faultPoint('spool.read')
      this.#lastActivity = this.#now()
      return this.#take(event)
    }, most)
  }

  /** The one entry of events, whichever door they came through. Of a skipped event nothing is stored or logged. */
  async #take(given: MemoryEvent): Promise<Accepted> {
    const cleaned = this.clean(given)
    if (cleaned.type === 'skipped') return { duplicate: false, skipped: cleaned.reason }
    const { event } = cleaned
    if (event.kind === 'session_start') await this.#options.projectKeys.onSessionStart(event)
    return await this.#registry.get(event.session).accept(event)
  }

  /** With the project key that the store used: the actor may still have the key from before a merge. */
  #withCurrentProjectKey(commit: Commit): Commit {
    const { project } = commit.state
    const key = this.#options.projectKeys.keyOf(project.key)
    return key === project.key ? commit : { ...commit, state: { ...commit.state, project: { ...project, key } } }
  }

  /** The daemon ended during each call of this effect: its messages may be the cause, and each call costs. */
  async #blameMessages(session: string, effect: Effect): Promise<void> {
    const reason = `the daemon ended ${effect.starts} times while a model worked on this`
    this.notice('warn', `${reason}; it counts as a failed attempt`, { session, effect: effect.id })
    const outcome = { owner: 'message', reason, retryAt: this.#now(), usage: NO_USAGE } as const
    const input = { type: 'FAILED', effectId: effect.id, ...outcome } as const
    await this.#registry
      .get(session)
      .deliver({ kind: 'failed', input, calls: [] })
      .catch((error: unknown) => {
        const text = 'could not record that an effect was cut off; the effect is retried at its deadline'
        this.#options.log('warn', text, { session, effect: effect.id, error })
      })
  }

  /** An update may be able to read snapshots that the version before it could not. */
  async #endQuarantines(): Promise<void> {
    const quarantined = await this.#store.sessions({ status: 'failed' })
    for (const { session } of quarantined) {
      try {
        if (!(await this.#registry.get(session).endQuarantine('its snapshot can be read again'))) continue
        this.notice('info', `session ${session} left the quarantine: its snapshot can be read again`)
      } catch (error) {
        this.#options.log('warn', 'a session could not leave the quarantine; it is tried at the next start', {
          session,
          error,
        })
      }
    }
  }

  async #rebuild(session: string, reason: string): Promise<void> {
    if (await this.#registry.get(session).rebuild(reason)) {
      this.notice('info', `session ${session} was rebuilt from its rows: ${reason}`)
    }
  }

  #tell(session: string, input: SessionInput): Promise<unknown> {
    return this.#registry.get(session).deliver({ kind: 'plain', input })
  }

  async #sessionsWith(status: 'pending' | 'failed'): Promise<string[]> {
    const messages = await this.#store.queue({ status })
    return [...new Set(messages.map((message) => message.session))]
  }
}

/** How long effects in flight may take to finish once the daemon stops, in ms; then they are released. */
const DRAIN_MS = 4_000

/** Counts each session once, and all of them at the same time. */
async function sumOf(sessions: readonly string[], count: (session: string) => Promise<number>): Promise<number> {
  const counts = await Promise.all([...new Set(sessions)].map(count))
  return counts.reduce((sum, one) => sum + one, 0)
}

function total(counts: readonly { count: number }[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}
