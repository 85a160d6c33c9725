/** Which sessions have something to do: read at a start and on every tick. Quarantined ones never do. */
import type { Effect } from '../../../machines/session/types.ts'
import { parseEffect } from './sessions.ts'
import { all, type Connection, get } from './statement.ts'

export function selectUnfinishedEffects(db: Connection): { session: string; effect: Effect }[] {
  return all<{ session: string; effect: string }>(
    db,
    `SELECT content_session_id AS session, effect FROM sdk_sessions
     WHERE effect IS NOT NULL AND quarantine IS NULL ORDER BY content_session_id`,
  ).map((row) => ({ session: row.session, effect: parseEffect(row.effect) }))
}

export function selectStrandedSessions(db: Connection): string[] {
  return all<{ session: string }>(
    db,
    `SELECT s.content_session_id AS session FROM sdk_sessions s
     WHERE s.content_session_id IN (SELECT content_session_id FROM pending_messages WHERE status = 'pending')
       AND s.effect IS NULL AND s.wake_at IS NULL AND s.quarantine IS NULL
     ORDER BY s.content_session_id`,
  ).map((row) => row.session)
}

export function selectDueSessions(db: Connection, now: number, horizonMs: number, limit: number): string[] {
  return all<{ session: string }>(
    db,
    `SELECT session FROM (
       SELECT content_session_id AS session, wake_at FROM sdk_sessions
       WHERE wake_at <= @now AND quarantine IS NULL
       UNION ALL
       SELECT content_session_id AS session, wake_at FROM sdk_sessions
       WHERE wake_at > @horizon AND quarantine IS NULL
     ) ORDER BY wake_at, session LIMIT @limit`,
    { now, horizon: now + horizonMs, limit },
  ).map((row) => row.session)
}

export function selectNextWakeAt(db: Connection): number | null {
  return (
    get<{ wakeAt: number | null }>(
      db,
      `SELECT min(wake_at) AS wakeAt FROM sdk_sessions WHERE wake_at IS NOT NULL AND quarantine IS NULL`,
    )?.wakeAt ?? null
  )
}
