/** Makes rows of two ages fit together after a recovery. */
import { raiseSeq } from './meta.ts'
import { forgetAgain } from './search/forgotten.ts'
import { forgetSeen } from './seen.ts'
import { type Connection, run } from './statement.ts'

/** Returns how many accepted events lost their content. */
export function reconcile(db: Connection): number {
  return db.transaction(() => {
    deleteSettledMessages(db)
    releaseForgottenClaims(db)
    countTraces(db)
    forgetSeen(db)
    forgetAgain(db)
    raiseSeq(db)
    return failLostEvents(db)
  })()
}

/** The backup still has them waiting; the damaged file knew what became of them. Never observed twice. */
function deleteSettledMessages(db: Connection): void {
  run(
    db,
    `DELETE FROM pending_messages WHERE EXISTS (SELECT 1 FROM events e
       WHERE e.content_session_id = pending_messages.content_session_id AND e.event_id = pending_messages.event_id
         AND e.outcome IS NOT NULL AND e.outcome <> 'failed')`,
  )
}

/** Claimed by an effect that the session's row knows nothing of: nobody would ever release them. */
function releaseForgottenClaims(db: Connection): void {
  run(
    db,
    `UPDATE pending_messages SET status = 'pending', effect_id = NULL, claimed_at = NULL
     WHERE status = 'processing' AND effect_id IS NOT (SELECT s.effect ->> 'id' FROM sdk_sessions s
       WHERE s.content_session_id = pending_messages.content_session_id)`,
  )
}

function failLostEvents(db: Connection): number {
  return run(
    db,
    `UPDATE events SET outcome = 'failed', reason = 'its content was lost in a damaged database'
     WHERE outcome IS NULL AND NOT EXISTS (SELECT 1 FROM pending_messages m
       WHERE m.content_session_id = events.content_session_id AND m.event_id = events.event_id)`,
  ).changes
}

function countTraces(db: Connection): void {
  run(
    db,
    `UPDATE sdk_sessions SET trace_count =
       (SELECT count(*) FROM trace t WHERE t.content_session_id = sdk_sessions.content_session_id)`,
  )
}
