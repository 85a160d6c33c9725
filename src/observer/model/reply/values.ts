/** What the parts of an element mean: a type, facts, concepts, paths, functions, numbers of tool uses. */
import { type FunctionChange, OBSERVATION_TYPES, type ObservationType } from '../../../memory/observation.ts'
import {
  MAX_CONCEPT_CHARS,
  MAX_CONCEPTS,
  MAX_FACT_CHARS,
  MAX_FACTS,
  MAX_FILES,
  MAX_FUNCTION_CHARS,
  MAX_FUNCTIONS,
  MAX_PATH_CHARS,
  MAX_SOURCES,
} from './bounds.ts'
import type { Entry, Item } from './element.ts'
import { BULLET, type LooseItem, looseItems } from './loose.ts'
import { bounded, inLine, isPlaceholder, plainText, tidy, unquoted } from './text.ts'

/** Ways in which models write a type; letters only. */
const TYPE_WORDS = new Map<string, ObservationType>([
  ...OBSERVATION_TYPES.flatMap((type): [string, ObservationType][] => [
    [type, type],
    [`${type}s`, type],
  ]),
  ['bug', 'bugfix'],
  ['fix', 'bugfix'],
  ['bugfixes', 'bugfix'],
  ['bugfixing', 'bugfix'],
  ['feat', 'feature'],
  ['refactoring', 'refactor'],
  ['discoveries', 'discovery'],
])

/** An unknown type becomes `change`. */
export function typeOf(text: string): ObservationType {
  const word = inLine(text, MAX_CONCEPT_CHARS).toLowerCase()
  return typeOfWord(word) ?? typeOfWord(word.split(/[,;:/(]/)[0] ?? '') ?? 'change'
}

function typeOfWord(word: string): ObservationType | null {
  return TYPE_WORDS.get(word.replace(/[^a-z|]/g, '')) ?? null
}

export function factsOf(entries: readonly Entry[]): string[] {
  return gather(entries, MAX_FACTS, MAX_FACT_CHARS, { commas: false, read: (text) => [factOf(text)] })
}

function factOf(text: string): string {
  // Spaces inside a line may be code's own.
  const lines = text.split('\n').map((part) => part.trim())
  const fact = lines.filter((part) => part !== '').join(' ')
  return isPlaceholder(fact) ? '' : bounded(fact, MAX_FACT_CHARS)
}

export function conceptsOf(entries: readonly Entry[]): string[] {
  const read = (text: string): string[] => text.split(/[,\n]/).map(conceptOf)
  return gather(entries, MAX_CONCEPTS, MAX_CONCEPT_CHARS * MAX_CONCEPTS, { commas: true, read })
}

/** '' for none, and for a type: repeated among the concepts it says nothing. */
function conceptOf(text: string): string {
  const words = unquoted(inLine(text.replace(BULLET, ''), MAX_CONCEPT_CHARS)).toLowerCase()
  const concept = words
    .replace(/^[#\s-]+|[.;:]$/g, '')
    .trim()
    .replace(/[\s_]+/g, '-')
  const isType = OBSERVATION_TYPES.some((type) => type === concept.replaceAll('-', ''))
  return isType || isPlaceholder(concept) ? '' : concept
}

export function filesOf(entries: readonly Entry[]): string[] {
  const read = (text: string): string[] => text.split('\n').map(pathOf)
  return gather(entries, MAX_FILES, MAX_PATH_CHARS, { commas: true, read })
}

function pathOf(text: string): string {
  const path = unquoted(text.replaceAll('\n', ' ').trim().replace(BULLET, ''))
  return isPlaceholder(path) ? '' : bounded(path, MAX_PATH_CHARS)
}

interface Reading {
  /** Loose text is split at commas, too. */
  commas: boolean
  /** One text may hold several values; '' is none. */
  read(text: string): string[]
}

function gather(entries: readonly Entry[], most: number, chars: number, { commas, read }: Reading): string[] {
  const values = new Set<string>()
  for (const entry of entries) {
    const texts = entry.kind === 'loose' ? looseItems(entry.raw, commas).map(textOf) : [textOfItem(entry, chars)]
    for (const text of texts) {
      for (const value of read(text)) {
        if (value !== '') values.add(value)
        if (values.size === most) return [...values]
      }
    }
  }
  return [...values]
}

/** Where an item says in an attribute, or an object in a field, what it should say as text. */
const TEXT_KEYS = ['text', 'value', 'content', 'path', 'file', 'name', 'fact', 'concept']

function textOfItem(item: Item, chars: number): string {
  const text = plainText(item.raw, chars)
  if (text !== '') return text
  return tidy(TEXT_KEYS.map((key) => item.attributes.get(key)).find((value) => value !== undefined) ?? '')
}

function textOf(item: LooseItem): string {
  if (item.kind === 'text') return item.text
  const named = TEXT_KEYS.map((key) => item.fields.get(key)).find((value) => value !== undefined)
  return tidy(named ?? [...item.fields.values()].join(', '))
}

export function functionsOf(entries: readonly Entry[]): FunctionChange[] {
  const changes = new Map<string, FunctionChange>()
  for (const entry of entries) {
    const found = entry.kind === 'loose' ? looseItems(entry.raw, false).map(functionOf) : [functionOfItem(entry)]
    for (const change of found) {
      if (change.name !== '') changes.set(JSON.stringify(change), change)
      if (changes.size === MAX_FUNCTIONS) return [...changes.values()]
    }
  }
  return [...changes.values()]
}

function functionOfItem({ attributes, parts, raw }: Item): FunctionChange {
  const fields = new Map(attributes)
  for (const [name, part] of parts) fields.set(name, plainText(part, MAX_PATH_CHARS))
  if (parts.size === 0 && !fields.has('name')) fields.set('name', plainText(raw, MAX_FUNCTION_CHARS))
  return functionOf({ kind: 'object', fields })
}

function functionOf(item: LooseItem): FunctionChange {
  if (item.kind === 'text') return { name: functionName(item.text), file: '', action: 'modified' }
  const field = (...keys: readonly string[]): string =>
    tidy(keys.map((key) => item.fields.get(key)).find((value) => value !== undefined) ?? '')
  return {
    name: functionName(field('name', 'function')),
    file: pathOf(field('file', 'path')),
    action: actionOf(field('action', 'change', 'type', 'status')),
  }
}

function functionName(text: string): string {
  return unquoted(inLine(text, MAX_FUNCTION_CHARS))
}

function actionOf(word: string): FunctionChange['action'] {
  if (/^(?:new|add|creat|introduc)/i.test(word)) return 'new'
  return /^(?:delet|remov|drop)/i.test(word) ? 'deleted' : 'modified'
}

/** `1 3`, `1,3-5`, `#1, #2`: in the order in which they are said. */
export function numbersOf(text: string): number[] {
  const numbers = new Set<number>()
  for (const [, from = '', to = from] of text.matchAll(/(\d{1,6})(?:\s{0,4}(?:-|–|\.\.)\s{0,4}(\d{1,6}))?/g)) {
    for (let number = Number(from); number <= Number(to) && numbers.size < MAX_SOURCES; number++) {
      if (number > 0) numbers.add(number)
    }
  }
  return [...numbers]
}
