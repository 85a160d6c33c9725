/** A memory of a given size with the daemon's own index, in a place of its own, and how long each step of it took. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ObservationDraft } from '../../src/memory/observation.ts'
import type { Project } from '../../src/memory/project.ts'
import { openSearchThread, type SearchCalls } from '../../src/search/client.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { searchOptions } from '../../src/search/options.ts'
import { NO_FILTERS } from '../../src/search/query.ts'
import { loadSettings } from '../../src/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { makePlace, type Place } from '../lib/place.ts'
import { DIST } from '../lib/root.ts'
import { until } from '../lib/until.ts'
import type { Corpus } from './corpus.ts'
import { keepSessions } from './kept.ts'

/** Nine tenths of all observations are of one project: the largest index there can be at this size, and a filter. */
export const LARGE: Project = { key: 'dir:/large', name: 'large' }
const SMALL: Project = { key: 'dir:/small', name: 'small' }
const SMALL_EVERY = 10

const OBSERVATIONS_EACH = 20
const SESSIONS_AT_ONCE = 20
/** An hour between the starts of two sessions, from here on. */
export const FIRST_AT = Date.UTC(2020, 0, 1)
export const SESSION_MS = 3_600_000
/** Longer than an index of 100,000 vectors takes on a slow machine. */
const BUILD_LIMIT_MS = 1_800_000

export const settings = loadSettings('', {}).values

export interface Filled {
  place: Place
  sessions: number
  /** One of each session. */
  samples: ObservationDraft[]
  keepS: number
  vectorsS: number
}

export interface Steps {
  corpus: Corpus
  /** Whether each fact has a vector of its own. */
  apart: boolean
  progress(text: string): void
}

export async function fill(size: number, { corpus, apart, progress }: Steps): Promise<Filled> {
  const place = makePlace('bench-search', { CLAUDE_MEM_BATCH_MAX_SIZE: '500' })
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  const began = performance.now()
  const samples: ObservationDraft[] = []
  for (let kept = 0; kept * OBSERVATIONS_EACH < size; ) {
    const sessions = Array.from({ length: SESSIONS_AT_ONCE }, (_, i) => ({
      id: `session-${kept + i}`,
      project: (kept + i) % SMALL_EVERY === 0 ? SMALL : LARGE,
      observations: corpus.session(Math.min(OBSERVATIONS_EACH, size - (kept + i) * OBSERVATIONS_EACH), apart),
      at: FIRST_AT + (kept + i) * SESSION_MS,
    })).filter(({ observations }) => observations.length > 0)
    await keepSessions(store, sessions)
    kept += SESSIONS_AT_ONCE
    samples.push(...sessions.flatMap(({ observations: [first] }) => first ?? []))
    progress(`${size}: ${Math.min(size, kept * OBSERVATIONS_EACH)} observations kept`)
  }
  const keepS = (performance.now() - began) / 1_000
  const vectorsS = await embed(place, store, progress)
  await store.close()
  return { place, sessions: samples.length, samples, keepS, vectorsS }
}

/** Seconds until every observation has its vectors, repetitions are linked and the index is in step. */
async function embed(place: Place, store: Store, progress: (text: string) => void): Promise<number> {
  const began = performance.now()
  const search = await openSearch(place)
  const complaints: string[] = []
  const indexer = new Indexer({
    store,
    search: async () => search,
    notice: (text) => complaints.push(text),
    now: Date.now,
  })
  const timer = setInterval(() => progress(`vectors: ${JSON.stringify(indexer.progress)}`), 1_000)
  indexer.wake()
  await indexer.settled()
  clearInterval(timer)
  await search.close()
  if (complaints.length > 0) throw new Error(complaints.join('; '))
  return (performance.now() - began) / 1_000
}

export async function openSearch(place: Place): Promise<SearchCalls> {
  const fail = (text: string) => {
    throw new Error(text)
  }
  return await openSearchThread(
    { ...searchOptions(settings, place.paths), workerFile: join(DIST, 'search-worker.js') },
    { notice: fail, log: () => undefined, exited: (error) => fail(error.message) },
  )
}

/** By meaning, so that vectors are read. */
const askOnce = (search: SearchCalls) =>
  search.search({ query: 'why does the test fail', mode: 'semantic', filters: NO_FILTERS, limit: 10, offset: 0 })

/** How long the index takes from nothing but the rows; null where there are too few vectors for one. */
export async function rebuildS(place: Place): Promise<number | null> {
  rmSync(place.paths.vectors, { recursive: true, force: true })
  const search = await openSearch(place)
  try {
    const { vectors } = await search.counts(LARGE.key)
    await askOnce(search)
    if ((vectors?.fragments ?? 0) < settings.CLAUDE_MEM_VECTOR_INDEX_FROM) return null
    const began = performance.now()
    const isDone = async () => (await search.state()).method === 'hnsw'
    if (!(await until(isDone, BUILD_LIMIT_MS, 100))) throw new Error('the index of vectors was not made')
    return (performance.now() - began) / 1_000
  } finally {
    await search.close()
  }
}

/** From a closed thread to the first answer by meaning: the program's files, all vectors and the index are read. */
export async function loadMs(place: Place): Promise<number> {
  const began = performance.now()
  const search = await openSearch(place)
  await askOnce(search)
  const ms = performance.now() - began
  await search.close()
  return ms
}
