/** What one turn came to, from the prompt, its observations, and the agent's closing words. */
import type { Observation, SummaryDraft } from '../../memory/observation.ts'
import type { OpenFailure } from './episodes.ts'
import { weightOf } from './facts.ts'
import { baseName, cut, listed, oneLine, sentencesOf, unique } from './text.ts'

const NEXT =
  /^next\b|\b(?:next steps?|todo|to do|remaining|still (?:need|to|open|missing|fail)|follow[- ]?up|not yet|later|you (?:may|might|should|can now|could|need to)|left to do|want me to|before (?:this|it|we|you)|(?:have|has) not|haven'?t|not touched|left (?:out|alone|as)|not done|open question|consider|would be good|should also|recommend)\b/i
const LEARNED =
  /\b(?:because|root cause|turns? out|turned out|caused? by|the (?:issue|problem|bug|reason|culprit) (?:is|was|were)|due to|means? that|found (?:that|out)|note that|discovered|realis|realiz|since|instead of|rather than|why|gotcha|important|only when|happens when|was (?:never|not)|were (?:never|not))\b/i
const POLITE = /^(?:let me know|feel free|happy to|hope|great|perfect|done[.!]?$|all set|sure|i'?ll now|now let me)/i

export interface SummaryMatter {
  prompt: string | null
  lastMessage: string | null
  error: string | null
  observations: readonly Observation[]
  /** Commands that fail as the turn ends. */
  failing: readonly OpenFailure[]
  /** Sentences that a note of their own holds already. */
  told: ReadonlySet<string>
}

export function summaryOf({ prompt, lastMessage, error, observations, failing, told }: SummaryMatter): SummaryDraft {
  const room = roomFor(observations)
  const said = sentencesOf(lastMessage ?? '').filter((sentence) => !POLITE.test(sentence) && !told.has(sentence))
  const next = said.filter((sentence) => NEXT.test(sentence))
  const learned = said.filter((sentence) => !next.includes(sentence) && LEARNED.test(sentence))
  const completed = said.filter((sentence) => !next.includes(sentence) && !learned.includes(sentence))
  const titles = unique(
    observations.filter((one) => one.type !== 'discovery').flatMap((one) => (one.title === null ? [] : [one.title])),
  )
  const found = observations.filter((one) => one.type === 'discovery')
  return {
    request: prompt === null || prompt.trim() === '' ? null : oneLine(prompt, 90),
    investigated: investigated(observations, found),
    learned: best(learned, room),
    completed: best(completed, room) ?? (titles.length > 0 ? cut(`${titles.join('. ')}.`, room) : null),
    nextSteps: best(next.map(withoutHeading), room / 2) ?? stillFailing(failing, room / 2),
    notes: error === null ? null : cut(`The turn ended with an error: ${oneLine(error, 160)}`, 200),
    filesRead: unique(observations.flatMap((one) => one.filesRead)).slice(0, 2),
    filesEdited: unique(observations.flatMap((one) => one.filesModified)).slice(0, 4),
  }
}

const withoutHeading = (sentence: string) => sentence.replace(/^(?:next steps?|next|todo|follow-?ups?)\s*:\s*/i, '')

function stillFailing(failing: readonly OpenFailure[], room: number): string | null {
  const told = failing.map(({ command, errors }) => `\`${cut(command, 60)}\` (${errors[0] ?? 'no reason given'})`)
  return told.length === 0 ? null : cut(`Still failing: ${told.join('; ')}`, room)
}

/** Longer turns may say more: their events were longer by much. */
const MIN_ROOM_CHARS = 180
const MAX_ROOM_CHARS = 900

function roomFor(observations: readonly Observation[]): number {
  const tokens = observations.reduce((total, one) => total + one.discoveryTokens, 0)
  return Math.min(MAX_ROOM_CHARS, Math.max(MIN_ROOM_CHARS, tokens / 30))
}

/** The most telling sentences that fit, in their own order. */
function best(sentences: readonly string[], room: number): string | null {
  // The first sentence says what it is all about.
  const weighed = sentences.map((sentence, i) => ({ sentence, i, weight: weightOf(sentence) + (i === 0 ? 4 : 0) }))
  let left = room
  const chosen = weighed
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
    .filter(({ sentence }) => {
      if (sentence.length > left) return false
      left -= sentence.length + 1
      return true
    })
  if (chosen.length === 0) return sentences[0] === undefined ? null : cut(sentences[0], room)
  return chosen
    .sort((a, b) => a.i - b.i)
    .map(({ sentence }) => sentence)
    .join(' ')
}

function investigated(observations: readonly Observation[], found: readonly Observation[]): string | null {
  const files = unique(observations.flatMap((one) => one.filesRead))
  const subjects = found.flatMap((one) => (one.title === null ? [] : [one.title]))
  if (subjects.length > 0) return cut(`${subjects.slice(0, 2).join('. ')}.`, 160)
  return files.length > 0 ? `Read ${listed(files.map(baseName), 4)}.` : null
}
