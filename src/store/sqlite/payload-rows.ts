/** A session's events with what is kept of each: what a replay tells again. */
import type { EventKind } from '../../memory/event.ts'
import type { KeptEvent } from '../origin-port.ts'
import { parsePayload } from './events.ts'
import { type Connection, each } from './statement.ts'

/** Of one answer: a session of large payloads is read in pieces that a message can carry. */
const PAGE_BYTES = 4_000_000

interface Row {
  id: number
  event_id: string
  kind: EventKind
  tool: string | null
  at: number
  received_at: number
  outcome: string | null
  payload: string | null
  number: number | null
  text: string | null
  private: number | null
  prompted_at: number | null
}

export function selectKeptEvents(db: Connection, session: string, afterId: number, limit: number): KeptEvent[] {
  const events: KeptEvent[] = []
  let bytes = 0
  for (const row of each<Row>(db, SQL, { session, afterId, limit })) {
    bytes += (row.payload?.length ?? 0) + (row.text?.length ?? 0)
    // One that is too large by itself still has to be passed on.
    if (bytes > PAGE_BYTES && events.length > 0) break
    events.push(keptEvent(row))
  }
  return events
}

const SQL = `
SELECT e.id, e.event_id, e.kind, e.tool, e.at, e.received_at, e.outcome, coalesce(k.payload, m.payload) AS payload,
  p.prompt_number AS number, p.prompt_text AS text, p.private, p.created_at_epoch AS prompted_at
FROM events e
LEFT JOIN payloads k ON k.content_session_id = e.content_session_id AND k.event_id = e.event_id
LEFT JOIN pending_messages m ON m.content_session_id = e.content_session_id AND m.event_id = e.event_id
LEFT JOIN user_prompts p
  ON e.kind = 'prompt' AND p.content_session_id = e.content_session_id AND p.event_id = e.event_id
WHERE e.content_session_id = @session AND e.id > @afterId ORDER BY e.id LIMIT @limit`

function keptEvent(row: Row): KeptEvent {
  const { number, text, prompted_at: promptedAt } = row
  return {
    id: row.id,
    eventId: row.event_id,
    kind: row.kind,
    tool: row.tool,
    at: row.at,
    receivedAt: row.received_at,
    outcome: row.outcome,
    payload: parsePayload(row.payload),
    prompt:
      number === null || text === null || promptedAt === null
        ? null
        : { number, text, private: row.private === 1, at: promptedAt },
  }
}
