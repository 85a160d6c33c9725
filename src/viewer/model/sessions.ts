/** The sessions that are at work, as the stream tells of them. */
import type { StreamMessage } from '../../channel/protocol.ts'
import { Cell } from '../cell.ts'
import { ask, generation, onItems } from '../connection.ts'

type Commit = Extract<StreamMessage, { type: 'commit' }>
type SessionView = Awaited<ReturnType<typeof ask<'session'>>>['view']
export type Transition = Commit['transitions'][number]

/** What a commit brings; everything else in it is its session as it is. */
type Brought =
  | 'v'
  | 'type'
  | 'seq'
  | 'at'
  | 'session'
  | 'transitions'
  | 'newPrompts'
  | 'observations'
  | 'summaries'
  | 'calls'

export interface LiveSession extends Omit<Commit, Brought> {
  id: string
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
/** Sessions that are over are let go beyond so many: a page stays open for weeks. */
const MOST_KEPT = 200

/** By id, the one that was last heard of first. */
export const sessions = new Cell<ReadonlyMap<string, LiveSession>>(new Map())
export const sessionsLoaded = new Cell(false)

export function followSessions(): void {
  generation.subscribe(() => void load())
  onItems((items) => {
    const next = new Map(sessions.value)
    for (const item of items) {
      if (item.type === 'commit') {
        const before = next.get(item.session)
        next.set(item.session, afterCommit(before, item))
        // It may have begun long ago: what came before is not in the stream.
        if (before === undefined && sessionsLoaded.value) void loadOne(item.session)
      } else if (item.change === 'erased') next.delete(item.session)
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
    if (before.get(id) !== session) next.set(id, loaded === undefined ? session : together(loaded, session))
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
  if (view === null) return
  const heard = sessions.value.get(id)
  show(new Map(sessions.value).set(id, heard === undefined ? ofView(view) : together(ofView(view), heard)))
}

/** What was asked for knows the whole past; what was heard meanwhile may be newer. */
function together(loaded: LiveSession, heard: LiveSession): LiveSession {
  const newest = heard.transitions.at(-1)
  const isNewer = loaded.quarantine === null && newest !== undefined && !holds(loaded.transitions, newest)
  if (!isNewer) return { ...loaded, heard: heard.heard }
  const { createdAt, observations, summaries } = loaded
  return {
    ...heard,
    createdAt,
    observations: Math.max(observations, heard.observations),
    summaries: Math.max(summaries, heard.summaries),
  }
}

function holds(transitions: readonly Transition[], one: Transition): boolean {
  return transitions.some(
    ({ at, event, eventId, from, to }) =>
      at === one.at && event === one.event && eventId === one.eventId && from === one.from && to === one.to,
  )
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
  const sorted = [...all].sort(([, a], [, b]) => b.updatedAt - a.updatedAt)
  sessions.set(new Map(sorted.filter(([, { status }], i) => i < MOST_KEPT || status === 'active')))
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

const NOTHING_NEW: Pick<Commit, 'observations' | 'summaries' | 'transitions'> = {
  observations: [],
  summaries: [],
  transitions: [],
}

function afterCommit(before: LiveSession | undefined, item: Commit): LiveSession {
  const last = item.transitions.at(-1)
  // What was asked for may hold it already.
  const isKnown = before !== undefined && last !== undefined && holds(before.transitions, last)
  const news = isKnown ? NOTHING_NEW : item
  const { v: _v, type: _type, seq: _seq, at, session, newPrompts: _prompts, calls: _calls, ...rest } = item
  return {
    ...rest,
    id: session,
    observations: (before?.observations ?? 0) + news.observations.length,
    summaries: (before?.summaries ?? 0) + news.summaries.length,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    quarantine: null,
    transitions: [...(before?.transitions ?? []), ...news.transitions].slice(-TRANSITIONS),
    heard: (before?.heard ?? 0) + news.transitions.length,
  }
}
