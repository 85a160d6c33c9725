/** Passages of edits: changed lines with little around them. A new file is shown by its head and its outline only. */
import type { ToolUseEvent } from '../../domain/event.ts'
import { MAX_PASSAGE_CHARS } from '../../domain/passage.ts'
import { readEditHunks } from '../tool-events/file-edit.ts'
import type { JsonFields } from '../tool-events/json-fields.ts'
import { stripControlCharacters } from '../tool-events/text.ts'
import { cutLines, cutProse, type PassageContent } from './pieces.ts'

/** Of one edit. The rest of a large one is in the repository. */
const MAX_EDIT_PASSAGES = 8
/** Longer lines are data, such as a minified file. */
const MAX_LINE_CHARS = 400
/** Unchanged lines that are kept before and after a change. */
const CONTEXT_LINES = 1
const MAX_HUNK_LINES = 400

export function editPassages(event: ToolUseEvent, input: JsonFields): PassageContent[] {
  const { file, hunks, created } = readEditHunks(event, input)
  const pieces =
    created !== null
      ? newFilePieces(file, created)
      : hunks.flatMap((hunk) => cutLines(changedLines(hunk.lines), MAX_EDIT_PASSAGES)).slice(0, MAX_EDIT_PASSAGES)
  return pieces.map((text) => ({ kind: 'edit', subject: file, outcome: null, text }))
}

/** Changed lines, each with the unchanged line next to it; empty and overlong lines left out. */
function changedLines(lines: readonly string[]): string[] {
  const bounded = lines.slice(0, MAX_HUNK_LINES)
  const isChange = (line: string | undefined) => line?.startsWith('+') || line?.startsWith('-')
  return bounded
    .filter((line, i) => {
      if (line.length > MAX_LINE_CHARS || line.slice(1).trim() === '') return false
      if (isChange(line)) return true
      for (let distance = 1; distance <= CONTEXT_LINES; distance++) {
        if (isChange(bounded[i - distance]) || isChange(bounded[i + distance])) return true
      }
      return false
    })
    .map((line) => stripControlCharacters(line).trimEnd())
}

const PROSE_FILE = /\.(?:md|mdx|markdown|txt|rst|adoc|org)$/i
/** Head of a new text: what it is about. */
const MAX_PROSE_PIECES = 3
const HEAD_CHARS = 300
const MAX_OUTLINE_LINES = 400
const DECLARATION =
  /^\s{0,8}(?:export\s+|pub(?:\([a-z]+\))?\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|default\s+|abstract\s+|final\s+)*(?:function|class|interface|type|enum|struct|trait|impl|fn|func|def|module|namespace|const|var|let|create table|resource|service|message)\b/i
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|;|"""|''')/
const IMPORT = /^\s*(?:(?:import|from|use|using|require|package)\b|#include|const .{0,80}require\()/

/** The comment at the head of a new file and the names that it declares; of prose its first sections. */
function newFilePieces(file: string, content: string): string[] {
  if (PROSE_FILE.test(file)) return cutProse(content.slice(0, MAX_PASSAGE_CHARS * 4), MAX_PROSE_PIECES)
  const lines = stripControlCharacters(content.slice(0, 40_000))
    .split('\n')
    .slice(0, MAX_OUTLINE_LINES)
    .filter((line) => line.length <= MAX_LINE_CHARS && line.trim() !== '')
  const head = headLines(lines.filter((line) => !IMPORT.test(line)))
  const outline = lines
    .filter((line) => DECLARATION.test(line) && !head.includes(line))
    .map((line) => line.trimEnd().slice(0, 120))
  return cutLines(['New file', ...head, ...outline], 2)
}

function headLines(lines: readonly string[]): string[] {
  const head: string[] = []
  let chars = 0
  for (const line of lines) {
    chars += line.length + 1
    if (chars > HEAD_CHARS || (head.length > 0 && !COMMENT.test(line) && head.some((one) => COMMENT.test(one)))) break
    head.push(line)
  }
  return head
}
