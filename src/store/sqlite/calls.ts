/** Calls to models: what left the machine, what came back, what it cost. */
import type { ModelCall } from '../../memory/call.ts'
import type { CallFilter, CallRow } from '../accounting.ts'
import type { Commit } from '../commit.ts'
import type { CallFigures } from '../origin-port.ts'
import { shownName } from './projects.ts'
import { all, type Connection, run, type Value } from './statement.ts'

export function insertCalls(db: Connection, commit: Commit): void {
  const settled = new Set(commit.inbox.flatMap((change) => (change.do === 'settle' ? [change.effectId] : [])))
  // An effect that was asked again is settled by the last answer that could be used: its observations are of that one.
  const answered = commit.calls.findLast(({ error, effectId }) => error === null && settled.has(effectId))
  const made = commit.observations.filter(({ model }) => model !== null).length
  for (const call of commit.calls) insertCall(db, commit, call, call === answered ? made : 0)
}

function insertCall(db: Connection, { session, state }: Commit, call: ModelCall, observations: number): void {
  run(
    db,
    `INSERT INTO calls (content_session_id, project, project_name, effect_id, kind, provider, model, prompt_version,
       at, duration_ms, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost, observations, error,
       sent, received)
     VALUES (@session, @project, @projectName, @effectId, @kind, @provider, @model, @promptVersion, @at, @durationMs,
       @input, @output, @cacheRead, @cacheWrite, @cost, @observations, @error, @sent, @received)`,
    {
      session,
      project: state.project.key,
      projectName: state.project.name,
      effectId: call.effectId,
      kind: call.kind,
      provider: call.provider,
      model: call.model,
      promptVersion: call.promptVersion,
      at: call.at,
      durationMs: call.durationMs,
      ...call.usage,
      cost: call.cost,
      observations,
      error: call.error,
      sent: call.sent,
      received: call.received,
    },
  )
}

interface StoredFigures {
  id: number
  content_session_id: string | null
  project: string
  shown_name: string
  effect_id: string
  kind: ModelCall['kind']
  provider: string
  model: string
  prompt_version: string | null
  at: number
  duration_ms: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost: number | null
  observations: number
  error: string | null
}

interface StoredCall extends StoredFigures {
  sent: string | null
  received: string | null
}

const FIGURES = `id, content_session_id, project, ${shownName('project', 'project_name')} AS shown_name, effect_id,
  kind, provider, model, prompt_version, at, duration_ms, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, cost, observations, error`

/** An effect is asked for a handful of times at most; this keeps an answer small whatever happened. */
const MAX_CALLS_OF_EFFECT = 100

/** Without their words, in their order. */
export function selectCallsOfEffect(db: Connection, session: string, effectId: string): CallFigures[] {
  return all<StoredFigures>(
    db,
    // The plus leaves the choice to the index of effects: a session may have very many calls.
    `SELECT ${FIGURES} FROM calls WHERE effect_id = @effectId AND +content_session_id = @session
     ORDER BY id LIMIT ${MAX_CALLS_OF_EFFECT}`,
    { session, effectId },
  ).map(toFigures)
}

/** The newest `limit` without their words, oldest of them first. */
export function selectCallFigures(db: Connection, session: string, limit: number): CallFigures[] {
  return all<StoredFigures>(
    db,
    `SELECT ${FIGURES} FROM calls WHERE content_session_id = @session ORDER BY id DESC LIMIT @limit`,
    { session, limit },
  )
    .reverse()
    .map(toFigures)
}

/** The newest `limit`, oldest of them first. */
export function selectCalls(db: Connection, filter: CallFilter): CallRow[] {
  const conditions = ['TRUE']
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.session !== undefined) {
    conditions.push('content_session_id = @session')
    values.session = filter.session
  }
  if (filter.effectId !== undefined) {
    conditions.push('effect_id = @effectId')
    values.effectId = filter.effectId
  }
  if (filter.since !== undefined) {
    conditions.push('at >= @since')
    values.since = filter.since
  }
  return all<StoredCall>(
    db,
    `SELECT *, ${shownName('project', 'project_name')} AS shown_name FROM calls
     WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT @limit`,
    values,
  )
    .reverse()
    .map(toCall)
}

function toCall(row: StoredCall): CallRow {
  return { ...toFigures(row), sent: row.sent, received: row.received }
}

function toFigures(row: StoredFigures): CallFigures {
  return {
    id: row.id,
    session: row.content_session_id,
    project: row.project,
    projectName: row.shown_name,
    effectId: row.effect_id,
    kind: row.kind,
    provider: row.provider,
    model: row.model,
    promptVersion: row.prompt_version,
    at: row.at,
    durationMs: row.duration_ms,
    usage: {
      input: row.input_tokens,
      output: row.output_tokens,
      cacheRead: row.cache_read_tokens,
      cacheWrite: row.cache_write_tokens,
    },
    cost: row.cost,
    observations: row.observations,
    error: row.error,
  }
}
