/** What is known of a file's content from the tools that read and write it. */
import { type Fields, recordOf, textIn } from '../../offline/fields.ts'
import { comparable, stableText, subjectOf } from './print.ts'

/** One file, or a part of it. Null where no file is named. */
export function fileSubject(input: Fields, cwd: string, range: string): string | null {
  const named = textIn(input, 'file_path') || textIn(input, 'notebook_path')
  if (named === '') return null
  const path = named.replaceAll('\\', '/')
  const whole = /^(?:\/|[A-Za-z]:\/)/.test(path) ? path : `${cwd.replaceAll('\\', '/')}/${path}`
  return subjectOf('read', `${whole}:${range}`)
}

/** The text that a read showed. Null where it cannot be compared. */
export function contentRead(response: unknown): string | null {
  const content = recordOf(recordOf(response).file).content
  if (typeof content !== 'string') return stableText(response)
  return comparable(content) === null ? null : sameEnd(content)
}

/** What a file held before a tool changed it, and holds now. `before` null: whatever it held. */
export function contentAfter(
  tool: string,
  input: Fields,
  response: Fields,
): { before: string | null; after: string | null } {
  if (tool === 'Write') {
    const written = comparable(textIn(input, 'content'))
    return { before: null, after: written === null ? null : sameEnd(written) }
  }
  const original = response.originalFile ?? response.originalFileContents
  const before = typeof original === 'string' ? comparable(original) : null
  // A person who changed the edit before it was made leaves us without the file's new content.
  if (before === null || response.userModified === true) return { before: null, after: null }
  const after = (tool === 'MultiEdit' ? listOf(input.edits) : [input]).reduce(replaced, before)
  return { before: sameEnd(before), after: after === null ? null : sameEnd(after) }
}

/** A replacement that grows beyond it is not followed: a letter could become a book. */
const MAX_EDITED_CHARS = 1_048_576

function replaced(content: string | null, edit: Fields): string | null {
  const from = textIn(edit, 'old_string')
  const to = comparable(textIn(edit, 'new_string'))
  if (content === null || to === null || from === '' || !content.includes(from)) return null
  if (edit.replace_all !== true) return comparable(content.replace(from, () => to))
  const parts = content.split(from)
  return content.length + parts.length * to.length > MAX_EDITED_CHARS ? null : comparable(parts.join(to))
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

/** Tools disagree on the newline at the end, and on its kind. */
function sameEnd(content: string): string {
  const text = content.replace(/\r\n/g, '\n')
  let end = text.length
  while (text[end - 1] === '\n') end--
  return text.slice(0, end)
}
