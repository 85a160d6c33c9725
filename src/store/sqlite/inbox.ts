/** The inbox: events that wait for the observer, and what a commit does with them. */
import { type MemoryEvent, toolOf } from '../../memory/event.ts'
import type { EventOutcome, InboxChange, NewObservation } from '../commit.ts'
import { settleEvent } from './events.ts'
import { all, type Connection, run } from './statement.ts'

/** An observation of the commit that is being applied, with the id it got. */
export interface StoredObservation {
  id: number
  observation: NewObservation
}

export function applyInboxChange(
  db: Connection,
  session: string,
  change: InboxChange,
  stored: readonly StoredObservation[],
): void {
  switch (change.do) {
    case 'add':
      insertMessage(db, session, change.event, change.prompt, change.at)
      break
    case 'claim':
      if (change.kind === 'observe') claimMessages(db, session, change)
      else claimTurnEnds(db, session, change)
      break
    case 'release':
      if (change.counted) releaseCounted(db, session, change.effectId, change.error)
      else releaseUncounted(db, session, change.effectId)
      break
    case 'settle':
      settle(db, session, change, stored)
      break
    case 'set_aside':
      failEvents(db, session, change.effectId, change.error)
      setAside(db, session, change.effectId, change.error)
      break
    case 'retry_failed':
      reopenEvents(db, session)
      retryFailed(db, session)
      break
    case 'clear':
      for (const status of change.pending ? ['failed', 'pending'] : ['failed']) {
        dropEvents(db, session, status)
        deleteMessages(db, session, status)
      }
      break
  }
}

export function insertMessage(db: Connection, session: string, event: MemoryEvent, prompt: number, at: number): void {
  run(
    db,
    `INSERT INTO pending_messages (content_session_id, event_id, kind, tool, prompt_number, status, created_at_epoch,
       payload)
     VALUES (@session, @eventId, @kind, @tool, @prompt, 'pending', @at, @payload)`,
    {
      session,
      eventId: event.id,
      kind: event.kind,
      tool: toolOf(event),
      prompt,
      at,
      payload: JSON.stringify(event),
    },
  )
}

type Claim = Extract<InboxChange, { do: 'claim' }>

function claimMessages(db: Connection, session: string, claim: Claim): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'processing', effect_id = @effectId, claimed_at = @at WHERE id IN (
       SELECT id FROM pending_messages
       WHERE content_session_id = @session AND status = 'pending' AND kind <> 'turn_end' AND prompt_number <= @prompt
       ORDER BY id LIMIT @limit)`,
    { session, effectId: claim.effectId, at: claim.at, prompt: claim.prompt, limit: claim.limit },
  )
}

function claimTurnEnds(db: Connection, session: string, claim: Claim): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'processing', effect_id = @effectId, claimed_at = @at
     WHERE content_session_id = @session AND status = 'pending' AND kind = 'turn_end' AND prompt_number <= @prompt`,
    { session, effectId: claim.effectId, at: claim.at, prompt: claim.prompt },
  )
}

function releaseCounted(db: Connection, session: string, effectId: string, error: string): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'pending', effect_id = NULL, claimed_at = NULL, attempts = attempts + 1,
       error = @error
     WHERE content_session_id = @session AND effect_id = @effectId`,
    { session, effectId, error },
  )
}

function releaseUncounted(db: Connection, session: string, effectId: string): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'pending', effect_id = NULL, claimed_at = NULL
     WHERE content_session_id = @session AND effect_id = @effectId`,
    { session, effectId },
  )
}

function settle(
  db: Connection,
  session: string,
  change: Extract<InboxChange, { do: 'settle' }>,
  stored: readonly StoredObservation[],
): void {
  const listed = new Map(change.outcomes.map((outcome) => [outcome.eventId, outcome]))
  for (const eventId of claimedEventIds(db, session, change.effectId)) {
    if (!listed.has(eventId)) listed.set(eventId, defaultOutcome(eventId, stored))
  }
  for (const outcome of listed.values()) {
    const ids = outcome.kind === 'observed' ? madeFrom(outcome.eventId, stored) : []
    settleEvent(db, session, change.effectId, outcome, ids)
  }
  keepPayloads(db, session, change.effectId, change.at)
  deleteClaimed(db, session, change.effectId)
}

/** A claimed message that the answer does not speak of was read with the others, as the end of a turn is. */
function defaultOutcome(eventId: string, stored: readonly StoredObservation[]): EventOutcome {
  return { eventId, kind: madeFrom(eventId, stored).length > 0 ? 'observed' : 'folded', reason: null }
}

function madeFrom(eventId: string, stored: readonly StoredObservation[]): number[] {
  return stored.filter(({ observation }) => observation.sources.includes(eventId)).map(({ id }) => id)
}

function claimedEventIds(db: Connection, session: string, effectId: string): string[] {
  return all<{ eventId: string }>(
    db,
    `SELECT event_id AS eventId FROM pending_messages WHERE content_session_id = ? AND effect_id = ? ORDER BY id`,
    [session, effectId],
  ).map((row) => row.eventId)
}

function keepPayloads(db: Connection, session: string, effectId: string, at: number): void {
  run(
    db,
    `INSERT INTO payloads (content_session_id, event_id, kept_at, bytes, payload)
     SELECT content_session_id, event_id, @at, octet_length(payload), payload FROM pending_messages
     WHERE content_session_id = @session AND effect_id = @effectId ORDER BY id`,
    { session, effectId, at },
  )
}

function deleteClaimed(db: Connection, session: string, effectId: string): void {
  run(db, 'DELETE FROM pending_messages WHERE content_session_id = ? AND effect_id = ?', [session, effectId])
}

function setAside(db: Connection, session: string, effectId: string, error: string): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'failed', effect_id = NULL, claimed_at = NULL, attempts = attempts + 1,
       error = @error
     WHERE content_session_id = @session AND effect_id = @effectId`,
    { session, effectId, error },
  )
}

/** The attempt that set them aside counts. */
function failEvents(db: Connection, session: string, effectId: string, error: string): void {
  run(
    db,
    `UPDATE events SET outcome = 'failed', reason = @error, effect_id = @effectId, attempts = m.attempts + 1
     FROM (SELECT event_id, attempts FROM pending_messages
           WHERE content_session_id = @session AND effect_id = @effectId) m
     WHERE events.content_session_id = @session AND events.event_id = m.event_id`,
    { session, effectId, error },
  )
}

function reopenEvents(db: Connection, session: string): void {
  run(
    db,
    `UPDATE events SET outcome = NULL, reason = NULL, effect_id = NULL, attempts = 0
     WHERE content_session_id = @session AND event_id IN (
       SELECT event_id FROM pending_messages WHERE content_session_id = @session AND status = 'failed')`,
    { session },
  )
}

/** They start afresh: what they failed with is in the trace. */
function retryFailed(db: Connection, session: string): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'pending', attempts = 0, error = NULL
     WHERE content_session_id = ? AND status = 'failed'`,
    [session],
  )
}

function dropEvents(db: Connection, session: string, status: string): void {
  run(
    db,
    `UPDATE events SET outcome = 'dropped', reason = NULL WHERE content_session_id = @session AND event_id IN (
       SELECT event_id FROM pending_messages WHERE content_session_id = @session AND status = @status)`,
    { session, status },
  )
}

function deleteMessages(db: Connection, session: string, status: string): void {
  run(db, 'DELETE FROM pending_messages WHERE content_session_id = ? AND status = ?', [session, status])
}
