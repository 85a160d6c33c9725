/**
 * Tombstones keep deleted what was forgotten, when a backup, a recovery, a transcript or a late event brings back an older
 * state. `forgotten` has one for each memory: its row id, time and turn. `forgotten_sessions` has one for each erased
 * session: its id and the time. `forgotten_turns` has one for each turn whose passages were forgotten. None has anything of
 * the text, not even a digest from which a short text could be guessed.
 */
import { existsSync } from 'node:fs'
import { schemaVersion } from '../migrations/index.ts'
import { Database, raw, sql } from './database.ts'
import { hasPassages } from './passages.ts'

interface MemoryTombstone {
  id: number
  created_at_epoch: number
  at: number
  /** Null in a tombstone of an older version. */
  content_session_id: string | null
  prompt_number: number | null
}

interface SessionTombstone {
  content_session_id: string
  at: number
}

interface TurnTombstone {
  content_session_id: string
  prompt_number: number
  /** Time of the oldest passage. */
  created_at_epoch: number
  at: number
}

export interface Tombstones {
  memories: MemoryTombstone[]
  sessions: SessionTombstone[]
  turns: TurnTombstone[]
}

const NO_TOMBSTONES: Tombstones = { memories: [], sessions: [], turns: [] }

/** The first schema versions with the tables `forgotten` and `forgotten_sessions`; `forgotten_turns` came with passages. */
const FIRST_VERSION_WITH_TOMBSTONES = 3
const FIRST_VERSION_WITH_SESSIONS = 8

/** `rows`: ids of `search_rows`. */
export function insertTombstones(db: Database, rows: readonly number[], at: number): void {
  const turn = (column: string) =>
    raw(`CASE s.id & 3 WHEN 0 THEN (SELECT ${column} FROM observations m WHERE m.id = s.id >> 2)
      WHEN 1 THEN (SELECT ${column} FROM session_summaries m WHERE m.id = s.id >> 2)
      ELSE (SELECT ${column} FROM user_prompts m WHERE m.id = s.id >> 2) END`)
  db.run`
    INSERT INTO forgotten (id, created_at_epoch, at, content_session_id, prompt_number)
    SELECT s.id, s.created_at_epoch, ${at}, s.content_session_id, ${turn('m.prompt_number')}
    FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value
    WHERE TRUE ${REPLACE_OLDER}`
}

/** For a memory of another machine: its turn may have messages and passages of this one. `row`: id of `search_rows`. */
export function insertTombstoneWithoutTurn(db: Database, row: number, at: number): void {
  db.run`
    INSERT INTO forgotten (id, created_at_epoch, at, content_session_id, prompt_number)
    SELECT id, created_at_epoch, ${at}, NULL, NULL FROM search_rows WHERE id = ${row} ${REPLACE_OLDER}`
}

/** `messages`: ids of `pending_messages`. */
export function insertMessageTombstones(db: Database, messages: readonly number[], at: number): void {
  db.run`
    INSERT INTO forgotten (id, created_at_epoch, at, content_session_id, prompt_number)
    SELECT 4 * m.id + 3, m.created_at_epoch, ${at}, m.content_session_id, NULL
    FROM json_each(${messages}) wanted CROSS JOIN pending_messages m ON m.id = wanted.value
    WHERE TRUE ${REPLACE_OLDER}`
}

const REPLACE_OLDER = sql`ON CONFLICT (id) DO UPDATE SET created_at_epoch = excluded.created_at_epoch, at = excluded.at,
  content_session_id = excluded.content_session_id, prompt_number = excluded.prompt_number`

export function insertSessionTombstone(db: Database, session: string, at: number): void {
  db.run`
    INSERT INTO forgotten_sessions (content_session_id, at) VALUES (${session}, ${at})
    ON CONFLICT (content_session_id) DO UPDATE SET at = max(at, excluded.at)`
}

/** `passages`: ids of the passages that are forgotten. */
export function insertTurnTombstones(db: Database, passages: readonly number[], at: number): void {
  db.run`
    INSERT INTO forgotten_turns (content_session_id, prompt_number, created_at_epoch, at)
    SELECT content_session_id, prompt_number, min(at), ${at} FROM passages
    WHERE id IN (SELECT value FROM json_each(${passages})) GROUP BY content_session_id, prompt_number
    ${KEEP_WIDEST}`
}

function insertTurnTombstone(
  db: Database,
  { content_session_id, prompt_number, created_at_epoch, at }: TurnTombstone,
): void {
  db.run`
    INSERT INTO forgotten_turns (content_session_id, prompt_number, created_at_epoch, at)
    VALUES (${content_session_id}, ${prompt_number}, ${created_at_epoch}, ${at}) ${KEEP_WIDEST}`
}

/** A turn may be forgotten twice, while it goes on. */
export const KEEP_WIDEST = sql`ON CONFLICT (content_session_id, prompt_number) DO UPDATE SET
  created_at_epoch = min(created_at_epoch, excluded.created_at_epoch), at = max(at, excluded.at)`

/** When the session was erased; null: it was not. */
export function selectSessionErasedAt(db: Database, session: string): number | null {
  return db.get<{ at: number }>`SELECT at FROM forgotten_sessions WHERE content_session_id = ${session}`?.at ?? null
}

/** The user wants the sessions back. Returns those that had a tombstone. */
export function deleteSessionTombstones(db: Database, sessions: readonly string[]): string[] {
  return db.ids<string>`
    DELETE FROM forgotten_sessions WHERE content_session_id IN (SELECT value FROM json_each(${sessions}))
    RETURNING content_session_id AS id`
}

export function selectTombstones(db: Database): Tombstones {
  const version = schemaVersion(db)
  if (version < FIRST_VERSION_WITH_TOMBSTONES) return NO_TOMBSTONES
  const hasSessions = version >= FIRST_VERSION_WITH_SESSIONS
  const turn = hasSessions
    ? sql`content_session_id, prompt_number`
    : sql`NULL AS content_session_id, NULL AS prompt_number`
  return {
    memories: db.all<MemoryTombstone>`SELECT id, created_at_epoch, at, ${turn} FROM forgotten`,
    sessions: hasSessions ? db.all<SessionTombstone>`SELECT content_session_id, at FROM forgotten_sessions` : [],
    turns: hasPassages(db)
      ? db.all<TurnTombstone>`SELECT content_session_id, prompt_number, created_at_epoch, at FROM forgotten_turns`
      : [],
  }
}

/** The tombstones of a database file; none if it cannot be read. */
export function readTombstones(file: string): Tombstones {
  if (!existsSync(file)) return NO_TOMBSTONES
  let db: Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    return selectTombstones(db)
  } catch {
    return NO_TOMBSTONES
  } finally {
    db?.close()
  }
}

/** The first schema version with records of a team. */
const FIRST_VERSION_WITH_RECORDS = 13

/**
 * Takes over the ids of erased records from a database file; nothing if it cannot be read. Without them, a memory that was
 * withdrawn from the shared log would be erased when its own tombstone comes back.
 */
export function copyRecordTombstones(db: Database, file: string): void {
  if (!existsSync(file) || schemaVersion(db) < FIRST_VERSION_WITH_RECORDS) return
  let source: Database | undefined
  try {
    source = new Database(file, { readonly: true, fileMustExist: true })
    if (schemaVersion(source) < FIRST_VERSION_WITH_RECORDS) return
    const erased = source.each<{ uid: string; repository: string | null; at: number }>`
      SELECT uid, repository, at FROM team_tombstones`
    for (const { uid, repository, at } of erased) {
      db.run`
        INSERT INTO team_tombstones (uid, repository, at) VALUES (${uid}, ${repository}, ${at})
        ON CONFLICT (uid) DO NOTHING`
    }
  } catch {
    // Damaged: it is replaced by the backup.
  } finally {
    source?.close()
  }
}

export function hasTombstones({ memories, sessions, turns }: Tombstones): boolean {
  return memories.length + sessions.length + turns.length > 0
}

export function addTombstones(db: Database, { memories, sessions, turns }: Tombstones): void {
  for (const { id, created_at_epoch, at, content_session_id, prompt_number } of memories) {
    db.run`
      INSERT INTO forgotten (id, created_at_epoch, at, content_session_id, prompt_number)
      VALUES (${id}, ${created_at_epoch}, ${at}, ${content_session_id}, ${prompt_number}) ON CONFLICT DO NOTHING`
  }
  for (const { content_session_id, at } of sessions) insertSessionTombstone(db, content_session_id, at)
  for (const turn of turns) insertTurnTombstone(db, turn)
}

/**
 * Puts tombstones beside a database without changing it: temporary tables hide those of the file. So a backup of an older
 * schema can be cleaned as it is.
 */
export function attachTombstones(db: Database, tombstones: Tombstones): void {
  db.run`CREATE TEMP TABLE forgotten (id INTEGER PRIMARY KEY, created_at_epoch INTEGER NOT NULL, at INTEGER NOT NULL,
    content_session_id TEXT, prompt_number INTEGER)`
  db.run`CREATE TEMP TABLE forgotten_sessions (content_session_id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL)`
  db.run`CREATE TEMP TABLE forgotten_turns (content_session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,
    created_at_epoch INTEGER NOT NULL, at INTEGER NOT NULL, UNIQUE (content_session_id, prompt_number))`
  db.write(() => addTombstones(db, tombstones))
}
