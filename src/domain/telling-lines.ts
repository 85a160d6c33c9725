/**
 * The lines of a long output that say what happened: errors, failures, exceptions, warnings, results of tests, exit codes.
 * Where an output is cut, they are kept besides its head and tail.
 */
import { LiteralSearch } from '../lib/literal-search.ts'

export interface TellingLine {
  /** Positions in the text. */
  start: number
  end: number
  text: string
  /** 2: an error; 1: a warning or a result. */
  weight: number
}

/** Characters of a kept line. */
export const MAX_TELLING_LINE_CHARS = 240
/** A line is rated by its beginning: a minified bundle is one line. */
const RATED_CHARS = 400

const ERROR_LINE =
  /(?:error|exception)s?\b|\b(?:fail(?:ed|ures?|ing|s)?|panic(?:ked)?|fatal|traceback|assert\w*|uncaught|unhandled|cannot|can't|could not|unable|denied|refused|rejected|timed? ?out|segmentation|abort(?:ed)?|not found|missing|undefined|conflict|expected|received|actual)\b|^\s*(?:[✗✖✘×✕●❯]|E\s{2,}|not ok\b)|\bexit(?:ed)?(?: with)?(?: code| status)? [1-9]/i
const NOTICE_LINE =
  /\bwarn(?:ing)?s?\b|\bdeprecated\b|\b\d+(?:\.\d+)? ?(?:%|ms\b|s\b|tests?\b|specs?\b|pass(?:ed|ing)?\b|skipped\b|errors?\b|warnings?\b|suites?\b|files?\b|rows?\b)|\b(?:created|deleted|updated|installed|listening|deployed|migrat\w+|total|summary|result)\b/i
const NO_ERRORS = /(?<![\w:.,-])(?:0|no) (?:errors?|failures?|failed|failing)\b/i

/** 0: it says nothing. */
export function rateOutputLine(line: string): number {
  if (ERROR_LINE.test(line) && !NO_ERRORS.test(line)) return 2
  return NOTICE_LINE.test(line) ? 1 : 0
}

/** What such a line mostly contains: found faster than every line can be rated. */
const HINT_WORDS =
  /error|exception|fail|panic|fatal|traceback|assert|uncaught|unhandled|cannot|denied|refused|rejected|timed? ?out|segmentation|abort|not found|not ok|conflict|warn|exit(?:ed)? (?:code|status|with)|passed|passing| tests?\b|tests?: /iy
/** How each of them begins. */
const HINT_STARTS = new LiteralSearch(
  'error exception fail panic fatal traceback assert uncaught unhandled cannot denied refused rejected time segmentation abort conflict warn exit passed passing test'
    .split(' ')
    .concat('not found', 'not ok', ' test'),
)
const HINT_SIGNS = ['ERR', '✗', '✖', '✘', '×', '✕']
/** Lines that are rated: the first and the last ones, which are mostly the cause and the result. */
const MAX_RATED_LINES = 600
/** Where there are more lines, the last ones are searched for in this many characters. */
const MAX_LAST_CHARS = 131_072
/** Characters that are searched for them, half from each end: an output may have 50 MB. */
const MAX_SEARCHED_CHARS = 8_388_608

/** The telling lines that begin in a range of a text, in their order. */
export function findTellingLines(text: string, from: number, to: number): TellingLine[] {
  const half = MAX_SEARCHED_CHARS / 2
  if (to - from <= MAX_SEARCHED_CHARS) return searchLines(text, from, to)
  return [...searchLines(text, from, from + half), ...searchLines(text, to - half, to)]
}

function searchLines(text: string, from: number, to: number): TellingLine[] {
  const lines: TellingLine[] = []
  const nextHint = hintSearch(text, to)
  let next = Math.max(0, from)
  for (let at = nextHint(next); at < to; at = nextHint(next)) {
    const start = lineStart(text, at, from)
    const end = lineEnd(text, at, to)
    next = Math.max(end, at + 1)
    if (start === null) continue
    const weight = rateOutputLine(text.slice(start, Math.min(end, start + RATED_CHARS)))
    if (weight > 0) lines.push({ start, end, text: text.slice(start, end), weight })
    if (lines.length <= MAX_RATED_LINES) continue
    lines.splice(MAX_RATED_LINES / 2, 1)
    next = Math.max(next, to - MAX_LAST_CHARS)
  }
  return lines
}

/** Infinity if there is none that begins before `to`. */
function nextHintWord(text: string, from: number, to: number): number {
  for (let at = HINT_STARTS.next(text, from, to); at !== -1; at = HINT_STARTS.next(text, at + 1, to)) {
    HINT_WORDS.lastIndex = at
    if (HINT_WORDS.test(text)) return at
  }
  return Number.POSITIVE_INFINITY
}

/** A function that returns where the first hint from a position on is; Infinity if there is none. Positions must not go back. */
function hintSearch(text: string, to: number): (from: number) => number {
  let word = -1
  const signs = HINT_SIGNS.map((sign) => ({ sign, at: -1 }))
  return (from) => {
    if (word < from) word = nextHintWord(text, from, to)
    for (const one of signs) {
      if (one.at >= from) continue
      const found = text.indexOf(one.sign, from)
      one.at = found === -1 ? Number.POSITIVE_INFINITY : found
    }
    return Math.min(word, ...signs.map(({ at }) => at))
  }
}

/** Characters of a line that are looked at. */
const MAX_LINE_CHARS = 2_000

/** Null if the line begins before the range. Of a long line the part before the word is enough. */
function lineStart(text: string, at: number, from: number): number | null {
  const window = Math.max(0, at - MAX_LINE_CHARS)
  const found = text.slice(window, at).lastIndexOf('\n')
  const start = found !== -1 ? window + found + 1 : window === 0 ? 0 : at - MAX_TELLING_LINE_CHARS / 2
  return start < from ? null : start
}

function lineEnd(text: string, at: number, to: number): number {
  const window = text.slice(at, at + MAX_LINE_CHARS)
  const found = window.indexOf('\n')
  return Math.min(to, found === -1 ? at + window.length : at + found)
}

/**
 * By weight, then lines that differ by more than numbers, then in order: the first error is mostly the cause of the
 * others. Without duplicates; returned in the order of the text. `room` is in characters, with a line end each.
 */
export function bestLines<L extends TellingLine>(lines: readonly L[], room: number): L[] {
  const texts = new Set<string>()
  const shapes = new Map<string, number>()
  const ranked: { line: L; similarBefore: number; order: number }[] = []
  for (const [order, line] of lines.entries()) {
    if (texts.has(line.text)) continue
    texts.add(line.text)
    const shape = line.text.replace(/\d+/g, '0').trim()
    const similarBefore = shapes.get(shape) ?? 0
    shapes.set(shape, similarBefore + 1)
    ranked.push({ line, similarBefore, order })
  }
  let left = room
  return ranked
    .sort((a, b) => b.line.weight - a.line.weight || a.similarBefore - b.similarBefore || a.order - b.order)
    .filter(({ line }) => {
      if (line.text.length + 1 > left) return false
      left -= line.text.length + 1
      return true
    })
    .sort((a, b) => a.order - b.order)
    .map(({ line }) => line)
}

/** With their line ends. */
export function totalLineChars(lines: readonly TellingLine[]): number {
  return lines.reduce((sum, line) => sum + line.text.length + 1, 0)
}
