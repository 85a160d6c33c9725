/**
 * Makes rows of a backup and of a damaged file consistent. The two are of different times, and single pages may be lost:
 * a session's row can be older than its prompts, or count messages that no longer exist. What can be counted is counted
 * again; a session whose snapshot disagrees with its rows gets one that is rebuilt from them.
 */
import { pendingOf } from '../../../machines/session/context.ts'
import { migrateSnapshot, SESSION_MACHINE_VERSION } from '../../../machines/session/migrations.ts'
import { rebuildSnapshot, stateName, writeSnapshot } from '../../../machines/session/snapshot.ts'
import type { SessionContext, StoredSnapshot, TurnCount } from '../../../machines/session/types.ts'
import type { Usage } from '../../domain/observation.ts'
import { assignmentsSql, type Database, nextSeq, sql, USAGE_COLUMNS, usageColumns } from '../sqlite/database.ts'
import { forgetAgain } from '../sqlite/forget.ts'
import { insertTrace } from '../sqlite/observer-turns.ts'
import { queueAgain } from '../sqlite/team-outbox.ts'

/** The project of a session whose row and memories do not say one. */
export const UNKNOWN_PROJECT = 'unknown'

/** Returns the number of events whose content was lost. */
export function reconcile(db: Database, at: number): number {
  return db.transaction(() => {
    reconcileInbox(db)
    // An outdated digest would make a changed result look like a repeated one.
    db.run`DELETE FROM seen`
    forgetAgain(db)
    reconcileTeam(db)
    reconcileSequence(db)
    reconcileProjects(db)
    reconcileTimes(db, at)
    for (const row of sessionRows(db)) reconcileSession(db, row, countRows(db, row), at)
    db.run`
      UPDATE sdk_sessions SET trace_count =
        (SELECT count(*) FROM trace t WHERE t.content_session_id = sdk_sessions.content_session_id)`
    return db.run`
      UPDATE events SET outcome = 'failed', reason = 'its content was lost in a damaged database'
      WHERE outcome IS NULL AND NOT EXISTS (SELECT 1 FROM pending_messages m
        WHERE m.content_session_id = events.content_session_id AND m.event_id = events.event_id)`.changes
  })()
}

function reconcileInbox(db: Database): void {
  // Pending in the backup, but settled in the damaged file: they must not be observed twice.
  db.run`
    DELETE FROM pending_messages WHERE EXISTS (SELECT 1 FROM events e
      WHERE e.content_session_id = pending_messages.content_session_id AND e.event_id = pending_messages.event_id
        AND e.outcome IS NOT NULL AND e.outcome <> 'failed')`
  // Claimed by an effect that is not the session's current one, so that nothing would release them.
  db.run`
    UPDATE pending_messages SET status = 'pending', effect_id = NULL, claimed_at = NULL
    WHERE status = 'processing' AND effect_id IS NOT (SELECT s.effect ->> 'id' FROM sdk_sessions s
      WHERE s.content_session_id = pending_messages.content_session_id)`
}

/**
 * Which records were pushed and received is not known any more: all are sent and received again, and known ones change
 * nothing.
 */
function reconcileTeam(db: Database): void {
  queueAgain(db, sql`repository IN (SELECT project FROM shared_projects WHERE withdrawn = 0)`)
  db.run`DELETE FROM team_cursors`
  db.run`DELETE FROM team_versions`
  db.run`DELETE FROM team_waiting`
}

/** The sequence continues after all recovered rows. */
function reconcileSequence(db: Database): void {
  db.run`
    UPDATE meta SET value = max(value,
      (SELECT coalesce(max(seq), 0) FROM sdk_sessions), (SELECT coalesce(max(seq), 0) FROM observations),
      (SELECT coalesce(max(seq), 0) FROM session_summaries), (SELECT coalesce(max(seq), 0) FROM user_prompts))
    WHERE name = 'seq'`
}

/** A session whose row was lost belongs to the project of its memories. */
function reconcileProjects(db: Database): void {
  const lost = db.ids<string>`SELECT content_session_id AS id FROM sdk_sessions WHERE project = ${UNKNOWN_PROJECT}`
  for (const session of lost) {
    const project = db.get<{ key: string }>`
      SELECT project AS key FROM (
        SELECT project FROM observations WHERE content_session_id = ${session}
        UNION ALL SELECT project FROM session_summaries WHERE content_session_id = ${session}
        UNION ALL SELECT project FROM passages WHERE content_session_id = ${session}
        UNION ALL SELECT project FROM calls WHERE content_session_id = ${session}) LIMIT 1`?.key
    if (project === undefined) continue
    const name = db.get<{ name: string }>`
      SELECT project_name AS name FROM sdk_sessions WHERE project = ${project}
      UNION ALL SELECT project_name FROM calls WHERE project = ${project} LIMIT 1`?.name
    db.run`
      UPDATE sdk_sessions SET project = ${project}, project_name = ${name ?? project}
      WHERE content_session_id = ${session}`
    db.run`UPDATE search_rows SET project = ${project} WHERE content_session_id = ${session}`
  }
}

/** A session whose row was lost began and was last heard of when its events say. */
function reconcileTimes(db: Database, at: number): void {
  db.run`
    UPDATE sdk_sessions SET
      created_at_epoch = min(${at}, coalesce((SELECT min(e.at) FROM events e
        WHERE e.content_session_id = sdk_sessions.content_session_id), created_at_epoch)),
      updated_at_epoch = min(${at}, coalesce((SELECT max(e.at) FROM events e
        WHERE e.content_session_id = sdk_sessions.content_session_id), updated_at_epoch))
    WHERE snapshot = ''`
}

interface SessionRow extends Usage {
  session: string
  revision: number
  state: string
  status: string
  quarantine: string | null
  prompts: number
  generation: number
  heardAt: number
  effectId: string | null
  snapshot: string
}

function sessionRows(db: Database): SessionRow[] {
  return db.all<SessionRow>`
    SELECT content_session_id AS session, revision, state, status, quarantine, prompts, generation,
      updated_at_epoch AS heardAt, effect ->> 'id' AS effectId, snapshot, ${USAGE_COLUMNS}
    FROM sdk_sessions`
}

/** What a session's rows say. */
interface RowCounts {
  prompts: number
  generation: number
  usage: Usage
  /** Tool uses that are pending or claimed, by turn. */
  pending: TurnCount[]
  /** Claimed by the current effect. */
  claimed: number
  failed: number
  /** Prompt numbers of turns with an unread turn end. */
  turnEnds: number[]
}

function countRows(db: Database, { session, effectId, ...row }: SessionRow): RowCounts {
  const prompts = db.number`
    SELECT max(n) AS n FROM (
      SELECT max(prompt_number) AS n FROM user_prompts WHERE content_session_id = ${session}
      UNION ALL SELECT max(prompt_number) FROM pending_messages WHERE content_session_id = ${session}
      UNION ALL SELECT max(prompt_number) FROM observations WHERE content_session_id = ${session}
      UNION ALL SELECT max(prompt_number) FROM session_summaries WHERE content_session_id = ${session})`
  const generation = db.number`SELECT max(generation) AS n FROM observer_turns WHERE content_session_id = ${session}`
  const calls = db.one<Usage>`
    SELECT coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
      coalesce(sum(cache_read_tokens), 0) AS cacheRead, coalesce(sum(cache_write_tokens), 0) AS cacheWrite
    FROM calls WHERE content_session_id = ${session}`
  return {
    prompts: Math.max(row.prompts, prompts),
    generation: Math.max(row.generation, generation),
    usage: {
      input: Math.max(row.input, calls.input),
      output: Math.max(row.output, calls.output),
      cacheRead: Math.max(row.cacheRead, calls.cacheRead),
      cacheWrite: Math.max(row.cacheWrite, calls.cacheWrite),
    },
    pending: db.all<TurnCount>`
      SELECT prompt_number AS prompt, count(*) AS count FROM pending_messages
      WHERE content_session_id = ${session} AND status <> 'failed' AND kind <> 'turn_end'
      GROUP BY prompt_number ORDER BY prompt_number`,
    claimed: db.number`
      SELECT count(*) AS n FROM pending_messages
      WHERE content_session_id = ${session} AND effect_id = ${effectId} AND kind <> 'turn_end'`,
    failed: db.number`
      SELECT count(*) AS n FROM pending_messages
      WHERE content_session_id = ${session} AND status = 'failed' AND kind <> 'turn_end'`,
    turnEnds: db.ids`
      SELECT DISTINCT prompt_number AS id FROM pending_messages
      WHERE content_session_id = ${session} AND status <> 'failed' AND kind = 'turn_end'`,
  }
}

function reconcileSession(db: Database, row: SessionRow, counts: RowCounts, at: number): void {
  const isLost = row.snapshot === ''
  const stored = isLost ? null : parseSnapshot(row.snapshot)
  if (!isLost && (stored === null || row.quarantine !== null)) {
    // The session actor quarantines it. A retry rebuilds it with these counts.
    const { prompts, generation, usage } = counts
    updateSession(db, row.session, { prompts, generation, ...usageColumns(usage) })
    return
  }
  if (stored !== null && agrees(stored.context, counts)) return
  rebuildSession(db, row, stored, counts, at)
}

function parseSnapshot(snapshot: string): StoredSnapshot | null {
  try {
    return migrateSnapshot(JSON.parse(snapshot))
  } catch {
    return null
  }
}

function agrees(context: SessionContext, counts: RowCounts): boolean {
  const { effect, usage, turns } = context
  const summarised = effect?.kind === 'summarize' ? effect.prompt : 0
  return (
    context.prompt >= counts.prompts &&
    context.generation >= counts.generation &&
    usage.input + usage.output >= counts.usage.input + counts.usage.output &&
    pendingOf(context) === sum(counts.pending) &&
    context.failed === counts.failed &&
    (effect?.kind !== 'observe' || effect.limit === counts.claimed) &&
    // The turn of a turn end may have been merged into a later one.
    counts.turnEnds.every(
      (prompt) => prompt <= summarised || turns.some((turn) => turn.summary && turn.prompt >= prompt),
    )
  )
}

/** As the session actor rebuilds a quarantined session. Messages in it are found as stranded at the start and observed. */
function rebuildSession(
  db: Database,
  row: SessionRow,
  stored: StoredSnapshot | null,
  counts: RowCounts,
  at: number,
): void {
  const { session } = row
  const { prompts, generation, usage, pending, failed, turnEnds } = counts
  const hasWork = sum(pending) + turnEnds.length > 0
  const staysClosed = row.state === 'closed' && !hasWork
  const rebuilt = rebuildSnapshot({ at: row.heardAt, prompts, generation, pending, failed, summaries: turnEnds })
  const base = staysClosed && stored !== null ? stored : migrateSnapshot(JSON.parse(rebuilt))
  const context = { ...base.context, prompt: prompts, generation, failed, usage }
  const state = stateName(base.value)
  db.run`
    UPDATE pending_messages SET status = 'pending', effect_id = NULL, claimed_at = NULL
    WHERE content_session_id = ${session} AND status = 'processing'`
  updateSession(db, session, {
    memory_session_id: `${session}:${generation}`,
    status: staysClosed ? row.status : 'active',
    state,
    revision: row.revision + 1,
    machine_version: SESSION_MACHINE_VERSION,
    // Without messages a wake-up closes it when it has been idle for long enough.
    wake_at: staysClosed || hasWork ? null : at,
    waiting: null,
    quarantine: null,
    effect: null,
    prompts,
    generation,
    ...usageColumns(usage),
    seq: nextSeq(db),
    snapshot: writeSnapshot(base.value, context),
  })
  const reason = 'its counts were corrected after the recovery of a damaged database'
  insertTrace(db, session, { at, event: 'REBUILD', eventId: null, from: row.state, to: state, reason, effectId: null })
}

function updateSession(db: Database, session: string, columns: Parameters<typeof assignmentsSql>[0]): void {
  db.run`UPDATE sdk_sessions SET ${assignmentsSql(columns)} WHERE content_session_id = ${session}`
}

function sum(counts: readonly TurnCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}
