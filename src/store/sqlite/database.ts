/** What every table's file needs: statements on a connection, the sequence counter, and what SQLite's errors mean. */
import type BetterSqlite3 from 'better-sqlite3'
import type { Usage } from '../../domain/observation.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'

export type Database = BetterSqlite3.Database

export type SqlValue = string | number | null | Buffer
export type SqlValues = Record<string, SqlValue> | readonly SqlValue[]

/** `T` as its columns hold it: a boolean is 0 or 1, a list or an object is JSON. */
export type Stored<T> = {
  [K in keyof T]: T[K] extends boolean ? number : T[K] extends string | number | null ? T[K] : string
}

/** Prepared statements live as long as their connection. */
const prepared = new WeakMap<Database, Map<string, BetterSqlite3.Statement<unknown[], unknown>>>()

function statement(db: Database, sql: string): BetterSqlite3.Statement<unknown[], unknown> {
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

export function run(db: Database, sql: string, values: SqlValues = []): { changes: number; id: number } {
  const { changes, lastInsertRowid } = statement(db, sql).run(values)
  return { changes, id: Number(lastInsertRowid) }
}

/** Inserts one row given as column names and values; returns its id. */
export function insertRow(db: Database, table: string, row: Record<string, SqlValue>): number {
  const columns = Object.keys(row)
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`
  return run(db, sql, row).id
}

// The tables are STRICT, so the row type that the caller names holds for every row of the statement.
export function get<Row>(db: Database, sql: string, values: SqlValues = []): Row | undefined {
  return statement(db, sql).get(values) as Row | undefined
}

export function all<Row>(db: Database, sql: string, values: SqlValues = []): Row[] {
  return statement(db, sql).all(values) as Row[]
}

/** Row by row. The statement is not cached: a statement that is being iterated cannot run a second time. */
export function* each<Row>(db: Database, sql: string, values: SqlValues = []): Generator<Row> {
  for (const row of db.prepare<unknown[], Row>(sql).iterate(values)) yield row
}

/** The column `n` of the only row; 0 where it is NULL or there is no row. */
export function selectNumber(db: Database, sql: string, values: SqlValues = []): number {
  return get<{ n: number | null }>(db, sql, values)?.n ?? 0
}

/** The column `id` of every row. */
export function selectIds<Id extends string | number = number>(
  db: Database,
  sql: string,
  values: SqlValues = [],
): Id[] {
  return all<{ id: Id }>(db, sql, values).map(({ id }) => id)
}

/**
 * Runs `work` in a savepoint of the current transaction. If it throws an error that `isLocal`, its changes are undone and
 * `onError` gives the result instead; other errors fail the whole transaction.
 */
export function inSavepoint<T>(
  db: Database,
  work: () => T,
  isLocal: (error: unknown) => boolean,
  onError: (error: unknown) => T,
): T {
  run(db, 'SAVEPOINT step')
  try {
    const result = work()
    run(db, 'RELEASE step')
    return result
  } catch (error) {
    if (!isLocal(error) || !db.inTransaction) throw error
    run(db, 'ROLLBACK TO step')
    run(db, 'RELEASE step')
    return onError(error)
  }
}

/** The columns of a `Usage`, as its fields. */
export const USAGE_COLUMNS =
  'input_tokens AS input, output_tokens AS output, cache_read_tokens AS cacheRead, cache_write_tokens AS cacheWrite'

export function usageColumns(usage: Usage | null): Record<string, number | null> {
  return {
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    cache_read_tokens: usage?.cacheRead ?? null,
    cache_write_tokens: usage?.cacheWrite ?? null,
  }
}

/** A WHERE condition on the columns that have a value; columns with `undefined` are left out. */
export function whereEqual(columns: Record<string, SqlValue | undefined>): {
  where: string
  values: Record<string, SqlValue>
} {
  const given = Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]))
  const conditions = given.map(({ column }, i) => `${column} = @equal${i}`)
  return {
    where: conditions.length === 0 ? 'TRUE' : conditions.join(' AND '),
    values: Object.fromEntries(given.map(({ value }, i) => [`equal${i}`, value])),
  }
}

/** Operations with the connection already given. */
export type Bound<Operations> = {
  [K in keyof Operations]: Operations[K] extends (db: Database, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never
}

export function bindDatabase<Operations extends Record<string, (db: Database, ...args: never[]) => unknown>>(
  db: Database,
  operations: Operations,
  toError: (error: unknown) => unknown = (error) => error,
): Bound<Operations> {
  const bound = Object.entries(operations).map(([name, operation]) => [
    name,
    (...args: never[]) => {
      try {
        return operation(db, ...args)
      } catch (error) {
        throw toError(error)
      }
    },
  ])
  return Object.fromEntries(bound) as Bound<Operations>
}

/** The next sequence number. Numbers the changes that clients follow, in the order in which they became durable. */
export function nextSeq(db: Database): number {
  const row = get<{ value: number }>(db, `UPDATE meta SET value = value + 1 WHERE name = 'seq' RETURNING value`)
  if (row === undefined) throw new Error('the database has no sequence counter')
  return row.value
}

export function seqNow(db: Database): number {
  return selectMeta(db, 'seq') ?? 0
}

/** A number in the table `meta`; null where it is not set. */
export function selectMeta(db: Database, name: string): number | null {
  return get<{ value: number }>(db, 'SELECT value FROM meta WHERE name = ?', [name])?.value ?? null
}

export function setMeta(db: Database, name: string, value: number | null): void {
  if (value === null) run(db, 'DELETE FROM meta WHERE name = ?', [name])
  else {
    const sql = 'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
    run(db, sql, [name, value])
  }
}

export function isCorruption(error: unknown): boolean {
  if (error instanceof MemError) return error.code === 'corrupt_database'
  return hasCode(error, ['SQLITE_CORRUPT', 'SQLITE_NOTADB'])
}

/** Errors of the disk, the file or the process: they fail the whole group of commits, not one member. */
const GROUP_FAILURES = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
  'SQLITE_NOMEM',
  'SQLITE_CANTOPEN',
  'SQLITE_INTERRUPT',
]

export function isGroupFailure(error: unknown): boolean {
  return hasCode(error, GROUP_FAILURES)
}

/** By prefix: SQLite's extended codes add a suffix (`SQLITE_IOERR_WRITE`). */
function hasCode(error: unknown, prefixes: readonly string[]): boolean {
  const code = systemCode(error) ?? ''
  return prefixes.some((prefix) => code.startsWith(prefix))
}

interface ErrorMeaning {
  /** Prefixes of SQLite's and the file system's error codes. */
  codes: readonly string[]
  message: (cause: string, code: string) => string
  retryable?: boolean
}

const ERROR_MEANINGS: readonly ErrorMeaning[] = [
  {
    codes: ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'],
    message: () => 'The disk is full. Free some space; nothing that was acknowledged is lost.',
    retryable: true,
  },
  {
    codes: ['SQLITE_READONLY', 'EACCES', 'EPERM', 'EROFS'],
    message: (cause) =>
      `The database cannot be written (${cause}). Make the data directory and its files writable for you.`,
  },
  {
    codes: ['SQLITE_BUSY', 'SQLITE_LOCKED'],
    message: () => 'Another program has locked the database. Close it, or try again in a moment.',
    retryable: true,
  },
  {
    codes: ['SQLITE_CANTOPEN'],
    message: (cause) => `The database cannot be opened (${cause}). Check that its directory exists and belongs to you.`,
  },
  {
    codes: ['SQLITE_IOERR', 'SQLITE_NOMEM', 'SQLITE_PROTOCOL'],
    message: (cause, code) => `Reading or writing the disk failed (${code}: ${cause}). Try again.`,
    retryable: true,
  },
  { codes: ['SQLITE', 'E'], message: (cause, code) => `The store failed (${code}: ${cause}).` },
]

export function storageError(error: unknown): MemError {
  if (error instanceof MemError) return error
  const cause = errorMessage(error)
  if (isCorruption(error)) {
    const message = `The database is damaged (${cause}). Start claude-mem again: it sets the file aside and restores the newest backup.`
    return new MemError('corrupt_database', message, { cause: error })
  }
  const meaning = ERROR_MEANINGS.find(({ codes }) => hasCode(error, codes))
  if (meaning === undefined) {
    return new MemError('internal', `The store failed unexpectedly: ${cause}`, { cause: error })
  }
  const { message, retryable = false } = meaning
  return new MemError('storage', message(cause, systemCode(error) ?? ''), { cause: error, retryable })
}

/** The full-text index is derived from the rows: when it is damaged, no memory is lost. */
export function isIndexDamage(error: unknown): boolean {
  if (error instanceof MemError && error.cause !== undefined) return isIndexDamage(error.cause)
  return systemCode(error) === 'SQLITE_CORRUPT_VTAB'
}

export function indexDamageError(cause: unknown): MemError {
  return new MemError('storage', 'The search index is damaged. Rebuild it: claude-mem reindex.', { cause })
}
