/** The form that all observations of the rules have: title, narrative of one to three sentences, and further facts. */
import {
  type FunctionChange,
  type ObservationDraft,
  type ObservationType,
  tokensForChars,
} from '../../domain/observation.ts'
import type { Speaker } from '../../domain/speaker.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { MAX_TITLE_WORDS, tidyTitle } from '../title-format.ts'
import { clipAtWord, singleLine, statedReason, unique } from '../tool-events/text.ts'
import { capitalized, sentenceWeight } from './statement-roles.ts'

export interface DraftParts {
  type: ObservationType
  /** The first sentence of the narrative where it is absent. */
  title?: string
  /** In their order; the most telling become the narrative, the others are facts. */
  statements: readonly string[]
  /** Further facts, which are never part of the narrative. */
  facts?: readonly string[]
  subtitle?: string | null
  concepts?: readonly string[]
  filesModified?: readonly string[]
  functionsChanged?: readonly FunctionChange[]
  agent?: string | null
  /** Characters of the events behind it. */
  chars?: number
  sources: readonly string[]
  saidBy?: Speaker
}

const MAX_TITLE_CHARS = 100
const MAX_NARRATIVE_SENTENCES = 3
const MAX_NARRATIVE_CHARS = 480
const MAX_FACTS = 12
/** Files and functions listed with an observation. */
const MAX_FILES = 10
const MAX_FUNCTIONS = 4
const MAX_SOURCES = 24

export function composeDraft(parts: DraftParts): ObservationDraft {
  const statements = unique(parts.statements)
  const narrative = chooseNarrative(statements)
  const rest = statements.filter((statement) => !narrative.includes(statement))
  const text = narrative.join(' ')
  const hasReason = statements.some((statement) => statedReason(statement) !== null)
  return {
    type: parts.type,
    title: titleOf(parts.title ?? narrative[0] ?? ''),
    subtitle: parts.subtitle ?? null,
    narrative: text,
    facts: unique([...rest, ...(parts.facts ?? [])])
      .filter((fact) => !text.includes(fact))
      .slice(0, MAX_FACTS),
    concepts: [...(parts.concepts ?? []), ...(hasReason ? ['why-it-exists'] : [])],
    filesRead: [],
    filesModified: unique(parts.filesModified ?? []).slice(0, MAX_FILES),
    functionsChanged: (parts.functionsChanged ?? []).slice(0, MAX_FUNCTIONS),
    agent: parts.agent ?? null,
    discoveryTokens: tokensForChars(Math.max(parts.chars ?? 0, statements.join('').length)),
    discoveryEstimated: true,
    sources: unique(parts.sources).slice(0, MAX_SOURCES),
    ...(parts.saidBy === undefined ? {} : { saidBy: parts.saidBy }),
  }
}

/** The first statement is mostly the result, so that it counts more. */
const FIRST_WEIGHT = 4

function chooseNarrative(statements: readonly string[]): string[] {
  const ranked = statements
    .map((statement, i) => ({ statement, i, weight: sentenceWeight(statement) + (i === 0 ? FIRST_WEIGHT : 0) }))
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
  let left = MAX_NARRATIVE_CHARS
  const chosen = ranked.filter(({ statement }, rank) => {
    if (rank > 0 && statement.length > left) return false
    left -= statement.length + 1
    return true
  })
  return chosen
    .slice(0, MAX_NARRATIVE_SENTENCES)
    .sort((a, b) => a.i - b.i)
    .map(({ statement }) => statement)
}

/** Begins a clause that says nothing without the one after it. */
const SUBORDINATE =
  /^(?:when|if|after|since|once|while|with|for|in|on|because|although|before|until|as|given)\b[^,]{3,80}, (?=\S+ \S+ \S+)/i

function mainClause(sentence: string): string {
  return sentence.split(' ').length > MAX_TITLE_WORDS ? sentence.replace(SUBORDINATE, '') : sentence
}

/** A label of a statement: its first clause, without "I have". */
export function titleOf(statement: string): string {
  const plain = singleLine(statement, 400)
    .replace(/[`“”]/g, '')
    .replace(/^(?:i|we)(?:'ve| have)? (?=\w+ed\b)/i, '')
    .replace(/^[-*•>\s]+/, '')
  const [sentence = plain] = plain.split(/(?<=\w{3}[.!?])\s/)
  const first = mainClause(sentence)
  const words = first.split(' ').length > MAX_TITLE_WORDS ? tidyTitle(first) : trimEndMatching(first, /[.。;:,\s]/)
  const short = clipAtWord(words, MAX_TITLE_CHARS)
  // In the statement it may begin with code.
  return /^[`“]/.test(statement.trimStart()) ? short : capitalized(short)
}

/** Statements of the best weight that fit, in their order; null if there are none. */
export function joinBest(statements: readonly string[], maxChars: number): string | null {
  let left = maxChars
  const chosen = statements
    .map((statement, i) => ({ statement, i, weight: sentenceWeight(statement) + (i === 0 ? FIRST_WEIGHT : 0) }))
    .sort((a, b) => b.weight - a.weight || a.i - b.i)
    .filter(({ statement }) => {
      if (statement.length > left) return false
      left -= statement.length + 1
      return true
    })
  if (chosen.length === 0) return statements[0] === undefined ? null : clipAtWord(statements[0], maxChars)
  return chosen
    .sort((a, b) => a.i - b.i)
    .map(({ statement }) => statement)
    .join(' ')
}
