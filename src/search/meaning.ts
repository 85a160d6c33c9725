/** How close memories are to a query in meaning, themselves and what stands beside them. */
import type { Rankable } from '../store/search-port.ts'
import type { SearchReader } from '../store/sqlite/search/reader.ts'
import { rowOf } from '../store/sqlite/search/rows.ts'
import type { FoundVector } from './vectors/vector-set.ts'
import type { VectorStore } from './vectors/vector-store.ts'

export interface Meaning {
  smoothed: number
  /** The fragment that is closest, as people count: `fact 2`. */
  fragment: string
}

/** What the observation before or after says about one, beside 1 for itself. */
const BESIDE_WEIGHT = 0.5

/**
 * By row. What was found by its words is as close as it is, whether or not it was among the closest. Only observations have
 * vectors.
 */
export function meaningsOf(
  memories: readonly Rankable[],
  known: ReadonlyMap<number, FoundVector>,
  query: Float32Array,
  vectors: VectorStore,
  reader: SearchReader,
): Map<number, Meaning> {
  const observations = memories.filter(({ kind }) => kind === 'observation')
  const beside = reader.neighbours(observations.map(({ id }) => id))
  const closest = (project: string, id: number) =>
    known.get(rowOf('observation', id)) ?? vectors.closest(project, id, query)
  const meanings = new Map<number, Meaning>()
  for (const { row, id, project } of observations) {
    const own = closest(project, id)
    if (own === null) continue
    const { before = null, after = null } = beside.get(id) ?? {}
    const others = [before, after].flatMap((other) => (other === null ? [] : (closest(project, other) ?? [])))
    const sum = others.reduce((total, other) => total + BESIDE_WEIGHT * other.score, own.score)
    meanings.set(row, { smoothed: sum / (1 + BESIDE_WEIGHT * others.length), fragment: named(own.fragment) })
  }
  return meanings
}

function named(fragment: string): string {
  const fact = /^fact_(\d+)$/.exec(fragment)?.[1]
  return fact === undefined ? fragment : `fact ${Number(fact) + 1}`
}
