/** What a field says, from what stands between its tags. */
import { wellFormed } from '../../../memory/bound.ts'
import { clean } from '../../offline/text.ts'

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }
const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos|nbsp));/gi

/** Once, not twice: `&amp;lt;` is the text `&lt;`. What is no entity stays as it is. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, hex: string | undefined, decimal: string | undefined, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
    const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : whole
  })
}

const CDATA = '<![CDATA['
const CDATA_END = ']]>'

/** Entities outside CDATA sections are decoded, what is inside stays; a section without its end goes on to the end. */
function unwrap(raw: string): string {
  let result = ''
  let at = 0
  for (let open = raw.indexOf(CDATA); open >= 0; open = raw.indexOf(CDATA, at)) {
    const end = raw.indexOf(CDATA_END, open)
    result += decodeEntities(raw.slice(at, open)) + raw.slice(open + CDATA.length, end < 0 ? raw.length : end)
    at = end < 0 ? raw.length : end + CDATA_END.length
  }
  return result + decodeEntities(raw.slice(at))
}

/** The longest entity stands for one character: more than this of a raw text is cut off anyway. */
const RAW_CHARS_PER_CHAR = 10

/** As it was meant: decoded and clean. At least the first `most` characters, where there are as many. */
export function plainText(raw: string, most: number): string {
  return tidy(unwrap(raw.slice(0, (most + 1) * RAW_CHARS_PER_CHAR)))
}

/** Without control characters and halves of characters, trimmed. */
export function tidy(text: string): string {
  return wellFormed(clean(text.replace(/\r\n?/g, '\n'))).trim()
}

/** On one line, '' for a placeholder. */
export function inLine(text: string, most: number): string {
  const words = text.replace(/\s+/g, ' ').trim()
  return isPlaceholder(words) ? '' : bounded(words, most)
}

export function bounded(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** What models write where they have nothing to say, or where an example left room. */
const PLACEHOLDERS = new Set(
  ['', 'none', 'n/a', 'na', 'nil', 'null', 'undefined', 'nothing', 'not applicable', 'tbd', '{}', '[]', '?'].concat([
    '…',
    '...',
    '-',
    '--',
    '–',
    '—',
  ]),
)
const LONGEST_PLACEHOLDER = 24

export function isPlaceholder(text: string): boolean {
  if (text.length > LONGEST_PLACEHOLDER) return false
  const word = text.toLowerCase()
  if (PLACEHOLDERS.has(word)) return true
  const inner = /^[([{<](.*)[)\]}>]$/s.exec(word)?.[1] ?? word
  return PLACEHOLDERS.has(inner.replace(/\.$/, '').trim())
}

const WRAPPED = /^(["'`])(.*)\1$/s

/** Without the quotes or backticks around the whole. */
export function unquoted(text: string): string {
  let inner = text
  for (let match = WRAPPED.exec(inner); match !== null; match = WRAPPED.exec(inner)) inner = (match[2] ?? '').trim()
  return inner
}
