/** The way between what was reported and what was learned, in both directions. Every step of it has an index. */
import type { Observation } from '../../memory/observation.ts'
import type { EventView, Origin, SourceEvent } from '../origin-port.ts'
import type { TraceRow } from '../port.ts'
import { selectCallsOfEffect } from './calls.ts'
import { parsePayload, type StoredEvent, toEvent } from './events.ts'
import { type ObservationRow, selectPrompt, toObservation } from './memories.ts'
import { selectMessage } from './queue.ts'
import { all, type Connection, each, get } from './statement.ts'
import { selectTraceOfEffect, selectTraceOfEvent } from './turns.ts'

/** Far more than one batch holds. */
const MAX_EVENTS = 300

/** What an answer carries of payloads; what is over counts as too large to be shown. */
const MAX_PAYLOAD_CHARS = 4_000_000

interface Made {
  session: string
  prompt: number
  sources: string
  effectId: string | null
}

export function selectOrigin(db: Connection, observation: number): Origin | null {
  const made = get<Made>(
    db,
    `SELECT content_session_id AS session, prompt_number AS prompt, sources, effect_id AS effectId FROM observations
     WHERE id = ?`,
    [observation],
  )
  if (made === undefined) return null
  const { session, prompt, sources, effectId } = made
  return {
    prompt: selectPrompt(db, session, prompt),
    events: selectSources(db, session, sources),
    effectId,
    calls: effectId === null ? [] : selectCallsOfEffect(db, session, effectId),
    trace: effectId === null ? [] : selectTraceOfEffect(db, session, effectId),
  }
}

type KeptEvent = StoredEvent & { payload: string | null }

/** What still waits has its payload in the inbox. */
const WITH_PAYLOAD = `SELECT e.*, coalesce(k.payload, m.payload) AS payload`
const PAYLOADS = `
  LEFT JOIN payloads k ON k.content_session_id = e.content_session_id AND k.event_id = e.event_id
  LEFT JOIN pending_messages m ON m.content_session_id = e.content_session_id AND m.event_id = e.event_id`

function selectSources(db: Connection, session: string, sources: string): SourceEvent[] {
  const found: SourceEvent[] = []
  let chars = 0
  const rows = each<KeptEvent>(
    db,
    `${WITH_PAYLOAD} FROM (SELECT DISTINCT value AS id FROM json_each(@sources)) wanted
     CROSS JOIN events e ON e.content_session_id = @session AND e.event_id = wanted.id ${PAYLOADS}
     ORDER BY e.id LIMIT ${MAX_EVENTS}`,
    { session, sources },
  )
  for (const row of rows) {
    chars += row.payload?.length ?? 0
    found.push(toSource(chars > MAX_PAYLOAD_CHARS ? { ...row, payload: null } : row))
  }
  return found
}

function toSource({ payload, ...event }: KeptEvent): SourceEvent {
  return { ...toEvent(event), payload: parsePayload(payload) }
}

export function selectEventView(db: Connection, eventId: string, session: string | null): EventView | null {
  const row = session === null ? selectNewest(db, eventId) : selectOne(db, session, eventId)
  if (row === undefined) return null
  const event = toSource(row)
  const message = selectMessage(db, event.session, eventId)
  const effectId = event.effectId ?? message?.effectId ?? null
  const taken = selectTraceOfEvent(db, event.session, eventId)
  return {
    event,
    message,
    observations: selectObservations(db, event.observationIds),
    calls: effectId === null ? [] : selectCallsOfEffect(db, event.session, effectId),
    trace: effectId === null ? taken : merged(taken, selectTraceOfEffect(db, event.session, effectId)),
  }
}

/** Enough to tell that there are several. */
const MAX_FOUND = 10

export function selectEventIds(db: Connection, prefix: string, session: string | null): string[] {
  return all<{ id: string }>(
    db,
    `SELECT DISTINCT event_id AS id FROM events
     WHERE event_id >= @prefix AND event_id < @prefix || char(0x10FFFF) AND substr(event_id, 1, length(@prefix)) = @prefix
       AND (@session IS NULL OR content_session_id = @session)
     ORDER BY event_id LIMIT ${MAX_FOUND}`,
    { prefix, session },
  ).map(({ id }) => id)
}

function selectOne(db: Connection, session: string, eventId: string): KeptEvent | undefined {
  return get<KeptEvent>(
    db,
    `${WITH_PAYLOAD} FROM events e ${PAYLOADS} WHERE e.content_session_id = ? AND e.event_id = ?`,
    [session, eventId],
  )
}

function selectNewest(db: Connection, eventId: string): KeptEvent | undefined {
  return get<KeptEvent>(
    db,
    `${WITH_PAYLOAD} FROM events e ${PAYLOADS} WHERE e.event_id = ? ORDER BY e.id DESC LIMIT 1`,
    [eventId],
  )
}

function selectObservations(db: Connection, ids: readonly number[]): Observation[] {
  return all<ObservationRow>(
    db,
    `SELECT o.* FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value ORDER BY o.id`,
    [JSON.stringify(ids)],
  ).map(toObservation)
}

/** In their order, each once. */
function merged(...lists: readonly (readonly TraceRow[])[]): TraceRow[] {
  const byId = new Map(lists.flat().map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => a.id - b.id)
}
