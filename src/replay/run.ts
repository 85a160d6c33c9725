/**
 * The run itself: the daemon's own supervisor, session machine and effect runner, on a database that is thrown away. Its
 * clock is that of the session when it was recorded, so what waited then is due without anybody waiting now.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Policy } from '../../machines/session/types.ts'
import type { CommitNews } from '../actors/stream.ts'
import { Supervisor } from '../actors/supervisor.ts'
import { MemError } from '../errors.ts'
import type { Observation, Summary } from '../memory/observation.ts'
import { offlineObserver } from '../observer/offline/index.ts'
import type { Observer } from '../observer/port.ts'
import type { CallRow } from '../store/accounting.ts'
import type { Message } from '../store/port.ts'
import { openLocalStore } from '../store/sqlite/local.ts'
import { guardedObserver, noAnswer, type Purse } from './guard.ts'
import type { ToldEvent } from './load.ts'

export interface Outcome {
  observations: Observation[]
  summaries: Summary[]
  calls: CallRow[]
  /** What the observer could not be told, with its error. */
  failed: Pick<Message, 'eventId' | 'tool' | 'error'>[]
}

export interface RunOptions {
  /** Made for this run, with a directory of its own to work in. */
  observer(workDir: string): Promise<Observer>
  policy: Policy
  budget: Purse | null
  signal: AbortSignal
  /** So many of the events are told. */
  moved(done: number): void
  /** Time goes on to here once all is told: what was idle by now is observed. */
  until: number
  /** Nothing of the stored session waits: neither does anything here. */
  flush: boolean
}

/** More than any session has. */
const MOST = 1_000_000
/** Beyond an effect's own deadline nothing is to be expected any more, in ms. */
const GRACE_MS = 10_000

export async function replayed(told: readonly ToldEvent[], options: RunOptions): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-replay-'))
  // An exit that nobody can catch up with still takes what was said in the session along.
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const observer = await options.observer(join(directory, 'observer'))
    return await inDirectory(directory, told, observer, options)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

async function inDirectory(
  directory: string,
  told: readonly ToldEvent[],
  observer: Observer,
  options: RunOptions,
): Promise<Outcome> {
  const store = await openLocalStore({
    databaseFile: join(directory, 'db.sqlite'),
    backupsDir: join(directory, 'backups'),
  })
  const stage = new Stage(options.signal)
  const guarded = guardedObserver(observer, { ...options, halt: (error) => stage.halt(error) })
  const supervisor = new Supervisor({
    store,
    observer: () => guarded,
    offlineObserver,
    spent: (calls) => options.budget?.add(calls),
    policy: () => options.policy,
    concurrency: () => 1,
    spool: { drain: async () => 0 },
    log: () => undefined,
    now: () => stage.clock,
    freshId: randomUUID,
  })
  supervisor.subscribe((item) => {
    if (item.type === 'commit') stage.news(item)
  })
  /** Whatever is due until then happens at its own time. */
  async function goOnTo(at: number): Promise<void> {
    for (let last = Number.NEGATIVE_INFINITY; ; ) {
      const due = await store.nextWakeAt()
      if (due === null || due > at || due <= last) break
      last = due
      stage.clock = Math.max(stage.clock, due)
      await supervisor.tick()
      await stage.settled()
    }
    stage.clock = Math.max(stage.clock, at)
  }
  try {
    stage.clock = told[0]?.receivedAt ?? 0
    await supervisor.restore()
    for (const [i, { event, receivedAt }] of told.entries()) {
      options.signal.throwIfAborted()
      await goOnTo(receivedAt)
      await supervisor.accept(event)
      await stage.settled()
      options.moved(i + 1)
    }
    await goOnTo(options.until)
    if (options.flush) {
      await supervisor.flush(null)
      await stage.settled()
    }
    const [observations, summaries, calls, failed] = await Promise.all([
      store.observations({ limit: MOST }),
      store.summaries({ limit: MOST }),
      store.calls({ limit: MOST }),
      store.queue({ status: 'failed' }),
    ])
    return {
      observations: inOrder(observations),
      summaries: inOrder(summaries),
      calls,
      failed: failed.map(({ eventId, tool, error }) => ({ eventId, tool, error })),
    }
  } finally {
    await store.close()
  }
}

const inOrder = <T extends { id: number }>(rows: readonly T[]): T[] => rows.toSorted((a, b) => a.id - b.id)

/** What time it is in the replay, and whether its session is at rest. */
class Stage {
  clock = 0
  #effect: CommitNews['effect'] = null
  #ended: { error: unknown } | null = null
  #wake: () => void = () => undefined
  readonly #signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.halt(signal.reason), { once: true })
  }

  news({ effect, waiting }: CommitNews): void {
    this.#effect = effect
    if (effect === null && waiting !== null) this.halt(noAnswer(waiting))
    this.#wake()
  }

  halt(error: unknown): void {
    this.#ended ??= { error }
    this.#wake()
  }

  /** Until nothing is in flight. */
  async settled(): Promise<void> {
    while (this.#effect !== null && this.#ended === null) await this.#next(this.#effect.timeoutMs + GRACE_MS)
    if (this.#ended !== null) throw this.#ended.error
    this.#signal.throwIfAborted()
  }

  #next(patienceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new MemError('internal', 'the replay came to a stop: an answer could not be stored')),
        patienceMs,
      )
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
