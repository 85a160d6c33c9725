/** The views of `claude-mem inspect`, printed once or watched. */
import type { Call, OutputOf } from '../api/index.ts'
import type { EventView, SessionListItem, SessionView } from '../store/port.ts'
import type { StreamMessage } from '../transport/messages.ts'
import { type Cli, interruptSignal } from './cli.ts'
import { withMemory } from './memory-client.ts'
import { eventViewLines, originLines, type SessionCalls, sentLines } from './render/provenance.ts'
import { sessionListLines, sessionTraceLines } from './render/sessions.ts'
import type { Display } from './style.ts'

interface InspectView<T> {
  load(call: Call): Promise<T>
  json(data: T): object
  lines(data: T, display: Display): string[] | Promise<string[]>
  /** Whether a message of the live stream may change what `load` returns. */
  isAffectedBy(message: StreamMessage): boolean
}

/** `running`: it was loaded from a daemon. */
type Loaded<T> = { data: T; running: boolean }

export async function printView<T>(view: InspectView<T>, cli: Cli, json: boolean): Promise<void> {
  const loaded = await withMemory(cli, async (call, running) => ({ data: await view.load(call), running }))
  if (json) cli.printJson(viewJson(view, loaded))
  else cli.print(...(await viewLines(view, loaded, cli)))
}

export async function watchView<T>(view: InspectView<T>, cli: Cli, json: boolean): Promise<void> {
  const { Screen, watch } = await import('./watch.ts')
  const screen = json ? null : new Screen(cli)
  let last = ''
  try {
    await watch(cli, interruptSignal(), {
      load: async (call, running) => ({ data: await view.load(call), running }),
      isAffectedBy: (message) => view.isAffectedBy(message),
      show: async (loaded: Loaded<T>) => {
        const value = viewJson(view, loaded)
        const text = JSON.stringify(value)
        // A terminal is redrawn even without a change, because ages and deadlines move on.
        if (text === last && (json || cli.rows() === null)) return
        last = text
        if (json) cli.printJson(value)
        else screen?.draw(await viewLines(view, loaded, cli))
      },
    })
  } finally {
    screen?.close()
  }
}

function viewJson<T>(view: InspectView<T>, { data, running }: Loaded<T>): object {
  return { running, ...view.json(data) }
}

async function viewLines<T>(view: InspectView<T>, { data, running }: Loaded<T>, cli: Cli): Promise<string[]> {
  const lines = await view.lines(data, cli.display())
  const note = 'No daemon is running: this is what the database file contains.'
  return running ? lines : [cli.display().style.dim(note), '', ...lines]
}

export function sessionListView(limit: number): InspectView<SessionListItem[]> {
  return {
    // One more than is shown tells whether there are more.
    load: async (call) => (await call('sessions', { limit: limit + 1 })).sessions,
    json: (sessions) => ({ sessions: sessions.slice(0, limit) }),
    lines: (sessions, display) => sessionListLines(sessions.slice(0, limit), sessions.length > limit, display),
    isAffectedBy: () => true,
  }
}

export function sessionView(prefix: string, trace: number, messageLimit: number): InspectView<SessionView> {
  return {
    ...sessionViewBase(prefix, trace),
    lines: async (view, display) => {
      // Only this view loads the state machines.
      const { sessionViewLines } = await import('./render/session.ts')
      return sessionViewLines(view, messageLimit, display)
    },
  }
}

/** Prints only the transitions; JSON has the whole session. */
export function sessionTraceView(prefix: string, trace: number): InspectView<SessionView> {
  return { ...sessionViewBase(prefix, trace), lines: (view, display) => sessionTraceLines(view, trace, display) }
}

function sessionViewBase(prefix: string, trace: number): Omit<InspectView<SessionView>, 'lines'> {
  return {
    load: async (call) => (await call('session', { session: prefix, trace })).view,
    json: ({ row, ...view }) => ({ row: { ...row, snapshot: parseSnapshot(row.snapshot) }, ...view }),
    isAffectedBy: affectsSession(prefix),
  }
}

export function sessionCallsView(prefix: string, limit: number, full: boolean): InspectView<SessionCalls> {
  return {
    // One more than is shown tells whether there are more.
    load: async (call) => {
      const { session, calls } = await call('calls', { session: prefix, limit: limit + 1 })
      return { session, calls: calls.slice(-limit), more: calls.length > limit }
    },
    json: (calls) => calls,
    lines: (calls, display) => sentLines(calls, full, display),
    isAffectedBy: affectsSession(prefix),
  }
}

export function eventView(event: string, session: string | null, full: boolean): InspectView<EventView> {
  return {
    load: async (call) => {
      const id = await eventIdOfMessage(call, event, session)
      return (await call('event_view', { event: id, session })).view
    },
    json: (view) => view,
    lines: (view, display) => eventViewLines(view, full, display),
    isAffectedBy: () => true,
  }
}

const MAX_MESSAGES = 10_000

/** Lists of messages show numbers; the number of a queued message is accepted instead of its event's id. */
async function eventIdOfMessage(call: Call, given: string, session: string | null): Promise<string> {
  const number = /^#?(\d{1,15})$/.exec(given)?.[1]
  if (number === undefined) return given
  const { messages } = await call('queue', { limit: MAX_MESSAGES, ...(session === null ? {} : { session }) })
  return messages.find(({ id }) => id === Number(number))?.eventId ?? given
}

export function observationOriginView(observation: number, full: boolean): InspectView<OutputOf<'origin'>> {
  return {
    load: (call) => call('origin', { observation }),
    json: (origin) => origin,
    lines: (origin, display) => originLines(origin, full, display),
    isAffectedBy: () => true,
  }
}

/** Messages that name no session may change the counts of any. */
function affectsSession(prefix: string): (message: StreamMessage) => boolean {
  return (message) => !('session' in message) || message.session.startsWith(prefix)
}

/** A broken snapshot is printed as text. */
function parseSnapshot(snapshot: string): unknown {
  try {
    return JSON.parse(snapshot)
  } catch {
    return snapshot
  }
}
