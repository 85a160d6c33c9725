/** What an editing tool did to a file, and the lines of the edit that say most about it. */
import type { ToolUseEvent } from '../../domain/event.ts'
import { asFields, type JsonFields, numberField, splitTextLines, stringField } from './json-fields.ts'
import { describeChange } from './languages/index.ts'
import { clipAtWord, shortPath, stripControlCharacters } from './text.ts'
import type { CodeChange, FileEdit, Hunk } from './types.ts'

export interface EditAction {
  kind: 'edit'
  change: CodeChange
  significant: SignificantLine[]
}

export interface SignificantLine {
  text: string
  weight: number
}

/** The hunks of an edit. `created`: the text of a new file, null where the file was known. */
export interface EditHunks {
  file: string
  hunks: Hunk[]
  created: string | null
}

export function readEditHunks(event: ToolUseEvent, input: JsonFields): EditHunks {
  const response = asFields(event.response)
  const path =
    stringField(response, 'filePath') || stringField(input, 'file_path') || stringField(input, 'notebook_path')
  const file = shortPath(path, event.cwd)
  if ('new_source' in input) return { file, hunks: [wholeFileHunk(stringField(input, 'new_source'))], created: null }
  const patch = readStructuredPatch(response.structuredPatch)
  const hunks = patch.length > 0 ? patch : hunksFromReplacements(input)
  const content = 'content' in input ? stringField(input, 'content') : null
  const { originalFile } = response
  if (hunks.length === 0 && content !== null && typeof originalFile === 'string')
    return { file, hunks: [differingLines(originalFile, content)], created: null }
  return { file, hunks, created: hunks.length === 0 ? content : null }
}

/** For clients that send both texts and no patch: the lines that only one of them has, in linear time. */
function differingLines(before: string, after: string): Hunk {
  const [old, now] = [splitTextLines(before), splitTextLines(after)]
  const [known, kept] = [new Set(old), new Set(now)]
  const removed = old.filter((line) => !kept.has(line)).map((line) => `-${line}`)
  const added = now.filter((line) => !known.has(line)).map((line) => `+${line}`)
  return { oldStart: 1, newStart: 1, lines: [...removed, ...added] }
}

export function readFileEdit(event: ToolUseEvent, input: JsonFields): EditAction {
  const response = asFields(event.response)
  const file = shortPath(stringField(response, 'filePath') || stringField(input, 'file_path'), event.cwd)
  const content = 'content' in input ? stringField(input, 'content') : undefined
  const original = response.originalFile
  const isNew = content !== undefined && (response.type === 'create' || original === null)
  const before = typeof original === 'string' ? original : isNew ? null : undefined
  const patch = readStructuredPatch(response.structuredPatch)
  const hunks = patch.length > 0 ? patch : hunksFromReplacements(input)
  const edit: FileEdit = { file, before, after: content ?? textAfterEdit(before, input), hunks }
  const shown = hunks.length === 0 && content !== undefined ? [wholeFileHunk(content)] : hunks
  return { kind: 'edit', change: describeChange(edit), significant: significantLines(shown) }
}

/** A cell of a notebook is read as Python. */
export function readNotebookEdit(event: ToolUseEvent, input: JsonFields): EditAction {
  const hunk = wholeFileHunk(stringField(input, 'new_source'))
  const file = shortPath(stringField(input, 'notebook_path'), event.cwd)
  const change = describeChange({ file: `${file}.py`, before: undefined, after: undefined, hunks: [hunk] })
  return { kind: 'edit', change: { ...change, file }, significant: significantLines([hunk]) }
}

/** Undefined where the text before the edit is not known. */
function textAfterEdit(before: string | null | undefined, input: JsonFields): string | undefined {
  if (typeof before !== 'string') return undefined
  let text = before
  for (const { from, to, all } of replacementsOf(input)) {
    if (from === '') return undefined
    text = all ? text.replaceAll(from, () => to) : text.replace(from, () => to)
  }
  return text
}

/** For clients that send no patch. */
function hunksFromReplacements(input: JsonFields): Hunk[] {
  return replacementsOf(input).map(({ from, to }) => ({
    oldStart: 1,
    newStart: 1,
    lines: [...splitTextLines(from).map((line) => `-${line}`), ...splitTextLines(to).map((line) => `+${line}`)],
  }))
}

function replacementsOf(input: JsonFields): { from: string; to: string; all: boolean }[] {
  const edits = Array.isArray(input.edits) ? input.edits.map(asFields) : 'old_string' in input ? [input] : []
  return edits.map((edit) => ({
    from: stringField(edit, 'old_string'),
    to: stringField(edit, 'new_string'),
    all: edit.replace_all === true,
  }))
}

function wholeFileHunk(content: string): Hunk {
  return { oldStart: 1, newStart: 1, lines: splitTextLines(content).map((line) => `+${line}`) }
}

function readStructuredPatch(patch: unknown): Hunk[] {
  if (!Array.isArray(patch)) return []
  return patch.map(asFields).flatMap((hunk) => {
    const lines = Array.isArray(hunk.lines) ? hunk.lines.filter((line): line is string => typeof line === 'string') : []
    if (lines.length === 0) return []
    return [{ oldStart: numberField(hunk, 'oldStart'), newStart: numberField(hunk, 'newStart'), lines }]
  })
}

const MAX_LINE_CHARS = 72
/** An edit of so few lines is shown as before and after. */
const SMALL_EDIT_LINES = 3
/** Lines of a patch that are read: the first ones show what it is about. */
const MAX_LINES = 400
/** Longer lines are data. */
const MAX_RAW_LINE_CHARS = 2_000
const MIN_WEIGHT = 3

const COMMENT = /^(?:\/\/+|#+(?!!|include|define|if|endif)|--|\*+(?!\/)|\/\*+|;+|"""|''')\s*(.*?)\s*(?:\*\/|"""|''')?$/
const ROUTINE =
  /^(?:import\b|from\s+\S+\s+import\b|using\b|use\s|package\b|#include|export \*|[{}()[\];,]*$|return;?$|end;?$|else\b.{0,3}$|try\b.{0,3}$|@Override|pass$)/
const OUTCOME =
  /\b(?:throw|raise|panic|abort|reject|status|code|error|timeout|limit|max|min|default|retry|retries|lock|mutex|atomic|cache|encoding|charset|port|host|url|version|key|index|flag)\b/i
const LITERAL = /(["'`])(?:(?!\1).){2,60}\1|\b\d+(?:\.\d+)?(?:ms|s|m|h|kb|mb|px|%)?\b/i

/** Replaced lines, comments that explain, and lines with an outcome or a literal, by weight. */
export function significantLines(hunks: readonly Hunk[]): SignificantLine[] {
  const lines = hunks.flatMap((hunk) => hunk.lines).slice(0, MAX_LINES)
  const added = codeLines(lines, '+')
  const removed = codeLines(lines, '-')
  const isSmall = added.length > 0 && added.length <= SMALL_EDIT_LINES && removed.length <= SMALL_EDIT_LINES
  const replaced = isSmall ? replacedLines(removed, added) : []
  const known = new Set([...removed, ...replaced.map(({ line }) => line)])
  const single = added.filter((line) => !known.has(line)).flatMap((line) => weighLine(line, isSmall))
  return [...replaced.map(({ text, weight }) => ({ text, weight })), ...single].sort((a, b) => b.weight - a.weight)
}

function codeLines(lines: readonly string[], sign: '+' | '-'): string[] {
  return lines
    .filter((line) => line.startsWith(sign) && line.length < MAX_RAW_LINE_CHARS)
    .map((line) => stripControlCharacters(line.slice(1)).trim())
    .filter((line) => line !== '' && !ROUTINE.test(line))
}

function weighLine(line: string, isSmallEdit: boolean): SignificantLine[] {
  const comment = COMMENT.exec(line)?.[1]
  if (comment !== undefined) {
    return comment.split(' ').length >= 4 ? [{ text: clipAtWord(comment, MAX_LINE_CHARS), weight: 5 }] : []
  }
  const weight = (isSmallEdit ? 3 : 0) + (OUTCOME.test(line) ? 2 : 0) + (LITERAL.test(line) ? 2 : 0)
  return weight >= MIN_WEIGHT ? [{ text: `\`${clipAtWord(line, MAX_LINE_CHARS)}\``, weight }] : []
}

/** Added lines that replace a similar removed one. */
function replacedLines(removed: readonly string[], added: readonly string[]): (SignificantLine & { line: string })[] {
  const candidates = [...removed]
  return added.flatMap((line) => {
    const old = candidates.find((candidate) => shareMostWords(candidate, line))
    if (old === undefined || COMMENT.test(line)) return []
    candidates.splice(candidates.indexOf(old), 1)
    const [from, to] = aroundDifference(old, line).map((part) => clipAtWord(part, MAX_LINE_CHARS))
    return [{ line, text: `\`${from}\` → \`${to}\``, weight: 7 }]
  })
}

function shareMostWords(a: string, b: string): boolean {
  const words = new Set(a.match(/\w+/g) ?? [])
  const others = b.match(/\w+/g) ?? []
  const shared = others.filter((word) => words.has(word)).length
  return shared > 0 && shared * 2 >= Math.min(words.size, others.length)
}

/** Long lines are cut around the first difference. */
function aroundDifference(a: string, b: string): [string, string] {
  if (a.length <= MAX_LINE_CHARS && b.length <= MAX_LINE_CHARS) return [a, b]
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const from = Math.max(0, start - 30)
  return [a.slice(from), b.slice(from)]
}
