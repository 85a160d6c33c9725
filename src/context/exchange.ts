/** The last exchange: the request, of a long report its beginning and its end. */
import { askedBefore } from './choices.ts'
import { type Moment, moment } from './moment.ts'
import { quoteBegin, quoteEnds, quoteLines } from './quote.ts'
import { isFinished, stepText } from './state.ts'
import { hasOutcome, type PastTurn } from './turns.ts'

/** A longer request contains something pasted; what is asked stands before or after it. */
const MAX_REQUEST_CHARS = 700
/** A report of this length is quoted whole. */
const REPORT_CHARS = 1_800
/** Of a longer one; the open points are at its end. */
const BEGIN_CHARS = 800
const END_CHARS = 800
const MAX_LINE_CHARS = 500
const MAX_WORDS = 3
const MAX_WORDS_CHARS = 240

/** `turns`: of the session that is continued, newest first. Without a report: what was done since the request, and the report before it. */
export function exchangeLines(turns: readonly PastTurn[], now: Moment): string[] {
  const last = turns.find((turn) => turn.request !== null || hasOutcome(turn))
  if (last === undefined) return []
  const before = last.closing === null ? turns.find(({ closing }) => closing !== null) : undefined
  if (before !== undefined) {
    const request = [...requestLine(last, now), ...doneLine(last, now), ...lastWords(last)]
    return [...request, 'Before it:', ...requestLine(before, now), ...reportOf(before, now)]
  }
  const previous = turns.find(({ promptNumber }) => promptNumber === last.promptNumber - 1)
  const asked = askedBefore(last, previous)
  const question = asked === null ? [] : [`${speakerOf(previous)}, before it: ${asked.line}`]
  return [...question, ...requestLine(last, now), ...reportOf(last, now), ...doneLine(last, now), ...lastWords(last)]
}

/** For an imported turn only a file says who spoke. */
const speakerOf = (turn: PastTurn | undefined): string => (turn?.isImported === true ? 'Imported' : 'Agent')

function requestLine({ request, at, isImported }: PastTurn, now: Moment): string[] {
  return request === null
    ? []
    : [`${isImported ? 'Imported prompt' : 'Prompt'}, ${moment(at, now)}: ${quoteEnds(request, MAX_REQUEST_CHARS)}`]
}

function reportOf(turn: PastTurn, now: Moment): string[] {
  const { closing } = turn
  if (closing === null) return []
  const head = `${speakerOf(turn)}, ${moment(closing.at, now)}:`
  const lines = reportLines(closing.text)
  const [only] = lines
  if (lines.length === 1 && only !== undefined) {
    return [`${head} ${quoteBegin(only, REPORT_CHARS)}`]
  }
  return [head, ...lines.map(block)]
}

const MAX_STEPS = 6

/** What was done after the last report, or without one. */
function doneLine({ closing, steps }: PastTurn, now: Moment): string[] {
  const done = steps.filter(({ at }) => at > (closing?.at ?? 0))
  const names = [...new Set(done.map(stepText))]
  const last = done.at(-1)
  // The state names the last step.
  if (last === undefined || names.length === 1) return []
  const shown = [...(names.length > MAX_STEPS ? ['…'] : []), ...names.slice(-MAX_STEPS)]
  return [
    `${closing === null ? 'No report. Done' : 'Done after this report'} until ${moment(last.at, now)}: ${shown.join(', ')}`,
  ]
}

/** Of a turn that was cut off: what the agent wrote last between tool uses says how far it came. */
function lastWords(turn: PastTurn): string[] {
  const said = isFinished(turn) ? [] : turn.words.slice(-MAX_WORDS)
  if (said.length === 0) return []
  return [`${speakerOf(turn)}, last words: ${said.map((words) => quoteEnds(words, MAX_WORDS_CHARS)).join(' ')}`]
}

const block = (line: string): string => (line === CUT ? CUT : (quoteLines([line])[0] ?? ''))

/** Marks what is left out. */
const CUT = '> […]'

function reportLines(report: string): string[] {
  const lines = report
    .split('\n')
    .map((line) => line.trimEnd().slice(0, MAX_LINE_CHARS))
    .filter((line) => quoteLines([line]).length > 0)
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0)
  if (chars <= REPORT_CHARS) return lines
  const begin = takeLines(lines, BEGIN_CHARS)
  const end = takeLines(lines.slice(begin.length).toReversed(), END_CHARS).toReversed()
  return [...begin, CUT, ...end]
}

function takeLines(lines: readonly string[], chars: number): string[] {
  let left = chars
  const taken = lines.findIndex((line) => {
    left -= line.length + 1
    return left < 0
  })
  return lines.slice(0, Math.max(1, taken === -1 ? lines.length : taken))
}
