/**
 * Parses a model's reply into observations, a summary, or a skip with its reason. It never throws and keeps every part
 * of a damaged reply that can be read.
 */
import type { ObservationDraft, SummaryDraft } from '../../../domain/observation.ts'
import { truncateAtWord } from '../../../domain/plain-text.ts'
import { unique } from '../../../reading/text.ts'
import { type ReplyElement, readElements } from './elements.ts'
import {
  decodeEntities,
  decodeText,
  isPlaceholderText,
  MAX_FACT_CHARS,
  MAX_FACTS,
  parseConcepts,
  parseFacts,
  parseFiles,
  parseFunctions,
  parseNumbers,
  parseType,
  textLine,
} from './values.ts'

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
/** A title is one line of a list; the prompt asks for a short one. */
const MAX_TITLE_CHARS = 300
/** About two pages: more would be a transcript. */
const MAX_TEXT_CHARS = 8_000
/** The reason of a skip is one line. */
const MAX_REASON_CHARS = 500
/** A field that occurs more often comes from a model that repeats itself. */
const MAX_REPEATS = 20

const ESCAPED_ROOT = /&lt;(?:observation|summary|skip|resolved)/i

export function parseReply(text: string): ParsedReply {
  const reply = parse(text)
  // Some models escape the whole reply.
  return isAnswer(reply) || !ESCAPED_ROOT.test(text) ? reply : parse(decodeEntities(text))
}

/** Prose without an observation, a summary, a skip and a mark is not an answer. */
export function isAnswer({ observations, summary, skip, skipSummary, resolved }: ParsedReply): boolean {
  return observations.length > 0 || summary !== null || skip !== null || skipSummary !== null || resolved.length > 0
}

function parse(text: string): ParsedReply {
  const { answered, all, marks } = readElements(text)
  const resolved = parseNumbers(marks.join(' '))
  const reply = interpret(answered, resolved)
  return isAnswer(reply) ? reply : interpret(all, resolved)
}

function interpret(elements: readonly ReplyElement[], resolved: number[]): ParsedReply {
  const read = <T>(root: string, of: (element: ReplyElement) => T | null): T[] =>
    elements
      .filter((element) => element.root === root)
      .map(of)
      .filter((value) => value !== null)
  return {
    observations: read('observation', readObservation).slice(0, MAX_OBSERVATIONS),
    summary: mergeSummaries(read('summary', readSummary)),
    skip: joinReasons(read('skip', readReason)),
    skipSummary: joinReasons(read('skip_summary', readReason)),
    resolved,
  }
}

/** Null if it has no content: a repeated example, or a tag that is only mentioned in prose. */
function readObservation(element: ReplyElement): ParsedObservation | null {
  if (element.attributes === null && !(element.texts.has('type') && fieldCount(element) > 1)) return null
  const numbers = (name: string): number[] => parseNumbers(texts(element, name).join(' '))
  const amendments = parseAmendments(texts(element, 'amends'))
  const content = {
    title: firstLine(element, 'title'),
    subtitle: firstLine(element, 'subtitle'),
    narrative: paragraphs(element, 'narrative') ?? looseText(element),
    facts: unique([...parseFacts(entries(element, 'facts')), ...amendments.facts]).slice(0, MAX_FACTS),
    filesRead: parseFiles(entries(element, 'files_read')),
    filesModified: parseFiles(entries(element, 'files_modified')),
    functionsChanged: parseFunctions(entries(element, 'functions_changed')),
  }
  // A type and concepts alone are no content.
  if (Object.keys(written(content)).length === 0) return null
  return {
    type: parseType(texts(element, 'type')[0] ?? ''),
    ...content,
    concepts: parseConcepts(entries(element, 'concepts')),
    from: numbers('from'),
    supersedes: numbers('supersedes'),
    amends: amendments.ids,
    status: parseStatus(texts(element, 'status')[0] ?? ''),
  }
}

/** A model reports what is open or untested; what was solved it names in a mark. */
function parseStatus(written: string): ParsedObservation['status'] {
  if (/^(?:open|unresolved|unsolved)\b/i.test(written)) return 'open'
  return /^(?:untested|not[ _-]?tested|unverified)\b/i.test(written) ? 'untested' : null
}

/** `12 old statement → new one`: the number, then what is replaced, which is kept as a fact. */
function parseAmendments(written: readonly string[]): { ids: number[]; facts: string[] } {
  const ids: number[] = []
  const facts: string[] = []
  for (const text of written) {
    const [, number = '', statement = ''] = /^\D{0,20}?(\d{1,9})(?!\d)[\s:,.–-]{0,8}(.*)$/s.exec(text) ?? []
    const hasWords = /\p{L}/u.test(statement)
    ids.push(...parseNumbers(hasWords ? number : text))
    if (hasWords) facts.push(textLine(`Amends #${number}: ${statement}`, MAX_FACT_CHARS))
  }
  return { ids: unique(ids), facts }
}

function readSummary(element: ReplyElement): SummaryDraft | null {
  if (element.attributes === null && fieldCount(element) < 2) return null
  const summary = {
    request: paragraphs(element, 'request') ?? firstLine(element, 'title'),
    investigated: paragraphs(element, 'investigated'),
    learned: paragraphs(element, 'learned'),
    completed: paragraphs(element, 'completed') ?? paragraphs(element, 'narrative') ?? looseText(element),
    nextSteps: paragraphs(element, 'next_steps'),
    notes: paragraphs(element, 'notes'),
    filesRead: parseFiles(entries(element, 'files_read')),
    filesEdited: parseFiles(entries(element, 'files_modified')),
  }
  return Object.keys(written(summary)).length === 0 ? null : summary
}

/** The first summary wins; the others fill its gaps. */
function mergeSummaries([first, ...others]: readonly SummaryDraft[]): SummaryDraft | null {
  if (first === undefined) return null
  const merged = { ...first }
  for (const other of others) Object.assign(merged, { ...written(other), ...written(merged) })
  return merged
}

/** The fields with content. */
function written<T extends object>(fields: T): Partial<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== null && value.length > 0)
  return Object.fromEntries(entries) as Partial<T>
}

function fieldCount(element: ReplyElement): number {
  return element.texts.size + element.lists.size
}

function entries(element: ReplyElement, name: string) {
  return element.lists.get(name) ?? []
}

/** All occurrences of a field, then the root's attribute of the same name. */
function texts(element: ReplyElement, name: string): string[] {
  const fields = (element.texts.get(name) ?? []).slice(0, MAX_REPEATS).map(decodeText)
  const attribute = element.attributes?.get(name.replace('_', '')) ?? ''
  return [...fields, attribute].filter((text) => !isPlaceholderText(text))
}

function firstLine(element: ReplyElement, name: string): string | null {
  const text = texts(element, name)[0]
  return text === undefined ? null : textLine(text, MAX_TITLE_CHARS)
}

function paragraphs(element: ReplyElement, name: string): string | null {
  const text = unique(texts(element, name)).join('\n\n')
  return text === '' ? null : truncateAtWord(text, MAX_TEXT_CHARS)
}

/** The text of an element without fields. Only if it is closed: after a mere mention of its tag, prose follows. */
function looseText(element: ReplyElement): string | null {
  const text = element.closed && fieldCount(element) === 0 ? decodeText(element.loose) : ''
  return isPlaceholderText(text) ? null : truncateAtWord(text, MAX_TEXT_CHARS)
}

const NO_REASON = 'no reason given'
const TAG = /<[^<>]{1,100}>/g

/** `<skip reason="…"/>`. Null if prose only mentions the tag: not closed, without a reason, not at the start of a line. */
function readReason({ attributes, loose, closed, startsLine }: ReplyElement): string | null {
  const attribute = textLine(attributes?.get('reason') ?? '', MAX_REASON_CHARS)
  if (attribute !== '') return attribute
  if (!closed && !startsLine) return null
  const text = decodeText(loose.replace(TAG, ' '))
  return textLine(closed ? text : (text.split('\n')[0] ?? ''), MAX_REASON_CHARS) || NO_REASON
}

function joinReasons(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : textLine(unique(reasons).join('; '), MAX_REASON_CHARS)
}
