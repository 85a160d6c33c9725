/**
 * Searches the memory by words and by meaning, on a read-only database connection. The engine is independent of
 * threads: `worker.ts` runs it in one, and the command line uses it directly when no daemon runs.
 *
 * A search resolves the mode, collects candidates (full-text search, nearest vectors), ranks them (ranking.ts),
 * collapses near-duplicates and returns one page.
 */
import {
  type AnsweredMode,
  narrowsProject,
  type SearchAnswer,
  type SearchFilters,
  type SearchHit,
  type SearchRequest,
} from '../domain/search-query.ts'
import { errorMessage } from '../lib/errors.ts'
import { type FoundMemory, type MemoryCounts, type RankingRow, searchRowId } from '../store/search-port.ts'
import { openSearchDatabase, type SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { Embedder } from './embedders/models.ts'
import { STATIC_EMBEDDER_NAME, staticEmbedder } from './embedders/static.ts'
import {
  COLUMN_WEIGHTS,
  collapseDuplicates,
  type HitGroup,
  type RankedMemory,
  type RankingCandidate,
  type RankingWeights,
  rankCandidates,
  type SemanticScore,
  semanticScores,
} from './ranking.ts'
import type { SearchOptions } from './search-thread.ts'
import { removeHnswIndexesContaining } from './vectors/hnsw-index.ts'
import type { VectorMatch } from './vectors/vector-set.ts'
import { VectorStore } from './vectors/vector-store.ts'

export interface SearchEngineOptions extends Omit<SearchOptions, 'embedder' | 'modelsDirectory'> {
  /** Null if none could be loaded: then the search uses words only. */
  embedder: Embedder | null
  log(text: string): void
  now?: () => number
}

/** Most candidates that are ranked, by source. More would not change the first page of any query. */
const LEXICAL_CANDIDATES = 300
const SEMANTIC_CANDIDATES = 200
const SESSION_CANDIDATES = 50
/** Totals are exact up to this number. */
const MAX_COUNTED = 1_000
/** Near-duplicates are collapsed among the first so many hits; pages after them list everything. */
const MAX_COMPARED = 100
/** Cosine from which on two observations with mostly the same words are duplicates. */
const DUPLICATE_COSINE = 0.95

interface RankedResult {
  hits: RankedMemory<RankingRow>[]
  total: number
}

/** Opens an engine with the embedder of the settings, or the built-in one if that cannot be loaded. */
export async function openSearch(
  options: SearchOptions,
  log: (text: string) => void,
): Promise<{ engine: SearchEngine; notes: string[] }> {
  const notes: string[] = []
  const embedder = await loadEmbedder(options, notes)
  const engine = await SearchEngine.open({ ...options, embedder, log })
  return { engine, notes }
}

async function loadEmbedder({ embedder, modelsDirectory }: SearchOptions, notes: string[]): Promise<Embedder | null> {
  if (embedder !== 'static' && embedder !== STATIC_EMBEDDER_NAME) {
    try {
      const { transformersEmbedder } = await import('./embedders/transformers.ts')
      // Only `claude-mem models pull` downloads a model.
      return await transformersEmbedder({ model: embedder, cacheDir: modelsDirectory, allowRemote: false })
    } catch (error) {
      notes.push(`the embedder ${embedder} cannot be used, the built-in one is used instead: ${errorMessage(error)}`)
    }
  }
  try {
    return await staticEmbedder()
  } catch (error) {
    notes.push(`the search uses words only: ${errorMessage(error)}`)
    return null
  }
}

export class SearchEngine {
  readonly #options: SearchEngineOptions
  readonly reader: SearchDatabase
  /** Null without an embedder. */
  readonly vectors: VectorStore | null

  private constructor(options: SearchEngineOptions, reader: SearchDatabase, vectors: VectorStore | null) {
    this.#options = options
    this.reader = reader
    this.vectors = vectors
  }

  static async open(options: SearchEngineOptions): Promise<SearchEngine> {
    const reader = openSearchDatabase(options.database)
    const { embedder, vectorsDirectory, hnswThreshold, log } = options
    const vectors =
      embedder === null
        ? null
        : await VectorStore.open({ reader, embedder, directory: vectorsDirectory, hnswThreshold, log })
    return new SearchEngine(options, reader, vectors)
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    const began = performance.now()
    const { resolved, vector } = await this.#embedQuery(resolveQuery(request, this.vectors !== null))
    const answer = this.reader.snapshot(() => this.#answer(request, resolved, vector))
    const embedder = vector === null ? null : (this.vectors?.embedder.name ?? null)
    return { ...answer, embedder, tookMs: performance.now() - began }
  }

  async embed(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    return (await this.vectors?.embedder.embed(texts)) ?? texts.map(() => null)
  }

  /** Other observations of the project, closest in meaning first. */
  similarTo(project: string, observationId: number, limit: number): VectorMatch[] {
    return this.vectors?.similarTo(project, observationId, limit) ?? []
  }

  /** `method`: how vectors are searched; null without an embedder. `fragments`: number of vectors of the embedder. */
  state() {
    const vectors = this.vectors
    const embedder = vectors === null ? null : { name: vectors.embedder.name, dimensions: vectors.embedder.dimensions }
    const fragments = embedder === null ? 0 : this.reader.vectorCount(null, embedder.name)
    return { embedder, method: vectors?.method ?? null, fragments }
  }

  counts(project: string | null): MemoryCounts {
    return this.reader.counts(project, this.vectors?.embedder.name ?? null)
  }

  /** All vectors were deleted from the database. */
  reset(): void {
    this.vectors?.reset()
  }

  /** All memories of project `from` now belong to project `into`. */
  moved(from: string, into: string): void {
    this.vectors?.moved(from, into)
  }

  /** Removes the observations from vector indexes, in memory and on disk. */
  forget(observationIds: readonly number[]): void {
    if (this.vectors === null) removeHnswIndexesContaining(this.#options.vectorsDirectory, observationIds)
    else this.vectors.forget(observationIds)
  }

  close(): void {
    this.vectors?.close()
    this.reader.close()
  }

  /** If the embedder fails or knows no word of the query, the search falls back to words. */
  async #embedQuery(resolved: ResolvedQuery): Promise<{ resolved: ResolvedQuery; vector: Float32Array | null }> {
    const { mode, text, notes } = resolved
    if (this.vectors === null || (mode !== 'semantic' && mode !== 'hybrid')) return { resolved, vector: null }
    const { embedder } = this.vectors
    const wordsOnly = (note: string) => ({
      resolved: { mode: 'hybrid' as const, text, notes: [...notes, note] },
      vector: null,
    })
    try {
      const [vector = null] = await embedder.embed([text])
      if (vector !== null || mode === 'hybrid') return { resolved, vector }
      return wordsOnly(`${embedder.name} knows no word of this query: searched by words only`)
    } catch (error) {
      return wordsOnly(`${embedder.name} failed, searched by words only: ${errorMessage(error)}`)
    }
  }

  #answer(
    request: SearchRequest,
    resolved: ResolvedQuery,
    vector: Float32Array | null,
  ): Omit<SearchAnswer, 'embedder' | 'tookMs'> {
    const { mode } = resolved
    const isRanked = mode === 'semantic' || mode === 'hybrid'
    const { text, notes } =
      mode === 'hybrid' ? withSpellingVariants(resolved, this.reader.spellingSuggestions(resolved.text)) : resolved
    const { hits: found, total } = this.#find(mode, text, vector, request)
    // Mode `filter` has read its rows from the offset on.
    const window = { offset: mode === 'filter' ? 0 : request.offset, limit: request.limit }
    const isDuplicate = (a: FoundMemory, b: FoundMemory) => this.#hasSameMeaning(a, b)
    const page = selectPage(found, window, isRanked ? MAX_COMPARED : 0, isDuplicate, this.reader)
    const rows = page.map(({ kept }) => kept.memory.row)
    const words = text === '' ? new Map<number, string[]>() : this.reader.matchedWords(text, rows)
    const hits = page.map(({ kept, similar }) => toSearchHit(kept, similar, words.get(kept.memory.row) ?? [], false))
    const fillers = isRanked ? this.#fillers(request, hits, found) : []
    return { mode, notes, total, hits: [...hits, ...fillers] }
  }

  #find(mode: AnsweredMode, text: string, vector: Float32Array | null, request: SearchRequest): RankedResult {
    const { filters, limit, offset } = request
    switch (mode) {
      case 'filter':
        return {
          hits: this.#unranked(this.reader.listFiltered(filters, limit, offset)),
          total: this.reader.count(filters),
        }
      case 'strict': {
        const query = { text, how: 'every' } as const
        const rows = this.reader.lexical(query, filters, COLUMN_WEIGHTS, offset + limit)
        const total = this.reader.countLexical(query, filters, MAX_COUNTED)
        return { hits: this.#unranked(rows.map(({ row }) => row)), total }
      }
      case 'semantic': {
        const hits = this.#rank(text, vector, filters, { lexical: 0, session: 0 })
        return { hits, total: hits.length }
      }
      case 'hybrid': {
        const hits = this.#rank(text, vector, filters, {})
        const matches = this.reader.countLexical({ text, how: 'any' }, filters, MAX_COUNTED)
        return { hits, total: Math.max(hits.length, matches) }
      }
    }
  }

  #rank(
    text: string,
    vector: Float32Array | null,
    filters: SearchFilters,
    overrides: Partial<RankingWeights>,
  ): RankedMemory<RankingRow>[] {
    const weights = { ...this.#options.weights, ...overrides }
    const byWords =
      weights.lexical === 0
        ? []
        : this.reader.lexical({ text, how: 'any' }, filters, COLUMN_WEIGHTS, LEXICAL_CANDIDATES)
    const byMeaning = vector === null ? [] : (this.vectors?.nearest(vector, filters, SEMANTIC_CANDIDATES) ?? [])
    const lexical = new Map(byWords.map(({ row, score }) => [row, score]))
    const semantic = new Map(byMeaning.map((match) => [searchRowId('observation', match.observationId), match]))
    const memories = this.reader.rankingRows([...new Set([...lexical.keys(), ...semantic.keys()])])
    const chunks = weights.session === 0 ? [] : this.reader.chunks(text, filters.project, SESSION_CANDIDATES)
    const chunkScores = new Map(chunks.map(({ chunk, score }) => [chunk, score]))
    const meanings =
      vector === null || this.vectors === null
        ? new Map<number, SemanticScore>()
        : semanticScores(memories, semantic, vector, this.vectors, this.reader)
    const candidates = memories.map((memory): RankingCandidate => {
      const meaning = meanings.get(memory.row)
      return {
        memory,
        lexical: lexical.get(memory.row) ?? 0,
        semantic: meaning?.smoothed ?? null,
        fragment: meaning?.fragment ?? null,
        session: memory.chunk === null ? 0 : (chunkScores.get(memory.chunk) ?? 0),
      }
    })
    return rankCandidates(candidates, weights, (this.#options.now ?? Date.now)())
  }

  /** In the order of the rows. */
  #unranked(rows: readonly number[]): RankedMemory<RankingRow>[] {
    const explanation = { lexical: 0, semantic: 0, session: 0, recency: 0, type: 0, score: 0, fragment: null }
    return this.reader.rankingRows(rows).map((memory) => ({ memory, explanation }))
  }

  /** Without vectors the comparison of words decides alone. */
  #hasSameMeaning(a: FoundMemory, b: FoundMemory): boolean {
    return this.vectors === null || this.vectors.cosine(a.project, a.id, b.id) >= DUPLICATE_COSINE
  }

  /** If filters are set and the query does not fill the first page, the newest that pass the filters fill it up. */
  #fillers(
    request: SearchRequest,
    hits: readonly SearchHit[],
    found: readonly RankedMemory<RankingRow>[],
  ): SearchHit[] {
    const missing = request.limit - hits.length
    if (missing <= 0 || request.offset > 0 || !narrowsProject(request.filters)) return []
    const known = new Set(found.map(({ memory }) => memory.row))
    const rows = this.reader
      .listFiltered(request.filters, request.limit + known.size, 0)
      .filter((row) => !known.has(row))
    const memories = loadRankedMemories(this.#unranked(rows.slice(0, missing)), this.reader)
    return memories.map((memory) => toSearchHit(memory, [], [], true))
  }
}

interface ResolvedQuery {
  mode: AnsweredMode
  /** The words that are searched for. */
  text: string
  notes: string[]
}

const QUOTED = /^["“”]([^"“”]+)["“”]$/su

/** The mode that answers a request. A query in quotes is searched word for word. */
function resolveQuery({ query, mode }: Pick<SearchRequest, 'query' | 'mode'>, hasVectors: boolean): ResolvedQuery {
  const text = query.trim()
  if (text === '') return { mode: 'filter', text, notes: [] }
  if (mode === 'strict') return { mode, text, notes: [] }
  const quoted = QUOTED.exec(text)?.[1]
  if (mode === 'auto' && quoted !== undefined) return { mode: 'strict', text: quoted, notes: [] }
  if (hasVectors) return { mode: mode === 'semantic' ? 'semantic' : 'hybrid', text, notes: [] }
  const notes = ['no embedder could be loaded: searched by words only (claude-mem status shows the reason)']
  return { mode: 'hybrid', text, notes }
}

/** Adds similarly spelled words for words of the query that no memory contains. */
function withSpellingVariants(
  { mode, text, notes }: ResolvedQuery,
  variants: ReadonlyMap<string, readonly string[]>,
): ResolvedQuery {
  if (variants.size === 0) return { mode, text, notes }
  const words = [...variants.keys()].map((word) => `"${word}"`).join(', ')
  const note = `no memory contains ${words}: words with a similar spelling were searched too`
  return { mode, text: [text, ...[...variants.values()].flat()].join(' '), notes: [...notes, note] }
}

/**
 * One page of a ranked list in which near-duplicates among the first `compared` are collapsed. Loads only what it
 * needs.
 */
function selectPage(
  found: readonly RankedMemory<RankingRow>[],
  { offset, limit }: Pick<SearchRequest, 'offset' | 'limit'>,
  compared: number,
  isDuplicate: (a: FoundMemory, b: FoundMemory) => boolean,
  reader: SearchDatabase,
): HitGroup<RankedMemory>[] {
  const first = collapseDuplicates(loadRankedMemories(found.slice(0, compared), reader), isDuplicate)
  const missing = Math.max(0, offset + limit - first.length)
  const rest = loadRankedMemories(found.slice(compared, compared + missing), reader)
  return [...first, ...rest.map((kept) => ({ kept, similar: [] }))].slice(offset, offset + limit)
}

/** Reads the whole memories. Those that were deleted meanwhile are left out. */
function loadRankedMemories(hits: readonly RankedMemory<RankingRow>[], reader: SearchDatabase): RankedMemory[] {
  const memories = new Map(
    reader.loadMemories(hits.map(({ memory }) => memory.row)).map((memory) => [memory.row, memory]),
  )
  return hits.flatMap(({ memory: { row }, explanation }) => {
    const memory = memories.get(row)
    return memory === undefined ? [] : { memory, explanation }
  })
}

function toSearchHit(
  { memory, explanation }: RankedMemory,
  similar: number[],
  matched: string[],
  isFiller: boolean,
): SearchHit {
  const { row: _row, text, facts, concepts: _concepts, chunk: _chunk, repeats: _repeats, ...fields } = memory
  return {
    ...fields,
    snippet: snippetAround([text, ...facts], matched),
    similar,
    explanation: { ...explanation, matched },
    completes: isFiller,
  }
}

/** Characters of a snippet, and of those before the first matched word. */
const SNIPPET_CHARS = 160
const LEAD_CHARS = 40

/** The text around the first matched word, on one line; the beginning of the first text if no word matches. */
function snippetAround(texts: readonly string[], words: readonly string[]): string {
  const lines = texts.map((text) => text.replace(/\s+/g, ' ').trim()).filter((text) => text !== '')
  for (const line of lines) {
    const at = firstMatch(line, words)
    if (at !== -1) return cutSnippet(line, snippetStart(line, at))
  }
  return cutSnippet(lines[0] ?? '', 0)
}

function firstMatch(line: string, words: readonly string[]): number {
  const folded = line.toLowerCase()
  const indexes = words.map((word) => folded.indexOf(word.toLowerCase())).filter((at) => at !== -1)
  return indexes.length === 0 ? -1 : Math.min(...indexes)
}

/** The start of a word if there is one before the match: some languages have no spaces. */
function snippetStart(line: string, match: number): number {
  if (match <= LEAD_CHARS) return 0
  const from = match - LEAD_CHARS
  const space = line.indexOf(' ', from)
  return space !== -1 && space < match ? space + 1 : from
}

/** Never splits a surrogate pair. */
function cutSnippet(line: string, from: number): string {
  const start = /[\uDC00-\uDFFF]/.test(line.charAt(from)) && from > 0 ? from - 1 : from
  const characters = [...line.slice(start, start + (SNIPPET_CHARS + 1) * 2)]
  const snippet = characters.slice(0, SNIPPET_CHARS).join('')
  return `${start > 0 ? '…' : ''}${snippet}${characters.length > SNIPPET_CHARS ? '…' : ''}`
}
