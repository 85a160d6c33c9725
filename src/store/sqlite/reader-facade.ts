/** The reading half of the port in front of something that answers calls by name. */
import type { CallFilter, UsageFilter } from '../accounting.ts'
import type { ContextQuery } from '../context-port.ts'
import type { ProjectFilter, QueueFilter, Reader, SessionFilter } from '../port.ts'
import type { Arguments, Call } from './facade.ts'

export class ReaderFacade implements Reader {
  readonly #call: Call<keyof Reader>

  constructor(call: Call<keyof Reader>) {
    this.#call = call
  }

  session(id: string) {
    return this.#call('session', id)
  }
  findSessions(prefix: string) {
    return this.#call('findSessions', prefix)
  }
  sessions(filter: SessionFilter) {
    return this.#call('sessions', filter)
  }
  view(session: string, traceLimit: number) {
    return this.#call('view', session, traceLimit)
  }
  queue(filter: QueueFilter) {
    return this.#call('queue', filter)
  }
  queueStats() {
    return this.#call('queueStats')
  }
  stats(dayStart: number) {
    return this.#call('stats', dayStart)
  }
  observation(id: number) {
    return this.#call('observation', id)
  }
  observations(filter: Arguments<'observations'>[0]) {
    return this.#call('observations', filter)
  }
  summaries(filter: Arguments<'summaries'>[0]) {
    return this.#call('summaries', filter)
  }
  projects(filter: ProjectFilter) {
    return this.#call('projects', filter)
  }
  contextMaterial(query: ContextQuery) {
    return this.#call('contextMaterial', query)
  }
  projectDecisions() {
    return this.#call('projectDecisions')
  }
  listProjects() {
    return this.#call('listProjects')
  }
  projectContents(key: string) {
    return this.#call('projectContents', key)
  }
  aliases(key: string) {
    return this.#call('aliases', key)
  }
  events(session: string, limit: number) {
    return this.#call('events', session, limit)
  }
  reported(sessions: Arguments<'reported'>[0]) {
    return this.#call('reported', sessions)
  }
  calls(filter: CallFilter) {
    return this.#call('calls', filter)
  }
  usage(filter: UsageFilter) {
    return this.#call('usage', filter)
  }
  spentSince(since: number) {
    return this.#call('spentSince', since)
  }
  origin(observation: number) {
    return this.#call('origin', observation)
  }
  eventView(eventId: string, session: string | null) {
    return this.#call('eventView', eventId, session)
  }
  findEvents(prefix: string, session: string | null) {
    return this.#call('findEvents', prefix, session)
  }
  story(session: string, limits: Arguments<'story'>[1]) {
    return this.#call('story', session, limits)
  }
  activity(dayStarts: readonly number[], until: number) {
    return this.#call('activity', dayStarts, until)
  }
  payloads(session: string, afterId: number, limit: number) {
    return this.#call('payloads', session, afterId, limit)
  }
  lastSeq() {
    return this.#call('lastSeq')
  }
  close() {
    return this.#call('close')
  }
}
