/** What the memory of a history says at each of its checkpoints: in the start of the next session, and to a search. */
import type { Progress } from '../lib/report.ts'
import type { AgentSearch } from './agent-search.ts'
import { type History, historyEvents, type Question } from './histories.ts'
import { naiveStart, type SpokenTurn, spokenTurns } from './naive-start.ts'
import type { GrowingMemory } from './observed.ts'
import { answers } from './sessions.ts'
import { type MadeStart, startAfter } from './start.ts'

export const ASOF_MEASURES = [
  'start',
  'naive_start',
  'stale_in_start',
  'naive_stale',
  'search_400',
  'search_1200',
  'stale_first',
] as const
export type AsofMeasure = (typeof ASOF_MEASURES)[number]

export interface AskedQuestion {
  question: Question
  answered: Record<AsofMeasure, boolean>
}

/** The start after a session of a history, beside the naive one of the same size. */
export interface Checkpoint {
  /** Number of the last session that is in the memory. */
  after: number
  start: MadeStart
  naive: string
}

/**
 * Adds one session after the other to the memory, and yields after each of the given ones. Nothing that happens later is
 * in the memory then.
 */
export async function* checkpointsOf(
  history: History,
  memory: GrowingMemory,
  after: ReadonlySet<number>,
  progress: Progress,
): AsyncGenerator<Checkpoint> {
  const turns: SpokenTurn[] = []
  for (const [session, file] of history.files.entries()) {
    if (session > Math.max(...after)) return
    progress.show(`${history.name}: session ${session + 1} of ${history.files.length}`)
    await memory.add(historyEvents(history, memory, file))
    turns.push(...(await spokenTurns(file)))
    if (!after.has(session)) continue
    const start = await startAfter(memory.store, history.project, memory.events)
    yield { after: session, start, naive: naiveStart(turns, start.options.tokens) }
  }
}

const SMALL_BUDGET = 400
const LARGE_BUDGET = 1_200

export async function askQuestion(
  question: Question,
  { start, naive }: Pick<Checkpoint, 'start' | 'naive'>,
  search: AgentSearch,
): Promise<AskedQuestion> {
  const large = await search.ask(question.ask, LARGE_BUDGET)
  return {
    question,
    answered: {
      start: answers(start.context, question),
      naive_start: answers(naive, question),
      stale_in_start: isStale(start.context, question),
      naive_stale: isStale(naive, question),
      search_400: answers(await search.ask(question.ask, SMALL_BUDGET), question),
      search_1200: answers(large, question),
      stale_first: isStaleFirst(large, question),
    },
  }
}

/** An outdated value, and not the current one. */
export function isStale(text: string, question: Question): boolean {
  return placesOf(text, question.must_not).length > 0 && !answers(text, question)
}

/** An outdated value stands before the whole current one, or there is no current one. */
export function isStaleFirst(text: string, question: Question): boolean {
  const current = answers(text, question) ? Math.max(...placesOf(text, question.expect)) : Number.POSITIVE_INFINITY
  return Math.min(Number.POSITIVE_INFINITY, ...placesOf(text, question.must_not)) < current
}

/** Where each of the strings first stands; without those that are missing. */
function placesOf(text: string, strings: readonly string[]): number[] {
  const folded = text.toLowerCase()
  return strings.map((one) => folded.indexOf(one.toLowerCase())).filter((place) => place !== -1)
}
