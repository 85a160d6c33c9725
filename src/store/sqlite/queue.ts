/** What waits, for the observer and for people. */
import type { EventKind } from '../../memory/event.ts'
import type { ClaimedMessage, Message, MessageStatus, QueueFilter, QueueStats } from '../port.ts'
import { all, type Connection, get, type Value } from './statement.ts'

interface StoredMessage {
  id: number
  content_session_id: string
  event_id: string
  kind: EventKind
  tool: string | null
  prompt_number: number
  status: MessageStatus
  claimed_at: number | null
  effect_id: string | null
  attempts: number
  error: string | null
  created_at_epoch: number
}

const MESSAGE_COLUMNS = `id, content_session_id, event_id, kind, tool, prompt_number, status, claimed_at, effect_id,
  attempts, error, created_at_epoch`

function toMessage(row: StoredMessage): Message {
  return {
    id: row.id,
    session: row.content_session_id,
    eventId: row.event_id,
    kind: row.kind,
    tool: row.tool,
    prompt: row.prompt_number,
    status: row.status,
    claimedAt: row.claimed_at,
    effectId: row.effect_id,
    attempts: row.attempts,
    error: row.error,
    createdAt: row.created_at_epoch,
  }
}

/** Oldest first. */
export function selectQueue(db: Connection, filter: QueueFilter): Message[] {
  const conditions = ['TRUE']
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.session !== undefined) {
    conditions.push('content_session_id = @session')
    values.session = filter.session
  }
  if (filter.status !== undefined) {
    conditions.push('status = @status')
    values.status = filter.status
  }
  return all<StoredMessage>(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM pending_messages WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT @limit`,
    values,
  ).map(toMessage)
}

export function selectMessage(db: Connection, session: string, eventId: string): Message | null {
  const row = get<StoredMessage>(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM pending_messages WHERE content_session_id = ? AND event_id = ?`,
    [session, eventId],
  )
  return row === undefined ? null : toMessage(row)
}

export function selectClaimed(db: Connection, session: string, effectId: string): ClaimedMessage[] {
  return all<StoredMessage & { payload: string }>(
    db,
    `SELECT ${MESSAGE_COLUMNS}, payload FROM pending_messages
     WHERE content_session_id = ? AND effect_id = ? ORDER BY id`,
    [session, effectId],
  ).map((row) => ({ ...toMessage(row), event: JSON.parse(row.payload) }))
}

/** Messages only: the machine counts the end of a turn as a summary that is due, not as a message. */
export function countMessagesByPrompt(
  db: Connection,
  session: string,
  status: MessageStatus,
): { prompt: number; count: number }[] {
  return all(
    db,
    `SELECT prompt_number AS prompt, count(*) AS count FROM pending_messages
     WHERE content_session_id = ? AND status = ? AND kind <> 'turn_end'
     GROUP BY prompt_number ORDER BY prompt_number`,
    [session, status],
  )
}

export function selectQueueStats(db: Connection): QueueStats {
  const stats = get<QueueStats>(
    db,
    `SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
       count(*) FILTER (WHERE status = 'processing') AS processing,
       count(*) FILTER (WHERE status = 'failed') AS failed,
       count(DISTINCT content_session_id) AS sessions,
       min(created_at_epoch) FILTER (WHERE status <> 'failed') AS oldestAt
     FROM pending_messages`,
  )
  return stats ?? { pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null }
}
