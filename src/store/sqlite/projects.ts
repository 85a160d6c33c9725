/** Projects are what sessions belong to; the table `projects` holds what was decided about some of them. */
import type { Project } from '../../memory/project.ts'
import type { ProjectFilter, ProjectRow } from '../port.ts'
import type { ListedProject, ProjectContents } from '../project-port.ts'
import { all, type Connection, count, get, type Value } from './statement.ts'

/** The name that people see: one by hand wins over `said`. Both are SQL. */
export function shownName(key: string, said: string): string {
  return `coalesce((SELECT decided.name FROM projects decided WHERE decided.key = ${key}), ${said})`
}

const UNMERGED = 'project NOT IN (SELECT key FROM projects WHERE merged_into IS NOT NULL)'

/** The one that was last heard of first; each has the name by hand, else the one that its newest session gave it. */
export function selectProjects(db: Connection, filter: ProjectFilter): ProjectRow[] {
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.key !== undefined) values.key = filter.key
  if (filter.name !== undefined) values.name = filter.name
  const asked = 'project = coalesce((SELECT merged_into FROM projects WHERE key = @key), @key)'
  return all<ProjectRow>(
    db,
    // Beside max(), SQLite takes bare columns from the row that holds the maximum.
    `SELECT * FROM (SELECT key, ${shownName('heard.key', 'said')} AS name, updatedAt,
       coalesce((SELECT observations FROM project_totals WHERE project = heard.key), 0) AS observations,
       (SELECT min(created_at_epoch) FROM observations WHERE project = heard.key) AS since
     FROM (SELECT project AS key, project_name AS said, max(updated_at_epoch) AS updatedAt
           FROM sdk_sessions WHERE ${filter.key === undefined ? UNMERGED : asked} GROUP BY project) heard)
     ${filter.name === undefined ? '' : 'WHERE name = @name'}
     ORDER BY updatedAt DESC, key LIMIT @limit`,
    values,
  )
}

/** The one that was last heard of first. */
export function selectListed(db: Connection): ListedProject[] {
  const rows = all<Omit<ListedProject, 'named' | 'merged'> & { named: number; merged: string }>(
    db,
    `SELECT key, ${shownName('heard.key', 'said')} AS name, updatedAt, sessions,
       EXISTS (SELECT 1 FROM projects WHERE key = heard.key AND name IS NOT NULL) AS named,
       coalesce((SELECT observations FROM project_totals WHERE project = heard.key), 0) AS observations,
       (SELECT root FROM projects WHERE key = heard.key) AS root,
       (SELECT json_group_array(key) FROM (SELECT key FROM projects WHERE merged_into = heard.key ORDER BY key)) AS merged
     FROM (SELECT project AS key, project_name AS said, max(updated_at_epoch) AS updatedAt, count(*) AS sessions
           FROM sdk_sessions WHERE ${UNMERGED} GROUP BY project) heard
     ORDER BY updatedAt DESC, key`,
  )
  return rows.map((row) => ({ ...row, named: row.named === 1, merged: JSON.parse(row.merged) }))
}

export function selectContents(db: Connection, key: string): ProjectContents {
  const of = (what: string) => count(db, `SELECT count(*) AS n FROM ${what}`, [key])
  return {
    sessions: of('sdk_sessions WHERE project = ?'),
    observations: of('observations WHERE project = ?'),
    summaries: of('session_summaries WHERE project = ?'),
    prompts: of('search_rows WHERE project = ? AND id & 3 = 2'),
  }
}

/** Where something of this project is filed: of a merged one, under the other's key and name. */
export function filedUnder(db: Connection, project: Project): Project {
  const decided = get<{ key: string | null }>(db, 'SELECT merged_into AS key FROM projects WHERE key = ?', [
    project.key,
  ])
  const key = decided?.key ?? null
  return key === null ? project : { key, name: newestName(db, key) ?? project.name }
}

/** As its newest session says. */
export function newestName(db: Connection, key: string): string | null {
  const newest =
    'SELECT project_name AS name FROM sdk_sessions WHERE project = ? ORDER BY updated_at_epoch DESC LIMIT 1'
  return get<{ name: string }>(db, newest, [key])?.name ?? null
}
