/**
 * `observer_turns`: the observer's conversation. `trace`: the transitions of each session. `seen`: digests of what tools
 * showed, to tell a repeated result from a new one.
 */
import type { Usage } from '../../domain/observation.ts'
import type { ObserverTurn, TraceEntry } from '../commit.ts'
import type { TraceRow } from '../port.ts'
import { type Database, sql, USAGE_COLUMNS, usageColumns } from './database.ts'

export function insertTurn(db: Database, session: string, turn: ObserverTurn): void {
  db.insertRow('observer_turns', {
    content_session_id: session,
    generation: turn.generation,
    role: turn.role,
    model: turn.model,
    ...usageColumns(turn.usage),
    at: turn.at,
    content: turn.content,
  })
}

type TurnRow = Omit<ObserverTurn, 'usage'> & { [K in keyof Usage]: number | null }

export function selectObserverTurns(db: Database, session: string, generation: number): ObserverTurn[] {
  return db.all<TurnRow>`
    SELECT generation, role, content, model, at, ${USAGE_COLUMNS} FROM observer_turns
    WHERE content_session_id = ${session} AND generation = ${generation} ORDER BY id`.map(
    ({ input, output, cacheRead, cacheWrite, ...turn }) => ({
      ...turn,
      usage:
        input === null ? null : { input, output: output ?? 0, cacheRead: cacheRead ?? 0, cacheWrite: cacheWrite ?? 0 },
    }),
  )
}

export function insertTrace(db: Database, session: string, entry: TraceEntry): void {
  db.insertRow('trace', {
    content_session_id: session,
    at: entry.at,
    event: entry.event,
    event_id: entry.eventId,
    from_state: entry.from,
    to_state: entry.to,
    reason: entry.reason,
    effect_id: entry.effectId,
  })
}

const TRACE_COLUMNS = sql`id, at, event, event_id AS eventId, from_state AS "from", to_state AS "to", reason, effect_id AS effectId`

/** An effect has few transitions: a start, some retries, an end. This bounds the answer in any case. */
const MAX_TRACE_OF_EFFECT = 100

/** The inputs that end an effect. If the next effect starts in the same transition, the entry has the id of that one. */
const RESULT_EVENTS = sql`'OBSERVED', 'SUMMARIZED', 'COMPACTED', 'FAILED'`

/** From its start to its end, without events that only arrived in between. */
export function selectTraceOfEffect(db: Database, session: string, effectId: string): TraceRow[] {
  const rows = db.all<TraceRow>`
    SELECT ${TRACE_COLUMNS} FROM trace
    WHERE content_session_id = ${session} AND effect_id = ${effectId} AND (from_state <> to_state OR event_id IS NULL)
    ORDER BY id LIMIT ${MAX_TRACE_OF_EFFECT}`
  const end = db.get<TraceRow>`
    SELECT * FROM (SELECT ${TRACE_COLUMNS} FROM trace WHERE content_session_id = ${session} AND id >
        (SELECT max(id) FROM trace WHERE content_session_id = ${session} AND effect_id = ${effectId}) ORDER BY id LIMIT 1)
    WHERE event IN (${RESULT_EVENTS})`
  return end === undefined ? rows : [...rows, end]
}

/** Where an event was accepted. Not indexed: retention keeps a session's trace short enough to scan. */
export function selectTraceOfEvent(db: Database, session: string, eventId: string): TraceRow[] {
  return db.all<TraceRow>`
    SELECT ${TRACE_COLUMNS} FROM trace WHERE content_session_id = ${session} AND event_id = ${eventId} ORDER BY id LIMIT ${MAX_TRACE_OF_EFFECT}`
}

/** The newest `limit`, oldest first. */
export function selectTrace(db: Database, session: string, limit: number): TraceRow[] {
  return db.all<TraceRow>`
    SELECT ${TRACE_COLUMNS} FROM trace WHERE content_session_id = ${session} ORDER BY id DESC LIMIT ${limit}`.reverse()
}

export function upsertSeen(db: Database, session: string, subject: string, digest: string, at: number): void {
  db.run`
    INSERT INTO seen (content_session_id, subject, digest, at) VALUES (${session}, ${subject}, ${digest}, ${at})
    ON CONFLICT (content_session_id, subject) DO UPDATE SET digest = excluded.digest, at = excluded.at`
}

/** Digests by subject, without subjects that were never seen. */
export function selectSeenDigests(db: Database, session: string, subjects: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const subject of subjects) {
    const row = db.get<{ digest: string }>`
      SELECT digest FROM seen WHERE content_session_id = ${session} AND subject = ${subject}`
    if (row !== undefined) found.set(subject, row.digest)
  }
  return found
}
