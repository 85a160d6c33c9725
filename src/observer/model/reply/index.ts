/**
 * Parses a model's reply into observations, a summary, or a skip with its reason. It never throws and keeps every part
 * of a damaged reply that can be read.
 */
import type { ObservationDraft, SummaryDraft } from '../../../domain/observation.ts'
import { unique } from '../../../reading/text.ts'
import { type ListEntry, type ReplyElement, readElements } from './elements.ts'
import { decodeEntities, type ListName, type RootName, type TextName } from './tags.ts'
import {
  cleanReplyText,
  decodeText,
  isPlaceholderText,
  MAX_FACT_CHARS,
  MAX_FILES,
  parseConcepts,
  parseFacts,
  parseFiles,
  parseFunctions,
  parseNumbers,
  parseType,
  textLine,
  truncateText,
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
/** A turn has one summary; more are pieces of it. */
const MAX_SUMMARIES = 10
/** More do not fit into one line. */
const MAX_REASONS = 10
/** A title is one line of a list; the prompt asks for a short one. */
const MAX_TITLE_CHARS = 300
const MAX_SUBTITLE_CHARS = 300
/** About two pages: more would be a transcript. */
const MAX_NARRATIVE_CHARS = 8_000
/** Per field of a summary. */
const MAX_SUMMARY_CHARS = 8_000
/** The reason of a skip is one line. */
const MAX_REASON_CHARS = 500

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
  const { answered, all, resolved } = readElements(text)
  const numbers = parseNumbers(resolved.join(' '))
  const reply = interpret(text, answered, numbers)
  return isAnswer(reply) || all === null ? reply : interpret(text, all, numbers)
}

function interpret(text: string, elements: readonly ReplyElement[], resolved: number[]): ParsedReply {
  const reasons = (root: RootName) =>
    joinReasons(firstOf(elements, root, MAX_REASONS, (element) => readReason(text, element)))
  return {
    observations: firstOf(elements, 'observation', MAX_OBSERVATIONS, readObservation),
    summary: mergeSummaries(firstOf(elements, 'summary', MAX_SUMMARIES, readSummary)),
    skip: reasons('skip'),
    skipSummary: reasons('skip_summary'),
    resolved,
  }
}

function firstOf<T>(
  elements: readonly ReplyElement[],
  root: RootName,
  count: number,
  read: (element: ReplyElement) => T | null,
): T[] {
  const found: T[] = []
  for (const element of elements) {
    if (element.root !== root) continue
    const value = read(element)
    if (value !== null) found.push(value)
    if (found.length === count) break
  }
  return found
}

/** Null if it has no content: a repeated example, or a tag that is only mentioned in prose. */
function readObservation(element: ReplyElement): ParsedObservation | null {
  if (element.attributes === null && !(element.texts.has('type') && fieldCount(element) > 1)) return null
  const numbers = (name: TextName) => parseNumbers(texts(element, name, MAX_TITLE_CHARS).join(' '))
  const amendments = parseAmendments(texts(element, 'amends', MAX_FACT_CHARS))
  const observation = {
    type: parseType(texts(element, 'type', MAX_TITLE_CHARS)[0] ?? ''),
    ...readHeading(element),
    facts: unique([...parseFacts(entries(element, 'facts')), ...amendments.facts]),
    concepts: parseConcepts(entries(element, 'concepts')),
    filesRead: parseFiles(entries(element, 'files_read')),
    filesModified: parseFiles(entries(element, 'files_modified')),
    functionsChanged: parseFunctions(entries(element, 'functions_changed')),
    from: numbers('from'),
    supersedes: numbers('supersedes'),
    amends: amendments.ids,
    status: parseStatus(texts(element, 'status', MAX_TITLE_CHARS)[0] ?? ''),
  }
  return hasContent(observation) ? observation : null
}

/** A model reports what is open or untested; what was solved it names in a mark. */
function parseStatus(written: string): ParsedObservation['status'] {
  if (/^(?:open|unresolved|unsolved)\b/i.test(written)) return 'open'
  return /^(?:untested|not[ _-]?tested|unverified)\b/i.test(written) ? 'untested' : null
}

/** `12 old statement → new one`: the number, then what is replaced, which is kept as a fact. */
function parseAmendments(written: readonly string[]): { ids: number[]; facts: string[] } {
  const ids = new Set<number>()
  const facts: string[] = []
  for (const text of written) {
    const [, number = '', statement = ''] = /^\D{0,20}?(\d{1,9})(?!\d)[\s:,.–-]{0,8}(.*)$/s.exec(text) ?? []
    const hasWords = /\p{L}/u.test(statement)
    for (const id of hasWords ? parseNumbers(number) : parseNumbers(text)) ids.add(id)
    if (hasWords) facts.push(textLine(`Amends #${number}: ${statement}`, MAX_FACT_CHARS))
  }
  return { ids: [...ids], facts }
}

function readHeading(element: ReplyElement): Pick<ParsedObservation, 'title' | 'subtitle' | 'narrative'> {
  return {
    title: firstLine(element, 'title', MAX_TITLE_CHARS),
    subtitle: firstLine(element, 'subtitle', MAX_SUBTITLE_CHARS),
    narrative: paragraphs(element, 'narrative', MAX_NARRATIVE_CHARS) ?? looseText(element, MAX_NARRATIVE_CHARS),
  }
}

/** A type and concepts alone are no content. */
function hasContent(observation: ParsedObservation): boolean {
  const { title, subtitle, narrative, facts, filesRead, filesModified, functionsChanged } = observation
  if (title !== null || subtitle !== null || narrative !== null) return true
  return [facts, filesRead, filesModified, functionsChanged].some((list) => list.length > 0)
}

function readSummary(element: ReplyElement): SummaryDraft | null {
  if (element.attributes === null && fieldCount(element) < 2) return null
  const part = (name: TextName): string | null => paragraphs(element, name, MAX_SUMMARY_CHARS)
  const summary = {
    request: part('request') ?? firstLine(element, 'title', MAX_TITLE_CHARS),
    investigated: part('investigated'),
    learned: part('learned'),
    completed: part('completed') ?? part('narrative') ?? looseText(element, MAX_SUMMARY_CHARS),
    nextSteps: part('next_steps'),
    notes: part('notes'),
    filesRead: parseFiles(entries(element, 'files_read')),
    filesEdited: parseFiles(entries(element, 'files_modified')),
  }
  return hasSummaryContent(summary) ? summary : null
}

/** The first summary wins; the others fill its gaps. */
function mergeSummaries([first, ...others]: readonly SummaryDraft[]): SummaryDraft | null {
  if (first === undefined) return null
  return others.reduce(
    (summary, other) => ({
      request: summary.request ?? other.request,
      investigated: summary.investigated ?? other.investigated,
      learned: summary.learned ?? other.learned,
      completed: summary.completed ?? other.completed,
      nextSteps: summary.nextSteps ?? other.nextSteps,
      notes: summary.notes ?? other.notes,
      filesRead: unique([...summary.filesRead, ...other.filesRead]).slice(0, MAX_FILES),
      filesEdited: unique([...summary.filesEdited, ...other.filesEdited]).slice(0, MAX_FILES),
    }),
    first,
  )
}

function hasSummaryContent({ filesRead, filesEdited, ...parts }: SummaryDraft): boolean {
  return filesRead.length > 0 || filesEdited.length > 0 || Object.values(parts).some((part) => part !== null)
}

function fieldCount(element: ReplyElement): number {
  return element.texts.size + element.lists.size
}

function entries(element: ReplyElement, name: ListName): readonly ListEntry[] {
  return element.lists.get(name) ?? []
}

/** A field that occurs more often comes from a model that repeats itself. */
const MAX_REPEATS = 20

/** All occurrences of a field, then the root's attribute of the same name. */
function texts(element: ReplyElement, name: TextName, maxChars: number): string[] {
  const fields = (element.texts.get(name) ?? []).slice(0, MAX_REPEATS).map((raw) => decodeText(raw, maxChars))
  const attribute = element.attributes?.get(name.replace('_', ''))
  const all = attribute === undefined ? fields : [...fields, cleanReplyText(attribute)]
  return all.filter((text) => !isPlaceholderText(text))
}

function firstLine(element: ReplyElement, name: TextName, maxChars: number): string | null {
  const text = texts(element, name, maxChars)[0]
  return text === undefined ? null : textLine(text, maxChars)
}

function paragraphs(element: ReplyElement, name: TextName, maxChars: number): string | null {
  const all = unique(texts(element, name, maxChars))
  return all.length === 0 ? null : truncateText(all.join('\n\n'), maxChars)
}

/** The text of an element without fields. Only if it is closed: after a mere mention of its tag, prose follows. */
function looseText(element: ReplyElement, maxChars: number): string | null {
  if (!element.closed || fieldCount(element) > 0) return null
  const text = decodeText(element.loose, maxChars)
  return isPlaceholderText(text) ? null : truncateText(text, maxChars)
}

const NO_REASON = 'no reason given'
const TAG = /<[^<>]{1,100}>/g
/** How far back the beginning of the line is searched. */
const MAX_INDENT_CHARS = 100
/** Tags and entities make the raw reason longer. */
const MAX_RAW_REASON_CHARS = 4 * MAX_REASON_CHARS

/** `<skip reason="…"/>`. Null if prose only mentions the tag: not closed, without a reason, not at the start of a line. */
function readReason(reply: string, element: ReplyElement): string | null {
  const attribute = textLine(cleanReplyText(element.attributes?.get('reason') ?? ''), MAX_REASON_CHARS)
  if (attribute !== '') return attribute
  const raw = element.loose.trimStart().slice(0, MAX_RAW_REASON_CHARS).replace(TAG, ' ')
  const text = decodeText(raw, MAX_REASON_CHARS)
  if (element.closed) return textLine(text, MAX_REASON_CHARS) || NO_REASON
  const before = reply.slice(Math.max(0, element.start - MAX_INDENT_CHARS), element.start)
  if (before.slice(before.lastIndexOf('\n') + 1).trim() !== '') return null
  return textLine(text.split('\n')[0] ?? '', MAX_REASON_CHARS) || NO_REASON
}

function joinReasons(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : textLine(unique(reasons).join('; '), MAX_REASON_CHARS)
}
