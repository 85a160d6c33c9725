/**
 * Reads the database of the original claude-mem, without changing it. Its versions have different columns: a column that
 * a version does not have is null. Values are not validated here; the importer does that.
 */
import { chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { makeTemporaryDirectory } from '../../lib/temporary.ts'
import { Database, isCorruption, raw, type Sql, sql, storageError } from './database.ts'
import { readableRows, tableColumns } from './readable-rows.ts'

export type OriginalRow = Readonly<Record<string, unknown>>

/** Columns by their newest names. */
const TABLES = {
  sdk_sessions: `content_session_id, memory_session_id, project, platform_source, user_prompt, prompt_counter,
    started_at, started_at_epoch, completed_at_epoch`,
  user_prompts: 'content_session_id, prompt_number, prompt_text, created_at, created_at_epoch',
  observations: `memory_session_id, project, merged_into_project, type, title, subtitle, narrative, text, facts,
    concepts, files_read, files_modified, agent_type, prompt_number, discovery_tokens, generated_by_model, created_at,
    created_at_epoch`,
  session_summaries: `memory_session_id, project, merged_into_project, request, investigated, learned, completed,
    next_steps, files_read, files_edited, notes, prompt_number, created_at, created_at_epoch`,
}

const OLDER_NAMES: Record<string, string> = {
  content_session_id: 'claude_session_id',
  memory_session_id: 'sdk_session_id',
}

export type OriginalTable = keyof typeof TABLES

export class OriginalDatabase {
  readonly #db: Database
  readonly #dispose: () => void

  private constructor(db: Database, dispose: () => void) {
    this.#db = db
    this.#dispose = dispose
  }

  /** `temporary`: where a copy is made if one is needed. */
  static open(file: string, temporary: string): OriginalDatabase {
    const { readable, dispose } = openableFile(file, temporary)
    let db: Database | undefined
    try {
      db = new Database(readable, { readonly: true, fileMustExist: true })
      db.run`BEGIN`
      refuseOtherDatabases(db, file)
      return new OriginalDatabase(db, dispose)
    } catch (error) {
      db?.close()
      dispose()
      throw unreadable(error, file)
    }
  }

  /** The number of rows of all tables. */
  get size(): number {
    const tables = Object.keys(TABLES).filter((table) => tableColumns(this.#db, table).size > 0)
    const counts = tables.flatMap((table) => [
      ...rowsBeforeDamage(this.#db, sql`SELECT count(*) AS n FROM ${raw(table)}`),
    ])
    return counts.reduce((sum, { n }) => sum + Number(n), 0)
  }

  /** Also yields rows behind damage; returns whether there was none. A version may not have the table. */
  *rows(table: OriginalTable): Generator<OriginalRow, boolean> {
    const columns = tableColumns(this.#db, table)
    if (columns.size === 0) return true
    // A damaged schema: without it the rows cannot be read in steps.
    if (!columns.has('id')) return false
    return yield* readableRows(this.#db, table, sql`id, ${selection(table, columns)}`)
  }

  /** Per session: the highest prompt number, the first and last time, and one of its projects. */
  *extents(table: 'user_prompts' | 'observations' | 'session_summaries'): Generator<OriginalRow> {
    const columns = tableColumns(this.#db, table)
    if (columns.size === 0) return
    const session =
      table === 'user_prompts'
        ? sql`content_session_id AS session, NULL AS project`
        : sql`memory_session_id AS session, max(project) AS project`
    const extents = sql`
      SELECT ${session}, max(prompt_number) AS prompts, min(created_at_epoch) AS first, max(created_at_epoch) AS last
      FROM (SELECT ${selection(table, columns)} FROM ${raw(table)}) GROUP BY 1`
    yield* rowsBeforeDamage(this.#db, extents)
  }

  /** Every project that a session or a memory names. */
  *projects(): Generator<OriginalRow> {
    for (const table of ['sdk_sessions', 'observations', 'session_summaries'] as const) {
      const columns = tableColumns(this.#db, table)
      if (columns.size === 0) continue
      const named = ['project', 'merged_into_project'].map((name) => (columns.has(name) ? name : `NULL AS ${name}`))
      yield* rowsBeforeDamage(this.#db, sql`SELECT DISTINCT ${raw(named.join(', '))} FROM ${raw(table)}`)
    }
  }

  close(): void {
    this.#db.close()
    this.#dispose()
  }
}

/** For statistics, which may be incomplete. */
function* rowsBeforeDamage(db: Database, statement: Sql): Generator<OriginalRow> {
  try {
    yield* db.each<OriginalRow>`${statement}`
  } catch (error) {
    if (!isCorruption(error)) throw error
  }
}

function selection(table: OriginalTable, columns: ReadonlySet<string>): Sql {
  const selected = TABLES[table].split(/,\s+/).map((name) => {
    const found = [name, OLDER_NAMES[name]].find((column) => column !== undefined && columns.has(column))
    return `${found ?? 'NULL'} AS ${name}`
  })
  return raw(selected.join(', '))
}

function refuseOtherDatabases(db: Database, file: string): void {
  const observations = tableColumns(db, 'observations')
  const sessions = tableColumns(db, 'sdk_sessions')
  if (sessions.size > 0 && observations.has('content_session_id')) {
    throw new MemError(
      'bad_request',
      `${file} is a database of this claude-mem. Export it with that claude-mem (CLAUDE_MEM_DATA_DIR=… claude-mem export memory.jsonl) and import that file.`,
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
 * A database with an open write-ahead log is read in place. Without one, opening it would create a log beside it, so a
 * copy is read instead; that also works in a read-only directory.
 */
function openableFile(file: string, temporary: string): PrivateCopy {
  if (existsSync(`${file}-wal`) && existsSync(`${file}-shm`)) return { readable: file, dispose: () => undefined }
  return privateCopy(file, temporary)
}

export interface PrivateCopy {
  readable: string
  dispose(): void
}

/**
 * Copies a database with its log into a directory that only the user can read: inside `temporary`, where the next process
 * removes what a killed one left, or in the system's temporary directory if nothing can be written there.
 */
export function privateCopy(file: string, temporary: string): PrivateCopy {
  const directory = copyDirectory(temporary)
  const dispose = () => rmSync(directory, { recursive: true, force: true })
  try {
    const readable = join(directory, 'copy.sqlite')
    copyConsistently(file, readable)
    return { readable, dispose }
  } catch (error) {
    dispose()
    throw error
  }
}

function copyDirectory(temporary: string): string {
  try {
    return makeTemporaryDirectory(temporary, 'copy')
  } catch {
    return mkdtempSync(join(tmpdir(), 'claude-mem-copy-'))
  }
}

const COPY_ATTEMPTS = 5

/** Copies again if another program wrote to the files in the meantime. */
function copyConsistently(file: string, copy: string): void {
  for (let attempt = 1; ; attempt += 1) {
    const before = fileStates(file)
    for (const part of ['', '-wal', '-journal']) {
      if (!existsSync(file + part)) continue
      copyFileSync(file + part, copy + part, constants.COPYFILE_FICLONE)
      // The copy of a read-only file would be read-only.
      chmodSync(copy + part, 0o600)
    }
    if (fileStates(file) === before) return
    if (attempt === COPY_ATTEMPTS)
      throw new MemError(
        'storage',
        `${file} is being written continuously. Stop the program that writes it, or try again.`,
        { retryable: true },
      )
  }
}

function fileStates(file: string): string {
  return ['', '-wal', '-journal']
    .map((part) => statSync(file + part, { throwIfNoEntry: false }))
    .map((stat) => (stat === undefined ? '' : `${stat.size} ${stat.mtimeMs}`))
    .join('; ')
}
