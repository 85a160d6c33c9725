/**
 * Prepares foreign text (tool input and output, prompts) for a prompt: removes control characters, escapes tags that could
 * close or fake one of our blocks, and shortens it so that head, tail and the most informative lines remain.
 */
import { stripVTControlCharacters } from 'node:util'
import { cutText, toWellFormed } from '../../domain/sanitize.ts'
import {
  bestLines,
  MAX_TELLING_LINE_CHARS,
  rateOutputLine,
  type TellingLine,
  totalLineChars,
} from '../../domain/telling-lines.ts'
import { wordList } from '../../reading/text.ts'

/** Above what a hook lets through by default; a longer text is cut before its characters are processed. */
const MAX_TEXT_CHARS = 262_144

/** The blocks that our prompts put around foreign text. */
const BLOCKS = ['tool_use', 'outcome', 'user_request', 'last_message', 'memory', 'turns', 'decisions']
const BLOCK_TAG = new RegExp(`[<＜﹤](?=\\s{0,8}[/／]?\\s{0,8}(?:${BLOCKS.join('|')})\\b)`, 'gi')
/** How a request names stored observations (stored-notes.ts). */
const STORED_MARK = /^([ \t]{0,8}(?:stored: (?:up to )?|open: |check of ))#(?=\d)/gm

export function promptText(text: string): string {
  return plainLines(cutText(text, MAX_TEXT_CHARS)).replace(BLOCK_TAG, '&lt;').replace(STORED_MARK, '$1no. ')
}

/** On one line, for example for an attribute. */
export function promptLine(text: string, maxChars: number): string {
  // Four times the limit is read: white space may shrink, and only the escape makes the text longer.
  const line = promptText(text.slice(0, maxChars * 4))
    .replace(/\s+/g, ' ')
    .trim()
  return cutText(line, maxChars)
}

/** Enough for a deep path; the file itself is in the block. */
const MAX_ATTRIBUTE_CHARS = 160

export function promptAttribute(name: string, value: string): string {
  const safe = promptLine(value, MAX_ATTRIBUTE_CHARS).replaceAll('"', "'").replaceAll('<', '‹').replaceAll('>', '›')
  return safe === '' ? '' : ` ${name}="${safe}"`
}

/** And what nobody sees, which could stand in the name of a tag. */
const CONTROL_CHARACTERS = /(?!\t)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Without escape sequences, control characters and trailing space; at most one empty line in a row. */
function plainLines(text: string): string {
  const lines = toWellFormed(stripVTControlCharacters(text))
    .split('\n')
    .map((line) => lastProgressState(line).replace(CONTROL_CHARACTERS, '').trimEnd())
  return lines
    .filter((line, i) => line !== '' || lines[i - 1] !== '')
    .join('\n')
    .replace(/^\n/, '')
    .trimEnd()
}

/** A progress bar overwrites its line with carriage returns. */
function lastProgressState(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((state) => state.trim() !== '') ?? ''
}

/** Decides how a text is shortened: the output of a program, or code. */
export type TextKind = 'output' | 'code'

/** Share of the limit for lines from the middle; head and tail get the rest. */
const MIDDLE_SHARE = 0.35
/** Below it, the markers would take most of the space. */
const MIN_CHARS = 400
/** A line is rated by its beginning: a minified bundle is one line. */
const RATED_CHARS = 400

const CLOSING_MARKER = '[…]'

/** Of an output, head, tail and the best lines of the middle are kept; of code, its functions. A marker counts the rest. */
export function shortenForPrompt(text: string, maxChars: number, kind: TextKind): string {
  if (text.length <= maxChars) return text
  if (maxChars < MIN_CHARS) return cutText(text, maxChars)
  const code = kind === 'code' ? shortenCode(text, maxChars) : null
  return code ?? keepTellingLines(text, maxChars, kind === 'code' ? rateCodeLine : rateOutputLine)
}

function keepTellingLines(text: string, maxChars: number, rate: (line: string) => number): string {
  const lineEnds = 4
  const room = maxChars - openingMarker(text.length + MAX_COUNTED).length - CLOSING_MARKER.length - lineEnds
  const reserve = Math.floor(room * MIDDLE_SHARE)
  const minSide = Math.floor((room - reserve) / 2)
  const best = bestLines(ratedLines(text, minSide, text.length - minSide, rate), reserve)
  const side = Math.floor((room - totalLineChars(best)) / 2)
  const head = headOf(text, side)
  const tail = tailOf(text, side)
  // Head and tail use the space that the lines left over, and may include some of them.
  const between = best.filter((line) => line.start >= head.length && line.end <= text.length - tail.length)
  if (between.length === 0) return cutText(text, maxChars)
  const gap = text.slice(head.length, text.length - tail.length)
  const leftOut = gap.length - totalLineChars(between) + leftOutBefore(gap)
  return [head, openingMarker(leftOut), ...between.map((line) => line.text), CLOSING_MARKER, tail].join('\n')
}

/** Cuts at the end of a line if one is this near, and never inside a surrogate pair. */
const NEAR_CHARS = 120

function headOf(text: string, length: number): string {
  const head = text.slice(0, length)
  const end = head.lastIndexOf('\n')
  return end >= length - NEAR_CHARS ? head.slice(0, end) : head.replace(/[\ud800-\udbff]$/, '')
}

function tailOf(text: string, length: number): string {
  const tail = text.slice(text.length - length)
  const start = tail.indexOf('\n')
  return start !== -1 && start < NEAR_CHARS ? tail.slice(start + 1) : tail.replace(/^[\udc00-\udfff]/, '')
}

function openingMarker(leftOut: number): string {
  return `[… ${leftOut.toLocaleString('en-US')} characters left out but for these lines: …]`
}

/** The marker of an earlier cut by the hook. If it is cut away now, its count is added to ours. */
const EARLIER_MARKER = /\[… ([\d,]{1,15}) characters left out (?:but for these lines: )?…\]/g
/** No message is larger. */
const MAX_COUNTED = 999_999_999

function leftOutBefore(gap: string): number {
  let sum = 0
  for (const [, count = ''] of gap.matchAll(EARLIER_MARKER)) sum += Number(count.replaceAll(',', ''))
  return Math.min(sum, MAX_COUNTED)
}

/** The complete lines between two positions that have a weight. */
function ratedLines(text: string, from: number, to: number, rate: (line: string) => number): TellingLine[] {
  const lines: TellingLine[] = []
  let start = text.indexOf('\n', from - 1) + 1
  while (start > 0 && start < to) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    if (end > to) break
    const weight = rate(text.slice(start, Math.min(end, start + RATED_CHARS)))
    if (weight > 0) lines.push({ start, end, text: cutText(text.slice(start, end), MAX_TELLING_LINE_CHARS), weight })
    start = found + 1
  }
  return lines
}

// Code: imports are left out first. Then every function keeps its beginning, short ones their whole body.

const IMPORT_LINE =
  /^[+ -]?(?:import\b|from \S+ import\b|export (?:\*|\{[^}]*\}) from\b|#include\b|using [\w.:]+;|use [\w:]+|require(?:_relative)?[ (]|(?:const|let|var) .{1,200} = require\()/
const REMARK_LINE = /\b(?:TODO|FIXME|HACK|XXX|NOTE|WARNING|IMPORTANT|because)\b/
/** Words that begin a declaration in one language or another. */
const DECLARING =
  wordList(`export public private protected static abstract async function class interface type enum def func fn
  pub impl struct trait module namespace CREATE ALTER @@`)
const DECLARATION_LINE = new RegExp(`^[+ -]?\\s{0,8}(?:${DECLARING.join('|')}|const [A-Z]|@\\w+\\()|^[+ -]?#{1,4} \\S`)

function rateCodeLine(line: string): number {
  return REMARK_LINE.test(line) ? 2 : DECLARATION_LINE.test(line) ? 1 : 0
}

/** Share of a cut block for the remarks in the part that is left out. */
const REMARK_SHARE = 0.3
/** With less for each block, only names would be left. */
const MIN_BLOCK_CHARS = 120

/** Null if the code has too many declarations for the limit, or none. */
function shortenCode(text: string, maxChars: number): string | null {
  const lines = withoutImports(text.split('\n'))
  const code = lines.join('\n')
  if (code.length <= maxChars) return code
  const blocks = codeBlocks(lines)
  const marker = leftOutMarker(text.length + MAX_COUNTED)
  const room = maxChars - marker.length - blocks.length - 1
  if (blocks.length < 2 || room < blocks.length * MIN_BLOCK_CHARS) return null
  const shares = fairShares(
    blocks.map((block) => block.join('\n').length),
    room,
  )
  const kept = blocks.map((block, i) => shortenBlock(block, shares[i] ?? 0)).join('\n')
  return `${kept}\n${leftOutMarker(code.length - kept.length + leftOutBefore(text))}`
}

function leftOutMarker(chars: number): string {
  return `[… ${Math.max(0, Math.min(chars, MAX_COUNTED)).toLocaleString('en-US')} characters left out …]`
}

/** More lines do not belong to one import. */
const MAX_IMPORT_LINES = 100
/** `import (`, `import {`, `from x import (`: it goes on to the line that closes it. */
const OPEN_IMPORT = /[({]\s{0,8}$/
const CLOSED_IMPORT = /^[+ -]?\s{0,8}[)}]/

/** One import says little about a change; a block of them is replaced by a line. */
function withoutImports(lines: readonly string[]): string[] {
  const kept: string[] = []
  let imports: string[] = []
  let openLines = 0
  const endImports = () => {
    kept.push(...(imports.length > 2 ? [`[${imports.length} lines of imports left out]`] : imports))
    imports = []
  }
  for (const whole of lines) {
    const line = whole.slice(0, RATED_CHARS)
    if (openLines > 0) openLines = CLOSED_IMPORT.test(line) ? 0 : openLines - 1
    else if (!IMPORT_LINE.test(line)) {
      endImports()
      kept.push(whole)
      continue
    } else if (OPEN_IMPORT.test(line)) openLines = MAX_IMPORT_LINES
    imports.push(whole)
  }
  endImports()
  return kept
}

/** From one declaration to the next. Declarations in a row, without a body, are one block. */
function codeBlocks(lines: readonly string[]): string[][] {
  const blocks: string[][] = []
  let block: string[] = []
  let hasBody = false
  for (const line of lines) {
    const isDeclaration = DECLARATION_LINE.test(line.slice(0, RATED_CHARS))
    if (isDeclaration && hasBody) {
      blocks.push(block)
      block = []
      hasBody = false
    }
    block.push(line)
    hasBody ||= !isDeclaration
  }
  return block.length === 0 ? blocks : [...blocks, block]
}

/** Its first lines, and the remarks among the others. */
function shortenBlock(block: readonly string[], maxChars: number): string {
  const whole = block.join('\n')
  if (whole.length <= maxChars) return whole
  const cut = ` ${CLOSING_MARKER}`
  const reserve = Math.floor((maxChars - cut.length) * REMARK_SHARE)
  const head = headOf(whole, Math.max(0, maxChars - cut.length - reserve))
  const rest = whole.slice(head.length).split('\n').slice(1)
  const remarks = rest
    .filter((line) => REMARK_LINE.test(line.slice(0, RATED_CHARS)))
    .map((line) => ({ start: 0, end: 0, text: cutText(line, MAX_TELLING_LINE_CHARS), weight: 1 }))
  const best = bestLines(remarks, reserve - 1)
  return [head + cut, ...best.map(({ text }) => text)].join('\n')
}

// Lists in an output: what passed, and what repeats itself, is counted.

/** A line for one passed test, in the formats of TAP, Mocha, Vitest, Jest, Go, Rust, pytest, unittest and GoogleTest. */
const PASSED_TEST_LINES = [
  /^ok \d+\b/,
  /^[✓✔√] /,
  /^PASS(?:ED)? /,
  /^--- PASS: /,
  /^=== (?:RUN|PAUSE|CONT|NAME) /,
  /^.{1,300} \.\.\. ok$/,
  /^\S+::\S.{0,300} PASSED\b/,
  /^\[\s{1,8}OK \] |^\[ RUN\s{1,8}\] /,
]
/** Fewer are kept. */
const MIN_PASSED_LINES = 3

/** For the output of a test run: elsewhere such a line may be the result. */
export function withoutPassedTests(output: string): string {
  const isPassed = (line: string) => {
    const start = line.slice(0, RATED_CHARS).trim()
    return PASSED_TEST_LINES.some((pattern) => pattern.test(start)) ? 'passed' : null
  }
  return collapseGroups(output, isPassed, { least: MIN_PASSED_LINES, shown: 0 }, (hidden) => {
    return `[${hidden.length} lines of passed tests left out]`
  })
}

/** Lines of one shape that are a list; of these so many are kept as examples. */
const MIN_LISTED_LINES = 8
const LISTED_EXAMPLES = 3
const QUOTED_LINE_CHARS = 100

/**
 * Of lines that differ only in names and numbers (`Collecting idna`, `create mode 100644 a.ts`), wherever they stand, the first
 * ones are kept, and a marker quotes the last. Lines that report an error stay.
 */
export function withoutLongLists(output: string): string {
  const shapes = new LineShapes()
  const shapeOf = (line: string) => {
    const start = line.slice(0, RATED_CHARS)
    return rateOutputLine(start) > 1 ? null : shapes.shapeOf(start)
  }
  return collapseGroups(output, shapeOf, { least: MIN_LISTED_LINES, shown: LISTED_EXAMPLES }, (hidden, example) => {
    const quote = (line: string) => `"${cutText(line.trim(), QUOTED_LINE_CHARS)}"`
    return `[${hidden.length} more lines like ${quote(example)} left out, the last: ${quote(hidden.at(-1) ?? '')}]`
  })
}

/** The first word of a line of a list. */
const FIRST_WORD = /^\p{L}{3,20}:?$/u
/** Words that name something of their own: a number, a path, a version. */
const NAME_WORD = /[\d/@_=]|\w\.\w/
const MAX_SHAPE_WORDS = 24
/** Shapes with the same first word and length; a line of another one is kept. */
const MAX_SHAPES = 8

/** Finds lines of the same shape: as many words, the same first one, and at least half of the others alike. */
class LineShapes {
  readonly #known = new Map<string, string[][]>()

  /** Null for a line that is of no list. */
  shapeOf(line: string): string | null {
    const words = line.trim().split(/\s+/)
    const [first = ''] = words
    if (!FIRST_WORD.test(first) || words.length < 2 || words.length > MAX_SHAPE_WORDS) return null
    const shape = words.map((word) => (NAME_WORD.test(word) ? '#' : word))
    const key = `${words.length} ${first}`
    const shapes = this.#known.get(key) ?? []
    this.#known.set(key, shapes)
    const index = shapes.findIndex((known) => known.filter((word, i) => word === shape[i]).length * 2 >= shape.length)
    if (index >= 0) return `${key} ${index}`
    return shapes.length === MAX_SHAPES ? null : `${key} ${shapes.push(shape) - 1}`
  }
}

/** Lines of a group after the first `shown` ones are replaced by one marker, where the group has at least `least`. */
function collapseGroups(
  text: string,
  groupOf: (line: string) => string | null,
  { least, shown }: { least: number; shown: number },
  marker: (hidden: readonly string[], example: string) => string,
): string {
  const lines = text.split('\n')
  const keys = lines.map(groupOf)
  const groups = new Map<string, string[]>()
  keys.forEach((key, i) => {
    if (key === null) return
    const members = groups.get(key)
    if (members === undefined) groups.set(key, [lines[i] ?? ''])
    else members.push(lines[i] ?? '')
  })
  const seen = new Map<string, number>()
  const kept = lines.flatMap((line, i) => {
    const key = keys[i] ?? null
    const members = key === null ? [] : (groups.get(key) ?? [])
    if (key === null || members.length < least) return [line]
    const n = (seen.get(key) ?? 0) + 1
    seen.set(key, n)
    if (n <= shown) return [line]
    return n === shown + 1 ? [marker(members.slice(shown), members[shown - 1] ?? '')] : []
  })
  return kept.join('\n')
}

/** Small wants are met in full; the rest is divided equally among the larger ones. Never more than `total` together. */
export function fairShares(wants: readonly number[], total: number): number[] {
  const shares = wants.map(() => 0)
  const ascending = wants.map((_, i) => i).sort((a, b) => (wants[a] ?? 0) - (wants[b] ?? 0))
  let left = Math.max(0, Math.floor(total))
  ascending.forEach((index, done) => {
    const share = Math.min(wants[index] ?? 0, Math.floor(left / (ascending.length - done)))
    shares[index] = share
    left -= share
  })
  return shares
}
