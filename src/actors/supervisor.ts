/**
 * The daemon's heart: the registry of session actors, the effect runner, the ticker, and the machine that says whether
 * events are accepted. Everything outside (channel, CLI) goes through here; nothing in here knows a socket.
 */
import { createActor } from 'xstate'
import { MAX_WAKE_MS } from '../../machines/session/context.ts'
import type { Policy, SessionInput } from '../../machines/session/types.ts'
import { DRAIN_MS, supervisorMachine } from '../../machines/supervisor/machine.ts'
import { MemError, messageOf } from '../errors.ts'
import { fault } from '../faults.ts'
import type { ModelCall } from '../memory/call.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { Observer } from '../observer/port.ts'
import type { Commit } from '../store/commit.ts'
import type { Store } from '../store/port.ts'
import { Committer } from './committer.ts'
import { EffectRunner } from './effect-runner.ts'
import { Notices } from './notices.ts'
import { Registry } from './registry.ts'
import type { Accepted } from './session-actor.ts'
import { commitNews, type StreamItem } from './stream.ts'
import { Ticker } from './ticker.ts'

const TICK_MS = 1_000
/** An awake session is a few KB; one that was quiet for a minute is cheaper to read again. */
const SLEEP_AFTER_MS = 60_000
/** Woken by one tick; the rest by the next, so that a long list never starves the mailbox. */
const WAKE_AT_ONCE = 200

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>) => void

/** Events that hooks left behind because nobody answered them. */
export interface Spool {
  /** Hands each event over in order; a file goes once its event is durable. How many there were. */
  drain(accept: (event: MemoryEvent) => Promise<unknown>): Promise<number>
}

/** Where the memory of a project is kept: people, or a repository that moved, may have decided about it. */
export interface Filing {
  keyOf(project: string): string
  /** A session starts, maybe in a repository that was elsewhere before. Never rejects. */
  arrives(event: MemoryEvent): Promise<void>
}

export interface SupervisorOptions {
  store: Store
  observer: () => Observer
  /** Who observes while no model may be asked. */
  offlineObserver: Observer
  /** Why no model may be asked now: the budget. Null: one may. */
  noModel?: () => string | null
  /** A provider that does not answer makes sessions go on without it, instead of waiting. */
  goesOffline?: () => boolean
  policy: () => Policy
  concurrency: () => number
  spool: Spool
  filing?: Filing
  log: Log
  now?: () => number
  random?: () => number
  freshId: () => string
  /** Calls to a model, once they are written down. */
  spent?: (calls: readonly ModelCall[]) => void
  /** Called on every tick while serving, after the sessions: retention, backups, idle exit. */
  housekeeping?: () => Promise<void>
}

export class Supervisor {
  readonly notices = new Notices()
  readonly #options: SupervisorOptions
  readonly #store: Store
  readonly #machine: ReturnType<typeof startMachine>
  readonly #registry: Registry
  readonly #effects: EffectRunner
  readonly #ticker: Ticker
  readonly #listeners = new Set<(item: StreamItem) => void>()
  readonly #now: () => number
  #lastActivity: number

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#store = options.store
    this.#now = options.now ?? Date.now
    const random = options.random ?? Math.random
    this.#lastActivity = this.#now()
    this.#machine = startMachine(this.#now())
    this.#effects = new EffectRunner({
      store: options.store,
      observer: options.observer,
      offlineObserver: options.offlineObserver,
      noModel: () => options.noModel?.() ?? null,
      goesOffline: () => options.goesOffline?.() ?? false,
      now: this.#now,
      random,
      concurrency: options.concurrency,
      deliver: (session, delivery) => {
        this.#lastActivity = this.#now()
        return this.#registry.get(session).deliver(delivery)
      },
      log: options.log,
    })
    this.#registry = new Registry({
      store: options.store,
      committer: new Committer(options.store),
      now: this.#now,
      random,
      freshId: options.freshId,
      policy: options.policy,
      offline: () => options.noModel?.() ?? this.#effects.unavailable,
      act: (session, effect) => this.#effects.reconcile(session, effect),
      committed: (commit, result, counts) => {
        options.spent?.(commit.calls)
        this.publish(commitNews(this.#filed(commit), result, counts))
      },
      quarantined: (session, reason, seq, at) => {
        this.notice('error', `session ${session} is quarantined: ${reason}`)
        this.publish({ type: 'change', change: 'quarantined', seq, at, session, reason })
      },
    })
    this.#ticker = new Ticker(TICK_MS, () => this.#tick())
  }

  get state(): string {
    return String(this.#machine.getSnapshot().value)
  }
  get startedAt(): number {
    return this.#machine.getSnapshot().context.startedAt
  }
  get awake(): number {
    return this.#registry.size
  }
  /** `offline`: sessions go on without the provider meanwhile. */
  get waiting(): { since: number; reason: string; offline: boolean } | null {
    const { waiting } = this.#effects
    return waiting === null ? null : { ...waiting, offline: this.#options.goesOffline?.() ?? false }
  }
  /** Nothing in flight, nothing heard since. */
  get idleSince(): number | null {
    return this.#effects.inFlight + this.#effects.queued > 0 ? null : this.#lastActivity
  }

  /** Takes up what an earlier process left: the spool, then every effect its snapshots want. */
  async restore(): Promise<void> {
    const spooled = await this.#drainSpool()
    const effects = await this.#store.unfinishedEffects()
    for (const { session, effect } of effects) this.#effects.reconcile(session, effect)
    const stranded = await this.#store.strandedSessions()
    // A recovered database may hold messages that its sessions do not know of.
    for (const session of stranded) await this.#rebuild(session, 'its messages waited for nobody')
    fault('listen')
    this.#machine.send({ type: 'RESTORED', effects: effects.length, stranded: stranded.length, spooled })
    this.#options.log('info', 'restored', { effects: effects.length, stranded: stranded.length, spooled })
  }

  /** Right after the door is open: what was spooled while it was not. */
  async serve(): Promise<void> {
    await this.#ticker.run()
    this.#ticker.start()
  }

  /** Resolves once the event is durable: only then may it be acknowledged. */
  async accept(event: MemoryEvent): Promise<Accepted> {
    if (this.state === 'draining' || this.state === 'stopped') {
      throw new MemError('draining', 'the daemon is stopping; the event belongs in the spool', { retryable: true })
    }
    this.#lastActivity = this.#now()
    try {
      return await this.#take(event)
    } catch (error) {
      this.notice('error', `events cannot be stored and wait in the spool: ${messageOf(error)}`, { error })
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

  /** What is durable becomes visible. Also for changes that no session makes: those come from whoever made them. */
  publish(item: StreamItem): void {
    for (const listener of this.#listeners) listener(item)
  }

  /** What waits goes to the observer now, and the provider is asked again. How many sessions had something. */
  async flush(session: string | null): Promise<number> {
    this.#effects.resetBreakers()
    const waiting = await this.#sessionsWith('pending')
    const sessions = session === null ? waiting : waiting.filter((id) => id === session)
    await Promise.all(sessions.map((id) => this.#tell(id, { type: 'FLUSH' })))
    return sessions.length
  }

  /** Messages that were set aside, and quarantined sessions, get another chance. How many messages. */
  async retry(session: string | null): Promise<number> {
    const quarantined = (await this.#store.sessions({ status: 'failed' })).map((row) => row.session)
    const affected =
      session === null ? [...new Set([...(await this.#sessionsWith('failed')), ...quarantined])] : [session]
    const counts = await Promise.all(
      affected.map(async (id) => {
        const row = await this.#store.session(id)
        if (row?.quarantine != null) await this.#rebuild(id, 'revived by hand')
        let count = 0
        await this.#registry.get(id).deliverPrepared(async () => {
          const failed = await this.#store.queue({ session: id, status: 'failed' })
          const messages = await this.#store.countByPrompt(id, 'failed')
          const summaries = failed.filter((message) => message.kind === 'turn_end').map((message) => message.prompt)
          count = total(messages) + summaries.length
          return { type: 'RETRY', messages, summaries: [...new Set(summaries)] }
        })
        return count
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Drops what was set aside, or what waits too. How many messages. */
  async clear(session: string | null, pending: boolean): Promise<number> {
    const waiting = pending ? await this.#sessionsWith('pending') : []
    const affected = session === null ? [...new Set([...(await this.#sessionsWith('failed')), ...waiting])] : [session]
    const counts = await Promise.all(
      affected.map(async (id) => {
        let dropped = 0
        await this.#registry.get(id).deliverPrepared(async () => {
          const failed = total(await this.#store.countByPrompt(id, 'failed'))
          const waits = pending ? await this.#store.countByPrompt(id, 'pending') : null
          dropped = failed + total(waits ?? [])
          return { type: 'CLEAR', pending: waits, failed }
        })
        return dropped
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** The session is over; what waits is still observed. */
  closeSession(session: string): Promise<unknown> {
    return this.#tell(session, { type: 'SESSION_END' })
  }

  /** A closed session goes on as if its user had come back; one that is open stays as it is. */
  reopenSession(session: string): Promise<unknown> {
    return this.#tell(session, { type: 'REOPEN' })
  }

  /** Accepts nothing more, lets effects finish for a while, lets go of the rest. */
  async drain(reason: string): Promise<void> {
    if (this.state === 'draining' || this.state === 'stopped') return
    this.#machine.send({ type: 'DRAIN', reason, at: this.#now() })
    this.#options.log('info', 'draining', { reason })
    await this.#ticker.stop()
    fault('drain')
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS - RELEASE_MS)
    })
    const unfinished = await this.#effects.drain(patience)
    clearTimeout(timer)
    await Promise.all(
      unfinished.map((session) =>
        this.#tell(session, { type: 'DRAIN' }).catch((error: unknown) =>
          this.#options.log('warn', 'could not let go of a session; the next start takes it up', { session, error }),
        ),
      ),
    )
    this.#machine.send({ type: 'DRAINED' })
  }

  async #tick(): Promise<void> {
    try {
      await this.#drainSpool()
      const now = this.#now()
      const busy = this.#effects.inFlight + this.#effects.queued
      const due = await this.#store.dueSessions(now, MAX_WAKE_MS, WAKE_AT_ONCE + busy)
      const alone = due.filter((session) => !this.#effects.has(session))
      await Promise.all(alone.map((session) => this.#tell(session, { type: 'DEADLINE' }).catch(() => undefined)))
      this.#registry.sleep(now - SLEEP_AFTER_MS)
      await this.#options.housekeeping?.()
    } catch (error) {
      this.notice('error', `a tick failed: ${messageOf(error)}`, { error })
    }
  }

  async #drainSpool(): Promise<number> {
    return await this.#options.spool.drain((event) => {
      fault('spool.read')
      this.#lastActivity = this.#now()
      return this.#take(event)
    })
  }

  async #take(event: MemoryEvent): Promise<Accepted> {
    if (event.kind === 'session_start') await this.#options.filing?.arrives(event)
    return await this.#registry.get(event.session).accept(event)
  }

  /** As the store filed it, whatever key the session's actor still holds. */
  #filed(commit: Commit): Commit {
    const { project } = commit.state
    const key = this.#options.filing?.keyOf(project.key) ?? project.key
    return key === project.key ? commit : { ...commit, state: { ...commit.state, project: { ...project, key } } }
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

/** Left of the drain for letting go of what did not finish, in ms. */
const RELEASE_MS = 1_000

function startMachine(at: number) {
  return createActor(supervisorMachine, { input: { at } }).start()
}

function total(counts: readonly { count: number }[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}
