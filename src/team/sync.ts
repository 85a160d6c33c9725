/**
 * Keeps this machine and the shared log in step, while a team is connected. It is the only part that talks to PostgreSQL;
 * hooks, search and the daemon's stop never wait for it longer than they say.
 *
 * Phases: `connecting`, `connected` (push and pull run side by side), `waiting` (a call failed; the next attempt comes after a
 * pause that doubles up to a minute, or five minutes if nothing but a person can help), `off`. A call that does not answer in
 * time counts as failed. Every failure closes the connection, and what was on its way is sent or asked for again.
 */
import { once } from 'node:events'
import type { ReceivedRecord, RecordOrigin } from '../domain/team-record.ts'
import { MemError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { AppliedRecords, LogCursor, TeamStore } from '../store/team-port.ts'
import { LogPull } from './pull.ts'
import { OutboxPush } from './push.ts'
import type { SharedLog } from './shared-log.ts'
import { SyncRecord, type SyncStatus, teamFailure } from './sync-status.ts'
import { Changes, jittered, SyncStopped, WakeSignal, withDeadline } from './waiting.ts'

export interface TeamSyncOptions {
  store: TeamStore
  open: () => Promise<SharedLog>
  origin: () => RecordOrigin
  receive: (records: readonly ReceivedRecord[], cursors: readonly LogCursor[]) => Promise<AppliedRecords>
  notice: (level: 'info' | 'warn', text: string) => void
  log: Log
  /** A call to the log fails after this time, in ms. */
  callTimeoutMs?: number
  random?: () => number
  now?: () => number
}

/** A healthy server answers in milliseconds; a slow one may need a while for a large batch. */
const CALL_TIMEOUT_MS = 30_000
/** Pauses before the next attempt, in ms: the first, the longest, and the one where only a person can help. */
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
const HELPLESS_RETRY_MS = 300_000
/** Changes within this time after the first one are pushed together, in ms. */
const PUSH_DELAY_MS = 100
/** For the connection to close, in ms; it is left to itself after that. */
const CLOSE_TIMEOUT_MS = 500
/** Notices about refused records: one for each reason, and no more than this many. */
const MAX_REFUSAL_NOTICES = 5

export class TeamSync {
  readonly #options: Required<TeamSyncOptions>
  readonly #record = new SyncRecord()
  readonly #changes = new Changes()
  readonly #retry = new WakeSignal()
  readonly #pushWake = new WakeSignal()
  readonly #push: OutboxPush
  readonly #pull: LogPull
  readonly #refusals = new Set<string>()
  readonly #stopped = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #pushTimer: NodeJS.Timeout | null = null
  #twinNoticed = false

  constructor(options: TeamSyncOptions) {
    this.#options = { callTimeoutMs: CALL_TIMEOUT_MS, random: Math.random, now: Date.now, ...options }
    const { store, origin, receive, notice, random, now } = this.#options
    const shared = {
      origin,
      record: this.#record,
      changes: this.#changes,
      call: <T>(work: Promise<T>, signal: AbortSignal) => this.#call(work, signal),
      now,
    }
    this.#pull = new LogPull({
      ...shared,
      store,
      receive,
      wake: new WakeSignal(),
      outboxFilled: () => this.#pushWake.wake(),
      foreignTwin: (machine) => this.#noticeTwin(machine),
      notice,
      random,
    })
    this.#push = new OutboxPush({
      ...shared,
      store,
      wake: this.#pushWake,
      prepare: (log, projects, signal) => this.#pull.ensureRegistered(log, projects, signal),
      refused: (reason, count) => this.#noticeRefused(reason, count),
    })
  }

  start(): void {
    this.#record.phase = { is: 'connecting', since: this.#options.now() }
    this.#running = this.#run()
  }

  /** Something may have been put into the outbox. */
  changed(): void {
    this.#pushTimer ??= setTimeout(() => this.pushNow(), PUSH_DELAY_MS)
    this.#pushTimer.unref()
  }

  /** Without waiting for further changes: a session ended, or someone waits for it. */
  pushNow(): void {
    if (this.#pushTimer !== null) clearTimeout(this.#pushTimer)
    this.#pushTimer = null
    this.#pushWake.wake()
  }

  /** Projects were shared or withdrawn. */
  projectsChanged(): void {
    this.#pull.outdated()
    this.pushNow()
  }

  /** Tries to connect now instead of at the end of a pause. */
  retryNow(): void {
    if (this.#record.phase.is === 'waiting') this.#retry.wake()
  }

  /** Sends what waits and asks the log for what is new, without waiting for the next attempt. */
  syncNow(): void {
    this.retryNow()
    this.projectsChanged()
  }

  async status(): Promise<SyncStatus> {
    return this.#record.status(await this.#options.store.outboxStats())
  }

  /** Waits until nothing is left to be sent, for `ms` at most. False: something is, and the status says why. */
  async untilPushed(ms: number): Promise<boolean> {
    this.retryNow()
    this.pushNow()
    return await this.#until(ms, async () => (await this.#options.store.outboxStats()).waiting === 0)
  }

  /** Whether something of a project was received, now or by an earlier daemon. */
  hasBegun(project: string): boolean {
    return this.#pull.hasBegun(project)
  }

  /** Waits until the newest memories of a project are here, for `ms` at most. */
  async untilBegun(project: string, ms: number): Promise<boolean> {
    return await this.#until(ms, async () => this.#pull.hasBegun(project))
  }

  /** Waits until the log was received up to its end, for `ms` at most. */
  async untilCurrent(ms: number): Promise<boolean> {
    const since = this.#options.now()
    this.retryNow()
    this.#pull.outdated()
    return await this.#until(ms, async () => (this.#record.currentAt ?? 0) >= since)
  }

  /** Sends what is left for `finalPushMs` at most, if there is a connection, then ends. */
  async stop(finalPushMs: number): Promise<void> {
    if (this.#record.phase.is === 'connected' && finalPushMs > 0) {
      await this.untilPushed(finalPushMs).catch(() => false)
    }
    if (this.#pushTimer !== null) clearTimeout(this.#pushTimer)
    this.#stopped.abort()
    await this.#running
    this.#record.phase = { is: 'off' }
    this.#changes.happened()
  }

  async #until(ms: number, condition: () => Promise<boolean>): Promise<boolean> {
    const deadline = performance.now() + ms
    for (;;) {
      if (await condition()) return true
      const left = deadline - performance.now()
      const { phase } = this.#record
      const isHelpless = phase.is === 'waiting' && !phase.failure.retryable
      if (left <= 0 || phase.is === 'off' || isHelpless) return false
      await this.#changes.next(left)
    }
  }

  async #run(): Promise<void> {
    const { now, random, log } = this.#options
    const { signal } = this.#stopped
    for (let attempts = 0, failedSince: number | null = null; !signal.aborted; ) {
      const error = await this.#connectAndServe(signal)
      if (signal.aborted) return
      if (this.#record.phase.is === 'connected') {
        attempts = 0
        failedSince = null
      }
      attempts += 1
      failedSince ??= now()
      const failure = teamFailure(error)
      const growing = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 16))
      const pauseMs = jittered(failure.retryable ? growing : HELPLESS_RETRY_MS, random)
      this.#record.phase = { is: 'waiting', since: failedSince, retryAt: now() + pauseMs, attempts, failure }
      this.#record.loading = null
      // Each further attempt would only repeat the line.
      if (attempts === 1) log('warn', `team: ${failure.message}; memories wait on this machine`, { code: failure.code })
      this.#changes.happened()
      await this.#retry.wait(pauseMs, signal).catch(() => undefined)
    }
  }

  /** Returns why it ended. */
  async #connectAndServe(signal: AbortSignal): Promise<unknown> {
    const opening = this.#options.open()
    let opened: SharedLog
    try {
      opened = await this.#call(opening, signal)
    } catch (error) {
      // A connection that is made after the deadline, or after the stop, is not kept.
      opening.then(closeQuietly, () => undefined)
      return error
    }
    try {
      await this.#serve(opened, signal)
      return new SyncStopped()
    } catch (error) {
      return error
    } finally {
      await closeQuietly(opened)
    }
  }

  /** Push and pull run until one of them fails or the service is stopped. */
  async #serve(log: SharedLog, stopped: AbortSignal): Promise<void> {
    const connection = new AbortController()
    const signal = AbortSignal.any([stopped, connection.signal])
    this.#record.phase = { is: 'connected', since: this.#options.now(), listening: false }
    this.#pull.outdated()
    this.#pushWake.wake()
    this.#changes.happened()
    const isListening = () => this.#record.phase.is === 'connected' && this.#record.phase.listening
    const loops = [this.#push.run(log, signal), this.#pull.run(log, isListening, signal)]
    const listening = this.#listen(log, signal)
    try {
      await Promise.all(loops)
    } finally {
      connection.abort()
      await Promise.allSettled(loops)
      await withTimeout(CLOSE_TIMEOUT_MS, listening, undefined)
    }
  }

  /** Until the signal is aborted. Notifications are only for speed, so without them everything goes on. */
  async #listen(log: SharedLog, signal: AbortSignal): Promise<void> {
    const { phase } = this.#record
    try {
      const listening = log.listen((repository) => {
        if (this.#pull.isFollowed(repository)) this.#pull.wake()
      })
      const unlisten = await this.#call(listening, signal)
      if (unlisten === null) return
      if (phase.is === 'connected') phase.listening = true
      this.#changes.happened()
      // What was pushed before the server was asked to tell.
      this.#pull.wake()
      if (!signal.aborted) await once(signal, 'abort')
      await unlisten()
    } catch (error) {
      if (signal.aborted) return
      this.#options.log(
        'warn',
        `team: the server does not tell of changes, so it is asked: ${teamFailure(error).message}`,
      )
    }
  }

  async #call<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const { callTimeoutMs } = this.#options
    const late = () => {
      const text = `the server did not answer within ${callTimeoutMs / 1_000} s`
      return new MemError('busy', text, { retryable: true })
    }
    return await withDeadline(work, callTimeoutMs, signal, late)
  }

  #noticeRefused(reason: string, count: number): void {
    const { notice, log } = this.#options
    log('warn', `team: the log refused ${count} of the records that were sent: ${reason}`)
    if (this.#refusals.has(reason) || this.#refusals.size >= MAX_REFUSAL_NOTICES) return
    this.#refusals.add(reason)
    notice('warn', `the team's log refused memories of this machine: ${reason}; claude-mem team status shows which`)
  }

  #noticeTwin(machine: string): void {
    if (this.#twinNoticed) return
    this.#twinNoticed = true
    const why = 'another machine has the same name, as after copying a disk, or this data directory was restored'
    const fix = 'give this one another name: claude-mem config set team-machine NAME, then claude-mem restart'
    this.#options.notice('warn', `the team's log has memories of ${machine} that were not made here: ${why}; ${fix}`)
  }
}

async function closeQuietly(log: SharedLog): Promise<void> {
  const closing = log.close().catch(() => undefined)
  await withTimeout(CLOSE_TIMEOUT_MS, closing, undefined)
}
