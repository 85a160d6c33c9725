/** What is done now and then, on the ticker: the queue's length, retention, the daily backup, and leaving when nobody needs us. */
import type { Log, Supervisor } from './actors/supervisor.ts'
import { messageOf } from './errors.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store/port.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Often enough for a chart of a day, and a write at most six times a minute. */
const SAMPLE_MS = 10_000
/** One session's transitions that are worth reading; older ones are counted. */
const TRACE_PER_SESSION = 1_000

export interface HousekeepingOptions {
  store: Store
  settings: Settings
  supervisor: Supervisor
  connections: () => number
  stop: (reason: string) => void
  log: Log
  now?: () => number
}

export class Housekeeping {
  readonly #options: HousekeepingOptions
  readonly #now: () => number
  #nextAt: number
  #nextSampleAt = 0

  constructor(options: HousekeepingOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    // Not in the first minute: a start has better things to do.
    this.#nextAt = this.#now() + 60_000
  }

  async run(): Promise<void> {
    const now = this.#now()
    this.#leaveWhenIdle(now)
    await this.#sampleQueue(now)
    // The second test is for a clock that went back.
    if (now < this.#nextAt && this.#nextAt - now <= HOUR_MS) return
    this.#nextAt = now + HOUR_MS
    await this.#retain(now)
    await this.#backup(now)
  }

  async #sampleQueue(now: number): Promise<void> {
    if (now < this.#nextSampleAt && this.#nextSampleAt - now <= SAMPLE_MS) return
    this.#nextSampleAt = now + SAMPLE_MS
    await this.#options.store.sampleQueue(now)
  }

  #leaveWhenIdle(now: number): void {
    const { settings, supervisor, connections, stop } = this.#options
    const idleMs = settings.CLAUDE_MEM_IDLE_EXIT_MINUTES * 60_000
    const since = supervisor.idleSince
    if (idleMs === 0 || since === null || connections() > 0 || now - since < idleMs) return
    stop(`idle for ${settings.CLAUDE_MEM_IDLE_EXIT_MINUTES} minutes`)
  }

  async #retain(now: number): Promise<void> {
    const { store, settings, log } = this.#options
    const rules = {
      payloadDays: settings.CLAUDE_MEM_KEEP_PAYLOADS_DAYS,
      payloadBytes: settings.CLAUDE_MEM_KEEP_PAYLOADS_MB * 1024 * 1024,
      traceDays: settings.CLAUDE_MEM_KEEP_TRACE_DAYS,
      tracePerSession: TRACE_PER_SESSION,
      observerTurnDays: settings.CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS,
    }
    let removed = 0
    for (;;) {
      const rows = await store.retain(rules, now)
      removed += rows
      if (rows === 0) break
    }
    if (removed > 0) log('info', 'retention', { rows: removed })
  }

  async #backup(now: number): Promise<void> {
    const { store, settings, supervisor, log } = this.#options
    const daily = (await store.backups()).filter((backup) => backup.reason === 'daily')
    const newest = Math.max(0, ...daily.map((backup) => backup.at))
    if (now - newest < DAY_MS && newest <= now) return
    try {
      const { file, bytes } = await store.backup('daily', settings.CLAUDE_MEM_KEEP_BACKUPS)
      log('info', 'backup', { file, bytes })
    } catch (error) {
      supervisor.notice('warn', `the daily backup failed: ${messageOf(error)}`, { error })
    }
  }
}
