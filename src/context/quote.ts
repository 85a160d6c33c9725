/**
 * Words of others in the text for an agent: always a quotation, with characters that the quotation itself cannot end and
 * nothing that a client or a reader of Markdown would interpret.
 */
import { plainText } from '../domain/plain-text.ts'
import { withoutCurlyQuotes } from '../domain/quotation.ts'

/** Longest text that is quoted on one line. */
const MAX_QUOTED_CHARS = 2_000

/** On one line, in quotation marks. */
export function quote(text: string): string {
  return `“${quotable(text)}”`
}

/** A part of a quotation. */
export function quotable(text: string): string {
  return withoutCurlyQuotes(plainText(text.slice(0, MAX_QUOTED_CHARS)))
}

/** Cut between statements or words, with a mark where something is missing. */
export function quoteBegin(text: string, maxChars: number): string {
  const line = plainText(text.slice(0, MAX_QUOTED_CHARS))
  return quote(line.length <= maxChars ? line : `${cutAtWord(line, maxChars - 1)}…`)
}

/** Of a long text the beginning and the end. */
export function quoteEnds(text: string, maxChars: number): string {
  if (text.length <= maxChars) return quoteBegin(text, maxChars)
  const end = plainText(text.slice(-maxChars / 3))
  return quote(
    `${cutAtWord(plainText(text.slice(0, maxChars)), (maxChars * 2) / 3)} […] ${end.slice(end.indexOf(' ') + 1)}`,
  )
}

/** The end of the last sentence, else of the last word, that fits. */
function cutAtWord(text: string, maxChars: number): string {
  const head = text.slice(0, maxChars)
  const sentence = Math.max(...['. ', '! ', '? ', '。', '！', '？'].map((mark) => head.lastIndexOf(mark)))
  if (sentence >= maxChars * 0.6) return head.slice(0, sentence + 1)
  const blank = head.lastIndexOf(' ')
  const cut = blank >= maxChars * 0.6 ? head.slice(0, blank) : head
  // The cut may have split a surrogate pair.
  return cut.replace(/[\ud800-\udbff]$/, '')
}

/** Several lines, each with the mark of a quotation; without the rules of tables and empty lines. */
export function quoteLines(lines: readonly string[]): string[] {
  return lines
    .map((line) => plainLine(line))
    .filter((line) => line !== '')
    .map((line) => `> ${withoutCurlyQuotes(line)}`)
}

/** Keeps the mark of a list item and the bars of a table, which `plainText` takes away. */
function plainLine(line: string): string {
  const mark = /^\s{0,12}(?:[-*•]|\d{1,3}[.)])\s+/.exec(line)?.[0] ?? ''
  if (/^[\s|:=_*+-]*$|^\s*(?:```|~~~)/.test(line)) return ''
  return `${mark.trim() === '' ? '' : `${mark.trim()} `}${plainText(line.slice(mark.length))}`
}
