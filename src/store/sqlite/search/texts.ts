/** What is indexed of a memory, column by column. */
import type { Observation, Summary } from '../../../memory/observation.ts'
import { wordsOf } from '../../../search/tokens.ts'
import { gramsOf } from './grams.ts'

/** The columns of the full-text table, in their order. */
export const COLUMNS = ['title', 'body', 'facts', 'names', 'grams', 'neighbours'] as const
export type Column = (typeof COLUMNS)[number]
export type IndexedText = Record<Column, string>

/** Of each observation that stands beside another: its title and the beginning say what it is about. */
const NEIGHBOUR_CHARS = 400

export interface OwnText {
  title: string
  body: string
  facts: string
  /** Concepts, files and functions. */
  names: string
}

export type Beside = Pick<Observation, 'title' | 'subtitle' | 'narrative'>

export function textOfObservation(observation: Observation): OwnText {
  const { title, subtitle, narrative, facts, concepts, filesRead, filesModified, functionsChanged } = observation
  const functions = functionsChanged.map(({ name }) => name)
  return {
    title: title ?? '',
    body: lines([subtitle, narrative]),
    facts: lines(facts),
    names: lines([...new Set([...concepts, ...filesRead, ...filesModified, ...functions])]),
  }
}

export function textOfSummary(summary: Summary): OwnText {
  const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = summary
  return {
    title: request ?? '',
    body: lines([investigated, learned, completed, nextSteps, notes]),
    facts: '',
    names: lines([...new Set([...filesRead, ...filesEdited])]),
  }
}

export function textOfPrompt(text: string): OwnText {
  return { title: '', body: text, facts: '', names: '' }
}

/** `beside`: what stands before and after it in its session. */
export function indexedText(own: OwnText, beside: readonly Beside[]): IndexedText {
  const text = lines(Object.values(own))
  return {
    ...own,
    names: lines([own.names, splitForms(text)]),
    grams: gramsOf(text),
    neighbours: lines(beside.map(besideText)),
  }
}

/** Several observations as one text. */
export function chunkText(members: readonly OwnText[]): string {
  return lines(members.map((own) => searchable(lines(Object.values(own)))))
}

export function charsOf(own: OwnText): number {
  return own.title.length + own.body.length + own.facts.length + own.names.length
}

function besideText({ title, subtitle, narrative }: Beside): string {
  return searchable(lines([title, subtitle, narrative]).slice(0, NEIGHBOUR_CHARS))
}

function searchable(text: string): string {
  return lines([text, splitForms(text), gramsOf(text)])
}

/**
 * What the tokenizer takes for one word and people may look for by its parts: `getUserById`, `sha256`. It splits
 * `snake_case` and paths itself.
 */
function splitForms(text: string): string {
  const split = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!/\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u.test(word)) continue
    const parts = wordsOf(word)
    if (parts.length > 1) split.add(parts.join(' '))
  }
  return [...split].join('\n')
}

function lines(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join('\n')
}
