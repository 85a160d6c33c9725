/** How good a list of results is, for a question whose right answers are known. */
export interface Score {
  /** Share of the right answers that are among the first ten. */
  recall: number
  /** The same, higher places counting more: 1 where all right answers come first. */
  ndcg: number
}

export const TOP = 10

export function scoreOf(found: readonly string[], right: readonly string[]): Score {
  const wanted = new Set(right)
  const gains = found.slice(0, TOP).map((id, place) => (wanted.has(id) ? gainAt(place) : 0))
  const best = Array.from({ length: Math.min(TOP, wanted.size) }, (_, place) => gainAt(place))
  return { recall: gains.filter((gain) => gain > 0).length / wanted.size, ndcg: sum(gains) / sum(best) }
}

export function meanOf(scores: readonly Score[]): Score {
  const n = Math.max(1, scores.length)
  return { recall: sum(scores.map(({ recall }) => recall)) / n, ndcg: sum(scores.map(({ ndcg }) => ndcg)) / n }
}

function gainAt(place: number): number {
  return 1 / Math.log2(place + 2)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
