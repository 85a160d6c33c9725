/**
 * One formula for all: a weighted sum of parts that are each between 0 and 1.
 *
 *   score = lexical · L + semantic · S + session · C + recency · R + type · T
 *
 * L  BM25 over the memory's own words and, counting less, those of its neighbours, divided by the best of this query
 * S  cosine of the closest fragment, smoothed over the neighbours in its session, divided by the best; of what has no
 *    vector (summaries, prompts) nobody knows, and its words stand in
 * C  BM25 of the part of the session that it stands in, divided by the best
 * R  1 for the newest, halved with every half-life that it is older
 * T  how often a memory of this type is what people come back for
 *
 * What a newer observation supersedes comes after everything else, in the same order.
 */
import type { ObservationType } from '../memory/observation.ts'
import type { FoundMemory, Rankable } from '../store/search-port.ts'
import type { Explanation } from './query.ts'

export interface Weights {
  lexical: number
  semantic: number
  session: number
  recency: number
  type: number
  /** Days after which a memory counts half as new. */
  halfLifeDays: number
}

export interface Candidate {
  memory: Rankable
  /** BM25; 0 where no word stands in it. */
  lexical: number
  /** Smoothed cosine; null where it has no vector. */
  semantic: number | null
  fragment: string | null
  /** BM25 of its part of the session. */
  session: number
}

export interface Ranked<M extends Rankable = FoundMemory> {
  memory: M
  explanation: Omit<Explanation, 'matched'>
}

/** Decisions and mended faults are asked for again; that a file was changed hardly ever. */
const TYPE_VALUE: Record<ObservationType, number> = {
  decision: 1,
  bugfix: 1,
  feature: 0.7,
  discovery: 0.7,
  refactor: 0.5,
  change: 0.4,
}

const DAY_MS = 86_400_000

export function ranked(candidates: readonly Candidate[], weights: Weights, now: number): Ranked<Rankable>[] {
  const most = (of: (candidate: Candidate) => number) => Math.max(0, ...candidates.map(of))
  const lexical = most((one) => one.lexical)
  const session = most((one) => one.session)
  const semantic = most((one) => one.semantic ?? 0)
  const part = (value: number, whole: number) => (whole > 0 ? value / whole : 0)
  return candidates
    .map(({ memory, fragment, ...of }): Ranked<Rankable> => {
      const words = part(of.lexical, lexical)
      const parts = {
        lexical: words,
        semantic: of.semantic === null ? words : part(Math.max(0, of.semantic), semantic),
        session: part(of.session, session),
        recency: 0.5 ** (Math.max(0, now - memory.createdAt) / (weights.halfLifeDays * DAY_MS)),
        type: memory.type === null ? 0.5 : TYPE_VALUE[memory.type],
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

/** Of equals the newer one first, so that the order is always the same. */
function byScore(a: Ranked<Rankable>, b: Ranked<Rankable>): number {
  const replaced = Number(a.memory.supersededBy !== null) - Number(b.memory.supersededBy !== null)
  return (
    replaced ||
    b.explanation.score - a.explanation.score ||
    b.memory.createdAt - a.memory.createdAt ||
    b.memory.row - a.memory.row
  )
}
