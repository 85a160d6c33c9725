/**
 * Edits JSON as text: one value is added, removed or replaced, and every other byte stays. Parsing and serialising would
 * lose the user's layout, duplicate keys, and numbers that a double cannot hold. Comments may be between any two tokens and
 * stay too; whether a file may have them is checked where it is read (`settings-file.ts`).
 *
 * Not jsonc-parser 3.3: its `modify` reformats the neighbouring values and one-line files, edits the first instead of the
 * last of duplicate keys, and writes invalid JSON when it removes the last item of `[{…},{…}]`. Adding one server to a
 * file of 27 MB, as `~/.claude.json` can be, took it 5.4 s and 437 MB, and this code 0.4 s and 25 MB (both on the same
 * busy machine).
 */
import { MemError } from '../../lib/errors.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

interface Span {
  start: number
  end: number
}
interface Member extends Span {
  key: string
  value: JsonNode
}
export type JsonNode =
  | (Span & { kind: 'object'; members: Member[] })
  | (Span & { kind: 'array'; items: JsonNode[] })
  /** A scalar, or a value that was not parsed. */
  | (Span & { kind: 'other' })
export type ObjectNode = Extract<JsonNode, { kind: 'object' }>
export type ArrayNode = Extract<JsonNode, { kind: 'array' }>

const SPACE = /[ \t\r\n]*/y
const WORD = /[^,\]}\s/]*/y
const NO_BRACKET = /[^"{}[\]/]*/y

/** No settings file is nested deeper than this; it would overflow the stack. */
const MAX_DEPTH = 500

/**
 * The nodes of text that `JSON.parse` accepts, with their positions. With `only`, members of the outermost object under
 * other keys are skipped: a client's file may have tens of megabytes, of which a few lines are needed.
 */
export function parseNodes(text: string, only: string | null = null): JsonNode {
  let at = 0
  const take = (pattern: RegExp): void => {
    pattern.lastIndex = at
    at += pattern.exec(text)?.[0].length ?? 0
  }
  /** Past what `pattern` matches and past comments. Outside of strings a slash can only begin a comment. */
  const takeWithComments = (pattern: RegExp): void => {
    for (take(pattern); text[at] === '/'; take(pattern)) at = commentEnd(text, at)
  }
  /** Calls `readChild` for each child and stops after the closing bracket. */
  const children = (close: string, readChild: () => void) => {
    at++
    takeWithComments(SPACE)
    while (text[at] !== close) {
      readChild()
      takeWithComments(SPACE)
      if (text[at] === ',') at++
      takeWithComments(SPACE)
    }
    at++
  }
  const scalar = () => {
    if (text[at] === '"') at = stringEnd(text, at)
    else take(WORD)
  }
  const value = (depth: number): JsonNode => {
    if (depth > MAX_DEPTH) {
      throw new MemError('bad_setting', `the settings are nested more than ${MAX_DEPTH} deep. Nothing was changed.`)
    }
    takeWithComments(SPACE)
    const start = at
    if (text[at] === '{') {
      const members: Member[] = []
      children('}', () => {
        const from = at
        at = stringEnd(text, at)
        const key: string = JSON.parse(text.slice(from, at))
        takeWithComments(SPACE)
        at++
        const held = depth > 0 || only === null || key === only ? value(depth + 1) : skipped()
        members.push({ start: from, end: held.end, key, value: held })
      })
      return { kind: 'object', start, end: at, members }
    }
    if (text[at] === '[') {
      const items: JsonNode[] = []
      children(']', () => items.push(value(depth + 1)))
      return { kind: 'array', start, end: at, items }
    }
    scalar()
    return { kind: 'other', start, end: at }
  }
  const skipped = (): JsonNode => {
    takeWithComments(SPACE)
    const start = at
    if (text[at] !== '{' && text[at] !== '[') scalar()
    else {
      let open = 0
      do {
        if (text[at] === '"') at = stringEnd(text, at)
        else open += '{['.includes(text.charAt(at++)) ? 1 : -1
        if (open > 0) takeWithComments(NO_BRACKET)
      } while (open > 0)
    }
    return { kind: 'other', start, end: at }
  }
  return value(0)
}

/** The index after the string that begins at `at`. Not a regular expression: it fails on strings of some megabytes. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote
    while (text[backslash - 1] === '\\') backslash--
    if ((quote - backslash) % 2 === 0) return quote + 1
  }
  return text.length
}

/** The index after the comment that begins at `at`; of one to the end of the line, before its line break. */
function commentEnd(text: string, at: number): number {
  const isBlock = text[at + 1] === '*'
  const end = isBlock ? text.indexOf('*/', at + 2) : text.indexOf('\n', at)
  if (end === -1) return text.length
  if (isBlock) return end + 2
  return text[end - 1] === '\r' ? end - 1 : end
}

/** `span` begins and ends outside of strings and comments. */
function commentsIn(text: string, { start, end }: Span): Span[] {
  const found: Span[] = []
  const stringOrComment = /"|\/[/*]/g
  stringOrComment.lastIndex = start
  for (;;) {
    const at = stringOrComment.exec(text)?.index ?? end
    if (at >= end) return found
    const isString = text[at] === '"'
    stringOrComment.lastIndex = isString ? stringEnd(text, at) : commentEnd(text, at)
    if (!isString) found.push({ start: at, end: stringOrComment.lastIndex })
  }
}

export function hasComments(text: string): boolean {
  return commentsIn(text, wholeText(text)).length > 0
}

/** With spaces instead of comments, as clients read it that allow them: every position stays. */
export function withoutComments(text: string): string {
  const kept: string[] = []
  let at = 0
  for (const { start, end } of commentsIn(text, wholeText(text))) {
    kept.push(text.slice(at, start), text.slice(start, end).replace(/[^\r\n]/g, ' '))
    at = end
  }
  return [...kept, text.slice(at)].join('')
}

function wholeText(text: string): Span {
  return { start: 0, end: text.length }
}

/** The text with every string emptied, to search for separators outside strings. */
function withoutStrings(text: string): string {
  const kept: string[] = []
  let at = 0
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', at)) {
    kept.push(text.slice(at, quote))
    at = stringEnd(text, quote)
  }
  return [...kept, text.slice(at)].join('""')
}

/** Of duplicate keys the last one counts, as in JSON.parse. */
export function findMember(object: ObjectNode, key: string): Member | undefined {
  return object.members.findLast((member) => member.key === key)
}

export function nodeValue(text: string, node: Span): unknown {
  return JSON.parse(withoutComments(text.slice(node.start, node.end)))
}

export function addMember(text: string, object: ObjectNode, key: string, value: Json): string {
  return addChild(text, object, value, key)
}

export function addItem(text: string, array: ArrayNode, value: Json): string {
  return addChild(text, array, value, null)
}

/** The members of an object, or the items of an array. */
export function childrenOf(parent: ObjectNode | ArrayNode): readonly Span[] {
  return parent.kind === 'object' ? parent.members : parent.items
}

export function replaceNode(text: string, node: Span, value: Json): string {
  const isMultiLine = text.slice(node.start, node.end).includes('\n')
  const indent = lineIndent(text, node.start)
  return splice(text, node, isMultiLine ? formatLines(text, value, indent) : formatOneLine(text, value))
}

/** Whether an object or array has only this one child, and no comment beside it. */
export function isOnlyChild(text: string, parent: ObjectNode | ArrayNode): boolean {
  const [child, other] = childrenOf(parent)
  if (child === undefined || other !== undefined) return false
  const gaps = [
    { start: parent.start + 1, end: child.start },
    { start: child.end, end: parent.end - 1 },
  ]
  return gaps.every((gap) => commentsIn(text, gap).length === 0)
}

/** Removes one child of an object or array, with its comma and white space. Comments beside it stay. */
export function removeChild(text: string, parent: ObjectNode | ArrayNode, index: number): string {
  const children = childrenOf(parent)
  const child = children[index]
  if (child === undefined) return text
  const before = children[index - 1]
  const after = children[index + 1]
  const gapBefore = { start: before?.end ?? parent.start + 1, end: child.start }
  const gapAfter = { start: child.end, end: after?.start ?? parent.end - 1 }
  if (commentsIn(text, gapBefore).length > 0 || commentsIn(text, gapAfter).length > 0) {
    return removeBesideComments(text, gapBefore, gapAfter, before === undefined, after === undefined)
  }
  if (before !== undefined) return splice(text, { start: before.end, end: child.end }, '')
  if (after !== undefined) return splice(text, { start: child.start, end: after.start }, '')
  return splice(text, { start: parent.start + 1, end: parent.end - 1 }, '')
}

/** One comma stays between the children before and after: the first one, which cannot get into a comment. */
function removeBesideComments(
  text: string,
  gapBefore: Span,
  gapAfter: Span,
  isFirst: boolean,
  isLast: boolean,
): string {
  const above = isLast ? withoutComma(text, gapBefore) : text.slice(gapBefore.start, gapBefore.end)
  const below = isLast ? text.slice(gapAfter.start, gapAfter.end) : withoutComma(text, gapAfter)
  // The first child keeps the white space before it for the one that follows.
  const kept = isFirst && !isLast ? above : above.trimEnd()
  const rest = isFirst && !isLast ? below.trimStart() : below
  const endsInComment = commentsIn(kept, wholeText(kept)).some(
    ({ start, end }) => end === kept.length && kept[start + 1] === '/',
  )
  const lineBreak = endsInComment && !/^[ \t]*\r?\n/.test(rest) ? lineEnd(text) : ''
  return splice(text, { start: gapBefore.start, end: gapAfter.end }, kept + lineBreak + rest)
}

/** Of the text between two children. */
function withoutComma(text: string, { start, end }: Span): string {
  const gap = text.slice(start, end)
  const comma = withoutComments(gap).indexOf(',')
  return comma === -1 ? gap : splice(gap, { start: comma, end: comma + 1 }, '')
}

/** Appends a child in the layout of the last one. */
function addChild(text: string, parent: ObjectNode | ArrayNode, value: Json, key: string | null): string {
  // Computed only where it is needed: it reads the whole text.
  const space = () => (isCompact(text) ? '' : ' ')
  const label = (gap: string) => (key === null ? '' : `${JSON.stringify(key)}:${gap}`)
  const inOneLine = () => label(space()) + formatOneLine(text, value)
  const inLines = (indent: string) => label(' ') + formatLines(text, value, indent)
  const last = childrenOf(parent).at(-1)
  const eol = lineEnd(text)
  if (last === undefined) {
    const inside = { start: parent.start + 1, end: parent.end - 1 }
    const comment = commentsIn(text, inside).at(-1)
    const outer = lineIndent(text, parent.start)
    const inner = outer + indentUnit(text)
    if (comment !== undefined) {
      const added = isOneLine(text) ? space() + inOneLine() : `${eol}${inner}${inLines(inner)}`
      return splice(text, { start: comment.end, end: comment.end }, added)
    }
    if (isOneLine(text)) return splice(text, inside, inOneLine())
    return splice(text, inside, `${eol}${inner}${inLines(inner)}${eol}${outer}`)
  }
  const after = { start: last.end, end: last.end }
  const gap = gapBefore(text, childrenOf(parent).at(-2)?.end ?? parent.start + 1, last.start)
  if (!gap.includes('\n')) return splice(text, after, `,${space()}${inOneLine()}`)
  const inner = lineIndent(text, last.start)
  // A comment behind the last child, in its line, stays behind that one.
  const comments = sameLineComments(text, last.end)
  return splice(
    text,
    { start: last.end, end: last.end + comments.length },
    `,${comments}${eol}${inner}${inLines(inner)}`,
  )
}

function splice(text: string, { start, end }: Span, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** White space before a child, comments counted as such. */
function gapBefore(text: string, from: number, at: number): string {
  const gap = withoutComments(text.slice(from, at))
  return gap.slice(gap.trimEnd().length)
}

function sameLineComments(text: string, from: number): string {
  for (let end = from; ; ) {
    let start = end
    while (text[start] === ' ' || text[start] === '\t') start++
    if (text[start] !== '/') return text.slice(from, end)
    end = commentEnd(text, start)
  }
}

/** A file with only an empty object has no layout to follow; it counts as multi-line. */
function isOneLine(text: string): boolean {
  return !text.trim().includes('\n') && !/^\s*\{\s*\}\s*$/.test(text)
}

function isCompact(text: string): boolean {
  return !/[,:] /.test(withoutStrings(withoutComments(text)))
}

function formatOneLine(text: string, value: Json): string {
  if (isCompact(text)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => formatOneLine(text, item)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, held]) => `${JSON.stringify(key)}: ${formatOneLine(text, held)}`)
  return `{ ${members.join(', ')} }`
}

function formatLines(text: string, value: Json, indent: string): string {
  return JSON.stringify(value, null, indentUnit(text)).replaceAll('\n', `${lineEnd(text)}${indent}`)
}

function lineEnd(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

/** The indentation of the first indented line that is no comment; JSON.stringify uses at most ten characters. */
function indentUnit(text: string): string {
  return /\n([ \t]+)[^\s*/]/.exec(text)?.[1]?.slice(0, 10) ?? '  '
}

/** The indentation of the line that contains this index. */
function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}
