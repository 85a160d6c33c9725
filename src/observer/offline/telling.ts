/** The lines of an edit that say most: the mended line itself, a comment that says why, a literal that matters. */
import { clean, cut } from './text.ts'
import type { Hunk } from './types.ts'

const MAX_LINE_CHARS = 72
/** An edit of so few lines is told by itself: before and after. */
const SMALL_EDIT_LINES = 3
/** A patch is looked at this far; its first lines tell what it is about. */
const MAX_LINES = 400

export interface Telling {
  text: string
  weight: number
}

const COMMENT = /^(?:\/\/+|#+(?!!|include|define|if|endif)|--|\*+(?!\/)|\/\*+|;+|"""|''')\s*(.*?)\s*(?:\*\/|"""|''')?$/
const ROUTINE =
  /^(?:import\b|from\s+\S+\s+import\b|using\b|use\s|package\b|#include|export \*|[{}()[\];,]*$|return;?$|end;?$|else\b.{0,3}$|try\b.{0,3}$|@Override|pass$)/
const OUTCOME =
  /\b(?:throw|raise|panic|abort|reject|status|code|error|timeout|limit|max|min|default|retry|retries|lock|mutex|atomic|cache|encoding|charset|port|host|url|version|key|index|flag)\b/i
const LITERAL = /(["'`])(?:(?!\1).){2,60}\1|\b\d+(?:\.\d+)?(?:ms|s|m|h|kb|mb|px|%)?\b/i

export function tellingLines(hunks: readonly Hunk[]): Telling[] {
  const lines = hunks.flatMap((hunk) => hunk.lines).slice(0, MAX_LINES)
  const added = codeIn(lines, '+')
  const removed = codeIn(lines, '-')
  const small = added.length > 0 && added.length <= SMALL_EDIT_LINES && removed.length <= SMALL_EDIT_LINES
  const replaced = small ? pairs(removed, added) : []
  const told = new Set(replaced.map(({ line }) => line))
  const known = new Set(removed)
  const single = added.filter((line) => !told.has(line) && !known.has(line)).flatMap((line) => weighed(line, small))
  return [...replaced.map(({ text, weight }) => ({ text, weight })), ...single].sort((a, b) => b.weight - a.weight)
}

function codeIn(lines: readonly string[], sign: '+' | '-'): string[] {
  return lines
    .filter((line) => line.startsWith(sign) && line.length < 2_000)
    .map((line) => clean(line.slice(1)).trim())
    .filter((line) => line !== '' && !ROUTINE.test(line))
}

function weighed(line: string, small: boolean): Telling[] {
  const comment = COMMENT.exec(line)?.[1]
  if (comment !== undefined) {
    return comment.split(' ').length >= 4 ? [{ text: cut(comment, MAX_LINE_CHARS), weight: 5 }] : []
  }
  const weight = (small ? 3 : 0) + (OUTCOME.test(line) ? 2 : 0) + (LITERAL.test(line) ? 2 : 0)
  return weight >= 3 ? [{ text: `\`${cut(line, MAX_LINE_CHARS)}\``, weight }] : []
}

/** Lines that stand in for each other, told as one: what was, what is. */
function pairs(removed: readonly string[], added: readonly string[]): (Telling & { line: string })[] {
  const left = [...removed]
  return added.flatMap((line) => {
    const old = left.find((candidate) => alike(candidate, line))
    if (old === undefined || COMMENT.test(line)) return []
    left.splice(left.indexOf(old), 1)
    const [from, to] = differing(old, line)
    return [{ line, text: `\`${cut(from, MAX_LINE_CHARS)}\` → \`${cut(to, MAX_LINE_CHARS)}\``, weight: 7 }]
  })
}

function alike(a: string, b: string): boolean {
  const words = new Set(a.match(/\w+/g) ?? [])
  const others = b.match(/\w+/g) ?? []
  const shared = others.filter((word) => words.has(word)).length
  return shared > 0 && shared * 2 >= Math.min(words.size, others.length)
}

/** Long lines are cut around the place where they differ. */
function differing(a: string, b: string): [string, string] {
  if (a.length <= MAX_LINE_CHARS && b.length <= MAX_LINE_CHARS) return [a, b]
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const from = Math.max(0, start - 30)
  return [a.slice(from), b.slice(from)]
}
