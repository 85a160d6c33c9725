/** What the user answered: to a question that the agent asked with a tool, or by refusing a tool use with a reason. */
import type { ToolUseEvent } from '../../domain/event.ts'
import { asFields, type JsonFields, stringField } from '../tool-events/json-fields.ts'
import { singleLine } from '../tool-events/text.ts'
import { cutProse, type PassageContent } from './pieces.ts'

const REFUSED =
  /The user doesn't want to (?:proceed|take this action)|The tool use was rejected|\[Request interrupted by user/
const REASON = /the user (?:said|provided the following reason[^:]{0,60}):\s*/i
/** The client's own words after the reason begin with one of these. */
const CLIENT_NOTES = ["\nNote: The user's next message", '\nSTOP what you are doing']

/** Null: it was no refusal. Empty: the user gave no reason. */
export function refusalReason(error: string): string | null {
  const head = error.slice(0, 20_000)
  if (!REFUSED.test(head)) return null
  const match = REASON.exec(head)
  if (match === null) return ''
  const reason = head.slice(match.index + match[0].length)
  const ends = CLIENT_NOTES.map((note) => reason.indexOf(note)).filter((at) => at !== -1)
  return reason.slice(0, Math.min(reason.length, ...ends)).trim()
}

/** A client asks at most four questions at once. */
const MAX_QUESTIONS = 8
const MAX_QUESTION_CHARS = 300
const MAX_OPTION_CHARS = 160

/** Each question with the chosen answer, and what the chosen option meant. */
export function answerPassages(event: ToolUseEvent, input: JsonFields): PassageContent[] {
  const questions = Array.isArray(input.questions) ? input.questions.slice(0, MAX_QUESTIONS).map(asFields) : []
  const response = asFields(event.response)
  const answers = asFields(response.answers ?? input.answers)
  const plain = typeof event.response === 'string' ? event.response : stringField(response, 'text')
  if (Object.keys(answers).length === 0) return plain === '' ? [] : passages(plain)
  return questions.flatMap((question) => {
    const asked = stringField(question, 'question')
    const chosen = chosenAnswer(answers[asked] ?? answers[stringField(question, 'header')])
    if (asked === '' || chosen === '') return []
    const meaning = optionMeaning(question, chosen)
    return passages(`${singleLine(asked, MAX_QUESTION_CHARS)}\nAnswer: ${chosen}${meaning}`)
  })
}

function chosenAnswer(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  if (!Array.isArray(value)) return ''
  return value.filter((item): item is string => typeof item === 'string').join(', ')
}

function optionMeaning(question: JsonFields, chosen: string): string {
  const options = Array.isArray(question.options) ? question.options.slice(0, 20).map(asFields) : []
  const option = options.find((one) => stringField(one, 'label') === chosen)
  const text = option === undefined ? '' : singleLine(stringField(option, 'description'), MAX_OPTION_CHARS)
  return text === '' ? '' : ` (${text})`
}

function passages(text: string): PassageContent[] {
  return cutProse(text, MAX_QUESTIONS).map((piece) => ({ kind: 'answer', subject: null, outcome: null, text: piece }))
}
