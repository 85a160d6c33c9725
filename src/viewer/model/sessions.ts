/** The sessions that are at work, as the stream tells of them. */
import type { Effect } from '../../../machines/session/types.ts'
import type { StreamMessage } from '../../channel/protocol.ts'
import type { Usage } from '../../memory/observation.ts'
import { Cell } from '../cell.ts'
import { ask, generation, onItems } from '../connection.ts'

type Commit = Extract<StreamMessage, { type: 'commit' }>
type SessionView = Awaited<ReturnType<typeof ask<'session'>>>['view']
export type Transition = Commit['transitions'][number]

export interface LiveSession {
  id: string
  project: string
  projectName: string
  client: string
  cwd: string
  status: string
  state: string
  prompts: number
  pending: number
  failed: number
  waiting: string | null
  wakeAt: number | null
  effect: Effect | null
  generation: number
  contextTokens: number
  usage: Usage
  observations: number
  summaries: number
  createdAt: number
  updatedAt: number
  quarantine: string | null
  /** The last ones, oldest first. */
  transitions: readonly Transition[]
  /** How many this page has heard of since it was loaded: what is new since is to be lit up. */
  heard: number
}

/** Kept of each session; the rest is in its own view. */
const TRANSITIONS = 30
/** Sessions at work that are looked at closely; nobody has more. */
const MOST = 40

/** By id, the one that was last heard of first. */
export const sessions = new Cell<ReadonlyMap<string, LiveSession>>(new Map())
export const sessionsLoaded = new Cell(false)

export function followSessions(): void {
  generation.subscribe(() => void load())
  onItems((items) => {
    const next = new Map(sessions.value)
    for (const item of items) {
      if (item.type === 'commit') next.set(item.session, afterCommit(next.get(item.session), item))
      else if (item.change === 'erased') next.delete(item.session)
      else if (item.change === 'quarantined') void loadOne(item.session)
    }
    show(next)
  })
}

async function load(): Promise<void> {
  const before = sessions.value
  const rows = await activeOnes()
  if (rows === null) return
  const views = await Promise.all(rows.map(({ session }) => viewOf(session)))
  const next = new Map(views.flatMap((view) => (view === null ? [] : [[view.row.session, ofView(view)]])))
  // What was heard while this was being asked for is newer, and may be of a session that is not in the answer.
  for (const [id, session] of sessions.value) {
    const loaded = next.get(id)
    const wasHeard = before.get(id) !== session
    if (wasHeard && (loaded === undefined || session.updatedAt > loaded.updatedAt)) next.set(id, session)
  }
  show(next)
  sessionsLoaded.set(true)
}

async function activeOnes() {
  try {
    return (await ask('sessions', { type: 'sessions', filter: { status: 'active', limit: MOST } })).sessions
  } catch {
    // The connection broke: everything is asked for again when there is one.
    return null
  }
}

async function loadOne(id: string): Promise<void> {
  const view = await viewOf(id)
  if (view !== null) show(new Map(sessions.value).set(id, ofView(view)))
}

async function viewOf(session: string): Promise<SessionView | null> {
  try {
    return (await ask('session', { type: 'session', session, trace: TRANSITIONS })).view
  } catch {
    // Erased since it was listed, or the connection broke: then everything is asked for again.
    return null
  }
}

function show(all: Map<string, LiveSession>): void {
  sessions.set(new Map([...all].sort(([, a], [, b]) => b.updatedAt - a.updatedAt)))
}

function ofView({ row, messages, trace, observations, summaries }: SessionView): LiveSession {
  const { project, client, cwd, status, state, prompts, waiting, wakeAt, effect, contextTokens, usage } = row
  return {
    id: row.session,
    project: project.key,
    projectName: project.name,
    client,
    cwd,
    status,
    state,
    prompts,
    pending: messages.filter((message) => message.status !== 'failed').length,
    failed: messages.filter((message) => message.status === 'failed').length,
    waiting,
    wakeAt,
    effect,
    generation: row.generation,
    contextTokens,
    usage,
    observations,
    summaries,
    createdAt: row.createdAt,
    updatedAt: trace.reduce((newest, { at }) => Math.max(newest, at), row.heardAt),
    quarantine: row.quarantine,
    transitions: [...trace].sort((a, b) => a.id - b.id),
    heard: 0,
  }
}

function afterCommit(before: LiveSession | undefined, item: Commit): LiveSession {
  return {
    id: item.session,
    project: item.project,
    projectName: item.projectName,
    client: item.client,
    cwd: item.cwd,
    status: item.status,
    state: item.state,
    prompts: item.prompts,
    pending: item.pending,
    failed: item.failed,
    waiting: item.waiting,
    wakeAt: item.wakeAt,
    effect: item.effect,
    generation: item.generation,
    contextTokens: item.contextTokens,
    usage: item.usage,
    observations: (before?.observations ?? 0) + item.observations.length,
    summaries: (before?.summaries ?? 0) + item.summaries.length,
    createdAt: before?.createdAt ?? item.at,
    updatedAt: item.at,
    quarantine: null,
    transitions: [...(before?.transitions ?? []), ...item.transitions].slice(-TRANSITIONS),
    heard: (before?.heard ?? 0) + item.transitions.length,
  }
}
