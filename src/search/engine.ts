/**
 * Searches the memory by words and by meaning, on a read-only database connection. The engine is independent of
 * threads: `worker.ts` runs it in one, and the command line uses it directly when no daemon runs.
 *
 * A search resolves the mode, collects candidates (full-text search, nearest vectors), ranks them (ranking.ts; with
 * passages passage-ranking.ts), collapses near-duplicates and returns one page.
 */
import { estimateTokens, memoryOrigin } from '../domain/observation.ts'
import type { PassageKind } from '../domain/passage.ts'
import {
  type AnsweredMode,
  type HitPassage,
  NO_FILTERS,
  narrowsProject,
  type SearchAnswer,
  type SearchFilters,
  type SearchHit,
  type SearchRequest,
} from '../domain/search-query.ts'
import type { Speaker } from '../domain/speaker.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import {
  type FoundMemory,
  type FoundPassage,
  type MemoryCounts,
  type RankingRow,
  searchRowId,
} from '../store/search-port.ts'
import { queryWords } from '../store/sqlite/full-text-search.ts'
import { openSearchDatabase, type SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { Embedder } from './embedders/models.ts'
import { type QueryComparer, STATIC_EMBEDDER_NAME, type StaticEmbedder, staticEmbedder } from './embedders/static.ts'
import {
  type JointHit,
  LEXICAL_PASSAGE_WEIGHTS,
  type MatchedPassage,
  rankJointly,
  withoutRepetitions,
} from './passage-ranking.ts'
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
import { answeringSentences, beginningOf, matchedShare } from './snippets.ts'
import { removeHnswIndexesContaining } from './vectors/hnsw-index.ts'
import type { VectorMatch } from './vectors/vector-set.ts'
import { VectorStore } from './vectors/vector-store.ts'

export interface SearchEngineOptions extends Omit<SearchOptions, 'embedder' | 'modelsDirectory'> {
  /** Null if none could be loaded: then the search uses words only. */
  embedder: Embedder | null
  /** Compares passages with a query, whatever the embedder is; null or absent: by words only. */
  wordVectors?: StaticEmbedder | null
  log(text: string): void
  now?: () => number
}

/** Most candidates that are ranked, by source. More would not change the first page of any query. */
const LEXICAL_CANDIDATES = 300
const SEMANTIC_CANDIDATES = 200
const SESSION_CANDIDATES = 50
const PASSAGE_CANDIDATES = 100
/** Memories whose texts are compared with the query, beside as many passages. Those after them keep their order. */
const JOINT_MEMORIES = 40
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
    const found = this.#find(mode, text, vector, request)
    const passages = this.#passages(mode, text, request)
    const compare = text === '' ? null : (this.#options.wordVectors?.comparerFor(text) ?? null)
    const page = this.#joint(mode, text, request, found.hits, passages.matched, compare)
    const hits = this.#toHits(page, text, compare)
    // Memories and passages that became one hit were counted twice: a page that is not full is the last one.
    const counted = found.total + passages.total
    const total = page.length < request.limit ? Math.min(counted, request.offset + page.length) : counted
    const isRanked = mode === 'semantic' || mode === 'hybrid'
    const fillers = isRanked ? this.#fillers(request, hits, found.hits) : []
    return { mode, notes, total, hits: [...hits, ...fillers] }
  }

  /** For words that no memory contains, and no passage where passages are searched too. */
  #spellingVariants(text: string, filters: SearchFilters): ReadonlyMap<string, readonly string[]> {
    const variants = this.reader.spellingSuggestions(text)
    if (variants.size === 0 || !searchesPassages(filters)) return variants
    const isUnknown = (word: string) =>
      this.reader.passages({ text: word, how: 'any' }, NO_FILTERS, LEXICAL_PASSAGE_WEIGHTS, 1).length === 0
    return new Map([...variants].filter(([word]) => isUnknown(word)))
  }

  /** The passages that match. A list without a query has them only if no memories were asked for: they would fill it. */
  #passages(mode: AnsweredMode, text: string, request: SearchRequest): { matched: MatchedPassage[]; total: number } {
    const { filters, limit, offset } = request
    const { kinds } = filters
    const none = { matched: [], total: 0 }
    if (mode === 'semantic' || !searchesPassages(filters)) return none
    if (mode === 'filter' && kinds.some((kind) => kind !== 'passage')) return none
    const scored =
      mode === 'filter'
        ? this.reader.listPassages(filters, limit, offset).map((id) => ({ id, score: 0 }))
        : this.reader.passages(
            { text, how: mode === 'strict' ? 'every' : 'any' },
            filters,
            LEXICAL_PASSAGE_WEIGHTS,
            mode === 'strict' ? offset + limit : PASSAGE_CANDIDATES,
          )
    const scores = new Map(scored.map(({ id, score }) => [id, score]))
    const matched = this.reader
      .loadPassages(scored.map(({ id }) => id))
      .map((passage) => ({ passage, lexical: scores.get(passage.id) ?? 0 }))
    return { matched, total: mode === 'filter' ? this.reader.countPassages(filters) : matched.length }
  }

  /** One page of memories and passages in one order. Without passages the order of the memories is kept. */
  #joint(
    mode: AnsweredMode,
    text: string,
    { filters, offset, limit }: SearchRequest,
    found: readonly RankedMemory<RankingRow>[],
    passages: readonly MatchedPassage[],
    compare: QueryComparer | null,
  ): JointHit[] {
    const isRanked = mode === 'semantic' || mode === 'hybrid'
    const isDuplicate = (a: FoundMemory, b: FoundMemory) => this.#hasSameMeaning(a, b)
    // Mode `filter` has read its rows from the offset on.
    const window = { offset: mode === 'filter' ? 0 : offset, limit }
    if (passages.length === 0) {
      const page = selectPage(found, window, isRanked ? MAX_COMPARED : 0, isDuplicate, this.reader)
      return page.map(memoryHit)
    }
    if (!isRanked)
      return newestFirst(loadRankedMemories(found, this.reader), passages).slice(window.offset, window.offset + limit)
    const groups = collapseDuplicates(loadRankedMemories(found.slice(0, JOINT_MEMORIES), this.reader), isDuplicate)
    const similar = new Map(groups.map((group) => [group.kept.memory.row, group.similar]))
    const known = groups.map(({ kept }) => kept)
    const evidenced = (best: readonly FoundPassage[]) => this.#evidenced(found.slice(0, JOINT_MEMORIES), best, filters)
    const ranked = withoutRepetitions(rankJointly(known, passages, { words: queryWords(text), compare }, evidenced))
    const first = ranked.map((hit) => ({
      ...hit,
      similar: [...(hit.memory === null ? [] : (similar.get(hit.memory.row) ?? [])), ...hit.similar],
    }))
    const missing = Math.max(0, window.offset + limit - first.length)
    const listed = new Set(first.flatMap(({ memory }) => memory?.row ?? []))
    const others = found.slice(JOINT_MEMORIES).filter(({ memory }) => !listed.has(memory.row))
    const rest = loadRankedMemories(others.slice(0, missing), this.reader)
    const all = [...first, ...rest.map((kept) => memoryHit({ kept, similar: [] }))]
    return all.slice(window.offset, window.offset + limit)
  }

  /** Observations that did not match well themselves, but were made of the events of passages that did. */
  #evidenced(
    matching: readonly RankedMemory<RankingRow>[],
    passages: readonly FoundPassage[],
    filters: SearchFilters,
  ): RankedMemory[] {
    const known = new Set(matching.map(({ memory }) => memory.row))
    const ids = new Set(passages.flatMap(({ observationIds }) => observationIds))
    const rows = [...ids].map((id) => searchRowId('observation', id)).filter((row) => !known.has(row))
    return loadRankedMemories(this.#unranked(this.reader.filterRows(rows, filters)), this.reader)
  }

  #toHits(page: readonly JointHit[], text: string, compare: QueryComparer | null): SearchHit[] {
    const rows = page.flatMap(({ memory }) => memory?.row ?? [])
    const matches = text === '' ? new Map<number, string[]>() : this.reader.matchedWords(text, rows)
    const words = text === '' ? [] : queryWords(text)
    return page.map((hit) => {
      const ofPassage = hit.passage === null ? [] : containedWords(words, `${hit.passage.subject}\n${hit.passage.text}`)
      const matched = [...new Set([...((hit.memory && matches.get(hit.memory.row)) ?? []), ...ofPassage])]
      const score = compare === null ? matchedShare(matched) : (sentence: string) => compare(sentence).coverage
      return toSearchHit(hit, matched, text === '' ? null : score, false)
    })
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
    return this.reader.rankingRows(rows).map((memory) => ({ memory, explanation: UNRANKED }))
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
    return memories.map((kept) => toSearchHit(memoryHit({ kept, similar: [] }), [], null, true))
  }
}

const searchesPassages = ({ kinds }: SearchFilters): boolean => kinds.length === 0 || kinds.includes('passage')

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

const memoryHit = ({ kept, similar }: HitGroup<RankedMemory>): JointHit => ({
  memory: kept.memory,
  passage: null,
  similar,
  explanation: kept.explanation,
})

const UNRANKED = { lexical: 0, semantic: 0, session: 0, recency: 0, type: 0, score: 0, fragment: null }

function newestFirst(memories: readonly RankedMemory[], passages: readonly MatchedPassage[]): JointHit[] {
  const hits = [
    ...memories.map((kept) => ({ at: kept.memory.createdAt, hit: memoryHit({ kept, similar: [] }) })),
    ...passages.map(({ passage }) => ({
      at: passage.at,
      hit: { memory: null, passage, similar: [], explanation: UNRANKED },
    })),
  ]
  return hits.sort((a, b) => b.at - a.at).map(({ hit }) => hit)
}

/** Words of the query in a text, whatever their endings are. */
function containedWords(words: readonly string[], text: string): string[] {
  const folded = text.toLowerCase()
  return words.filter((word) => folded.includes(word.toLowerCase().replace(/(?<=\p{L}{4})(?:ing|ed|es|s)$/u, '')))
}

/** `score`: null for a list without a query. */
function toSearchHit(
  { memory, passage, similar, explanation }: JointHit,
  matched: string[],
  score: ((sentence: string) => number) | null,
  isFiller: boolean,
): SearchHit {
  const shared = {
    passage: passage === null ? null : hitPassage(passage),
    similar,
    explanation: { ...explanation, matched },
    completes: isFiller,
  }
  if (memory === null) {
    if (passage === null) throw new MemError('internal', 'a hit has neither a memory nor a passage')
    return { ...passageFields(passage), snippet: passage.text, ...shared }
  }
  const { row: _row, text, facts, concepts: _concepts, chunk: _chunk, repeats: _repeats, ...fields } = memory
  const texts = [text, ...facts]
  const own = score === null ? beginningOf(texts) : answeringSentences(texts, score)
  return { ...fields, snippet: passage?.text ?? own, ...shared }
}

const hitPassage = ({ id, kind, subject, outcome }: FoundPassage): HitPassage => ({ id, kind, subject, outcome })

const PASSAGE_TITLE_CHARS = 100

function passageFields(passage: FoundPassage) {
  const { id, kind, session, project, projectName, subject, text, at, promptNumber } = passage
  const [line = ''] = text.split('\n', 1)
  return {
    kind: 'passage' as const,
    id,
    session,
    project,
    projectName,
    type: null,
    title: [...(subject ?? line)].slice(0, PASSAGE_TITLE_CHARS).join(''),
    saidBy: PASSAGE_SPEAKERS[kind],
    ...memoryOrigin(passage),
    files: kind === 'edit' && subject !== null ? [subject] : [],
    createdAt: at,
    promptNumber,
    pinned: false,
    supersededBy: null,
    tokens: estimateTokens(text),
  }
}

/** Whose words a passage is. A page may be behind a `result` too: neither instructs. */
const PASSAGE_SPEAKERS: Record<PassageKind, Speaker> = {
  prompt: 'person',
  answer: 'person',
  closing: 'agent',
  words: 'agent',
  report: 'agent',
  commit: 'agent',
  file: 'agent',
  edit: 'agent',
  check: 'tool',
  status: 'tool',
  link: 'tool',
  command: 'tool',
  result: 'tool',
}
