/** Answers that bring several tables together. */
import type { Project } from '../../memory/project.ts'
import type { SessionView, StoreStats } from '../port.ts'
import { shownName } from './projects.ts'
import { selectQueue, selectQueueStats } from './queue.ts'
import { selectSession } from './sessions.ts'
import { type Connection, count, get } from './statement.ts'
import { selectTrace } from './turns.ts'

export function selectView(db: Connection, session: string, traceLimit: number): SessionView | null {
  const row = selectSession(db, session)
  if (row === null) return null
  return {
    row: { ...row, project: { ...row.project, name: nameOf(db, row.project) } },
    messages: selectQueue(db, { session }),
    trace: selectTrace(db, session, traceLimit),
    traceDropped: traceDropped(db, session),
    observations: countObservationsOf(db, session),
    summaries: countSummariesOf(db, session),
  }
}

export function selectStats(db: Connection, dayStart: number): StoreStats {
  return {
    ...selectQueueStats(db),
    observationsToday: countObservationsSince(db, dayStart),
    observations: countObservations(db),
    sessionsTotal: countSessions(db),
    databaseBytes: databaseBytes(db),
  }
}

/** Only people see it: what an actor is restored from keeps the name that its session said. */
function nameOf(db: Connection, { key, name }: Project): string {
  return get<{ name: string }>(db, `SELECT ${shownName('@key', '@name')} AS name`, { key, name })?.name ?? name
}

function traceDropped(db: Connection, session: string): number {
  return count(db, 'SELECT trace_dropped AS n FROM sdk_sessions WHERE content_session_id = ?', [session])
}

function countObservationsOf(db: Connection, session: string): number {
  return count(db, 'SELECT count(*) AS n FROM observations WHERE content_session_id = ?', [session])
}

function countSummariesOf(db: Connection, session: string): number {
  return count(db, 'SELECT count(*) AS n FROM session_summaries WHERE content_session_id = ?', [session])
}

function countObservationsSince(db: Connection, since: number): number {
  return count(db, 'SELECT count(*) AS n FROM observations WHERE created_at_epoch >= ?', [since])
}

function countObservations(db: Connection): number {
  return count(db, 'SELECT count(*) AS n FROM observations')
}

function countSessions(db: Connection): number {
  return count(db, 'SELECT count(*) AS n FROM sdk_sessions')
}

function databaseBytes(db: Connection): number {
  return count(db, 'SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()')
}
