/** The rows that a daemon wrote, written again by bare better-sqlite3: one durable transaction an event. */
import Database from 'better-sqlite3'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { makePlace } from './place.ts'

type Row = Record<string, string | number | null>

export interface Rows {
  events: Row[]
  messages: Row[]
  traces: Row[]
  sessions: Map<unknown, Row>
}

/** Transactions a second. */
export async function bareRate(rows: Rows, seconds: number): Promise<number> {
  const place = makePlace('bench-bare')
  try {
    const made = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
    await made.close()
    return write(place.paths.database, rows, seconds)
  } finally {
    place.remove()
  }
}

export function readRows(file: string): Rows {
  const db = new Database(file, { readonly: true })
  const all = (sql: string) => db.prepare<[], Row>(sql).all()
  try {
    const sessions = all('SELECT * FROM sdk_sessions')
    return {
      events: all('SELECT * FROM events ORDER BY id'),
      messages: all('SELECT * FROM pending_messages ORDER BY event_id'),
      traces: all('SELECT * FROM trace WHERE event_id IS NOT NULL ORDER BY event_id'),
      sessions: new Map(sessions.map((session) => [session.content_session_id, session])),
    }
  } finally {
    db.close()
  }
}

function write(file: string, rows: Rows, seconds: number): number {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  const messageOf = new Map(rows.messages.map((row) => [row.event_id, row]))
  const traceOf = new Map(rows.traces.map((row) => [row.event_id, row]))
  const insertSession = inserter(db, 'sdk_sessions', [...rows.sessions.values()])
  for (const session of rows.sessions.values()) insertSession(session)
  const insertEvent = inserter(db, 'events', rows.events)
  const insertMessage = inserter(db, 'pending_messages', rows.messages)
  const insertTrace = inserter(db, 'trace', rows.traces)
  const columns = columnsOf([...rows.sessions.values()]).filter((name) => name !== 'content_session_id')
  const updateSession = db.prepare<[Row]>(
    `UPDATE sdk_sessions SET ${columns.map((name) => `${name} = @${name}`).join(', ')}
     WHERE content_session_id = @content_session_id`,
  )
  const countUp = db.prepare(`UPDATE meta SET value = value + 1 WHERE name = 'seq'`)
  const one = db.transaction((event: Row) => {
    const message = messageOf.get(event.event_id ?? null)
    const trace = traceOf.get(event.event_id ?? null)
    const session = rows.sessions.get(event.content_session_id)
    if (message === undefined || trace === undefined || session === undefined) {
      throw new Error(`the daemon wrote only a part of ${event.event_id}`)
    }
    countUp.run()
    updateSession.run(session)
    insertEvent(event)
    insertMessage(message)
    insertTrace(trace)
  })
  try {
    const began = performance.now()
    let done = 0
    for (const event of rows.events) {
      one.immediate(event)
      done += 1
      if (performance.now() - began > seconds * 1_000) break
    }
    return done / ((performance.now() - began) / 1_000)
  } finally {
    db.close()
  }
}

function columnsOf(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {}).filter((name) => name !== 'id')
}

function inserter(db: Database.Database, table: string, rows: readonly Row[]): (row: Row) => void {
  const columns = columnsOf(rows)
  const statement = db.prepare<[Row]>(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  )
  return (row) => void statement.run(row)
}
