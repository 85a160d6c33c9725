/** What `claude-mem inspect` looks at. */
import type { StreamMessage } from '../../channel/protocol.ts'
import type { EventView } from '../../store/origin-port.ts'
import type { SessionListItem, SessionView } from '../../store/port.ts'
import type { MemoryReader, ObservationOrigin } from '../memory-reader.ts'
import type { SessionCalls } from '../render/calls.ts'
import type { Subject } from './subject.ts'

export function listOf(limit: number): Subject<SessionListItem[]> {
  return {
    // One more than is shown tells whether there are more.
    load: (reader) => reader.sessions({ limit: limit + 1 }),
    json: (sessions) => ({ sessions: sessions.slice(0, limit) }),
    lines: async (sessions, cli) => {
      const { sessionLines } = await import('../render/sessions.ts')
      return sessionLines(sessions.slice(0, limit), sessions.length > limit, cli.look())
    },
    concerns: () => true,
  }
}

export function lifeOf(prefix: string, trace: number, limit: number): Subject<SessionView> {
  return {
    load: (reader) => reader.session(prefix, trace),
    json: viewJson,
    lines: async (view, cli) => {
      const { sessionViewLines } = await import('../render/session.ts')
      return sessionViewLines(view, limit, cli.look())
    },
    concerns: isAbout(prefix),
  }
}

/** Its transitions alone; programs get everything all the same. */
export function traceOf(prefix: string, trace: number): Subject<SessionView> {
  return {
    load: (reader) => reader.session(prefix, trace),
    json: viewJson,
    lines: async (view, cli) => {
      const { sessionTraceLines } = await import('../render/trace.ts')
      return sessionTraceLines(view, trace, cli.look())
    },
    concerns: isAbout(prefix),
  }
}

export function sentBy(prefix: string, limit: number, full: boolean): Subject<SessionCalls> {
  return {
    // One more than is shown tells whether there are more.
    load: async (reader) => {
      const { session, calls } = await reader.calls(prefix, limit + 1)
      return { session, calls: calls.slice(-limit), more: calls.length > limit }
    },
    json: (calls) => calls,
    lines: async (calls, cli) => {
      const { sentLines } = await import('../render/calls.ts')
      return sentLines(calls, full, cli.look())
    },
    concerns: isAbout(prefix),
  }
}

/** What became of an event. */
export function eventOf(event: string, session: string | null, full: boolean): Subject<EventView> {
  return {
    load: async (reader) => reader.eventView(await eventIdOf(reader, event, session), session),
    json: (view) => view,
    lines: async (view, cli) => {
      const { eventViewLines } = await import('../render/event.ts')
      return eventViewLines(view, full, cli.look())
    },
    concerns: () => true,
  }
}

/** Lists of messages show a message's own number: that is understood too, as long as it waits. */
async function eventIdOf(reader: MemoryReader, word: string, session: string | null): Promise<string> {
  const number = /^#?(\d{1,15})$/.exec(word)?.[1]
  if (number === undefined) return word
  const { messages } = await reader.queue({ limit: MOST_MESSAGES, ...(session === null ? {} : { session }) })
  return messages.find(({ id }) => id === Number(number))?.eventId ?? word
}

const MOST_MESSAGES = 10_000

/** Where an observation comes from. */
export function originOf(observation: number, full: boolean): Subject<ObservationOrigin> {
  return {
    load: (reader) => reader.origin(observation),
    json: (found) => found,
    lines: async (found, cli) => {
      const { originLines } = await import('../render/origin.ts')
      return originLines(found, full, cli.look())
    },
    concerns: () => true,
  }
}

/** A change of the memory may change its counts, whichever sessions it is about. */
function isAbout(prefix: string): (message: StreamMessage) => boolean {
  return (message) => !('session' in message) || message.session.startsWith(prefix)
}

function viewJson({ row, ...view }: SessionView): object {
  return { row: { ...row, snapshot: parsed(row.snapshot) }, ...view }
}

/** A snapshot that is broken is shown as the text that it is. */
function parsed(snapshot: string): unknown {
  try {
    return JSON.parse(snapshot)
  } catch {
    return snapshot
  }
}
