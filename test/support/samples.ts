/** Observations and summaries with empty fields, for tests that set what they are about. */
import type { Observation, Summary } from '../../src/domain/observation.ts'

export function sampleObservation(over: Partial<Observation> = {}): Observation {
  return {
    id: 1,
    session: 's',
    project: 'dir:/home/dev/shop',
    promptNumber: 1,
    contentHash: 'hash',
    promptVersion: null,
    model: null,
    createdAt: 0,
    type: 'change',
    title: null,
    subtitle: null,
    narrative: null,
    facts: [],
    concepts: [],
    filesRead: [],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: 0,
    discoveryEstimated: true,
    sources: [],
    ...over,
  }
}

export function sampleSummary(over: Partial<Summary> = {}): Summary {
  return {
    id: 1,
    session: 's',
    project: 'dir:/home/dev/shop',
    promptNumber: 1,
    model: null,
    createdAt: 0,
    request: null,
    investigated: null,
    learned: null,
    completed: null,
    nextSteps: null,
    notes: null,
    filesRead: [],
    filesEdited: [],
    ...over,
  }
}
