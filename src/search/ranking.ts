/**
 * The order of hits. Everything that can be found is a piece: an observation, a summary, a prompt or a passage. One formula
 * scores them all; its weights are `SCORE_WEIGHTS`, the parts are from 0 to 1:
 *
 * score = kind · (words + .7 meaning + .5 around + .2 recency) + 3 names
 *
 * words    BM25, divided by the best of memories or of passages
 * meaning  cosine with the query, divided by the best: of an observation that of its closest fragment, smoothed over its
 *          neighbours; of a passage that of its word vectors. A piece without a vector has its part `words`
 * around   how well what is around it matches, divided by the best: for an observation the chunk of its session, for
 *          everything else its turn
 * recency  1 for the newest turn of the candidates, 0 for the oldest, in equal steps
 * names    share of the rare identifiers and paths, and of the quoted phrases of the query, that it has as a whole
 *
 * A turn is one hit with its best pieces; docs/retrieval.md has the figures.
 */
import { isHandWritten } from '../domain/observation.ts'
import type { PassageKind } from '../domain/passage.ts'
import { type Explanation, type MemoryKind, SCORE_WEIGHTS } from '../domain/search-query.ts'
import {
  type ColumnWeights,
  type FoundPassage,
  type PassageWeights,
  type RankingRow,
  searchRowId,
} from '../store/search-port.ts'
import type { SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { VectorMatch } from './vectors/vector-set.ts'
import type { VectorStore } from './vectors/vector-store.ts'

/** What people wrote for others to read answers more questions than what programs print. */
const KIND_WEIGHTS: Record<MemoryKind | PassageKind, number> = {
  commit: 1.4,
  observation: 0.85,
  prompt: 1.2,
  answer: 1.2,
  closing: 1.2,
  words: 1,
  summary: 0.6,
  report: 0.7,
  check: 0.7,
  command: 0.85,
  edit: 0.7,
  file: 0.7,
  link: 0.7,
  status: 0.7,
  result: 0.55,
}

/**
 * Weight of a word in each column of the full-text table. The absolute numbers matter too: with 3, a second occurrence
 * of a word adds little, which suits short texts.
 */
export const COLUMN_WEIGHTS: ColumnWeights = { title: 4, body: 3, facts: 3, names: 3, grams: 3, neighbours: 0.75 }
export const PASSAGE_WEIGHTS: PassageWeights = { text: 1, around: 0.25 }

export type Piece<M extends RankingRow = RankingRow> =
  | { is: 'memory'; memory: M }
  | { is: 'passage'; passage: FoundPassage }

/** A piece with its measures, before they are divided by the best. */
export interface RankingCandidate {
  piece: Piece
  /** BM25; 0 if it contains no word of the query. */
  words: number
  /** Cosine; null without a vector. */
  meaning: number | null
  fragment: string | null
  /** BM25 of its chunk of the session; null for all but observations. */
  chunk: number | null
  /** From 0 to 1. */
  names: number
}

export interface RankedPiece<M extends RankingRow = RankingRow> {
  piece: Piece<M>
  explanation: Explanation
}

export type ScoreWeights = Record<keyof typeof SCORE_WEIGHTS, number>

/** Best first. Superseded observations come after all others; with equal scores the newer one is first. */
export function rankPieces(
  candidates: readonly RankingCandidate[],
  weights: ScoreWeights = SCORE_WEIGHTS,
): RankedPiece[] {
  const words = shares(candidates, (one) => one.words, isOf)
  const meaning = shares(candidates, (one) => one.meaning ?? 0, isOf)
  const chunks = shares(candidates, (one) => one.chunk ?? 0)
  const turns = turnShares(candidates, words)
  const recency = turnRecency(candidates)
  return candidates
    .map((candidate, i): RankedPiece => {
      const turn = turnOf(candidate.piece)
      const own = words[i] ?? 0
      const parts = {
        words: own,
        meaning: candidate.meaning === null ? own : (meaning[i] ?? 0),
        around: candidate.chunk === null ? (turns.get(turn) ?? 0) : (chunks[i] ?? 0),
        recency: recency.get(turn) ?? 0,
        names: candidate.names,
      }
      const kind = KIND_WEIGHTS[kindOf(candidate.piece)]
      const sum =
        weights.words * parts.words +
        weights.meaning * parts.meaning +
        weights.around * parts.around +
        weights.recency * parts.recency
      const score = kind * sum + weights.names * parts.names
      return { piece: candidate.piece, explanation: { ...parts, kind, score, fragment: candidate.fragment } }
    })
    .sort(byScore)
}

const isOf = ({ piece }: RankingCandidate): string => piece.is
const kindOf = (piece: Piece): MemoryKind | PassageKind =>
  piece.is === 'memory' ? piece.memory.kind : piece.passage.kind
const timeOf = (piece: Piece): number => (piece.is === 'memory' ? piece.memory.createdAt : piece.passage.at)
const idOf = (piece: Piece): number => (piece.is === 'memory' ? piece.memory.row : piece.passage.id)
const isSuperseded = (piece: Piece): boolean => piece.is === 'memory' && piece.memory.supersededBy !== null

/** A note that was written by hand, and an observation that was replaced, are on their own. */
export function turnOf(piece: Piece): string {
  const place = piece.is === 'memory' ? piece.memory : piece.passage
  const isAlone = isSuperseded(piece) || isHandWritten(place)
  return isAlone ? `${piece.is} ${idOf(piece)}` : `${place.promptNumber} ${place.session}`
}

/** The measures divided by the best of their group. */
function shares(
  candidates: readonly RankingCandidate[],
  measure: (candidate: RankingCandidate) => number,
  group: (candidate: RankingCandidate) => string = () => '',
): number[] {
  const best = new Map<string, number>()
  for (const one of candidates) best.set(group(one), Math.max(best.get(group(one)) ?? 0, measure(one)))
  return candidates.map((one) => {
    const whole = best.get(group(one)) ?? 0
    return whole > 0 ? Math.max(0, measure(one)) / whole : 0
  })
}

/** Square root: a turn with many matches is not better in proportion. */
function turnShares(candidates: readonly RankingCandidate[], words: readonly number[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [i, { piece }] of candidates.entries()) {
    sums.set(turnOf(piece), (sums.get(turnOf(piece)) ?? 0) + (words[i] ?? 0))
  }
  const best = Math.max(Number.MIN_VALUE, ...sums.values())
  return new Map([...sums].map(([turn, sum]) => [turn, Math.sqrt(sum / best)]))
}

/** By rank, so that a pause of a year does not make all turns before it equally old. */
function turnRecency(candidates: readonly RankingCandidate[]): Map<string, number> {
  const newest = new Map<string, number>()
  for (const { piece } of candidates) {
    newest.set(turnOf(piece), Math.max(newest.get(turnOf(piece)) ?? 0, timeOf(piece)))
  }
  const times = [...new Set(newest.values())].sort((a, b) => a - b)
  const shareAt = new Map(times.map((at, i) => [at, times.length === 1 ? 1 : i / (times.length - 1)]))
  return new Map([...newest].map(([turn, at]) => [turn, shareAt.get(at) ?? 0]))
}

function byScore(a: RankedPiece, b: RankedPiece): number {
  return (
    Number(isSuperseded(a.piece)) - Number(isSuperseded(b.piece)) ||
    b.explanation.score - a.explanation.score ||
    timeOf(b.piece) - timeOf(a.piece) ||
    idOf(b.piece) - idOf(a.piece)
  )
}

interface SemanticScore {
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
