/** Sessions whose snapshot cannot be restored: the row stays as it is, what arrives is kept. */
import { MemError } from '../../errors.ts'
import { isMessage, type MemoryEvent } from '../../memory/event.ts'
import { eventKnown, insertEvent, insertPayload } from './events.ts'
import { insertMessage } from './inbox.ts'
import { nextSeq } from './meta.ts'
import { selectSession } from './sessions.ts'
import { type Connection, run } from './statement.ts'
import { insertTrace } from './turns.ts'

/** It is a transition like any other: the trace has it. */
export function quarantineSession(db: Connection, session: string, reason: string, at: number): { seq: number } {
  return db
    .transaction(() => {
      const row = selectSession(db, session)
      if (row === null) throw unknownSession(session)
      const seq = nextSeq(db)
      setQuarantine(db, session, reason, at, seq)
      const from = row.quarantine === null ? row.state : QUARANTINE
      insertTrace(db, session, {
        at,
        event: 'QUARANTINE',
        eventId: null,
        from,
        to: QUARANTINE,
        reason,
        effectId: row.effect?.id ?? null,
      })
      return { seq }
    })
    .immediate()
}

/** What the trace says of a session that is in none of its machine's states. */
const QUARANTINE = 'quarantine'

function setQuarantine(db: Connection, session: string, reason: string, at: number, seq: number): void {
  run(
    db,
    `UPDATE sdk_sessions SET status = 'failed', quarantine = @reason, updated_at_epoch = @at, seq = @seq,
       trace_count = trace_count + 1
     WHERE content_session_id = @session`,
    { session, reason, at, seq },
  )
}

/**
 * What the observer would read waits in the inbox for the session's revival. Anything else is noted, its payload
 * kept: retention leaves the payloads of quarantined sessions alone.
 */
export function acceptForQuarantined(
  db: Connection,
  session: string,
  event: MemoryEvent,
  at: number,
): 'accepted' | 'duplicate' {
  return db
    .transaction(() => {
      const row = selectSession(db, session)
      if (row === null) throw unknownSession(session)
      if (eventKnown(db, session, event.id)) return 'duplicate' as const
      if (isMessage(event) || event.kind === 'turn_end') {
        insertEvent(db, session, event, at, null)
        insertMessage(db, session, event, row.prompts, at)
      } else {
        insertEvent(db, session, event, at, { kind: 'noted', reason: 'the session is quarantined' })
        insertPayload(db, session, event, at)
      }
      return 'accepted' as const
    })
    .immediate()
}

function unknownSession(session: string): MemError {
  return new MemError('not_found', `There is no session ${session}.`)
}
