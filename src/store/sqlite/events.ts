/** One row per accepted event: what makes an event count once, and what became of it. */
import { createHash } from 'node:crypto'
import { type EventKind, type MemoryEvent, toolOf } from '../../memory/event.ts'
import type { EventOutcome } from '../commit.ts'
import type { EventRow } from '../port.ts'
import { all, type Connection, get, run } from './statement.ts'

export type StoredOutcome = 'noted' | 'skipped' | 'observed' | 'folded' | 'failed' | 'dropped'

export function payloadHash(payload: string): string {
  return createHash('sha256').update(payload).digest('hex')
}

export function eventKnown(db: Connection, session: string, eventId: string): boolean {
  return (
    get(db, 'SELECT 1 AS n FROM events WHERE content_session_id = ? AND event_id = ?', [session, eventId]) !== undefined
  )
}

export function insertEvent(
  db: Connection,
  session: string,
  event: MemoryEvent,
  receivedAt: number,
  outcome: { kind: StoredOutcome; reason: string | null } | null,
): void {
  run(
    db,
    `INSERT INTO events (content_session_id, event_id, kind, tool, at, received_at, payload_hash, outcome, reason)
     VALUES (@session, @eventId, @kind, @tool, @at, @receivedAt, @hash, @outcome, @reason)`,
    {
      session,
      eventId: event.id,
      kind: event.kind,
      tool: toolOf(event),
      at: event.at,
      receivedAt,
      hash: payloadHash(JSON.stringify(event)),
      outcome: outcome?.kind ?? null,
      reason: outcome?.reason ?? null,
    },
  )
}

/** Before its message goes: that knows how many attempts it took. */
export function settleEvent(
  db: Connection,
  session: string,
  effectId: string,
  { eventId, kind, reason }: EventOutcome,
  observationIds: readonly number[],
): void {
  run(
    db,
    `UPDATE events SET outcome = @kind, reason = @reason, observation_ids = @ids, effect_id = @effectId,
       attempts = coalesce((SELECT m.attempts FROM pending_messages m
         WHERE m.content_session_id = @session AND m.event_id = @eventId), attempts)
     WHERE content_session_id = @session AND event_id = @eventId`,
    { session, eventId, kind, reason, effectId, ids: JSON.stringify(observationIds) },
  )
}

export interface StoredEvent {
  event_id: string
  content_session_id: string
  kind: EventKind
  tool: string | null
  at: number
  received_at: number
  payload_hash: string
  outcome: string | null
  reason: string | null
  observation_ids: string
  effect_id: string | null
  attempts: number
}

/** The newest `limit`, oldest of them first. */
export function selectEvents(db: Connection, session: string, limit: number): EventRow[] {
  return all<StoredEvent>(db, `SELECT * FROM events WHERE content_session_id = ? ORDER BY id DESC LIMIT ?`, [
    session,
    limit,
  ])
    .reverse()
    .map(toEvent)
}

export function toEvent(row: StoredEvent): EventRow {
  return {
    eventId: row.event_id,
    session: row.content_session_id,
    kind: row.kind,
    tool: row.tool,
    at: row.at,
    receivedAt: row.received_at,
    payloadHash: row.payload_hash,
    outcome: row.outcome,
    reason: row.reason,
    observationIds: JSON.parse(row.observation_ids),
    effectId: row.effect_id,
    attempts: row.attempts,
  }
}

/** Nothing that was kept is certain after damage: what cannot be read counts as gone. */
export function parsePayload(json: string | null): MemoryEvent | null {
  if (json === null) return null
  try {
    const event = JSON.parse(json)
    return typeof event?.kind === 'string' ? event : null
  } catch {
    return null
  }
}

export function insertPayload(db: Connection, session: string, event: MemoryEvent, at: number): void {
  const payload = JSON.stringify(event)
  run(db, `INSERT INTO payloads (content_session_id, event_id, kept_at, bytes, payload) VALUES (?, ?, ?, ?, ?)`, [
    session,
    event.id,
    at,
    Buffer.byteLength(payload),
    payload,
  ])
}
