/**
 * `search_rows`: one row for every memory that can be found, of any kind, with the columns that filters need. The row id
 * combines the kind and the id of the memory; it is also the rowid of the full-text table.
 */
import { HAND_WRITTEN_SESSION_PREFIX } from '../../domain/observation.ts'
import {
  foldConcept,
  foldPath,
  type HitKind,
  MEMORY_KINDS,
  ownAuthorName,
  type SearchFilters,
} from '../../domain/search-query.ts'
import { type RankingRow, searchRowKind, searchRowMemoryId } from '../search-port.ts'
import { allOf, type Database, raw, type Sql, sql } from './database.ts'

/** Every item is between two line breaks, so that a filter can match whole items. */
export function foldedList(items: readonly string[], fold: (item: string) => string): string {
  return items.length === 0 ? '' : `\n${items.map(fold).join('\n')}\n`
}

/**
 * Of what this machine learned: prompts and what was written by hand are the user's, everything else is by the observer:
 * `offline` or a model.
 */
const WRITER = sql`CASE
  WHEN s.id & 3 = 2 OR s.content_session_id LIKE ${`${HAND_WRITTEN_SESSION_PREFIX}%`} THEN 'user'
  WHEN s.id & 3 = 1 THEN (SELECT model FROM session_summaries WHERE id = s.id >> 2)
  ELSE (SELECT model FROM observations WHERE id = s.id >> 2) END`

/** The member it came from; null for what this machine learned. */
const MEMBER = sql`CASE s.id & 3 WHEN 0 THEN (SELECT author FROM observations WHERE id = s.id >> 2)
  WHEN 1 THEN (SELECT author FROM session_summaries WHERE id = s.id >> 2) END`

/** `member`: SQL for the author of a received memory; `isByWriter`: whether one of this machine passes. */
export function authorCondition(author: string, member: Sql, isByWriter: Sql): Sql {
  const name = ownAuthorName(author)
  if (name === null) return sql`${member} IS NULL`
  if (name !== undefined) return sql`(${member} IS NULL OR ${member} = ${name})`
  return sql`(${member} = ${author} OR (${member} IS NULL AND ${isByWriter}))`
}

/** `session`: SQL for the id of a session. */
export function clientsCondition(clients: readonly string[], session: Sql): Sql {
  return sql`${session} IN (SELECT content_session_id FROM sdk_sessions WHERE client IN (SELECT value FROM json_each(${clients})))`
}

/** Filters as SQL over `search_rows s`. Every search, list and export uses this. A new filter is a line here. */
export function filterConditions(filters: SearchFilters): Sql {
  const { project, kinds, types, concepts, files, since, until, agent, author, clients, session, pinned } = filters
  const conditions: Sql[] = []
  if (project !== null) conditions.push(sql`s.project = ${project}`)
  if (session !== null) conditions.push(sql`s.content_session_id = ${session}`)
  if (agent !== null) conditions.push(sql`s.agent = ${agent}`)
  if (author !== null) conditions.push(authorCondition(author, MEMBER, sql`${WRITER} = ${author}`))
  if (clients.length > 0) conditions.push(clientsCondition(clients, sql`s.content_session_id`))
  if (since !== null) conditions.push(sql`s.created_at_epoch >= ${since}`)
  if (until !== null) conditions.push(sql`s.created_at_epoch <= ${until}`)
  if (isSomeKinds(kinds)) conditions.push(kindsCondition(kinds, 's.id'))
  if (types.length > 0) conditions.push(sql`s.type IN (SELECT value FROM json_each(${types}))`)
  if (concepts.length > 0) {
    const wholeConcepts = concepts.map((concept) => `\n${foldConcept(concept)}\n`)
    conditions.push(anyIn('s.concepts', wholeConcepts))
  }
  if (files.length > 0) conditions.push(anyIn('s.files', files.map(foldPath)))
  if (pinned) conditions.push(sql`s.id & 3 = 0 AND EXISTS (SELECT 1 FROM pins p WHERE p.id = s.id >> 2)`)
  return allOf(conditions)
}

/** Whether the filters select everything of a turn, also what is not observed yet: they restrict only where and when. */
export function coversWholeTurns(filters: SearchFilters): boolean {
  const content = { ...filters, project: null, session: null, since: null, until: null, kinds: [] }
  return !isSomeKinds(filters.kinds) && filterConditions(content).text === 'TRUE'
}

/** The condition on a rowid column if the filters only restrict the kinds; null if they need `search_rows`. */
export function kindsOnly(filters: SearchFilters, column: string): Sql | null {
  if (filterConditions({ ...filters, kinds: [] }).text !== 'TRUE') return null
  return isSomeKinds(filters.kinds) ? kindsCondition(filters.kinds, column) : sql`TRUE`
}

function isSomeKinds(kinds: readonly HitKind[]): boolean {
  return kinds.length > 0 && MEMORY_KINDS.some((kind) => !kinds.includes(kind))
}

/** `column` contains search row ids. Passages have none. */
function kindsCondition(kinds: readonly HitKind[], column: string): Sql {
  const stored = MEMORY_KINDS.flatMap((kind, i) => (kinds.includes(kind) ? [i] : []))
  return raw(`${column} & 3 IN (${stored.join(', ')})`)
}

function anyIn(column: string, texts: readonly string[]): Sql {
  const text = raw(column)
  return sql`${text} <> '' AND EXISTS (
    SELECT 1 FROM json_each(${texts}) wanted WHERE instr(${text}, wanted.value) > 0)`
}

/** Newest first. */
export function selectFiltered(db: Database, filters: SearchFilters, limit: number, offset: number): number[] {
  return db.ids`
    SELECT s.id FROM search_rows s WHERE ${filterConditions(filters)}
    ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT ${limit} OFFSET ${offset}`
}

/** In no order; null where there are more than `atMost`. */
export function selectAllFiltered(db: Database, filters: SearchFilters, atMost: number): number[] | null {
  const found = db.ids`
    SELECT s.id FROM search_rows s WHERE ${filterConditions(filters)} LIMIT ${atMost + 1}`
  return found.length > atMost ? null : found
}

export function countFiltered(db: Database, filters: SearchFilters): number {
  return db.number`SELECT count(*) AS n FROM search_rows s WHERE ${filterConditions(filters)}`
}

/** Those of the rows that pass, in their order. */
export function selectFilteredOf(db: Database, rows: readonly number[], filters: SearchFilters): number[] {
  const passing = db.ids`
    SELECT s.id FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value
    WHERE ${filterConditions(filters)}`
  const isPassing = new Set(passing)
  return rows.filter((row) => isPassing.has(row))
}

/** The passing rows nearest in time to a row, oldest first, with the row itself between. Empty if it does not exist. */
export function selectAround(
  db: Database,
  row: number,
  filters: SearchFilters,
  before: number,
  after: number,
): number[] {
  const anchor = db.get<{ at: number }>`SELECT created_at_epoch AS at FROM search_rows WHERE id = ${row}`
  if (anchor === undefined) return []
  const where = filterConditions(filters)
  const earlier = db.ids`
    SELECT s.id FROM search_rows s WHERE ${where} AND (s.created_at_epoch, s.id) < (${anchor.at}, ${row})
    ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT ${before}`
  const later = db.ids`
    SELECT s.id FROM search_rows s WHERE ${where} AND (s.created_at_epoch, s.id) > (${anchor.at}, ${row})
    ORDER BY s.created_at_epoch, s.id LIMIT ${after}`
  return [...earlier.reverse(), row, ...later]
}

/** The previous and the next observation of the same session, by observation id. */
export function selectNeighbours(
  db: Database,
  observationIds: readonly number[],
): Map<number, { before: number | null; after: number | null }> {
  const found = db.all<{ id: number; before: number | null; after: number | null }>`
    SELECT o.id,
      (SELECT max(id) FROM observations b WHERE b.content_session_id = o.content_session_id AND b.id < o.id) AS before,
      (SELECT min(id) FROM observations a WHERE a.content_session_id = o.content_session_id AND a.id > o.id) AS after
    FROM json_each(${observationIds}) wanted CROSS JOIN observations o ON o.id = wanted.value`
  return new Map(found.map(({ id, before, after }) => [id, { before, after }]))
}

/** In the order of the rows; missing ones are left out. */
export function selectRankingRows(db: Database, rows: readonly number[]): RankingRow[] {
  const found = db.all<Omit<RankingRow, 'kind' | 'id'>>`
    SELECT s.id AS row, s.content_session_id AS session, s.project, s.created_at_epoch AS createdAt, s.chunk,
      CASE s.id & 3 WHEN 0 THEN (SELECT prompt_number FROM observations WHERE id = s.id >> 2)
        WHEN 1 THEN (SELECT prompt_number FROM session_summaries WHERE id = s.id >> 2)
        ELSE (SELECT prompt_number FROM user_prompts WHERE id = s.id >> 2) END AS promptNumber,
      CASE s.id & 3 WHEN 0 THEN
        (SELECT max(from_id) FROM links WHERE to_id = s.id >> 2 AND kind = 'supersedes') END AS supersededBy
    FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value ORDER BY wanted.key`
  return found.map((row) => ({ ...row, kind: searchRowKind(row.row), id: searchRowMemoryId(row.row) }))
}
