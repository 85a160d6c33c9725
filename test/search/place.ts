/** A real database with memories in it, a search engine over it, and what brings the two into step. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ObservationDraft } from '../../src/memory/observation.ts'
import type { SearchCalls } from '../../src/search/client.ts'
import { COLUMNS } from '../../src/search/columns.ts'
import type { Embedder } from '../../src/search/embedder.ts'
import { type EngineOptions, SearchEngine } from '../../src/search/engine.ts'
import { Indexer } from '../../src/search/indexer.ts'
import {
  NO_FILTERS,
  type SearchAnswer,
  type SearchFilters,
  type SearchMode,
  type SearchRequest,
} from '../../src/search/query.ts'
import type { Weights } from '../../src/search/rank.ts'
import { graphLibrary } from '../../src/search/vectors/graph.ts'
import type { Commit } from '../../src/store/commit.ts'
import type { SqliteStore } from '../../src/store/sqlite/facade.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf } from '../store/samples.ts'

export const WEIGHTS: Weights = { lexical: 1, semantic: 0.7, session: 0.3, recency: 0.05, type: 0.05, halfLifeDays: 90 }
/** The package for large sets of vectors is optional, and so are the tests of it. */
export const HAS_GRAPH = (await graphLibrary()).library !== null

export const OTHER_PROJECT = { key: 'git:/home/me/blog', name: 'blog' }

export interface Place {
  directory: string
  database: string
  vectors: string
  store: SqliteStore
  /** Everything that was logged or told. */
  said: string[]
  /** Another one over the same file. The newest is the one that `search` asks. */
  open(over?: Partial<EngineOptions>): Promise<SearchEngine>
  engine(): SearchEngine
  calls(): SearchCalls
  indexer(over?: { search?: () => Promise<SearchCalls> }): Indexer
  /** Words, vectors and links are brought up to date. */
  index(): Promise<void>
  search(query: string, over?: Partial<SearchFilters> & Asking): Promise<SearchAnswer>
  /** Ids of the hits, completions left out. */
  found(query: string, over?: Partial<SearchFilters> & Asking): Promise<number[]>
  commit(session: string, over: Partial<Commit>): Promise<number[]>
  dispose(): Promise<void>
}

interface Asking {
  mode?: SearchMode
  limit?: number
  offset?: number
}

export async function place(embedder: Embedder | null): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-search-'))
  const database = join(directory, 'db.sqlite')
  const vectors = join(directory, 'vectors')
  const said: string[] = []
  const store = await openLocalStore({ databaseFile: database, backupsDir: join(directory, 'backups') })
  const revisions = new Map<string, number>()
  let current: SearchEngine | null = null

  const here: Place = {
    directory,
    database,
    vectors,
    store,
    said,
    open: async (over = {}) => {
      current?.close()
      current = await SearchEngine.open({
        database,
        embedder,
        weights: WEIGHTS,
        columns: COLUMNS,
        vectorsDirectory: vectors,
        graphFrom: 1_000_000,
        // Without the optional package every opening says so.
        log: (text) => void (HAS_GRAPH || !text.startsWith('hnswlib-node') ? said.push(text) : null),
        now: () => NOW,
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
        notice: (text) => said.push(text),
        now: () => NOW,
        ...over,
      }),
    index: async () => {
      const indexer = here.indexer()
      indexer.wake()
      await indexer.settled()
    },
    search: (query, { mode = 'auto', limit = 10, offset = 0, ...filters } = {}) =>
      here.engine().search({ query, mode, limit, offset, filters: { ...NO_FILTERS, ...filters } }),
    found: async (query, over) => {
      const { hits } = await here.search(query, over)
      return hits.filter(({ completes }) => !completes).map(({ id }) => id)
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
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await here.open()
  return here
}

/** What the thread would answer, from an engine on this one. */
export function callsOf(engine: SearchEngine): SearchCalls {
  const { reader } = engine
  return {
    search: (request: SearchRequest) => engine.search(request),
    embed: async (texts) => (await engine.vectors?.embedder.embed(texts)) ?? texts.map(() => null),
    nearest: async (...args) => engine.similarTo(...args),
    observations: async (ids) => reader.observations(ids),
    found: async (rows) => reader.found(rows),
    beside: async (...args) => reader.beside(...args),
    passing: async (...args) => reader.passing(...args),
    state: async () => engine.state(),
    counts: async (project) => reader.counts(project, engine.state().embedder?.name ?? null),
    forget: async (ids) => engine.forget(ids),
    reset: async () => engine.reset(),
    moved: async (from, into) => engine.moved(from, into),
    close: async () => engine.close(),
  }
}

export interface Learned extends Partial<ObservationDraft> {
  at?: number
}

/** Stores observations of one session, in their order; returns their ids. */
export function learn(
  { commit }: Place,
  session: string,
  learned: readonly Learned[],
  project = PROJECT,
): Promise<number[]> {
  const observations = learned.map(({ at = NOW, ...draft }) => {
    const { draft: plain, ...rest } = observationOf([], { createdAt: at })
    const bare = {
      ...plain,
      title: null,
      narrative: null,
      facts: [],
      concepts: [],
      filesRead: [],
      functionsChanged: [],
    }
    return { ...rest, draft: { ...bare, ...draft } }
  })
  return commit(session, { state: stateOf({ project }), observations })
}

/** Words as directions: the same text has the same vector everywhere, and words that are shared are closeness. */
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
