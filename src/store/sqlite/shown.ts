/** What a session was given during its prompts. */
import { all, type Connection, run } from './statement.ts'

export function selectShown(db: Connection, session: string): number[] {
  return all<{ id: number }>(db, 'SELECT observation_id AS id FROM shown WHERE content_session_id = ?', [session]).map(
    ({ id }) => id,
  )
}

/** One statement: of two hooks that ask at the same time, one gets it. */
export function insertShown(db: Connection, session: string, observations: readonly number[], at: number): number[] {
  return all<{ id: number }>(
    db,
    `INSERT INTO shown (content_session_id, observation_id, at)
     SELECT s.content_session_id, o.id, @at FROM sdk_sessions s, json_each(@ids) wanted
       JOIN observations o ON o.id = wanted.value WHERE s.content_session_id = @session
     ON CONFLICT DO NOTHING RETURNING observation_id AS id`,
    { session, at, ids: JSON.stringify(observations) },
  ).map(({ id }) => id)
}

export function deleteShown(db: Connection, session: string): void {
  run(db, 'DELETE FROM shown WHERE content_session_id = ?', [session])
}
