/** Deletes what is older or larger than the retention settings allow, oldest first, a bounded number of rows per call. */
import { DAY_MS } from '../../domain/dates.ts'
import type { Retention } from '../port.ts'
import { type Database, sql } from './database.ts'
import { oldIds } from './elapsed-time.ts'
import { startPurge, withIndexReset } from './full-text-index.ts'
import { passageDiskBytes } from './passages.ts'

/** Rows deleted in one call: commits wait for it, a few milliseconds at most. */
const MAX_ROWS = 2_000
/** Each is also deleted from the full-text index, with its neighbours: about 20 ms. */
const MAX_PASSAGES = 250

/** More than a long session uses, and still a small table. */
const SEEN_PER_SESSION = 5_000

/** Five days in which the queue changes every ten seconds, about a megabyte. */
const QUEUE_SAMPLES = 40_000

/** Returns the number of deleted rows; `MAX_ROWS` means that there may be more. */
export function applyRetention(db: Database, rules: Retention, now: number): number {
  const payloads = ageLimit(db, rules.payloadDays, now)
  const passages = ageLimit(db, rules.passageBytes === 0 ? 0 : rules.passageDays, now)
  const trace = ageLimit(db, rules.traceDays, now)
  const turns = ageLimit(db, rules.observerTurnDays, now)
  /** Each deletes up to `limit` rows and returns how many. */
  const steps: ((limit: number) => number)[] = [
    (limit) => deleteOldPayloads(db, payloads, limit),
    (limit) => deletePayloadsOver(db, rules.payloadBytes, limit),
    (limit) => deletePassages(db, rules, passages, Math.min(limit, MAX_PASSAGES)),
    (limit) => deleteOldTrace(db, trace, limit),
    (limit) => deleteTraceOver(db, rules.tracePerSession, limit),
    (limit) => deleteOldTurns(db, turns, limit),
    (limit) => clearOldCallTexts(db, turns, limit),
    (limit) => deleteOldSeen(db, turns, limit),
    (limit) => deleteSeenOver(db, SEEN_PER_SESSION, limit),
    (limit) => deleteOldSamples(db, trace, limit),
    (limit) => deleteSamplesOver(db, QUEUE_SAMPLES, limit),
  ]
  return withIndexReset(db, () =>
    db.write(() => steps.reduce((deleted, step) => deleted + step(MAX_ROWS - deleted), 0)),
  )
}

/** What a rule of days selects: rows that are old by their own date, and were stored long ago. */
interface AgeLimit {
  before: number
  /** The highest id that is old enough. */
  lastId: (table: string) => number
}

function ageLimit(db: Database, days: number, now: number): AgeLimit {
  // Nothing is kept, also what a clock that was ahead dated into the future.
  if (days === 0) return { before: Number.MAX_SAFE_INTEGER, lastId: () => Number.MAX_SAFE_INTEGER }
  const ids = oldIds(db, days)
  return {
    before: now - days * DAY_MS,
    lastId: (table) => (ids === null ? Number.MAX_SAFE_INTEGER : (ids[table] ?? 0)),
  }
}

/** Of quarantined sessions payloads are the only copy of some events: neither age nor size deletes them. */
const NOT_QUARANTINED = sql`content_session_id NOT IN (
  SELECT content_session_id FROM sdk_sessions WHERE quarantine IS NOT NULL)`

function deleteOldPayloads(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  return db.run`
    DELETE FROM payloads WHERE id IN (
      SELECT id FROM payloads WHERE kept_at <= ${before} AND id <= ${lastId('payloads')} AND ${NOT_QUARANTINED}
      ORDER BY kept_at, id LIMIT ${limit})`.changes
}

function deletePayloadsOver(db: Database, maxBytes: number, limit: number): number {
  if (db.number`SELECT sum(bytes) AS n FROM payloads WHERE ${NOT_QUARANTINED}` <= maxBytes) return 0
  return db.run`
    DELETE FROM payloads WHERE id IN (
      SELECT id FROM (SELECT id, kept_at, sum(bytes) OVER (ORDER BY kept_at DESC, id DESC) AS total FROM payloads
        WHERE ${NOT_QUARANTINED})
      WHERE total > ${maxBytes} ORDER BY kept_at, id LIMIT ${limit})`.changes
}

/** Passages that the observer still needs: they are deleted with the summary of their turn, or after their session. */
const IN_OPEN_TURN = sql`(transient = 1 AND EXISTS (SELECT 1 FROM sdk_sessions s
  WHERE s.content_session_id = passages.content_session_id AND s.status = 'active'))`

function deletePassages(
  db: Database,
  { passageDays, passageBytes }: Retention,
  { before, lastId }: AgeLimit,
  limit: number,
): number {
  const isOff = passageDays === 0 || passageBytes === 0
  const old = db.ids`
    SELECT id FROM passages WHERE at <= ${before} AND id <= ${lastId('passages')} AND NOT ${IN_OPEN_TURN}
    ORDER BY at, id LIMIT ${limit}`
  const ids = old.length < limit && !isOff ? [...old, ...passagesOver(db, passageBytes, old, limit)] : old
  if (ids.length === 0) return 0
  const those = sql`id IN (SELECT value FROM json_each(${ids}))`
  // Old is not forgotten: they stay in the shared log and on other machines, until their turn is forgotten.
  db.run`
    INSERT INTO team_expired (uid, content_session_id, prompt_number, repository)
    SELECT uid, content_session_id, prompt_number, repository FROM passages
    WHERE ${those} AND repository IS NOT NULL AND machine IS NULL`
  db.run`UPDATE passages SET repository = NULL WHERE ${those} AND repository IS NOT NULL`
  db.run`DELETE FROM passages WHERE ${those}`
  // Who switches passages off expects that no word of them is left.
  if (isOff && !db.exists`SELECT 1 FROM passages WHERE transient = 0 LIMIT 1`) startPurge(db)
  return ids.length
}

/** The oldest ones above the bound, without those that are deleted anyway. */
function passagesOver(db: Database, maxBytes: number, deleted: readonly number[], limit: number): number[] {
  const { n, bytes: all } = db.one<{ n: number; bytes: number }>`
    SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM passages`
  let over = passageDiskBytes(n, all) - maxBytes
  if (over <= 0) return []
  const isDeleted = new Set(deleted)
  const found: number[] = []
  const oldest = db.all<{ id: number; bytes: number }>`SELECT id, bytes FROM passages ORDER BY at, id LIMIT ${limit}`
  for (const { id, bytes } of oldest) {
    if (over <= 0) break
    over -= passageDiskBytes(1, bytes)
    if (!isDeleted.has(id)) found.push(id)
  }
  return found
}

function deleteOldTurns(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  return db.run`
    DELETE FROM observer_turns WHERE id IN (
      SELECT t.id FROM observer_turns t JOIN sdk_sessions s USING (content_session_id)
      WHERE t.at <= ${before} AND t.id <= ${lastId('observer_turns')} AND s.status <> 'active' ORDER BY t.at, t.id LIMIT ${limit})`
    .changes
}

/** The texts of a call are part of the observer's conversation and are deleted with it; the figures stay. */
function clearOldCallTexts(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  return db.run`
    UPDATE calls SET sent = NULL, received = NULL WHERE id IN (
      SELECT id FROM calls WHERE at <= ${before} AND id <= ${lastId('calls')} AND sent IS NOT NULL
      ORDER BY at, id LIMIT ${limit})`.changes
}

function deleteOldSeen(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  return db.run`
    DELETE FROM seen WHERE (content_session_id, subject) IN (
      SELECT n.content_session_id, n.subject FROM seen n JOIN sdk_sessions s USING (content_session_id)
      WHERE s.status <> 'active' AND s.updated_at_epoch <= ${before}
        AND s.id <= ${lastId('sdk_sessions')} LIMIT ${limit})`.changes
}

function deleteOldSamples(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  return db.run`
    DELETE FROM queue_depth WHERE at IN (
      SELECT at FROM queue_depth WHERE at <= ${Math.min(before, lastId('queue_depth'))} ORDER BY at LIMIT ${limit})`
    .changes
}

function deleteSamplesOver(db: Database, max: number, limit: number): number {
  const over = db.number`SELECT count(*) AS n FROM queue_depth` - max
  if (over <= 0) return 0
  return db.run`
    DELETE FROM queue_depth WHERE at IN (
      SELECT at FROM queue_depth ORDER BY at LIMIT ${Math.min(over, limit)})`.changes
}

function deleteOldTrace(db: Database, { before, lastId }: AgeLimit, limit: number): number {
  const deleted = db.all<{ session: string }>`
    DELETE FROM trace WHERE id IN (SELECT id FROM trace WHERE at <= ${before} AND id <= ${lastId('trace')} ORDER BY at, id
      LIMIT ${limit})
    RETURNING content_session_id AS session`
  const bySession = new Map<string, number>()
  for (const { session } of deleted) bySession.set(session, (bySession.get(session) ?? 0) + 1)
  for (const [session, dropped] of bySession) countDroppedTrace(db, session, dropped)
  return deleted.length
}

interface SessionExcess {
  session: string
  /** Number of rows above the bound. */
  over: number
}

function deleteTraceOver(db: Database, perSession: number, limit: number): number {
  const sessions = db.all<SessionExcess>`
    SELECT content_session_id AS session, trace_count - ${perSession} AS over FROM sdk_sessions
    WHERE trace_count > ${perSession} ORDER BY trace_count DESC LIMIT ${MAX_ROWS}`
  return deleteExcess(sessions, limit, (session, limit) => {
    const { changes } = db.run`
      DELETE FROM trace WHERE id IN (
        SELECT id FROM trace WHERE content_session_id = ${session} ORDER BY id LIMIT ${limit})`
    countDroppedTrace(db, session, changes)
    return changes
  })
}

function countDroppedTrace(db: Database, session: string, dropped: number): void {
  db.run`
    UPDATE sdk_sessions SET trace_count = trace_count - ${dropped}, trace_dropped = trace_dropped + ${dropped}
    WHERE content_session_id = ${session}`
}

function deleteSeenOver(db: Database, perSession: number, limit: number): number {
  const sessions = db.all<SessionExcess>`
    SELECT content_session_id AS session, count(*) - ${perSession} AS over FROM seen
    GROUP BY content_session_id HAVING count(*) > ${perSession}`
  return deleteExcess(
    sessions,
    limit,
    (session, limit) =>
      db.run`
    DELETE FROM seen WHERE content_session_id = ${session} AND subject IN (
      SELECT subject FROM seen WHERE content_session_id = ${session} ORDER BY at, subject LIMIT ${limit})`.changes,
  )
}

/** Deletes the rows above the bound, session by session, up to `limit` rows in all. */
function deleteExcess(
  sessions: readonly SessionExcess[],
  limit: number,
  deleteOldest: (session: string, limit: number) => number,
): number {
  let deleted = 0
  for (const { session, over } of sessions) {
    if (deleted >= limit) break
    deleted += deleteOldest(session, Math.min(over, limit - deleted))
  }
  return deleted
}
