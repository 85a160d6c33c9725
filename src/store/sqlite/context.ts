/**
 * What the context of a session is selected from. Every statement reads the start of an index, never a whole project.
 * `shown`: observations that a session got with its prompts, so that none is given twice.
 */
import { OBSERVATION_TYPES, type Observation, type ObservationType } from '../../domain/observation.ts'
import type { Project } from '../../domain/project.ts'
import type { ContextMaterial, ContextQuery, ProjectAlias, ProjectTotals } from '../port.ts'
import { all, type Database, get, run } from './database.ts'
import {
  OBSERVATION_COLUMNS,
  type ObservationRow,
  selectObservationsById,
  selectSummaries,
  toObservation,
} from './memories.ts'

/** Null for an unknown project. */
export function selectContextMaterial(db: Database, query: ContextQuery): ContextMaterial | null {
  const project = selectProjectName(db, query.project)
  if (project === null) return null
  const pinned = selectPinned(db, query.project, query.pinned)
  const isPinned = new Set(pinned.map(({ id }) => id))
  const candidates = newestCandidates(db, query).filter(({ id }) => !isPinned.has(id))
  const ids = candidates.filter(({ superseded }) => superseded === 0).map(({ id }) => id)
  return {
    project,
    totals: selectTotals(db, query.project),
    observations: selectObservationsById(db, ids),
    pinned,
    summaries: selectSummaries(db, { project: query.project, limit: query.summaries }),
    repeats: selectRepeats(db, [...ids, ...isPinned]),
    superseded: candidates.length - ids.length,
  }
}

export function selectAliases(db: Database, key: string): ProjectAlias[] {
  const sql = 'SELECT key, root IS NULL AS moved FROM projects WHERE merged_into = ? ORDER BY key'
  return all<{ key: string; moved: number }>(db, sql, [key]).map((row) => ({ key: row.key, moved: row.moved === 1 }))
}

/** The name given by hand, else the one of the newest session. */
function selectProjectName(db: Database, key: string): Project | null {
  const row = get<{ name: string | null }>(
    db,
    `SELECT coalesce((SELECT name FROM projects WHERE key = @key),
       (SELECT project_name FROM sdk_sessions WHERE project = @key ORDER BY updated_at_epoch DESC LIMIT 1)) AS name`,
    { key },
  )
  return row === undefined || row.name === null ? null : { key, name: row.name }
}

function selectTotals(db: Database, project: string): ProjectTotals {
  const totals = get<ProjectTotals>(
    db,
    `SELECT observations, discovery_tokens AS discoveryTokens,
       (SELECT min(created_at_epoch) FROM observations o WHERE o.project = t.project) AS since
     FROM project_totals t WHERE project = ?`,
    [project],
  )
  return totals ?? { observations: 0, discoveryTokens: 0, since: null }
}

interface Candidate {
  id: number
  at: number
  superseded: number
}

/** Newest first: the newest of all requested types, and in addition some of each type. */
function newestCandidates(db: Database, { project, types, observations, ofEachType }: ContextQuery): Candidate[] {
  const ofTypes = (limit: number) => types.flatMap((type) => newestOfType(db, project, type, limit))
  const newest = OBSERVATION_TYPES.every((type) => types.includes(type))
    ? newestOfAll(db, project, observations)
    : ofTypes(observations).sort(newestFirst).slice(0, observations)
  const byId = new Map([...newest, ...ofTypes(ofEachType)].map((candidate) => [candidate.id, candidate]))
  return [...byId.values()].sort(newestFirst)
}

function newestFirst(a: Candidate, b: Candidate): number {
  return b.at - a.at || b.id - a.id
}

const CANDIDATE_COLUMNS = `id, created_at_epoch AS at,
  EXISTS (SELECT 1 FROM links WHERE to_id = observations.id AND kind = 'supersedes') AS superseded`

function newestOfAll(db: Database, project: string, limit: number): Candidate[] {
  return all<Candidate>(
    db,
    `SELECT ${CANDIDATE_COLUMNS} FROM observations INDEXED BY observations_project
     WHERE project = ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?`,
    [project, limit],
  )
}

function newestOfType(db: Database, project: string, type: ObservationType, limit: number): Candidate[] {
  return all<Candidate>(
    db,
    `SELECT ${CANDIDATE_COLUMNS} FROM observations INDEXED BY observations_type
     WHERE project = ? AND type = ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?`,
    [project, type, limit],
  )
}

/** Pins are made by hand, so there are few of them in all projects together. */
function selectPinned(db: Database, project: string, limit: number): Observation[] {
  return all<ObservationRow>(
    db,
    `SELECT ${OBSERVATION_COLUMNS} FROM pins p CROSS JOIN observations o ON o.id = p.id WHERE o.project = ?
     ORDER BY p.at DESC, p.id DESC LIMIT ?`,
    [project, limit],
  ).map(toObservation)
}

function selectRepeats(db: Database, ids: readonly number[]): { from: number; to: number }[] {
  return all<{ from: number; to: number }>(
    db,
    `SELECT l.from_id AS "from", l.to_id AS "to" FROM json_each(?) wanted CROSS JOIN links l ON l.from_id = wanted.value
     WHERE l.kind = 'repeats' ORDER BY l.from_id, l.to_id`,
    [JSON.stringify(ids)],
  )
}

export function selectShown(db: Database, session: string): number[] {
  return all<{ id: number }>(db, 'SELECT observation_id AS id FROM shown WHERE content_session_id = ?', [session]).map(
    ({ id }) => id,
  )
}

/**
 * Returns those that were not shown before, and marks them. None for an unknown session. One statement, so that of two
 * hooks at the same time only one gets an observation.
 */
export function insertShown(db: Database, session: string, observations: readonly number[], at: number): number[] {
  return all<{ id: number }>(
    db,
    `INSERT INTO shown (content_session_id, observation_id, at)
     SELECT s.content_session_id, o.id, @at FROM sdk_sessions s, json_each(@ids) wanted
       JOIN observations o ON o.id = wanted.value WHERE s.content_session_id = @session
     ON CONFLICT DO NOTHING RETURNING observation_id AS id`,
    { session, at, ids: JSON.stringify(observations) },
  ).map(({ id }) => id)
}

/** The client emptied its conversation: everything may be shown again. */
export function deleteShown(db: Database, session: string): void {
  run(db, 'DELETE FROM shown WHERE content_session_id = ?', [session])
}
