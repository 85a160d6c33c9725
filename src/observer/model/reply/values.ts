/**
 * Values from the raw parts of an element. Lists may have item tags, be JSON, bullets, lines, or words with commas. What
 * is too long is cut off, never rejected.
 */
import { type FunctionChange, OBSERVATION_TYPES, type ObservationType } from '../../../domain/observation.ts'
import { truncateAtWord } from '../../../domain/plain-text.ts'
import { toWellFormed } from '../../../domain/sanitize.ts'
import { stripControlCharacters } from '../../../reading/text.ts'
import type { ListEntry } from './elements.ts'

export const MAX_FACTS = 40
export const MAX_FACT_CHARS = 1_000
const MAX_CONCEPTS = 20
/** A concept is a word or a few. */
const MAX_CONCEPT_CHARS = 60
const MAX_FILES = 200
/** Linux allows 4,096 bytes; real paths are far shorter. */
const MAX_PATH_CHARS = 1_024
const MAX_FUNCTIONS = 100
/** A method with its class, or a signature. */
const MAX_FUNCTION_CHARS = 300
const MAX_NUMBERS = 200

const NAMED_ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' }
const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos|nbsp));/gi

/** Decodes once: `&amp;lt;` is the text `&lt;`. Unknown entities stay. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, hex: string | undefined, decimal: string, name: string | undefined) => {
    if (name !== undefined) return NAMED_ENTITIES[name.toLowerCase()] ?? whole
    const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : whole
  })
}

/** Without entities, control characters and lone surrogates, trimmed. */
export function decodeText(raw: string): string {
  return cleanText(decodeEntities(raw))
}

function cleanText(text: string): string {
  return toWellFormed(stripControlCharacters(text.replace(/\r\n?/g, '\n'))).trim()
}

/** On one line; '' for a placeholder. */
export function textLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return isPlaceholderText(line) ? '' : truncateAtWord(line, maxChars)
}

/** What models write if they have nothing to say, or copy from an example. */
const PLACEHOLDER =
  /^[([{<]?(?:none|n\/a|na|nil|null|undefined|nothing|not applicable|tbd|\?|…|\.\.\.|[-–—]{1,2})?\.?[)\]}>]?$/i

export function isPlaceholderText(text: string): boolean {
  return PLACEHOLDER.test(text)
}

/** `Bug fix`, `features`, `refactoring`, `discovery, change`; an unknown type, or a copied list of types, is a `change`. */
export function parseType(text: string): ObservationType {
  const letters = text.toLowerCase().replace(/[^a-z|]/g, '')
  const word = letters === 'fix' ? 'bugfix' : letters
  const isType = (type: ObservationType) => word.startsWith(type.slice(0, -1)) || (word !== '' && type.startsWith(word))
  return word.includes('|') ? 'change' : (OBSERVATION_TYPES.find(isType) ?? 'change')
}

export function parseFacts(entries: readonly ListEntry[]): string[] {
  return collect(entries, MAX_FACTS, false, (item) => {
    // Spaces inside a line are kept: they may belong to code.
    const lines = itemText(item).split('\n')
    const fact = lines
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' ')
    return [isPlaceholderText(fact) ? '' : truncateAtWord(fact, MAX_FACT_CHARS)]
  })
}

export function parseConcepts(entries: readonly ListEntry[]): string[] {
  return collect(entries, MAX_CONCEPTS, true, (item) => itemText(item).split(/[,\n]/).map(parseConcept))
}

/** '' for a placeholder, and for a type, which adds nothing as a concept. */
function parseConcept(text: string): string {
  const words = unquote(textLine(text.trim().replace(BULLET, ''), MAX_CONCEPT_CHARS)).toLowerCase()
  const concept = words
    .replace(/^[#\s-]+|[.;:]$/g, '')
    .trim()
    .replace(/[\s_]+/g, '-')
  const isType = OBSERVATION_TYPES.some((type) => type === concept.replaceAll('-', ''))
  return isType || isPlaceholderText(concept) ? '' : concept
}

export function parseFiles(entries: readonly ListEntry[]): string[] {
  return collect(entries, MAX_FILES, true, (item) => itemText(item).split('\n').map(parsePath))
}

function parsePath(text: string): string {
  const path = unquote(text.trim().replace(BULLET, '')).replaceAll('\n', ' ')
  return isPlaceholderText(path) ? '' : truncateAtWord(path, MAX_PATH_CHARS)
}

/** `<function><name>…</name><file>…</file></function>` */
const FUNCTION_PART = /<(name|file|path|action)>((?:(?!<\/?(?:name|file|path|action)>).)*)<\/\1>/gis

export function parseFunctions(entries: readonly ListEntry[]): FunctionChange[] {
  return collect(entries, MAX_FUNCTIONS, false, (item) => {
    const text = item.get('text') ?? ''
    const parts = [...text.matchAll(FUNCTION_PART)].map(
      ([, name = '', part = '']) => [name.toLowerCase(), part] as const,
    )
    const fields = new Map([['name', parts.length > 0 ? '' : text], ...item, ...parts])
    const name = unquote(textLine(fields.get('name') || (fields.get('function') ?? ''), MAX_FUNCTION_CHARS))
    const file = parsePath(fields.get('file') ?? fields.get('path') ?? '')
    return name === '' ? [] : [{ name, file, action: parseAction(fields.get('action') ?? fields.get('change') ?? '') }]
  })
}

function parseAction(word: string): FunctionChange['action'] {
  if (/^\s*(?:new|add|creat|introduc)/i.test(word)) return 'new'
  return /^\s*(?:delet|remov|drop)/i.test(word) ? 'deleted' : 'modified'
}

const NUMBER_RANGE = /(?<!\d)(\d{1,9})(?!\d)(?:\s{0,4}(?:-|–|\.\.)\s{0,4}(\d{1,9})(?!\d))?/g

/** `1 3`, `1,3-5`, `#1, #2`: in the given order. No number has more than nine digits. */
export function parseNumbers(text: string): number[] {
  const numbers = new Set<number>()
  for (const [, from = '', to = from] of text.matchAll(NUMBER_RANGE)) {
    for (let number = Number(from); number <= Number(to) && numbers.size < MAX_NUMBERS; number++) {
      if (number > 0) numbers.add(number)
    }
  }
  return [...numbers]
}

/** Quotes inside of quotes; more of them are no quotes. */
const MAX_QUOTES = 4

/** Without quotes or backticks around the whole text. */
function unquote(text: string): string {
  let inner = text
  for (let layer = 0; layer < MAX_QUOTES; layer++) inner = /^(["'`])(.*)\1$/s.exec(inner)?.[2]?.trim() ?? inner
  return inner
}

/** The decoded text and attributes of an item, or the fields of a JSON object. */
type Item = ReadonlyMap<string, string>

/** `commas`: whether loose text is split at commas too. An empty text is no value. */
function collect<T>(entries: readonly ListEntry[], max: number, commas: boolean, read: (item: Item) => T[]): T[] {
  const values = new Map<string, T>()
  for (const { attributes, raw } of entries) {
    const text = decodeText(raw)
    const items = attributes === null ? looseItems(text, commas) : [new Map([...attributes, ['text', text]])]
    for (const value of items.flatMap(read)) {
      if (value !== '' && values.size < max) values.set(JSON.stringify(value), value)
    }
  }
  return [...values.values()]
}

/** Attributes of an item, or fields of a JSON object, that may contain its text. */
const TEXT_KEYS = ['text', 'value', 'content', 'path', 'file', 'name', 'fact', 'concept']

function itemText(item: Item): string {
  const text = TEXT_KEYS.map((key) => item.get(key) ?? '').find((value) => value !== '')
  return text ?? (item.has('text') ? '' : [...item.values()].join(', '))
}

const textItem = (text: string): Item => new Map([['text', cleanText(text)]])

const BULLET = /^(?:[-*•+]|\d{1,3}[.)])\s+/
const FENCE = /^(?:```|~~~)[\w-]*$/
/** `<entry>…</entry>`: an unknown tag around one item. */
const UNKNOWN_TAG = /^<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>(.*)<\/\1\s*>$/

/** The items of a list without item tags: a JSON array, bullets, lines, or words with commas. */
function looseItems(text: string, commas: boolean): Item[] {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !FENCE.test(line))
  const array = jsonItems(lines.join('\n'))
  if (array !== null) return array
  return lines
    .map((line) => UNKNOWN_TAG.exec(line)?.[2] ?? line.replace(BULLET, ''))
    .flatMap((line) => (commas ? line.split(',') : [line]))
    .map(textItem)
}

function jsonItems(text: string): Item[] | null {
  if (!text.startsWith('[')) return null
  try {
    const value: unknown = JSON.parse(text.slice(0, text.lastIndexOf(']') + 1))
    return Array.isArray(value) ? value.flatMap(jsonItem) : null
  } catch {
    return brokenJsonItems(text)
  }
}

function jsonItem(value: unknown): Item[] {
  if (typeof value === 'string' || typeof value === 'number') return [textItem(String(value))]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').map(textItem)
  const fields = Object.entries(value).filter((field): field is [string, string] => typeof field[1] === 'string')
  return fields.length === 0 ? [] : [new Map(fields.map(([key, text]) => [key.toLowerCase(), cleanText(text)]))]
}

/** Double quotes, or single ones as in Python. The last string may be cut off. */
const QUOTED = /"((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\.)*)'?/gs

/** The strings of an array that is cut off or not quite JSON, then the rest as it is. Null if there are none. */
function brokenJsonItems(text: string): Item[] | null {
  if (!/^\[[\s,[]*["']/.test(text)) return null
  const strings = [...text.matchAll(QUOTED)].map(([, double, single = '']) => unescapeJson(double ?? single))
  const rest = text.replace(QUOTED, '').replace(/[\s,[\]\\]+/g, ' ')
  return [...strings, rest].map(textItem)
}

function unescapeJson(body: string): string {
  try {
    return String(JSON.parse(`"${body}"`))
  } catch {
    return body
  }
}
