/** A session's history grouped into turns: prompts, transitions, and effects with their calls and memories. */
import type { OutputOf } from '../../../api/index.ts'

export type StoryData = OutputOf<'story'>['story']
export type TraceLine = StoryData['trace'][number]
export type CallLine = StoryData['calls'][number]
type ObservationLine = StoryData['observationRows'][number]
type SummaryLine = StoryData['summaryRows'][number]

const SUMMARY_PARTS = [
  ['request', 'Request'],
  ['investigated', 'Investigated'],
  ['learned', 'Learned'],
  ['completed', 'Completed'],
  ['nextSteps', 'Next steps'],
  ['notes', 'Notes'],
] as const

/** The parts of a summary that have a text. */
export function summaryParts(
  summary: Pick<SummaryLine, (typeof SUMMARY_PARTS)[number][0]>,
): { name: string; text: string }[] {
  return SUMMARY_PARTS.map(([part, name]) => ({ name, text: summary[part] ?? '' })).filter(({ text }) => text !== '')
}

/** One effect: its model calls and the memories made from them. */
export interface EffectBatch {
  kind: 'batch'
  key: string
  at: number
  what: CallLine['kind'] | 'hand'
  calls: CallLine[]
  observations: ObservationLine[]
  summaries: SummaryLine[]
}

/** One transition, or several equal ones in a row. */
export interface TransitionRun {
  kind: 'moves'
  key: string
  at: number
  moves: TraceLine[]
}

export type TimelineEntry = EffectBatch | TransitionRun

export interface StoryTurn {
  /** 0: before the first prompt. */
  number: number
  prompt: StoryData['prompts'][number] | null
  entries: TimelineEntry[]
}

/** Rows of the story, each kind with its own ids. */
export type StoryItemKind = 'trace' | 'observation' | 'summary' | 'call'

export const TIMELINE_FILTERS = ['all', 'transitions', 'memory', 'calls', 'errors'] as const
export type TimelineFilter = (typeof TIMELINE_FILTERS)[number]

/** Oldest first. */
export function storyTurns(story: StoryData): StoryTurn[] {
  const turns = new Map<number, StoryTurn>()
  const turn = (number: number): StoryTurn => {
    const known = turns.get(number) ?? { number, prompt: null, entries: [] }
    turns.set(number, known)
    return known
  }
  for (const prompt of story.prompts) turn(prompt.number).prompt = prompt
  const placed = traceByTurn(story)
  for (const { number, line } of placed) {
    turn(number).entries.push({ kind: 'moves', key: `trace ${line.id}`, at: line.at, moves: [line] })
  }
  for (const batch of effectBatches(story)) turn(batchTurn(batch, placed, story)).entries.push(batch)
  return [...turns.values()]
    .sort((a, b) => a.number - b.number)
    .map((one) => ({ ...one, entries: foldRepeats(one.entries.sort(byTime)) }))
}

/** The turn with the entries that match; null if none do. */
export function filterTurn(turn: StoryTurn, shown: TimelineFilter): StoryTurn | null {
  if (shown === 'all') return turn
  const entries = turn.entries.filter((entry) => matchesIn(entry, shown) > 0)
  const keepsPrompt = shown === 'memory' && turn.prompt !== null
  return entries.length > 0 || keepsPrompt ? { ...turn, entries } : null
}

export function countEntries(turns: readonly StoryTurn[], shown: TimelineFilter): number {
  return turns.flatMap((turn) => turn.entries).reduce((sum, entry) => sum + matchesIn(entry, shown), 0)
}

/** How much of an entry matches a filter; `all` and `errors` count the entry itself. */
function matchesIn(entry: TimelineEntry, shown: TimelineFilter): number {
  const isBatch = entry.kind === 'batch'
  switch (shown) {
    case 'all':
      return 1
    case 'transitions':
      return isBatch ? 0 : entry.moves.length
    case 'memory':
      return isBatch ? entry.observations.length + entry.summaries.length : 0
    case 'calls':
      return isBatch ? entry.calls.length : 0
    case 'errors':
      return Number(isBatch ? entry.calls.some(({ error }) => error !== null) : entry.moves.some(isFailedTransition))
  }
}

export function isFailedTransition({ event, to }: TraceLine): boolean {
  return event === 'FAILED' || to.endsWith('.waiting')
}

/** Turns are counted from the end, because the oldest transitions may be deleted: the last PROMPT started the last turn. */
function traceByTurn({ trace, row }: StoryData): { number: number; line: TraceLine }[] {
  const inOrder = [...trace].sort((a, b) => a.id - b.id)
  let number = row.prompts - inOrder.filter(({ event }) => event === 'PROMPT').length
  return inOrder.map((line) => {
    if (line.event === 'PROMPT') number += 1
    return { number: Math.max(0, number), line }
  })
}

function effectBatches(story: StoryData): EffectBatch[] {
  const batches = new Map<string, EffectBatch>()
  const began = new Map<string, number>()
  for (const { effectId, at } of story.trace) {
    if (effectId !== null) began.set(effectId, Math.min(at, began.get(effectId) ?? at))
  }
  const batch = (effectId: string | null, what: EffectBatch['what'], at: number): EffectBatch => {
    const key = effectId ?? `${what} ${at}`
    const known = batches.get(key)
    if (known !== undefined) return known
    const start = effectId === null ? at : (began.get(effectId) ?? at)
    const made: EffectBatch = { kind: 'batch', key, at: start, what, calls: [], observations: [], summaries: [] }
    batches.set(key, made)
    return made
  }
  for (const call of story.calls) batch(call.effectId, call.kind, call.at).calls.push(call)
  for (const observation of story.observationRows) {
    const { effectId, createdAt } = observation
    batch(effectId, effectId === null ? 'hand' : 'observe', createdAt).observations.push(observation)
  }
  for (const summary of story.summaryRows) {
    const { effectId, createdAt } = summary
    const made = batch(effectId, effectId === null ? 'hand' : 'summarize', createdAt)
    made.summaries.push(summary)
    // The offline observer makes no call that would tell the kind of the effect.
    if (made.calls.length === 0 && effectId !== null) made.what = 'summarize'
  }
  return [...batches.values()]
}

/** The turn of its memories; without any, the turn in which its effect started. */
function batchTurn(
  batch: EffectBatch,
  placed: readonly { number: number; line: TraceLine }[],
  story: StoryData,
): number {
  const number = batch.observations[0]?.promptNumber ?? batch.summaries[0]?.promptNumber
  if (number !== undefined) return number
  const began = placed.find(({ line }) => line.effectId === batch.key)
  if (began !== undefined) return began.number
  return story.prompts.findLast(({ at }) => at <= batch.at)?.number ?? 0
}

/** A batch comes after the transition that started it. */
function byTime(a: TimelineEntry, b: TimelineEntry): number {
  return a.at - b.at || Number(a.kind === 'batch') - Number(b.kind === 'batch')
}

/** This many equal transitions become one line. */
const MIN_REPEATS = 3

/** Merges consecutive events that do not change the state. */
function foldRepeats(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const result: TimelineEntry[] = []
  let run: TransitionRun[] = []
  const endRun = () => {
    const [first] = run
    const isFolded = first !== undefined && run.length >= MIN_REPEATS
    result.push(...(isFolded ? [{ ...first, moves: run.flatMap(({ moves }) => moves) }] : run))
    run = []
  }
  for (const entry of entries) {
    if (entry.kind === 'batch' || (run[0] !== undefined && !isRepeat(entry, run[0]))) endRun()
    if (entry.kind === 'batch') result.push(entry)
    else run.push(entry)
  }
  endRun()
  return result
}

/** Each run has one transition. */
function isRepeat({ moves: [a] }: TransitionRun, { moves: [b] }: TransitionRun): boolean {
  if (a === undefined || b === undefined) return false
  return a.event === b.event && a.from === a.to && b.from === b.to && a.to === b.to
}
