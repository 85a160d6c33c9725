/** The views of `claude-mem inspect`, printed once or watched. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, OutputOf } from '../api/index.ts'
import type { EventView, SessionListItem, SessionView } from '../store/port.ts'
import type { StreamMessage } from '../transport/messages.ts'
import { type Cli, interruptSignal } from './cli.ts'
import { isNotRunning } from './daemon-connection.ts'
import { type MemoryConnection, openMemory, withMemory } from './memory-client.ts'
import { eventViewLines, provenanceLines, type SessionCalls, sentLines } from './render/provenance.ts'
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
type ShowLoaded<T> = (loaded: Loaded<T>) => Promise<void>

export async function printView<T>(view: InspectView<T>, cli: Cli): Promise<void> {
  const loaded = await withMemory(cli, async (call, running) => ({ data: await view.load(call), running }))
  if (cli.json) cli.printJson(viewJson(view, loaded))
  else cli.print(...(await viewLines(view, loaded, cli)))
}

export async function watchView<T>(view: InspectView<T>, cli: Cli): Promise<void> {
  const screen = cli.json ? null : new Screen(cli)
  let last = ''
  try {
    await watch(view, cli, interruptSignal(), async (loaded) => {
      const value = viewJson(view, loaded)
      const text = JSON.stringify(value)
      // A terminal is redrawn even without a change, because ages and deadlines move on.
      if (text === last && (cli.json || cli.rows() === null)) return
      last = text
      if (screen === null) cli.printJson(value)
      else screen.draw(await viewLines(view, loaded, cli))
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

/** `client`: null for all. */
export function sessionListView(limit: number, client: string | null = null): InspectView<SessionListItem[]> {
  return {
    // One more than is shown tells whether there are more.
    load: async (call) =>
      (await call('sessions', { limit: limit + 1, ...(client === null ? {} : { client }) })).sessions,
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

export function observationProvenanceView(observation: number, full: boolean): InspectView<OutputOf<'origin'>> {
  return {
    load: (call) => call('origin', { observation }),
    json: (output) => output,
    lines: (output, display) => provenanceLines(output, full, display),
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

/** Minimum time between two updates: more than five a second cannot be read. */
const MIN_INTERVAL_MS = 200
/** Maximum time between two updates: ages and deadlines change, and a daemon may start, without a commit. */
const MAX_INTERVAL_MS = 1_000

/**
 * Loads and shows a view whenever it changes: after each commit while a daemon is running, every second from the database
 * file otherwise. It continues when the daemon stops or starts.
 */
async function watch<T>(view: InspectView<T>, cli: Cli, signal: AbortSignal, show: ShowLoaded<T>): Promise<void> {
  while (!signal.aborted) {
    const memory = await openMemory(cli)
    try {
      await watchConnection(view, memory, signal, show)
    } catch (error) {
      // The daemon stopped during a call: the next round connects again.
      if (!isNotRunning(error)) throw error
    } finally {
      await memory.close()
    }
  }
}

async function watchConnection<T>(
  view: InspectView<T>,
  { call, daemon }: MemoryConnection,
  signal: AbortSignal,
  show: ShowLoaded<T>,
): Promise<void> {
  let isClosed = false
  let wake: () => void = () => undefined
  if (daemon !== null) {
    daemon.onStream = (message) => {
      if (view.isAffectedBy(message)) wake()
    }
    daemon.onClose = () => {
      isClosed = true
      wake()
    }
    await daemon.call('subscribe', { since: null })
  }
  do {
    // Set before loading, so that a commit during the load is not missed.
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    await show({ data: await view.load(call), running: daemon !== null })
    // The signal ends both waits at once.
    await sleep(MIN_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
    const timeout = sleep(MAX_INTERVAL_MS - MIN_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
    await Promise.race([changed, timeout])
    // Without a daemon the file is opened again each time, because a daemon may have started.
  } while (!isClosed && !signal.aborted && daemon !== null)
}

const CURSOR_HOME = '\x1b[H'
const ERASE_LINE = '\x1b[K'
const ERASE_BELOW = '\x1b[J'
const ERASE_ALL = '\x1b[2J'
/** Without wrapping, a line that is too long does not push the others down. */
const WRAP_OFF = '\x1b[?7l'
const WRAP_ON = '\x1b[?7h'

/** Draws each frame over the last one. If the output is not a terminal, frames follow each other. */
class Screen {
  readonly #cli: Cli
  #hasDrawn = false

  constructor(cli: Cli) {
    this.#cli = cli
    if (cli.rows() !== null) cli.write(WRAP_OFF + ERASE_ALL)
  }

  draw(lines: readonly string[]): void {
    const rows = this.#cli.rows()
    if (rows === null) {
      this.#cli.print(...(this.#hasDrawn ? ['---'] : []), ...lines)
    } else {
      const shown = lines.slice(0, rows - 1).map((line) => `${line}${ERASE_LINE}`)
      this.#cli.write(`${CURSOR_HOME}${shown.join('\n')}\n${ERASE_BELOW}`)
    }
    this.#hasDrawn = true
  }

  close(): void {
    if (this.#cli.rows() !== null) this.#cli.write(WRAP_ON)
  }
}
