/** Prepared statements, kept for as long as their connection. */
import type BetterSqlite3 from 'better-sqlite3'

export type Connection = BetterSqlite3.Database

export type Value = string | number | null | Buffer
export type Values = Record<string, Value> | readonly Value[]

const prepared = new WeakMap<Connection, Map<string, BetterSqlite3.Statement<unknown[], unknown>>>()

function statement(db: Connection, sql: string): BetterSqlite3.Statement<unknown[], unknown> {
  let statements = prepared.get(db)
  if (statements === undefined) {
    statements = new Map()
    prepared.set(db, statements)
  }
  let found = statements.get(sql)
  if (found === undefined) {
    found = db.prepare<unknown[], unknown>(sql)
    statements.set(sql, found)
  }
  return found
}

export function run(db: Connection, sql: string, values: Values = []): { changes: number; id: number } {
  const { changes, lastInsertRowid } = statement(db, sql).run(values)
  return { changes, id: Number(lastInsertRowid) }
}

// The tables are STRICT: the row type that stands beside a statement holds for every row it returns.
export function get<Row>(db: Connection, sql: string, values: Values = []): Row | undefined {
  return statement(db, sql).get(values) as Row | undefined
}

export function all<Row>(db: Connection, sql: string, values: Values = []): Row[] {
  return statement(db, sql).all(values) as Row[]
}

export function* each<Row>(db: Connection, sql: string, values: Values = []): Generator<Row> {
  // A statement that is being iterated is busy: it is not shared.
  for (const row of db.prepare<unknown[], Row>(sql).iterate(values)) yield row
}

/** The single number a statement returns. */
export function count(db: Connection, sql: string, values: Values = []): number {
  return get<{ n: number | null }>(db, sql, values)?.n ?? 0
}
