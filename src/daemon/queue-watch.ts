/**
 * Watches the queue: whether it grows, and whether its messages wait too long. A message that only collects in an open turn
 * is not late, however old it is; one whose session is with the observer or waits for the provider can be.
 */
import { formatTime } from '../domain/dates.ts'
import { pluralize } from '../lib/format.ts'
import type { Settings } from '../settings/settings.ts'
import type { SampledQueue } from '../store/port.ts'

export type QueueTrend = 'growing' | 'shrinking' | 'steady'

export interface QueueAlert {
  /** Time of the sample at which it began. */
  since: number
  /** What is wrong, and why. */
  text: string
  /** What the user can do. */
  fix: string
}

/** Samples that the trend is computed from, in ms: longer than a model takes for one batch. */
const WINDOW_MS = 300_000
/** A window with fewer samples says nothing. */
const MIN_SAMPLES = 6
/** Smaller changes of the length are the normal coming and going of batches. */
const MIN_CHANGE = 10
const MIN_CHANGE_SHARE = 0.1

interface QueueWatchOptions {
  settings: Pick<Settings, 'CLAUDE_MEM_QUEUE_ALERT_MINUTES' | 'CLAUDE_MEM_QUEUE_ALERT_MESSAGES'>
  /** Since when and why the provider does not answer; null while it does. */
  waiting: () => { since: number; reason: string } | null
  /** Why the budget allows no model; null while it does. */
  budgetReason: () => string | null
  notice: (level: 'info' | 'warn', text: string) => void
}

export class QueueWatch {
  readonly #options: QueueWatchOptions
  #samples: { at: number; waiting: number }[] = []
  #alert: QueueAlert | null = null

  constructor(options: QueueWatchOptions) {
    this.#options = options
  }

  get alert(): QueueAlert | null {
    return this.#alert
  }

  get trend(): QueueTrend {
    const [oldest, middle, newest] = this.#thirds()
    if (oldest === undefined || middle === undefined || newest === undefined) return 'steady'
    const least = Math.max(MIN_CHANGE, oldest * MIN_CHANGE_SHARE)
    if (newest - oldest >= least && middle >= oldest && newest >= middle) return 'growing'
    return oldest - newest >= least ? 'shrinking' : 'steady'
  }

  /** `peak`: the highest number of waiting messages since the sample before. */
  sample(queue: SampledQueue, peak: number, at: number): void {
    const recent = this.#samples.filter((sample) => sample.at > at - WINDOW_MS && sample.at < at)
    this.#samples = [...recent, { at, waiting: Math.max(peak, queue.pending + queue.processing) }]
    const text = this.#problem(queue, at)
    if (text === null) {
      if (this.#alert !== null) this.#options.notice('info', 'the queue is back to normal')
      this.#alert = null
      return
    }
    const fix = this.#fix()
    if (this.#alert === null) this.#options.notice('warn', `${text}; ${fix}`)
    this.#alert = { since: this.#alert?.since ?? at, text, fix }
  }

  #problem({ pending, processing, oldestDueAt }: SampledQueue, at: number): string | null {
    const { CLAUDE_MEM_QUEUE_ALERT_MINUTES: minutes, CLAUDE_MEM_QUEUE_ALERT_MESSAGES: most } = this.#options.settings
    const waiting = pending + processing
    const lateMinutes = oldestDueAt === null ? 0 : Math.floor((at - oldestDueAt) / 60_000)
    const isLate = minutes > 0 && lateMinutes >= minutes
    // An alert lasts until the queue is short again: between two batches it does not grow.
    const isGrowing = most > 0 && waiting >= most && (this.trend === 'growing' || this.#alert !== null)
    if (!isLate && !isGrowing) return null
    const what = isLate
      ? `${pluralize(waiting, 'message')} in the queue, the oldest one due for ${lateMinutes} min`
      : `the queue is long: ${pluralize(waiting, 'message')}`
    return `${what}; ${this.#why()}`
  }

  #why(): string {
    const { waiting, budgetReason } = this.#options
    const down = waiting()
    if (down !== null) return `the provider does not answer since ${formatTime(down.since)}: ${down.reason}`
    const spent = budgetReason()
    return spent === null ? 'events arrive faster than the observer answers' : `no model is called: ${spent}`
  }

  #fix(): string {
    if (this.#options.waiting() === null) {
      return 'claude-mem config set effect-concurrency 4 makes more calls at the same time; claude-mem inspect shows them'
    }
    return 'nothing is lost; claude-mem providers test shows what is wrong, claude-mem flush tries again now, claude-mem config set when-unavailable offline goes on without the model'
  }

  /** Averages of the oldest, middle and newest third of the window. */
  #thirds(): number[] {
    const count = this.#samples.length
    if (count < MIN_SAMPLES) return []
    const size = Math.floor(count / 3)
    const average = (from: number, to: number) =>
      this.#samples.slice(from, to).reduce((sum, { waiting }) => sum + waiting, 0) / (to - from)
    return [average(0, size), average(size, count - size), average(count - size, count)]
  }
}
