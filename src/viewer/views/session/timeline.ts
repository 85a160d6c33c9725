/** A session's history grouped into turns: prompts, transitions, and effects with their calls and memories. */
import type { OutputOf } from '../../../api/index.ts'

export type StoryData = OutputOf<'story'>['story']
export type TraceLine = StoryData['trace'][number]
export type CallLine = StoryData['calls'][number]
type ObservationLine = StoryData['observationRows'][number]
export type SummaryLine = StoryData['summaryRows'][number]

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

export type TimelineFilter = 'all' | 'transitions' | 'memory' | 'calls' | 'errors'
export const TIMELINE_FILTERS: readonly TimelineFilter[] = ['all', 'transitions', 'memory', 'calls', 'errors']

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
  const entries = turn.entries.filter((entry) => entryMatches(entry, shown))
  const keepsPrompt = shown === 'memory' && turn.prompt !== null
  return entries.length > 0 || keepsPrompt ? { ...turn, entries } : null
}

export function countEntries(turns: readonly StoryTurn[], shown: TimelineFilter): number {
  const entries = turns.flatMap((turn) => turn.entries)
  switch (shown) {
    case 'all':
      return entries.length
    case 'transitions':
      return entries.reduce((sum, entry) => sum + (entry.kind === 'moves' ? entry.moves.length : 0), 0)
    case 'memory':
      return entries.reduce(
        (sum, entry) => sum + (entry.kind === 'batch' ? entry.observations.length + entry.summaries.length : 0),
        0,
      )
    case 'calls':
      return entries.reduce((sum, entry) => sum + (entry.kind === 'batch' ? entry.calls.length : 0), 0)
    case 'errors':
      return entries.filter((entry) => entryMatches(entry, 'errors')).length
  }
}

function entryMatches(entry: TimelineEntry, shown: TimelineFilter): boolean {
  switch (shown) {
    case 'all':
      return true
    case 'transitions':
      return entry.kind === 'moves'
    case 'memory':
      return entry.kind === 'batch' && entry.observations.length + entry.summaries.length > 0
    case 'calls':
      return entry.kind === 'batch' && entry.calls.length > 0
    case 'errors':
      return entry.kind === 'moves'
        ? entry.moves.some(isFailedTransition)
        : entry.calls.some(({ error }) => error !== null)
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
  for (let i = 0; i < entries.length; ) {
    const run = repeatsFrom(entries, i)
    const [first] = run
    if (first !== undefined && run.length >= MIN_REPEATS) {
      result.push({ ...first, moves: run.flatMap(({ moves }) => moves) })
    } else {
      result.push(...entries.slice(i, i + Math.max(1, run.length)))
    }
    i += Math.max(1, run.length)
  }
  return result
}

function repeatsFrom(entries: readonly TimelineEntry[], from: number): TransitionRun[] {
  const run: TransitionRun[] = []
  const first = entries[from]
  if (first?.kind !== 'moves') return run
  for (const entry of entries.slice(from)) {
    if (entry.kind !== 'moves' || !isRepeat(entry.moves[0], first.moves[0])) break
    run.push(entry)
  }
  return run
}

function isRepeat(a: TraceLine | undefined, b: TraceLine | undefined): boolean {
  return (
    a !== undefined && b !== undefined && a.event === b.event && a.from === a.to && b.from === b.to && a.to === b.to
  )
}
