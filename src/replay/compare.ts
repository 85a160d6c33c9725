/** What is stored of a session beside what a replay made of it. */
import type { Observation, Summary } from '../memory/observation.ts'
import { type FieldChange, observationChanges, summaryChanges } from './fields.ts'
import { type Alone, type Pair, pairs } from './match.ts'

export type Compared<T> =
  | { kind: 'same'; stored: T; fresh: T }
  | { kind: 'changed'; stored: T; fresh: T; fields: FieldChange[] }
  | Alone<T>

export interface Comparison {
  observations: Compared<Observation>[]
  summaries: Compared<Summary>[]
  /** Stored ones that nothing can be held against. */
  leftOut: {
    /** Everything that they came from is gone. */
    gone: number
    /** Written by hand or imported. */
    byHand: number
    summaries: number
  }
  /** Compared, though a part of what they came from is gone. */
  partly: number
}

export interface Memories {
  observations: readonly Observation[]
  summaries: readonly Summary[]
}

/** `gone`: ids of events that could not be told again. */
export function compare(stored: Memories, fresh: Memories, gone: ReadonlySet<string>): Comparison {
  const made = stored.observations.filter(({ sources }) => sources.length > 0)
  const known = made.filter(({ sources }) => sources.some((id) => !gone.has(id)))
  const turns = new Set(fresh.summaries.map(({ promptNumber }) => promptNumber))
  // Without its last words, or a word of what was done, a turn has no summary to compare.
  const summaries = gone.size === 0 ? stored.summaries : stored.summaries.filter((one) => turns.has(one.promptNumber))
  return {
    observations: inOrder(pairs(known, fresh.observations).map((pair) => compared(pair, observationChanges))),
    summaries: inOrder(turnByTurn(summaries, fresh.summaries).map((pair) => compared(pair, summaryChanges))),
    leftOut: {
      gone: made.length - known.length,
      byHand: stored.observations.length - made.length,
      summaries: stored.summaries.length - summaries.length,
    },
    partly: known.filter(({ sources }) => sources.some((id) => gone.has(id))).length,
  }
}

function compared<T>(pair: Pair<T>, changesOf: (stored: T, fresh: T) => FieldChange[]): Compared<T> {
  if (pair.kind !== 'both') return pair
  const { stored, fresh } = pair
  const fields = changesOf(stored, fresh)
  return fields.length === 0 ? { kind: 'same', stored, fresh } : { kind: 'changed', stored, fresh, fields }
}

/** A turn may have several: the first belongs to the first. */
function turnByTurn(stored: readonly Summary[], fresh: readonly Summary[]): Pair<Summary>[] {
  const left = [...fresh]
  const met = stored.map((one): Pair<Summary> => {
    const at = left.findIndex(({ promptNumber }) => promptNumber === one.promptNumber)
    const [other] = at === -1 ? [] : left.splice(at, 1)
    return other === undefined ? { kind: 'only_stored', stored: one } : { kind: 'both', stored: one, fresh: other }
  })
  return [...met, ...left.map((one): Pair<Summary> => ({ kind: 'only_new', fresh: one }))]
}

/** As the session went: by turn, then by time. */
function inOrder<T extends Observation | Summary>(list: Compared<T>[]): Compared<T>[] {
  const of = (one: Compared<T>) => ('fresh' in one ? one.fresh : one.stored)
  return list.toSorted((a, b) => of(a).promptNumber - of(b).promptNumber || of(a).createdAt - of(b).createdAt)
}
