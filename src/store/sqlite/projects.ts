/** Projects are not a table: they are what sessions belong to. */
import type { ProjectFilter, ProjectRow } from '../port.ts'
import { all, type Connection, type Value } from './statement.ts'

/** The one that was last heard of first; each has the name that its newest session gave it. */
export function selectProjects(db: Connection, filter: ProjectFilter): ProjectRow[] {
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.key !== undefined) values.key = filter.key
  if (filter.name !== undefined) values.name = filter.name
  return all<ProjectRow>(
    db,
    // Beside max(), SQLite takes bare columns from the row that holds the maximum.
    `SELECT key, name, updatedAt,
       (SELECT count(*) FROM observations WHERE project = key) AS observations,
       (SELECT min(created_at_epoch) FROM observations WHERE project = key) AS since
     FROM (SELECT project AS key, project_name AS name, max(updated_at_epoch) AS updatedAt
           FROM sdk_sessions ${filter.key === undefined ? '' : 'WHERE project = @key'} GROUP BY project)
     ${filter.name === undefined ? '' : 'WHERE name = @name'}
     ORDER BY updatedAt DESC, key LIMIT @limit`,
    values,
  )
}
