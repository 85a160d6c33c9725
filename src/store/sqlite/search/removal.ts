/** Takes memories out of every table that holds them or a copy of them. Runs inside a transaction of its caller. */
import type { MemoryKind } from '../../../search/query.ts'
import { all, type Connection, count, run } from '../statement.ts'
import { indexChunk } from './chunks.ts'
import { indexRow } from './indexing.ts'
import { resetIndex } from './reset.ts'
import { idOf, kindOf } from './rows.ts'

/** Beyond this many, making the index anew in the background costs less than taking each of them out of it. */
const MAX_ONE_BY_ONE = 1_000

export interface Removed {
  embeddings: number
  links: number
  payloads: number
  observerTurns: number
  callTexts: number
}

export function removeMemories(db: Connection, rows: readonly number[]): Removed {
  const ids = (kind: MemoryKind) => JSON.stringify(rows.filter((row) => kindOf(row) === kind).map(idOf))
  const sessions = sessionsOf(db, rows)
  const gone = ids('observation')
  const removed = { ...copiesOf(db, gone), payloads: 0, observerTurns: 0, callTexts: 0 }
  if (rows.length > MAX_ONE_BY_ONE) resetIndex(db)
  run(db, 'DELETE FROM observations WHERE id IN (SELECT value FROM json_each(?))', [gone])
  run(db, 'DELETE FROM session_summaries WHERE id IN (SELECT value FROM json_each(?))', [ids('summary')])
  run(db, 'DELETE FROM user_prompts WHERE id IN (SELECT value FROM json_each(?))', [ids('prompt')])
  for (const session of sessions) {
    const orphaned = takeFromEvents(db, session, gone)
    removed.payloads += deletePayloads(db, session, orphaned)
    removed.observerTurns += deleteConversation(db, session)
    removed.callTexts += clearCallTexts(db, session)
    clearFailures(db, session)
    for (const row of rowsWithOldText(db, session)) indexRow(db, row)
    for (const chunk of chunksWithOldText(db, session)) indexChunk(db, chunk)
  }
  return removed
}

function copiesOf(db: Connection, ids: string): Pick<Removed, 'embeddings' | 'links'> {
  return {
    embeddings: count(
      db,
      'SELECT count(*) AS n FROM embeddings WHERE observation_id IN (SELECT value FROM json_each(?))',
      [ids],
    ),
    links: count(
      db,
      `SELECT count(*) AS n FROM links WHERE from_id IN (SELECT value FROM json_each(@ids))
         OR to_id IN (SELECT value FROM json_each(@ids))`,
      { ids },
    ),
  }
}

function sessionsOf(db: Connection, rows: readonly number[]): string[] {
  return all<{ session: string }>(
    db,
    `SELECT DISTINCT s.content_session_id AS session
     FROM json_each(?) wanted CROSS JOIN search_rows s ON s.id = wanted.value`,
    [JSON.stringify(rows)],
  ).map(({ session }) => session)
}

/** The events that had no other outcome. */
function takeFromEvents(db: Connection, session: string, ids: string): string[] {
  return all<{ event_id: string; observation_ids: string }>(
    db,
    `UPDATE events SET
       observation_ids = (SELECT json_group_array(value) FROM json_each(events.observation_ids)
         WHERE value NOT IN (SELECT value FROM json_each(@ids))),
       reason = 'forgotten'
     WHERE content_session_id = @session AND observation_ids <> '[]' AND EXISTS (
       SELECT 1 FROM json_each(events.observation_ids) made WHERE made.value IN (SELECT value FROM json_each(@ids)))
     RETURNING event_id, observation_ids`,
    { session, ids },
  ).flatMap(({ event_id, observation_ids }) => (observation_ids === '[]' ? [event_id] : []))
}

/**
 * Any event of the session may have shown what is forgotten, so all kept copies go. Those of a quarantined session are
 * all that is left of its events: of these only the ones that nothing else came from.
 */
function deletePayloads(db: Connection, session: string, orphaned: readonly string[]): number {
  return run(
    db,
    `DELETE FROM payloads WHERE content_session_id = @session AND (
       event_id IN (SELECT value FROM json_each(@orphaned))
       OR (SELECT quarantine IS NULL FROM sdk_sessions WHERE content_session_id = @session))`,
    { session, orphaned: JSON.stringify(orphaned) },
  ).changes
}

function deleteConversation(db: Connection, session: string): number {
  return run(db, 'DELETE FROM observer_turns WHERE content_session_id = ?', [session]).changes
}

/** An error may quote the reply that could not be used. */
function clearCallTexts(db: Connection, session: string): number {
  return run(
    db,
    `UPDATE calls SET sent = NULL, received = NULL,
       error = CASE WHEN error IS NULL THEN NULL ELSE 'forgotten with what it was about' END
     WHERE content_session_id = ? AND (sent IS NOT NULL OR error IS NOT NULL)`,
    [session],
  ).changes
}

/** So may the reason of the transition that followed: what stands before the quotation stays. */
function clearFailures(db: Connection, session: string): void {
  run(
    db,
    `UPDATE trace SET reason = substr(reason, 1, instr(reason, ':')) || ' forgotten with what it was about'
     WHERE content_session_id = ? AND event = 'FAILED' AND instr(reason, ':') > 0`,
    [session],
  )
}

/** What stood beside a removed one and still says so. */
function rowsWithOldText(db: Connection, session: string): number[] {
  return all<{ id: number }>(
    db,
    `SELECT id FROM search_rows WHERE indexed = 0 AND content_session_id = ?
       AND EXISTS (SELECT 1 FROM memory_fts WHERE memory_fts.rowid = search_rows.id)`,
    [session],
  ).map(({ id }) => id)
}

function chunksWithOldText(db: Connection, session: string): number[] {
  return all<{ id: number }>(
    db,
    `SELECT id FROM session_chunks WHERE indexed = 0 AND content_session_id = ?
       AND (members = 0 OR EXISTS (SELECT 1 FROM chunk_fts WHERE chunk_fts.rowid = session_chunks.id))`,
    [session],
  ).map(({ id }) => id)
}
