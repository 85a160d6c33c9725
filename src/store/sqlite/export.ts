/**
 * Everything that passes the filters, read in one transaction: a daemon may go on writing meanwhile, what is read is one
 * state. Only ids are held; rows are read some at a time.
 */
import type { MemoryKind, SearchFilters } from '../../search/query.ts'
import type { ExportRecord, LinkRecord, MemoryRecord, PinRecord, SessionRecord } from '../import-port.ts'
import { selectRecords } from './export-rows.ts'
import { selectProjects } from './projects.ts'
import { openForReading } from './reader.ts'
import { conditionsOf } from './search/filters.ts'
import { idOf, kindOf } from './search/rows.ts'
import { type Connection, each, run } from './statement.ts'

/** Rows in memory at once: a few KB each, at most some hundred. */
const ROWS_AT_ONCE = 200

/** A memory in a timeline: what it says is asked for later. */
export interface ExportedMoment {
  row: number
  session: string
  at: number
}

export class SqliteExport {
  readonly #db: Connection
  readonly #filters: SearchFilters
  /** Sorted: what came first has the lower id. */
  readonly #rows: number[]

  private constructor(db: Connection, filters: SearchFilters) {
    this.#db = db
    this.#filters = filters
    run(db, 'BEGIN')
    this.#rows = [...ids(db, filters)]
  }

  /** `filters`: with the project's key and the session's whole id. */
  static open(file: string, filters: SearchFilters): SqliteExport {
    const db = openForReading(file)
    try {
      return new SqliteExport(db, filters)
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** How many memories there are to export. */
  counts(): Record<MemoryKind, number> {
    const counts = { observation: 0, summary: 0, prompt: 0 }
    for (const row of this.#rows) counts[kindOf(row)] += 1
    return counts
  }

  *records(): Generator<ExportRecord> {
    for (const { key, name } of this.projects()) yield { kind: 'project', key, name }
    yield* selectSessions(this.#db, this.#filters)
    for (const kind of ['prompt', 'observation', 'summary'] as const) {
      yield* this.memories(this.#rows.filter((row) => kindOf(row) === kind))
    }
    const exported = new Set(this.#rows.filter((row) => kindOf(row) === 'observation').map(idOf))
    for (const link of selectLinks(this.#db)) if (exported.has(link.from) && exported.has(link.to)) yield link
    for (const pin of selectPins(this.#db)) if (exported.has(pin.observation)) yield pin
  }

  /** By name. One that no session is filed under any more has its key for a name. */
  projects(): { key: string; name: string }[] {
    const names = new Map(selectProjects(this.#db, {}).map(({ key, name }) => [key, name]))
    const keys = [...projectKeys(this.#db, this.#filters)]
    return keys
      .map((key) => ({ key, name: names.get(key) ?? key }))
      .sort((a, b) => compare(a.name, b.name) || compare(a.key, b.key))
  }

  /** Oldest first. */
  *moments(project: string): Generator<ExportedMoment> {
    const { where, values } = conditionsOf(this.#filters)
    yield* each<ExportedMoment>(
      this.#db,
      `SELECT s.id AS row, s.content_session_id AS session, s.created_at_epoch AS at FROM search_rows s
       WHERE ${where} AND s.project = @inProject ORDER BY s.created_at_epoch, s.id`,
      { ...values, inProject: project },
    )
  }

  /** In the order of the rows. */
  *memories(rows: readonly number[]): Generator<MemoryRecord> {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      yield* selectRecords(this.#db, rows.slice(from, from + ROWS_AT_ONCE))
    }
  }

  close(): void {
    this.#db.close()
  }
}

function* ids(db: Connection, filters: SearchFilters): Generator<number> {
  const { where, values } = conditionsOf(filters)
  const found = each<{ id: number }>(db, `SELECT s.id FROM search_rows s WHERE ${where} ORDER BY s.id`, values)
  for (const { id } of found) yield id
}

/** Those of the memories, and those of their sessions: a session may have moved. */
function* projectKeys(db: Connection, filters: SearchFilters): Generator<string> {
  const { where, values } = conditionsOf(filters)
  const found = each<{ key: string }>(
    db,
    `WITH passing AS MATERIALIZED (SELECT DISTINCT s.project, s.content_session_id FROM search_rows s WHERE ${where})
     SELECT project AS key FROM passing
     UNION SELECT t.project FROM passing JOIN sdk_sessions t USING (content_session_id)`,
    values,
  )
  for (const { key } of found) yield key
}

function selectSessions(db: Connection, filters: SearchFilters): Generator<SessionRecord> {
  const { where, values } = conditionsOf(filters)
  return each<SessionRecord>(
    db,
    `SELECT 'session' AS kind, content_session_id AS id, project, client, cwd, prompts, created_at_epoch AS startedAt,
       updated_at_epoch AS heardAt
     FROM sdk_sessions
     WHERE content_session_id IN (SELECT s.content_session_id FROM search_rows s WHERE ${where}) ORDER BY id`,
    values,
  )
}

function selectLinks(db: Connection): Generator<LinkRecord> {
  return each<LinkRecord>(
    db,
    `SELECT 'link' AS kind, from_id AS "from", to_id AS "to", kind AS link, made_by AS "by", at FROM links ORDER BY id`,
  )
}

function selectPins(db: Connection): Generator<PinRecord> {
  return each<PinRecord>(db, `SELECT 'pin' AS kind, id AS observation, at FROM pins ORDER BY id`)
}

/** The same everywhere, whatever the locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
