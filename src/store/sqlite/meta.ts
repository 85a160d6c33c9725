/** The store's own counters. */
import { type Connection, count, get, run } from './statement.ts'

/** Numbers every change that a viewer may want to see, in the order in which they became durable. */
export function nextSeq(db: Connection): number {
  const row = get<{ value: number }>(db, `UPDATE meta SET value = value + 1 WHERE name = 'seq' RETURNING value`)
  if (row === undefined) throw new Error('the database has no sequence counter')
  return row.value
}

export function seqNow(db: Connection): number {
  return count(db, `SELECT value AS n FROM meta WHERE name = 'seq'`)
}

/** After a recovery: the counter goes on after everything that was brought back. */
export function raiseSeq(db: Connection): void {
  run(
    db,
    `UPDATE meta SET value = max(value,
       (SELECT coalesce(max(seq), 0) FROM sdk_sessions), (SELECT coalesce(max(seq), 0) FROM observations),
       (SELECT coalesce(max(seq), 0) FROM session_summaries), (SELECT coalesce(max(seq), 0) FROM user_prompts))
     WHERE name = 'seq'`,
  )
}
