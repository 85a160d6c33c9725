/**
 * Forgetting: deletes memories with every copy in the database, and reports where else copies may exist. Tombstones in
 * `forgotten` keep them deleted when a backup or a recovery brings back an older state. A tombstone has the row id and
 * the time of the memory, and nothing of its text, not even a digest from which a short text could be guessed.
 */
import { existsSync } from 'node:fs'
import { schemaVersion } from '../migrations/index.ts'
import type { BackupInfo } from '../port.ts'
import { type ForgetOptions, type ForgetResult, memoryIds, searchRowId } from '../search-port.ts'
import { Database, isIndexDamage, nextSeq } from './database.ts'
import { indexChunk, indexSearchRow, purge, resetIndex, startPurge } from './full-text-index.ts'
import { selectExistingObservations } from './memories.ts'
import { selectFiltered } from './search-rows.ts'

/** A small index is purged before the answer; the rest of a large one in the background. */
const PURGE_STEPS_AT_ONCE = 40

const NOTHING_REMOVED = { embeddings: 0, links: 0, payloads: 0, observerTurns: 0, callTexts: 0 }

export function forgetMemories(db: Database, request: ForgetOptions, backups: readonly BackupInfo[]): ForgetResult {
  const report = withIndexReset(db, () => removeAndReport(db, request, backups))
  return { ...report, cleared: purge(db, PURGE_STEPS_AT_ONCE) }
}

/** A damaged index is deleted and the work tried again: damage must not prevent forgetting. */
function withIndexReset<T>(db: Database, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.write(() => resetIndex(db))
    return work()
  }
}

function removeAndReport(
  db: Database,
  { ids, filters, dryRun, at }: ForgetOptions,
  backups: readonly BackupInfo[],
): Omit<ForgetResult, 'cleared'> {
  return db.write(() => {
    const existing = selectExistingObservations(db, ids)
    const passing = filters === null ? [] : selectFiltered(db, filters, -1, 0)
    const rows = [...new Set([...existing.map((id) => searchRowId('observation', id)), ...passing])]
    const observations = memoryIds(rows, 'observation')
    const report = {
      dryRun,
      observations: observations.length,
      summaries: memoryIds(rows, 'summary').length,
      prompts: memoryIds(rows, 'prompt').length,
      ids: observations,
      missing: ids.filter((id) => !existing.includes(id)),
      summariesBeside: summariesBeside(db, observations).filter((id) => !rows.includes(searchRowId('summary', id))),
      backups: backupsSince(backups, oldestMemoryAt(db, rows)),
    }
    if (dryRun || rows.length === 0) return { ...report, ...NOTHING_REMOVED, seq: null }
    insertTombstones(db, rows, at)
    const removed = removeMemories(db, rows)
    startPurge(db)
    return { ...report, ...removed, seq: nextSeq(db) }
  })
}

/** Summaries of the same turns. */
function summariesBeside(db: Database, ids: readonly number[]): number[] {
  return db.ids`
    SELECT DISTINCT m.id FROM json_each(${ids}) wanted CROSS JOIN observations o ON o.id = wanted.value
      JOIN session_summaries m ON m.content_session_id = o.content_session_id AND m.prompt_number = o.prompt_number
    ORDER BY m.id`
}

function oldestMemoryAt(db: Database, rows: readonly number[]): number {
  return db.number`
    SELECT min(s.created_at_epoch) AS n FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value`
}

/** A backup that is older than the oldest of them cannot contain any. */
function backupsSince(backups: readonly BackupInfo[], since: number): ForgetResult['backups'] {
  return backups.filter(({ at }) => since > 0 && at >= since).map(({ file, at, reason }) => ({ file, at, reason }))
}

/** For more rows than this it is cheaper to rebuild the index in the background than to delete each row from it. */
const MAX_INDEX_DELETIONS = 1_000

type Removed = typeof NOTHING_REMOVED

/** Deletes memories and their copies from every table. Runs inside the caller's transaction. */
function removeMemories(db: Database, rows: readonly number[]): Removed {
  const sessions = db.ids<string>`
    SELECT DISTINCT s.content_session_id AS id
    FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value`
  const observations = memoryIds(rows, 'observation')
  const removed = { ...NOTHING_REMOVED, ...countCopies(db, observations) }
  if (rows.length > MAX_INDEX_DELETIONS) resetIndex(db)
  db.run`DELETE FROM observations WHERE id IN (SELECT value FROM json_each(${observations}))`
  db.run`DELETE FROM session_summaries WHERE id IN (SELECT value FROM json_each(${memoryIds(rows, 'summary')}))`
  db.run`DELETE FROM user_prompts WHERE id IN (SELECT value FROM json_each(${memoryIds(rows, 'prompt')}))`
  for (const session of sessions) {
    const { payloads, observerTurns, callTexts } = removeCopiesInSession(db, session, observations)
    removed.payloads += payloads
    removed.observerTurns += observerTurns
    removed.callTexts += callTexts
  }
  return removed
}

function countCopies(db: Database, ids: readonly number[]): Pick<Removed, 'embeddings' | 'links'> {
  return {
    embeddings: db.number`
      SELECT count(*) AS n FROM embeddings WHERE observation_id IN (SELECT value FROM json_each(${ids}))`,
    links: db.number`
      SELECT count(*) AS n FROM links WHERE from_id IN (SELECT value FROM json_each(${ids}))
        OR to_id IN (SELECT value FROM json_each(${ids}))`,
  }
}

/** Any payload, call or transition of the session may contain the forgotten text. */
function removeCopiesInSession(
  db: Database,
  session: string,
  ids: readonly number[],
): Pick<Removed, 'payloads' | 'observerTurns' | 'callTexts'> {
  const changed = db.all<{ id: string; isOrphan: number }>`
    UPDATE events SET
      observation_ids = (SELECT json_group_array(value) FROM json_each(events.observation_ids)
        WHERE value NOT IN (SELECT value FROM json_each(${ids}))),
      reason = 'forgotten'
    WHERE content_session_id = ${session} AND observation_ids <> '[]' AND EXISTS (
      SELECT 1 FROM json_each(events.observation_ids) made WHERE made.value IN (SELECT value FROM json_each(${ids})))
    RETURNING event_id AS id, observation_ids = '[]' AS isOrphan`
  const orphaned = changed.filter(({ isOrphan }) => isOrphan === 1).map(({ id }) => id)
  // In a quarantined session payloads are the only copy of its events: there only those without any other observation.
  const payloads = db.run`
    DELETE FROM payloads WHERE content_session_id = ${session} AND (
      event_id IN (SELECT value FROM json_each(${orphaned}))
      OR (SELECT quarantine IS NULL FROM sdk_sessions WHERE content_session_id = ${session}))`.changes
  const observerTurns = db.run`DELETE FROM observer_turns WHERE content_session_id = ${session}`.changes
  // Also the error, which may quote the model's reply.
  const callTexts = db.run`
    UPDATE calls SET sent = NULL, received = NULL,
      error = CASE WHEN error IS NULL THEN NULL ELSE 'deleted with a forgotten memory' END
    WHERE content_session_id = ${session} AND (sent IS NOT NULL OR error IS NOT NULL)`.changes
  // The reason of a failed transition may quote the reply too; the part before the colon is kept.
  db.run`
    UPDATE trace SET reason = substr(reason, 1, instr(reason, ':')) || ' deleted with a forgotten memory'
    WHERE content_session_id = ${session} AND event = 'FAILED' AND instr(reason, ':') > 0`
  indexOutdatedText(db, session)
  return { payloads, observerTurns, callTexts }
}

/** The index rows of the neighbours, and of the chunks, still contain the text of a deleted observation. */
function indexOutdatedText(db: Database, session: string): void {
  const rows = db.ids`
    SELECT id FROM search_rows WHERE indexed = 0 AND content_session_id = ${session}
      AND EXISTS (SELECT 1 FROM memory_fts WHERE memory_fts.rowid = search_rows.id)`
  for (const row of rows) indexSearchRow(db, row)
  const chunks = db.ids`
    SELECT id FROM session_chunks WHERE indexed = 0 AND content_session_id = ${session}
      AND (members = 0 OR EXISTS (SELECT 1 FROM chunk_fts WHERE chunk_fts.rowid = session_chunks.id))`
  for (const chunk of chunks) indexChunk(db, chunk)
}

interface Tombstone {
  id: number
  created_at_epoch: number
  at: number
}

/** The first schema version with the table `forgotten`. */
const FIRST_VERSION_WITH_TOMBSTONES = 3

function insertTombstones(db: Database, rows: readonly number[], at: number): void {
  db.run`
    INSERT INTO forgotten (id, created_at_epoch, at)
    SELECT s.id, s.created_at_epoch, ${at}
    FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value
    WHERE TRUE ON CONFLICT (id) DO UPDATE SET created_at_epoch = excluded.created_at_epoch, at = excluded.at`
}

/** After a recovery or a restore: deletes forgotten memories that came back. */
export function forgetAgain(db: Database): number {
  const rows = db.ids`
    SELECT s.id FROM forgotten f JOIN search_rows s ON s.id = f.id AND s.created_at_epoch = f.created_at_epoch`
  removeMemories(db, rows)
  return rows.length
}

/** The tombstones of a database file; none if it cannot be read. */
export function readTombstones(file: string): Tombstone[] {
  if (!existsSync(file)) return []
  let db: Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    if (schemaVersion(db) < FIRST_VERSION_WITH_TOMBSTONES) return []
    return db.all<Tombstone>`SELECT id, created_at_epoch, at FROM forgotten`
  } catch {
    return []
  } finally {
    db?.close()
  }
}

export function addTombstones(db: Database, tombstones: readonly Tombstone[]): void {
  for (const { id, created_at_epoch, at } of tombstones) {
    db.run`
      INSERT INTO forgotten (id, created_at_epoch, at) VALUES (${id}, ${created_at_epoch}, ${at})
      ON CONFLICT DO NOTHING`
  }
}
