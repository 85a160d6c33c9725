/** Words from tool events, made fit for a note: clean, one line, short. */
import { stripVTControlCharacters } from 'node:util'

/** Without terminals' escape sequences, and without what else is not text. */
export function clean(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, '')
}

export function oneLine(text: string, most: number): string {
  return cut(clean(text).replace(/\s+/g, ' ').trim(), most)
}

/** At the end of a word where there is one near, with an ellipsis. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  const space = head.lastIndexOf(' ')
  return `${(space > most * 0.7 ? head.slice(0, space) : head).replace(/[\s,;:.–-]+$/, '')}…`
}

/** A path as people say it: below the project, else its last parts. */
export function shortPath(file: string, cwd: string): string {
  const path = file.replaceAll('\\', '/')
  const base = cwd.replaceAll('\\', '/').replace(/\/+$/, '')
  if (base !== '' && path.startsWith(`${base}/`)) return path.slice(base.length + 1)
  const parts = path.split('/').filter((part) => part !== '')
  return path.startsWith('/') && parts.length > 3 ? parts.slice(-3).join('/') : path
}

export function baseName(file: string): string {
  return file.replace(/.*[\\/]/, '')
}

export function isTestFile(file: string): boolean {
  return /(?:^|[/._-])(?:tests?|specs?|__tests__)(?:[/._-]|$)/i.test(file) || /[a-z\d]Tests?\.\w+$/.test(file)
}

/** `a, b and c`, and how many more there are. */
export function listed(items: readonly string[], most = 4): string {
  const shown = items.slice(0, most)
  const more = items.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  if (shown.length < 2) return shown.join('')
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

export function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** Markdown's marks say nothing in a note. */
export function withoutMarkdown(text: string): string {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/^\s{0,3}#{1,6}\s+/gm, '')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .replace(/(?<![\w*])\*([^*\n]+)\*(?![\w*])/g, '$1')
    .replace(/\[([^\]\n]+)\]\([^)\n]+\)/g, '$1')
}

const MAX_SENTENCE_CHARS = 400
/** Above it nobody reads on; the beginning and the end say most. */
const MAX_TEXT_CHARS = 20_000

/** Sentences and list items of a text, in order. */
export function sentencesOf(text: string): string[] {
  const bounded =
    text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS / 2)}\n${text.slice(-MAX_TEXT_CHARS / 2)}`
  return withoutMarkdown(clean(bounded))
    .split(/\n+/)
    .flatMap((line) =>
      line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '').split(/(?<=[.!?。！？])\s+(?=[\p{Lu}\p{Lo}`"'(\d])/u),
    )
    .map((sentence) => cut(sentence.replace(/\s+/g, ' ').trim(), MAX_SENTENCE_CHARS))
    .filter((sentence) => /\p{L}{2}/u.test(sentence))
}
