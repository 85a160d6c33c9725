/**
 * Active sessions, kept up to date by the commits of the stream. A commit carries the new state of its session, so no
 * request is needed for each: at 200 events a second with 40 sessions requests would be too slow.
 */
import type { OutputOf } from '../api/index.ts'
import type { StreamMessage } from '../transport/messages.ts'
import { callDaemon, loadGeneration, onStreamMessages } from './connection.ts'
import { Observable } from './observable.ts'

type Commit = Extract<StreamMessage, { type: 'commit' }>
type SessionView = OutputOf<'session'>['view']
export type LiveTransition = Commit['transitions'][number]

/** Fields of a commit that describe the commit and not its session. */
type CommitFields = 'v' | 'type' | 'seq' | 'at' | 'newPrompts' | 'calls'
type CountedFields = 'transitions' | 'observations' | 'summaries'

export interface LiveSession extends Omit<Commit, CommitFields | CountedFields> {
  observations: number
  summaries: number
  createdAt: number
  updatedAt: number
  quarantine: string | null
  /** The last ones, oldest first. */
  transitions: readonly LiveTransition[]
  /** How many transitions arrived since the page was loaded: these are animated. */
  heard: number
}

/** Transitions kept per session. */
const MAX_TRANSITIONS = 30
/** Active sessions that are loaded at first. */
const MAX_LOADED = 40
/** Ended sessions are dropped beyond this number, because a page may stay open for weeks. */
const MAX_KEPT = 200

/** By id, the most recently updated first. */
export const liveSessions = new Observable<ReadonlyMap<string, LiveSession>>(new Map())
export const liveSessionsLoaded = new Observable(false)

export function trackLiveSessions(): void {
  loadGeneration.subscribe(() => void loadAll())
  onStreamMessages((messages) => {
    const next = new Map(liveSessions.value)
    for (const message of messages) {
      if (message.type === 'commit') {
        const before = next.get(message.session)
        next.set(message.session, afterCommit(before, message))
        // The session may be old: counts and transitions before this commit are not in the stream.
        if (before === undefined && liveSessionsLoaded.value) void loadOne(message.session)
      } else if (message.change === 'erased') next.delete(message.session)
      else if (message.change === 'quarantined') void loadOne(message.session)
    }
    publish(next)
  })
}

async function loadAll(): Promise<void> {
  const before = liveSessions.value
  const listed = await callDaemon('sessions', { status: 'active', limit: MAX_LOADED }).catch(() => null)
  // The connection broke. Everything is loaded again when it is restored.
  if (listed === null) return
  const views = await Promise.all(listed.sessions.map(({ session }) => loadView(session)))
  const next = new Map(views.flatMap((view) => (view === null ? [] : [[view.row.session, fromView(view)]])))
  // Commits that arrived during the requests are newer than the answers.
  for (const [id, session] of liveSessions.value) {
    const loaded = next.get(id)
    if (before.get(id) !== session) next.set(id, loaded === undefined ? session : newest(loaded, session))
  }
  publish(next)
  liveSessionsLoaded.set(true)
}

async function loadOne(id: string): Promise<void> {
  const view = await loadView(id)
  if (view === null) return
  const known = liveSessions.value.get(id)
  const loaded = fromView(view)
  publish(new Map(liveSessions.value).set(id, known === undefined ? loaded : newest(loaded, known)))
}

/** Null: the session was erased since it was listed, or the connection broke. */
async function loadView(session: string): Promise<SessionView | null> {
  const answer = await callDaemon('session', { session, trace: MAX_TRANSITIONS }).catch(() => null)
  return answer?.view ?? null
}

/** The streamed session is newer if the loaded view does not contain its last transition. */
function newest(loaded: LiveSession, streamed: LiveSession): LiveSession {
  const last = streamed.transitions.at(-1)
  const isNewer = loaded.quarantine === null && last !== undefined && !includesTransition(loaded.transitions, last)
  if (!isNewer) return { ...loaded, heard: streamed.heard }
  return {
    ...streamed,
    createdAt: loaded.createdAt,
    observations: Math.max(loaded.observations, streamed.observations),
    summaries: Math.max(loaded.summaries, streamed.summaries),
  }
}

function includesTransition(transitions: readonly LiveTransition[], one: LiveTransition): boolean {
  return transitions.some(
    ({ at, event, eventId, from, to }) =>
      at === one.at && event === one.event && eventId === one.eventId && from === one.from && to === one.to,
  )
}

function publish(sessions: Map<string, LiveSession>): void {
  const sorted = [...sessions].sort(([, a], [, b]) => b.updatedAt - a.updatedAt)
  liveSessions.set(new Map(sorted.filter(([, { status }], i) => i < MAX_KEPT || status === 'active')))
}

function fromView({ row, messages, trace, observations, summaries }: SessionView): LiveSession {
  const failed = messages.filter((message) => message.status === 'failed').length
  return {
    ...row,
    project: row.project.key,
    projectName: row.project.name,
    pending: messages.length - failed,
    failed,
    observations,
    summaries,
    updatedAt: trace.reduce((latest, { at }) => Math.max(latest, at), row.heardAt),
    transitions: [...trace].sort((a, b) => a.id - b.id),
    heard: 0,
  }
}

function afterCommit(before: LiveSession | undefined, commit: Commit): LiveSession {
  const last = commit.transitions.at(-1)
  // A view that was loaded after the commit already contains it.
  const isCounted = before !== undefined && last !== undefined && includesTransition(before.transitions, last)
  const transitions = isCounted ? [] : commit.transitions
  return {
    ...commit,
    observations: (before?.observations ?? 0) + (isCounted ? 0 : commit.observations.length),
    summaries: (before?.summaries ?? 0) + (isCounted ? 0 : commit.summaries.length),
    createdAt: before?.createdAt ?? commit.at,
    updatedAt: commit.at,
    quarantine: null,
    transitions: [...(before?.transitions ?? []), ...transitions].slice(-MAX_TRANSITIONS),
    heard: (before?.heard ?? 0) + transitions.length,
  }
}
