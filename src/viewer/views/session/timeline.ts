/** A session's story in turns: what its user asked, what the actor did, which batches went out, what came back. */
import type { Answer } from '../../../channel/protocol.ts'

export type Story = Extract<Answer, { type: 'story' }>['story']
export type TraceLine = Story['trace'][number]
export type CallLine = Story['calls'][number]
type ObservationLine = Story['observationRows'][number]
export type SummaryLine = Story['summaryRows'][number]

/** What one effect did: its calls, and what was learned from them. */
export interface Batch {
  kind: 'batch'
  key: string
  at: number
  what: CallLine['kind'] | 'hand'
  calls: CallLine[]
  observations: ObservationLine[]
  summaries: SummaryLine[]
}

/** One transition, or several alike in a row. */
export interface Moves {
  kind: 'moves'
  key: string
  at: number
  moves: TraceLine[]
}

export type Entry = Batch | Moves

export interface Turn {
  /** 0: before the first prompt. */
  number: number
  prompt: Story['prompts'][number] | null
  entries: Entry[]
}

/** What the story tells of, each with numbers of its own. */
export type Told = 'trace' | 'observation' | 'summary' | 'call'

export type Shown = 'all' | 'transitions' | 'memory' | 'calls' | 'errors'
export const SHOWN: readonly Shown[] = ['all', 'transitions', 'memory', 'calls', 'errors']

/** Oldest first. */
export function turnsOf(story: Story): Turn[] {
  const turns = new Map<number, Turn>()
  const turn = (number: number): Turn => {
    const known = turns.get(number) ?? { number, prompt: null, entries: [] }
    turns.set(number, known)
    return known
  }
  for (const prompt of story.prompts) turn(prompt.number).prompt = prompt
  const placed = placedTrace(story)
  for (const { number, line } of placed) {
    turn(number).entries.push({ kind: 'moves', key: `trace ${line.id}`, at: line.at, moves: [line] })
  }
  for (const batch of batchesOf(story)) turn(turnOfBatch(batch, placed, story)).entries.push(batch)
  return [...turns.values()]
    .sort((a, b) => a.number - b.number)
    .map((one) => ({ ...one, entries: folded(one.entries.sort(byTime)) }))
}

/** What is left of it under a filter; null: nothing. */
export function filtered(turn: Turn, shown: Shown): Turn | null {
  if (shown === 'all') return turn
  const entries = turn.entries.filter((entry) => fits(entry, shown))
  const keepsPrompt = shown === 'memory' && turn.prompt !== null
  return entries.length > 0 || keepsPrompt ? { ...turn, entries } : null
}

export function countShown(turns: readonly Turn[], shown: Shown): number {
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
      return entries.filter((entry) => fits(entry, 'errors')).length
  }
}

function fits(entry: Entry, shown: Shown): boolean {
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
      return entry.kind === 'moves' ? entry.moves.some(isFailure) : entry.calls.some(({ error }) => error !== null)
  }
}

export function isFailure({ event, to }: TraceLine): boolean {
  return event === 'FAILED' || to.endsWith('.waiting')
}

/** Every prompt counts one further, so the last PROMPT that is left began the last turn. */
function placedTrace({ trace, row }: Story): { number: number; line: TraceLine }[] {
  const inOrder = [...trace].sort((a, b) => a.id - b.id)
  let number = row.prompts - inOrder.filter(({ event }) => event === 'PROMPT').length
  return inOrder.map((line) => {
    if (line.event === 'PROMPT') number += 1
    return { number: Math.max(0, number), line }
  })
}

function batchesOf(story: Story): Batch[] {
  const batches = new Map<string, Batch>()
  const began = new Map<string, number>()
  for (const { effectId, at } of story.trace) {
    if (effectId !== null) began.set(effectId, Math.min(at, began.get(effectId) ?? at))
  }
  const batch = (effectId: string | null, what: Batch['what'], at: number): Batch => {
    const key = effectId ?? `${what} ${at}`
    const known = batches.get(key)
    if (known !== undefined) return known
    const start = effectId === null ? at : (began.get(effectId) ?? at)
    const made: Batch = { kind: 'batch', key, at: start, what, calls: [], observations: [], summaries: [] }
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
    // The offline observer makes no call that would say what it was.
    if (made.calls.length === 0 && effectId !== null) made.what = 'summarize'
  }
  return [...batches.values()]
}

/** What came of it says so; else where the actor was when it began. */
function turnOfBatch(batch: Batch, placed: readonly { number: number; line: TraceLine }[], story: Story): number {
  const told = batch.observations[0]?.promptNumber ?? batch.summaries[0]?.promptNumber
  if (told !== undefined) return told
  const began = placed.find(({ line }) => line.effectId === batch.key)
  if (began !== undefined) return began.number
  return story.prompts.findLast(({ at }) => at <= batch.at)?.number ?? 0
}

/** Batches follow the transition that began them. */
function byTime(a: Entry, b: Entry): number {
  return a.at - b.at || Number(a.kind === 'batch') - Number(b.kind === 'batch')
}

/** From so many alike on they are one line. */
const ALIKE = 3

/** Messages that leave the state as it is, one after the other, are told as one. */
function folded(entries: readonly Entry[]): Entry[] {
  const result: Entry[] = []
  for (let i = 0; i < entries.length; ) {
    const run = alikeFrom(entries, i)
    const [first] = run
    if (first !== undefined && run.length >= ALIKE) {
      result.push({ ...first, moves: run.flatMap(({ moves }) => moves) })
    } else {
      result.push(...entries.slice(i, i + Math.max(1, run.length)))
    }
    i += Math.max(1, run.length)
  }
  return result
}

function alikeFrom(entries: readonly Entry[], from: number): Moves[] {
  const run: Moves[] = []
  const first = entries[from]
  if (first?.kind !== 'moves') return run
  for (const entry of entries.slice(from)) {
    if (entry.kind !== 'moves' || !isAlike(entry.moves[0], first.moves[0])) break
    run.push(entry)
  }
  return run
}

function isAlike(a: TraceLine | undefined, b: TraceLine | undefined): boolean {
  return (
    a !== undefined && b !== undefined && a.event === b.event && a.from === a.to && b.from === b.to && a.to === b.to
  )
}
