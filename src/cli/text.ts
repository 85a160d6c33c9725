/**
 * Text as a terminal shows it: control characters escaped, widths in columns, truncation and wrapping. Stored text came
 * from programs and web pages and may hold escape sequences that move the cursor, rewrite lines or set the clipboard, so
 * everything that is printed goes through `terminalSafe`.
 *
 * `string-width` 8 was measured instead of `displayWidth`: 37 of 39 samples had the same width, and its four modules
 * made every start of the program about 50 ms slower.
 */
import { inertText } from '../domain/plain-text.ts'
import { withoutCurlyQuotes } from '../domain/quotation.ts'

/** C0, DEL and C1 controls, line separators, and what nobody sees; joiners and selectors of scripts and emoji stay. */
const UNSAFE = /[\p{Cc}\u2028\u2029]|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/gu
const WHITESPACE = /[\t\n\v\f\r\u2028\u2029]+/g

/** One line that is safe to print: whitespace becomes a blank, control characters become `\x1b` or `\u202e`. */
export function terminalSafe(text: string): string {
  return text.replace(WHITESPACE, ' ').replace(UNSAFE, (char) => {
    const code = hexCode(char)
    if (code.length > 4) return `\\u{${code}}`
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}

/** JSON on one line. `JSON.stringify` does not escape DEL, C1 controls and characters that nobody sees. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) =>
    // Each half of a pair: JSON has no longer escapes.
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  )
}

function hexCode(char: string): string {
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

/** Characters that are segmented at a time: the segmenter takes quadratic time on long texts. */
const SEGMENTED_CHARS = 500

/** Graphemes with their widths. One that spans the end of a piece counts as two, which only text without blanks has. */
function* measuredGraphemes(text: string): Generator<{ segment: string; width: number }> {
  for (let from = 0; from < text.length; ) {
    const to = pieceEnd(text, from)
    for (const { segment } of graphemes.segment(text.slice(from, to))) yield { segment, width: graphemeWidth(segment) }
    from = to
  }
}

function pieceEnd(text: string, from: number): number {
  const end = from + SEGMENTED_CHARS
  if (end >= text.length) return text.length
  const blank = text.slice(from, end).lastIndexOf(' ')
  if (blank > 0) return from + blank
  // Not between the halves of a surrogate pair.
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end
}

/** Columns that `text` takes on a terminal. `text` holds no colours. */
export function displayWidth(text: string): number {
  if (PLAIN_ASCII.test(text)) return text.length
  let sum = 0
  for (const { width } of measuredGraphemes(text)) sum += width
  return sum
}

/** At most `width` columns; truncated text ends with an ellipsis. */
export function truncate(text: string, width: number): string {
  const head = widthHead(text, width)
  if (head.length === text.length) return text
  return width > 0 ? `${widthHead(text, width - 1)}…` : ''
}

/** The beginning of a text that fits into `width` columns. */
function widthHead(text: string, width: number): string {
  let used = 0
  let length = 0
  for (const grapheme of measuredGraphemes(text)) {
    used += grapheme.width
    if (used > width) break
    length += grapheme.segment.length
  }
  return text.slice(0, length)
}

/** Lines of at most `width` columns, broken between words if possible. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const word of text.split(' ')) {
    const wordWidth = displayWidth(word)
    if (line !== '' && used + 1 + wordWidth > width) {
      lines.push(line)
      line = ''
    }
    used = line === '' ? wordWidth : used + 1 + wordWidth
    line = line === '' ? word : `${line} ${word}`
    if (used <= width) continue
    const pieces = breakWord(line, width)
    line = pieces.pop() ?? ''
    used = displayWidth(line)
    for (const piece of pieces) lines.push(piece)
  }
  return [...lines, line]
}

/** Pieces of at most `width` columns; a grapheme that is wider has one of its own. */
function breakWord(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const grapheme of measuredGraphemes(word)) {
    if (piece !== '' && used + grapheme.width > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += grapheme.segment
    used += grapheme.width
  }
  return [...pieces, piece]
}

/** Longer lines are hard to read, also on a wide terminal. */
const MAX_PARAGRAPH_COLUMNS = 100

/** Width of running text that is indented by `indent` columns. */
export function paragraphWidth(columns: number | null, indent: number): number {
  return Math.max(Math.min(columns ?? MAX_PARAGRAPH_COLUMNS, MAX_PARAGRAPH_COLUMNS) - indent, 1)
}

/** Sanitised, wrapped lines of a text that may have several; empty lines are left out. */
export function paragraphLines(text: string, width: number): string[] {
  return text
    .split(/\r\n|[\r\n]/)
    .map((line) => terminalSafe(line).trimEnd())
    .filter((line) => line.trim() !== '')
    .flatMap((line) => wrapText(line, width))
}

/** The same as a quotation: no line of it can pass for one of ours. */
export function quoteBlock(text: string, width: number): string[] {
  return paragraphLines(withoutCurlyQuotes(inertText(text)), Math.max(width - QUOTE_MARK.length, 1)).map(
    (line) => QUOTE_MARK + line,
  )
}
const QUOTE_MARK = '> '

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text
}
