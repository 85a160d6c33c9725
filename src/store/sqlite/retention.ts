/** Keeps what is only kept for a while within its bounds, oldest first, a piece at a time. */
import type { Retention } from '../port.ts'
import { all, type Connection, count, run } from './statement.ts'

/** Rows removed in one call: a commit waits a few milliseconds for it, not longer. */
const MAX_ROWS = 2_000

/** Subjects remembered of one session: more than a long one looks at, and still a small table. */
const SEEN_PER_SESSION = 5_000

/** Five days in which the queue changes every ten seconds; about a megabyte. */
const QUEUE_SAMPLES = 40_000

const DAY_MS = 86_400_000

/** Returns how many rows went; `MAX_ROWS` means that there may be more. */
export function retainWithin(db: Connection, rules: Retention, now: number): number {
  return db
    .transaction(() => {
      let removed = 0
      const left = () => MAX_ROWS - removed
      removed += deleteOldPayloads(db, now - rules.payloadDays * DAY_MS, left())
      removed += deletePayloadsOver(db, rules.payloadBytes, left())
      removed += deleteOldTrace(db, now - rules.traceDays * DAY_MS, left())
      removed += deleteTraceOver(db, rules.tracePerSession, left())
      const turnsBefore = now - rules.observerTurnDays * DAY_MS
      removed += deleteOldTurns(db, turnsBefore, left())
      removed += clearOldCallTexts(db, turnsBefore, left())
      removed += deleteOldSeen(db, turnsBefore, left())
      removed += deleteSeenOver(db, SEEN_PER_SESSION, left())
      removed += deleteOldSamples(db, now - rules.traceDays * DAY_MS, left())
      removed += deleteSamplesOver(db, QUEUE_SAMPLES, left())
      return removed
    })
    .immediate()
}

/** A quarantined session's payloads are all that is left of some of its events. */
function deleteOldPayloads(db: Connection, before: number, limit: number): number {
  return run(
    db,
    `DELETE FROM payloads WHERE id IN (
       SELECT p.id FROM payloads p JOIN sdk_sessions s USING (content_session_id)
       WHERE p.kept_at <= @before AND s.quarantine IS NULL ORDER BY p.kept_at, p.id LIMIT @limit)`,
    { before, limit },
  ).changes
}

function deletePayloadsOver(db: Connection, maxBytes: number, limit: number): number {
  if (count(db, 'SELECT sum(bytes) AS n FROM payloads') <= maxBytes) return 0
  return run(
    db,
    `DELETE FROM payloads WHERE id IN (
       SELECT id FROM (SELECT id, kept_at, sum(bytes) OVER (ORDER BY kept_at DESC, id DESC) AS total FROM payloads)
       WHERE total > @maxBytes ORDER BY kept_at, id LIMIT @limit)`,
    { maxBytes, limit },
  ).changes
}

function deleteOldTrace(db: Connection, before: number, limit: number): number {
  const gone = all<{ session: string }>(
    db,
    `DELETE FROM trace WHERE id IN (SELECT id FROM trace WHERE at <= @before ORDER BY at, id LIMIT @limit)
     RETURNING content_session_id AS session`,
    { before, limit },
  )
  const bySession = new Map<string, number>()
  for (const { session } of gone) bySession.set(session, (bySession.get(session) ?? 0) + 1)
  for (const [session, dropped] of bySession) countDropped(db, session, dropped)
  return gone.length
}

function deleteTraceOver(db: Connection, perSession: number, limit: number): number {
  let removed = 0
  for (const { session, over } of sessionsWithTraceOver(db, perSession)) {
    if (removed >= limit) break
    const dropped = deleteOldestTrace(db, session, Math.min(over, limit - removed))
    countDropped(db, session, dropped)
    removed += dropped
  }
  return removed
}

function sessionsWithTraceOver(db: Connection, perSession: number): { session: string; over: number }[] {
  return all(
    db,
    `SELECT content_session_id AS session, trace_count - @perSession AS over FROM sdk_sessions
     WHERE trace_count > @perSession ORDER BY trace_count DESC LIMIT ${MAX_ROWS}`,
    { perSession },
  )
}

function deleteOldestTrace(db: Connection, session: string, limit: number): number {
  return run(
    db,
    `DELETE FROM trace WHERE id IN (SELECT id FROM trace WHERE content_session_id = ? ORDER BY id LIMIT ?)`,
    [session, limit],
  ).changes
}

function countDropped(db: Connection, session: string, dropped: number): void {
  run(
    db,
    `UPDATE sdk_sessions SET trace_count = trace_count - @dropped, trace_dropped = trace_dropped + @dropped
     WHERE content_session_id = @session`,
    { session, dropped },
  )
}

function deleteOldTurns(db: Connection, before: number, limit: number): number {
  return run(
    db,
    `DELETE FROM observer_turns WHERE id IN (
       SELECT t.id FROM observer_turns t JOIN sdk_sessions s USING (content_session_id)
       WHERE t.at <= @before AND s.status <> 'active' ORDER BY t.at, t.id LIMIT @limit)`,
    { before, limit },
  ).changes
}

/** The words of a call are part of the observer's conversation and go with it; what it cost stays. */
function clearOldCallTexts(db: Connection, before: number, limit: number): number {
  return run(
    db,
    `UPDATE calls SET sent = NULL, received = NULL WHERE id IN (
       SELECT id FROM calls WHERE at <= @before AND sent IS NOT NULL ORDER BY at, id LIMIT @limit)`,
    { before, limit },
  ).changes
}

function deleteOldSeen(db: Connection, before: number, limit: number): number {
  return run(
    db,
    `DELETE FROM seen WHERE (content_session_id, subject) IN (
       SELECT n.content_session_id, n.subject FROM seen n JOIN sdk_sessions s USING (content_session_id)
       WHERE s.status <> 'active' AND s.updated_at_epoch <= @before LIMIT @limit)`,
    { before, limit },
  ).changes
}

function deleteSeenOver(db: Connection, perSession: number, limit: number): number {
  let removed = 0
  for (const { session, over } of sessionsWithSeenOver(db, perSession)) {
    if (removed >= limit) break
    removed += deleteOldestSeen(db, session, Math.min(over, limit - removed))
  }
  return removed
}

function sessionsWithSeenOver(db: Connection, perSession: number): { session: string; over: number }[] {
  return all(
    db,
    `SELECT content_session_id AS session, count(*) - @perSession AS over FROM seen
     GROUP BY content_session_id HAVING count(*) > @perSession`,
    { perSession },
  )
}

function deleteOldestSeen(db: Connection, session: string, limit: number): number {
  return run(
    db,
    `DELETE FROM seen WHERE content_session_id = @session AND subject IN (
       SELECT subject FROM seen WHERE content_session_id = @session ORDER BY at, subject LIMIT @limit)`,
    { session, limit },
  ).changes
}

function deleteOldSamples(db: Connection, before: number, limit: number): number {
  return run(
    db,
    'DELETE FROM queue_depth WHERE at IN (SELECT at FROM queue_depth WHERE at <= @before ORDER BY at LIMIT @limit)',
    { before, limit },
  ).changes
}

function deleteSamplesOver(db: Connection, max: number, limit: number): number {
  const over = count(db, 'SELECT count(*) AS n FROM queue_depth') - max
  if (over <= 0) return 0
  return run(db, 'DELETE FROM queue_depth WHERE at IN (SELECT at FROM queue_depth ORDER BY at LIMIT ?)', [
    Math.min(over, limit),
  ]).changes
}
