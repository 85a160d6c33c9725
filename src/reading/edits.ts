/** What an editing tool did to a file: its hunks with the declaration around each, or the text of a new file. */
import type { ToolUseEvent } from '../domain/event.ts'
import { enclosingDeclaration } from './declarations.ts'
import { asFields, type JsonFields, numberField, splitTextLines, stringField } from './fields.ts'
import { pathInProject } from './text.ts'

/** One hunk of a patch, as Claude Code's `structuredPatch` gives it. Lines begin with a blank, + or -. */
export interface EditHunk {
  oldStart: number
  lines: string[]
  /** The declaration that the change is in, as git's hunk headings have it; null where it is not known. */
  heading: string | null
}

export interface EditedFile {
  /** Relative to the project; absolute outside of it. */
  path: string
  change: 'created' | 'edited' | 'deleted'
  hunks: EditHunk[]
  /** The whole text of a file that was written without a known text before it; null otherwise. */
  content: string | null
}

export function readEditedFile(event: ToolUseEvent): EditedFile {
  const input = asFields(event.input)
  const response = asFields(event.response)
  const named = stringField(response, 'filePath') || stringField(input, 'file_path')
  const path = pathInProject(named || stringField(input, 'notebook_path'), event.cwd)
  if (event.tool === 'Delete') return { path, change: 'deleted', hunks: [], content: null }
  const before = typeof response.originalFile === 'string' ? response.originalFile : null
  const content = 'content' in input ? stringField(input, 'content') : null
  const isNew = content !== null && (response.type === 'create' || response.originalFile === null)
  const hunks = isNew ? [] : readHunks(input, response, before, content)
  return {
    path,
    change: isNew || (content !== null && hunks.length === 0 && response.type !== 'update') ? 'created' : 'edited',
    hunks: hunks.map((hunk) => ({ ...hunk, heading: enclosingDeclaration(path, hunk.lines, hunk.oldStart, before) })),
    content: hunks.length === 0 ? content : null,
  }
}

type BareHunk = Omit<EditHunk, 'heading'>

function readHunks(input: JsonFields, response: JsonFields, before: string | null, content: string | null): BareHunk[] {
  const patch = structuredHunks(response.structuredPatch)
  if (patch.length > 0) return patch
  if ('new_source' in input) return [{ oldStart: 1, lines: signed('+', stringField(input, 'new_source')) }]
  if (content !== null) return before === null ? [] : [differingLines(before, content)]
  const edits = Array.isArray(input.edits) ? input.edits.map(asFields) : 'old_string' in input ? [input] : []
  return edits.map((edit) => {
    const from = stringField(edit, 'old_string')
    const at = before === null || from === '' ? -1 : before.indexOf(from)
    const oldStart = at === -1 ? 1 : splitTextLines((before ?? '').slice(0, at)).length
    return { oldStart, lines: [...signed('-', from), ...signed('+', stringField(edit, 'new_string'))] }
  })
}

const signed = (sign: '+' | '-', text: string): string[] => splitTextLines(text).map((line) => sign + line)

/** For clients that send both texts and no patch: the lines that only one of them has, in linear time. */
function differingLines(before: string, after: string): BareHunk {
  const [old, now] = [splitTextLines(before), splitTextLines(after)]
  const [known, kept] = [new Set(old), new Set(now)]
  const removed = old.filter((line) => !kept.has(line)).map((line) => `-${line}`)
  const added = now.filter((line) => !known.has(line)).map((line) => `+${line}`)
  return { oldStart: 1, lines: [...removed, ...added] }
}

function structuredHunks(patch: unknown): BareHunk[] {
  if (!Array.isArray(patch)) return []
  return patch.map(asFields).flatMap((hunk) => {
    const lines = Array.isArray(hunk.lines) ? hunk.lines.filter((line): line is string => typeof line === 'string') : []
    return lines.length === 0 ? [] : [{ oldStart: numberField(hunk, 'oldStart'), lines }]
  })
}
