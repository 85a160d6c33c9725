/** Every row of a damaged table that can still be reached by its id. */
import { all, type Connection, each, get, type Value } from './statement.ts'

export type SalvagedRow = Record<string, Value>

/** Where the search ends when the table cannot even say its highest id. */
const UNKNOWN_HIGHEST = 2 ** 31

/**
 * Yields rows and returns whether it met no damage. It reads forwards until the damage, looks for the next id beyond
 * it with growing steps, and reads backwards from there to the far side of the damage.
 */
export function* readableRows(
  db: Connection,
  table: string,
  columns: readonly string[],
): Generator<SalvagedRow, boolean> {
  const highest = highestId(db, table)
  const list = columns.join(', ')
  const gap = `SELECT ${list} FROM ${table} WHERE id > ? AND id < ? ORDER BY id DESC`
  let complete = true
  let last = 0
  let from = 1
  let step = 1
  while (from <= highest) {
    const stretch = yield* forwards(db, `SELECT ${list} FROM ${table} WHERE id >= ? ORDER BY id`, from)
    const resumed = last + 1 < from
    if (resumed && stretch.first > 0) yield* backwards(db, gap, last, stretch.first)
    if (stretch.ended && (stretch.first > 0 || !resumed)) return complete
    complete = false
    if (stretch.last > last) {
      last = stretch.last
      step = 1
    }
    from = Math.max(from, last) + step
    step *= 2
  }
  // The last step went past the end: what lies between is reached from there.
  if (!complete) yield* backwards(db, gap, last, highest + 1)
  return complete
}

interface Stretch {
  first: number
  last: number
  /** It came to the end of the table rather than to damage. */
  ended: boolean
}

function* forwards(db: Connection, sql: string, from: number): Generator<SalvagedRow, Stretch> {
  const stretch: Stretch = { first: 0, last: 0, ended: false }
  try {
    for (const row of each<SalvagedRow>(db, sql, [from])) {
      const id = Number(row.id)
      // A damaged tree may lead in circles.
      if (id <= stretch.last) return stretch
      if (stretch.first === 0) stretch.first = id
      stretch.last = id
      yield row
    }
    stretch.ended = true
  } catch {
    // damage: the caller goes on beyond it
  }
  return stretch
}

function* backwards(db: Connection, sql: string, after: number, before: number): Generator<SalvagedRow, void> {
  let last = before
  try {
    for (const row of each<SalvagedRow>(db, sql, [after, before])) {
      const id = Number(row.id)
      if (id >= last) return
      last = id
      yield row
    }
  } catch {
    // the far side of the damage: the near side was read forwards
  }
}

function highestId(db: Connection, table: string): number {
  const readings = [
    () => get<{ n: number }>(db, `SELECT id AS n FROM ${table} ORDER BY id DESC LIMIT 1`)?.n ?? 0,
    () => all<{ n: number }>(db, 'SELECT seq AS n FROM sqlite_sequence WHERE name = ?', [table])[0]?.n ?? 0,
  ]
  const known = readings.flatMap((read) => {
    try {
      return [read()]
    } catch {
      return []
    }
  })
  return known.length === 0 ? UNKNOWN_HIGHEST : Math.max(...known)
}
