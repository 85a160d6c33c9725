/** A plan carried out: a few sessions at a time, newest first, until all are sent or somebody stops it. */
import type { ChannelClient } from '../channel/client.ts'
import { MemError, messageOf } from '../errors.ts'
import type { TranscriptOptions } from '../hook/transcript/index.ts'
import type { PlannedSession } from './plan.ts'
import { type Sent, sendSession } from './send.ts'

/** While one is read, others are observed. What waits in the inbox is bounded by these. */
const SESSIONS_AT_ONCE = 4

export interface FailedSession {
  session: string
  file: string
  reason: string
}

/** What came of a backfill so far. It outlives the connection: a daemon that is started again goes on. */
export interface Progress {
  /** Not begun, or to be begun again; newest first. */
  left: PlannedSession[]
  done: number
  failed: FailedSession[]
  /** Tool uses that are on disk, the known ones included. */
  toolUses: number
  fresh: number
  observations: number
  summaries: number
  /** Why nothing moves. */
  waiting: string | null
}

export function newProgress(sessions: readonly PlannedSession[]): Progress {
  return {
    left: [...sessions],
    done: 0,
    failed: [],
    toolUses: 0,
    fresh: 0,
    observations: 0,
    summaries: 0,
    waiting: null,
  }
}

export interface RunOptions {
  client: ChannelClient
  settings: TranscriptOptions['settings']
  /** No further session is begun; those under way are finished. */
  stop: AbortSignal
  moved: (progress: Progress) => void
}

/** Rejects when it cannot go on, as when the daemon is gone: what was under way is in `left` again. */
export async function runBackfill(progress: Progress, options: RunOptions): Promise<void> {
  const lost = new AbortController()
  const workers = Array.from({ length: SESSIONS_AT_ONCE }, async () => {
    for (;;) {
      const next = options.stop.aborted || lost.signal.aborted ? undefined : progress.left.shift()
      if (next === undefined) return
      await oneSession(next, progress, options, lost)
    }
  })
  await Promise.all(workers)
  lost.signal.throwIfAborted()
}

async function oneSession(
  planned: PlannedSession,
  progress: Progress,
  { client, settings, moved }: RunOptions,
  lost: AbortController,
): Promise<void> {
  const { session, file } = planned
  let toolUses = 0
  try {
    const sent = await sendSession({
      client,
      file,
      session,
      settings,
      signal: lost.signal,
      acked: ({ kind }) => {
        if (kind !== 'tool_use' && kind !== 'tool_failure') return
        toolUses += 1
        progress.toolUses += 1
        progress.waiting = null
        moved(progress)
      },
      waiting: (reason) => {
        progress.waiting = reason
        moved(progress)
      },
    })
    add(progress, sent)
  } catch (error) {
    if (lost.signal.aborted || isNobodysFault(error)) {
      progress.toolUses -= toolUses
      progress.left.unshift(planned)
      lost.abort(error)
      return
    }
    progress.failed.push({ session, file, reason: messageOf(error) })
  }
  moved(progress)
}

function add(progress: Progress, { fresh, observations, summaries }: Sent): void {
  progress.done += 1
  progress.waiting = null
  progress.fresh += fresh
  progress.observations += observations
  progress.summaries += summaries
}

/** The daemon is gone, the disk full, the provider silent: the next session would fare no better. */
function isNobodysFault(error: unknown): boolean {
  return isGone(error) || (error instanceof MemError && error.retryable)
}

export function isGone(error: unknown): boolean {
  return error instanceof MemError && (error.code === 'not_running' || error.code === 'draining')
}
