/** Text for observations: clean, on one line, short. */

import { stripVTControlCharacters } from 'node:util'

import { quotedName } from '../../domain/reported-speech.ts'
import { sentencesOfLine } from '../../domain/sentences.ts'
import { isWindowsPath, pathBelow } from '../../lib/paths.ts'
import { trimEndMatching } from '../../lib/trim.ts'

/** Without escape sequences of terminals; line feeds and tabs are kept. */
export function stripControlCharacters(text: string): string {
  return stripVTControlCharacters(text).replace(/(?![\n\t])\p{Cc}/gu, '')
}

export function singleLine(text: string, most: number): string {
  return clipAtWord(stripControlCharacters(text).replace(/\s+/g, ' ').trim(), most)
}

/** Cut at the end of a word where there is one near, with an ellipsis. */
export function clipAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most - 1)
  const space = head.lastIndexOf(' ')
  return `${trimEndMatching(space > most * 0.7 ? head.slice(0, space) : head, /[\s,;:.–-]/)}…`
}

/** Relative to the project; outside of it only the last three parts. */
export function shortPath(file: string, cwd: string): string {
  const below = pathBelow(cwd, file)
  if (below !== null) return below
  const path = file.replaceAll('\\', '/')
  const parts = path.split('/').filter((part) => part !== '')
  return (path.startsWith('/') || isWindowsPath(file)) && parts.length > 3 ? parts.slice(-3).join('/') : path
}

/**
 * Whether a path belongs to a project with these directories. A worktree beside the project has a name that begins with
 * the project's; other paths outside are scratch files, settings of the user, or other projects.
 */
export function isInProject(file: string, directories: readonly string[]): boolean {
  const path = file.replaceAll('\\', '/')
  if (!/^(?:\/|~|[A-Za-z]:\/)/.test(path)) return !path.startsWith('../../')
  return directories.some((directory) => {
    const base = trimEndMatching(directory.replaceAll('\\', '/'), /\//)
    if (base === '' || !path.startsWith(base)) return false
    return /^[/_.-]/.test(path.slice(base.length))
  })
}

export function fileName(file: string): string {
  return file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
}

/** For a text: a name with blanks in it, which could be read as a sentence, in quotation marks. */
export function shownFile(file: string): string {
  return quotedName(fileName(file))
}

export function isTestFile(file: string): boolean {
  return /(?:^|[/._-])(?:tests?|specs?|__tests__)(?:[/._-]|$)/i.test(file) || /[a-z\d]Tests?\.\w+$/.test(file)
}

/** `a, b and c`, and how many more there are. */
export function joinList(items: readonly string[], most = 4): string {
  const shown = items.slice(0, most)
  const more = items.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  if (shown.length < 2) return shown.join('')
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** `a, b, c`, or `a, b and 4 more`. */
export function joinNames(names: readonly string[], most: number): string {
  return names.length <= most ? names.join(', ') : joinList(names, most)
}

/** The words of a table in a text, separated by blanks or line feeds. */
export function wordList(text: string): string[] {
  return text.trim().split(/\s+/)
}

export function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)]
}

function stripMarkdown(text: string): string {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, ' ')
    .replace(/^\s{0,3}#{1,6}\s+/gm, '')
    .replace(/\*\*([^*\n]+)\*\*/g, '$1')
    .replace(/(?<![\w*])\*([^*\n]+)\*(?![\w*])/g, '$1')
    .replace(/\[([^[\]\n]+)\]\([^()\n]+\)/g, '$1')
}

const MAX_SENTENCE_CHARS = 400
/** The beginning and the end of a longer text are the most informative. */
const MAX_TEXT_CHARS = 20_000

/** Sentences and list items of a text, in order. */
export function splitSentences(text: string): string[] {
  return stripMarkdown(stripControlCharacters(firstAndLast(text, MAX_TEXT_CHARS)))
    .split(/\n+/)
    .flatMap((line) => sentencesOfLine(line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '')))
    .map((sentence) => clipAtWord(sentence, MAX_SENTENCE_CHARS))
}

/** A longer text without its middle. */
export function firstAndLast(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars / 2)}\n${text.slice(-maxChars / 2)}`
}

/** A line of this length that ends in the middle of a sentence goes on in the next one. */
const WRAPPED_CHARS = 50
/** Begins a list item, a heading, a table, a quotation or a code block. */
const BLOCK_LINE = /^\s*(?:[-*•+–>#|]|\d{1,3}[.)]\s|`{3}|~{3}|$)|^\s*\p{Extended_Pictographic}/u

/** Lines of a paragraph that was wrapped at a column are one line. */
export function joinWrappedLines(lines: readonly string[]): string[] {
  const joined: string[] = []
  let last = ''
  for (const line of lines) {
    const isEnd = last.trimEnd().length < WRAPPED_CHARS || /[.!?:;。！？|*]\s*$/.test(last)
    if (isEnd || BLOCK_LINE.test(line) || /^\s*[#|]/.test(last)) joined.push(line)
    else joined[joined.length - 1] = `${joined.at(-1) ?? ''} ${line.trim()}`
    last = line
  }
  return joined
}

const REASON = /\b(?:because|since|so that|due to|in order to|otherwise|to avoid|as (?:it|this|the|we)\b|the reason)\b/i

/** The part of a sentence that gives a reason: from "because" on. */
export function statedReason(sentence: string): string | null {
  const match = REASON.exec(sentence)
  return match === null ? null : trimEndMatching(sentence.slice(match.index), /[.!]/)
}
