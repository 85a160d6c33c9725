/** One session from its first prompt to its summary. */
import type { SessionStory } from '../origin-port.ts'
import type { PromptRow } from '../port.ts'
import { selectCallFigures } from './calls.ts'
import { type ObservationRow, type SummaryRow, toObservation, toSummary } from './memories.ts'
import { all, type Connection } from './statement.ts'
import { selectView } from './views.ts'

/** Of each kind the newest `rows`, oldest of them first. */
export function selectStory(
  db: Connection,
  session: string,
  limits: { trace: number; rows: number },
): SessionStory | null {
  const rows = Math.max(0, limits.rows)
  const view = selectView(db, session, Math.max(0, limits.trace))
  if (view === null) return null
  return {
    ...view,
    prompts: selectPrompts(db, session, rows),
    observationRows: selectObservations(db, session, rows),
    summaryRows: selectSummaries(db, session, rows),
    calls: selectCallFigures(db, session, rows),
    outcomes: countOutcomes(db, session),
  }
}

function selectPrompts(db: Connection, session: string, limit: number): PromptRow[] {
  return all<Omit<PromptRow, 'private'> & { private: number }>(
    db,
    `SELECT prompt_number AS number, prompt_text AS text, private, created_at_epoch AS at FROM user_prompts
     WHERE content_session_id = ? ORDER BY prompt_number DESC LIMIT ?`,
    [session, limit],
  )
    .reverse()
    .map((row) => ({ ...row, private: row.private === 1 }))
}

function selectObservations(db: Connection, session: string, limit: number): SessionStory['observationRows'] {
  return all<ObservationRow>(db, 'SELECT * FROM observations WHERE content_session_id = ? ORDER BY id DESC LIMIT ?', [
    session,
    limit,
  ])
    .reverse()
    .map((row) => ({ ...toObservation(row), effectId: row.effect_id }))
}

function selectSummaries(db: Connection, session: string, limit: number): SessionStory['summaryRows'] {
  return all<SummaryRow>(
    db,
    `SELECT * FROM session_summaries WHERE content_session_id = ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?`,
    [session, limit],
  )
    .reverse()
    .map((row) => ({ ...toSummary(row), effectId: row.effect_id }))
}

function countOutcomes(db: Connection, session: string): SessionStory['outcomes'] {
  return all(
    db,
    `SELECT kind, outcome, count(*) AS count FROM events WHERE content_session_id = ?
     GROUP BY kind, outcome ORDER BY kind, outcome`,
    [session],
  )
}
