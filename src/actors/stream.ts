/**
 * What becomes visible outside, and only after it is durable, in the order of `seq`. A commit of a session is one item;
 * so is whatever else changes the memory: what people forget, pin and link, what is imported, a project that is merged.
 */
import type { Effect } from '../../machines/session/types.ts'
import type { ModelCall } from '../memory/call.ts'
import type { Observation, Summary, Usage } from '../memory/observation.ts'
import type { Commit, CommitResult, SessionStatus, TraceEntry } from '../store/commit.ts'

/** A call to a model without its words: those are asked for when somebody wants to read them. */
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
  /** Its key. */
  project: string
  projectName: string
  client: string
  cwd: string
  status: SessionStatus
  state: string
  /** How many there were. */
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
  /** `ids`: of observations. With summaries or prompts among them a follower loads its lists again. */
  | { change: 'forgotten'; ids: readonly number[]; summaries: number; prompts: number }
  | { change: 'pinned'; ids: readonly number[]; on: boolean }
  /** `from` replaces `to`, or does not any more. */
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
    observations: commit.observations.map(({ draft, links: _, ...rest }, i) => ({
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
    calls: commit.calls.map(({ sent: _, received: __, ...call }) => call),
  }
}
