/** Whether everything that is stored after a run is valid: every row by the project's own schemas, and the database itself. */
import Database from 'better-sqlite3'
import { sessionMachine } from '../../machines/session/machine.ts'
import { migrateSnapshot } from '../../machines/session/migrations.ts'
import { exportRecordSchema, firstIssue } from '../../src/api/record-schemas.ts'
import { eventSchema } from '../../src/api/schemas.ts'
import { MEMORY_KINDS, NO_FILTERS } from '../../src/domain/search-query.ts'
import { errorMessage } from '../../src/lib/errors.ts'
import { SqliteExport } from '../../src/store/sqlite/export.ts'

export interface StoredReport {
  /** Rows that were checked, by table. */
  rows: Record<string, number>
  problems: string[]
}

/** No daemon may be running: the check of the full-text index needs to write. */
export function checkStored(file: string): StoredReport {
  const report: StoredReport = { rows: {}, problems: [] }
  checkRecords(file, report)
  const db = new Database(file)
  try {
    checkEvents(db, report)
    checkSessions(db, report)
    for (const pragma of ['integrity_check', 'foreign_key_check']) {
      const rows = db.pragma(pragma)
      const lines = Array.isArray(rows) ? rows.map((row: unknown) => JSON.stringify(Object.values(Object(row)))) : []
      report.problems.push(...lines.filter((line) => line !== '["ok"]').map((line) => `${pragma}: ${line}`))
    }
    for (const table of ['memory_fts', 'chunk_fts']) checkFullText(db, table, report)
  } finally {
    db.close()
  }
  // One problem of each kind is enough.
  report.problems = [...new Map(report.problems.map((text) => [text.replaceAll(/\d+/g, '#'), text])).values()]
  return report
}

function count(report: StoredReport, table: string): void {
  report.rows[table] = (report.rows[table] ?? 0) + 1
}

/** Projects, sessions, prompts, observations, summaries, links and pins, as an export reads them. */
function checkRecords(file: string, report: StoredReport): void {
  const source = SqliteExport.open(file, { ...NO_FILTERS, kinds: MEMORY_KINDS })
  try {
    for (const record of source.records()) {
      count(report, record.kind)
      const parsed = exportRecordSchema.safeParse(record)
      if (!parsed.success) report.problems.push(`a stored ${record.kind} is not valid: ${firstIssue(parsed.error)}`)
    }
  } finally {
    source.close()
  }
}

interface PayloadRow {
  source: string
  session: string
  event: string
  payload: string
}

function checkEvents(db: Database.Database, report: StoredReport): void {
  const rows = db.prepare<[], PayloadRow>(
    `SELECT 'payloads' AS source, content_session_id AS session, event_id AS event, payload FROM payloads
     UNION ALL SELECT 'pending_messages', content_session_id, event_id, payload FROM pending_messages`,
  )
  for (const { source, session, event, payload } of rows.iterate()) {
    count(report, source)
    const parsed = eventSchema.safeParse(JSON.parse(payload))
    if (!parsed.success) report.problems.push(`an event in ${source} is not valid: ${firstIssue(parsed.error)}`)
    else if (parsed.data.session !== session || parsed.data.id !== event) {
      report.problems.push(`an event in ${source} belongs to another row`)
    }
  }
  for (const { at } of db.prepare<[], { at: number }>('SELECT at FROM events').iterate()) {
    count(report, 'events')
    if (!(at >= 0 && at <= 8.64e15)) report.problems.push(`an event has the time ${at}, which no date can hold`)
  }
}

function checkSessions(db: Database.Database, report: StoredReport): void {
  const rows = db.prepare<[], { session: string; snapshot: string; quarantine: string | null }>(
    'SELECT content_session_id AS session, snapshot, quarantine FROM sdk_sessions',
  )
  for (const { session, snapshot, quarantine } of rows.iterate()) {
    count(report, 'sdk_sessions')
    if (quarantine !== null) report.problems.push(`session ${session.slice(0, 60)} is quarantined: ${quarantine}`)
    try {
      // A session that was imported has never run.
      if (snapshot !== '') {
        const { value, context } = migrateSnapshot(JSON.parse(snapshot))
        sessionMachine.resolveState({ value, context })
      }
    } catch (error) {
      report.problems.push(`a snapshot cannot be loaded: ${errorMessage(error)}`)
    }
  }
}

function checkFullText(db: Database.Database, table: string, report: StoredReport): void {
  try {
    db.prepare(`INSERT INTO ${table} (${table}) VALUES ('integrity-check')`).run()
  } catch (error) {
    report.problems.push(`the full-text index ${table} is not consistent: ${errorMessage(error)}`)
  }
}
