/**
 * Which passages are forgotten with memories and messages, and their tombstones. A memory is made of its turn, so all
 * passages of the turn are evidence for it; an observation may have further sources in earlier turns.
 */
import type { MemoryKind, SearchFilters } from '../../domain/search-query.ts'
import { memoryIds } from '../search-port.ts'
import { allOf, type Database, type Sql, sql } from './database.ts'
import { startPurge } from './full-text-index.ts'
import { hasPassages } from './passages.ts'
import { coversWholeTurns } from './search-rows.ts'
import { insertTurnTombstones } from './tombstones.ts'

/** The turns of memories; `rows`: ids of `search_rows`. */
export function turnsOfMemories(rows: readonly number[]): Sql {
  const ids = (kind: MemoryKind) => sql`(SELECT value FROM json_each(${memoryIds(rows, kind)}))`
  return sql`
    SELECT content_session_id AS session, prompt_number AS prompt FROM observations WHERE id IN ${ids('observation')}
    UNION SELECT content_session_id, prompt_number FROM session_summaries WHERE id IN ${ids('summary')}
    UNION SELECT content_session_id, prompt_number FROM user_prompts WHERE id IN ${ids('prompt')}`
}

/** `rows`: ids of `search_rows`; `messages`: of `pending_messages`. */
export function selectPassagesToForget(
  db: Database,
  rows: readonly number[],
  messages: readonly number[],
  filters: SearchFilters | null,
): number[] {
  return db.ids`
    SELECT p.id FROM (${turnsOfMemories(rows)}) turn CROSS JOIN passages p
      ON p.content_session_id = turn.session AND p.prompt_number = turn.prompt
    UNION SELECT p.id FROM observations o, json_each(o.sources) source CROSS JOIN passages p
      ON p.content_session_id = o.content_session_id AND p.event_id = source.value
      WHERE o.id IN (SELECT value FROM json_each(${memoryIds(rows, 'observation')}))
    UNION SELECT p.id FROM session_summaries m CROSS JOIN passages p ON p.content_session_id = m.content_session_id
      WHERE m.whole = 1 AND m.id IN (SELECT value FROM json_each(${memoryIds(rows, 'summary')}))
    UNION ${passagesOfMessages(messages)}
    UNION SELECT p.id FROM passages p WHERE ${wholeTurns(filters)}`
}

function passagesOfMessages(messages: readonly number[]): Sql {
  return sql`SELECT p.id FROM json_each(${messages}) wanted CROSS JOIN pending_messages m ON m.id = wanted.value
    CROSS JOIN passages p ON p.content_session_id = m.content_session_id AND p.event_id = m.event_id`
}

/** Passages that pass the filters themselves, if these select everything of a turn. */
function wholeTurns(filters: SearchFilters | null): Sql {
  if (filters === null || !coversWholeTurns(filters)) return sql`FALSE`
  const { session, project, since, until } = filters
  const conditions: Sql[] = []
  if (session !== null) conditions.push(sql`p.content_session_id = ${session}`)
  if (project !== null) conditions.push(sql`p.project = ${project}`)
  if (since !== null) conditions.push(sql`p.at >= ${since}`)
  if (until !== null) conditions.push(sql`p.at <= ${until}`)
  return allOf(conditions)
}

export function oldestPassageAt(db: Database, ids: readonly number[]): number {
  if (ids.length === 0) return Number.POSITIVE_INFINITY
  return db.number`SELECT min(at) AS n FROM passages WHERE id IN (SELECT value FROM json_each(${ids}))`
}

/** Runs inside the caller's transaction. Triggers delete them from the index. */
export function forgetPassages(db: Database, ids: readonly number[], at: number): void {
  insertTurnTombstones(db, ids, at)
  deletePassageRows(db, ids)
}

export function deletePassageRows(db: Database, ids: readonly number[]): void {
  // A backup of an older schema does not have the table.
  if (ids.length === 0) return
  db.run`DELETE FROM passages WHERE id IN (SELECT value FROM json_each(${ids}))`
}

/** Of events that the observer has not read; must run before the messages are deleted. */
export function forgetPassagesOfMessages(db: Database, messages: readonly number[], at: number): void {
  const ids = db.ids`${passagesOfMessages(messages)}`
  if (ids.length === 0) return
  forgetPassages(db, ids, at)
  startPurge(db)
}

/**
 * Passages that were forgotten and are there again: of forgotten turns, and of the turns of forgotten memories. Newer
 * ones are of events that came later. `messages`: forgotten ones that are there again.
 */
export function selectForgottenPassages(db: Database, messages: readonly number[]): number[] {
  if (!hasPassages(db)) return []
  const ofTurns = (table: Sql) => sql`SELECT p.id FROM ${table} f CROSS JOIN passages p
    ON p.content_session_id = f.content_session_id AND p.prompt_number = f.prompt_number AND p.at <= f.at`
  return db.ids`
    ${ofTurns(sql`forgotten_turns`)} UNION ${ofTurns(sql`forgotten`)} UNION ${passagesOfMessages(messages)}`
}
