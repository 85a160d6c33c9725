/**
 * `sdk_sessions`: one row per session, written by commits. Here are also the queries for sessions that have something to
 * do, and quarantine: a session whose snapshot cannot be restored keeps its row and its events until its snapshot can be
 * read again, or the user revives or erases it.
 */
import type { Effect } from '../../../machines/session/types.ts'
import { isInboxEvent, type MemoryEvent, sessionNotFound } from '../../domain/event.ts'
import { HAND_WRITTEN_SESSION_PREFIX } from '../../domain/observation.ts'
import type { Commit } from '../commit.ts'
import type { SessionFilter, SessionListItem, StoredSessionRow } from '../port.ts'
import {
  assignmentsSql,
  type Database,
  type FlatUsage,
  nextSeq,
  type SqlValue,
  sql,
  startsWith,
  USAGE_COLUMNS,
  usageColumns,
  whereEqual,
  withUsage,
} from './database.ts'
import { eventKnown, insertHeldEvent } from './events.ts'
import { insertMessage } from './inbox.ts'
import { insertTrace } from './observer-turns.ts'
import { displayNameSql } from './projects.ts'

export function selectRevision(db: Database, session: string): number | undefined {
  return db.get<{ revision: number }>`SELECT revision FROM sdk_sessions WHERE content_session_id = ${session}`?.revision
}

export function insertSession(db: Database, commit: Commit, seq: number): void {
  db.insertRow('sdk_sessions', {
    content_session_id: commit.session,
    trace_count: commit.trace.length,
    created_at_epoch: commit.state.heardAt,
    ...sessionColumns(commit, seq),
  })
}

/** Ends a quarantine too: the commit brings a valid snapshot. */
export function updateSession(db: Database, commit: Commit, seq: number): void {
  db.run`
    UPDATE sdk_sessions SET ${assignmentsSql(sessionColumns(commit, seq))}, quarantine = NULL,
      trace_count = trace_count + ${commit.trace.length}
    WHERE content_session_id = ${commit.session}`
}

function sessionColumns({ session, revision, state }: Commit, seq: number): Record<string, SqlValue> {
  return {
    memory_session_id: `${session}:${state.generation}`,
    project: state.project.key,
    project_name: state.project.name,
    client: state.client,
    cwd: state.cwd,
    transcript_path: state.transcriptPath,
    status: state.status,
    state: state.state,
    revision,
    machine_version: state.machineVersion,
    // Rounded up, because jitter leaves fractions of a millisecond and a wake-up must not come early.
    wake_at: state.wakeAt === null ? null : Math.ceil(state.wakeAt),
    waiting: state.waiting,
    prompts: state.prompts,
    generation: state.generation,
    context_tokens: state.contextTokens,
    ...usageColumns(state.usage),
    seq,
    updated_at_epoch: state.heardAt,
    effect: state.effect === null ? null : JSON.stringify(state.effect),
    snapshot: state.snapshot,
  }
}

type SessionSqlRow = Omit<FlatUsage<StoredSessionRow>, 'project' | 'effect'> & {
  project: string
  projectName: string
  effect: string | null
}

export function selectSession(db: Database, session: string): StoredSessionRow | null {
  const found = db.get<SessionSqlRow>`
    SELECT content_session_id AS session, revision, memory_session_id AS memorySession, created_at_epoch AS createdAt,
      quarantine, seq, project, project_name AS projectName, client, cwd, transcript_path AS transcriptPath,
      updated_at_epoch AS heardAt, status, state, snapshot, machine_version AS machineVersion, wake_at AS wakeAt, effect,
      waiting, prompts, generation, context_tokens AS contextTokens, ${USAGE_COLUMNS}
    FROM sdk_sessions WHERE content_session_id = ${session}`
  if (found === undefined) return null
  const { projectName, ...row } = withUsage(found)
  return {
    ...row,
    project: { key: row.project, name: projectName },
    effect: row.effect === null ? null : parseEffect(row.effect),
  }
}

/** Effects that an older version left in flight have no `offline` and no `starts`. */
function parseEffect(json: string): Effect {
  return { offline: null, starts: 0, ...JSON.parse(json) }
}

/** Enough to see that a prefix is ambiguous. */
const MAX_PREFIX_MATCHES = 100

export function sessionsWithPrefix(db: Database, prefix: string): string[] {
  return db.ids<string>`
    SELECT content_session_id AS id FROM sdk_sessions
    WHERE ${startsWith('content_session_id', prefix)} ORDER BY content_session_id LIMIT ${MAX_PREFIX_MATCHES}`
}

/** Most characters of a request or outcome in a list. */
const LISTED_CHARS = 1_000

const WHOLE_REQUEST = sql`
  SELECT request FROM session_summaries m WHERE m.content_session_id = s.content_session_id AND m.whole = 1`
const FIRST_REQUEST = sql`
  SELECT substr(prompt_text, 1, ${LISTED_CHARS}) FROM user_prompts p
  WHERE p.content_session_id = s.content_session_id AND p.private = 0 ORDER BY p.prompt_number LIMIT 1`
const NEWEST_SUMMARY = sql`
  SELECT substr(coalesce(completed, learned, investigated), 1, ${LISTED_CHARS}) FROM session_summaries m
  WHERE m.content_session_id = s.content_session_id ORDER BY m.whole DESC, m.created_at_epoch DESC LIMIT 1`
const NEWEST_TITLE = sql`
  SELECT title FROM observations o WHERE o.content_session_id = s.content_session_id ORDER BY o.id DESC LIMIT 1`

/** Newest first. */
export function listSessions(db: Database, filter: SessionFilter): SessionListItem[] {
  const where = whereEqual({ 's.status': filter.status, 's.project': filter.project, 's.client': filter.client })
  const messages = (status: string) => sql`
      (SELECT count(*) FROM pending_messages m WHERE m.content_session_id = s.content_session_id AND m.status = ${status})`
  return db.all<SessionListItem>`
    SELECT s.content_session_id AS session, s.project,
      ${displayNameSql('s.project', 's.project_name')} AS projectName, s.client, s.status, s.state, s.prompts,
      ${messages('pending')} AS pending, ${messages('processing')} AS processing, ${messages('failed')} AS failed,
      (SELECT count(*) FROM observations o WHERE o.content_session_id = s.content_session_id) AS observations,
      coalesce((${WHOLE_REQUEST}), (${FIRST_REQUEST})) AS request,
      coalesce((${NEWEST_SUMMARY}), (${NEWEST_TITLE})) AS outcome,
      (SELECT count(*) FROM shown WHERE content_session_id = s.content_session_id) AS given,
      s.waiting, s.quarantine, s.wake_at AS wakeAt, s.created_at_epoch AS createdAt, s.updated_at_epoch AS updatedAt,
      CASE WHEN s.content_session_id LIKE ${`${HAND_WRITTEN_SESSION_PREFIX}%`}
        OR EXISTS (SELECT 1 FROM events e WHERE e.content_session_id = s.content_session_id) THEN NULL
        ELSE (SELECT author FROM observations o WHERE o.content_session_id = s.content_session_id LIMIT 1) END AS author
    FROM sdk_sessions s WHERE ${where}
    ORDER BY s.updated_at_epoch DESC, s.id DESC LIMIT ${filter.limit ?? -1}`
}

/** Sessions with an effect to run again after a start. Quarantined sessions have nothing to do. */
export function selectUnfinishedEffects(db: Database): { session: string; effect: Effect }[] {
  const rows = db.all<{ session: string; effect: string }>`
    SELECT content_session_id AS session, effect FROM sdk_sessions
    WHERE effect IS NOT NULL AND quarantine IS NULL ORDER BY content_session_id`
  return rows.map(({ session, effect }) => ({ session, effect: parseEffect(effect) }))
}

/** Sessions with pending messages that nothing would wake: they have no effect and no wake-up. */
export function selectStrandedSessions(db: Database): string[] {
  return db.ids<string>`
    SELECT s.content_session_id AS id FROM sdk_sessions s
    WHERE s.content_session_id IN (SELECT content_session_id FROM pending_messages WHERE status = 'pending')
      AND s.effect IS NULL AND s.wake_at IS NULL AND s.quarantine IS NULL
    ORDER BY s.content_session_id`
}

/** Sessions whose wake-up is due, or later than any wake-up can be: then the clock was set back. */
export function selectDueSessions(db: Database, now: number, horizonMs: number, limit: number): string[] {
  return db.ids<string>`
    SELECT id FROM (
      SELECT content_session_id AS id, wake_at FROM sdk_sessions
      WHERE wake_at <= ${now} AND quarantine IS NULL
      UNION ALL
      SELECT content_session_id AS id, wake_at FROM sdk_sessions
      WHERE wake_at > ${now + horizonMs} AND quarantine IS NULL
    ) ORDER BY wake_at, id LIMIT ${limit}`
}

export function selectNextWakeAt(db: Database): number | null {
  return db.one<{ wakeAt: number | null }>`
    SELECT min(wake_at) AS wakeAt FROM sdk_sessions WHERE wake_at IS NOT NULL AND quarantine IS NULL`.wakeAt
}

/** Sessions with a wake-up later than `after`. */
export function selectWakeUpsAfter(db: Database, after: number): string[] {
  return db.ids<string>`
    SELECT content_session_id AS id FROM sdk_sessions WHERE wake_at > ${after} AND quarantine IS NULL ORDER BY wake_at, id`
}

/** Time of the newest event of any session; null before the first. Later than now: the clock was set back. */
export function selectNewestActivity(db: Database): number | null {
  return db.one<{ at: number | null }>`SELECT max(updated_at_epoch) AS at FROM sdk_sessions`.at
}

/** The earliest wake-up later than `after` of a session with messages to process; null if there is none. */
export function selectNextWorkAt(db: Database, after: number): number | null {
  return db.one<{ wakeAt: number | null }>`
    SELECT min(wake_at) AS wakeAt FROM sdk_sessions s
    WHERE wake_at > ${after} AND quarantine IS NULL
      AND (effect IS NOT NULL OR waiting IS NOT NULL OR EXISTS (SELECT 1 FROM pending_messages m
        WHERE m.content_session_id = s.content_session_id AND m.status <> 'failed'))`.wakeAt
}

/** What the trace shows as the state of a quarantined session. */
const QUARANTINE_STATE = 'quarantine'

/** The snapshot cannot be restored. The row is kept with the reason; the trace records it as a transition. */
export function quarantineSession(db: Database, session: string, reason: string, at: number): { seq: number } {
  return db.write(() => {
    const row = selectKnownSession(db, session)
    const seq = nextSeq(db)
    db.run`
      UPDATE sdk_sessions SET status = 'failed', quarantine = ${reason}, updated_at_epoch = ${at}, seq = ${seq},
        trace_count = trace_count + 1
      WHERE content_session_id = ${session}`
    const from = row.quarantine === null ? row.state : QUARANTINE_STATE
    const effectId = row.effect?.id ?? null
    insertTrace(db, session, { at, event: 'QUARANTINE', eventId: null, from, to: QUARANTINE_STATE, reason, effectId })
    return { seq }
  })
}

/**
 * Holds an event of a quarantined session, which has no actor, until the session leaves the quarantine: then it is decided
 * like a new one. Retention does not delete payloads of quarantined sessions.
 */
export function acceptForQuarantined(
  db: Database,
  session: string,
  event: MemoryEvent,
  at: number,
): 'accepted' | 'duplicate' {
  return db.write(() => {
    const { prompts } = selectKnownSession(db, session)
    if (eventKnown(db, session, event.id)) return 'duplicate'
    const isMessage = isInboxEvent(event) || event.kind === 'turn_end'
    insertHeldEvent(db, session, event, at, isMessage)
    if (isMessage) insertMessage(db, session, event, prompts, at)
    return 'accepted'
  })
}

function selectKnownSession(db: Database, session: string): StoredSessionRow {
  const row = selectSession(db, session)
  if (row === null) throw sessionNotFound(session)
  return row
}
