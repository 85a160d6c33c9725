/** `calls`: what was sent to a model, what it answered and what it cost; and the sums by day, project, session or model. */

import { type ModelCall, UNKNOWN_OUTCOME } from '../../domain/model-call.ts'
import type { Project } from '../../domain/project.ts'
import type { Commit } from '../commit.ts'
import type {
  CallFigures,
  CallFilter,
  CallRow,
  SpentAmount,
  UsageFilter,
  UsageKey,
  UsageSums,
  UsageTotals,
} from '../port.ts'
import {
  assignmentsSql,
  type Database,
  EMPTY_SQL,
  type FlatUsage,
  type Sql,
  sql,
  USAGE_COLUMNS,
  usageColumns,
  whereEqual,
  withUsage,
} from './database.ts'
import { displayNameSql } from './projects.ts'

export function insertCalls(db: Database, commit: Commit): void {
  const changes = commit.inbox.flatMap((update) => update.changes)
  const settled = new Set(changes.flatMap((change) => (change.type === 'settle' ? [change.effectId] : [])))
  // After a retry the effect is settled by its last successful call: the observations come from that one.
  const successful = commit.calls.findLast(({ error, effectId }) => error === null && settled.has(effectId))
  const observations = commit.observations.filter(({ model }) => model !== null).length
  const owner = { session: commit.session, project: commit.state.project }
  for (const call of commit.calls) writeCall(db, owner, call, call === successful ? observations : 0)
}

/** Calls of no session, such as those of an erased one or of a replay: they count for the cost and the budget, without their texts. */
export function recordCalls(db: Database, project: Project, calls: readonly ModelCall[]): void {
  db.write(() => {
    for (const call of calls) {
      const error = call.error === null || call.error === UNKNOWN_OUTCOME ? call.error : 'failed'
      writeCall(db, { session: null, project }, { ...call, error, sent: null, received: null }, 0)
    }
  })
}

interface CallOwner {
  session: string | null
  project: Project
}

/** A call has a row since it began: its result replaces the estimate. */
function writeCall(
  db: Database,
  { session, project }: CallOwner,
  call: Omit<ModelCall, 'sent'> & { sent: string | null },
  observations: number,
): void {
  const row = {
    content_session_id: session,
    project: project.key,
    project_name: project.name,
    effect_id: call.effectId,
    kind: call.kind,
    provider: call.provider,
    model: call.model,
    prompt_version: call.promptVersion,
    at: call.at,
    duration_ms: call.durationMs,
    ...usageColumns(call.usage),
    cost: call.cost,
    observations,
    error: call.error,
    sent: call.sent,
    received: call.received,
    call_id: call.callId,
  }
  const { changes } = db.run`UPDATE calls SET ${assignmentsSql(row)} WHERE call_id = ${call.callId}`
  if (changes === 0) db.insertRow('calls', row)
}

const FIGURES = sql`id, content_session_id AS session, project, ${displayNameSql('project', 'project_name')} AS projectName,
  effect_id AS effectId, kind, provider, model, prompt_version AS promptVersion, at, duration_ms AS durationMs,
  ${USAGE_COLUMNS}, cost, observations, error`

/** An effect has few calls; this bounds the answer in any case. */
const MAX_CALLS_OF_EFFECT = 100

/** In their order. */
export function selectCallsOfEffect(db: Database, session: string, effectId: string): CallFigures[] {
  // The plus makes SQLite use the index of effects: a session may have very many calls.
  return db.all<FlatUsage<CallFigures>>`
    SELECT ${FIGURES} FROM calls WHERE effect_id = ${effectId} AND +content_session_id = ${session}
    ORDER BY id LIMIT ${MAX_CALLS_OF_EFFECT}`.map(withUsage)
}

/** The newest `limit`, oldest first. */
export function selectCallFigures(db: Database, session: string, limit: number): CallFigures[] {
  return db.all<FlatUsage<CallFigures>>`
    SELECT ${FIGURES} FROM calls WHERE content_session_id = ${session} ORDER BY id DESC LIMIT ${limit}`
    .reverse()
    .map(withUsage)
}

/** The newest `limit`, oldest first. */
export function selectCalls(db: Database, { session, effectId, since, limit = -1 }: CallFilter): CallRow[] {
  const where = whereEqual({ content_session_id: session, effect_id: effectId })
  return db.all<FlatUsage<CallRow>>`
    SELECT ${FIGURES}, sent, received FROM calls
    WHERE ${where} ${since === undefined ? EMPTY_SQL : sql`AND at >= ${since}`}
    ORDER BY id DESC LIMIT ${limit}`
    .reverse()
    .map(withUsage)
}

const SUM_COLUMNS = sql`count(*) AS calls, count(error) AS failed, coalesce(sum(input_tokens), 0) AS input,
  coalesce(sum(output_tokens), 0) AS output, coalesce(sum(cache_read_tokens), 0) AS cacheRead,
  coalesce(sum(cache_write_tokens), 0) AS cacheWrite, total(cost) AS cost,
  count(*) FILTER (WHERE cost IS NULL
    AND input_tokens + output_tokens + cache_read_tokens + cache_write_tokens > 0) AS unpriced,
  coalesce(sum(observations), 0) AS observations`

/** Next to max(), SQLite takes bare columns from the row with the maximum: the newest name of a project. */
const USAGE_GROUPS: Record<Exclude<UsageKey, 'day'>, { columns: Sql; by: Sql }> = {
  project: { columns: sql`project AS key, ${displayNameSql('project', 'project_name')} AS name`, by: sql`project` },
  session: {
    columns: sql`coalesce(content_session_id, '') AS key, ${displayNameSql('project', 'project_name')} AS name`,
    by: sql`content_session_id`,
  },
  model: { columns: sql`model AS key, provider AS name`, by: sql`provider, model` },
}

/** The end of an open period. */
const NEVER = Number.MAX_SAFE_INTEGER

/** Days in their order, other keys with the most expensive first. Keys without calls are left out. */
export function selectUsage(db: Database, filter: UsageFilter): UsageTotals[] {
  if (filter.by === 'day') return selectDays(db, filter.dayStarts)
  const { columns, by } = USAGE_GROUPS[filter.by]
  return db.all<FlatUsage<UsageTotals>>`
    SELECT ${columns}, max(at) AS at, ${SUM_COLUMNS} FROM calls
    WHERE at >= ${filter.since} AND at < ${filter.until ?? NEVER} GROUP BY ${by}
    ORDER BY cost DESC, input + output + cacheRead + cacheWrite DESC, key, name`.map(withUsage)
}

function selectDays(db: Database, starts: readonly number[]): UsageTotals[] {
  return starts
    .map((start, i) => ({
      key: String(start),
      name: null,
      at: start,
      ...sumBetween(db, start, starts[i + 1] ?? NEVER),
    }))
    .filter(({ calls }) => calls > 0)
}

function sumBetween(db: Database, since: number, until: number): UsageSums {
  return withUsage(
    db.one<FlatUsage<UsageSums>>`SELECT ${SUM_COLUMNS} FROM calls WHERE at >= ${since} AND at < ${until}`,
  )
}

export function selectSpentSince(db: Database, since: number): SpentAmount {
  const { cost, usage } = sumBetween(db, since, NEVER)
  return { cost, usage }
}
