/**
 * `events`: one row per accepted event, which makes accepting idempotent and records the outcome. `payloads`: the content
 * of settled events, kept until retention deletes it; the content of pending events is in the inbox.
 */
import {
  eventTool,
  type MemoryEvent,
  type TranscriptEnd,
  type TranscriptImportState,
  transcriptStartId,
  withAddedFields,
} from '../../domain/event.ts'
import type { EventOutcome, EventRecord } from '../commit.ts'
import type { EventRow, EventWithPayload, RecordedEvent } from '../port.ts'
import { type Database, EMPTY_SQL, type Stored, sql, startsWith } from './database.ts'
import { selectSessionErasedAt } from './tombstones.ts'

export function eventKnown(db: Database, session: string, eventId: string): boolean {
  return db.exists`SELECT 1 FROM events WHERE content_session_id = ${session} AND event_id = ${eventId}`
}

export function insertEvent(db: Database, session: string, { event, receivedAt, outcome }: EventRecord): void {
  db.insertRow('events', {
    content_session_id: session,
    event_id: event.id,
    kind: event.kind,
    tool: eventTool(event),
    at: event.at,
    received_at: receivedAt,
    outcome: outcome?.kind ?? null,
    reason: outcome?.reason ?? null,
  })
}

/** The reason of an event that waits until its session leaves the quarantine. */
const HELD = 'the session is quarantined'

/** An event of a quarantined session, with its content. Messages are in the inbox, so that the queue shows them. */
export function insertHeldEvent(
  db: Database,
  session: string,
  event: MemoryEvent,
  receivedAt: number,
  isMessage: boolean,
): void {
  insertEvent(db, session, { event, receivedAt, outcome: { kind: 'noted', reason: HELD } })
  if (isMessage)
    db.run`UPDATE events SET outcome = NULL WHERE content_session_id = ${session} AND event_id = ${event.id}`
  else insertPayload(db, session, event, receivedAt)
}

/** Oldest first. One whose content is lost stays as it is. */
export function selectHeldEvents(db: Database, session: string): { event: MemoryEvent; receivedAt: number }[] {
  const rows = db.all<{ payload: string | null; receivedAt: number }>`
    SELECT ${PAYLOAD_COLUMN}, e.received_at AS receivedAt FROM events e ${PAYLOAD_JOINS}
    WHERE e.content_session_id = ${session} AND e.reason = ${HELD} ORDER BY e.id`
  return rows.flatMap(({ payload, receivedAt }) => {
    const event = parsePayload(payload)
    return event === null ? [] : [{ event, receivedAt }]
  })
}

/** Foreign keys delete their payloads and messages. */
export function deleteHeldEvents(db: Database, session: string, eventIds: readonly string[]): void {
  for (const id of eventIds) {
    db.run`DELETE FROM events WHERE content_session_id = ${session} AND event_id = ${id} AND reason = ${HELD}`
  }
}

/** Must run before the inbox row is deleted: the number of attempts is copied from it. */
export function settleEvent(
  db: Database,
  session: string,
  effectId: string,
  { eventId, kind, reason }: EventOutcome,
  observationIds: readonly number[],
): void {
  db.run`
    UPDATE events SET outcome = ${kind}, reason = ${reason}, observation_ids = ${observationIds},
      effect_id = ${effectId}, attempts = coalesce((SELECT m.attempts FROM pending_messages m
        WHERE m.content_session_id = ${session} AND m.event_id = ${eventId}), attempts)
    WHERE content_session_id = ${session} AND event_id = ${eventId}`
}

/** The event was settled before; it is also a source of these observations. */
export function addObservationIds(
  db: Database,
  session: string,
  eventId: string,
  observationIds: readonly number[],
): void {
  db.run`
    UPDATE events SET reason = iif(outcome = 'observed', reason, NULL), outcome = 'observed',
      observation_ids = (SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(events.observation_ids) UNION SELECT value FROM json_each(${observationIds})))
    WHERE content_session_id = ${session} AND event_id = ${eventId} AND outcome IN ('observed', 'skipped', 'folded')`
}

const EVENT_COLUMNS = sql`e.event_id AS eventId, e.content_session_id AS session, e.kind, e.tool, e.at,
  e.received_at AS receivedAt, e.outcome, e.reason, e.observation_ids AS observationIds,
  e.effect_id AS effectId, e.attempts`

/** The payload of a pending event is in the inbox. */
const PAYLOAD_COLUMN = sql`coalesce(k.payload, m.payload) AS payload`
const PAYLOAD_JOINS = sql`
  LEFT JOIN payloads k ON k.content_session_id = e.content_session_id AND k.event_id = e.event_id
  LEFT JOIN pending_messages m ON m.content_session_id = e.content_session_id AND m.event_id = e.event_id`

/** The newest `limit`, oldest first. */
export function selectEvents(db: Database, session: string, limit: number): EventRow[] {
  return db.all<Stored<EventRow>>`
    SELECT ${EVENT_COLUMNS} FROM events e WHERE e.content_session_id = ${session} ORDER BY e.id DESC LIMIT ${limit}`
    .reverse()
    .map((row) => ({ ...row, observationIds: JSON.parse(row.observationIds) }))
}

type EventPayloadRow = Stored<EventRow> & { payload: string | null }

function toEventWithPayload(row: EventPayloadRow): EventWithPayload {
  return { ...row, observationIds: JSON.parse(row.observationIds), payload: parsePayload(row.payload) }
}

/** In one session, or in the newest session that has the event. */
export function selectEvent(db: Database, eventId: string, session: string | null): EventWithPayload | null {
  const row = db.get<EventPayloadRow>`
    SELECT ${EVENT_COLUMNS}, ${PAYLOAD_COLUMN} FROM events e ${PAYLOAD_JOINS}
    WHERE e.event_id = ${eventId} ${session === null ? EMPTY_SQL : sql`AND e.content_session_id = ${session}`}
    ORDER BY e.id DESC LIMIT 1`
  return row === undefined ? null : toEventWithPayload(row)
}

/** Far more than one batch contains. */
const MAX_SOURCES = 300

/** Bound on the payloads of one answer; payloads beyond it are left out as if they had been deleted. */
const MAX_SOURCE_PAYLOAD_CHARS = 4_000_000

/** `sources`: event ids as a JSON list. In the order in which the events were accepted. */
export function selectSourceEvents(db: Database, session: string, sources: string): EventWithPayload[] {
  const found: EventWithPayload[] = []
  let chars = 0
  const rows = db.each<EventPayloadRow>`
    SELECT ${EVENT_COLUMNS}, ${PAYLOAD_COLUMN} FROM (SELECT DISTINCT value AS id FROM json_each(${sources})) wanted
    CROSS JOIN events e ON e.content_session_id = ${session} AND e.event_id = wanted.id ${PAYLOAD_JOINS}
    ORDER BY e.id LIMIT ${MAX_SOURCES}`
  for (const row of rows) {
    chars += row.payload?.length ?? 0
    found.push(toEventWithPayload(chars > MAX_SOURCE_PAYLOAD_CHARS ? { ...row, payload: null } : row))
  }
  return found
}

/** A payload from a recovered database may be broken: then it counts as deleted. */
function parsePayload(json: string | null): MemoryEvent | null {
  if (json === null) return null
  try {
    const event = JSON.parse(json)
    return typeof event?.kind === 'string' ? withAddedFields(event) : null
  } catch {
    return null
  }
}

export function insertPayload(db: Database, session: string, event: MemoryEvent, at: number): void {
  const payload = JSON.stringify(event)
  const bytes = Buffer.byteLength(payload)
  db.insertRow('payloads', { content_session_id: session, event_id: event.id, kept_at: at, bytes, payload })
}

/** Bound on one page of recorded events, so that it fits into one message to a client. */
const PAGE_CHARS = 4_000_000

type RecordedEventRow = Omit<RecordedEvent, 'payload' | 'prompt'> & {
  payload: string | null
  number: number | null
  text: string | null
  private: number | null
  promptedAt: number | null
}

/** The events after `afterId`, oldest first. Fewer than `limit` where they are large; empty at the end. */
export function selectRecordedEvents(db: Database, session: string, afterId: number, limit: number): RecordedEvent[] {
  const events: RecordedEvent[] = []
  let chars = 0
  const rows = db.each<RecordedEventRow>`
    SELECT e.id, e.event_id AS eventId, e.kind, e.tool, e.at, e.received_at AS receivedAt, e.outcome, ${PAYLOAD_COLUMN},
      p.prompt_number AS number, p.prompt_text AS text, p.private, p.created_at_epoch AS promptedAt
    FROM events e ${PAYLOAD_JOINS}
    LEFT JOIN user_prompts p
      ON e.kind = 'prompt' AND p.content_session_id = e.content_session_id AND p.event_id = e.event_id
    WHERE e.content_session_id = ${session} AND e.id > ${afterId} ORDER BY e.id LIMIT ${limit}`
  for (const row of rows) {
    chars += (row.payload?.length ?? 0) + (row.text?.length ?? 0)
    // A page has at least one event, however large.
    if (chars > PAGE_CHARS && events.length > 0) break
    events.push(toRecordedEvent(row))
  }
  return events
}

function toRecordedEvent({ number, text, private: isPrivate, promptedAt, ...event }: RecordedEventRow): RecordedEvent {
  const hasPrompt = number !== null && text !== null && promptedAt !== null
  return {
    ...event,
    payload: parsePayload(event.payload),
    prompt: hasPrompt ? { number, text, private: isPrivate === 1, at: promptedAt } : null,
  }
}

/** Enough to see that a prefix is ambiguous. */
const MAX_MATCHING_EVENTS = 10

/** Ids of events that start with a prefix, each once: people type the first characters. */
export function selectEventIds(db: Database, prefix: string, session: string | null): string[] {
  return db.ids<string>`
    SELECT DISTINCT event_id AS id FROM events
    WHERE ${startsWith('event_id', prefix)} AND (${session} IS NULL OR content_session_id = ${session})
    ORDER BY event_id LIMIT ${MAX_MATCHING_EVENTS}`
}

/** Unknown sessions are left out. */
export function selectStoredSessionStates(db: Database, ends: readonly TranscriptEnd[]): TranscriptImportState[] {
  return ends.flatMap(({ session, end }) => {
    const forgotten = selectSessionErasedAt(db, session) !== null
    const known = db.exists`SELECT 1 FROM sdk_sessions WHERE content_session_id = ${session}`
    if (!known) return forgotten ? [{ session, hooks: false, transcript: false, finished: false, forgotten }] : []
    const transcript = eventKnown(db, session, transcriptStartId(session))
    const hooks = !transcript || hasHookEvents(db, session)
    return [{ session, hooks, transcript, finished: eventKnown(db, session, end), forgotten }]
  })
}

/** Tool uses have the same id in hooks and transcripts; all other events of a transcript have its prefix. */
function hasHookEvents(db: Database, session: string): boolean {
  return db.exists`
    SELECT 1 FROM events WHERE content_session_id = ${session} AND kind NOT IN ('tool_use', 'tool_failure')
      AND event_id NOT LIKE 'transcript:%' LIMIT 1`
}
