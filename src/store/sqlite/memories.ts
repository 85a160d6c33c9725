/** What was learned: observations, summaries, prompts. */
import type { Observation, ObservationType, Summary } from '../../memory/observation.ts'
import type { NewObservation, NewPrompt, NewSummary } from '../commit.ts'
import type { PromptRow } from '../port.ts'
import { all, type Connection, get, run, type Value } from './statement.ts'

/** Where a row belongs: known once for all rows of a commit. */
export interface Origin {
  session: string
  project: string
  seq: number
}

export interface MemoryFilter {
  session?: string
  project?: string
  limit?: number
}

export function insertObservation(db: Connection, origin: Origin, observation: NewObservation): number {
  const { draft } = observation
  return run(
    db,
    `INSERT INTO observations (content_session_id, project, type, title, subtitle, narrative, facts, concepts,
       files_read, files_modified, functions_changed, agent, discovery_tokens, discovery_estimated, sources,
       prompt_number, content_hash, prompt_version, model, effect_id, seq, created_at, created_at_epoch)
     VALUES (@session, @project, @type, @title, @subtitle, @narrative, @facts, @concepts, @filesRead, @filesModified,
       @functionsChanged, @agent, @discoveryTokens, @discoveryEstimated, @sources, @promptNumber, @contentHash,
       @promptVersion, @model, @effectId, @seq, @createdAt, @createdAtEpoch)`,
    {
      ...origin,
      type: draft.type,
      title: draft.title,
      subtitle: draft.subtitle,
      narrative: draft.narrative,
      facts: JSON.stringify(draft.facts),
      concepts: JSON.stringify(draft.concepts),
      filesRead: JSON.stringify(draft.filesRead),
      filesModified: JSON.stringify(draft.filesModified),
      functionsChanged: JSON.stringify(draft.functionsChanged),
      agent: draft.agent,
      discoveryTokens: draft.discoveryTokens,
      discoveryEstimated: draft.discoveryEstimated ? 1 : 0,
      sources: JSON.stringify(observation.sources),
      promptNumber: observation.promptNumber,
      contentHash: observation.contentHash,
      promptVersion: observation.promptVersion,
      model: observation.model,
      effectId: observation.effectId ?? null,
      createdAt: new Date(observation.createdAt).toISOString(),
      createdAtEpoch: observation.createdAt,
    },
  ).id
}

export function insertSummary(db: Connection, origin: Origin, summary: NewSummary): number {
  const { draft } = summary
  return run(
    db,
    `INSERT INTO session_summaries (content_session_id, project, request, investigated, learned, completed, next_steps,
       notes, files_read, files_edited, prompt_number, model, effect_id, seq, created_at, created_at_epoch)
     VALUES (@session, @project, @request, @investigated, @learned, @completed, @nextSteps, @notes, @filesRead,
       @filesEdited, @promptNumber, @model, @effectId, @seq, @createdAt, @createdAtEpoch)`,
    {
      ...origin,
      request: draft.request,
      investigated: draft.investigated,
      learned: draft.learned,
      completed: draft.completed,
      nextSteps: draft.nextSteps,
      notes: draft.notes,
      filesRead: JSON.stringify(draft.filesRead),
      filesEdited: JSON.stringify(draft.filesEdited),
      promptNumber: summary.promptNumber,
      model: summary.model,
      effectId: summary.effectId ?? null,
      createdAt: new Date(summary.createdAt).toISOString(),
      createdAtEpoch: summary.createdAt,
    },
  ).id
}

export function insertPrompt(db: Connection, origin: Origin, prompt: NewPrompt): number {
  return run(
    db,
    `INSERT INTO user_prompts (content_session_id, event_id, prompt_number, prompt_text, private, seq, created_at,
       created_at_epoch)
     VALUES (@session, @eventId, @number, @text, @private, @seq, @createdAt, @at)`,
    {
      session: origin.session,
      seq: origin.seq,
      eventId: prompt.eventId,
      number: prompt.number,
      text: prompt.text,
      private: prompt.private ? 1 : 0,
      at: prompt.at,
      createdAt: new Date(prompt.at).toISOString(),
    },
  ).id
}

export function selectPrompt(db: Connection, session: string, number: number): PromptRow | null {
  const row = get<{ number: number; text: string; private: number; at: number }>(
    db,
    `SELECT prompt_number AS number, prompt_text AS text, private, created_at_epoch AS at FROM user_prompts
     WHERE content_session_id = ? AND prompt_number = ?`,
    [session, number],
  )
  return row === undefined ? null : { ...row, private: row.private === 1 }
}

export interface ObservationRow {
  id: number
  content_session_id: string
  project: string
  type: ObservationType
  title: string | null
  subtitle: string | null
  narrative: string | null
  facts: string
  concepts: string
  files_read: string
  files_modified: string
  functions_changed: string
  agent: string | null
  discovery_tokens: number
  discovery_estimated: number
  sources: string
  prompt_number: number
  content_hash: string
  prompt_version: string | null
  model: string | null
  effect_id: string | null
  created_at_epoch: number
}

export function toObservation(row: ObservationRow): Observation {
  return {
    id: row.id,
    session: row.content_session_id,
    project: row.project,
    type: row.type,
    title: row.title,
    subtitle: row.subtitle,
    narrative: row.narrative,
    facts: JSON.parse(row.facts),
    concepts: JSON.parse(row.concepts),
    filesRead: JSON.parse(row.files_read),
    filesModified: JSON.parse(row.files_modified),
    functionsChanged: JSON.parse(row.functions_changed),
    agent: row.agent,
    discoveryTokens: row.discovery_tokens,
    discoveryEstimated: row.discovery_estimated === 1,
    sources: JSON.parse(row.sources),
    promptNumber: row.prompt_number,
    contentHash: row.content_hash,
    promptVersion: row.prompt_version,
    model: row.model,
    createdAt: row.created_at_epoch,
  }
}

export function selectObservation(db: Connection, id: number): Observation | null {
  const row = get<ObservationRow>(db, 'SELECT * FROM observations WHERE id = ?', [id])
  return row === undefined ? null : toObservation(row)
}

/** Newest first. */
export function selectObservations(db: Connection, filter: MemoryFilter): Observation[] {
  const { where, values } = memoryConditions(filter)
  return all<ObservationRow>(
    db,
    `SELECT * FROM observations WHERE ${where} ORDER BY created_at_epoch DESC, id DESC LIMIT @limit`,
    values,
  ).map(toObservation)
}

/** In the order in which they were learned. */
export function selectObservationsOfPrompt(db: Connection, session: string, prompt: number): Observation[] {
  return all<ObservationRow>(
    db,
    'SELECT * FROM observations WHERE content_session_id = ? AND prompt_number = ? ORDER BY id',
    [session, prompt],
  ).map(toObservation)
}

export interface SummaryRow {
  id: number
  content_session_id: string
  project: string
  request: string | null
  investigated: string | null
  learned: string | null
  completed: string | null
  next_steps: string | null
  notes: string | null
  files_read: string
  files_edited: string
  prompt_number: number
  model: string | null
  effect_id: string | null
  created_at_epoch: number
}

/** Newest first. */
export function selectSummaries(db: Connection, filter: MemoryFilter): Summary[] {
  const { where, values } = memoryConditions(filter)
  return all<SummaryRow>(
    db,
    `SELECT * FROM session_summaries WHERE ${where} ORDER BY created_at_epoch DESC, id DESC LIMIT @limit`,
    values,
  ).map(toSummary)
}

export function toSummary(row: SummaryRow): Summary {
  return {
    id: row.id,
    session: row.content_session_id,
    project: row.project,
    request: row.request,
    investigated: row.investigated,
    learned: row.learned,
    completed: row.completed,
    nextSteps: row.next_steps,
    notes: row.notes,
    filesRead: JSON.parse(row.files_read),
    filesEdited: JSON.parse(row.files_edited),
    promptNumber: row.prompt_number,
    model: row.model,
    createdAt: row.created_at_epoch,
  }
}

function memoryConditions(filter: MemoryFilter): { where: string; values: Record<string, Value> } {
  const conditions = ['TRUE']
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.session !== undefined) {
    conditions.push('content_session_id = @session')
    values.session = filter.session
  }
  if (filter.project !== undefined) {
    conditions.push('project = @project')
    values.project = filter.project
  }
  return { where: conditions.join(' AND '), values }
}
