/** Which of the new observations is which of the stored ones. */
import type { Observation } from '../memory/observation.ts'
import { wordsOf } from '../search/tokens.ts'

export type Alone<T> = { kind: 'only_stored'; stored: T } | { kind: 'only_new'; fresh: T }
export type Pair<T> = { kind: 'both'; stored: T; fresh: T } | Alone<T>

/** Titles that share half of their words are about one thing. */
const LEAST_ALIKE = 0.5

interface Candidate {
  stored: Known
  fresh: Known
  closeness: number
}

interface Known {
  observation: Observation
  sources: ReadonlySet<string>
  words: ReadonlySet<string>
}

/**
 * The closest first, each once. What came from the same events is the same memory in other words; where several did, as
 * they do of one batch, the closest titles belong together. Without a common event only a title like it counts.
 */
export function pairs(stored: readonly Observation[], fresh: readonly Observation[]): Pair<Observation>[] {
  const left = new Set(stored.map(knownOf))
  const right = new Set(fresh.map(knownOf))
  const made: Pair<Observation>[] = []
  for (const { stored, fresh } of candidates([...left], [...right])) {
    if (!left.has(stored) || !right.has(fresh)) continue
    left.delete(stored)
    right.delete(fresh)
    made.push({ kind: 'both', stored: stored.observation, fresh: fresh.observation })
  }
  return [
    ...made,
    ...[...left].map(({ observation }): Alone<Observation> => ({ kind: 'only_stored', stored: observation })),
    ...[...right].map(({ observation }): Alone<Observation> => ({ kind: 'only_new', fresh: observation })),
  ]
}

function candidates(left: readonly Known[], right: readonly Known[]): Candidate[] {
  const found: Candidate[] = []
  for (const stored of left) {
    for (const fresh of right) {
      const closeness = closenessOf(stored, fresh)
      if (closeness > 0) found.push({ stored, fresh, closeness })
    }
  }
  return found.sort((a, b) => b.closeness - a.closeness)
}

/** Equal content 4; a common event 1 to 2 with the share of them, and up to 1 for the title; a title alone up to 1. */
function closenessOf(stored: Known, fresh: Known): number {
  if (stored.observation.contentHash === fresh.observation.contentHash) return 4
  const events = shared(stored.sources, fresh.sources)
  const title = shared(stored.words, fresh.words)
  if (events > 0) return 1 + events + title
  const sameTurn = stored.observation.promptNumber === fresh.observation.promptNumber
  return sameTurn && title >= LEAST_ALIKE ? title : 0
}

/** What two sets have in common, of what they have together. */
function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0
  for (const one of a) if (b.has(one)) both += 1
  return both === 0 ? 0 : both / (a.size + b.size - both)
}

function knownOf(observation: Observation): Known {
  return { observation, sources: new Set(observation.sources), words: new Set(wordsOf(observation.title ?? '')) }
}
