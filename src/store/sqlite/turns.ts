/** The observer's conversation and the trace: what was said, and what each actor did and why. */
import type { ObserverTurn, TraceEntry } from '../commit.ts'
import type { TraceRow } from '../port.ts'
import { all, type Connection, get, run } from './statement.ts'

export function insertTurn(db: Connection, session: string, turn: ObserverTurn): void {
  run(
    db,
    `INSERT INTO observer_turns (content_session_id, generation, role, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, at, content)
     VALUES (@session, @generation, @role, @model, @input, @output, @cacheRead, @cacheWrite, @at, @content)`,
    {
      session,
      generation: turn.generation,
      role: turn.role,
      model: turn.model,
      input: turn.usage?.input ?? null,
      output: turn.usage?.output ?? null,
      cacheRead: turn.usage?.cacheRead ?? null,
      cacheWrite: turn.usage?.cacheWrite ?? null,
      at: turn.at,
      content: turn.content,
    },
  )
}

interface StoredTurn {
  generation: number
  role: ObserverTurn['role']
  model: string | null
  input_tokens: number | null
  output_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  at: number
  content: string
}

export function selectConversation(db: Connection, session: string, generation: number): ObserverTurn[] {
  return all<StoredTurn>(
    db,
    'SELECT * FROM observer_turns WHERE content_session_id = ? AND generation = ? ORDER BY id',
    [session, generation],
  ).map((row) => ({
    generation: row.generation,
    role: row.role,
    content: row.content,
    model: row.model,
    usage:
      row.input_tokens === null
        ? null
        : {
            input: row.input_tokens,
            output: row.output_tokens ?? 0,
            cacheRead: row.cache_read_tokens ?? 0,
            cacheWrite: row.cache_write_tokens ?? 0,
          },
    at: row.at,
  }))
}

export function insertTrace(db: Connection, session: string, entry: TraceEntry): void {
  run(
    db,
    `INSERT INTO trace (content_session_id, at, event, event_id, from_state, to_state, reason, effect_id)
     VALUES (@session, @at, @event, @eventId, @from, @to, @reason, @effectId)`,
    {
      session,
      at: entry.at,
      event: entry.event,
      eventId: entry.eventId,
      from: entry.from,
      to: entry.to,
      reason: entry.reason,
      effectId: entry.effectId,
    },
  )
}

const TRACE = `id, at, event, event_id AS eventId, from_state AS "from", to_state AS "to", reason, effect_id AS effectId`

/** Transitions of one effect that are worth showing: a start, some waits, its end. */
const MAX_TRACE_OF_EFFECT = 100

/** An effect ends in a result; where the next one begins in the same transition, that one's id stands there. */
const RESULTS = `'OBSERVED', 'SUMMARIZED', 'COMPACTED', 'FAILED'`

/** Its beginning, its end and what happened to it in between. What merely arrived meanwhile is left out. */
export function selectTraceOfEffect(db: Connection, session: string, effectId: string): TraceRow[] {
  const rows = all<TraceRow>(
    db,
    `SELECT ${TRACE} FROM trace
     WHERE content_session_id = @session AND effect_id = @effectId AND (from_state <> to_state OR event_id IS NULL)
     ORDER BY id LIMIT ${MAX_TRACE_OF_EFFECT}`,
    { session, effectId },
  )
  const end = get<TraceRow>(
    db,
    `SELECT * FROM (SELECT ${TRACE} FROM trace WHERE content_session_id = @session AND id >
         (SELECT max(id) FROM trace WHERE content_session_id = @session AND effect_id = @effectId) ORDER BY id LIMIT 1)
     WHERE event IN (${RESULTS})`,
    { session, effectId },
  )
  return end === undefined ? rows : [...rows, end]
}

/** Where an event was taken. Retention keeps a session's trace short enough to look through. */
export function selectTraceOfEvent(db: Connection, session: string, eventId: string): TraceRow[] {
  return all<TraceRow>(
    db,
    `SELECT ${TRACE} FROM trace WHERE content_session_id = ? AND event_id = ? ORDER BY id LIMIT ${MAX_TRACE_OF_EFFECT}`,
    [session, eventId],
  )
}

/** The newest `limit`, oldest of them first. */
export function selectTrace(db: Connection, session: string, limit: number): TraceRow[] {
  return all<TraceRow>(db, `SELECT ${TRACE} FROM trace WHERE content_session_id = ? ORDER BY id DESC LIMIT ?`, [
    session,
    limit,
  ]).reverse()
}
