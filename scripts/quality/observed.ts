/** Runs a recorded session through the real actors on a real SQLite file, one event after the other. */
import { Supervisor, sessionPolicy } from '../../src/daemon/actors/supervisor.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import type { Paths } from '../../src/lib/paths.ts'
import type { Observer } from '../../src/observer/port.ts'
import { offlineObserver } from '../../src/observer/rules/index.ts'
import { type LoadedSettings, loadSettings } from '../../src/settings/settings.ts'
import type { CallRow, Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import { makeSandbox } from '../lib/sandbox.ts'

export interface Observed {
  events: MemoryEvent[]
  observations: Observation[]
  summaries: Summary[]
  calls: CallRow[]
  /** Log lines at warn and error. */
  complaints: string[]
}

const MOST = 100_000
/** A slow local model may take minutes for one answer, in ms. */
const SETTLE_MS = 600_000

export interface ObservedWith {
  observer: Observer
  /** Default: the default settings. */
  loaded?: LoadedSettings
}

/** What was made of a session, with the memory that it is in. */
export interface ObservedMemory extends Observed {
  store: Store
  paths: Paths
}

export async function observed(file: string, options: ObservedWith): Promise<Observed> {
  return await withObserved(file, options, withoutMemory)
}

/** The clock is the time of the last event, as it was when the session was recorded. */
export async function observedEvents(source: AsyncIterable<MemoryEvent>, options: ObservedWith): Promise<Observed> {
  return await withObservedEvents(source, options, withoutMemory)
}

const withoutMemory = async ({ store: _store, paths: _paths, ...seen }: ObservedMemory): Promise<Observed> => seen

/** Calls `use` with the memory of a transcript, which is removed afterwards. */
export async function withObserved<T>(
  file: string,
  options: ObservedWith,
  use: (memory: ObservedMemory) => Promise<T>,
): Promise<T> {
  const { values: settings } = options.loaded ?? loadSettings('', {})
  const skips: string[] = []
  const skipped = (line: number, reason: string) => skips.push(`${file}:${line}: ${reason}`)
  return await withObservedEvents(readTranscriptEvents(file, { settings, skipped }), options, (memory) =>
    use({ ...memory, complaints: [...skips, ...memory.complaints] }),
  )
}

async function withObservedEvents<T>(
  source: AsyncIterable<MemoryEvent>,
  options: ObservedWith,
  use: (memory: ObservedMemory) => Promise<T>,
): Promise<T> {
  const sandbox = makeSandbox('quality')
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  try {
    const { events, complaints } = await observeAll(source, store, options)
    const [observations, summaries, calls] = await Promise.all([
      store.observations({ limit: MOST }),
      store.summaries({ limit: MOST }),
      store.calls({ limit: MOST }),
    ])
    const seen = { events, complaints, observations: inOrder(observations), summaries: inOrder(summaries), calls }
    return await use({ ...seen, store, paths: sandbox.paths })
  } finally {
    await store.close()
    sandbox.remove()
  }
}

async function observeAll(
  source: AsyncIterable<MemoryEvent>,
  store: Store,
  { observer, loaded = loadSettings('', {}) }: ObservedWith,
): Promise<Pick<Observed, 'events' | 'complaints'>> {
  const complaints: string[] = []
  const events: MemoryEvent[] = []
  let ids = 0
  const supervisor = new Supervisor({
    store,
    observer: () => observer,
    offlineObserver,
    policy: () => sessionPolicy(loaded, observer.provider === 'offline'),
    concurrency: () => 1,
    spool: { deliver: async () => 0 },
    log: (level, text, details) => {
      if (level === 'warn' || level === 'error') complaints.push(`${text} ${JSON.stringify(details ?? {}, showError)}`)
    },
    now: () => events.at(-1)?.at ?? 0,
    random: () => 0.5,
    freshId: () => `quality-${++ids}`,
  })
  await supervisor.restore()
  for await (const event of source) {
    events.push(event)
    await supervisor.accept(event)
    // In a real session the observer has enough time between two tool uses.
    await settled(store)
  }
  await supervisor.flush(null)
  await settled(store)
  return { events, complaints }
}

async function settled(store: Store): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  while ((await store.unfinishedEffects()).length > 0) {
    if (Date.now() > deadline) throw new Error('the observer did not finish within ten minutes')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** `JSON.stringify` prints an `Error` as an empty object. */
const showError = (_key: string, value: unknown) => (value instanceof Error ? value.message : value)

const inOrder = <T extends { id: number }>(rows: readonly T[]): T[] => [...rows].sort((a, b) => a.id - b.id)
