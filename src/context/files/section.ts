/**
 * Edits one marked section in a file of the user. Pure. Texts have one character per byte (latin1), so that everything
 * outside of the marks, valid UTF-8 or not, stays byte for byte the same.
 *
 * - An existing file gets a line end, the section and a line end; removing the section removes both line ends too.
 * - A file that was created for the section begins with it (after its header) and is deleted with it.
 * - A file is not changed unless its marks are exactly one pair, on separate lines, outside of code blocks.
 */
import { SECTION_BEGIN, SECTION_END } from '../../domain/private-parts.ts'

export const SECTION_BEGIN_LINE = `${SECTION_BEGIN} (written by claude-mem, changes in here are lost; remove it with: claude-mem files off) -->`
export const SECTION_END_LINE = `${SECTION_END} -->`

/** `text: null` deletes the file. `broken`: the file is not changed. */
export type SectionEdit = { kind: 'text'; text: string | null } | { kind: 'broken'; why: string }

type FoundSection =
  | { kind: 'none'; openCode: boolean }
  | { kind: 'one'; start: number; end: number; eol: string }
  | { kind: 'broken'; why: string }

const BOM = '\xef\xbb\xbf'
const MARK = /<!--\s*claude-mem:(?:begin|end)/i
const BEGIN_LINE = /^<!-- claude-mem:begin\b[^>]*-->\s*$/
const END_LINE = /^<!-- claude-mem:end\b[^>]*-->\s*$/
/** Up to three spaces, then three or more backticks or tildes; no backtick may follow backticks. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/

/** `lines` are inserted between the marks; `header` before them in a new file. Both are ordinary strings. */
export function withSection(old: string | null, lines: readonly string[], header: readonly string[]): SectionEdit {
  const whole = [SECTION_BEGIN_LINE, ...lines, SECTION_END_LINE].map(toBytes)
  if (old === null) return { kind: 'text', text: [...header.map(toBytes), ...whole, ''].join('\n') }
  const found = findSection(old)
  if (found.kind === 'broken') return found
  if (found.kind === 'one') {
    return { kind: 'text', text: old.slice(0, found.start) + whole.join(found.eol) + old.slice(found.end) }
  }
  if (found.openCode) return { kind: 'broken', why: 'its last code block is not closed' }
  const eol = mostCommonEol(old)
  const text = old + eol + whole.join(eol) + eol
  // Whatever the file ends with: only a section that can be removed exactly is inserted.
  const removed = withoutSection(text, header)
  return removed.kind === 'text' && removed.text === old
    ? { kind: 'text', text }
    : { kind: 'broken', why: 'a section at its end could not be removed again' }
}

export function withoutSection(old: string | null, header: readonly string[]): SectionEdit {
  if (old === null) return { kind: 'text', text: null }
  const found = findSection(old)
  if (found.kind === 'broken') return found
  if (found.kind === 'none') return { kind: 'text', text: old }
  const { start, end, eol } = found
  const before = old.slice(0, start)
  const after = old.slice(old.startsWith(eol, end) ? end + eol.length : end)
  const wasCreated = before === '' || before === BOM || before === header.map((line) => toBytes(line) + eol).join('')
  if (wasCreated) return { kind: 'text', text: /\S/.test(after) ? before + after : null }
  // The last line before the section had no line end and text follows the section: keep them on separate lines.
  const rest = before.endsWith(eol) ? before.slice(0, -eol.length) : before
  return { kind: 'text', text: after !== '' && !rest.endsWith('\n') && rest !== '' ? rest + eol + after : rest + after }
}

function findSection(text: string): FoundSection {
  let begin: { start: number; eol: string } | null = null
  let section: { start: number; end: number; eol: string } | null = null
  let fence: string | null = null
  const broken = (why: string): FoundSection => ({ kind: 'broken', why })
  for (const { start, end, line, eol } of linesOf(text)) {
    const mark = BEGIN_LINE.test(line) ? 'begin' : END_LINE.test(line) ? 'end' : null
    if (mark === null && MARK.test(line)) return broken('a mark of claude-mem shares its line with other text')
    if (mark === null) {
      if (begin === null) fence = fenceAfter(fence, line)
    } else if (fence !== null) return broken('marks of claude-mem are inside a code block')
    else if (mark === 'end') {
      if (begin === null) return broken("the end of claude-mem's section has no beginning")
      section = { ...begin, end }
      begin = null
    } else if (begin !== null || section !== null) return broken('it has more than one section of claude-mem')
    else begin = { start, eol }
  }
  if (begin !== null) return broken("claude-mem's section has no end")
  return section === null ? { kind: 'none', openCode: fence !== null } : { kind: 'one', ...section }
}

function* linesOf(text: string): Generator<{ start: number; end: number; line: string; eol: string }> {
  for (let start = text.startsWith(BOM) ? BOM.length : 0; start < text.length; ) {
    const at = text.indexOf('\n', start)
    const next = at === -1 ? text.length : at + 1
    const eol = at === -1 ? '' : text[at - 1] === '\r' && at > start ? '\r\n' : '\n'
    const end = next - eol.length
    yield { start, end, line: text.slice(start, end), eol }
    start = next
  }
}

/** The fence of the code block that is open after this line; null if none is. */
function fenceAfter(open: string | null, line: string): string | null {
  const match = FENCE.exec(line)
  const [, signs = '', rest = ''] = match ?? []
  if (open === null) return match === null ? null : signs
  const closes = signs[0] === open[0] && signs.length >= open.length && rest.trim() === ''
  return closes ? null : open
}

/** The line end of most lines. */
function mostCommonEol(text: string): string {
  const all = text.split('\n').length - 1
  const crlf = text.split('\r\n').length - 1
  return crlf * 2 > all ? '\r\n' : '\n'
}

function toBytes(line: string): string {
  return Buffer.from(line, 'utf8').toString('latin1')
}
