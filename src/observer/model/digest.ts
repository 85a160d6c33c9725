/**
 * The digest that opens the next generation of the observer's conversation after compaction, built only from stored
 * observations and summaries. Each observation has one line with its number and what it says; open problems and decisions are
 * kept longest, and what does not fit is counted. Superseded observations are not part of it.
 */
import { CHARS_PER_TOKEN, type Observation, type Summary } from '../../domain/observation.ts'
import { pluralize } from '../../lib/format.ts'
import { clipAtWord, singleLine, unique } from '../../reading/text.ts'
import type { CompactRequest } from '../port.ts'
import { isFromModel, noteHeading, noteLine, sendableObservations } from './stored-notes.ts'
import type { WithheldFilter } from './withheld.ts'

/** Rows whose texts are read: more do not fit into any digest. */
const MAX_READ = 400
/** The most important notes with what they say, the others with their titles. */
const TOLD_NOTES = 7
const NOTE_CHARS = 160
const TURN_CHARS = 240
const NEXT_STEPS_CHARS = 360
/** Share of the observations; the turns have the rest. */
const NOTES_SHARE = 0.7

interface DigestOptions {
  maxTokens: number
  withheld: Pick<WithheldFilter, 'mentions'>
}

export function conversationDigest(request: CompactRequest, { maxTokens, withheld }: DigestOptions): string {
  const observations = sendableObservations(request.observations, withheld, request.cwd)
  const summaries = request.summaries.filter(({ model }) => isFromModel(model))
  const maxChars = Math.max(0, Math.floor((maxTokens || 0) * CHARS_PER_TOKEN))
  const opening = digestOpening(observations.length, summaries.length)
  let left = maxChars - opening.length
  const section = (title: string, lines: readonly string[], total: number, room: number) => {
    const text = fittingLines(title, lines, total, Math.min(left, room))
    left -= text.length
    return text
  }
  const nextSteps = textLine(summaries[0]?.nextSteps, NEXT_STEPS_CHARS)
  const next = section('Next steps of the last turn', nextSteps === '' ? [] : [nextSteps], 1, left)
  const notes = byImportance(observations)
    .slice(0, MAX_READ)
    .map((one, i) => `${one.type} ${i < TOLD_NOTES ? noteLine(one, NOTE_CHARS) : noteHeading(one)}`)
  const turns = unique(
    summaries
      .slice(0, MAX_READ)
      .map(turnLine)
      .filter((line) => line !== ''),
  )
  const stored = section('Stored', notes, observations.length, turns.length === 0 ? left : left * NOTES_SHARE)
  const told = section('Turns', turns, turns.length, left)
  return `${clipAtWord(opening, maxChars).slice(0, maxChars)}${told}${next}${stored}`
}

function digestOpening(observations: number, summaries: number): string {
  if (observations + summaries === 0) return 'Nothing has been recorded in this session yet.'
  const counts = `${pluralize(observations, 'observation')}, ${summaries} ${summaries === 1 ? 'summary' : 'summaries'}`
  return `This session so far: ${counts}.`
}

/** Four times the limit is read, because white space and control characters are removed. */
function textLine(text: string | null | undefined, maxChars: number): string {
  return singleLine((text ?? '').slice(0, 4 * maxChars), maxChars)
}

/** What was asked, and what became of it. */
function turnLine({ promptNumber, request, completed, learned }: Summary): string {
  const parts = [request, completed ?? learned].map((part) => textLine(part, TURN_CHARS)).filter((part) => part !== '')
  return parts.length === 0 ? '' : `prompt ${promptNumber}: ${parts.join(' → ')}`
}

/** Open problems, decisions, traps, then the rest; newest first within each. */
function byImportance(observations: readonly Observation[]): Observation[] {
  const rank = ({ status, type, concepts }: Observation) =>
    status === 'open' || status === 'untested' ? 0 : type === 'decision' ? 1 : concepts.includes('gotcha') ? 2 : 3
  return [...observations].sort((one, other) => rank(one) - rank(other))
}

/** A section with its heading and as many lines as fit; '' if none does. The last line counts what is left out. */
function fittingLines(title: string, lines: readonly string[], total: number, room: number): string {
  const heading = `\n\n## ${title}`
  const leftOut = (count: number) => `\n(${count} more left out)`
  let text = heading
  let kept = 0
  for (const line of lines) {
    const reserve = kept + 1 === total ? 0 : leftOut(total).length
    if (text.length + line.length + 3 + reserve > room) break
    text += `\n- ${line}`
    kept++
  }
  if (kept === 0) return ''
  return kept < total ? text + leftOut(total - kept) : text
}
