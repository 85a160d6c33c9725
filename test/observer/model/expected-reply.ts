/** Expected replies, from only the fields that a test is about. */
import type { SummaryDraft } from '../../../src/domain/observation.ts'
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
    amends: [],
    status: null,
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

export const emptyReply: ParsedReply = { observations: [], summary: null, skip: null, skipSummary: null, resolved: [] }

export function withObservations(...observations: readonly Partial<ParsedObservation>[]): ParsedReply {
  return { ...emptyReply, observations: observations.map(observation) }
}

export function withSummary(fields: Partial<SummaryDraft>): ParsedReply {
  return { ...emptyReply, summary: summary(fields) }
}

export type ReplyExample = [name: string, reply: string, expected: ParsedReply]

export const inObservation = (fields: string): string => `<observation>${fields}</observation>`
