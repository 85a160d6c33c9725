/** What becomes of a session: its events through the real actors on a real SQLite file, one after the other. */
import { join } from 'node:path'
import { Supervisor } from '../../src/actors/supervisor.ts'
import { readTranscript } from '../../src/hook/transcript/index.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import type { Observation, Summary } from '../../src/memory/observation.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import type { Observer } from '../../src/observer/port.ts'
import { policyOf } from '../../src/policy.ts'
import { type LoadedSettings, loadSettings } from '../../src/settings.ts'
import type { CallRow } from '../../src/store/accounting.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { makePlace } from '../lib/place.ts'

export interface Observed {
  events: MemoryEvent[]
  observations: Observation[]
  summaries: Summary[]
  calls: CallRow[]
  /** What the log said at warn or error. */
  complaints: string[]
}

const MOST = 100_000
/** A slow local model may take minutes for one answer. */
const SETTLE_MS = 600_000

export interface ObservedWith {
  observer: Observer
  /** The defaults, where it is left out. */
  loaded?: LoadedSettings
}

export async function observed(file: string, options: ObservedWith): Promise<Observed> {
  const { values: settings } = options.loaded ?? loadSettings('', {})
  const complaints: string[] = []
  const skipped = (line: number, reason: string) => complaints.push(`${file}:${line}: ${reason}`)
  const seen = await observedEvents(readTranscript(file, { settings, skipped }), options)
  return { ...seen, complaints: [...complaints, ...seen.complaints] }
}

/** The clock is the events' own: that of the session when it was recorded. */
export async function observedEvents(source: AsyncIterable<MemoryEvent>, options: ObservedWith): Promise<Observed> {
  const { observer, loaded = loadSettings('', {}) } = options
  const place = makePlace('quality')
  const complaints: string[] = []
  const events: MemoryEvent[] = []
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  try {
    let ids = 0
    const supervisor = new Supervisor({
      store,
      observer: () => observer,
      offlineObserver,
      policy: () => policyOf(loaded, observer.provider === 'offline'),
      concurrency: () => 1,
      spool: { drain: async () => 0 },
      log: (level, text, details) => {
        if (level === 'warn' || level === 'error') complaints.push(`${text} ${JSON.stringify(details ?? {})}`)
      },
      now: () => events.at(-1)?.at ?? 0,
      random: () => 0.5,
      freshId: () => `quality-${++ids}`,
    })
    await supervisor.restore()
    for await (const event of source) {
      events.push(event)
      await supervisor.accept(event)
      // Between two tool uses of a real session the observer has all the time it needs.
      await settled(store)
    }
    await supervisor.flush(null)
    await settled(store)
    const [observations, summaries, calls] = await Promise.all([
      store.observations({ limit: MOST }),
      store.summaries({ limit: MOST }),
      store.calls({ limit: MOST }),
    ])
    return { events, complaints, observations: inOrder(observations), summaries: inOrder(summaries), calls }
  } finally {
    await store.close()
    place.remove()
  }
}

async function settled(store: Store): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  while ((await store.unfinishedEffects()).length > 0) {
    if (Date.now() > deadline) throw new Error('the observer does not come to an end')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const inOrder = <T extends { id: number }>(rows: readonly T[]): T[] => [...rows].sort((a, b) => a.id - b.id)

/** Where a transcript's facts are. */
export const factsFileOf = (directory: string, name: string): string => join(directory, `${name}.facts.json`)
