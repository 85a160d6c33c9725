/**
 * Stored text made safe to display. It comes from programs and web pages: control and bidirectional characters are
 * escaped and long text is truncated. Preact renders it as text, never as HTML.
 */

/** C0 except tab and line feed, DEL, C1, line separators, bidirectional marks, BOM. */
const UNSAFE = /(?![\t\n])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu
const LONE_SURROGATE = /\p{Cs}/gu

/** Longer text makes the layout of the page slow, in characters. */
export const DISPLAY_TEXT_CHARS = 20_000
/** One line, in characters. */
const DISPLAY_LINE_CHARS = 300

/** Keeps line breaks. */
export function safeText(text: string, maxChars = DISPLAY_TEXT_CHARS): string {
  return truncate(text, maxChars)
    .replace(/\r\n/g, '\n')
    .replace(UNSAFE, escapeCharacter)
    .replace(LONE_SURROGATE, '\ufffd')
}

/** Collapses whitespace to one line. */
export function safeLine(text: string, maxChars = DISPLAY_LINE_CHARS): string {
  // Truncated first, so that the expressions do not run over a megabyte.
  return safeText(
    truncate(text, maxChars * 2)
      .replace(/\s+/g, ' ')
      .trim(),
    maxChars,
  )
}

const MARKS = /`+|\*{2,3}|(?<!\w)__|__(?!\w)|~~|^(?:#{1,6}|>|[-*+]|\d{1,2}[.)])\s+/g
const LINKS = /!?\[([^[\]]{0,300})\]\([^()\s]{0,500}\)/g

/** A title on one line, without the marks of Markdown. */
export function titleText(text: string | null, maxChars = DISPLAY_LINE_CHARS): string {
  return (
    safeLine(text ?? '', maxChars)
      .replace(LINKS, '$1')
      .replace(MARKS, '') || '(no title)'
  )
}

/** `batching.calling` becomes `batching, calling`. */
export function stateLabel(state: string): string {
  return safeLine(state).replaceAll('.', ', ')
}

/** `\x1b`, as in the terminal: not every font has glyphs for control characters. */
function escapeCharacter(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
}

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars
  return `${text.slice(0, end)}…`
}

interface TextPiece {
  text: string
  marked: boolean
}

/** Splits a text so that words that equal or start with one of `words` can be highlighted. */
export function highlightPieces(text: string, words: readonly string[]): TextPiece[] {
  const patterns = words.filter((word) => word.trim() !== '').map(escapeRegExp)
  if (patterns.length === 0) return [{ text, marked: false }]
  // Languages without spaces have no word boundaries: there a match may start anywhere.
  // The group makes `split` return the matches too, at odd positions.
  const pattern = new RegExp(`((?:(?<![\\p{L}\\p{N}])|(?=[^\\p{ASCII}]))(?:${patterns.join('|')})\\w*)`, 'giu')
  return text
    .split(pattern)
    .map((piece, i) => ({ text: piece, marked: i % 2 === 1 }))
    .filter((piece) => piece.text !== '')
}

/** Characters before the first matching word that are kept: enough to understand it, few enough to have it in a short line. */
const LEAD_CHARS = 40
/** A passage has up to 600 characters. */
const EXCERPT_CHARS = 700

/** One line that starts shortly before the first word that is highlighted, so that this word is visible. */
export function excerptAround(text: string, words: readonly string[]): string {
  const line = safeLine(text, EXCERPT_CHARS)
  const pieces = highlightPieces(line, words)
  const first = pieces.findIndex(({ marked }) => marked)
  const before = pieces.slice(0, Math.max(0, first)).reduce((chars, piece) => chars + piece.text.length, 0)
  if (before <= LEAD_CHARS) return line
  const space = line.lastIndexOf(' ', before - LEAD_CHARS)
  return space === -1 ? line : `…${line.slice(space + 1)}`
}

function escapeRegExp(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\${sign}`)
}
