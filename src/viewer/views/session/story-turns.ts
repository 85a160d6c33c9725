/** A session's story grouped into turns: prompts, transitions, and effects with their calls and memories. */
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
export interface EffectEntry {
  kind: 'effect'
  key: string
  at: number
  what: CallLine['kind'] | 'by-hand'
  calls: CallLine[]
  observations: ObservationLine[]
  summaries: SummaryLine[]
}

/** One transition, or several equal ones in a row. */
export interface TransitionRun {
  kind: 'transitions'
  key: string
  at: number
  transitions: TraceLine[]
}

export type StoryEntry = EffectEntry | TransitionRun

export interface StoryTurn {
  /** 0: before the first prompt. */
  number: number
  prompt: StoryData['prompts'][number] | null
  entries: StoryEntry[]
}

/** Rows of the story, each kind with its own ids. */
export type StoryItemKind = 'trace' | 'observation' | 'summary' | 'call'

export const STORY_FILTERS = ['all', 'transitions', 'memory', 'calls', 'errors'] as const
export type StoryFilter = (typeof STORY_FILTERS)[number]

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
    turn(number).entries.push({ kind: 'transitions', key: `trace ${line.id}`, at: line.at, transitions: [line] })
  }
  for (const effect of effectEntries(story)) turn(effectTurn(effect, placed, story)).entries.push(effect)
  return [...turns.values()]
    .sort((a, b) => a.number - b.number)
    .map((one) => ({ ...one, entries: foldRepeats(one.entries.sort(byTime)) }))
}

/** The turn with the entries that match; null if none do. */
export function filterTurn(turn: StoryTurn, shown: StoryFilter): StoryTurn | null {
  if (shown === 'all') return turn
  const entries = turn.entries.filter((entry) => matchesIn(entry, shown) > 0)
  const keepsPrompt = shown === 'memory' && turn.prompt !== null
  return entries.length > 0 || keepsPrompt ? { ...turn, entries } : null
}

export function countEntries(turns: readonly StoryTurn[], shown: StoryFilter): number {
  return turns.flatMap((turn) => turn.entries).reduce((sum, entry) => sum + matchesIn(entry, shown), 0)
}

/** How much of an entry matches a filter; `all` and `errors` count the entry itself. */
function matchesIn(entry: StoryEntry, shown: StoryFilter): number {
  const isEffect = entry.kind === 'effect'
  switch (shown) {
    case 'all':
      return 1
    case 'transitions':
      return isEffect ? 0 : entry.transitions.length
    case 'memory':
      return isEffect ? entry.observations.length + entry.summaries.length : 0
    case 'calls':
      return isEffect ? entry.calls.length : 0
    case 'errors':
      return Number(
        isEffect ? entry.calls.some(({ error }) => error !== null) : entry.transitions.some(isFailedTransition),
      )
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

function effectEntries(story: StoryData): EffectEntry[] {
  const effects = new Map<string, EffectEntry>()
  const began = new Map<string, number>()
  for (const { effectId, at } of story.trace) {
    if (effectId !== null) began.set(effectId, Math.min(at, began.get(effectId) ?? at))
  }
  const effect = (effectId: string | null, what: EffectEntry['what'], at: number): EffectEntry => {
    const key = effectId ?? `${what} ${at}`
    const known = effects.get(key)
    if (known !== undefined) return known
    const start = effectId === null ? at : (began.get(effectId) ?? at)
    const made: EffectEntry = { kind: 'effect', key, at: start, what, calls: [], observations: [], summaries: [] }
    effects.set(key, made)
    return made
  }
  for (const call of story.calls) effect(call.effectId, call.kind, call.at).calls.push(call)
  for (const observation of story.observationRows) {
    const { effectId, createdAt } = observation
    effect(effectId, effectId === null ? 'by-hand' : 'observe', createdAt).observations.push(observation)
  }
  for (const summary of story.summaryRows) {
    const { effectId, createdAt } = summary
    const made = effect(effectId, effectId === null ? 'by-hand' : 'summarize', createdAt)
    made.summaries.push(summary)
    // The offline observer makes no call that would tell the kind of the effect.
    if (made.calls.length === 0 && effectId !== null) made.what = 'summarize'
  }
  return [...effects.values()]
}

/** The turn of its memories; without any, the turn in which its effect started. */
function effectTurn(
  effect: EffectEntry,
  placed: readonly { number: number; line: TraceLine }[],
  story: StoryData,
): number {
  const number = effect.observations[0]?.promptNumber ?? effect.summaries[0]?.promptNumber
  if (number !== undefined) return number
  const began = placed.find(({ line }) => line.effectId === effect.key)
  if (began !== undefined) return began.number
  return story.prompts.findLast(({ at }) => at <= effect.at)?.number ?? 0
}

/** An effect comes after the transition that started it. */
function byTime(a: StoryEntry, b: StoryEntry): number {
  return a.at - b.at || Number(a.kind === 'effect') - Number(b.kind === 'effect')
}

/** This many equal transitions become one line. */
const MIN_REPEATS = 3

/** Merges consecutive events that do not change the state. */
function foldRepeats(entries: readonly StoryEntry[]): StoryEntry[] {
  const result: StoryEntry[] = []
  let run: TransitionRun[] = []
  const endRun = () => {
    const [first] = run
    const isFolded = first !== undefined && run.length >= MIN_REPEATS
    result.push(...(isFolded ? [{ ...first, transitions: run.flatMap(({ transitions }) => transitions) }] : run))
    run = []
  }
  for (const entry of entries) {
    if (entry.kind === 'effect' || (run[0] !== undefined && !isRepeat(entry, run[0]))) endRun()
    if (entry.kind === 'effect') result.push(entry)
    else run.push(entry)
  }
  endRun()
  return result
}

/** Each run has one transition. */
function isRepeat({ transitions: [a] }: TransitionRun, { transitions: [b] }: TransitionRun): boolean {
  if (a === undefined || b === undefined) return false
  return a.event === b.event && a.from === a.to && b.from === b.to && a.to === b.to
}
