/** Runs a recorded session through the real actors on a real SQLite file, one event after the other. */
import { Supervisor, sessionPolicy } from '../../src/daemon/actors/supervisor.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Observation, Summary } from '../../src/domain/observation.ts'
import type { Paths } from '../../src/lib/paths.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import type { Observer } from '../../src/observer/port.ts'
import { type LoadedSettings, loadSettings } from '../../src/settings/settings.ts'
import type { CallRow, Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { readTranscriptEvents } from '../../src/transfer/transcripts/index.ts'
import { namedTranscripts } from '../../src/transfer/transcripts/readers.ts'
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
  return await withMemory(options, async (memory) => {
    await memory.add(source)
    return await withoutMemory(await memory.observed())
  })
}

const withoutMemory = async ({ store: _store, paths: _paths, ...seen }: ObservedMemory): Promise<Observed> => seen

/** Calls `use` with the memory of a transcript, which is removed afterwards. */
export async function withObserved<T>(
  file: string,
  options: ObservedWith,
  use: (memory: ObservedMemory) => Promise<T>,
): Promise<T> {
  return await withMemory(options, async (memory) => {
    await memory.add(memory.transcript(file))
    return await use(await memory.observed())
  })
}

/** Calls `use` with an empty memory, which is removed afterwards. */
export async function withMemory<T>(options: ObservedWith, use: (memory: GrowingMemory) => Promise<T>): Promise<T> {
  const sandbox = makeSandbox('quality')
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  try {
    return await use(new GrowingMemory(store, sandbox.paths, options))
  } finally {
    await store.close()
    sandbox.remove()
  }
}

/** A memory to which one session after the other is added. */
export class GrowingMemory {
  readonly events: MemoryEvent[] = []
  readonly complaints: string[] = []
  readonly store: Store
  readonly paths: Paths
  readonly #settings: LoadedSettings['values']
  readonly #supervisor: Supervisor

  constructor(store: Store, paths: Paths, { observer, loaded = loadSettings('', {}) }: ObservedWith) {
    this.store = store
    this.paths = paths
    this.#settings = loaded.values
    let ids = 0
    this.#supervisor = new Supervisor({
      store,
      observer: () => observer,
      offlineObserver,
      policy: () => sessionPolicy(loaded, observer.provider === 'offline'),
      concurrency: () => 1,
      spool: { deliver: async () => 0 },
      log: (level, text, details) => {
        if (level !== 'warn' && level !== 'error') return
        this.complaints.push(`${text} ${JSON.stringify(details ?? {}, showError)}`)
      },
      now: () => this.events.at(-1)?.at ?? 0,
      random: () => 0.5,
      freshId: () => `quality-${++ids}`,
    })
  }

  /** The events of a transcript of any client. */
  transcript(file: string): AsyncGenerator<MemoryEvent> {
    const skipped = (line: number, reason: string) => this.complaints.push(`${file}:${line}: ${reason}`)
    return readTranscriptEvents(file, { settings: this.#settings, client: clientOf(file), skipped })
  }

  async add(source: AsyncIterable<MemoryEvent>): Promise<void> {
    if (this.events.length === 0) await this.#supervisor.restore()
    for await (const event of source) {
      this.events.push(event)
      await this.#supervisor.accept(event)
      // In a real session the observer has enough time between two tool uses.
      await settled(this.store)
    }
    await this.#supervisor.flush(null)
    await settled(this.store)
  }

  async observed(): Promise<ObservedMemory> {
    const { store, paths, events, complaints } = this
    const [observations, summaries, calls] = await Promise.all([
      store.observations({ limit: MOST }),
      store.summaries({ limit: MOST }),
      store.calls({ limit: MOST }),
    ])
    return {
      store,
      paths,
      events,
      complaints,
      observations: inOrder(observations),
      summaries: inOrder(summaries),
      calls,
    }
  }
}

/** Whose transcript it is. */
export function clientOf(file: string): string {
  const { files, problems } = namedTranscripts([file])
  const [found] = files
  if (found === undefined) throw new Error(`${file}: ${problems[0]?.reason ?? 'no transcript'}`)
  return found.client
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
