/**
 * Parses a model's reply into observations, a summary, or a skip with its reason. It never throws and keeps every part
 * of a damaged reply that can be read.
 */
import {
  type FunctionChange,
  OBSERVATION_TYPES,
  type ObservationDraft,
  type ObservationType,
  type SummaryDraft,
} from '../../../domain/observation.ts'
import { truncateAtWord } from '../../../domain/plain-text.ts'
import { toWellFormed } from '../../../domain/sanitize.ts'
import { stripControlCharacters, unique } from '../../../reading/text.ts'
import { BULLET, type FieldEntry, looseItem, type ReplyElement, readElements } from './elements.ts'
import { decodeEntities } from './tags.ts'

export interface ParsedObservation
  extends Omit<ObservationDraft, 'agent' | 'discoveryTokens' | 'discoveryEstimated' | 'sources'> {
  /** Numbers of the tool uses that it came from; empty if the reply names none. */
  from: number[]
  /** Ids of earlier observations that it makes obsolete. */
  supersedes: number[]
  /** Ids of earlier observations of which it replaces one statement. */
  amends: number[]
  status: 'open' | 'untested' | null
}

export interface ParsedReply {
  observations: ParsedObservation[]
  summary: SummaryDraft | null
  /** Why there is nothing to observe, or to summarize; null if the reply does not say so. */
  skip: string | null
  skipSummary: string | null
  /** Ids of earlier observations whose problem is solved now. */
  resolved: number[]
}

/** More than any batch has. */
const MAX_OBSERVATIONS = 50
/** Of a title or a reason. */
const MAX_LINE_CHARS = 300
/** About two pages: more would be a transcript. */
const MAX_TEXT_CHARS = 8_000

const ESCAPED_ROOT = /&lt;(?:observation|summary|skip|resolved)/i

export function parseReply(text: string): ParsedReply {
  const reply = interpret(readElements(text))
  // Some models escape the whole reply.
  return isAnswer(reply) || !ESCAPED_ROOT.test(text) ? reply : interpret(readElements(decodeEntities(text)))
}

/** Prose without an observation, a summary, a skip and a mark is not an answer. */
export function isAnswer({ observations, summary, skip, skipSummary, resolved }: ParsedReply): boolean {
  return observations.length > 0 || summary !== null || skip !== null || skipSummary !== null || resolved.length > 0
}

function interpret(elements: readonly ReplyElement[]): ParsedReply {
  const read = <T>(root: string, of: (element: ReplyElement) => T | null): T[] =>
    elements.flatMap((element) => (element.root === root ? (of(element) ?? []) : []))
  const joinReasons = (reasons: string[]) => textLine(unique(reasons).join('; '), MAX_LINE_CHARS) || null
  return {
    observations: read('observation', readObservation).slice(0, MAX_OBSERVATIONS),
    summary: readSummary(elements),
    skip: joinReasons(read('skip', readReason)),
    skipSummary: joinReasons(read('skip_summary', readReason)),
    resolved: parseNumbers(elements.flatMap((element) => texts(element, 'resolved')).join(' ')),
  }
}

/** Null if it has no content: a repeated example, or a tag that is only mentioned in prose. */
function readObservation(element: ReplyElement): ParsedObservation | null {
  const { attributes, fields } = element
  if (attributes === null && !(fields.has('type') && fields.size > 1)) return null
  const list = (name: string) => fields.get(name) ?? []
  const line = (name: string) => textLine(texts(element, name)[0] ?? '', MAX_LINE_CHARS) || null
  const amendments = texts(element, 'amends').map(readAmendment)
  const content = {
    title: line('title'),
    subtitle: line('subtitle'),
    narrative: paragraphs(element, 'narrative') ?? looseText(element),
    facts: parseFacts([...list('facts'), ...amendments.flatMap(({ facts }) => facts)]),
    filesRead: parseFiles(list('files_read')),
    filesModified: parseFiles(list('files_modified')),
    functionsChanged: parseFunctions(list('functions_changed')),
  }
  // A type and concepts alone are no content.
  if (isEmpty(content)) return null
  const [status = ''] = texts(element, 'status')
  return {
    type: parseType(texts(element, 'type')[0] ?? ''),
    ...content,
    concepts: parseConcepts(list('concepts')),
    from: parseNumbers(texts(element, 'from').join(' ')),
    supersedes: parseNumbers(texts(element, 'supersedes').join(' ')),
    amends: unique(amendments.flatMap(({ ids }) => ids)),
    status: /^open|^un(?:re)?solved/i.test(status) ? 'open' : /^(?:un|not\W?)tested/i.test(status) ? 'untested' : null,
  }
}

/** `12 old statement → new one`: the number, then what is replaced, which is kept as a fact. */
function readAmendment(text: string): { ids: number[]; facts: FieldEntry[] } {
  const [, number = '', statement = ''] = /^\D{0,20}?(\d{1,9})(?!\d)[\s:,.–-]{0,8}(.*)$/s.exec(text) ?? []
  if (!/\p{L}/u.test(statement)) return { ids: parseNumbers(text), facts: [] }
  return { ids: parseNumbers(number), facts: [looseItem(`Amends #${number}: ${statement}`)] }
}

/** Of several summaries each field is the first one with content. */
function readSummary(elements: readonly ReplyElement[]): SummaryDraft | null {
  const found = elements.filter(
    ({ root, attributes, fields }) => root === 'summary' && (attributes !== null || fields.size > 1),
  )
  const first = (name: string) =>
    found.map((element) => paragraphs(element, name)).find((text) => text !== null) ?? null
  const files = (name: string) => parseFiles(found.flatMap(({ fields }) => fields.get(name) ?? []))
  const summary = {
    request: first('request') ?? first('title'),
    investigated: first('investigated'),
    learned: first('learned'),
    completed: first('completed') ?? first('narrative') ?? found.map(looseText).find((text) => text !== null) ?? null,
    nextSteps: first('next_steps'),
    notes: first('notes'),
    filesRead: files('files_read'),
    filesEdited: files('files_modified'),
  }
  return isEmpty(summary) ? null : summary
}

function isEmpty(fields: object): boolean {
  return Object.values(fields).every((value) => value === null || value.length === 0)
}

/** All occurrences of a field, with the numbers in their attributes, then the root's attribute of the same name. */
function texts({ attributes, fields }: ReplyElement, name: string): string[] {
  const found = (fields.get(name) ?? []).map((entry) => {
    const ids = entry.attributes.get('ids') ?? entry.attributes.get('id') ?? ''
    return `${ids} ${decodeEntities(entry.raw)}`
  })
  return [...found, attributes?.get(name) ?? ''].map((text) => boundedText(text, MAX_TEXT_CHARS)).filter(Boolean)
}

function paragraphs(element: ReplyElement, name: string): string | null {
  return boundedText(unique(texts(element, name)).join('\n\n'), MAX_TEXT_CHARS) || null
}

/** The text of an element without fields. Only if it is closed: after a mere mention of its tag, prose follows. */
function looseText({ closed, fields, loose }: ReplyElement): string | null {
  return closed && fields.size === 0 ? boundedText(decodeEntities(loose), MAX_TEXT_CHARS) || null : null
}

/** `<skip reason="…"/>`. Null if prose only mentions the tag: not closed, and without a reason. */
function readReason({ attributes, loose, closed }: ReplyElement): string | null {
  const reason = textLine(attributes?.get('reason') ?? '', MAX_LINE_CHARS)
  if (reason !== '' || !closed) return reason || null
  return textLine(decodeEntities(loose.replace(/<[^<>]{1,100}>/g, ' ')), MAX_LINE_CHARS) || 'no reason given'
}

// Values. What is too long is cut off, never rejected.

/** What models write if they have nothing to say, or copy from an example. */
const PLACEHOLDER =
  /^[([{<]?(?:none|n\/a|na|nil|null|undefined|nothing|not applicable|tbd|\?|…|\.\.\.|[-–—]{1,2})?\.?[)\]}>]?$/i

/** Without control characters and lone surrogates, trimmed; '' for a placeholder. */
function boundedText(text: string, maxChars: number): string {
  const clean = toWellFormed(stripControlCharacters(text.replace(/\r\n?/g, '\n'))).trim()
  return PLACEHOLDER.test(clean) ? '' : truncateAtWord(clean, maxChars)
}

function textLine(text: string, maxChars: number): string {
  return boundedText(text.replace(/\s+/g, ' '), maxChars)
}

/** `Bug fix`, `features`, `refactoring`, `discovery, change`; an unknown type, or a copied list of types, is a `change`. */
function parseType(text: string): ObservationType {
  const word = text.toLowerCase().replace(/[^a-z|]/g, '') || '?'
  const isType = (type: ObservationType) => word.startsWith(type.slice(0, 3)) || type.endsWith(word)
  return word.includes('|') ? 'change' : (OBSERVATION_TYPES.find(isType) ?? 'change')
}

const NUMBER_RANGE = /(?<!\d)(\d{1,9})(?!\d)(?:\s{0,4}(?:-|–|\.\.)\s{0,4}(\d{1,9})(?!\d))?/g
const MAX_NUMBERS = 200

/** `1 3`, `1,3-5`, `#1, #2`: in the given order. No number has more than nine digits. */
function parseNumbers(text: string): number[] {
  const numbers = new Set<number>()
  for (const [, from = '', to = from] of text.matchAll(NUMBER_RANGE)) {
    for (let number = Number(from); number <= Number(to) && numbers.size < MAX_NUMBERS; number++) {
      if (number > 0) numbers.add(number)
    }
  }
  return [...numbers]
}

const parseFacts = (list: readonly FieldEntry[]): string[] =>
  collect(list, 40, (item) => [textLine(itemText(item), 1_000)])

const parseConcepts = (list: readonly FieldEntry[]): string[] =>
  collect(list, 20, (item) => itemText(item).split(/[,\n]/).map(parseConcept))

const parseFiles = (list: readonly FieldEntry[]): string[] =>
  collect(list, 200, (item) => itemText(item).split(/\n|, /).map(parsePath))

/** '' for a type, which adds nothing as a concept. */
function parseConcept(text: string): string {
  const words = textLine(unquote(text), 60).toLowerCase()
  const concept = words.replace(/^[#\s-]+|[.;:]$/g, '').replace(/[\s_]+/g, '-')
  return OBSERVATION_TYPES.some((type) => type === concept.replaceAll('-', '')) ? '' : concept
}

/** Linux allows 4,096 bytes; real paths are far shorter. */
const parsePath = (text: string): string => boundedText(unquote(text).replaceAll('\n', ' '), 1_024)

/** `<function><name>…</name><file>…</file></function>` */
const FUNCTION_PART = /<(name|file|path|action)>([^<]*)/gi

function parseFunctions(list: readonly FieldEntry[]): FunctionChange[] {
  return collect(list, 100, ({ attributes, raw }) => {
    const text = decodeEntities(raw)
    const parts = [...text.matchAll(FUNCTION_PART)].map(([, name = '', part = '']): [string, string] => [name, part])
    const fields = new Map([['text', parts.length > 0 ? '' : text], ...attributes, ...parts])
    const name = textLine(unquote(fields.get('name') || fields.get('text') || (fields.get('function') ?? '')), 300)
    const file = parsePath(fields.get('file') ?? fields.get('path') ?? '')
    const change = fields.get('action') ?? fields.get('change') ?? ''
    const isNew = /^\s*(?:new|add|creat|introduc)/i.test(change)
    const action = isNew ? 'new' : /^\s*(?:delet|remov|drop)/i.test(change) ? 'deleted' : 'modified'
    return name === '' ? [] : [{ name, file, action }]
  })
}

/** Without a bullet, and without quotes or backticks around the whole text. */
function unquote(text: string): string {
  const item = text.trim().replace(BULLET, '')
  return (/^(["'`])(.*)\1$/s.exec(item)?.[2] ?? item).trim()
}

/** In an attribute of the item where it has no text. */
function itemText({ attributes, raw }: FieldEntry): string {
  return [decodeEntities(raw), ...attributes.values()].find((value) => value.trim() !== '') ?? ''
}

/** Each value once; an empty text is none. */
function collect<T>(list: readonly FieldEntry[], max: number, read: (item: FieldEntry) => T[]): T[] {
  const values = list.flatMap(read).filter((value) => value !== '')
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()].slice(0, max)
}
