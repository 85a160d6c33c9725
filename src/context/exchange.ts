/** The last exchange: the request, of a long report its beginning and its end. */
import { type Moment, moment } from './moment.ts'
import { quoteBegin, quoteEnds, quoteLines } from './quote.ts'
import type { PastTurn } from './turns.ts'

/** A longer request contains something pasted; what is asked stands before or after it. */
const MAX_REQUEST_CHARS = 700
/** A report of this length is quoted whole. */
const REPORT_CHARS = 1_800
/** Of a longer one; the open points are at its end. */
const BEGIN_CHARS = 800
const END_CHARS = 800
const MAX_LINE_CHARS = 500

export function exchangeLines(turn: PastTurn, now: Moment): string[] {
  const request =
    turn.request === null ? [] : [`Prompt, ${moment(turn.at, now)}: ${quoteEnds(turn.request, MAX_REQUEST_CHARS)}`]
  if (turn.closing === null) return request
  const lines = reportLines(turn.closing.text)
  const [only] = lines
  if (lines.length === 1 && only !== undefined) {
    return [...request, `Agent, ${moment(turn.closing.at, now)}: ${quoteBegin(only, REPORT_CHARS)}`]
  }
  return [...request, `Agent, ${moment(turn.closing.at, now)}:`, ...lines.map(block)]
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
