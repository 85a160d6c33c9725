/**
 * Finds memories by words and by meaning, on a read-only connection of its own. It answers one question at a time and
 * knows no thread: `worker.ts` gives it one.
 */
import { messageOf } from '../errors.ts'
import type { ColumnWeights, FoundMemory, Rankable } from '../store/search-port.ts'
import { SearchReader } from '../store/sqlite/search/reader.ts'
import { rowOf } from '../store/sqlite/search/rows.ts'
import { type Asked, chosenMode, isNarrow, respelt } from './asked.ts'
import type { Embedder } from './embedder.ts'
import { hitOf } from './hit.ts'
import { type Meaning, meaningsOf } from './meaning.ts'
import { pageOf, readWhole } from './page.ts'
import type { AnsweredMode, SearchAnswer, SearchFilters, SearchHit, SearchRequest } from './query.ts'
import { type Candidate, type Ranked, ranked, type Weights } from './rank.ts'
import { removeGraphsWith } from './vectors/graph-file.ts'
import type { FoundVector } from './vectors/vector-set.ts'
import { VectorStore } from './vectors/vector-store.ts'

export interface EngineOptions {
  database: string
  /** Null: none could be loaded, and everything goes by words. */
  embedder: Embedder | null
  weights: Weights
  columns: ColumnWeights
  /** Where indexes of vectors are kept. */
  vectorsDirectory: string
  /** From how many vectors of a project on an index is made for them. */
  graphFrom: number
  log(text: string): void
  now?: () => number
}

/** What is ranked at most: more would change the first page of no query. */
const LEXICAL_CANDIDATES = 300
const SEMANTIC_CANDIDATES = 200
const SESSION_CANDIDATES = 50
/** Counted exactly up to here. */
const MAX_COUNTED = 1_000
/** Near-duplicates are looked for among the first of these; whoever reads further wants all of them. */
const MAX_COLLAPSED = 100
/** Cosine from which on two observations with mostly the same words say the same. */
const SAME_COSINE = 0.95

export interface SearchState {
  embedder: { name: string; dimensions: number } | null
  /** How vectors are looked through; null without an embedder. */
  method: 'exact' | 'hnsw' | null
  /** Vectors of this embedder. */
  fragments: number
}

interface Outcome {
  hits: Ranked<Rankable>[]
  total: number
}

export class SearchEngine {
  readonly #options: EngineOptions
  readonly #reader: SearchReader
  readonly #vectors: VectorStore | null

  private constructor(options: EngineOptions, reader: SearchReader, vectors: VectorStore | null) {
    this.#options = options
    this.#reader = reader
    this.#vectors = vectors
  }

  static async open(options: EngineOptions): Promise<SearchEngine> {
    const reader = SearchReader.open(options.database)
    const { embedder, vectorsDirectory, graphFrom, log } = options
    const vectors =
      embedder === null
        ? null
        : await VectorStore.open({ reader, embedder, directory: vectorsDirectory, graphFrom, log })
    return new SearchEngine(options, reader, vectors)
  }

  get reader(): SearchReader {
    return this.#reader
  }
  get vectors(): VectorStore | null {
    return this.#vectors
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    const began = performance.now()
    const { asked, query } = await this.#embedded(chosenMode(request, this.#vectors !== null))
    const answer = this.#reader.atOnce(() => this.#answer(request, asked, query))
    const embedder = query === null ? null : (this.#vectors?.embedder.name ?? null)
    return { ...answer, embedder, tookMs: performance.now() - began }
  }

  /** Others of its project, closest in meaning first. */
  similarTo(project: string, observationId: number, limit: number): FoundVector[] {
    return this.#vectors?.similarTo(project, observationId, limit) ?? []
  }

  state(): SearchState {
    const vectors = this.#vectors
    const embedder = vectors === null ? null : { name: vectors.embedder.name, dimensions: vectors.embedder.dimensions }
    const fragments = embedder === null ? 0 : this.#reader.vectorCount(null, embedder.name)
    return { embedder, method: vectors?.method ?? null, fragments }
  }

  /** Vectors were thrown away: they are read anew. */
  reset(): void {
    this.#vectors?.reset()
  }

  /** Everything of one project is filed under another now. */
  moved(from: string, into: string): void {
    this.#vectors?.moved(from, into)
  }

  /** What an index still holds of them goes, in memory and on disk. */
  forget(observationIds: readonly number[]): void {
    if (this.#vectors === null) removeGraphsWith(this.#options.vectorsDirectory, observationIds)
    else this.#vectors.forget(observationIds)
  }

  close(): void {
    this.#vectors?.close()
    this.#reader.close()
  }

  /** An embedder that fails, or that knows no word of it, must not keep anybody from finding by words. */
  async #embedded(asked: Asked): Promise<{ asked: Asked; query: Float32Array | null }> {
    const { mode, text, notes } = asked
    if (this.#vectors === null || (mode !== 'semantic' && mode !== 'hybrid')) return { asked, query: null }
    const { embedder } = this.#vectors
    try {
      const [query = null] = await embedder.embed([text])
      if (query !== null || mode === 'hybrid') return { asked, query }
      const note = `no word of this query means anything to ${embedder.name}: found by words alone`
      return { asked: { mode: 'hybrid', text, notes: [...notes, note] }, query }
    } catch (error) {
      const note = `${embedder.name} failed, found by words alone: ${messageOf(error)}`
      return { asked: { mode: 'hybrid', text, notes: [...notes, note] }, query: null }
    }
  }

  #answer(request: SearchRequest, asked: Asked, query: Float32Array | null): Omit<SearchAnswer, 'embedder' | 'tookMs'> {
    const { mode } = asked
    const { text, notes } = mode === 'hybrid' ? respelt(asked, this.#reader.alike(asked.text)) : asked
    const { hits: found, total } = this.#found(mode, text, query, request)
    const compared = mode === 'semantic' || mode === 'hybrid' ? MAX_COLLAPSED : 0
    // What only passes the filters was read from the offset on.
    const offset = mode === 'filter' ? 0 : request.offset
    const window = { offset, limit: request.limit }
    const page = pageOf(found, window, compared, (a, b) => this.#meansTheSame(a, b), this.#reader)
    const words =
      text === ''
        ? new Map<number, string[]>()
        : this.#reader.matchedWords(
            text,
            page.map(({ kept }) => kept.memory.row),
          )
    const hits = page.map(({ kept, similar }) => hitOf(kept, similar, words.get(kept.memory.row) ?? [], false))
    return { mode, notes, total, hits: [...hits, ...this.#completion(request, mode, hits, found)] }
  }

  #found(mode: AnsweredMode, text: string, query: Float32Array | null, request: SearchRequest): Outcome {
    const { filters, limit, offset } = request
    const most = offset + limit
    switch (mode) {
      case 'filter':
        return { hits: this.#plain(this.#reader.passing(filters, limit, offset)), total: this.#reader.count(filters) }
      case 'strict': {
        const rows = this.#reader.lexical({ text, how: 'every' }, filters, this.#options.columns, most)
        const total = this.#reader.countLexical({ text, how: 'every' }, filters, MAX_COUNTED)
        return { hits: this.#plain(rows.map(({ row }) => row)), total }
      }
      case 'semantic': {
        const hits = this.#ranked(text, query, filters, { lexical: 0, session: 0 })
        return { hits, total: hits.length }
      }
      case 'hybrid': {
        const hits = this.#ranked(text, query, filters, {})
        return {
          hits,
          total: Math.max(hits.length, this.#reader.countLexical({ text, how: 'any' }, filters, MAX_COUNTED)),
        }
      }
    }
  }

  #ranked(
    text: string,
    query: Float32Array | null,
    filters: SearchFilters,
    other: Partial<Weights>,
  ): Ranked<Rankable>[] {
    const weights = { ...this.#options.weights, ...other }
    const byWords =
      weights.lexical === 0
        ? []
        : this.#reader.lexical({ text, how: 'any' }, filters, this.#options.columns, LEXICAL_CANDIDATES)
    const byMeaning = query === null ? [] : (this.#vectors?.nearest(query, filters, SEMANTIC_CANDIDATES) ?? [])
    const lexical = new Map(byWords.map(({ row, score }) => [row, score]))
    const semantic = new Map(byMeaning.map((one) => [rowOf('observation', one.observationId), one]))
    const rows = [...new Set([...lexical.keys(), ...semantic.keys()])]
    const chunks = new Map(
      weights.session === 0
        ? []
        : this.#reader.chunks(text, filters.project, SESSION_CANDIDATES).map(({ chunk, score }) => [chunk, score]),
    )
    const memories = this.#reader.rankable(rows)
    const meanings =
      query === null || this.#vectors === null
        ? new Map<number, Meaning>()
        : meaningsOf(memories, semantic, query, this.#vectors, this.#reader)
    const candidates = memories.map((memory): Candidate => {
      const meaning = meanings.get(memory.row)
      return {
        memory,
        lexical: lexical.get(memory.row) ?? 0,
        semantic: meaning?.smoothed ?? null,
        fragment: meaning?.fragment ?? null,
        session: memory.chunk === null ? 0 : (chunks.get(memory.chunk) ?? 0),
      }
    })
    return ranked(candidates, weights, (this.#options.now ?? Date.now)())
  }

  /** As they come: newest first. */
  #plain(rows: readonly number[]): Ranked<Rankable>[] {
    const none = { lexical: 0, semantic: 0, session: 0, recency: 0, type: 0, score: 0, fragment: null }
    return this.#reader.rankable(rows).map((memory) => ({ memory, explanation: none }))
  }

  /** Without vectors the words have to do. */
  #meansTheSame(a: FoundMemory, b: FoundMemory): boolean {
    return this.#vectors === null || this.#vectors.cosine(a.project, a.id, b.id) >= SAME_COSINE
  }

  /** Where a filter was set and the query does not fill the page, the newest that pass complete it. */
  #completion(
    request: SearchRequest,
    mode: AnsweredMode,
    hits: readonly SearchHit[],
    found: readonly Ranked<Rankable>[],
  ): SearchHit[] {
    const missing = request.limit - hits.length
    if (missing <= 0 || mode === 'filter' || mode === 'strict' || request.offset > 0 || !isNarrow(request.filters))
      return []
    const known = new Set(found.map(({ memory }) => memory.row))
    const rows = this.#reader.passing(request.filters, request.limit + known.size, 0).filter((row) => !known.has(row))
    return readWhole(this.#plain(rows.slice(0, missing)), this.#reader).map((one) => hitOf(one, [], [], true))
  }
}
