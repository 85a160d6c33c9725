/**
 * Cuts a text for a model: head and tail stay, a marker says how much is gone, and of the middle those lines stay
 * that say most. Where the error is in a long output nobody knows beforehand.
 */
import { cutText } from '../../memory/bound.ts'

/** What the lines that say most look like: in what a program printed, or in code. */
export type Texture = 'output' | 'code'

/** Of the bound, so much may go to lines of the middle; head and tail get what they leave. */
const MIDDLE_SHARE = 0.35
/** Below it a choice of lines would be all marker and no text. */
const MIN_CHARS = 400
const MAX_LINE_CHARS = 240
/** A line is judged by its beginning; a minified bundle is one line. */
const JUDGED_CHARS = 400

const FAULT =
  /(?:error|exception)s?\b|\b(?:fail(?:ed|ures?|ing|s)?|panic(?:ked)?|fatal|traceback|assert\w*|uncaught|unhandled|cannot|can't|could not|unable|denied|refused|rejected|timed? ?out|segmentation|abort(?:ed)?|not found|missing|undefined|conflict|expected|received|actual)\b|^\s*(?:[✗✖✘×✕●❯]|E\s{2,}|not ok\b)/i
const NOTICE =
  /\bwarn(?:ing)?s?\b|\bdeprecated\b|\b\d+(?:\.\d+)? ?(?:%|ms\b|s\b|tests?\b|specs?\b|pass(?:ed|ing)?\b|skipped\b|errors?\b|warnings?\b|suites?\b|files?\b|rows?\b)|\b(?:created|deleted|updated|installed|listening|deployed|migrat\w+|total|summary|result)\b/i
/** `0 errors` is no fault. */
const NO_FAULT = /(?<![\w:.,-])(?:0|no) (?:errors?|failures?|failed|failing)\b/i

const REMARK = /\b(?:TODO|FIXME|HACK|XXX|NOTE|WARNING|IMPORTANT|because)\b/
const DECLARATION =
  /^[+-]?\s{0,8}(?:export|public|private|protected|static|abstract|async|function|class|interface|type|enum|const [A-Z]|def|func|fn|pub|impl|struct|trait|module|namespace|CREATE|ALTER|@\w+\(|#{1,4} )/

interface Line {
  start: number
  end: number
  text: string
  weight: number
}

export function shorten(text: string, max: number, texture: Texture): string {
  if (text.length <= max) return text
  if (max < MIN_CHARS) return cutText(text, max)
  const markers = markerOf(text.length + MOST_LEFT_OUT).length + CLOSING.length + 4 // and the line ends around them
  const room = max - markers
  const reserve = Math.floor(room * MIDDLE_SHARE)
  const least = Math.floor((room - reserve) / 2)
  const kept = chosen(linesIn(text, least, text.length - least, texture), reserve)
  const side = Math.floor((room - lengthOf(kept)) / 2)
  const head = headOf(text, side)
  const tail = tailOf(text, side)
  // Head and tail took what the lines left over, and may have reached some of them.
  const between = kept.filter((line) => line.start >= head.length && line.end <= text.length - tail.length)
  if (between.length === 0) return cutText(text, max)
  const gap = text.slice(head.length, text.length - tail.length)
  const left = gap.length - lengthOf(between) + leftOutBefore(gap)
  return [head, markerOf(left), ...between.map((line) => line.text), CLOSING, tail].join('\n')
}

const CLOSING = '[…]'

/** To the end of a line, where one is near, and never through a character. */
const NEAR_CHARS = 120

function headOf(text: string, length: number): string {
  const head = text.slice(0, length)
  const end = head.lastIndexOf('\n')
  return end >= length - NEAR_CHARS ? head.slice(0, end) : head.replace(/[\ud800-\udbff]$/, '')
}

function tailOf(text: string, length: number): string {
  const tail = text.slice(text.length - length)
  const start = tail.indexOf('\n')
  return start !== -1 && start < NEAR_CHARS ? tail.slice(start + 1) : tail.replace(/^[\udc00-\udfff]/, '')
}

function markerOf(left: number): string {
  return `[… ${left.toLocaleString('en-US')} characters left out but for these lines: …]`
}

/** A hook may have cut the text before, with a marker that is now cut away itself: what it counted is gone as well. */
const EARLIER = /\[… ([\d,]{1,15}) characters left out …\]/g
const MOST_LEFT_OUT = 999_999_999 // an earlier marker names no more: no message is larger

function leftOutBefore(gap: string): number {
  let sum = 0
  for (const [, count = ''] of gap.matchAll(EARLIER)) sum += Number(count.replaceAll(',', ''))
  return Math.min(sum, MOST_LEFT_OUT)
}

/** The whole lines between two places that say something. */
function linesIn(text: string, from: number, to: number, texture: Texture): Line[] {
  const lines: Line[] = []
  let start = text.indexOf('\n', from - 1) + 1
  while (start > 0 && start < to) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    if (end > to) break
    const weight = weightOf(text.slice(start, Math.min(end, start + JUDGED_CHARS)), texture)
    if (weight > 0) lines.push({ start, end, text: cutText(text.slice(start, end), MAX_LINE_CHARS), weight })
    start = found + 1
  }
  return lines
}

function weightOf(line: string, texture: Texture): number {
  if (texture === 'code') return REMARK.test(line) ? 2 : DECLARATION.test(line) ? 1 : 0
  if (FAULT.test(line) && !NO_FAULT.test(line)) return 2
  return NOTICE.test(line) ? 1 : 0
}

/**
 * Faults first, then those that differ from the others by more than numbers, then in order: the first error is
 * mostly the cause of the rest.
 */
function chosen(lines: readonly Line[], room: number): Line[] {
  const seen = new Set<string>()
  const alike = new Map<string, number>()
  let left = room
  return lines
    .filter((line) => {
      const known = seen.has(line.text)
      seen.add(line.text)
      return !known
    })
    .map((line) => {
      const shape = line.text.replace(/\d+/g, '0').trim()
      const before = alike.get(shape) ?? 0
      alike.set(shape, before + 1)
      return { line, before }
    })
    .sort((a, b) => b.line.weight - a.line.weight || a.before - b.before || a.line.start - b.line.start)
    .map(({ line }) => line)
    .filter((line) => {
      if (line.text.length + 1 > left) return false
      left -= line.text.length + 1
      return true
    })
    .sort((a, b) => a.start - b.start)
}

function lengthOf(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + line.text.length + 1, 0)
}
