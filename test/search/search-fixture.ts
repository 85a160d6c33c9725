/** A real database with memories, a search engine on it, and an indexer. */
import { join } from 'node:path'
import type { MemoryOrigin, ObservationDraft } from '../../src/domain/observation.ts'
import {
  NO_FILTERS,
  type SearchAnswer,
  type SearchFilters,
  type SearchMode,
  type SearchRequest,
} from '../../src/domain/search-query.ts'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { SearchEngine, type SearchEngineOptions } from '../../src/search/engine.ts'
import { Indexer } from '../../src/search/indexer.ts'
import type { SearchCalls } from '../../src/search/search-thread.ts'
import { loadHnswLibrary } from '../../src/search/vectors/hnsw-index.ts'
import type { Commit } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'

/** Tests of graphs are skipped if the optional package is not installed. */
export const HAS_HNSW = loadHnswLibrary().library !== null

const MANY = 1_000

export const OTHER_PROJECT = { key: 'git:/home/me/blog', name: 'blog' }

export interface SearchFixture {
  directory: string
  database: string
  vectors: string
  store: Store
  /** Everything that was logged or reported. */
  messages: string[]
  /** Opens another engine on the same file and closes the previous one. */
  open(over?: Partial<SearchEngineOptions>): Promise<SearchEngine>
  engine(): SearchEngine
  calls(): SearchCalls
  indexer(over?: { search?: () => Promise<SearchCalls> }): Indexer
  /** Updates the full-text index, vectors and links. */
  index(): Promise<void>
  search(query: string, over?: Partial<SearchFilters> & QueryOptions): Promise<SearchAnswer>
  /** Ids of everything that is shown, best first. */
  found(query: string, over?: Partial<SearchFilters> & QueryOptions): Promise<number[]>
  /** Ids of all observations that the vectors lead to, closest first, however far away they are. */
  near(query: string, over?: Partial<SearchFilters>): Promise<number[]>
  commit(session: string, over: Partial<Commit>): Promise<number[]>
  dispose(): Promise<void>
}

interface QueryOptions {
  mode?: SearchMode
  limit?: number
  offset?: number
}

export async function searchFixture(embedder: Embedder | null): Promise<SearchFixture> {
  const directory = temporaryDirectory('search')
  const database = join(directory, 'db.sqlite')
  const vectors = join(directory, 'vectors')
  const messages: string[] = []
  const store = await openLocalStore({ databaseFile: database, backupsDir: join(directory, 'backups') })
  const revisions = new Map<string, number>()
  let current: SearchEngine | null = null

  const here: SearchFixture = {
    directory,
    database,
    vectors,
    store,
    messages,
    open: async (over = {}) => {
      current?.close()
      current = await SearchEngine.open({
        database,
        embedder,
        vectorsDirectory: vectors,
        hnswThreshold: 1_000_000,
        // Without the optional package every opening logs that it is missing.
        log: (text) => void (HAS_HNSW || !text.startsWith('hnswlib-node') ? messages.push(text) : null),
        ...over,
      })
      return current
    },
    engine: () => {
      if (current === null) throw new Error('no engine is open')
      return current
    },
    calls: () => callsOf(here.engine()),
    indexer: (over = {}) =>
      new Indexer({
        store,
        search: async () => here.calls(),
        notice: (text) => messages.push(text),
        now: () => NOW,
        ...over,
      }),
    index: async () => {
      const indexer = here.indexer()
      indexer.wake()
      await indexer.whenIdle()
    },
    search: (query, { mode = 'auto', limit = 10, offset = 0, ...filters } = {}) =>
      here.engine().search({ query, mode, limit, offset, filters: { ...NO_FILTERS, ...filters } }),
    found: async (query, over) => {
      const { hits } = await here.search(query, over)
      return hits.flatMap((hit) => [hit, ...hit.further]).map(({ id }) => id)
    },
    near: async (query, over = {}) => {
      const [vector] = await here.engine().embed([query])
      if (vector === null || vector === undefined) return []
      const found = here.engine().vectors?.nearest(vector, { ...NO_FILTERS, ...over }, MANY) ?? []
      return found.map(({ observationId }) => observationId)
    },
    commit: async (session, over) => {
      const revision = (revisions.get(session) ?? 0) + 1
      const [result] = await store.commit([commitOf(session, revision, over)])
      if (result?.ok !== true) throw new Error(`the commit failed: ${JSON.stringify(result)}`)
      revisions.set(session, revision)
      return result.observationIds
    },
    dispose: async () => {
      current?.close()
      await store.close()
    },
  }
  await here.open()
  return here
}

/** The calls of the search thread, answered by an engine in this thread. */
export function callsOf(engine: SearchEngine): SearchCalls {
  const { reader } = engine
  return {
    search: (request: SearchRequest) => engine.search(request),
    embed: (texts) => engine.embed(texts),
    similarTo: async (...args) => engine.similarTo(...args),
    observations: async (ids) => reader.observations(ids),
    loadMemories: async (rows) => reader.loadMemories(rows),
    around: async (...args) => reader.around(...args),
    listFiltered: async (...args) => reader.listFiltered(...args),
    evidence: async (...args) => reader.evidence(...args),
    passagesAround: async (...args) => reader.passagesAround(...args),
    state: async () => engine.state(),
    counts: async (project) => engine.counts(project),
    forget: async (ids) => engine.forget(ids),
    reset: async () => engine.reset(),
    moved: async (from, into) => engine.moved(from, into),
    close: async () => engine.close(),
  }
}

export interface Learned extends Partial<ObservationDraft & MemoryOrigin> {
  at?: number
}

/** Stores observations of one session, in their order; returns their ids. */
export function learn(
  { commit }: SearchFixture,
  session: string,
  learned: readonly Learned[],
  project = PROJECT,
): Promise<number[]> {
  const empty = { title: null, narrative: null, facts: [], concepts: [], filesRead: [], functionsChanged: [] }
  const observations = learned.map(({ at = NOW, ...fields }) =>
    observationOf([], { createdAt: at, ...empty, ...fields }),
  )
  return commit(session, { state: stateOf({ project }), observations })
}

/** Every word has a fixed direction: texts that share words are close. */
export function wordEmbedder(name = 'words-1', dimensions = 16): Embedder {
  const directions = new Map<string, Float32Array>()
  const directionOf = (word: string) => {
    const known = directions.get(word)
    if (known !== undefined) return known
    const random = randomFrom(seedOf(word + name))
    const made = Float32Array.from({ length: dimensions }, () => random() * 2 - 1)
    directions.set(word, made)
    return made
  }
  const embed = (text: string): Float32Array | null => {
    const words = text.toLowerCase().match(/[a-z]+/g) ?? []
    if (words.length === 0) return null
    const sum = new Float32Array(dimensions)
    for (const word of words) {
      for (const [i, value] of directionOf(word).entries()) sum[i] = (sum[i] ?? 0) + value
    }
    return unit(sum)
  }
  return { name, dimensions, embed: async (texts) => texts.map(embed) }
}

export function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

export function randomVector(random: () => number, dimensions: number): Float32Array {
  return unit(Float32Array.from({ length: dimensions }, () => random() * 2 - 1))
}

function seedOf(text: string): number {
  let seed = 2_166_136_261
  for (const letter of text) seed = Math.imul(seed ^ (letter.codePointAt(0) ?? 0), 16_777_619)
  return seed >>> 0
}

/** Mulberry32: from 0 to 1, the same row of numbers for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
