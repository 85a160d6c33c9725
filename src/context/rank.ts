/** Which memories are worth most to a session that starts. */
import type { Observation, ObservationType } from '../memory/observation.ts'
import { titleOf } from './lines.ts'

/** An observation as it would stand in the text. */
export interface ContextEntry {
  day: string
  /** The file it is filed under. */
  group: string
  observation: Observation
  row: string
  detail: string | null
}

const WEIGHTS: Record<ObservationType, number> = {
  decision: 4,
  bugfix: 4,
  feature: 3,
  refactor: 3,
  discovery: 2,
  change: 1,
}
const DAY_MS = 86_400_000
/** Age at which an observation counts half, in days. */
const HALF_AFTER_DAYS = 7
/** So many observations of a session count in full; as many more halve the weight of the next. */
const SESSION_SHARE = 3

export function mostUsefulFirst(entries: readonly ContextEntry[]): ContextEntry[] {
  const newest = entries.reduce((at, { observation }) => Math.max(at, observation.createdAt), 0)
  const scored = [...entries]
    .sort(newestFirst)
    .map((entry) => ({ entry, score: worth(entry.observation, newest) }))
    .sort((a, b) => b.score - a.score)
  const seen = new Map<string, number>()
  return scored
    .map(({ entry, score }) => {
      const before = seen.get(entry.observation.session) ?? 0
      seen.set(entry.observation.session, before + 1)
      return { entry, score: score / (1 + Math.floor(before / SESSION_SHARE)) }
    })
    .sort((a, b) => b.score - a.score || newestFirst(a.entry, b.entry))
    .map(({ entry }) => entry)
}

/** Measured from the newest memory, not from now: after a holiday the last day of work is as near as ever. */
function worth({ type, createdAt }: Observation, newest: number): number {
  return WEIGHTS[type] / (1 + (newest - createdAt) / DAY_MS / HALF_AFTER_DAYS)
}

/**
 * The same said again counts once: what search linked as a repetition, and the same title about the same file. The
 * newest stays; of what `shown` says already, none.
 */
export function withoutRepeats(
  entries: readonly ContextEntry[],
  shown: readonly ContextEntry[],
  repeats: readonly { from: number; to: number }[],
): ContextEntry[] {
  const storyOf = stories(repeats)
  const said = new Set<string>()
  const isNew = ({ observation, group }: ContextEntry): boolean => {
    const words = `${observation.type}\n${group}\n${titleOf(observation).toLowerCase()}`
    const story = `${storyOf(observation.id)}`
    const known = said.has(words) || said.has(story)
    said.add(words).add(story)
    return !known
  }
  for (const entry of shown) isNew(entry)
  return [...entries].sort(newestFirst).filter(isNew)
}

/** Those that repeat one another, over others too, share a story: the id that stands for it. */
function stories(repeats: readonly { from: number; to: number }[]): (id: number) => number {
  const parents = new Map<number, number>()
  const storyOf = (id: number): number => {
    let at = id
    for (let parent = parents.get(at); parent !== undefined; parent = parents.get(at)) at = parent
    return at
  }
  for (const { from, to } of repeats) {
    const [one, other] = [storyOf(from), storyOf(to)]
    if (one !== other) parents.set(one, other)
  }
  return storyOf
}

export function newestFirst(a: ContextEntry, b: ContextEntry): number {
  return b.observation.createdAt - a.observation.createdAt || b.observation.id - a.observation.id
}
