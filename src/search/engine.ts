/**
 * Searches the memory by words and by meaning, on a read-only database connection. The engine is independent of
 * threads: `worker.ts` runs it in one, and the command line uses it directly when no daemon runs.
 *
 * A search resolves the mode (query.ts), collects candidates (full-text search, nearest vectors, whole names), ranks them
 * (ranking.ts), puts the best of each turn together (turn-hits.ts) and returns one page.
 */
import {
  NO_FILTERS,
  SCORE_WEIGHTS,
  type SearchAnswer,
  type SearchFilters,
  type SearchRequest,
} from '../domain/search-query.ts'
import { errorMessage } from '../lib/errors.ts'
import { type FoundPassage, type LexicalQuery, type MemoryCounts, searchRowId } from '../store/search-port.ts'
import { comparedTerms } from '../store/sqlite/full-text-search.ts'
import { openSearchDatabase, type SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { Embedder } from './embedders/models.ts'
import { type QueryComparer, STATIC_EMBEDDER_NAME, type StaticEmbedder, staticEmbedder } from './embedders/static.ts'
import { HitRenderer } from './hits.ts'
import { namesOfQuery, type QueryName, type ResolvedQuery, resolveQuery, withSpellingVariants } from './query.ts'
import {
  COLUMN_WEIGHTS,
  PASSAGE_WEIGHTS,
  type Piece,
  type RankedPiece,
  type RankingCandidate,
  rankPieces,
  type ScoreWeights,
  semanticScores,
} from './ranking.ts'
import type { SearchOptions } from './search-thread.ts'
import { type LoadedPiece, relevantPieces, type TurnHit, turnHits } from './turn-hits.ts'
import { removeHnswIndexesContaining } from './vectors/hnsw-index.ts'
import type { VectorMatch } from './vectors/vector-set.ts'
import { VectorStore } from './vectors/vector-store.ts'

export interface SearchEngineOptions extends Omit<SearchOptions, 'embedder' | 'modelsDirectory'> {
  /** Null if none could be loaded: then the search uses words only. */
  embedder: Embedder | null
  /** Compares passages with a query, whatever the embedder is; null or absent: by words only. */
  wordVectors?: StaticEmbedder | null
  log(text: string): void
}

/** Most candidates that are ranked, by source. More would not change the first page of any query. */
const LEXICAL_CANDIDATES = 300
const SEMANTIC_CANDIDATES = 200
const CHUNK_CANDIDATES = 50
const PASSAGE_CANDIDATES = 100
/** Of each name in the query, of memories and of passages: the newest that have it as a whole. A rare one has fewer. */
const NAME_CANDIDATES = 20
/** Ranked pieces whose texts are read and put together to hits. */
const MAX_COMPARED = 120
/** Totals are exact up to this number. */
const MAX_COUNTED = 1_000

/** Opens an engine with the embedder of the settings, or the built-in one if that cannot be loaded. */
export async function openSearch(
  options: SearchOptions,
  log: (text: string) => void,
): Promise<{ engine: SearchEngine; notes: string[] }> {
  const notes: string[] = []
  const wordVectors = await loadWordVectors(notes)
  const embedder = await loadEmbedder(options, wordVectors, notes)
  const engine = await SearchEngine.open({ ...options, embedder, wordVectors, log })
  return { engine, notes }
}

async function loadWordVectors(notes: string[]): Promise<StaticEmbedder | null> {
  try {
    return await staticEmbedder()
  } catch (error) {
    notes.push(`the search uses words only: ${errorMessage(error)}`)
    return null
  }
}

async function loadEmbedder(
  { embedder, modelsDirectory }: SearchOptions,
  builtIn: Embedder | null,
  notes: string[],
): Promise<Embedder | null> {
  if (embedder === 'static' || embedder === STATIC_EMBEDDER_NAME) return builtIn
  try {
    const { transformersEmbedder } = await import('./embedders/transformers.ts')
    // Only `claude-mem models pull` downloads a model.
    return await transformersEmbedder({ model: embedder, cacheDir: modelsDirectory, allowRemote: false })
  } catch (error) {
    notes.push(`the embedder ${embedder} cannot be used, the built-in one is used instead: ${errorMessage(error)}`)
    return builtIn
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
    const { text, notes } =
      mode === 'hybrid'
        ? withSpellingVariants(resolved, this.#spellingVariants(resolved.text, request.filters))
        : resolved
    const compare = text === '' ? null : (this.#options.wordVectors?.comparerFor(text) ?? null)
    const names = text === '' ? [] : namesOfQuery(resolved.text)
    const { hits, total } =
      mode === 'hybrid' || mode === 'semantic'
        ? this.#ranked(mode, text, names, vector, compare, request)
        : this.#listed(mode, text, request)
    return { mode, notes, total, hits: new HitRenderer(this.reader, text, names, compare).render(hits) }
  }

  /** For words that no memory contains, and no passage where passages are searched too. */
  #spellingVariants(text: string, filters: SearchFilters): ReadonlyMap<string, readonly string[]> {
    const variants = this.reader.spellingSuggestions(text)
    if (variants.size === 0 || !searchesPassages(filters)) return variants
    const isUnknown = (word: string) =>
      this.reader.passages({ text: word, how: 'any' }, NO_FILTERS, PASSAGE_WEIGHTS, 1).length === 0
    return new Map([...variants].filter(([word]) => isUnknown(word)))
  }

  /** Newest first, each memory and passage on its own. */
  #listed(mode: 'filter' | 'strict', text: string, request: SearchRequest): HitPage {
    const { filters, limit, offset } = request
    const memories = mode === 'filter' ? this.#filtered(request) : this.#containingAll(text, filters, offset + limit)
    const passages = this.#listedPassages(mode, text, request)
    const pieces = [...memories.pieces, ...passages.pieces].sort((a, b) => timeOf(b) - timeOf(a))
    // A list without a query was read from the offset on.
    const from = mode === 'filter' ? 0 : offset
    return {
      hits: pieces
        .slice(from, from + limit)
        .map((piece) => ({ pieces: [{ piece, explanation: UNRANKED }], similar: [] })),
      total: memories.total + passages.total,
    }
  }

  #filtered({ filters, limit, offset }: SearchRequest): PieceList {
    const rows = this.reader.listFiltered(filters, limit, offset)
    return { pieces: this.#loadedMemories(rows), total: this.reader.count(filters) }
  }

  #containingAll(text: string, filters: SearchFilters, most: number): PieceList {
    const query = { text, how: 'every' } as const
    const rows = this.reader.lexical(query, filters, COLUMN_WEIGHTS, most).map(({ row }) => row)
    return { pieces: this.#loadedMemories(rows), total: this.reader.countLexical(query, filters, MAX_COUNTED) }
  }

  #loadedMemories(rows: readonly number[]): LoadedPiece['piece'][] {
    return this.reader.loadMemories(rows).map((memory) => ({ is: 'memory', memory }))
  }

  /** A list without a query has passages only if no memories were asked for: they would fill it. */
  #listedPassages(mode: 'filter' | 'strict', text: string, { filters, limit, offset }: SearchRequest): PieceList {
    const isFull = mode === 'filter' && filters.kinds.some((kind) => kind !== 'passage')
    if (isFull || !searchesPassages(filters)) return { pieces: [], total: 0 }
    const ids =
      mode === 'filter'
        ? this.reader.listPassages(filters, limit, offset)
        : this.#passageIds({ text, how: 'every' }, filters, offset + limit)
    const pieces = this.reader.loadPassages(ids).map((passage) => ({ is: 'passage' as const, passage }))
    return { pieces, total: mode === 'filter' ? this.reader.countPassages(filters) : pieces.length }
  }

  #passageIds(query: LexicalQuery, filters: SearchFilters, most: number): number[] {
    return this.reader.passages(query, filters, PASSAGE_WEIGHTS, most).map(({ id }) => id)
  }

  #ranked(
    mode: 'hybrid' | 'semantic',
    text: string,
    names: readonly QueryName[],
    vector: Float32Array | null,
    compare: QueryComparer | null,
    { filters, offset, limit }: SearchRequest,
  ): HitPage {
    const isHybrid = mode === 'hybrid'
    const candidates = [
      ...this.#memoryCandidates(text, isHybrid ? names : [], vector, filters, isHybrid),
      ...(isHybrid && searchesPassages(filters) ? this.#passageCandidates(text, names, compare, filters) : []),
    ]
    const ranked = rankPieces(candidates, isHybrid ? SCORE_WEIGHTS : BY_MEANING)
    const loaded = this.#withTexts(ranked.slice(0, MAX_COMPARED))
    const hits = turnHits(relevantPieces(loaded, isHybrid ? comparedTerms(text) : []))
    return { hits: hits.slice(offset, offset + limit), total: hits.length }
  }

  #memoryCandidates(
    text: string,
    names: readonly QueryName[],
    vector: Float32Array | null,
    filters: SearchFilters,
    byWords: boolean,
  ): RankingCandidate[] {
    const { reader, vectors } = this
    const found = byWords ? reader.lexical({ text, how: 'any' }, filters, COLUMN_WEIGHTS, LEXICAL_CANDIDATES) : []
    const words = new Map(found.map(({ row, score }) => [row, score]))
    const nearest = vector === null ? [] : (vectors?.nearest(vector, filters, SEMANTIC_CANDIDATES) ?? [])
    const near = new Map(nearest.map((match) => [searchRowId('observation', match.observationId), match]))
    const named = sharesOf(names, (name) =>
      reader.lexical({ text: name, how: 'phrase' }, filters, COLUMN_WEIGHTS, NAME_CANDIDATES).map(({ row }) => row),
    )
    const memories = reader.rankingRows([...new Set([...words.keys(), ...near.keys(), ...named.keys()])])
    const meanings =
      vector === null || vectors === null ? null : semanticScores(memories, near, vector, vectors, reader)
    const chunks = byWords ? reader.chunks(text, filters.project, CHUNK_CANDIDATES) : []
    const chunkScores = new Map(chunks.map(({ chunk, score }) => [chunk, score]))
    return memories.map((memory) => ({
      piece: { is: 'memory', memory },
      words: words.get(memory.row) ?? 0,
      meaning: meanings?.get(memory.row)?.smoothed ?? null,
      fragment: meanings?.get(memory.row)?.fragment ?? null,
      chunk: memory.chunk === null ? null : (chunkScores.get(memory.chunk) ?? 0),
      names: named.get(memory.row) ?? 0,
    }))
  }

  #passageCandidates(
    text: string,
    names: readonly QueryName[],
    compare: QueryComparer | null,
    filters: SearchFilters,
  ): RankingCandidate[] {
    const found = this.reader.passages({ text, how: 'any' }, filters, PASSAGE_WEIGHTS, PASSAGE_CANDIDATES)
    const words = new Map(found.map(({ id, score }) => [id, score]))
    const named = sharesOf(names, (name) => this.#passageIds({ text: name, how: 'phrase' }, filters, NAME_CANDIDATES))
    const ids = [...new Set([...words.keys(), ...named.keys()])]
    const passages = this.reader.loadPassages(ids).filter((passage) => !isFiller(passage))
    const cosines = passages.map((passage) => compare?.(passageWords(passage)).cosine ?? 0)
    // Word vectors that know no word of the query cannot tell passages apart.
    const isKnown = cosines.some((cosine) => cosine > 0)
    return passages.map((passage, i) => ({
      piece: { is: 'passage', passage },
      words: words.get(passage.id) ?? 0,
      meaning: isKnown ? (cosines[i] ?? 0) : null,
      fragment: null,
      chunk: null,
      names: named.get(passage.id) ?? 0,
    }))
  }

  /** Reads the whole memories. Those that were deleted meanwhile are left out. */
  #withTexts(ranked: readonly RankedPiece[]): LoadedPiece[] {
    const rows = ranked.flatMap(({ piece }) => (piece.is === 'memory' ? piece.memory.row : []))
    const memories = new Map(this.reader.loadMemories(rows).map((memory) => [memory.row, memory]))
    return ranked.flatMap(({ piece, explanation }): LoadedPiece[] => {
      if (piece.is === 'passage') return [{ piece, explanation }]
      const memory = memories.get(piece.memory.row)
      return memory === undefined ? [] : [{ piece: { is: 'memory', memory }, explanation }]
    })
  }
}

interface HitPage {
  hits: TurnHit[]
  total: number
}

interface PieceList {
  pieces: LoadedPiece['piece'][]
  total: number
}

const searchesPassages = ({ kinds }: SearchFilters): boolean => kinds.length === 0 || kinds.includes('passage')
const passageWords = ({ subject, text }: FoundPassage): string => (subject === null ? text : `${subject}\n${text}`)
const timeOf = (piece: Piece): number => (piece.is === 'memory' ? piece.memory.createdAt : piece.passage.at)

/** Shorter words that announce something say nothing without it. */
const FILLER_CHARS = 60
const isFiller = ({ subject, text }: FoundPassage): boolean =>
  subject === null && text.length < FILLER_CHARS && /[:：]$/.test(text.trimEnd())

/** Mode `semantic`. */
const BY_MEANING: ScoreWeights = { ...SCORE_WEIGHTS, words: 0, around: 0, names: 0 }
const UNRANKED = { words: 0, meaning: 0, around: 0, recency: 0, names: 0, kind: 0, score: 0, fragment: null }

/** The share of the names that each row has. A name that many have tells little: mostly that of a product. */
function sharesOf(names: readonly QueryName[], find: (name: string) => readonly number[]): Map<number, number> {
  const shares = new Map<number, number>()
  for (const { text, isWanted } of names) {
    const rows = find(text)
    if (rows.length === NAME_CANDIDATES && !isWanted) continue
    for (const row of rows) shares.set(row, (shares.get(row) ?? 0) + 1 / names.length)
  }
  return shares
}
