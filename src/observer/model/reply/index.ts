/**
 * A model's reply, understood: observations, a summary, or a reasoned skip. It never throws, and keeps whatever part
 * of a damaged reply can be read.
 */
import type { SummaryDraft } from '../../../memory/observation.ts'
import { MAX_OBSERVATIONS } from './bounds.ts'
import type { Element } from './element.ts'
import {
  mergedSummary,
  observationOf,
  type ParsedObservation,
  saysSomething,
  summaryOf,
  sumsSomethingUp,
} from './observation.ts'
import { readElements } from './read.ts'
import { joinedReasons, reasonOf } from './skip.ts'
import type { RootName } from './tags.ts'
import { decodeEntities } from './text.ts'
import { readings } from './thoughts.ts'

export type { ParsedObservation } from './observation.ts'

export interface ParsedReply {
  observations: ParsedObservation[]
  summary: SummaryDraft | null
  /** Why there is nothing to observe, or nothing to sum up; null where the reply does not say so. */
  skip: string | null
  skipSummary: string | null
}

export function parseReply(text: string): ParsedReply {
  const reply = parse(text)
  // The whole reply may have been escaped, as if it were a text.
  return isAnswer(reply) || !ESCAPED.test(text) ? reply : parse(decodeEntities(text))
}

const ESCAPED = /&lt;(?:observation|summary|skip)/i

/** Prose with neither observation, summary nor skip is not an answer. */
export function isAnswer({ observations, summary, skip, skipSummary }: ParsedReply): boolean {
  if (skip !== null || skipSummary !== null) return true
  return observations.some(saysSomething) || (summary !== null && sumsSomethingUp(summary))
}

function parse(text: string): ParsedReply {
  const { spoken, all } = readings(text, readElements(text))
  const reply = understand(text, spoken)
  return isAnswer(reply) || all === null ? reply : understand(text, all)
}

function understand(text: string, elements: readonly Element[]): ParsedReply {
  return {
    observations: firstOf(elements, 'observation', MAX_OBSERVATIONS, observationOf),
    summary: mergedSummary(firstOf(elements, 'summary', MAX_SUMMARIES, summaryOf)),
    skip: joinedReasons(firstOf(elements, 'skip', MAX_REASONS, (element) => reasonOf(text, element))),
    skipSummary: joinedReasons(firstOf(elements, 'skip_summary', MAX_REASONS, (element) => reasonOf(text, element))),
  }
}

/** A turn has one summary; a reply that begins it anew is in pieces. */
const MAX_SUMMARIES = 10
/** More reasons than that do not fit into one line. */
const MAX_REASONS = 10

function firstOf<T>(
  elements: readonly Element[],
  root: RootName,
  most: number,
  read: (element: Element) => T | null,
): T[] {
  const found: T[] = []
  for (const element of elements) {
    if (element.root !== root) continue
    const value = read(element)
    if (value !== null) found.push(value)
    if (found.length === most) break
  }
  return found
}
