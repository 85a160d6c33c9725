/** Compares what clients reported with what the database contains when all work is done. */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { Passage } from '../../src/domain/passage.ts'
import { passagesOfEvent } from '../../src/reading/passages.ts'
import { Database as StoreDatabase } from '../../src/store/sqlite/database.ts'
import { passagesFrom } from '../../src/store/sqlite/passages.ts'
import type { LogEntry } from './clients.ts'

export interface Verdict {
  lost: string[]
  /** Events that are stored with another content than was reported, or without any. */
  altered: string[]
  duplicated: string[]
  /** Sessions that are not closed though no work is left. */
  stuck: string[]
  /** Errors of SQLite's integrity check. */
  damage: string[]
}

/** `erased`: sessions of which nothing is compared. */
export function judge(
  databaseFile: string,
  all: readonly LogEntry[],
  erased: ReadonlySet<string> = new Set(),
): Verdict {
  const db = new Database(databaseFile, { readonly: true })
  const log = all.filter(({ session }) => !erased.has(session))
  const keysOf = (sql: string) => storedKeys(db, sql, erased)
  try {
    const stored = counted(keysOf('SELECT content_session_id AS session, event_id AS event FROM events'))
    const prompts = counted(keysOf('SELECT content_session_id AS session, event_id AS event FROM user_prompts'))
    const observed = counted(
      keysOf(
        `SELECT content_session_id AS session, source.value AS event FROM observations, json_each(sources) AS source`,
      ),
    )
    const outcomes = (entry: LogEntry) =>
      [stored, ...(entry.kind === 'message' ? [observed] : entry.kind === 'prompt' ? [prompts] : [])].map(
        (counts) => counts.get(entry.key) ?? 0,
      )
    const known = new Set(log.map((entry) => entry.key))
    return {
      altered: alteredEvents(db, log, stored),
      // An event of a killed hook that was stored must be observed like any other.
      lost: log
        .filter((entry) => (entry.reported || stored.has(entry.key)) && outcomes(entry).includes(0))
        .map((entry) => entry.key),
      duplicated: [
        ...log.filter((entry) => outcomes(entry).some((count) => count > 1)).map((entry) => entry.key),
        // No client reported these.
        ...[...stored.keys()].filter((key) => !known.has(key)),
      ],
      stuck: stuckSessions(db),
      damage: [...pragma(db, 'integrity_check'), ...pragma(db, 'foreign_key_check')].filter((line) => line !== '"ok"'),
    }
  } finally {
    db.close()
  }
}

/** Ids do not show a lost text: the contents of prompts and payloads must be those that were reported. */
function alteredEvents(db: Database.Database, log: readonly LogEntry[], stored: ReadonlyMap<string, number>): string[] {
  const contents = storedContents(db)
  return log
    .filter(({ key, content }) => content !== null && stored.has(key))
    .filter((entry) => contents.get(placeOf(entry)) !== entry.content)
    .map(({ key }) => key)
}

/** The digest of each stored event, by session and id; null where only its row is kept. */
export function storedContents(db: Database.Database): Map<string, string | null> {
  const events = db
    .prepare<[], { session: string; event: string }>(
      'SELECT content_session_id AS session, event_id AS event FROM events',
    )
    .all()
    .map((row): [string, null] => [placeOf(row), null])
  const prompts = db
    .prepare<[], { session: string; event: string; text: string; private: number }>(
      'SELECT content_session_id AS session, event_id AS event, prompt_text AS text, private FROM user_prompts',
    )
    .all()
    .map((row): [string, string] => [placeOf(row), digest([row.text, row.private === 1])])
  const payloads = db
    .prepare<[], { session: string; event: string; payload: string }>(
      `SELECT content_session_id AS session, event_id AS event, payload FROM payloads
       UNION ALL SELECT content_session_id, event_id, payload FROM pending_messages`,
    )
    .all()
    .map((row): [string, string | null] => [placeOf(row), contentDigest(JSON.parse(row.payload))])
  return new Map<string, string | null>([...events, ...prompts, ...payloads])
}

export const placeOf = ({ session, event }: { session: string; event: string }): string => `${session} ${event}`

/** Null for events that consist of their name. The daemon adds to the other fields, or changes them. */
export function contentDigest(event: MemoryEvent): string | null {
  switch (event.kind) {
    case 'prompt':
      return digest([event.text, event.private])
    case 'tool_use':
      return digest([event.tool, event.input, event.response, event.agent])
    case 'tool_failure':
      return digest([event.tool, event.input, event.error, event.agent])
    case 'subagent_end':
      return digest([event.lastMessage, event.agent])
    case 'turn_end':
      return digest([event.lastMessage, event.error])
    default:
      return null
  }
}

function digest(content: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(content, sortedKeys)).digest('hex')
}

function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export interface PassageVerdict extends Pick<Verdict, 'lost' | 'duplicated'> {
  stored: number
}

/** Compares the passages of all events whose payload is kept with those that are stored, when all work is done. */
export function judgePassages(databaseFile: string): PassageVerdict {
  const db = new StoreDatabase(databaseFile, { readonly: true })
  try {
    const stored = passagesFrom(db)`passages p`
    // A project has each text once, as a part of the newest event with it.
    const texts = new Set(stored.map(textKey))
    const places = counted(
      stored.map(({ session, eventId, position }) => `passage ${position} of ${session} ${eventId}`),
    )
    const payloads = db.ids<string>`SELECT payload AS id FROM payloads`
    const expected = payloads.flatMap((payload) => passagesOfEvent(JSON.parse(payload), 0))
    return {
      lost: expected.filter((one) => !texts.has(textKey(one))).map(({ eventId }) => `a passage of ${eventId}`),
      duplicated: [...places].filter(([, count]) => count > 1).map(([place]) => place),
      stored: stored.length,
    }
  } finally {
    db.close()
  }
}

function textKey({ kind, subject, text }: Pick<Passage, 'kind' | 'subject' | 'text'>): string {
  return JSON.stringify([kind, subject, text])
}

function storedKeys(db: Database.Database, sql: string, erased: ReadonlySet<string>): string[] {
  return db
    .prepare<[], { session: string; event: string }>(sql)
    .all()
    .filter(({ session }) => !erased.has(session))
    .map(({ event }) => clientKey(event))
}

/** Ids of other events than tool uses end with a hash of the payload; without it they are the client's key. */
export function clientKey(eventId: string): string {
  return eventId.replace(/^(\w+:.+):[0-9a-f]{16}$/, '$1')
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

function stuckSessions(db: Database.Database): string[] {
  return db
    .prepare<[], string>(
      `SELECT content_session_id FROM pending_messages WHERE status <> 'failed'
       UNION SELECT content_session_id FROM events WHERE outcome IS NULL
       UNION SELECT content_session_id FROM sdk_sessions WHERE effect IS NOT NULL OR quarantine IS NOT NULL`,
    )
    .pluck()
    .all()
}

function pragma(db: Database.Database, name: string): string[] {
  const rows = db.pragma(name)
  return Array.isArray(rows) ? rows.map((row: unknown) => JSON.stringify(Object.values(Object(row))[0])) : []
}
