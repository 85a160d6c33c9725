/** What the context of a session is chosen from: every statement here reads an index's beginning, never a whole project. */
import { OBSERVATION_TYPES, type Observation, type ObservationType } from '../../memory/observation.ts'
import type { Project } from '../../memory/project.ts'
import type { Alias, ContextMaterial, ContextQuery, ProjectTotals } from '../context-port.ts'
import { type ObservationRow, selectSummaries, toObservation } from './memories.ts'
import { all, type Connection, get } from './statement.ts'

/** Null where nobody has heard of the project. */
export function selectContextMaterial(db: Connection, query: ContextQuery): ContextMaterial | null {
  const project = selectName(db, query.project)
  if (project === null) return null
  const pinned = selectPinned(db, query.project, query.pinned)
  const isPinned = new Set(pinned.map(({ id }) => id))
  const seen = newestSeen(db, query).filter(({ id }) => !isPinned.has(id))
  const ids = seen.filter(({ superseded }) => superseded === 0).map(({ id }) => id)
  return {
    project,
    totals: selectTotals(db, query.project),
    observations: selectByIds(db, ids),
    pinned,
    summaries: selectSummaries(db, { project: query.project, limit: query.summaries }),
    repeats: selectRepeats(db, [...ids, ...isPinned]),
    superseded: seen.length - ids.length,
  }
}

export function selectAliases(db: Connection, key: string): Alias[] {
  const sql = 'SELECT key, root IS NULL AS moved FROM projects WHERE merged_into = ? ORDER BY key'
  return all<{ key: string; moved: number }>(db, sql, [key]).map((row) => ({ key: row.key, moved: row.moved === 1 }))
}

/** A name that was given by hand counts before the one that the newest session had. */
function selectName(db: Connection, key: string): Project | null {
  const row = get<{ name: string | null }>(
    db,
    `SELECT coalesce((SELECT name FROM projects WHERE key = @key),
       (SELECT project_name FROM sdk_sessions WHERE project = @key ORDER BY updated_at_epoch DESC LIMIT 1)) AS name`,
    { key },
  )
  return row === undefined || row.name === null ? null : { key, name: row.name }
}

function selectTotals(db: Connection, project: string): ProjectTotals {
  const totals = get<ProjectTotals>(
    db,
    `SELECT observations, discovery_tokens AS discoveryTokens,
       (SELECT min(created_at_epoch) FROM observations o WHERE o.project = t.project) AS since
     FROM project_totals t WHERE project = ?`,
    [project],
  )
  return totals ?? { observations: 0, discoveryTokens: 0, since: null }
}

interface Seen {
  id: number
  at: number
  superseded: number
}

/** Newest first: those of all types that are asked for, and beyond them some of each. */
function newestSeen(db: Connection, { project, types, observations, ofEachType }: ContextQuery): Seen[] {
  const ofTypes = (limit: number) => types.flatMap((type) => newestOfType(db, project, type, limit))
  const newest = OBSERVATION_TYPES.every((type) => types.includes(type))
    ? newestOfAll(db, project, observations)
    : ofTypes(observations).sort(newestFirst).slice(0, observations)
  const seen = new Map([...newest, ...ofTypes(ofEachType)].map((one) => [one.id, one]))
  return [...seen.values()].sort(newestFirst)
}

function newestFirst(a: Seen, b: Seen): number {
  return b.at - a.at || b.id - a.id
}

const SEEN = `id, created_at_epoch AS at,
  EXISTS (SELECT 1 FROM links WHERE to_id = observations.id AND kind = 'supersedes') AS superseded`

function newestOfAll(db: Connection, project: string, limit: number): Seen[] {
  return all<Seen>(
    db,
    `SELECT ${SEEN} FROM observations INDEXED BY observations_project
     WHERE project = ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?`,
    [project, limit],
  )
}

function newestOfType(db: Connection, project: string, type: ObservationType, limit: number): Seen[] {
  return all<Seen>(
    db,
    `SELECT ${SEEN} FROM observations INDEXED BY observations_type
     WHERE project = ? AND type = ? ORDER BY created_at_epoch DESC, id DESC LIMIT ?`,
    [project, type, limit],
  )
}

/** In the order of the ids. */
function selectByIds(db: Connection, ids: readonly number[]): Observation[] {
  return all<ObservationRow>(
    db,
    'SELECT o.* FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value ORDER BY wanted.key',
    [JSON.stringify(ids)],
  ).map(toObservation)
}

/** Pins are made by hand, one by one: there are few of them in all projects together. */
function selectPinned(db: Connection, project: string, limit: number): Observation[] {
  return all<ObservationRow>(
    db,
    `SELECT o.* FROM pins p CROSS JOIN observations o ON o.id = p.id WHERE o.project = ?
     ORDER BY p.at DESC, p.id DESC LIMIT ?`,
    [project, limit],
  ).map(toObservation)
}

function selectRepeats(db: Connection, ids: readonly number[]): { from: number; to: number }[] {
  return all<{ from: number; to: number }>(
    db,
    `SELECT l.from_id AS "from", l.to_id AS "to" FROM json_each(?) wanted CROSS JOIN links l ON l.from_id = wanted.value
     WHERE l.kind = 'repeats' ORDER BY l.from_id, l.to_id`,
    [JSON.stringify(ids)],
  )
}
