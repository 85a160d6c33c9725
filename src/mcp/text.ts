/** Stored text on its way to a model: clean, bounded, and cheap to read. */
import { plain, shorten } from '../context/text.ts'
import { cutText } from '../memory/bound.ts'

/** One line of at most `max` characters. */
export function words(text: string | null, max: number): string {
  return shorten(plain(text ?? ''), max)
}

/** As `words`, with its paragraphs; the middle goes where it is too long. */
export function prose(text: string | null, max: number): string {
  const kept = cutText(text ?? '', max)
  return kept
    .split(/\r\n|\r|\n/)
    .flatMap(pieces)
    .map(plain)
    .filter((line) => line !== '')
    .join('\n')
}

/** `plain` reads no more of a line than this. */
const PIECE_CHARS = 2_000

function pieces(line: string): string[] {
  const parts: string[] = []
  for (let rest = line; rest !== ''; ) {
    const space = rest.length > PIECE_CHARS ? rest.lastIndexOf(' ', PIECE_CHARS) : -1
    const end = space > 0 ? space : PIECE_CHARS
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return parts
}

/** The first `most` of a list; a last line says how many are missing. Undefined where there is nothing to say. */
export function few(list: readonly string[], most: number, chars: number): string[] | undefined {
  const shown = list.map((text) => words(text, chars)).filter((text) => text !== '')
  if (shown.length === 0) return undefined
  return shown.length <= most ? shown : [...shown.slice(0, most), `… ${shown.length - most} more`]
}

/** `2026-11-16 14:30`, in the user's zone. */
export function when(at: number): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return 'unknown'
  const two = (n: number) => String(n).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SESSION_CHARS = 80

/** The first characters of an id are enough to ask for it, and cost a quarter. */
export function shortSession(id: string): string {
  return UUID.test(id) ? id.slice(0, 8) : words(id, SESSION_CHARS)
}

/** `~1,250 tokens` */
export function cost(tokens: number): string {
  return `~${count(tokens)} token${tokens === 1 ? '' : 's'}`
}

/** Not by the locale: what a model reads is the same everywhere. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0)
}

/** JSON has no place for what is not there. */
export function unlessEmpty<T>(list: readonly T[]): T[] | undefined {
  return list.length === 0 ? undefined : [...list]
}
