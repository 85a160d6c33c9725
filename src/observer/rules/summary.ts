/** The summary of a turn, from its prompt, its observations and the agent's last message. */
import type { Observation, SummaryDraft } from '../../domain/observation.ts'
import { reportedSentence } from '../../domain/reported-speech.ts'
import { clipAtWord, joinList, shownFile, singleLine, splitSentences, unique } from '../tool-events/text.ts'
import type { OpenFailure } from './episodes.ts'
import { sentenceWeight } from './facts.ts'

const NEXT =
  /^next\b|\b(?:next steps?|todo|to do|remaining|still (?:need|to|open|missing|fail)|follow[- ]?up|not yet|later|you (?:may|might|should|can now|could|need to)|left to do|want me to|before (?:this|it|we|you)|(?:have|has) not|haven'?t|not touched|left (?:out|alone|as)|not done|open question|consider|would be good|should also|recommend)\b/i
const LEARNED =
  /\b(?:because|root cause|turns? out|turned out|caused? by|the (?:issue|problem|bug|reason|culprit) (?:is|was|were)|due to|means? that|found (?:that|out)|note that|discovered|realis|realiz|since|instead of|rather than|why|gotcha|important|only when|happens when|was (?:never|not)|were (?:never|not))\b/i
const POLITE = /^(?:let me know|feel free|happy to|hope|great|perfect|done[.!]?$|all set|sure|i'?ll now|now let me)/i

interface SummaryInput {
  prompt: string | null
  lastMessage: string | null
  error: string | null
  observations: readonly Observation[]
  /** Commands that fail at the end of the turn. */
  failing: readonly OpenFailure[]
  /** Sentences that are in an observation already. */
  decisions: ReadonlySet<string>
}

export function composeSummary(input: SummaryInput): SummaryDraft {
  const { prompt, error, observations, failing, decisions } = input
  const maxChars = summaryChars(observations)
  const sentences = splitSentences(input.lastMessage ?? '').filter(
    (sentence) => !POLITE.test(sentence) && !decisions.has(sentence),
  )
  const next = sentences.filter((sentence) => NEXT.test(sentence))
  const rest = sentences.filter((sentence) => !NEXT.test(sentence))
  const learned = rest.filter((sentence) => LEARNED.test(sentence))
  const completed = rest.filter((sentence) => !LEARNED.test(sentence))
  const changes = titles(observations.filter(({ type }) => type !== 'discovery'))
  const changeTitles = changes.length > 0 ? clipAtWord(`${unique(changes).join('. ')}.`, maxChars) : null
  return {
    request: prompt === null || prompt.trim() === '' ? null : singleLine(prompt, 90),
    investigated: investigated(observations),
    learned: selectSentences(learned, maxChars),
    completed: selectSentences(completed, maxChars) ?? changeTitles,
    nextSteps: selectSentences(next.map(withoutHeading), maxChars / 2) ?? stillFailing(failing, maxChars / 2),
    notes: error === null ? null : clipAtWord(`The turn ended with an error: ${singleLine(error, 160)}`, 200),
    filesRead: unique(observations.flatMap((one) => one.filesRead)).slice(0, 2),
    filesEdited: unique(observations.flatMap((one) => one.filesModified)).slice(0, 4),
  }
}

const titles = (observations: readonly Observation[]): string[] => observations.flatMap(({ title }) => title ?? [])

const withoutHeading = (sentence: string) => sentence.replace(/^(?:next steps?|next|todo|follow-?ups?)\s*:\s*/i, '')

function stillFailing(failing: readonly OpenFailure[], maxChars: number): string | null {
  const commands = failing.map(
    ({ command, errors }) =>
      `\`${clipAtWord(command, 60)}\` (${errors[0] === undefined ? 'no reason given' : reportedSentence('it printed', errors[0])})`,
  )
  return commands.length === 0 ? null : clipAtWord(`Still failing: ${commands.join('; ')}`, maxChars)
}

const MIN_FIELD_CHARS = 180
const MAX_FIELD_CHARS = 900
/** Tokens of tool events for each character of a field. */
const TOKENS_PER_CHAR = 30

/** The summary of a longer turn may be longer. */
function summaryChars(observations: readonly Observation[]): number {
  const tokens = observations.reduce((total, one) => total + one.discoveryTokens, 0)
  return Math.min(MAX_FIELD_CHARS, Math.max(MIN_FIELD_CHARS, tokens / TOKENS_PER_CHAR))
}

/** Added to the first sentence, which is usually the result. */
const FIRST_SENTENCE_WEIGHT = 4

/** The most informative sentences that fit, in their order. */
function selectSentences(sentences: readonly string[], maxChars: number): string | null {
  let left = maxChars
  const selected = sentences
    .map((sentence, i) => ({ sentence, i, weight: sentenceWeight(sentence) + (i === 0 ? FIRST_SENTENCE_WEIGHT : 0) }))
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
    .filter(({ sentence }) => {
      if (sentence.length > left) return false
      left -= sentence.length + 1
      return true
    })
  if (selected.length === 0) return sentences[0] === undefined ? null : clipAtWord(sentences[0], maxChars)
  return selected
    .sort((a, b) => a.i - b.i)
    .map(({ sentence }) => sentence)
    .join(' ')
}

function investigated(observations: readonly Observation[]): string | null {
  const subjects = titles(observations.filter(({ type }) => type === 'discovery'))
  if (subjects.length > 0) return clipAtWord(`${subjects.slice(0, 2).join('. ')}.`, 160)
  const files = unique(observations.flatMap((one) => one.filesRead))
  return files.length > 0 ? `Read ${joinList(files.map(shownFile), 4)}.` : null
}
