/**
 * Compares the stored memories of a session with those of a replay: matches them (by content, by common source events and
 * by title), and lists what differs field by field.
 */
import type { FunctionChange, Observation, Summary } from '../../domain/observation.ts'
import { splitWords } from '../../lib/words.ts'

export type ComparedMemory<T> =
  | { kind: 'same'; stored: T; fresh: T }
  | { kind: 'changed'; stored: T; fresh: T; fields: FieldChange[] }
  | UnmatchedMemory<T>

export interface ReplayComparison {
  observations: ComparedMemory<Observation>[]
  summaries: ComparedMemory<Summary>[]
  /** Stored memories that cannot be compared. */
  leftOut: {
    /** All of their source events are gone. */
    gone: number
    /** Written by the user or imported. */
    byHand: number
    summaries: number
  }
  /** Number of compared memories of whose source events some are gone. */
  partly: number
}

interface ReplayMemories {
  observations: readonly Observation[]
  summaries: readonly Summary[]
}

/** `gone`: ids of events that could not be replayed. */
export function compareMemories(
  stored: ReplayMemories,
  fresh: ReplayMemories,
  gone: ReadonlySet<string>,
): ReplayComparison {
  const observed = stored.observations.filter(({ sources }) => sources.length > 0)
  const comparable = observed.filter(({ sources }) => sources.some((id) => !gone.has(id)))
  const turns = new Set(fresh.summaries.map(({ promptNumber }) => promptNumber))
  // A turn whose events are gone has no new summary to compare with.
  const summaries = gone.size === 0 ? stored.summaries : stored.summaries.filter((one) => turns.has(one.promptNumber))
  return {
    observations: inSessionOrder(
      matchObservations(comparable, fresh.observations).map((pair) => compareFields(pair, observationChanges)),
    ),
    summaries: inSessionOrder(
      matchSummaries(summaries, fresh.summaries).map((pair) => compareFields(pair, summaryChanges)),
    ),
    leftOut: {
      gone: observed.length - comparable.length,
      byHand: stored.observations.length - observed.length,
      summaries: stored.summaries.length - summaries.length,
    },
    partly: comparable.filter(({ sources }) => sources.some((id) => gone.has(id))).length,
  }
}

function compareFields<T>(
  pair: MatchedMemory<T>,
  changesOf: (stored: T, fresh: T) => FieldChange[],
): ComparedMemory<T> {
  if (pair.kind !== 'both') return pair
  const { stored, fresh } = pair
  const fields = changesOf(stored, fresh)
  return fields.length === 0 ? { kind: 'same', stored, fresh } : { kind: 'changed', stored, fresh, fields }
}

/** By turn. If a turn has several summaries, they are matched in order. */
function matchSummaries(stored: readonly Summary[], fresh: readonly Summary[]): MatchedMemory<Summary>[] {
  const unmatched = [...fresh]
  const matched = stored.map((one): MatchedMemory<Summary> => {
    const index = unmatched.findIndex(({ promptNumber }) => promptNumber === one.promptNumber)
    const [other] = index === -1 ? [] : unmatched.splice(index, 1)
    return other === undefined ? { kind: 'only_stored', stored: one } : { kind: 'both', stored: one, fresh: other }
  })
  return [...matched, ...unmatched.map((one): MatchedMemory<Summary> => ({ kind: 'only_new', fresh: one }))]
}

/** By turn, then by time. */
function inSessionOrder<T extends Observation | Summary>(list: ComparedMemory<T>[]): ComparedMemory<T>[] {
  const memory = (one: ComparedMemory<T>) => ('fresh' in one ? one.fresh : one.stored)
  return list.toSorted(
    (a, b) => memory(a).promptNumber - memory(b).promptNumber || memory(a).createdAt - memory(b).createdAt,
  )
}

type UnmatchedMemory<T> = { kind: 'only_stored'; stored: T } | { kind: 'only_new'; fresh: T }
type MatchedMemory<T> = { kind: 'both'; stored: T; fresh: T } | UnmatchedMemory<T>

/** Share of common words from which on two titles count as the same subject. */
const MIN_TITLE_SIMILARITY = 0.5

interface Candidate {
  stored: WithWords
  fresh: WithWords
  score: number
}

interface WithWords {
  observation: Observation
  sources: ReadonlySet<string>
  words: ReadonlySet<string>
}

/**
 * Matches by descending score, each observation once. Observations of the same events are the same memory in other words;
 * if several have the same events, as in one batch, the closest titles match. Without a common event only a similar title
 * in the same turn matches.
 */
function matchObservations(
  stored: readonly Observation[],
  fresh: readonly Observation[],
): MatchedMemory<Observation>[] {
  const storedLeft = new Set(stored.map(withWords))
  const freshLeft = new Set(fresh.map(withWords))
  const matches: MatchedMemory<Observation>[] = []
  for (const { stored, fresh } of candidates([...storedLeft], [...freshLeft])) {
    if (!storedLeft.has(stored) || !freshLeft.has(fresh)) continue
    storedLeft.delete(stored)
    freshLeft.delete(fresh)
    matches.push({ kind: 'both', stored: stored.observation, fresh: fresh.observation })
  }
  return [
    ...matches,
    ...[...storedLeft].map(
      ({ observation }): UnmatchedMemory<Observation> => ({ kind: 'only_stored', stored: observation }),
    ),
    ...[...freshLeft].map(
      ({ observation }): UnmatchedMemory<Observation> => ({ kind: 'only_new', fresh: observation }),
    ),
  ]
}

function candidates(left: readonly WithWords[], right: readonly WithWords[]): Candidate[] {
  const found: Candidate[] = []
  for (const stored of left) {
    for (const fresh of right) {
      const score = matchScore(stored, fresh)
      if (score > 0) found.push({ stored, fresh, score })
    }
  }
  return found.sort((a, b) => b.score - a.score)
}

/** Equal content: 4. Common events: 1 plus their share plus the similarity of titles. Only similar titles: up to 1. */
function matchScore(stored: WithWords, fresh: WithWords): number {
  if (stored.observation.contentHash === fresh.observation.contentHash) return 4
  const events = jaccard(stored.sources, fresh.sources)
  const title = jaccard(stored.words, fresh.words)
  if (events > 0) return 1 + events + title
  const sameTurn = stored.observation.promptNumber === fresh.observation.promptNumber
  return sameTurn && title >= MIN_TITLE_SIMILARITY ? title : 0
}

/** Size of the intersection divided by the size of the union. */
function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0
  for (const item of a) if (b.has(item)) common += 1
  return common === 0 ? 0 : common / (a.size + b.size - common)
}

function withWords(observation: Observation): WithWords {
  return { observation, sources: new Set(observation.sources), words: new Set(splitWords(observation.title ?? '')) }
}

export type FieldChange =
  | { field: string; kind: 'text'; before: string | null; after: string | null }
  | { field: string; kind: 'list'; removed: string[]; added: string[] }

function observationChanges(stored: Observation, fresh: Observation): FieldChange[] {
  return [
    ...textChange('type', stored.type, fresh.type),
    ...textChange('title', stored.title, fresh.title),
    ...textChange('subtitle', stored.subtitle, fresh.subtitle),
    ...textChange('narrative', stored.narrative, fresh.narrative),
    ...listChange('facts', stored.facts, fresh.facts),
    ...listChange('concepts', stored.concepts, fresh.concepts),
    ...listChange('files read', stored.filesRead, fresh.filesRead),
    ...listChange('files modified', stored.filesModified, fresh.filesModified),
    ...listChange(
      'functions changed',
      stored.functionsChanged.map(functionLabel),
      fresh.functionsChanged.map(functionLabel),
    ),
  ]
}

function summaryChanges(stored: Summary, fresh: Summary): FieldChange[] {
  return [
    ...textChange('request', stored.request, fresh.request),
    ...textChange('investigated', stored.investigated, fresh.investigated),
    ...textChange('learned', stored.learned, fresh.learned),
    ...textChange('completed', stored.completed, fresh.completed),
    ...textChange('next steps', stored.nextSteps, fresh.nextSteps),
    ...textChange('notes', stored.notes, fresh.notes),
    ...listChange('files read', stored.filesRead, fresh.filesRead),
    ...listChange('files edited', stored.filesEdited, fresh.filesEdited),
  ]
}

function textChange(field: string, before: string | null, after: string | null): FieldChange[] {
  return before === after ? [] : [{ field, kind: 'text', before, after }]
}

/** The order does not matter. */
function listChange(field: string, before: readonly string[], after: readonly string[]): FieldChange[] {
  const removed = before.filter((one) => !after.includes(one))
  const added = after.filter((one) => !before.includes(one))
  return removed.length + added.length === 0 ? [] : [{ field, kind: 'list', removed, added }]
}

function functionLabel({ name, file, action }: FunctionChange): string {
  return `${name} in ${file} (${action})`
}
