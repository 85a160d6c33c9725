/** What becomes visible outside, and only after its commit: one item a commit, in the order of `seq`. */
import type { Observation, Summary } from '../memory/observation.ts'
import type { Commit, CommitResult, SessionStatus } from '../store/commit.ts'

export interface StreamItem {
  /** Grows by one with every commit. */
  seq: number
  at: number
  session: string
  project: string
  status: SessionStatus
  state: string
  prompts: number
  pending: number
  waiting: string | null
  effect: string | null
  observations: Observation[]
  summaries: Summary[]
}

export function streamItem(commit: Commit, result: CommitResult & { ok: true }, pending: number): StreamItem {
  const { session, state } = commit
  const project = state.project.key
  return {
    seq: result.seq,
    at: commit.at,
    session,
    project,
    status: state.status,
    state: state.state,
    prompts: state.prompts,
    pending,
    waiting: state.waiting,
    effect: state.effect?.kind ?? null,
    observations: commit.observations.map(({ draft, ...rest }, i) => ({
      ...draft,
      ...rest,
      id: result.observationIds[i] ?? 0,
      session,
      project,
    })),
    summaries: commit.summaries.map(({ draft, ...rest }, i) => ({
      ...draft,
      ...rest,
      id: result.summaryIds[i] ?? 0,
      session,
      project,
    })),
  }
}
