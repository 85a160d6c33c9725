/** What the context of a session is chosen from. It stays the same amount however much is known about a project. */
import type { Observation, ObservationType, Summary } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'

export interface ContextQuery {
  project: string
  types: readonly ObservationType[]
  /** The newest of all these types, and beyond them the newest `ofEachType` of each. */
  observations: number
  ofEachType: number
  summaries: number
  pinned: number
}

export interface ProjectTotals {
  observations: number
  /** What the main agent spent to learn them. */
  discoveryTokens: number
  /** When the oldest was made; null before the first. */
  since: number | null
}

export interface ContextMaterial {
  project: Project
  totals: ProjectTotals
  /** Newest first; of those that were looked at, all that are neither pinned nor replaced by a newer one. */
  observations: Observation[]
  /** The one that was pinned last first. Of any type, and replaced or not: a person wants them. */
  pinned: Observation[]
  /** Newest first. */
  summaries: Summary[]
  /** Which of them say again what an earlier one said. */
  repeats: { from: number; to: number }[]
  /** Observations that were looked at and left out because a newer one replaces them. */
  superseded: number
}

/** A key whose memory is kept under another. */
export interface Alias {
  key: string
  /** Its repository moved away: whatever starts there next is a project of its own. */
  moved: boolean
}
