/**
 * The order of hits. The score is a weighted sum of parts that are each between 0 and 1:
 *
 * score = lexical · L + semantic · S + session · C + recency · R + type · T
 *
 * L  BM25 over the words of the memory and, with less weight, of its neighbours, divided by the best of this query
 * S  cosine of the closest fragment, smoothed over the neighbours in its session, divided by the best; memories without
 *    a vector (summaries, prompts) get L instead
 * C  BM25 of the chunk of the session that contains it, divided by the best
 * R  1 for a new memory, halved with every half-life of its age
 * T  how often memories of this type are looked up again
 *
 * Superseded observations come after all others, in the same order.
 */
import { DAY_MS } from '../domain/dates.ts'
import type { ObservationType } from '../domain/observation.ts'
import type { Explanation } from '../domain/search-query.ts'
import { STOP_WORDS } from '../lib/words.ts'
import { type ColumnWeights, type FoundMemory, type RankingRow, searchRowId } from '../store/search-port.ts'
import type { SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { VectorMatch } from './vectors/vector-set.ts'
import type { VectorStore } from './vectors/vector-store.ts'

export interface RankingWeights {
  lexical: number
  semantic: number
  session: number
  recency: number
  type: number
  /** Days after which the recency part is halved. */
  halfLifeDays: number
}

export interface RankingCandidate {
  memory: RankingRow
  /** BM25; 0 if it contains no word of the query. */
  lexical: number
  /** Smoothed cosine; null if it has no vector. */
  semantic: number | null
  fragment: string | null
  /** BM25 of its chunk of the session. */
  session: number
}

export interface RankedMemory<M extends RankingRow = FoundMemory> {
  memory: M
  explanation: Omit<Explanation, 'matched'>
}

/** Decisions and bugfixes are looked up again most often, plain changes of files hardly ever. */
const TYPE_VALUE: Record<ObservationType, number> = {
  decision: 1,
  bugfix: 1,
  feature: 0.7,
  discovery: 0.7,
  refactor: 0.5,
  change: 0.4,
}
/** Summaries and prompts. */
const NO_TYPE_VALUE = 0.5

export function rankCandidates(
  candidates: readonly RankingCandidate[],
  weights: RankingWeights,
  now: number,
): RankedMemory<RankingRow>[] {
  const best = (score: (candidate: RankingCandidate) => number) => Math.max(0, ...candidates.map(score))
  const lexical = best((candidate) => candidate.lexical)
  const session = best((candidate) => candidate.session)
  const semantic = best((candidate) => candidate.semantic ?? 0)
  const share = (value: number, whole: number) => (whole > 0 ? value / whole : 0)
  return candidates
    .map(({ memory, fragment, ...scores }): RankedMemory<RankingRow> => {
      const words = share(scores.lexical, lexical)
      const parts = {
        lexical: words,
        semantic: scores.semantic === null ? words : share(Math.max(0, scores.semantic), semantic),
        session: share(scores.session, session),
        recency: 0.5 ** (Math.max(0, now - memory.createdAt) / (weights.halfLifeDays * DAY_MS)),
        type: memory.type === null ? NO_TYPE_VALUE : TYPE_VALUE[memory.type],
      }
      const score =
        weights.lexical * parts.lexical +
        weights.semantic * parts.semantic +
        weights.session * parts.session +
        weights.recency * parts.recency +
        weights.type * parts.type
      return { memory, explanation: { ...parts, score, fragment } }
    })
    .sort(byScore)
}

/** With equal scores the newer one is first, so that the order is stable. */
function byScore(a: RankedMemory<RankingRow>, b: RankedMemory<RankingRow>): number {
  const superseded = Number(a.memory.supersededBy !== null) - Number(b.memory.supersededBy !== null)
  return (
    superseded ||
    b.explanation.score - a.explanation.score ||
    b.memory.createdAt - a.memory.createdAt ||
    b.memory.row - a.memory.row
  )
}

/**
 * Weight of a word in each column of the full-text table. The absolute numbers matter too: with 3, a second occurrence
 * of a word adds little, which suits short texts.
 */
export const COLUMN_WEIGHTS: ColumnWeights = { title: 4, body: 3, facts: 3, names: 3, grams: 3, neighbours: 0.75 }

export interface SemanticScore {
  /** Cosine of the closest fragment, averaged with those of the neighbours. */
  smoothed: number
  /** The closest fragment, counted from 1: `fact 2`. */
  fragment: string
}

/** Weight of the observation before and after; the observation itself has weight 1. */
const NEIGHBOUR_WEIGHT = 0.5

/**
 * How close memories are to a query in meaning, by row. `known`: the nearest vectors that were found; the cosine of all
 * other candidates is computed here. Only observations have vectors.
 */
export function semanticScores(
  memories: readonly RankingRow[],
  known: ReadonlyMap<number, VectorMatch>,
  query: Float32Array,
  vectors: VectorStore,
  reader: SearchDatabase,
): Map<number, SemanticScore> {
  const observations = memories.filter(({ kind }) => kind === 'observation')
  const neighbours = reader.neighbours(observations.map(({ id }) => id))
  const closest = (project: string, id: number) =>
    known.get(searchRowId('observation', id)) ?? vectors.closest(project, id, query)
  const scores = new Map<number, SemanticScore>()
  for (const { row, id, project } of observations) {
    const own = closest(project, id)
    if (own === null) continue
    const { before = null, after = null } = neighbours.get(id) ?? {}
    const others = [before, after].flatMap((other) => (other === null ? [] : (closest(project, other) ?? [])))
    const sum = others.reduce((total, other) => total + NEIGHBOUR_WEIGHT * other.score, own.score)
    const smoothed = sum / (1 + NEIGHBOUR_WEIGHT * others.length)
    scores.set(row, { smoothed, fragment: fragmentLabel(own.fragment) })
  }
  return scores
}

function fragmentLabel(fragment: string): string {
  const fact = /^fact_(\d+)$/.exec(fragment)?.[1]
  return fact === undefined ? fragment : `fact ${Number(fact) + 1}`
}

/** The best of several near-duplicates. The others are still stored. */
export interface HitGroup<T> {
  kept: T
  /** Ids of the others. */
  similar: number[]
}

/**
 * Collapses near-duplicates in a list of hits. Only observations of the same project can be duplicates: those that are
 * linked as repetitions, or have the same type, mostly the same words and, by `hasSameMeaning`, the same meaning.
 */
export function collapseDuplicates<T extends { memory: FoundMemory }>(
  hits: readonly T[],
  hasSameMeaning: (a: FoundMemory, b: FoundMemory) => boolean,
): HitGroup<T>[] {
  const groups: (HitGroup<T> & { words: ComparableWords })[] = []
  for (const hit of hits) {
    const { memory } = hit
    const words = comparableWords(memory)
    const duplicateOf = groups.find(({ kept: { memory: other }, words: otherWords }) => {
      if (memory.kind !== 'observation' || other.kind !== 'observation') return false
      if (memory.project !== other.project) return false
      if (memory.repeats.includes(other.id) || other.repeats.includes(memory.id)) return true
      return memory.type === other.type && sameWords(words, otherWords) && hasSameMeaning(memory, other)
    })
    if (duplicateOf === undefined) groups.push({ kept: hit, similar: [], words })
    else duplicateOf.similar.push(memory.id)
  }
  return groups.map(({ kept, similar }) => ({ kept, similar }))
}

/** Whether two observations have the same type and mostly the same words. */
export function hasSameWords(a: FoundMemory, b: FoundMemory): boolean {
  return a.type === b.type && sameWords(comparableWords(a), comparableWords(b))
}

/** Numbers have to be equal: a different port or error code makes a different memory. */
interface ComparableWords {
  /** Without stop words. */
  all: ReadonlySet<string>
  numbers: string
}

/**
 * Share of words that two duplicates have in common: one of six may differ. Neither words nor vectors suffice alone.
 */
const MIN_SHARED_WORDS = 0.85

function sameWords(a: ComparableWords, b: ComparableWords): boolean {
  const [fewer, more] = a.all.size < b.all.size ? [a.all, b.all] : [b.all, a.all]
  if (a.numbers !== b.numbers || more.size === 0) return false
  let missing = more.size - fewer.size
  const maxMissing = more.size * (1 - MIN_SHARED_WORDS)
  for (const word of fewer) {
    if (missing > maxMissing) return false
    if (!more.has(word)) missing += 1
  }
  return missing <= maxMissing
}

function comparableWords({ title, text, facts }: FoundMemory): ComparableWords {
  const words = `${title} ${text} ${facts.join(' ')}`.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const all = new Set(words.filter((word) => !STOP_WORDS.has(word)))
  const numbers = [...all].filter((word) => /\p{N}/u.test(word)).sort()
  return { all, numbers: numbers.join(' ') }
}
