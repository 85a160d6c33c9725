/** A session's story by turns: the prompt, what came of it, and how it was observed. Each turn is there once. */
import type { OutputOf } from '../../../api/index.ts'

export type StoryData = OutputOf<'story'>['story']
export type TraceLine = StoryData['trace'][number]
type SummaryLine = StoryData['summaryRows'][number]

export interface StoryTurn {
  /** 0: before the first prompt. */
  number: number
  prompt: StoryData['prompts'][number] | null
  observations: StoryData['observationRows']
  summaries: SummaryLine[]
  trace: TraceLine[]
  calls: StoryData['calls']
}

const OUTCOME_PARTS = [
  ['completed', 'Completed'],
  ['learned', 'Learned'],
  ['investigated', 'Investigated'],
  ['nextSteps', 'Next steps'],
  ['notes', 'Notes'],
] as const

/** What a summary says beside the request, which stands above it. */
export function outcomeParts(
  summary: Pick<SummaryLine, (typeof OUTCOME_PARTS)[number][0]>,
): { name: string; text: string }[] {
  return OUTCOME_PARTS.map(([part, name]) => ({ name, text: summary[part] ?? '' })).filter(({ text }) => text !== '')
}

/** Oldest first, without summaries of the whole session. */
export function storyTurns(story: StoryData): StoryTurn[] {
  const turns = new Map<number, StoryTurn>()
  const turn = (number: number): StoryTurn => {
    const known = turns.get(number) ?? { number, prompt: null, observations: [], summaries: [], trace: [], calls: [] }
    turns.set(number, known)
    return known
  }
  for (const prompt of story.prompts) turn(prompt.number).prompt = prompt
  for (const observation of story.observationRows) turn(observation.promptNumber).observations.push(observation)
  for (const summary of story.summaryRows) {
    if (summary.whole !== true) turn(summary.promptNumber).summaries.push(summary)
  }
  const effects = new Map<string, number>()
  for (const { number, line } of traceByTurn(story)) {
    turn(number).trace.push(line)
    if (line.effectId !== null && !effects.has(line.effectId)) effects.set(line.effectId, number)
  }
  for (const { effectId, promptNumber } of [...story.observationRows, ...story.summaryRows]) {
    if (effectId !== null) effects.set(effectId, promptNumber)
  }
  for (const call of story.calls) {
    const number = effects.get(call.effectId) ?? story.prompts.findLast(({ at }) => at <= call.at)?.number ?? 0
    turn(number).calls.push(call)
  }
  return [...turns.values()].sort((a, b) => a.number - b.number)
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
