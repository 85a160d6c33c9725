/**
 * Deletes the bulk of a session before it is erased, a bounded number of rows per call: commits wait for a call, and erasing
 * a long session at once takes seconds. What is deleted here is not needed any more if the process dies in between: the
 * session keeps its events, memories and messages, and can be erased again.
 */
import type { Database } from './database.ts'

/** Rows deleted in one call: some ten milliseconds, because deleted content is overwritten. */
const MAX_ROWS = 500

/** Returns the number of deleted rows; 0: the rest can be erased. */
export function deleteBulkOfSession(db: Database, session: string): number {
  return db.write(() => {
    const payloads = db.run`
      DELETE FROM payloads WHERE id IN (
        SELECT id FROM payloads WHERE content_session_id = ${session} LIMIT ${MAX_ROWS})`.changes
    if (payloads > 0) return payloads
    return db.run`
      DELETE FROM observer_turns WHERE id IN (
        SELECT id FROM observer_turns WHERE content_session_id = ${session} LIMIT ${MAX_ROWS})`.changes
  })
}
