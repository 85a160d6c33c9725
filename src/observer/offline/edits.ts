/** What an editing tool did to a file. */
import type { ToolUseEvent } from '../../memory/event.ts'
import { type Fields, linesOf, numberIn, recordOf, textIn } from './fields.ts'
import { describeChange } from './languages/index.ts'
import { type Telling, tellingLines } from './telling.ts'
import { shortPath } from './text.ts'
import type { CodeChange, FileEdit, Hunk } from './types.ts'

export interface Edited {
  do: 'edit'
  change: CodeChange
  telling: Telling[]
}

export function edited(event: ToolUseEvent, input: Fields): Edited {
  const response = recordOf(event.response)
  const file = shortPath(textIn(response, 'filePath') || textIn(input, 'file_path'), event.cwd)
  const hunks = hunksOf(response.structuredPatch)
  const content = 'content' in input ? textIn(input, 'content') : undefined
  const original = response.originalFile
  const before = typeof original === 'string' ? original : isNew(response, content, original) ? null : undefined
  const after = content ?? applied(before, input)
  const edit: FileEdit = { file, before, after, hunks: hunks.length > 0 ? hunks : replacedHunks(input) }
  const whole = edit.hunks.length === 0 && content !== undefined ? [wholeFile(content)] : edit.hunks
  return { do: 'edit', change: describeChange(edit), telling: tellingLines(whole) }
}

function isNew(response: Fields, content: string | undefined, original: unknown): boolean {
  return content !== undefined && (response.type === 'create' || original === null)
}

/** The text after the edit, where the text before is known. */
function applied(before: string | null | undefined, input: Fields): string | undefined {
  if (typeof before !== 'string') return undefined
  let text = before
  for (const { from, to, all } of replacementsIn(input)) {
    if (from === '') return undefined
    text = all ? text.replaceAll(from, () => to) : text.replace(from, () => to)
  }
  return text
}

/** A client that sends no patch still says what was replaced by what. */
function replacedHunks(input: Fields): Hunk[] {
  return replacementsIn(input).map(({ from, to }) => ({
    oldStart: 1,
    newStart: 1,
    lines: [...linesOf(from).map((line) => `-${line}`), ...linesOf(to).map((line) => `+${line}`)],
  }))
}

function replacementsIn(input: Fields): { from: string; to: string; all: boolean }[] {
  const edits = Array.isArray(input.edits) ? input.edits.map(recordOf) : 'old_string' in input ? [input] : []
  return edits.map((edit) => ({
    from: textIn(edit, 'old_string'),
    to: textIn(edit, 'new_string'),
    all: edit.replace_all === true,
  }))
}

export function notebook(event: ToolUseEvent, input: Fields): Edited {
  const source = textIn(input, 'new_source')
  const hunk = wholeFile(source)
  const file = shortPath(textIn(input, 'notebook_path'), event.cwd)
  const change = describeChange({ file: `${file}.py`, before: undefined, after: undefined, hunks: [hunk] })
  return { do: 'edit', change: { ...change, file }, telling: tellingLines([hunk]) }
}

function wholeFile(content: string): Hunk {
  return { oldStart: 1, newStart: 1, lines: linesOf(content).map((line) => `+${line}`) }
}

function hunksOf(patch: unknown): Hunk[] {
  if (!Array.isArray(patch)) return []
  return patch.map(recordOf).flatMap((hunk) => {
    const lines = Array.isArray(hunk.lines) ? hunk.lines.filter((line): line is string => typeof line === 'string') : []
    return lines.length === 0
      ? []
      : [{ oldStart: numberIn(hunk, 'oldStart'), newStart: numberIn(hunk, 'newStart'), lines }]
  })
}
