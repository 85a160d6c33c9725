/**
 * Prepares foreign text (tool input and output, prompts) for a prompt: removes control characters, escapes tags that could
 * close or fake one of our blocks, and shortens it so that head, tail and the most informative lines remain.
 */
import { stripVTControlCharacters } from 'node:util'
import { cutText, toWellFormed } from '../../domain/sanitize.ts'
import {
  bestLines,
  MAX_TELLING_LINE_CHARS,
  rateOutputLine,
  type TellingLine,
  totalLineChars,
} from '../../domain/telling-lines.ts'

/** Above what a hook lets through by default; a longer text is cut before its characters are processed. */
const MAX_TEXT_CHARS = 262_144

/** The blocks that our prompts put around foreign text. */
const BLOCK_TAG =
  /<(?=[ \t]{0,8}\/?[ \t]{0,8}(?:tool_use|outcome|user_request|last_message|memory|turns|decisions)\b)/gi
/** How a request names stored observations (stored-notes.ts). */
const STORED_MARK = /^(stored: (?:up to )?)#(?=\d)/gm

export function promptText(text: string): string {
  return plainLines(cutText(text, MAX_TEXT_CHARS)).replace(BLOCK_TAG, '&lt;').replace(STORED_MARK, '$1no. ')
}

/** On one line, for example for an attribute. */
export function promptLine(text: string, maxChars: number): string {
  // Four times the limit is read: white space may shrink, and only the escape makes the text longer.
  const line = promptText(text.slice(0, maxChars * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return cutText(line, maxChars)
}

/** Enough for a deep path; the file itself is in the block. */
const MAX_ATTRIBUTE_CHARS = 160

export function promptAttribute(name: string, value: string): string {
  const safe = promptLine(value, MAX_ATTRIBUTE_CHARS).replaceAll('"', "'").replaceAll('<', '‹').replaceAll('>', '›')
  return safe === '' ? '' : ` ${name}="${safe}"`
}

const CONTROL_CHARACTERS = /(?!\t)\p{Cc}/gu

/** Without escape sequences, control characters and trailing space; at most one empty line in a row. */
function plainLines(text: string): string {
  const lines = toWellFormed(stripVTControlCharacters(text))
    .split('\n')
    .map((line) => lastProgressState(line).replace(CONTROL_CHARACTERS, '').trimEnd())
  return lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .replace(/^\n/, '')
    .trimEnd()
}

/** A progress bar overwrites its line with carriage returns. */
function lastProgressState(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((state) => state.trim() !== '') ?? ''
}

/** Decides which lines count as informative: those of a program's output, or those of code. */
export type TextKind = 'output' | 'code'

/** Share of the limit for lines from the middle; head and tail get the rest. */
const MIDDLE_SHARE = 0.35
/** Below it, the markers would take most of the space. */
const MIN_CHARS = 400
/** A line is rated by its beginning: a minified bundle is one line. */
const RATED_CHARS = 400

const REMARK_LINE = /\b(?:TODO|FIXME|HACK|XXX|NOTE|WARNING|IMPORTANT|because)\b/
const DECLARATION_LINE =
  /^[+-]?\s{0,8}(?:export|public|private|protected|static|abstract|async|function|class|interface|type|enum|const [A-Z]|def|func|fn|pub|impl|struct|trait|module|namespace|CREATE|ALTER|@\w+\(|#{1,4} )/

const CLOSING_MARKER = '[…]'

/** Keeps head, tail and the best lines of the middle; a marker counts what is left out. */
export function shortenForPrompt(text: string, maxChars: number, kind: TextKind): string {
  if (text.length <= maxChars) return text
  if (maxChars < MIN_CHARS) return cutText(text, maxChars)
  const lineEnds = 4
  const room = maxChars - openingMarker(text.length + MAX_COUNTED).length - CLOSING_MARKER.length - lineEnds
  const reserve = Math.floor(room * MIDDLE_SHARE)
  const minSide = Math.floor((room - reserve) / 2)
  const best = bestLines(ratedLines(text, minSide, text.length - minSide, kind), reserve)
  const side = Math.floor((room - totalLineChars(best)) / 2)
  const head = headOf(text, side)
  const tail = tailOf(text, side)
  // Head and tail use the space that the lines left over, and may include some of them.
  const between = best.filter((line) => line.start >= head.length && line.end <= text.length - tail.length)
  if (between.length === 0) return cutText(text, maxChars)
  const gap = text.slice(head.length, text.length - tail.length)
  const leftOut = gap.length - totalLineChars(between) + leftOutBefore(gap)
  return [head, openingMarker(leftOut), ...between.map((line) => line.text), CLOSING_MARKER, tail].join('\n')
}

/** Cuts at the end of a line if one is this near, and never inside a surrogate pair. */
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

function openingMarker(leftOut: number): string {
  return `[… ${leftOut.toLocaleString('en-US')} characters left out but for these lines: …]`
}

/** The marker of an earlier cut by the hook. If it is cut away now, its count is added to ours. */
const EARLIER_MARKER = /\[… ([\d,]{1,15}) characters left out (?:but for these lines: )?…\]/g
/** No message is larger. */
const MAX_COUNTED = 999_999_999

function leftOutBefore(gap: string): number {
  let sum = 0
  for (const [, count = ''] of gap.matchAll(EARLIER_MARKER)) sum += Number(count.replaceAll(',', ''))
  return Math.min(sum, MAX_COUNTED)
}

/** The complete lines between two positions that have a weight. */
function ratedLines(text: string, from: number, to: number, kind: TextKind): TellingLine[] {
  const lines: TellingLine[] = []
  let start = text.indexOf('\n', from - 1) + 1
  while (start > 0 && start < to) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    if (end > to) break
    const weight = rateLine(text.slice(start, Math.min(end, start + RATED_CHARS)), kind)
    if (weight > 0) lines.push({ start, end, text: cutText(text.slice(start, end), MAX_TELLING_LINE_CHARS), weight })
    start = found + 1
  }
  return lines
}

function rateLine(line: string, kind: TextKind): number {
  if (kind === 'code') return REMARK_LINE.test(line) ? 2 : DECLARATION_LINE.test(line) ? 1 : 0
  return rateOutputLine(line)
}
