/**
 * Stored text inside Markdown. It came from programs, web pages and models: it must not become a heading, end a list,
 * open a code block that swallows the rest, run as HTML or load a picture from somewhere.
 */
import { wellFormed } from '../memory/bound.ts'

/** Controls but tab and line end, line separators, and the marks that reverse what is written after them. */
const UNSAFE = /(?![\t\n])[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** What begins a block: heading, quote, list, table, rule, fence. */
const BLOCK_START = /^(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=|-{2,}|\*{3,}|_{3,}|~{3,}|\||:-)/
const NUMBER_START = /^(\d{1,9})([.)])(?=\s|$)/
const FENCE_START = /^`{3,}/

/** Lines of one paragraph or several; none where it says nothing. */
export function textLines(text: string): string[] {
  const paragraphs = safe(text).split(/\n\s*\n/)
  return paragraphs
    .map((paragraph) => paragraphText(paragraph.split('\n')))
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')
    .split('\n')
    .filter((line, _, all) => line !== '' || all.length > 1)
}

/** One line, as a heading or a list item holds it. */
export function oneLine(text: string): string {
  return paragraphText([safe(text).replace(/\s+/g, ' ')])
}

/** A name or a path, exactly as it is. */
export function code(text: string): string {
  const plain = safe(text).replace(/\s+/g, ' ').trim()
  const longest = Math.max(0, ...(plain.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${plain}${pad}${fence}`
}

function safe(text: string): string {
  return wellFormed(text)
    .replace(/\r\n?/g, '\n')
    .replace(UNSAFE, (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}

/** Code spans are left as they are, unless there is any doubt about where one begins and ends. */
function paragraphText(given: readonly string[]): string {
  const lines = given.map((line) => escapeBlock(line.trim())).filter((line) => line !== '')
  const parts = lines.map(splitAtCode)
  return lines
    .map((line, i) => {
      if (parts.includes(null) || line.includes('\\`')) return escapeProse(line)
      return (parts[i] ?? []).map((part, at) => (at % 2 === 0 ? escapeProse(part) : part)).join('')
    })
    .join('\n')
}

function escapeBlock(line: string): string {
  if (FENCE_START.test(line)) return line.replace(FENCE_START, (fence) => '&#96;'.repeat(fence.length))
  if (BLOCK_START.test(line)) return `\\${line}`
  return line.replace(NUMBER_START, '$1\\$2')
}

/** Nobody writes so many in a line; a text that is meant to take long has them. */
const MAX_RUNS = 1_000

/** Prose and code by turns; null where something that begins does not end in its line. */
function splitAtCode(line: string): string[] | null {
  const runs = [...line.matchAll(/`+/g)]
  if (runs.length > MAX_RUNS) return null
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < runs.length; at += 1) {
    const open = runs[at]
    const end = runs.findIndex((run, i) => i > at && run[0].length === open?.[0].length)
    const close = runs[end]
    if (open === undefined || close === undefined) return null
    const after = close.index + close[0].length
    parts.push(line.slice(from, open.index), line.slice(open.index, after))
    from = after
    at = end
  }
  return [...parts, line.slice(from)]
}

/** Links, pictures, HTML and entities. Emphasis stays: it acts on nothing but its own paragraph. */
function escapeProse(text: string): string {
  return text.replace(/[<[\]]|&(?!#96;)(?=#?\w+;)/g, '\\$&')
}
