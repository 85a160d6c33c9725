/**
 * The database of the original claude-mem, read and never written. Its versions differ in their columns: what a version
 * does not have is null. Values are as they are found; whoever takes them in checks them.
 */
import { existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { MemError } from '../../errors.ts'
import { isCorruption, storageError } from './errors.ts'
import { type PrivateCopy, privateCopy } from './private-copy.ts'
import { all, type Connection, each, run } from './statement.ts'
import { readableRows } from './survivors.ts'

export type OriginalRow = Readonly<Record<string, unknown>>

/** Columns by the names that the newest version gives them, with the older name where there was one. */
const TABLES = {
  sdk_sessions: {
    content_session_id: 'claude_session_id',
    memory_session_id: 'sdk_session_id',
    project: null,
    platform_source: null,
    user_prompt: null,
    prompt_counter: null,
    started_at: null,
    started_at_epoch: null,
    completed_at_epoch: null,
  },
  user_prompts: {
    content_session_id: 'claude_session_id',
    prompt_number: null,
    prompt_text: null,
    created_at: null,
    created_at_epoch: null,
  },
  observations: {
    memory_session_id: 'sdk_session_id',
    project: null,
    merged_into_project: null,
    type: null,
    title: null,
    subtitle: null,
    narrative: null,
    text: null,
    facts: null,
    concepts: null,
    files_read: null,
    files_modified: null,
    agent_type: null,
    prompt_number: null,
    discovery_tokens: null,
    generated_by_model: null,
    created_at: null,
    created_at_epoch: null,
  },
  session_summaries: {
    memory_session_id: 'sdk_session_id',
    project: null,
    merged_into_project: null,
    request: null,
    investigated: null,
    learned: null,
    completed: null,
    next_steps: null,
    files_read: null,
    files_edited: null,
    notes: null,
    prompt_number: null,
    created_at: null,
    created_at_epoch: null,
  },
} as const satisfies Record<string, Record<string, string | null>>

export type OriginalTable = keyof typeof TABLES

export class OriginalDatabase {
  readonly #db: Connection
  readonly #dispose: () => void

  private constructor(db: Connection, dispose: () => void) {
    this.#db = db
    this.#dispose = dispose
  }

  static open(file: string): OriginalDatabase {
    const { readable, dispose } = untouched(file)
    let db: Connection | undefined
    try {
      db = new BetterSqlite3(readable, { readonly: true, fileMustExist: true })
      run(db, 'BEGIN')
      refuseOthers(db, file)
      return new OriginalDatabase(db, dispose)
    } catch (error) {
      db?.close()
      dispose()
      throw unreadable(error, file)
    }
  }

  get size(): number {
    const tables = Object.keys(TABLES).filter((table) => columnsOf(this.#db, table).size > 0)
    const counts = tables.flatMap((table) => [...undamaged(this.#db, `SELECT count(*) AS n FROM ${table}`)])
    return counts.reduce((sum, { n }) => sum + Number(n), 0)
  }

  /** Returns whether it met no damage: what lies beyond is read all the same. A version may not have the table. */
  *rows(table: OriginalTable): Generator<OriginalRow, boolean> {
    const there = columnsOf(this.#db, table)
    if (there.size === 0) return true
    return yield* readableRows(this.#db, table, ['id', selection(table, there)])
  }

  /** What each session has in a table: its highest prompt number, its first and last time, and a project of it. */
  *extents(table: 'user_prompts' | 'observations' | 'session_summaries'): Generator<OriginalRow> {
    const there = columnsOf(this.#db, table)
    if (there.size === 0) return
    const [session, project] =
      table === 'user_prompts' ? ['content_session_id', 'NULL'] : ['memory_session_id', 'max(project)']
    yield* undamaged(
      this.#db,
      `SELECT ${session} AS session, ${project} AS project, max(prompt_number) AS prompts,
         min(created_at_epoch) AS first, max(created_at_epoch) AS last
       FROM (SELECT ${selection(table, there)} FROM ${table}) GROUP BY 1`,
    )
  }

  /** Each once, whether a session or a memory names it. */
  *projects(): Generator<OriginalRow> {
    for (const table of ['sdk_sessions', 'observations', 'session_summaries'] as const) {
      const there = columnsOf(this.#db, table)
      if (there.size === 0) continue
      const merged = there.has('merged_into_project') ? 'merged_into_project' : 'NULL AS merged_into_project'
      yield* undamaged(this.#db, `SELECT DISTINCT project, ${merged} FROM ${table}`)
    }
  }

  close(): void {
    this.#db.close()
    this.#dispose()
  }
}

/** Helpful where it can be had: the memories themselves are read past any damage. */
function* undamaged(db: Connection, sql: string): Generator<OriginalRow> {
  try {
    yield* each<OriginalRow>(db, sql)
  } catch (error) {
    if (!isCorruption(error)) throw error
  }
}

function selection(table: OriginalTable, there: ReadonlySet<string>): string {
  return Object.entries<string | null>(TABLES[table])
    .map(([name, older]) => {
      const found = [name, older].find((column) => column !== null && there.has(column))
      return `${found ?? 'NULL'} AS ${name}`
    })
    .join(', ')
}

function columnsOf(db: Connection, table: string): Set<string> {
  return new Set(all<{ name: string }>(db, 'SELECT name FROM pragma_table_info(?)', [table]).map(({ name }) => name))
}

function refuseOthers(db: Connection, file: string): void {
  const observations = columnsOf(db, 'observations')
  const sessions = columnsOf(db, 'sdk_sessions')
  if (sessions.size > 0 && observations.has('content_session_id')) {
    throw new MemError(
      'bad_request',
      `${file} is a database of this claude-mem. Export it where it lies (CLAUDE_MEM_DATA_DIR=… claude-mem export memory.jsonl) and import that file.`,
    )
  }
  if (sessions.size > 0 && (observations.has('memory_session_id') || observations.has('sdk_session_id'))) return
  throw new MemError(
    'bad_request',
    `${file} is a database, but not one of the original claude-mem: it has other tables. Nothing was imported.`,
  )
}

function unreadable(error: unknown, file: string): MemError {
  const known = storageError(error)
  if (known.code !== 'corrupt_database') return known
  return new MemError('bad_request', `${file} is a damaged database: it cannot be read. Nothing was imported.`, {
    cause: error,
  })
}

/**
 * A database whose log is open is read in place, as SQLite has many programs read one. Without a log, opening it would
 * leave one behind: then a copy is read, and the directory may even be read-only.
 */
function untouched(file: string): PrivateCopy {
  if (existsSync(`${file}-wal`) && existsSync(`${file}-shm`)) return { readable: file, dispose: () => undefined }
  return privateCopy(file)
}
