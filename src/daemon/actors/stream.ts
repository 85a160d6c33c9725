/**
 * Items of the live stream: published after they are durable, in the order of `seq`. A session's commit is one item; so is
 * every other change of the memory: forget, pin, link, import, a merged project.
 */
import type { Effect } from '../../../machines/session/types.ts'
import type { ModelCall } from '../../domain/model-call.ts'
import type { Observation, Summary, Usage } from '../../domain/observation.ts'
import type { Commit, CommitResult, SessionStatus, TraceEntry } from '../../store/commit.ts'

/** A model call without its texts, which can be long. */
export type CallNews = Omit<ModelCall, 'sent' | 'received'>

export interface PromptNews {
  id: number
  number: number
  text: string
  private: boolean
  at: number
}

export interface CommitNews {
  type: 'commit'
  seq: number
  at: number
  session: string
  /** Key of the project. */
  project: string
  projectName: string
  client: string
  cwd: string
  status: SessionStatus
  state: string
  /** Number of prompts so far. */
  prompts: number
  pending: number
  failed: number
  waiting: string | null
  wakeAt: number | null
  effect: Effect | null
  generation: number
  contextTokens: number
  usage: Usage
  /** Every transition of this commit, in order, with its event and reason. */
  transitions: TraceEntry[]
  newPrompts: PromptNews[]
  observations: Observation[]
  summaries: Summary[]
  calls: CallNews[]
}

export type MemoryChange =
  /** `ids`: of observations. Where summaries or prompts were forgotten too, a subscriber loads its lists again. */
  | { change: 'forgotten'; ids: readonly number[]; summaries: number; prompts: number }
  | { change: 'pinned'; ids: readonly number[]; on: boolean }
  /** `from` supersedes `to`, or no longer does. */
  | { change: 'linked'; from: number; to: number; on: boolean }
  | { change: 'imported'; projects: readonly string[] }
  /** Projects were renamed, merged or moved. */
  | { change: 'projects' }
  | { change: 'quarantined'; session: string; reason: string }
  | { change: 'erased'; session: string }

export type ChangeNews = { type: 'change'; seq: number; at: number } & MemoryChange

export type StreamItem = CommitNews | ChangeNews

export function commitNews(
  commit: Commit,
  result: CommitResult & { ok: true },
  counts: { pending: number; failed: number },
): CommitNews {
  const { session, state } = commit
  const project = state.project.key
  return {
    type: 'commit',
    seq: result.seq,
    at: commit.at,
    session,
    project,
    projectName: state.project.name,
    client: state.client,
    cwd: state.cwd,
    status: state.status,
    state: state.state,
    prompts: state.prompts,
    pending: counts.pending,
    failed: counts.failed,
    waiting: state.waiting,
    wakeAt: state.wakeAt,
    effect: state.effect,
    generation: state.generation,
    contextTokens: state.contextTokens,
    usage: state.usage,
    transitions: commit.trace,
    newPrompts: commit.prompts.map(({ eventId: _, ...prompt }, i) => ({ ...prompt, id: result.promptIds[i] ?? 0 })),
    observations: commit.observations.map(({ links: _, ...observation }, i) => ({
      ...observation,
      id: result.observationIds[i] ?? 0,
      session,
      project,
    })),
    summaries: commit.summaries.map((summary, i) => ({
      ...summary,
      id: result.summaryIds[i] ?? 0,
      session,
      project,
    })),
    calls: commit.calls.map(({ sent: _, received: __, ...call }) => call),
  }
}
