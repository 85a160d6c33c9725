/**
 * Sessions and events by the first characters of their ids, as people type them: the same for a daemon's clients and for
 * whoever reads the file alone.
 */
import type { CallRow } from './accounting.ts'
import { chosenEvent, noEvent } from './find-event.ts'
import { chosenSession, noSession } from './find-session.ts'
import type { EventView, KeptEvent, SessionStory } from './origin-port.ts'
import type { Reader, SessionView } from './port.ts'

type Finds = Pick<Reader, 'findSessions'>

export async function sessionNamed(reader: Finds, prefix: string): Promise<string> {
  return chosenSession(prefix, await reader.findSessions(prefix))
}

export async function viewNamed(
  reader: Finds & Pick<Reader, 'view'>,
  prefix: string,
  trace: number,
): Promise<SessionView> {
  const view = await reader.view(await sessionNamed(reader, prefix), trace)
  if (view === null) throw noSession(prefix)
  return view
}

export async function storyNamed(
  reader: Finds & Pick<Reader, 'story'>,
  prefix: string,
  limits: { trace: number; rows: number },
): Promise<SessionStory> {
  const story = await reader.story(await sessionNamed(reader, prefix), limits)
  if (story === null) throw noSession(prefix)
  return story
}

/** The newest `limit`, oldest of them first. */
export async function callsNamed(
  reader: Finds & Pick<Reader, 'calls'>,
  prefix: string,
  limit: number,
): Promise<{ session: string; calls: CallRow[] }> {
  const session = await sessionNamed(reader, prefix)
  return { session, calls: await reader.calls({ session, limit }) }
}

export async function payloadsNamed(
  reader: Finds & Pick<Reader, 'payloads'>,
  prefix: string,
  after: number,
  limit: number,
): Promise<{ session: string; events: KeptEvent[] }> {
  const session = await sessionNamed(reader, prefix)
  return { session, events: await reader.payloads(session, after, limit) }
}

/** `within`: the first characters of a session's id; null: whichever has the event. */
export async function eventNamed(
  reader: Finds & Pick<Reader, 'findEvents' | 'eventView'>,
  prefix: string,
  within: string | null,
): Promise<EventView> {
  const session = within === null ? null : await sessionNamed(reader, within)
  const found = await reader.findEvents(prefix, session)
  const view = await reader.eventView(chosenEvent(prefix, found), session)
  if (view === null) throw noEvent(prefix)
  return view
}
