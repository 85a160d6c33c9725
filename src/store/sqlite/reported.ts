/** Where sessions came from: their hooks, or their transcripts. */

import type { AskedSession, ReportedSession } from '../../memory/reported.ts'
import { startId } from '../../memory/transcript-ids.ts'
import { eventKnown } from './events.ts'
import { type Connection, get } from './statement.ts'

/** Sessions that are not known are not in it. */
export function selectReported(db: Connection, asked: readonly AskedSession[]): ReportedSession[] {
  return asked.flatMap(({ session, end }) => {
    if (get(db, 'SELECT 1 AS n FROM sdk_sessions WHERE content_session_id = ?', [session]) === undefined) return []
    const transcript = eventKnown(db, session, startId(session))
    const hooks = !transcript || reportedByHooks(db, session)
    return [{ session, hooks, transcript, finished: eventKnown(db, session, end) }]
  })
}

/** Tool uses have one id in both: what people and the client say tells them apart. */
function reportedByHooks(db: Connection, session: string): boolean {
  const found = get(
    db,
    `SELECT 1 AS n FROM events WHERE content_session_id = ? AND kind NOT IN ('tool_use', 'tool_failure')
       AND event_id NOT LIKE 'transcript:%' LIMIT 1`,
    [session],
  )
  return found !== undefined
}
