/** People name a session or an event by the first characters of its id and a project by its name: from there to full ids. */
import { receivedFromText } from '../domain/authorship.ts'
import { sessionNotFound } from '../domain/event.ts'
import { findProject } from '../domain/project.ts'
import { OWN_AUTHOR, ownAuthorFilter, type SearchFilters } from '../domain/search-query.ts'
import { MemError } from '../lib/errors.ts'
import type { StoreReader } from '../store/port.ts'

/** The whole id that a prefix means, among those that start with it. */
function onlyMatch(found: readonly string[], prefix: string, several: string, notFound: MemError): string {
  const [only] = found
  if (found.includes(prefix)) return prefix
  if (only === undefined) throw notFound
  if (found.length > 1) throw new MemError('bad_request', `${several} start with "${prefix}"; type more of it`)
  return only
}

export async function resolveSession(reader: Pick<StoreReader, 'findSessions'>, prefix: string): Promise<string> {
  const found = await reader.findSessions(prefix)
  return onlyMatch(found, prefix, `${found.length} sessions`, sessionNotFound(prefix))
}

/** For operations on a session that runs here: one that came from another machine has neither events nor a queue. */
export async function resolveLocalSession(
  reader: Pick<StoreReader, 'findSessions' | 'receivedFrom'>,
  prefix: string,
  me: string | null,
): Promise<string> {
  const session = await resolveSession(reader, prefix)
  const received = await reader.receivedFrom(session)
  if (received === null) return session
  throw new MemError(
    'bad_request',
    `session ${session} was ${receivedFromText(received, me)}: its events are not on this machine, so there is nothing to run, close, retry, replay or summarise; claude-mem show --session prints what was learned in it`,
  )
}

/** `session`: the first characters of a session's id; null: any session. */
export async function resolveEvent(
  reader: Pick<StoreReader, 'findEvents'>,
  prefix: string,
  session: string | null,
): Promise<string> {
  return onlyMatch(await reader.findEvents(prefix, session), prefix, 'several events', eventNotFound(prefix))
}

export function eventNotFound(prefix: string): MemError {
  return new MemError(
    'not_found',
    `no event starts with "${prefix}"; claude-mem queue --json and claude-mem show name them (a tool use has its tool_use_id)`,
  )
}

export async function resolveProjectKey(reader: Pick<StoreReader, 'projects'>, project: string): Promise<string>
export async function resolveProjectKey(
  reader: Pick<StoreReader, 'projects'>,
  project: string | null,
): Promise<string | null>
export async function resolveProjectKey(reader: Pick<StoreReader, 'projects'>, project: string | null) {
  return project === null ? null : (await findProject(reader, project)).key
}

/** `me`: the name of this machine's user in a team; null: there is none. */
export async function resolveFilters(
  reader: Pick<StoreReader, 'projects' | 'findSessions'>,
  filters: SearchFilters,
  me: string | null,
): Promise<SearchFilters> {
  const { since, until, project, session, author } = filters
  if (since !== null && until !== null && since > until) {
    throw new MemError('bad_request', 'since is later than until: no memory can match')
  }
  return {
    ...filters,
    project: await resolveProjectKey(reader, project),
    session: session === null ? null : await resolveSession(reader, session),
    author: author !== null && (author === OWN_AUTHOR || author === me) ? ownAuthorFilter(me) : author,
  }
}
