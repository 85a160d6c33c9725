/**
 * Changes JSON as text: one value goes in, out or is replaced, and every other byte stays. Parsing and writing it
 * anew would lose how its owner laid it out, keys that are there twice, and numbers too long for a double.
 */
import { MemError } from '../errors.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

interface Span {
  start: number
  end: number
}
export interface Member extends Span {
  key: string
  value: Node
}
export type Node =
  | (Span & { kind: 'object'; members: Member[] })
  | (Span & { kind: 'array'; items: Node[] })
  | (Span & { kind: 'scalar' })
  | (Span & { kind: 'passed' })
export type ObjectNode = Extract<Node, { kind: 'object' }>
export type ArrayNode = Extract<Node, { kind: 'array' }>

const SPACE = /[ \t\r\n]*/y
const WORD = /[^,\]}\s]*/y
const NO_BRACKET = /[^"{}[\]]*/y

/** A file nested deeper than this was made by no program that keeps settings, and would exhaust the stack. */
const MAX_DEPTH = 500

/**
 * Where everything is in text that `JSON.parse` accepts. With `only`, what the outermost object holds under other keys
 * is passed over: a client's own file may be tens of megabytes, of which we need a few lines.
 */
export function scan(text: string, only: string | null = null): Node {
  let at = 0
  const take = (pattern: RegExp): void => {
    pattern.lastIndex = at
    at += pattern.exec(text)?.[0].length ?? 0
  }
  /** Calls `one` for each part until the closing bracket, and goes behind it. */
  const parts = (close: string, one: () => void) => {
    at++
    take(SPACE)
    while (text[at] !== close) {
      one()
      take(SPACE)
      if (text[at] === ',') at++
      take(SPACE)
    }
    at++
  }
  const scalar = () => {
    if (text[at] === '"') at = stringEnd(text, at)
    else take(WORD)
  }
  const value = (depth: number): Node => {
    if (depth > MAX_DEPTH) {
      throw new MemError('bad_setting', `the settings are nested more than ${MAX_DEPTH} deep. Nothing was changed.`)
    }
    take(SPACE)
    const start = at
    if (text[at] === '{') {
      const members: Member[] = []
      parts('}', () => {
        const from = at
        at = stringEnd(text, at)
        const key: string = JSON.parse(text.slice(from, at))
        take(SPACE)
        at++
        const held = depth > 0 || only === null || key === only ? value(depth + 1) : passed()
        members.push({ start: from, end: held.end, key, value: held })
      })
      return { kind: 'object', start, end: at, members }
    }
    if (text[at] === '[') {
      const items: Node[] = []
      parts(']', () => items.push(value(depth + 1)))
      return { kind: 'array', start, end: at, items }
    }
    scalar()
    return { kind: 'scalar', start, end: at }
  }
  const passed = (): Node => {
    take(SPACE)
    const start = at
    if (text[at] !== '{' && text[at] !== '[') scalar()
    else {
      let open = 0
      do {
        if (text[at] === '"') at = stringEnd(text, at)
        else open += '{['.includes(text.charAt(at++)) ? 1 : -1
        if (open > 0) take(NO_BRACKET)
      } while (open > 0)
    }
    return { kind: 'passed', start, end: at }
  }
  return value(0)
}

/** Behind the string that begins at `at`. By hand: a pattern gives up on one of some megabytes. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslash = quote
    while (text[backslash - 1] === '\\') backslash--
    if ((quote - backslash) % 2 === 0) return quote + 1
  }
  return text.length
}

/** The text with every string empty: what is left is how it is laid out, and what does not belong there. */
export function withoutStrings(text: string): string {
  const kept: string[] = []
  let at = 0
  for (let quote = text.indexOf('"'); quote !== -1; quote = text.indexOf('"', at)) {
    kept.push(text.slice(at, quote))
    at = stringEnd(text, quote)
  }
  return [...kept, text.slice(at)].join('""')
}

/** The last one counts where a key is there twice, as for JSON.parse. */
export function memberOf(object: ObjectNode, key: string): Member | undefined {
  return object.members.findLast((member) => member.key === key)
}

export function parsedAt(text: string, node: Span): unknown {
  return JSON.parse(text.slice(node.start, node.end))
}

export function addMember(text: string, object: ObjectNode, key: string, value: Json): string {
  return add(text, object, object.members, value, key)
}

export function addItem(text: string, array: ArrayNode, value: Json): string {
  return add(text, array, array.items, value, null)
}

export function replaceNode(text: string, node: Span, value: Json): string {
  const laidOut = text.slice(node.start, node.end).includes('\n')
  return splice(text, node, laidOut ? lines(text, value, lineIndent(text, node.start)) : oneLine(text, value))
}

/** Takes one part out of its object or array, with its comma and the space that belonged to it. */
export function removePart(text: string, whole: ObjectNode | ArrayNode, index: number): string {
  const all: readonly Span[] = whole.kind === 'object' ? whole.members : whole.items
  const part = all[index]
  if (part === undefined) return text
  const before = all[index - 1]
  const after = all[index + 1]
  if (before !== undefined) return splice(text, { start: before.end, end: part.end }, '')
  if (after !== undefined) return splice(text, { start: part.start, end: after.start }, '')
  return splice(text, { start: whole.start + 1, end: whole.end - 1 }, '')
}

/** Behind the last part, laid out as that one is. */
function add(text: string, whole: Span, parts: readonly Span[], value: Json, key: string | null): string {
  const inOneLine = () =>
    (key === null ? '' : `${JSON.stringify(key)}:${isCompact(text) ? '' : ' '}`) + oneLine(text, value)
  const inLines = (indent: string) => (key === null ? '' : `${JSON.stringify(key)}: `) + lines(text, value, indent)
  const last = parts.at(-1)
  const eol = lineEnd(text)
  if (last === undefined) {
    const inside = { start: whole.start + 1, end: whole.end - 1 }
    if (isOneLine(text)) return splice(text, inside, inOneLine())
    const outer = lineIndent(text, whole.start)
    const inner = outer + indentUnit(text)
    return splice(text, inside, `${eol}${inner}${inLines(inner)}${eol}${outer}`)
  }
  const behind = { start: last.end, end: last.end }
  const gap = gapBefore(text, last.start)
  if (!gap.includes('\n')) return splice(text, behind, `,${isCompact(text) ? '' : ' '}${inOneLine()}`)
  const inner = gap.slice(gap.lastIndexOf('\n') + 1)
  return splice(text, behind, `,${eol}${inner}${inLines(inner)}`)
}

function splice(text: string, { start, end }: Span, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

function gapBefore(text: string, at: number): string {
  let start = at
  while (start > 0 && ' \t\r\n'.includes(text.charAt(start - 1))) start--
  return text.slice(start, at)
}

/** An empty object alone says nothing about how its owner writes. */
function isOneLine(text: string): boolean {
  return !text.trim().includes('\n') && !/^\s*\{\s*\}\s*$/.test(text)
}

function isCompact(text: string): boolean {
  return !/[,:] /.test(withoutStrings(text))
}

function oneLine(text: string, value: Json): string {
  if (isCompact(text)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => oneLine(text, item)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, held]) => `${JSON.stringify(key)}: ${oneLine(text, held)}`)
  return `{ ${members.join(', ')} }`
}

function lines(text: string, value: Json, indent: string): string {
  return JSON.stringify(value, null, indentUnit(text)).replaceAll('\n', `${lineEnd(text)}${indent}`)
}

export function lineEnd(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

/** The indentation of the first line that has one; JSON.stringify takes no more than ten characters of it. */
function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1]?.slice(0, 10) ?? '  '
}

/** How far the line is indented that holds this place. */
function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}
