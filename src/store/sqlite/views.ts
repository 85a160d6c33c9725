/** Answers that combine several tables: one session, one event, the provenance of an observation, activity over time. */
import { isHandWritten, OBSERVATION_TYPES, type ObservationType } from '../../domain/observation.ts'
import type {
  ActivityReport,
  EventView,
  ObservationProvenance,
  ReceivedSession,
  SessionStory,
  SessionView,
  StoreStats,
  TraceRow,
} from '../port.ts'
import { selectCallFigures, selectCallsOfEffect } from './calls.ts'
import { selectGiven } from './context.ts'
import { type Database, raw } from './database.ts'
import { selectEvent, selectSourceEvents } from './events.ts'
import { selectMessage, selectQueue, selectQueueDepth, selectQueueStats } from './inbox.ts'
import {
  OBSERVATION_COLUMNS,
  type ObservationRow,
  SUMMARY_COLUMNS,
  type SummaryRow,
  selectObservationsById,
  selectPrompt,
  selectPrompts,
  toObservation,
  toSummary,
} from './memories.ts'
import { selectTrace, selectTraceOfEffect, selectTraceOfEvent } from './observer-turns.ts'
import { newestName, selectGivenName } from './projects.ts'
import { selectSession } from './sessions.ts'

export function selectSessionView(db: Database, session: string, traceLimit: number): SessionView | null {
  const row = selectSession(db, session)
  if (row === null) return null
  const { key, name } = row.project
  const count = (table: string) =>
    db.number`SELECT count(*) AS n FROM ${raw(table)} WHERE content_session_id = ${session}`
  return {
    row: { ...row, project: { key, name: selectGivenName(db, key) ?? name } },
    messages: selectQueue(db, { session }),
    trace: selectTrace(db, session, traceLimit),
    traceDropped: db.number`SELECT trace_dropped AS n FROM sdk_sessions WHERE content_session_id = ${session}`,
    observations: count('observations'),
    summaries: count('session_summaries'),
    received: selectReceivedFrom(db, session),
  }
}

/** Tables of memories that come with a session from another machine. */
const RECEIVED_TABLES = ['observations', 'session_summaries', 'passages']

/**
 * Null for a session of this machine: one with events, or whose memories were all learned here. Notes that were written by
 * hand are in one session per project on every machine: it is nobody's.
 */
export function selectReceivedFrom(db: Database, session: string): ReceivedSession | null {
  if (isHandWritten({ session })) return null
  if (db.exists`SELECT 1 FROM events WHERE content_session_id = ${session}`) return null
  for (const table of RECEIVED_TABLES) {
    const found = db.get<ReceivedSession>`
      SELECT author, machine FROM ${raw(table)} WHERE content_session_id = ${session} AND author IS NOT NULL LIMIT 1`
    if (found !== undefined) return found
  }
  return null
}

/** `dayStart`: when today started in the user's time zone. */
export function selectStats(db: Database, dayStart: number): StoreStats {
  return {
    ...selectQueueStats(db),
    observationsToday: db.number`SELECT count(*) AS n FROM observations WHERE created_at_epoch >= ${dayStart}`,
    observations: db.number`SELECT count(*) AS n FROM observations`,
    sessionsTotal: db.number`SELECT count(*) AS n FROM sdk_sessions`,
    sessionsActive: db.number`SELECT count(*) AS n FROM sdk_sessions WHERE status = 'active'`,
    databaseBytes: db.number`SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()`,
  }
}

/** Of each kind the newest `rows`, oldest first. */
export function selectSessionHistory(
  db: Database,
  session: string,
  limits: { trace: number; rows: number },
): SessionStory | null {
  const rows = Math.max(0, limits.rows)
  const view = selectSessionView(db, session, Math.max(0, limits.trace))
  if (view === null) return null
  return {
    ...view,
    prompts: selectPrompts(db, session, rows),
    observationRows: selectStoryObservations(db, session, rows),
    summaryRows: selectStorySummaries(db, session, rows),
    calls: selectCallFigures(db, session, rows),
    given: selectGiven(db, session),
    outcomes: db.all<SessionStory['outcomes'][number]>`
      SELECT kind, outcome, count(*) AS count FROM events WHERE content_session_id = ${session}
      GROUP BY kind, outcome ORDER BY kind, outcome`,
  }
}

function selectStoryObservations(db: Database, session: string, limit: number): SessionStory['observationRows'] {
  return db.all<ObservationRow & { effectId: string | null }>`
    SELECT ${OBSERVATION_COLUMNS}, o.effect_id AS effectId FROM observations o
    WHERE o.content_session_id = ${session} ORDER BY o.id DESC LIMIT ${limit}`
    .reverse()
    .map(toObservation)
}

function selectStorySummaries(db: Database, session: string, limit: number): SessionStory['summaryRows'] {
  return db.all<SummaryRow & { effectId: string | null }>`
    SELECT ${SUMMARY_COLUMNS}, m.effect_id AS effectId FROM session_summaries m
    WHERE m.content_session_id = ${session} ORDER BY m.created_at_epoch DESC, m.id DESC LIMIT ${limit}`
    .reverse()
    .map(({ effectId, ...row }) => ({ ...toSummary(row), effectId }))
}

/** What an observation was made from. Every step uses an index. */
export function selectProvenance(db: Database, observation: number): ObservationProvenance | null {
  type Source = { session: string; client: string | null; prompt: number; sources: string; effectId: string | null }
  const row = db.get<Source>`
    SELECT o.content_session_id AS session, s.client, o.prompt_number AS prompt, o.sources, o.effect_id AS effectId
    FROM observations o LEFT JOIN sdk_sessions s ON s.content_session_id = o.content_session_id
    WHERE o.id = ${observation}`
  if (row === undefined) return null
  const { session, client, prompt, sources, effectId } = row
  return {
    client,
    prompt: selectPrompt(db, session, prompt),
    events: selectSourceEvents(db, session, sources),
    effectId,
    calls: effectId === null ? [] : selectCallsOfEffect(db, session, effectId),
    trace: effectId === null ? [] : selectTraceOfEffect(db, session, effectId),
  }
}

/** What became of an event, given by the id that its hook made. `session` null: in the newest session that has it. */
export function selectEventView(db: Database, eventId: string, session: string | null): EventView | null {
  const event = selectEvent(db, eventId, session)
  if (event === null) return null
  const message = selectMessage(db, event.session, eventId)
  const effectId = event.effectId ?? message?.effectId ?? null
  const accepted = selectTraceOfEvent(db, event.session, eventId)
  return {
    event,
    message,
    observations: selectObservationsById(
      db,
      event.observationIds.toSorted((a, b) => a - b),
    ),
    calls: effectId === null ? [] : selectCallsOfEffect(db, event.session, effectId),
    trace: effectId === null ? accepted : mergeTraces(accepted, selectTraceOfEffect(db, event.session, effectId)),
  }
}

/** In their order, each once. */
function mergeTraces(...lists: readonly (readonly TraceRow[])[]): TraceRow[] {
  const byId = new Map(lists.flat().map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => a.id - b.id)
}

/** Projects with their own line in the chart; more would not be distinguishable. The days count all projects. */
const MAX_ACTIVE_PROJECTS = 50

type ActivityDay = ActivityReport['days'][number]

interface DayCount {
  project: string
  type: ObservationType
  observations: number
  tokens: number
}

export function selectActivity(db: Database, dayStarts: readonly number[], until: number): ActivityReport {
  const days: ActivityDay[] = []
  const byProject = new Map<string, number[]>()
  for (const [i, start] of dayStarts.entries()) {
    const end = dayStarts[i + 1] ?? until
    const counts = selectDayCounts(db, start, end)
    days.push(toActivityDay(db, counts, start, end))
    for (const { project, observations } of counts) {
      const perDay = byProject.get(project) ?? dayStarts.map(() => 0)
      perDay[i] = (perDay[i] ?? 0) + observations
      byProject.set(project, perDay)
    }
  }
  const [first] = dayStarts
  return {
    dayStarts: [...dayStarts],
    days,
    projects: mostActive(byProject).map((project) => ({
      ...project,
      name: selectGivenName(db, project.key) ?? newestName(db, project.key) ?? project.key,
    })),
    queue: first === undefined ? [] : selectQueueDepth(db, first, until),
  }
}

/** Answered from one covering index, without reading the rows. */
function selectDayCounts(db: Database, since: number, until: number): DayCount[] {
  return db.all<DayCount>`
    SELECT project, type, count(*) AS observations, sum(discovery_tokens) AS tokens FROM observations
    WHERE created_at_epoch >= ${since} AND created_at_epoch < ${until} GROUP BY project, type`
}

function toActivityDay(db: Database, counts: readonly DayCount[], since: number, until: number): ActivityDay {
  const types: ActivityDay['types'] = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }
  for (const { type, observations } of counts) types[type] += observations
  const countBetween = (table: string) =>
    db.number`
      SELECT count(*) AS n FROM ${raw(table)} WHERE created_at_epoch >= ${since} AND created_at_epoch < ${until}`
  return {
    observations: OBSERVATION_TYPES.reduce((sum, type) => sum + types[type], 0),
    summaries: countBetween('session_summaries'),
    prompts: countBetween('user_prompts'),
    types,
    discoveryTokens: counts.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function mostActive(byProject: ReadonlyMap<string, number[]>): { key: string; observations: number; days: number[] }[] {
  return [...byProject]
    .map(([key, days]) => ({ key, observations: days.reduce((sum, n) => sum + n, 0), days }))
    .sort((a, b) => b.observations - a.observations || (a.key < b.key ? -1 : 1))
    .slice(0, MAX_ACTIVE_PROJECTS)
}
