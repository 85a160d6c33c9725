/**
 * What the user decided: answers to questions and approvals of plans, from the client's own fields; and short replies to a
 * report that ended with a question, with or without options below it. Each is quoted with its date and with what it refers to, newest first; of
 * several about the same question the newest counts.
 */
import { isHandWritten, type Observation } from '../domain/observation.ts'
import type { Passage } from '../domain/passage.ts'
import { speakerName } from '../domain/quotation.ts'
import { APPROVED } from '../reading/passages.ts'
import { isSpecific, termsOf } from '../reading/terms.ts'
import { isQuestion, readWords } from '../reading/words.ts'
import { type Moment, moment, momentAfter } from './moment.ts'
import { quoteBegin } from './quote.ts'
import type { PastTurn } from './turns.ts'

export interface Choice {
  /** Null for a note that was written by hand. */
  turn: PastTurn | null
  /** Id of the note; null for what was said in a turn. */
  note: number | null
  at: number
  /** A short prompt that answers a question, not an answer in the client's own field. */
  isReply: boolean
  line: string
  /** The words in the line, without its date. */
  words: string
  /** What it refers to. */
  about: ReadonlySet<string>
}

/** A longer prompt is a request of its own. */
const MAX_REPLY_CHARS = 200
const MAX_ANSWER_CHARS = 240
const MAX_QUESTION_CHARS = 200
const MAX_OPTION_CHARS = 110
const MAX_OPTIONS = 4

export function userChoices(turns: readonly PastTurn[], now: Moment): Choice[] {
  const previous = new Map<string, PastTurn>()
  for (const turn of turns) previous.set(`${turn.session}\n${turn.promptNumber + 1}`, turn)
  const found = turns.flatMap((turn) => [
    ...turn.answers.map((answer) => answerChoice(turn, answer, now)),
    ...replyChoice(turn, previous.get(`${turn.session}\n${turn.promptNumber}`), now),
  ])
  return withoutOvertaken(found.sort((a, b) => b.at - a.at))
}

/** `text`: the answer, and on a second line what was not chosen. */
function answerChoice(turn: PastTurn, { subject, text, at }: Passage, now: Moment): Choice {
  const [answer = '', other = ''] = text.split('\n')
  const others = other === '' ? '' : ` (${quoteBegin(other, MAX_OPTION_CHARS)})`
  const asked = subject === null ? '' : `; asked: ${quoteBegin(subject, MAX_QUESTION_CHARS)}`
  const choice = `chose ${quoteBegin(answer, MAX_ANSWER_CHARS)}${others}${asked}`
  // A plan was approved: the reading stores its heading as what was asked.
  const isApproval = answer === APPROVED && subject !== null
  return {
    turn,
    note: null,
    at,
    isReply: false,
    line: `- ${moment(at, now)} user ${isApproval ? `approved ${quoteBegin(subject, MAX_QUESTION_CHARS)}` : choice}`,
    words: `${subject ?? ''} ${text}`,
    about: termsOf(`${subject ?? ''} ${other}`),
  }
}

function replyChoice(turn: PastTurn, before: PastTurn | undefined, now: Moment): Choice[] {
  const { request, at } = turn
  const asked = askedBefore(turn, before)
  if (request === null || asked === null) return []
  const when = momentAfter(before?.closing?.at ?? at, at, now)
  return [
    {
      turn,
      note: null,
      at,
      isReply: true,
      line: `- ${moment(at, now)} prompt: ${quoteBegin(request, MAX_ANSWER_CHARS)}; asked ${when}: ${asked.line}`,
      words: `${request}\n${asked.words}`,
      about: termsOf(asked.words),
    },
  ]
}

/** A question with so many terms says what it is about without a name; "Should I do both?" is understood with what stands before it. */
const MIN_TERMS = 8

function saysWhat(text: string): boolean {
  const terms = [...termsOf(text)]
  return terms.length >= MIN_TERMS || terms.some(isSpecific)
}

/** Blocks at the end of a report in which it may ask something. */
const END_BLOCKS = 8

/** The question with which a report ends, and the options below it, one of which may be the question; null if it asks nothing. */
export function openEnd(report: string): { question: string; options: string[] } | null {
  const blocks = readWords(report).slice(-END_BLOCKS)
  const last = blocks.at(-1)
  // What follows the question may only be its options.
  const at = blocks.findLastIndex(({ kind }) => kind !== 'item')
  const options = blocks.slice(at + 1).map(({ text }) => text)
  const asked = blocks[at]
  if (asked === undefined || last === undefined) return null
  const isAsked = isQuestion(asked.text) && (asked.kind === 'sentence' || asked.kind === 'heading')
  const offers = asked.kind === 'heading' && isQuestion(last.text)
  if (!isAsked && !offers) return null
  const about = blocks[at - 1]
  const isClear = about === undefined || about.kind === 'code' || saysWhat([asked.text, ...options].join('\n'))
  return { question: isClear ? asked.text : `${about.text} ${asked.text}`, options }
}

/** What a short request answers: `“Should I:” options: “Remove it” “Replace it”`; null where the report before it asks nothing. */
export function askedBefore(
  { request, at, isImported }: PastTurn,
  before: PastTurn | undefined,
): { line: string; words: string } | null {
  if (request === null || request.length > MAX_REPLY_CHARS || isQuestion(request) || before?.closing == null)
    return null
  if (isImported || before.isImported) return null
  // The clocks of a client may differ: an answer comes after its question.
  const asked = before.closing.at > at ? null : openEnd(before.closing.text)
  if (asked === null) return null
  const options = asked.options.slice(0, MAX_OPTIONS).map((option) => quoteBegin(option, MAX_OPTION_CHARS))
  const line = [
    quoteBegin(asked.question, MAX_QUESTION_CHARS),
    ...(options.length === 0 ? [] : ['options:', ...options]),
  ].join(' ')
  return { line, words: [asked.question, ...asked.options].join('\n') }
}

/** Share of the words of a question that a newer one has, from which on it is the same question. */
const SAME_QUESTION = 0.6

function withoutOvertaken(newestFirst: readonly Choice[]): Choice[] {
  const kept: Choice[] = []
  for (const choice of newestFirst) {
    const isSame = kept.some(({ about }) => choice.about.size > 2 && sharedPart(choice.about, about) >= SAME_QUESTION)
    if (!isSame) kept.push(choice)
  }
  return kept
}

function sharedPart(terms: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0
  for (const term of terms) if (others.has(term)) shared++
  return shared / terms.size
}

/** Notes that were written with `remember`. */
export function writtenNotes(observations: readonly Observation[], now: Moment): Choice[] {
  return observations.filter(isHandWritten).map((note) => {
    const said = [note.title, note.narrative, ...note.facts].filter((part) => part !== null && part !== '')
    const quotation = quoteBegin(said.join(' '), 2 * MAX_ANSWER_CHARS)
    return {
      turn: null,
      note: note.id,
      at: note.createdAt,
      isReply: false,
      line: `- ${moment(note.createdAt, now)} #${note.id} ${speakerName(note)}: ${quotation}`,
      words: said.join('\n'),
      about: new Set<string>(),
    }
  })
}
