/**
 * Are the weights good, or good for what they were fitted on? Each conversation is ranked with the weights that are best
 * for all others. The parts of every candidate come from the search itself, so only the weights differ.
 */
import type { Explanation } from '../../src/search/query.ts'
import { meanOf, type Score, scoreOf, TOP } from './score.ts'

type Parts = Pick<Explanation, 'lexical' | 'semantic' | 'session'>

export interface Asked {
  /** How many right answers there are, found or not. */
  evidence: number
  candidates: { right: boolean; explanation: Parts }[]
}

export interface Weighting {
  semantic: number
  session: number
}

export interface Fitted {
  weights: Weighting
  scores: Score[]
}

/** Words always count 1: only what the others count beside them matters. */
const GRID: Weighting[] = [0.3, 0.5, 0.7, 0.9, 1.1].flatMap((semantic) =>
  [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((session) => ({ semantic, session })),
)

/** One for each group: its scores with the weights that are best for the other groups. */
export function leaveOneOut(groups: readonly (readonly Asked[])[]): Fitted[] {
  const tried = GRID.map((weights) => ({ weights, scores: groups.map((asked) => asked.map(scored(weights))) }))
  return groups.map((_, left) => {
    const worth = ({ scores }: (typeof tried)[number]) => {
      const { recall, ndcg } = meanOf(scores.filter((_, group) => group !== left).flat())
      return recall + ndcg
    }
    const best = tried.reduce((a, b) => (worth(b) > worth(a) ? b : a))
    return { weights: best.weights, scores: best.scores[left] ?? [] }
  })
}

function scored({ semantic, session }: Weighting): (asked: Asked) => Score {
  const total = (parts: Parts) => parts.lexical + semantic * parts.semantic + session * parts.session
  return ({ evidence, candidates }) => {
    const first = candidates
      .map(({ right, explanation }) => ({ right, score: total(explanation) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, TOP)
    const names = Array.from({ length: evidence }, (_, i) => `right ${i}`)
    let hits = 0
    return scoreOf(
      first.map(({ right }) => (right ? `right ${hits++}` : 'other')),
      names,
    )
  }
}
