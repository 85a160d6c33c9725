/** Periodic work on the ticker: queue length samples, retention, the daily backup, and the exit after idle time. */

import { uptime } from 'node:os'
import { DAY_MS } from '../domain/dates.ts'
import { errorMessage } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Settings } from '../settings/settings.ts'
import type { Store } from '../store/port.ts'
import type { Supervisor } from './actors/supervisor.ts'
import type { DiskReserve } from './disk-reserve.ts'
import type { QueueWatch } from './queue-watch.ts'

export const HOUR_MS = 3_600_000
/** Interval of queue length samples, in ms: fine enough for a chart of one day. */
const SAMPLE_MS = 10_000
const SPACE_CHECK_MS = 60_000
/** Work that is overdue by more does not keep the daemon: something prevents it, and the next start tries again. In ms. */
const OVERDUE_MS = HOUR_MS
/** Trace entries kept per session; older ones are only counted. */
const TRACE_PER_SESSION = 1_000

interface HousekeepingOptions {
  store: Store
  settings: Settings
  supervisor: Supervisor
  connections: () => number
  queueWatch?: Pick<QueueWatch, 'sample'>
  stop: (reason: string) => void
  /** Called after retention deleted rows. */
  removed: () => void
  reserve: Pick<DiskReserve, 'check'>
  log: Log
  now?: () => number
  /** Since the machine was started, in ms. No clock changes it. */
  uptime?: () => number
}

export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #now: () => number
  #nextAt: number
  #nextSampleAt = 0
  #nextSpaceCheckAt = 0
  #hourly: Promise<void> | null = null

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    // Not in the first minute: the start itself is more important.
    this.#nextAt = this.#now() + 60_000
  }

  /** Called on each tick. A failing part does not keep the others from running. */
  async run(): Promise<void> {
    const now = this.#now()
    await this.#attempt('the check for idle time', () => this.#exitWhenIdle(now))
    await this.#attempt('the sample of the queue length', () => this.#sampleQueue(now))
    await this.#attempt('keeping a reserve of disk space', () => this.#checkDiskSpace(now))
    // The second condition handles a clock that was set back.
    if (now < this.#nextAt && this.#nextAt - now <= HOUR_MS) return
    this.#nextAt = now + HOUR_MS
    // Not awaited: a large backup takes minutes, and a tick delivers the spool and wakes sessions.
    this.#hourly ??= this.#runHourly(now).finally(() => {
      this.#hourly = null
    })
  }

  /** Resolves when no hourly work is running. */
  async settled(): Promise<void> {
    await this.#hourly
  }

  async #runHourly(now: number): Promise<void> {
    await this.#attempt('retention', () => this.#retain(now))
    await this.#attempt('the daily backup', () => this.#backup(now))
  }

  async #attempt(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#options.supervisor.notice('warn', `${name} failed: ${errorMessage(error)}`, { error })
    }
  }

  async #sampleQueue(now: number): Promise<void> {
    if (now < this.#nextSampleAt && this.#nextSampleAt - now <= SAMPLE_MS) return
    this.#nextSampleAt = now + SAMPLE_MS
    const { store, supervisor, queueWatch } = this.#options
    const peak = supervisor.takeQueuePeak()
    const queue = await store.sampleQueue(now, peak)
    queueWatch?.sample(queue, peak.waiting, now)
  }

  async #checkDiskSpace(now: number): Promise<void> {
    if (now < this.#nextSpaceCheckAt && this.#nextSpaceCheckAt - now <= SPACE_CHECK_MS) return
    this.#nextSpaceCheckAt = now + SPACE_CHECK_MS
    this.#options.reserve.check()
  }

  /**
   * Not while messages wait for a provider or for their idle time: without a daemon they would wait until the next session.
   * The end of a session after a day without events is left to the next start.
   */
  async #exitWhenIdle(now: number): Promise<void> {
    const { store, settings, supervisor, connections, stop } = this.#options
    const idleMs = settings.CLAUDE_MEM_IDLE_EXIT_MINUTES * 60_000
    const since = supervisor.idleSince
    if (idleMs === 0 || since === null || connections() > 0 || now - since < idleMs) return
    if ((await store.nextWorkAt(now - OVERDUE_MS)) !== null) return
    stop(`idle for ${settings.CLAUDE_MEM_IDLE_EXIT_MINUTES} minutes`)
  }

  async #retain(now: number): Promise<void> {
    const { store, settings, log } = this.#options
    const rules = {
      payloadDays: settings.CLAUDE_MEM_KEEP_PAYLOADS_DAYS,
      payloadBytes: settings.CLAUDE_MEM_KEEP_PAYLOADS_MB * 1024 * 1024,
      passageDays: settings.CLAUDE_MEM_PASSAGE_DAYS,
      passageBytes: settings.CLAUDE_MEM_PASSAGE_MB * 1024 * 1024,
      traceDays: settings.CLAUDE_MEM_KEEP_TRACE_DAYS,
      tracePerSession: TRACE_PER_SESSION,
      observerTurnDays: settings.CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS,
    }
    await store.countTime(now, this.#options.uptime?.() ?? uptime() * 1_000)
    let removed = 0
    for (;;) {
      const rows = await store.applyRetention(rules, now)
      removed += rows
      if (rows === 0) break
    }
    if (removed === 0) return
    log('info', 'retention removed old rows', { rows: removed })
    this.#options.removed()
  }

  async #backup(now: number): Promise<void> {
    const { store, settings, log } = this.#options
    const newest = (await store.backups()).find((backup) => backup.reason === 'daily')
    // One from the future was made while the clock was wrong.
    if (newest !== undefined && Math.abs(now - newest.at) < DAY_MS) return
    const { file, bytes } = await store.backup('daily', settings.CLAUDE_MEM_KEEP_BACKUPS)
    log('info', 'daily backup written', { file, bytes })
  }
}
