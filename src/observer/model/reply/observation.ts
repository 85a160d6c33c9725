/** Elements into an observation and a summary. */
import type { FunctionChange, ObservationType, SummaryDraft } from '../../../memory/observation.ts'
import { unique } from '../../offline/text.ts'
import { MAX_FILES, MAX_NARRATIVE_CHARS, MAX_SUBTITLE_CHARS, MAX_SUMMARY_CHARS, MAX_TITLE_CHARS } from './bounds.ts'
import type { Element, Entry } from './element.ts'
import type { ListName, TextName } from './tags.ts'
import { bounded, inLine, isPlaceholder, plainText, tidy } from './text.ts'
import { conceptsOf, factsOf, filesOf, functionsOf, numbersOf, typeOf } from './values.ts'

export interface ParsedObservation {
  type: ObservationType
  title: string | null
  subtitle: string | null
  narrative: string | null
  facts: string[]
  concepts: string[]
  filesRead: string[]
  filesModified: string[]
  functionsChanged: FunctionChange[]
  /** Numbers of the tool uses it came from; empty: not said. */
  from: number[]
  /** Ids of earlier observations that are no longer true because of it. */
  supersedes: number[]
}

/** Null where it says nothing: an example that was repeated, or a tag that prose mentions. */
export function observationOf(element: Element): ParsedObservation | null {
  if (element.attributes === null && !(element.texts.has('type') && fieldsOf(element) > 1)) return null
  const observation = {
    type: typeOf(texts(element, 'type', MAX_TITLE_CHARS)[0] ?? ''),
    title: oneLine(element, 'title', MAX_TITLE_CHARS),
    subtitle: oneLine(element, 'subtitle', MAX_SUBTITLE_CHARS),
    narrative: paragraphs(element, 'narrative', MAX_NARRATIVE_CHARS) ?? looseText(element, MAX_NARRATIVE_CHARS),
    facts: factsOf(entries(element, 'facts')),
    concepts: conceptsOf(entries(element, 'concepts')),
    filesRead: filesOf(entries(element, 'files_read')),
    filesModified: filesOf(entries(element, 'files_modified')),
    functionsChanged: functionsOf(entries(element, 'functions_changed')),
    from: numbersOf(texts(element, 'from', MAX_TITLE_CHARS).join(' ')),
    supersedes: numbersOf(texts(element, 'supersedes', MAX_TITLE_CHARS).join(' ')),
  }
  return saysSomething(observation) ? observation : null
}

/** A type and concepts alone are no content. */
export function saysSomething(observation: ParsedObservation): boolean {
  const { title, subtitle, narrative, facts, filesRead, filesModified, functionsChanged } = observation
  if (title !== null || subtitle !== null || narrative !== null) return true
  return [facts, filesRead, filesModified, functionsChanged].some((list) => list.length > 0)
}

/** Null where it says nothing. */
export function summaryOf(element: Element): SummaryDraft | null {
  if (element.attributes === null && fieldsOf(element) < 2) return null
  const part = (name: TextName): string | null => paragraphs(element, name, MAX_SUMMARY_CHARS)
  const summary = {
    request: part('request') ?? oneLine(element, 'title', MAX_TITLE_CHARS),
    investigated: part('investigated'),
    learned: part('learned'),
    completed: part('completed') ?? part('narrative') ?? looseText(element, MAX_SUMMARY_CHARS),
    nextSteps: part('next_steps'),
    notes: part('notes'),
    filesRead: filesOf(entries(element, 'files_read')),
    filesEdited: filesOf(entries(element, 'files_modified')),
  }
  return sumsSomethingUp(summary) ? summary : null
}

/** What the first one leaves open, the next may say. */
export function mergedSummary(summaries: readonly SummaryDraft[]): SummaryDraft | null {
  const [first, ...others] = summaries
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

export function sumsSomethingUp({ filesRead, filesEdited, ...parts }: SummaryDraft): boolean {
  return filesRead.length > 0 || filesEdited.length > 0 || Object.values(parts).some((part) => part !== null)
}

function fieldsOf(element: Element): number {
  return element.texts.size + element.lists.size
}

function entries(element: Element, name: ListName): readonly Entry[] {
  return element.lists.get(name) ?? []
}

/** What a field says, as often as it stands there; else what the root's attribute of that name says. */
function texts(element: Element, name: TextName, most: number): string[] {
  const said = (element.texts.get(name) ?? []).slice(0, MAX_REPEATS).map((raw) => plainText(raw, most))
  const attribute = element.attributes?.get(name.replace('_', ''))
  const all = attribute === undefined ? said : [...said, tidy(attribute)]
  return all.filter((text) => !isPlaceholder(text))
}

/** A field that stands there more often is a model going in circles. */
const MAX_REPEATS = 20

/** The first one counts. */
function oneLine(element: Element, name: TextName, most: number): string | null {
  const text = texts(element, name, most)[0]
  return text === undefined ? null : inLine(text, most)
}

/** All of them count. */
function paragraphs(element: Element, name: TextName, most: number): string | null {
  const all = [...new Set(texts(element, name, most))]
  return all.length === 0 ? null : bounded(all.join('\n\n'), most)
}

/** An element without a field may still hold words. Only where it was closed: prose goes on behind a mere mention. */
function looseText(element: Element, most: number): string | null {
  if (!element.closed || fieldsOf(element) > 0) return null
  const text = plainText(element.loose, most)
  return isPlaceholder(text) ? null : bounded(text, most)
}
