/**
 * One marked section in a file that belongs to somebody else. Pure, and on texts that hold one byte a character
 * (latin1): whatever stands outside the marks, valid UTF-8 or not, comes back as it was.
 *
 * - A file that is there gets one line end, the section, one line end; taking the section out takes both away again.
 * - A file that was made for the section begins with it (after its header); without the section it goes.
 * - Where the marks are not exactly one pair, on lines of their own and outside of code blocks, nothing is guessed.
 */
import { SECTION_BEGIN, SECTION_END } from '../../memory/privacy.ts'

export const BEGIN = `${SECTION_BEGIN} (written by claude-mem, changes in here are lost; remove it with: claude-mem files off) -->`
export const END = `${SECTION_END} -->`

/** `text: null`: the file should not be there. */
export type Edited = { kind: 'text'; text: string | null } | { kind: 'broken'; why: string }

type Found =
  | { kind: 'none'; openCode: boolean }
  | { kind: 'one'; start: number; end: number; eol: string }
  | { kind: 'broken'; why: string }

const BOM = '\xef\xbb\xbf'
const MARK = /<!--\s*claude-mem:(?:begin|end)/i
const BEGIN_LINE = /^<!-- claude-mem:begin\b[^>]*-->\s*$/
const END_LINE = /^<!-- claude-mem:end\b[^>]*-->\s*$/
/** Up to three blanks, three or more of the same sign; after backticks, no further ones. */
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/

/** `lines` between the marks; `header` stands before them in a file that is made. Both are ordinary strings. */
export function withSection(old: string | null, lines: readonly string[], header: readonly string[]): Edited {
  const whole = [BEGIN, ...lines, END].map(toBytes)
  if (old === null) return { kind: 'text', text: [...header.map(toBytes), ...whole, ''].join('\n') }
  const found = findSection(old)
  if (found.kind === 'broken') return found
  if (found.kind === 'one') {
    return { kind: 'text', text: old.slice(0, found.start) + whole.join(found.eol) + old.slice(found.end) }
  }
  if (found.openCode) return { kind: 'broken', why: 'its last code block is not closed' }
  const eol = eolOf(old)
  const text = old + eol + whole.join(eol) + eol
  // Whatever a file ends in: nothing is put into it that could not be taken out again.
  const back = withoutSection(text, header)
  return back.kind === 'text' && back.text === old
    ? { kind: 'text', text }
    : { kind: 'broken', why: 'a section could not be told from its end' }
}

export function withoutSection(old: string | null, header: readonly string[]): Edited {
  if (old === null) return { kind: 'text', text: null }
  const found = findSection(old)
  if (found.kind === 'broken') return found
  if (found.kind === 'none') return { kind: 'text', text: old }
  const { start, end, eol } = found
  const before = old.slice(0, start)
  const after = old.slice(old.startsWith(eol, end) ? end + eol.length : end)
  const made = before === '' || before === BOM || before === header.map((line) => toBytes(line) + eol).join('')
  if (made) return { kind: 'text', text: /\S/.test(after) ? before + after : null }
  // Its last line had no end, and somebody wrote on below the section: the two must not become one line.
  const rest = before.endsWith(eol) ? before.slice(0, -eol.length) : before
  return { kind: 'text', text: after !== '' && !rest.endsWith('\n') && rest !== '' ? rest + eol + after : rest + after }
}

function findSection(text: string): Found {
  let begin: { start: number; eol: string } | null = null
  let section: { start: number; end: number; eol: string } | null = null
  let fence: string | null = null
  const broken = (why: string): Found => ({ kind: 'broken', why })
  for (const { start, end, line, eol } of linesOf(text)) {
    const mark = BEGIN_LINE.test(line) ? 'begin' : END_LINE.test(line) ? 'end' : null
    if (mark === null && MARK.test(line)) return broken('a mark of claude-mem shares its line with other text')
    if (mark === null) {
      if (begin === null) fence = fenceAfter(fence, line)
    } else if (fence !== null) return broken('marks of claude-mem stand inside a code block')
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

/** The sign and length of the code block that is open after this line. */
function fenceAfter(open: string | null, line: string): string | null {
  const match = FENCE.exec(line)
  const [, signs = '', rest = ''] = match ?? []
  if (open === null) return match === null ? null : signs
  const closes = signs[0] === open[0] && signs.length >= open.length && rest.trim() === ''
  return closes ? null : open
}

/** The line end that most of its lines have. */
function eolOf(text: string): string {
  const all = text.split('\n').length - 1
  const crlf = text.split('\r\n').length - 1
  return crlf * 2 > all ? '\r\n' : '\n'
}

function toBytes(line: string): string {
  return Buffer.from(line, 'utf8').toString('latin1')
}
