/**
 * The baseline of every start: the newest turns first, each with the beginning of its request and of its closing words,
 * verbatim, until the budget is used up. A start that is not better than this is not worth its code.
 */
import { CHARS_PER_TOKEN } from '../../src/domain/observation.ts'
import { transcriptReader } from '../../src/transfer/transcripts/readers.ts'
import { clientOf } from './observed.ts'

export interface SpokenTurn {
  request: string
  /** The last that the agent said in the turn, also where the turn was cut off. */
  closing: string
}

/** Of each turn, in characters. */
const REQUEST_CHARS = 200
const CLOSING_CHARS = 1_600

/** The turns of one transcript, oldest first. */
export async function spokenTurns(file: string): Promise<SpokenTurn[]> {
  const turns: SpokenTurn[] = []
  for await (const entry of transcriptReader(clientOf(file)).entries(file, () => undefined)) {
    if (entry.sidechain) continue
    if (entry.kind === 'prompt') turns.push({ request: entry.text, closing: '' })
    const turn = turns.at(-1)
    if (entry.kind === 'assistant' && !entry.failed && entry.text.trim() !== '' && turn !== undefined) {
      turn.closing = entry.text
    }
  }
  return turns
}

/** `turns`: of all sessions, oldest first. */
export function naiveStart(turns: readonly SpokenTurn[], tokens: number): string {
  const budget = tokens * CHARS_PER_TOKEN
  let text = ''
  for (const { request, closing } of turns.toReversed()) {
    if (text.length >= budget) break
    text += `> ${request.slice(0, REQUEST_CHARS)}\n${closing.slice(0, CLOSING_CHARS)}\n\n`
  }
  return text.slice(0, budget)
}
