/** What tools were used on and what they showed, so that the same again can be told from something new. */
import { type Connection, get, run } from './statement.ts'

export function upsertSeen(db: Connection, session: string, subject: string, digest: string, at: number): void {
  run(
    db,
    `INSERT INTO seen (content_session_id, subject, digest, at) VALUES (@session, @subject, @digest, @at)
     ON CONFLICT (content_session_id, subject) DO UPDATE SET digest = excluded.digest, at = excluded.at`,
    { session, subject, digest, at },
  )
}

/** The digests of those that were seen, by subject. */
export function selectSeen(db: Connection, session: string, subjects: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const subject of subjects) {
    const row = get<{ digest: string }>(db, 'SELECT digest FROM seen WHERE content_session_id = ? AND subject = ?', [
      session,
      subject,
    ])
    if (row !== undefined) found.set(subject, row.digest)
  }
  return found
}

/** After damage: digests older than what the observer read since would pass a change off as nothing new. */
export function forgetSeen(db: Connection): void {
  run(db, 'DELETE FROM seen')
}
