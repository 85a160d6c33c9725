/**
 * What was said in the turns of a session, put together from its passages: prompts, closing messages, and which answer
 * belongs to which question.
 */

import type { Passage } from '../domain/passage.ts'
import { plainText, truncateAtWord } from '../domain/plain-text.ts'
import { ownWords, quoted } from '../domain/reported-speech.ts'
import { sentencesOf } from '../domain/sentences.ts'
import { hasSubstance, informativeTerms, rejectsAnswer } from './statements.ts'

/** The passages of one event as one text. */
export interface SpokenText {
  session: string
  promptNumber: number
  at: number
  text: string
}

/** One turn: what the user asked, and what the agent said at its end. */
export interface SpokenTurn {
  session: string
  promptNumber: number
  prompt: SpokenText | null
  closing: SpokenText | null
  /** The user's next message says that the closing message was wrong. */
  isRejected: boolean
}

/** Newest first. */
export function spokenTurns(passages: readonly Passage[]): SpokenTurn[] {
  const turns = new Map<string, SpokenTurn>()
  for (const kind of ['prompt', 'closing'] as const) {
    for (const spoken of spokenTexts(passages.filter((passage) => passage.kind === kind))) {
      const { session, promptNumber } = spoken
      const key = turnKeyOf(spoken)
      const turn = turns.get(key) ?? { session, promptNumber, prompt: null, closing: null, isRejected: false }
      turns.set(key, turn)
      // A turn that the client continued has several closing messages: the last one is its result.
      if (turn[kind] === null || turn[kind].at < spoken.at) turn[kind] = spoken
    }
  }
  for (const turn of turns.values()) {
    const next = turns.get(turnKeyOf({ session: turn.session, promptNumber: turn.promptNumber + 1 }))
    turn.isRejected = next?.prompt != null && rejectsAnswer(plainText(ownWords(next.prompt.text, 'prompt')))
  }
  return [...turns.values()].sort(
    (a, b) => timeOfTurn(b) - timeOfTurn(a) || (a.session < b.session ? -1 : 1) || b.promptNumber - a.promptNumber,
  )
}

/** Identifies the turn of anything that belongs to one. */
export function turnKeyOf({ session, promptNumber }: { session: string; promptNumber: number }): string {
  return `${session}\n${promptNumber}`
}

export function timeOfTurn({ prompt, closing }: SpokenTurn): number {
  return closing?.at ?? prompt?.at ?? 0
}

/** A piece that a newer event has too is stored with that one, so there may be gaps. */
function spokenTexts(passages: readonly Passage[]): SpokenText[] {
  const events = new Map<string, Passage[]>()
  for (const passage of passages) {
    const key = `${passage.session}\n${passage.eventId}`
    const pieces = events.get(key)
    if (pieces === undefined) events.set(key, [passage])
    else pieces.push(passage)
  }
  return [...events.values()].flatMap((pieces) => {
    const ordered = [...pieces].sort((a, b) => a.position - b.position)
    const [first] = ordered
    if (first === undefined) return []
    const { session, promptNumber, at } = first
    return [{ session, promptNumber, at, text: ordered.map(({ text }) => text).join('\n') }]
  })
}

/** Characters at the end of a message in which it may ask something. */
const QUESTION_CHARS = 700
const MAX_QUESTION_CHARS = 200
const MAX_REPLY_CHARS = 200

/** The question with which a message ends; null if it asks nothing. */
export function closingQuestion(message: string): string | null {
  const end = ownWords(message, 'message').slice(-QUESTION_CHARS)
  const lines = end
    .split('\n')
    .map((line) => plainText(line.replaceAll('**', '')))
    .filter((line) => line !== '')
  // A list of options may follow the question.
  for (let i = lines.length - 1; i >= Math.max(0, lines.length - 6); i--) {
    const question = sentencesOf(lines[i] ?? '').findLast((sentence) => /[?？]$/.test(sentence))
    if (question !== undefined) return truncateAtWord(question, MAX_QUESTION_CHARS)
    if (!/^\s*(?:[-*•]|\d{1,2}[.)])\s/.test(end.split('\n').filter((line) => line.trim() !== '')[i] ?? '')) return null
  }
  return null
}

/** Part of a reply's words that the message before must have, for the reply to choose among what it offered. */
const CHOSEN_SHARE = 0.5
const CHOSEN_NUMBER =
  /^\W*(?:(?:ok|okay|yes|yeah|yep|sure|let(?:'|’)?s|lets|please|do|go|with|for|option|number|the|choice|pick|i|would|like|prefer|take|use|#)\W+)*#?([1-9])\W*(?:please|thanks?)?\W*$/i

/** What the user chose among what the agent had offered, as one line; null if the prompt is no such choice. */
export function chosenOption(message: string, prompt: string): string | null {
  if (prompt.length > 2 * MAX_REPLY_CHARS) return null
  const question = closingQuestion(message)
  const reply = question === null ? '' : plainText(ownWords(prompt, 'prompt'))
  if (question === null || reply === '' || reply.length > MAX_REPLY_CHARS || reply.endsWith('?')) return null
  const number = CHOSEN_NUMBER.exec(reply)?.[1]
  if (number !== undefined) {
    const option = numberedItem(message, Number(number))
    return option === null ? null : `Of the options the user chose ${number}: ${quoted(option)}`
  }
  const terms = [...informativeTerms(reply).keys()]
  const offered = informativeTerms(plainText(message.slice(-2_000)))
  const known = terms.filter((term) => offered.has(term))
  if (known.length < 2 || known.length < terms.length * CHOSEN_SHARE || !hasSubstance(`${question} ${reply}`))
    return null
  return `Asked ${quoted(question)}, the user said: ${quoted(reply)}`
}

/** The item with this number in the last numbered list of a message. */
function numberedItem(message: string, number: number): string | null {
  const item = message.split('\n').findLast((line) => line.trimStart().startsWith(`${number}.`))
  const text = plainText((item ?? '').replaceAll('**', '').replace(/^\s*\d[.)]\s*/, ''))
  return text === '' ? null : truncateAtWord(text, MAX_QUESTION_CHARS)
}
