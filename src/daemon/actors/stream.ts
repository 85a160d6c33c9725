/**
 * Items of the live stream: published after they are durable, in the order of `seq`. A session's commit is one item; so is
 * every other change of the memory: forget, pin, link, import, a merged project.
 */
import { type ModelCall, UNKNOWN_OUTCOME } from '../../domain/model-call.ts'
import type { Observation, Summary } from '../../domain/observation.ts'
import type { Commit, CommitResult, NewPrompt, SessionState, TraceEntry } from '../../store/commit.ts'

/** A model call without its texts, which can be long. */
type StreamedCall = Omit<ModelCall, 'sent' | 'received'>

type StreamedPrompt = Omit<NewPrompt, 'eventId'> & { id: number }

/** The session's row without what only the daemon needs. */
type StreamedSession = Omit<SessionState, 'project' | 'transcriptPath' | 'heardAt' | 'snapshot' | 'machineVersion'>

export interface CommitItem extends StreamedSession {
  type: 'commit'
  seq: number
  at: number
  session: string
  /** Key of the project. */
  project: string
  projectName: string
  pending: number
  failed: number
  /** Every transition of this commit, in order, with its event and reason. */
  transitions: TraceEntry[]
  newPrompts: StreamedPrompt[]
  observations: Observation[]
  summaries: Summary[]
  calls: StreamedCall[]
}

export type StreamedChange =
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

export type ChangeItem = { type: 'change'; seq: number; at: number } & StreamedChange

export type StreamItem = CommitItem | ChangeItem

export function commitItem(
  commit: Commit,
  result: CommitResult & { ok: true },
  counts: { pending: number; failed: number },
): CommitItem {
  const { session, at, state } = commit
  const project = state.project.key
  // Written out: rest properties would make a slow object of several KB for each event.
  return {
    type: 'commit',
    seq: result.seq,
    at,
    session,
    project,
    projectName: state.project.name,
    client: state.client,
    cwd: state.cwd,
    status: state.status,
    state: state.state,
    wakeAt: state.wakeAt,
    effect: state.effect,
    waiting: state.waiting,
    prompts: state.prompts,
    generation: state.generation,
    contextTokens: state.contextTokens,
    usage: state.usage,
    pending: counts.pending,
    failed: counts.failed,
    transitions: commit.trace,
    newPrompts: commit.prompts.map(({ eventId: _, ...prompt }, i) => ({ ...prompt, id: result.promptIds[i] ?? 0 })),
    observations: commit.observations.map(({ links: _, ...observation }, i) => {
      return { ...observation, id: result.observationIds[i] ?? 0, session, project }
    }),
    summaries: commit.summaries.map((summary, i) => ({ ...summary, id: result.summaryIds[i] ?? 0, session, project })),
    calls: commit.calls
      .filter(({ error }) => error !== UNKNOWN_OUTCOME)
      .map(({ sent: _, received: __, ...call }) => call),
  }
}
