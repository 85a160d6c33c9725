/**
 * Runs a replay with the daemon's supervisor, session machine and effect runner on a temporary database. Its clock is the
 * recorded time of the session, so timeouts of that time are due without waiting.
 *
 * Where the daemon would wait for a provider or continue without a model, a replay stops: a comparison of results from
 * two different observers would be meaningless.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Policy } from '../../../machines/session/types.ts'
import type { DailyBudget } from '../../daemon/actors/model-calls.ts'
import type { CommitItem } from '../../daemon/actors/stream.ts'
import { Supervisor } from '../../daemon/actors/supervisor.ts'
import type { ModelCall } from '../../domain/model-call.ts'
import type { Observation, Summary } from '../../domain/observation.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { makeTemporaryDirectory } from '../../lib/temporary.ts'
import { offlineObserver } from '../../observer/offline/index.ts'
import { type Observer, ObserverError } from '../../observer/port.ts'
import type { CallRow, InboxMessage, Store } from '../../store/port.ts'
import { openLocalStore } from '../../store/sqlite/store.ts'
import type { ReplayEvent } from './load.ts'

export interface ReplayOutcome {
  observations: Observation[]
  summaries: Summary[]
  calls: CallRow[]
  /** Messages that could not be observed, with the error. */
  failed: Pick<InboxMessage, 'eventId' | 'tool' | 'error'>[]
}

interface ReplayRunOptions {
  /** Creates the observer, with a private working directory. */
  observer(workDir: string): Promise<Observer>
  policy: Policy
  /** Null if no model is used. */
  budget: Pick<DailyBudget, 'reason' | 'add'> | null
  /** Adds what calls cost to the memory, where they count against the daily budget of everything else. */
  recordCost(calls: readonly ModelCall[]): Promise<void>
  /** Where the database of the replay is; what a killed replay leaves there is removed by the next process. */
  temporary: string
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
  /** Called with the number of replayed events. */
  onProgress(done: number): void
  /** After the last event the clock advances to this time, so that idle timeouts fire. */
  until: number
  /** Observe all pending messages at the end, as in the stored session. */
  flush: boolean
}

/** More than any session has. */
const MAX_ROWS = 1_000_000
/** Time (ms) after an effect's timeout in which its result must be stored. */
const GRACE_MS = 10_000

export async function replayEvents(events: readonly ReplayEvent[], options: ReplayRunOptions): Promise<ReplayOutcome> {
  const directory = makeTemporaryDirectory(options.temporary, 'replay')
  // Also on process exit: the database contains the session's texts.
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const observer = await options.observer(join(directory, 'observer'))
    return await replayInDirectory(directory, events, observer, options)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

async function replayInDirectory(
  directory: string,
  events: readonly ReplayEvent[],
  observer: Observer,
  options: ReplayRunOptions,
): Promise<ReplayOutcome> {
  const store = await openLocalStore({
    databaseFile: join(directory, 'db.sqlite'),
    backupsDir: join(directory, 'backups'),
  })
  // One after the other: the result of a call replaces its estimate.
  let recorded: Promise<void> = Promise.resolve()
  const clock = new ReplayClock(options.signal)
  const guarded = guardedObserver(observer, { ...options, halt: (error) => clock.halt(error) })
  const supervisor = new Supervisor({
    store,
    observer: () => guarded,
    offlineObserver,
    onModelCallsStored: (calls) => {
      if (calls.length === 0) return
      options.budget?.add(calls)
      recorded = recorded.then(() => options.recordCost(calls))
      recorded.catch(() => undefined)
    },
    policy: () => options.policy,
    concurrency: () => 1,
    spool: { deliver: async () => 0 },
    log: () => undefined,
    now: () => clock.now,
    freshId: randomUUID,
  })
  supervisor.subscribe((item) => {
    if (item.type === 'commit') clock.onCommit(item)
  })
  /** Advances the clock; each timeout that is due until then fires at its own time. */
  async function advanceTo(at: number): Promise<void> {
    for (let last = Number.NEGATIVE_INFINITY; ; ) {
      const due = await store.nextWakeAt()
      if (due === null || due > at || due <= last) break
      last = due
      clock.now = Math.max(clock.now, due)
      await supervisor.tick()
      await clock.idle()
    }
    clock.now = Math.max(clock.now, at)
  }
  try {
    clock.now = events[0]?.receivedAt ?? 0
    await supervisor.restore()
    for (const [i, { event, receivedAt }] of events.entries()) {
      options.signal.throwIfAborted()
      await advanceTo(receivedAt)
      await supervisor.accept(event)
      await clock.idle()
      options.onProgress(i + 1)
    }
    await advanceTo(options.until)
    if (options.flush) {
      await supervisor.flush(null)
      await clock.idle()
    }
    return await readOutcome(store)
  } finally {
    await recorded.finally(() => store.close())
  }
}

async function readOutcome(store: Store): Promise<ReplayOutcome> {
  const [observations, summaries, calls, failed] = await Promise.all([
    store.observations({ limit: MAX_ROWS }),
    store.summaries({ limit: MAX_ROWS }),
    store.calls({ limit: MAX_ROWS }),
    store.queue({ status: 'failed' }),
  ])
  return {
    observations: byId(observations),
    summaries: byId(summaries),
    calls,
    failed: failed.map(({ eventId, tool, error }) => ({ eventId, tool, error })),
  }
}

const byId = <T extends { id: number }>(rows: readonly T[]): T[] => rows.toSorted((a, b) => a.id - b.id)

/** The replay's clock, and whether an effect of its session is in flight. */
class ReplayClock {
  now = 0
  #effect: CommitItem['effect'] = null
  #halted: { error: unknown } | null = null
  #wake: () => void = () => undefined
  readonly #signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.halt(signal.reason), { once: true })
  }

  onCommit({ effect, waiting }: CommitItem): void {
    this.#effect = effect
    if (effect === null && waiting !== null) this.halt(observerUnavailable(waiting))
    this.#wake()
  }

  halt(error: unknown): void {
    this.#halted ??= { error }
    this.#wake()
  }

  /** Resolves when no effect is in flight. */
  async idle(): Promise<void> {
    while (this.#effect !== null && this.#halted === null) await this.#nextCommit(this.#effect.timeoutMs + GRACE_MS)
    if (this.#halted !== null) throw this.#halted.error
    this.#signal.throwIfAborted()
  }

  #nextCommit(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new MemError('internal', 'the replay stopped: an answer of the observer could not be stored')),
        timeoutMs,
      )
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

type GuardOptions = Pick<ReplayRunOptions, 'budget' | 'signal'> & { halt(error: unknown): void }

/** A provider's Retry-After is respected up to this time and number of retries. */
const MAX_RETRY_AFTER_MS = 30_000
const MAX_RETRIES = 3

function guardedObserver(observer: Observer, { budget, signal, halt }: GuardOptions): Observer {
  async function guarded<Answer>(call: (signal: AbortSignal) => Promise<Answer>, effect: AbortSignal): Promise<Answer> {
    const callSignal = AbortSignal.any([effect, signal])
    for (let retries = 0; ; retries++) {
      try {
        if (budget !== null && budget.reason !== null) throw budgetSpentError(budget.reason)
        return await call(callSignal)
      } catch (error) {
        if (isMessageFailure(error)) throw error
        const retryAfterMs = error instanceof ObserverError ? error.retryAfterMs : null
        if (
          retryAfterMs === null ||
          retryAfterMs > MAX_RETRY_AFTER_MS ||
          retries === MAX_RETRIES ||
          callSignal.aborted
        ) {
          halt(signal.aborted ? signal.reason : haltError(observer.provider, error))
          throw error
        }
        await sleep(retryAfterMs, undefined, { signal: callSignal })
      }
    }
  }
  return {
    provider: observer.provider,
    observe: (request, effect) => guarded((callSignal) => observer.observe(request, callSignal), effect),
    summarize: (request, effect) => guarded((callSignal) => observer.summarize(request, callSignal), effect),
    compact: (request, effect) => guarded((callSignal) => observer.compact(request, callSignal), effect),
  }
}

/** Such a failure is handled by the session machine as usual: retried, split, failed. */
function isMessageFailure(error: unknown): boolean {
  return error instanceof ObserverError ? error.owner !== 'provider' : !(error instanceof MemError)
}

export function budgetSpentError(reason: string): MemError {
  return new MemError(
    'forbidden',
    `the daily budget is used up, so no model is called: ${reason} (CLAUDE_MEM_DAILY_BUDGET_USD, _TOKENS); --provider offline costs nothing`,
  )
}

function haltError(provider: string, error: unknown): unknown {
  return error instanceof MemError ? error : observerUnavailable(`${provider}: ${errorMessage(error)}`, error)
}

/** The error where a real session would wait. */
function observerUnavailable(reason: string, cause?: unknown): MemError {
  return new MemError('not_running', `the observer did not answer: ${reason}. Nothing was changed; try again later`, {
    cause,
    retryable: true,
  })
}
