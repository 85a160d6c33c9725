/**
 * Text as a terminal shows it. What is stored came from programs and web pages: it may hold escape sequences that
 * move the cursor, rewrite lines or set the clipboard, so nothing is printed before `clean`.
 */
export { counted } from '../memory/counts.ts'

/** C0, DEL and C1 controls, line separators, and the marks that reverse what is written after them. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
const WHITESPACE = /[\t\n\v\f\r\u2028\u2029]+/g

/** One line in which nothing but letters is left to act on a terminal. */
export function clean(text: string): string {
  return text.replace(WHITESPACE, ' ').replace(UNSAFE, escaped)
}

/** JSON on one line. `JSON.stringify` leaves DEL, C1 and the reversing marks as they are. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) => `\\u${hex(char).padStart(4, '0')}`)
}

function escaped(char: string): string {
  const code = hex(char)
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
}

function hex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16)
}

const PLAIN_ASCII = /^[\x20-\x7e]*$/
const INVISIBLE = /^[\p{M}\p{Cf}]/u
const EMOJI = /^\p{Emoji_Presentation}|^\p{Emoji}\ufe0f/u
/** East Asian characters that take two columns. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function graphemeWidth(grapheme: string): number {
  if (EMOJI.test(grapheme) || WIDE.test(grapheme)) return 2
  return INVISIBLE.test(grapheme) ? 0 : 1
}

/** Columns that `text` takes: as good as can be without asking the terminal. */
export function widthOf(text: string): number {
  if (PLAIN_ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

/** At most `width` columns; an ellipsis says that something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += graphemeWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return width > 0 ? `${kept}…` : ''
}

/** Lines of at most `width` columns, broken between words where there are any. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    while (widthOf(line) > width) {
      const head = cut(line, width + 1).slice(0, -1)
      lines.push(head)
      line = line.slice(head.length)
    }
  }
  return [...lines, line]
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}
