/** Reads the rows of a damaged database of another program, as far as SQLite can reach them. */
import { type Database, raw, type Sql, type SqlValue, sql } from './database.ts'

export function tableColumns(db: Database, table: string): Set<string> {
  return new Set(db.ids<string>`SELECT name AS id FROM pragma_table_info(${table})`)
}

type ReadableRow = Record<string, SqlValue>

/** The end of the scan if the highest id cannot be read. */
const UNKNOWN_HIGHEST = 2 ** 31

/**
 * Yields every row that can still be reached by its id; returns true if there was no damage. Reads forwards until damage,
 * probes ids behind it with doubling steps, and reads backwards from the first hit to the end of the damage.
 */
export function* readableRows(db: Database, table: string, columns: Sql): Generator<ReadableRow, boolean> {
  const highest = highestId(db, table)
  const select = sql`SELECT ${columns} FROM ${raw(table)}`
  const gap = (after: number, before: number) =>
    readBackwards(db, sql`${select} WHERE id > ${after} AND id < ${before} ORDER BY id DESC`, before)
  let complete = true
  let last = 0
  let from = 1
  let step = 1
  while (from <= highest) {
    const range = yield* readForwards(db, sql`${select} WHERE id >= ${from} ORDER BY id`)
    const resumed = last + 1 < from
    if (resumed && range.first > 0) yield* gap(last, range.first)
    if (range.ended && (range.first > 0 || !resumed)) return complete
    complete = false
    if (range.last > last) {
      last = range.last
      step = 1
    }
    from = Math.max(from, last) + step
    step *= 2
  }
  // The last probe was past the end: read the rest backwards from the end.
  if (!complete) yield* gap(last, highest + 1)
  return complete
}

interface ReadRange {
  first: number
  last: number
  /** Reached the end of the table, not damage. */
  ended: boolean
}

function* readForwards(db: Database, statement: Sql): Generator<ReadableRow, ReadRange> {
  const range: ReadRange = { first: 0, last: 0, ended: false }
  try {
    for (const row of db.each<ReadableRow>`${statement}`) {
      const id = Number(row.id)
      // A damaged b-tree may have a cycle.
      if (id <= range.last) return range
      if (range.first === 0) range.first = id
      range.last = id
      yield row
    }
    range.ended = true
  } catch {
    // Damage: the caller continues behind it.
  }
  return range
}

function* readBackwards(db: Database, statement: Sql, before: number): Generator<ReadableRow, void> {
  let last = before
  try {
    for (const row of db.each<ReadableRow>`${statement}`) {
      const id = Number(row.id)
      if (id >= last) return
      last = id
      yield row
    }
  } catch {
    // Damage: the rows before it were read forwards.
  }
}

function highestId(db: Database, table: string): number {
  const sources = [
    () => db.number`SELECT id AS n FROM ${raw(table)} ORDER BY id DESC LIMIT 1`,
    () => db.number`SELECT seq AS n FROM sqlite_sequence WHERE name = ${table}`,
  ]
  const known = sources.flatMap((read) => {
    try {
      return [read()]
    } catch {
      return []
    }
  })
  return known.length === 0 ? UNKNOWN_HIGHEST : Math.max(...known)
}
