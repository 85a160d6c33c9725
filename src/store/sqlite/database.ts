/** The connection with the statements on it, the sequence counter, and what SQLite's errors mean. */
import type BetterSqlite3 from 'better-sqlite3'
import type { Usage } from '../../domain/observation.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { databaseDriver } from '../../lib/packages.ts'

export type SqlValue = string | number | null | Buffer

/** `T` as its columns hold it: a boolean is 0 or 1, a list or an object is JSON. */
export type Stored<T> = {
  [K in keyof T]: T[K] extends boolean ? number : T[K] extends string | number | null ? T[K] : string
}

/** A statement or a part of one: its text has a `?` for each of the values. */
export class Sql {
  readonly text: string
  readonly values: readonly SqlValue[]
  constructor(text: string, values: readonly SqlValue[] = []) {
    this.text = text
    this.values = values
  }
}

/** Values are bound, a list as JSON for `json_each`; other parts of SQL are inserted. */
type SqlPart = SqlValue | readonly (string | number)[] | Sql

/** What a tag gets of a template. */
export type SqlTemplate = [strings: TemplateStringsArray, ...parts: SqlPart[]]

/** Texts of templates without other parts of SQL, by template: built once, because every commit runs them. */
const PLAIN_TEXTS = new WeakMap<TemplateStringsArray, string>()

/** A part of a statement: sql`project = ${key}`. */
export function sql(...[strings, ...parts]: SqlTemplate): Sql {
  const known = PLAIN_TEXTS.get(strings)
  if (known !== undefined && !parts.some(isSql)) return new Sql(known, parts.map(toSqlValue))
  let text = strings[0] ?? ''
  const values: SqlValue[] = []
  parts.forEach((part, i) => {
    if (part instanceof Sql) {
      text += part.text
      values.push(...part.values)
    } else {
      text += '?'
      values.push(toSqlValue(part))
    }
    text += strings[i + 1] ?? ''
  })
  if (!parts.some(isSql)) PLAIN_TEXTS.set(strings, text)
  return new Sql(text, values)
}

function isSql(part: SqlPart): part is Sql {
  return part instanceof Sql
}

export const EMPTY_SQL = new Sql('')

/** Text that is not a value, such as the name of a table. Never from outside the program. */
export function raw(text: string): Sql {
  return new Sql(text)
}

function joinSql(parts: readonly Sql[], separator: string): Sql {
  return new Sql(
    parts.map(({ text }) => text).join(separator),
    parts.flatMap(({ values }) => values),
  )
}

/** A condition that holds if all of them do. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`TRUE` : joinSql(conditions, ' AND ')
}

/** Columns with `undefined` are left out. */
export function whereEqual(columns: Record<string, SqlValue | undefined>): Sql {
  return allOf(
    Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [sql`${raw(column)} = ${value}`])),
  )
}

/** The condition that a memory is the reader's own (src/domain/authorship.ts). `me`: the reader's name in a team; null: none. */
export function isOwnRow(table: string, me: string | null): Sql {
  const author = raw(`${table}.author`)
  return sql`(${author} IS NULL OR ${author} = ${me})`
}

/** The condition that a column starts with a prefix. Its index is used. */
export function startsWith(column: string, prefix: string): Sql {
  const text = raw(column)
  return sql`${text} >= ${prefix} AND ${text} < ${prefix} || char(0x10FFFF)
    AND substr(${text}, 1, length(${prefix})) = ${prefix}`
}

function toSqlValue(value: SqlValue | boolean | object): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value === null || typeof value !== 'object' || value instanceof Buffer ? value : JSON.stringify(value)
}

type Row = Record<string, SqlValue | boolean | object>

/** A row as the end of an INSERT: column names and values. A boolean is stored as 0 or 1, a list or an object as JSON. */
export function rowSql(row: Row): Sql {
  return columnsSql(
    row,
    ROW_TEXTS,
    (columns) => `(${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
}

/** A row as the assignments of an UPDATE. */
export function assignmentsSql(row: Row): Sql {
  return columnsSql(row, ASSIGNMENT_TEXTS, (columns) => columns.map((column) => `${column} = ?`).join(', '))
}

/** By the columns; each text is built once, because every commit writes the same columns. */
const ROW_TEXTS = new Map<string, string>()
const ASSIGNMENT_TEXTS = new Map<string, string>()

function columnsSql(row: Row, texts: Map<string, string>, makeText: (columns: string[]) => string): Sql {
  const columns = Object.keys(row)
  const key = columns.join()
  const text = texts.get(key) ?? makeText(columns)
  texts.set(key, text)
  return new Sql(text, Object.values(row).map(toSqlValue))
}

const DatabaseDriver: typeof BetterSqlite3 = databaseDriver()

/**
 * A connection. Statements are templates: db.run`DELETE FROM seen WHERE at < ${before}`.
 * The tables are STRICT, so the row type that the caller names holds for every row of the statement.
 */
export class Database extends DatabaseDriver {
  readonly #statements = new Map<string, BetterSqlite3.Statement<unknown[], unknown>>()

  #prepared(text: string): BetterSqlite3.Statement<unknown[], unknown> {
    let found = this.#statements.get(text)
    if (found === undefined) {
      found = this.prepare<unknown[], unknown>(text)
      this.#statements.set(text, found)
    }
    return found
  }

  run(...template: SqlTemplate): { changes: number; id: number } {
    const { text, values } = sql(...template)
    const { changes, lastInsertRowid } = this.#prepared(text).run(values)
    return { changes, id: Number(lastInsertRowid) }
  }

  get<Row>(...template: SqlTemplate): Row | undefined {
    const { text, values } = sql(...template)
    return this.#prepared(text).get(values) as Row | undefined
  }

  all<Row>(...template: SqlTemplate): Row[] {
    const { text, values } = sql(...template)
    return this.#prepared(text).all(values) as Row[]
  }

  /** The row of a statement that always has exactly one, such as a sum. */
  one<Row>(...template: SqlTemplate): Row {
    return this.get<Row>(...template) as Row
  }

  /** Row by row. The statement is not cached: a statement that is being iterated cannot run a second time. */
  *each<Row>(...template: SqlTemplate): Generator<Row> {
    const { text, values } = sql(...template)
    yield* this.prepare<unknown[], Row>(text).iterate(values)
  }

  /** The column `n` of the only row; 0 where it is NULL or there is no row. */
  number(...template: SqlTemplate): number {
    return this.get<{ n: number | null }>(...template)?.n ?? 0
  }

  /** The column `id` of every row. */
  ids<Id extends string | number = number>(...template: SqlTemplate): Id[] {
    return this.all<{ id: Id }>(...template).map(({ id }) => id)
  }

  exists(...template: SqlTemplate): boolean {
    return this.get(...template) !== undefined
  }

  /** Returns the id of the row. */
  insertRow(table: string, row: Row): number {
    return this.run`INSERT INTO ${raw(table)} ${rowSql(row)}`.id
  }

  /** Runs `work` in a transaction that takes the write lock at once. Inside of another transaction it is a part of that one. */
  write<T>(work: () => T): T {
    return this.transaction(work).immediate()
  }
}

/**
 * Runs `work` in a savepoint of the current transaction. Savepoints that may be nested need different names: a rollback
 * goes to the innermost one of its name. If it throws an error that `isLocal`, its changes are undone and
 * `onError` gives the result instead; other errors fail the whole transaction.
 */
export function inSavepoint<T>(
  db: Database,
  name: 'member' | 'record' | 'indexing',
  work: () => T,
  isLocal: (error: unknown) => boolean,
  onError: (error: unknown) => T,
): T {
  const savepoint = raw(name)
  db.run`SAVEPOINT ${savepoint}`
  try {
    const result = work()
    db.run`RELEASE ${savepoint}`
    return result
  } catch (error) {
    if (!isLocal(error) || !db.inTransaction) throw error
    db.run`ROLLBACK TO ${savepoint}`
    db.run`RELEASE ${savepoint}`
    return onError(error)
  }
}

/** The columns of a `Usage`, as its fields. */
export const USAGE_COLUMNS = sql`input_tokens AS input, output_tokens AS output, cache_read_tokens AS cacheRead,
  cache_write_tokens AS cacheWrite`

/** A row with the columns of `usage` not yet nested. */
export type FlatUsage<Row extends { usage: Usage }> = Omit<Row, 'usage'> & Usage

export function withUsage<Row extends Usage>({ input, output, cacheRead, cacheWrite, ...row }: Row) {
  return { ...row, usage: { input, output, cacheRead, cacheWrite } }
}

export function usageColumns(usage: Usage | null): Record<string, number | null> {
  return {
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    cache_read_tokens: usage?.cacheRead ?? null,
    cache_write_tokens: usage?.cacheWrite ?? null,
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
  const row = db.get<{ value: number }>`UPDATE meta SET value = value + 1 WHERE name = 'seq' RETURNING value`
  if (row === undefined) throw new Error('the database has no sequence counter')
  return row.value
}

export function seqNow(db: Database): number {
  return selectMeta(db, 'seq') ?? 0
}

/** A number in the table `meta`; null where it is not set. */
export function selectMeta(db: Database, name: string): number | null {
  return db.get<{ value: number }>`SELECT value FROM meta WHERE name = ${name}`?.value ?? null
}

export function setMeta(db: Database, name: string, value: number | null): void {
  if (value === null) db.run`DELETE FROM meta WHERE name = ${name}`
  else {
    db.run`
      INSERT INTO meta (name, value) VALUES (${name}, ${value})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`
  }
}

export function isCorruption(error: unknown): boolean {
  if (error instanceof MemError) return error.code === 'corrupt_database'
  return hasCode(error, /^SQLITE_(CORRUPT|NOTADB)/)
}

/** Errors of the disk, the file or the process: they fail the whole group of commits, not one member. */
const GROUP_FAILURES = /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|BUSY|LOCKED|PROTOCOL|NOMEM|CANTOPEN|INTERRUPT)/

export function isGroupFailure(error: unknown): boolean {
  return hasCode(error, GROUP_FAILURES)
}

/** The patterns match the start: SQLite's extended codes add a suffix (`SQLITE_IOERR_WRITE`). */
function hasCode(error: unknown, codes: RegExp): boolean {
  return codes.test(systemCode(error) ?? '')
}

interface ErrorMeaning {
  /** Of SQLite and of the file system. */
  codes: RegExp
  message: (cause: string, code: string) => string
  /** The same request may succeed once the disk, the file or the other program is in order again. */
  retryable?: boolean
}

const ERROR_MEANINGS: readonly ErrorMeaning[] = [
  {
    codes: /^(SQLITE_FULL|ENOSPC|EDQUOT)/,
    message: () => 'The disk is full. Free some space; nothing that was acknowledged is lost.',
    retryable: true,
  },
  {
    codes: /^(SQLITE_READONLY|EACCES|EPERM|EROFS)/,
    message: (cause) =>
      `The database cannot be written (${cause}). Make the data directory and its files writable for you.`,
    retryable: true,
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    message: () => 'Another program has locked the database. Close it, or try again in a moment.',
    retryable: true,
  },
  {
    codes: /^SQLITE_CANTOPEN/,
    message: (cause) => `The database cannot be opened (${cause}). Check that its directory exists and belongs to you.`,
    retryable: true,
  },
  {
    codes: /^SQLITE_(IOERR|NOMEM|PROTOCOL)/,
    message: (cause, code) => `Reading or writing the disk failed (${code}: ${cause}). Try again.`,
    retryable: true,
  },
  { codes: /^(SQLITE|E)/, message: (cause, code) => `The store failed (${code}: ${cause}).` },
]

export function storageError(error: unknown): MemError {
  if (error instanceof MemError) return error
  const cause = errorMessage(error)
  if (isCorruption(error)) {
    const message = `The database is damaged (${cause}). When the daemon starts, it sets the file aside and restores the newest backup; a running one starts again by itself.`
    return new MemError('corrupt_database', message, { cause: error, retryable: true })
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

/** The version of a damaged index. */
const DAMAGED_VERSION = 0

/** The next `indexNext` deletes and rebuilds the index. */
export function markIndexDamaged(db: Database): void {
  setMeta(db, 'index_version', DAMAGED_VERSION)
}

/**
 * Runs work that changes the full-text index, inside the caller's transaction, which damage of the index does not fail: the
 * work is undone, the index is marked and rebuilt later, and the result is that of `otherwise`.
 */
export function changeIndex<T>(db: Database, work: () => T, otherwise: () => T): T {
  return inSavepoint(db, 'indexing', work, isIndexFailure, () => {
    markIndexDamaged(db)
    return otherwise()
  })
}

/** A damaged index may also assign an id of its parts twice, which violates a constraint. */
function isIndexFailure(error: unknown): boolean {
  return isIndexDamage(error) || systemCode(error)?.startsWith('SQLITE_CONSTRAINT') === true
}

export function indexDamageError(cause: unknown): MemError {
  return new MemError('storage', 'The search index is damaged. Rebuild it: claude-mem reindex.', { cause })
}
