/** What a reply comes to, with only the fields that a test is about. */
import type { SummaryDraft } from '../../../src/memory/observation.ts'
import type { ParsedObservation, ParsedReply } from '../../../src/observer/model/reply/index.ts'

export function observation(fields: Partial<ParsedObservation>): ParsedObservation {
  return {
    type: 'change',
    title: null,
    subtitle: null,
    narrative: null,
    facts: [],
    concepts: [],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    from: [],
    supersedes: [],
    ...fields,
  }
}

export function summary(fields: Partial<SummaryDraft>): SummaryDraft {
  return {
    request: null,
    investigated: null,
    learned: null,
    completed: null,
    nextSteps: null,
    notes: null,
    filesRead: [],
    filesEdited: [],
    ...fields,
  }
}

export const nothing: ParsedReply = { observations: [], summary: null, skip: null, skipSummary: null }

export function observed(...observations: readonly Partial<ParsedObservation>[]): ParsedReply {
  return { ...nothing, observations: observations.map(observation) }
}

export function summed(fields: Partial<SummaryDraft>): ParsedReply {
  return { ...nothing, summary: summary(fields) }
}

export type Example = [name: string, reply: string, expected: ParsedReply]

export const within = (fields: string): string => `<observation>${fields}</observation>`
