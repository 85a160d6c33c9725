/** The reading half of the store, on a connection of its own. */
import type { Observation, Summary } from '../../memory/observation.ts'
import type { AskedSession, ReportedSession } from '../../memory/reported.ts'
import type { CallFilter, CallRow, Spent, UsageFilter, UsageRow } from '../accounting.ts'
import type { Alias, ContextMaterial, ContextQuery } from '../context-port.ts'
import type { Activity, EventView, KeptEvent, Origin, SessionStory } from '../origin-port.ts'
import type {
  EventRow,
  Message,
  ProjectFilter,
  ProjectRow,
  QueueFilter,
  QueueStats,
  Reader,
  SessionFilter,
  SessionListItem,
  SessionRow,
  SessionView,
  StoreStats,
} from '../port.ts'
import type { ListedProject, ProjectContents, ProjectDecision } from '../project-port.ts'
import { selectActivity } from './activity.ts'
import { selectCalls } from './calls.ts'
import { selectAliases, selectContextMaterial } from './context.ts'
import { selectEvents } from './events.ts'
import type { Answers } from './facade.ts'
import { type MemoryFilter, selectObservation, selectObservations, selectSummaries } from './memories.ts'
import { seqNow } from './meta.ts'
import { selectEventIds, selectEventView, selectOrigin } from './origin.ts'
import { selectKeptEvents } from './payload-rows.ts'
import { selectDecisions } from './project-decisions.ts'
import { selectContents, selectListed, selectProjects } from './projects.ts'
import { selectQueue, selectQueueStats } from './queue.ts'
import { selectReported } from './reported.ts'
import { listSessions, selectSession, sessionsWithPrefix } from './sessions.ts'
import type { Connection } from './statement.ts'
import { selectStory } from './story.ts'
import { selectSpentSince, selectUsage } from './usage.ts'
import { selectStats, selectView } from './views.ts'

export class SqliteQueries implements Answers<keyof Reader> {
  readonly db: Connection

  constructor(db: Connection) {
    this.db = db
  }

  session(id: string): SessionRow | null {
    return selectSession(this.db, id)
  }
  findSessions(prefix: string): string[] {
    return sessionsWithPrefix(this.db, prefix)
  }
  sessions(filter: SessionFilter): SessionListItem[] {
    return listSessions(this.db, filter)
  }
  view(session: string, traceLimit: number): SessionView | null {
    return this.#atOnce(() => selectView(this.db, session, traceLimit))
  }
  queue(filter: QueueFilter): Message[] {
    return selectQueue(this.db, filter)
  }
  queueStats(): QueueStats {
    return selectQueueStats(this.db)
  }
  stats(dayStart: number): StoreStats {
    return this.#atOnce(() => selectStats(this.db, dayStart))
  }
  observation(id: number): Observation | null {
    return selectObservation(this.db, id)
  }
  observations(filter: MemoryFilter): Observation[] {
    return selectObservations(this.db, filter)
  }
  summaries(filter: MemoryFilter): Summary[] {
    return selectSummaries(this.db, filter)
  }
  projects(filter: ProjectFilter): ProjectRow[] {
    return selectProjects(this.db, filter)
  }
  contextMaterial(query: ContextQuery): ContextMaterial | null {
    return this.#atOnce(() => selectContextMaterial(this.db, query))
  }
  projectDecisions(): ProjectDecision[] {
    return selectDecisions(this.db)
  }
  listProjects(): ListedProject[] {
    return selectListed(this.db)
  }
  projectContents(key: string): ProjectContents {
    return this.#atOnce(() => selectContents(this.db, key))
  }
  aliases(key: string): Alias[] {
    return selectAliases(this.db, key)
  }
  events(session: string, limit: number): EventRow[] {
    return selectEvents(this.db, session, limit)
  }
  reported(sessions: readonly AskedSession[]): ReportedSession[] {
    return this.#atOnce(() => selectReported(this.db, sessions))
  }
  calls(filter: CallFilter): CallRow[] {
    return selectCalls(this.db, filter)
  }
  usage(filter: UsageFilter): UsageRow[] {
    return this.#atOnce(() => selectUsage(this.db, filter))
  }
  spentSince(since: number): Spent {
    return selectSpentSince(this.db, since)
  }
  origin(observation: number): Origin | null {
    return this.#atOnce(() => selectOrigin(this.db, observation))
  }
  eventView(eventId: string, session: string | null): EventView | null {
    return this.#atOnce(() => selectEventView(this.db, eventId, session))
  }
  findEvents(prefix: string, session: string | null): string[] {
    return selectEventIds(this.db, prefix, session)
  }
  story(session: string, limits: { trace: number; rows: number }): SessionStory | null {
    return this.#atOnce(() => selectStory(this.db, session, limits))
  }
  activity(dayStarts: readonly number[], until: number): Activity {
    return this.#atOnce(() => selectActivity(this.db, dayStarts, until))
  }
  payloads(session: string, afterId: number, limit: number): KeptEvent[] {
    return this.#atOnce(() => selectKeptEvents(this.db, session, afterId, limit))
  }
  lastSeq(): number {
    return seqNow(this.db)
  }
  close(): Promise<void> | undefined {
    this.db.close()
    return undefined
  }

  /** Several statements of one answer see one state, though another process writes. */
  #atOnce<T>(read: () => T): T {
    return this.db.transaction(read)()
  }
}
