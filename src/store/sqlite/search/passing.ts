/** What passes the filters, without any query. */
import type { SearchFilters } from '../../../search/query.ts'
import type { Rankable } from '../../search-port.ts'
import { all, type Connection, count, get } from '../statement.ts'
import { conditionsOf } from './filters.ts'
import { idOf, kindOf } from './rows.ts'

export function selectPassing(db: Connection, filters: SearchFilters, limit: number, offset: number): number[] {
  const { where, values } = conditionsOf(filters)
  return rows(
    all(
      db,
      `SELECT s.id FROM search_rows s WHERE ${where}
       ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT @limit OFFSET @offset`,
      { ...values, limit, offset },
    ),
  )
}

/** In no order; null where there are more than `atMost`. */
export function selectAllPassing(db: Connection, filters: SearchFilters, atMost: number): number[] | null {
  const { where, values } = conditionsOf(filters)
  const found = rows(
    all(db, `SELECT s.id FROM search_rows s WHERE ${where} LIMIT @limit`, { ...values, limit: atMost + 1 }),
  )
  return found.length > atMost ? null : found
}

export function countPassing(db: Connection, filters: SearchFilters): number {
  const { where, values } = conditionsOf(filters)
  return count(db, `SELECT count(*) AS n FROM search_rows s WHERE ${where}`, values)
}

export function selectPassingOf(db: Connection, wanted: readonly number[], filters: SearchFilters): number[] {
  const { where, values } = conditionsOf(filters)
  const passing = new Set(
    rows(
      all(
        db,
        `SELECT s.id FROM json_each(@wanted) wanted CROSS JOIN search_rows s ON s.id = wanted.value WHERE ${where}`,
        { ...values, wanted: JSON.stringify(wanted) },
      ),
    ),
  )
  return wanted.filter((row) => passing.has(row))
}

export function selectBeside(
  db: Connection,
  row: number,
  filters: SearchFilters,
  before: number,
  after: number,
): number[] {
  const anchor = get<{ at: number }>(db, 'SELECT created_at_epoch AS at FROM search_rows WHERE id = ?', [row])
  if (anchor === undefined) return []
  const { where, values } = conditionsOf(filters)
  const from = { ...values, row, at: anchor.at }
  const earlier = rows(
    all(
      db,
      `SELECT s.id FROM search_rows s WHERE ${where} AND (s.created_at_epoch, s.id) < (@at, @row)
       ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT @limit`,
      { ...from, limit: before },
    ),
  )
  const later = rows(
    all(
      db,
      `SELECT s.id FROM search_rows s WHERE ${where} AND (s.created_at_epoch, s.id) > (@at, @row)
       ORDER BY s.created_at_epoch, s.id LIMIT @limit`,
      { ...from, limit: after },
    ),
  )
  return [...earlier.reverse(), row, ...later]
}

/** The observations before and after each in its session, by its id. */
export function selectNeighbours(
  db: Connection,
  observationIds: readonly number[],
): Map<number, { before: number | null; after: number | null }> {
  const found = all<{ id: number; before: number | null; after: number | null }>(
    db,
    `SELECT o.id,
       (SELECT max(id) FROM observations b WHERE b.content_session_id = o.content_session_id AND b.id < o.id) AS before,
       (SELECT min(id) FROM observations a WHERE a.content_session_id = o.content_session_id AND a.id > o.id) AS after
     FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value`,
    [JSON.stringify(observationIds)],
  )
  return new Map(found.map(({ id, before, after }) => [id, { before, after }]))
}

export function selectChunksOf(db: Connection, observationIds: readonly number[]): Map<number, number> {
  const placed = all<{ id: number; chunk: number }>(
    db,
    `SELECT wanted.value AS id, s.chunk FROM json_each(?) wanted CROSS JOIN search_rows s ON s.id = wanted.value * 4
     WHERE s.chunk IS NOT NULL`,
    [JSON.stringify(observationIds)],
  )
  return new Map(placed.map(({ id, chunk }) => [id, chunk]))
}

/** In the order of the rows; what is gone is left out. */
export function selectRankable(db: Connection, wanted: readonly number[]): Rankable[] {
  const found = all<Omit<Rankable, 'kind' | 'id'>>(
    db,
    `SELECT s.id AS row, s.project, s.type, s.created_at_epoch AS createdAt, s.chunk, CASE s.id & 3 WHEN 0 THEN
       (SELECT max(from_id) FROM links WHERE to_id = s.id >> 2 AND kind = 'supersedes') END AS supersededBy
     FROM json_each(?) wanted CROSS JOIN search_rows s ON s.id = wanted.value ORDER BY wanted.key`,
    [JSON.stringify(wanted)],
  )
  return found.map((one) => ({ ...one, kind: kindOf(one.row), id: idOf(one.row) }))
}

function rows(found: { id: number }[]): number[] {
  return found.map(({ id }) => id)
}
