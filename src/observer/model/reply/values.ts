/**
 * Values from the raw parts of an element: type, title, facts, concepts, paths, functions, numbers of tool uses. Lists may
 * have item tags, be JSON, bullets, lines, or words with commas. What is too long is cut off, never rejected.
 */
import { type FunctionChange, OBSERVATION_TYPES, type ObservationType } from '../../../domain/observation.ts'
import { toWellFormed } from '../../../domain/sanitize.ts'
import { stripControlCharacters } from '../../../reading/text.ts'
import type { ListEntry, ListItem } from './elements.ts'
import { decodeMarkup, skipPattern } from './tags.ts'

const MAX_FACTS = 40
export const MAX_FACT_CHARS = 1_000
const MAX_CONCEPTS = 20
/** A concept is a word or a few. */
const MAX_CONCEPT_CHARS = 60
export const MAX_FILES = 200
/** Linux allows 4,096 bytes; real paths are far shorter. */
const MAX_PATH_CHARS = 1_024
const MAX_FUNCTIONS = 100
/** A method with its class, or a signature. */
const MAX_FUNCTION_CHARS = 300
const MAX_SOURCES = 200
/** As long as the longest list of paths; a longer list is a mistake of the model. */
const MAX_LIST_CHARS = 200_000

/** The longest entity has this many characters and decodes to one character: a longer raw text would be cut off anyway. */
const RAW_CHARS_PER_CHAR = 10

/** Decoded and sanitized. At least the first `maxChars` characters, if there are as many. */
export function decodeText(raw: string, maxChars: number): string {
  return cleanReplyText(decodeMarkup(raw.slice(0, (maxChars + 1) * RAW_CHARS_PER_CHAR)))
}

/** Without control characters and lone surrogates, trimmed. */
export function cleanReplyText(text: string): string {
  return toWellFormed(stripControlCharacters(text.replace(/\r\n?/g, '\n'))).trim()
}

/** On one line; '' for a placeholder. */
export function textLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return isPlaceholderText(line) ? '' : truncateText(line, maxChars)
}

export function truncateText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')
  const space = head.search(/\s\S{0,40}$/)
  return `${space > 0 ? head.slice(0, space) : head}…`
}

/** What models write if they have nothing to say, or copy from an example. */
const PLACEHOLDERS = new Set([
  ...['', 'none', 'n/a', 'na', 'nil', 'null', 'undefined', 'nothing', 'not applicable', 'tbd'],
  ...['{}', '[]', '?', '…', '...', '-', '--', '–', '—'],
])
const MAX_PLACEHOLDER_CHARS = 24

export function isPlaceholderText(text: string): boolean {
  if (text.length > MAX_PLACEHOLDER_CHARS) return false
  const word = text.toLowerCase()
  if (PLACEHOLDERS.has(word)) return true
  const inner = /^[([{<](.*)[)\]}>]$/s.exec(word)?.[1] ?? word
  return PLACEHOLDERS.has(inner.replace(/\.$/, '').trim())
}

const QUOTED_WHOLE = /^(["'`])(.*)\1$/s

/** Without quotes or backticks around the whole text. */
function unquote(text: string): string {
  let inner = text
  for (let layer = 0; layer < MAX_QUOTES; layer++) {
    const match = QUOTED_WHOLE.exec(inner)
    if (match === null) break
    inner = (match[2] ?? '').trim()
  }
  return inner
}

/** Quotes inside of quotes. More of them are no quotes, and removing them one by one takes quadratic time. */
const MAX_QUOTES = 4

/** Other spellings of a type; letters only. */
const TYPE_SPELLINGS = new Map<string, ObservationType>([
  ['bug', 'bugfix'],
  ['fix', 'bugfix'],
  ['bugfixes', 'bugfix'],
  ['bugfixing', 'bugfix'],
  ['feat', 'feature'],
  ['refactoring', 'refactor'],
  ['discoveries', 'discovery'],
])

/** An unknown type becomes `change`. */
export function parseType(text: string): ObservationType {
  const words = textLine(text, MAX_CONCEPT_CHARS).toLowerCase()
  return findType(words) ?? findType(words.split(/[,;:/(]/)[0] ?? '') ?? 'change'
}

function findType(written: string): ObservationType | undefined {
  const word = written.replace(/[^a-z|]/g, '')
  return OBSERVATION_TYPES.find((type) => word === type || word === `${type}s`) ?? TYPE_SPELLINGS.get(word)
}

export function parseFacts(entries: readonly ListEntry[]): string[] {
  return collectValues(entries, MAX_FACTS, MAX_FACT_CHARS, { commas: false, read: (text) => [parseFact(text)] })
}

function parseFact(text: string): string {
  // Spaces inside a line are kept: they may belong to code.
  const lines = text.split('\n').map((part) => part.trim())
  const fact = lines.filter((part) => part !== '').join(' ')
  return isPlaceholderText(fact) ? '' : truncateText(fact, MAX_FACT_CHARS)
}

export function parseConcepts(entries: readonly ListEntry[]): string[] {
  const read = (text: string): string[] => text.split(/[,\n]/).map(parseConcept)
  return collectValues(entries, MAX_CONCEPTS, MAX_CONCEPT_CHARS * MAX_CONCEPTS, { commas: true, read })
}

/** '' for a placeholder, and for a type, which adds nothing as a concept. */
function parseConcept(text: string): string {
  const words = unquote(textLine(text.replace(BULLET, ''), MAX_CONCEPT_CHARS)).toLowerCase()
  const concept = words
    .replace(/^[#\s-]+|[.;:]$/g, '')
    .trim()
    .replace(/[\s_]+/g, '-')
  const isType = OBSERVATION_TYPES.some((type) => type === concept.replaceAll('-', ''))
  return isType || isPlaceholderText(concept) ? '' : concept
}

export function parseFiles(entries: readonly ListEntry[]): string[] {
  const read = (text: string): string[] => text.split('\n').map(parsePath)
  return collectValues(entries, MAX_FILES, MAX_PATH_CHARS, { commas: true, read })
}

function parsePath(text: string): string {
  const path = unquote(text.replaceAll('\n', ' ').trim().replace(BULLET, ''))
  return isPlaceholderText(path) ? '' : truncateText(path, MAX_PATH_CHARS)
}

interface ValueReader {
  /** Whether loose text is split at commas too. */
  commas: boolean
  /** One text may contain several values; '' is ignored. */
  read(text: string): string[]
}

function collectValues(
  entries: readonly ListEntry[],
  maxValues: number,
  maxChars: number,
  { commas, read }: ValueReader,
): string[] {
  const values = new Set<string>()
  for (const entry of entries) {
    const texts =
      entry.kind === 'loose' ? looseItems(entry.raw, commas).map(looseItemText) : [listItemText(entry, maxChars)]
    for (const text of texts) {
      for (const value of read(text)) {
        if (value !== '') values.add(value)
        if (values.size === maxValues) return [...values]
      }
    }
  }
  return [...values]
}

/** Attributes of an item, or fields of a JSON object, that may contain its text. */
const TEXT_KEYS = ['text', 'value', 'content', 'path', 'file', 'name', 'fact', 'concept']

function firstField(fields: ReadonlyMap<string, string>, keys: readonly string[]): string | undefined {
  return keys.map((key) => fields.get(key)).find((value) => value !== undefined)
}

function listItemText(item: ListItem, maxChars: number): string {
  const text = decodeText(item.raw, maxChars)
  return text !== '' ? text : cleanReplyText(firstField(item.attributes, TEXT_KEYS) ?? '')
}

function looseItemText(item: LooseItem): string {
  if (typeof item === 'string') return item
  return cleanReplyText(firstField(item, TEXT_KEYS) ?? [...item.values()].join(', '))
}

export function parseFunctions(entries: readonly ListEntry[]): FunctionChange[] {
  const changes = new Map<string, FunctionChange>()
  for (const entry of entries) {
    const found = entry.kind === 'loose' ? looseItems(entry.raw, false) : [functionFields(entry)]
    for (const change of found.map(parseFunction)) {
      if (change.name !== '') changes.set(JSON.stringify(change), change)
      if (changes.size === MAX_FUNCTIONS) return [...changes.values()]
    }
  }
  return [...changes.values()]
}

function functionFields({ attributes, parts, raw }: ListItem): ReadonlyMap<string, string> {
  const fields = new Map(attributes)
  for (const [name, part] of parts) fields.set(name, decodeText(part, MAX_PATH_CHARS))
  if (parts.size === 0 && !fields.has('name')) fields.set('name', decodeText(raw, MAX_FUNCTION_CHARS))
  return fields
}

function parseFunction(item: LooseItem): FunctionChange {
  if (typeof item === 'string') return { name: parseFunctionName(item), file: '', action: 'modified' }
  const field = (...keys: readonly string[]): string => cleanReplyText(firstField(item, keys) ?? '')
  return {
    name: parseFunctionName(field('name', 'function')),
    file: parsePath(field('file', 'path')),
    action: parseAction(field('action', 'change', 'type', 'status')),
  }
}

function parseFunctionName(text: string): string {
  return unquote(textLine(text, MAX_FUNCTION_CHARS))
}

function parseAction(word: string): FunctionChange['action'] {
  if (/^(?:new|add|creat|introduc)/i.test(word)) return 'new'
  return /^(?:delet|remov|drop)/i.test(word) ? 'deleted' : 'modified'
}

const NUMBER_RANGE = /(?<!\d)(\d{1,9})(?!\d)(?:\s{0,4}(?:-|–|\.\.)\s{0,4}(\d{1,9})(?!\d))?/g

/** `1 3`, `1,3-5`, `#1, #2`: in the given order. No number has more than nine digits. */
export function parseNumbers(text: string): number[] {
  const numbers = new Set<number>()
  for (const [, from = '', to = from] of text.matchAll(NUMBER_RANGE)) {
    for (let number = Number(from); number <= Number(to) && numbers.size < MAX_SOURCES; number++) {
      if (number > 0) numbers.add(number)
    }
  }
  return [...numbers]
}

/** A text, or the fields of an object. */
type LooseItem = string | ReadonlyMap<string, string>

const BULLET = /^(?:[-*•+]|\d{1,3}[.)])\s+/
const FENCE = /^(?:```|~~~)[\w-]*$/
/** `<entry>…</entry>`: an unknown tag around one item. */
const UNKNOWN_TAG = /^<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>(.*)<\/\1\s*>$/

/** The items of a list without item tags: a JSON array, bullets, lines, or words with commas. */
function looseItems(raw: string, commas: boolean): LooseItem[] {
  const lines = decodeText(raw, MAX_LIST_CHARS)
    .slice(0, MAX_LIST_CHARS)
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '' && !FENCE.test(text))
  const array = jsonItems(lines.join('\n'))
  if (array !== null) return array
  return lines
    .map((text) => UNKNOWN_TAG.exec(text)?.[2]?.trim() ?? text.replace(BULLET, ''))
    .flatMap((text) => (commas ? text.split(',') : [text]))
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

function jsonItems(text: string): LooseItem[] | null {
  if (!text.startsWith('[')) return null
  const end = text.lastIndexOf(']')
  if (end < 0) return brokenJsonItems(text)
  try {
    const value: unknown = JSON.parse(text.slice(0, end + 1))
    return Array.isArray(value) ? value.flatMap(jsonItem) : null
  } catch {
    return brokenJsonItems(text)
  }
}

function jsonItem(value: unknown): LooseItem[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value).trim()]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').flatMap(jsonItem)
  const fields = new Map<string, string>()
  for (const [key, item] of Object.entries(value)) if (typeof item === 'string') fields.set(key.toLowerCase(), item)
  return fields.size === 0 ? [] : [fields]
}

/** Double quotes, or single ones as in Python. The last string may be cut off. */
const QUOTED = /"((?:[^"\\\n]+|\\.)*)(?:"|\\?$)|'((?:[^'\\\n]+|\\.)*)(?:'|\\?$)/y
const BETWEEN = /[\s,[\]]*/y

/** The strings of an array that is cut off or not quite JSON, then the rest as it is. Null if there are none. */
function brokenJsonItems(text: string): LooseItem[] | null {
  const items: LooseItem[] = []
  let at = skipPattern(BETWEEN, text, 0)
  for (;;) {
    QUOTED.lastIndex = at
    const match = QUOTED.exec(text)
    if (match === null) break
    items.push(unescapeJson(match[1] ?? match[2] ?? '').trim())
    at = skipPattern(BETWEEN, text, at + match[0].length)
  }
  if (items.length === 0) return null
  const rest = text.slice(at).trim()
  return rest === '' ? items : [...items, rest]
}

function unescapeJson(body: string): string {
  try {
    return String(JSON.parse(`"${body}"`))
  } catch {
    return body
  }
}
