/**
 * Stored text as the page shows it. It came from programs and web pages: what would hide, reverse or act is shown as a
 * sign, and nothing is longer than somebody would read. Preact makes text of it; nobody makes HTML of it.
 */

/** C0 but for tab and line feed, DEL, C1, line separators, the marks that reverse what is written after them, BOM. */
const UNSAFE = /(?![\t\n])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu
const LONE_SURROGATE = /\p{Cs}/gu

/** Nobody reads further in one piece, and a browser lays out less quickly, in characters. */
export const LONGEST_TEXT = 20_000
/** A title is one line. */
export const LONGEST_LINE = 300

/** Text of several lines. */
export function safe(text: string, longest = LONGEST_TEXT): string {
  return cut(text, longest).replace(/\r\n/g, '\n').replace(UNSAFE, shown).replace(LONE_SURROGATE, '\ufffd')
}

/** The same on one line. */
export function safeLine(text: string, longest = LONGEST_LINE): string {
  // Cut first: of a megabyte only the beginning has to be looked through.
  return safe(
    cut(text, longest * 2)
      .replace(/\s+/g, ' ')
      .trim(),
    longest,
  )
}

/** A state, `batching.calling`, as people read it. */
export function inWords(state: string): string {
  return safeLine(state).replaceAll('.', ', ')
}

/** By its number, as in the terminal: not every font has pictures of these. */
function shown(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(longest - 1)) ? longest - 1 : longest
  return `${text.slice(0, end)}…`
}

export interface Piece {
  text: string
  marked: boolean
}

/** The text in pieces, so that words can be marked that are one of these or begin with one. */
export function markedPieces(text: string, words: readonly string[]): Piece[] {
  const wanted = words.filter((word) => word.trim() !== '').map(escaped)
  if (wanted.length === 0) return [{ text, marked: false }]
  // A language without spaces has no beginnings of words.
  const pattern = new RegExp(`(?:(?<![\\p{L}\\p{N}])|(?=[^\\p{ASCII}]))(?:${wanted.join('|')})\\w*`, 'giu')
  const pieces: Piece[] = []
  let at = 0
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (index > at) pieces.push({ text: text.slice(at, index), marked: false })
    pieces.push({ text: found, marked: true })
    at = index + found.length
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at), marked: false })
  return pieces
}

function escaped(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\${sign}`)
}
