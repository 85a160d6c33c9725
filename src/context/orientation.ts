/**
 * The lines that orient: the goal, where the work stopped, what is next, and one line per earlier session. They come
 * from passages where there are any, else from summaries.
 */

import { formatDay } from '../domain/dates.ts'
import type { Summary } from '../domain/observation.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { AGENT_WORDS, ownWords, quoted, reportedText } from '../domain/reported-speech.ts'
import { sentencesOf } from '../domain/sentences.ts'
import type { ContextMaterial } from '../store/port.ts'
import type { LastSession } from './candidates.ts'
import { praises, quotesAdvice } from './reliability.ts'
import { commitNotes, commitsLine, lastResults, pushedAt, resultsLine, timeOf, uncommittedLine } from './state.ts'
import {
  hasSubstance,
  informativeTerms,
  isRequest,
  messageStatements,
  rejectsAnswer,
  summaryItems,
  wholeSentences,
} from './statements.ts'
import { closingQuestion, type SpokenTurn } from './turns.ts'

export interface OrientationInput {
  material: ContextMaterial
  /** Newest first. */
  turns: readonly SpokenTurn[]
  last: LastSession | null
  now: number
}

interface OrientationLine {
  text: string
  at: number
}

const GOAL_CHARS = 280
const REQUEST_CHARS = 200
const OUTCOME_CHARS = 320
const NEXT_STEP_CHARS = 220
const MAX_NEXT_STEPS = 6
const EARLIER_REQUEST_CHARS = 110
const EARLIER_OUTCOME_CHARS = 240

/** It asks for nothing: the request before it is the last. */
const THANKS =
  /^(?:thanks?|thank you|ok(?:ay)?|great|nice|cool|perfect|good|awesome|yes|merci|danke|谢谢)(?: (?:thanks?|job|work))?$/i
const MAX_THANKS_CHARS = 40

function isThanks(text: string): boolean {
  return text.length <= MAX_THANKS_CHARS && THANKS.test(text.replace(/[\s\p{P}]+/gu, ' ').trim())
}

/** In a session of so many turns the first request is what it is about; in a longer one it is overtaken. */
const MAX_TURNS_OF_ONE_GOAL = 3

/** What the last session was asked for, in the user's words. */
export function goalLines({ material, turns, last }: OrientationInput): OrientationLine[] {
  const prompts = turns.flatMap(({ session, prompt }) => (session === last?.session && prompt !== null ? [prompt] : []))
  const requests = material.summaries.filter(({ session }) => session === last?.session)
  const asked =
    prompts.length > 0
      ? prompts.map(({ text, at }) => ({ read: () => typedText(text), at }))
      : requests.map(({ request, createdAt }) => ({ read: () => plainText(request ?? ''), at: createdAt }))
  const first =
    asked.length > MAX_TURNS_OF_ONE_GOAL
      ? undefined
      : (asked.findLast(({ read }) => isRequest(read())) ?? asked.find(({ read }) => read() !== ''))
  const lines =
    first === undefined ? [] : [{ text: `Asked: ${quoted(firstSentences(first.read(), GOAL_CHARS))}`, at: first.at }]
  const newest = asked.find(({ read }) => !isThanks(read()))
  if (newest === undefined || newest === first || !asksForWork(newest.read())) return lines
  return [...lines, { text: `Asked last: ${quoted(lastSentences(newest.read(), REQUEST_CHARS))}`, at: newest.at }]
}

/** A question that the answer has settled, or a long text that is mostly pasted, is no goal. */
function asksForWork(text: string): boolean {
  if (!isRequest(text) || text.length > MAX_TYPED_CHARS || rejectsAnswer(text)) return false
  return !text.endsWith('?') || /\b(?:can|could|would|will) (?:you|we)\b|\bplease\b|\blet'?s\b/i.test(text)
}

/** A line of a shell, as people paste it. */
const SHELL_LINE = /^\s*[❯➜$%#>]\s/

function typedText(prompt: string): string {
  const lines = ownWords(prompt, 'prompt').split('\n')
  const pasted = lines.findIndex((line) => SHELL_LINE.test(line))
  return plainText((pasted === -1 ? lines : lines.slice(0, pasted)).join('\n'))
}

/** People begin with what they think of the answer, and end with what they want; a longer text is mostly pasted. */
const MAX_TYPED_CHARS = 900

function lastSentences(text: string, max: number): string {
  if (text.length > MAX_TYPED_CHARS) return firstSentences(text, max)
  const sentences = sentencesOf(text)
  let taken = sentences.pop() ?? ''
  for (let next = sentences.pop(); next !== undefined && next.length + taken.length < max; next = sentences.pop()) {
    taken = `${next} ${taken}`
  }
  return truncateAtWord(taken, max)
}

function firstSentences(text: string, max: number): string {
  return truncateAtWord(wholeSentences(text, max).text, max)
}

/** The agent names them; of the newest turn with an outcome only, because those of an older one may be done by now. */
export function nextLines({ material, turns }: OrientationInput): OrientationLine[] {
  const summary = material.summaries.find(
    ({ learned, completed, nextSteps }) => plainText(`${learned ?? ''}${completed ?? ''}${nextSteps ?? ''}`) !== '',
  )
  const steps = summaryItems(summary?.nextSteps ?? '')
    .slice(0, MAX_NEXT_STEPS)
    .map((step) => ({ text: quoted(firstSentences(step, NEXT_STEP_CHARS)), at: summary?.createdAt ?? 0 }))
  const [newest] = turns
  const question = newest?.closing == null ? null : closingQuestion(newest.closing.text)
  if (question === null || newest?.closing == null || isRepeated(question, steps)) return steps
  return [...steps, { text: `The agent asked, without an answer yet: ${quoted(question)}`, at: newest.closing.at }]
}

function isRepeated(text: string, lines: readonly OrientationLine[]): boolean {
  const known = informativeTerms(lines.map((line) => line.text).join(' '))
  const terms = [...informativeTerms(text).keys()]
  return terms.every((term) => known.has(term))
}

/** Somebody said that a failure is none. */
const EXPECTED =
  /\b(?:expected|intentional(?:ly)?|on purpose|deliberate(?:ly)?|pre-?existing|unrelated|known (?:issue|failure)|not our)\b/i

export function stateLines({ material, turns, now }: OrientationInput): OrientationLine[] {
  const { passages, summaries } = material
  const commits = commitNotes(passages)
  const results = lastResults(passages).filter(
    ({ passage: { outcome, session, at } }) =>
      outcome === 'ok' ||
      !turns.some(
        ({ session: other, closing }) =>
          other === session && closing !== null && closing.at >= at && EXPECTED.test(closing.text),
      ),
  )
  const newest = passages[0]?.at ?? 0
  const known = [
    resultsLine(results, now),
    commitsLine(commits, pushedAt(results, commits), now),
    uncommittedLine(material, commits),
  ].flatMap((text) => (text === null ? [] : [{ text, at: newest }]))
  return [...lastOutcome(summaries), ...shownProblem(turns, now), ...known]
}

/** Turns at the end in which the user may have shown a problem that is still there. */
const PROBLEM_TURNS = 2
const MAX_PROBLEM_CHARS = 160
const ERROR_LINE = /\b(?:error|failed|failure|exception|panic|fatal|denied|not found|refused)\b/i

/** The error in the output that the user pasted last: how the work looks from outside. */
function shownProblem(turns: readonly SpokenTurn[], now: number): OrientationLine[] {
  for (const { prompt } of turns.slice(0, PROBLEM_TURNS)) {
    const lines = (prompt?.text ?? '').split('\n')
    const command = lines.find((line) => SHELL_LINE.test(line))?.replace(SHELL_LINE, '')
    const error = lines.find((line) => ERROR_LINE.test(line))
    if (prompt === null || command === undefined || error === undefined) continue
    const output = `${quoted(truncateAtWord(plainText(command), MAX_PROBLEM_CHARS))} printed ${quoted(truncateAtWord(plainText(error), MAX_PROBLEM_CHARS))}`
    return [{ text: `The user showed that ${output} (${timeOf(prompt.at, now)})`, at: prompt.at }]
  }
  return []
}

/** What the newest turn with an outcome completed. */
function lastOutcome(summaries: readonly Summary[]): OrientationLine[] {
  const summary = summaries.find(({ completed, learned }) => plainText(`${completed ?? ''}${learned ?? ''}`) !== '')
  const all = messageStatements(summary?.completed ?? '')
  const statements = all.filter((statement) => hasSubstance(statement))
  // A short one is better than nothing: it is the last thing that was said.
  const text = firstSentences((statements.length > 0 ? statements : all).join(' '), OUTCOME_CHARS)
  const reported = reportedText(text, AGENT_WORDS)
  const isResult = text !== '' && !quotesAdvice(reported) && !praises(reported)
  return summary === undefined || !isResult ? [] : [{ text: reported, at: summary.createdAt }]
}

/** Newest first: when it was, what it was asked first, and what came out of it. */
export function earlierLines({ material, last, now }: OrientationInput): OrientationLine[] {
  const sessions = new Map<string, Summary[]>()
  for (const summary of material.summaries) {
    if (summary.session === last?.session) continue
    sessions.set(summary.session, [...(sessions.get(summary.session) ?? []), summary])
  }
  return [...sessions.values()].flatMap((summaries) => {
    const newest = summaries[0]
    const request = plainText(summaries.findLast(({ request }) => isRequest(plainText(request ?? '')))?.request ?? '')
    const outcomes = summaries.map(({ completed, learned }) => plainText(completed ?? '') || plainText(learned ?? ''))
    const outcome = outcomes.find((text) => text !== '')
    if (newest === undefined || outcome === undefined) return []
    const result = reportedText(firstSentences(outcome, EARLIER_OUTCOME_CHARS), AGENT_WORDS)
    const asked = firstSentences(request, EARLIER_REQUEST_CHARS)
    const text = `${formatDay(newest.createdAt, now)}: ${asked === '' ? result : `${quoted(asked)} → ${result}`}`
    return [{ text, at: newest.createdAt }]
  })
}
