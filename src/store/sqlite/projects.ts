/**
 * Projects exist through their sessions. The table `projects` has a row only for a project with settings: a name given
 * by hand, a merge into another project, its working tree.
 */
import type { Project } from '../../domain/project.ts'
import { travellingName } from '../../domain/repository.ts'
import type {
  DirectoryUpdate,
  ProjectContents,
  ProjectFilter,
  ProjectOverview,
  ProjectRow,
  ProjectSettings,
  ProjectUpdate,
} from '../port.ts'
import { type Database, EMPTY_SQL, nextSeq, raw, type Sql, type Stored, sql, whereEqual } from './database.ts'
import { withIndexReset } from './full-text-index.ts'
import { updateDirectories } from './repositories.ts'

/** SQL for the displayed name: the one given by hand, else `sessionName`. Both parameters are columns. */
export function displayNameSql(key: string, sessionName: string): Sql {
  return raw(`coalesce((SELECT settings.name FROM projects settings WHERE settings.key = ${key}), ${sessionName})`)
}

/** The name given by hand. */
export function selectGivenName(db: Database, key: string): string | null {
  return db.get<{ name: string | null }>`SELECT name FROM projects WHERE key = ${key}`?.name ?? null
}

const UNMERGED = sql`project NOT IN (SELECT key FROM projects WHERE merged_into IS NOT NULL)`

/** Most recently active first. */
export function selectProjects(db: Database, { key, name, limit = -1 }: ProjectFilter): ProjectRow[] {
  const ofKey =
    key === undefined
      ? UNMERGED
      : sql`project = coalesce((SELECT merged_into FROM projects WHERE key = ${key}), ${key})`
  // Next to max(), SQLite takes bare columns from the row with the maximum.
  return db.all<ProjectRow>`
    SELECT * FROM (SELECT key, ${displayNameSql('active.key', 'session_name')} AS name, updatedAt,
      coalesce((SELECT observations FROM project_totals WHERE project = active.key), 0) AS observations,
      (SELECT min(created_at_epoch) FROM observations WHERE project = active.key) AS since
    FROM (SELECT project AS key, project_name AS session_name, max(updated_at_epoch) AS updatedAt
          FROM sdk_sessions WHERE ${ofKey} GROUP BY project) active)
    WHERE ${whereEqual({ name })} ORDER BY updatedAt DESC, key LIMIT ${limit}`
}

/** Most recently active first. */
export function selectProjectOverviews(db: Database): ProjectOverview[] {
  const rows = db.all<Stored<ProjectOverview>>`
    SELECT key, ${displayNameSql('active.key', 'session_name')} AS name, updatedAt, sessions,
      EXISTS (SELECT 1 FROM projects WHERE key = active.key AND name IS NOT NULL) AS named,
      coalesce((SELECT observations FROM project_totals WHERE project = active.key), 0) AS observations,
      (SELECT json_group_array(root) FROM (SELECT root FROM projects WHERE root IS NOT NULL AND (key = active.key
        OR (merged_into = active.key AND (active.key GLOB 'repo:*' OR active.key GLOB 'named:*'))) ORDER BY at DESC, id)
      ) AS roots,
      (SELECT json_group_array(key) FROM (SELECT key FROM projects WHERE merged_into = active.key ORDER BY key)) AS merged
    FROM (SELECT project AS key, project_name AS session_name, max(updated_at_epoch) AS updatedAt, count(*) AS sessions
          FROM sdk_sessions WHERE ${UNMERGED} GROUP BY project) active
    ORDER BY updatedAt DESC, key`
  return rows.map((row) => ({
    ...row,
    named: row.named === 1,
    roots: JSON.parse(row.roots),
    merged: JSON.parse(row.merged),
  }))
}

export function selectProjectContents(db: Database, key: string): ProjectContents {
  const count = (table: string, more = EMPTY_SQL) =>
    db.number`SELECT count(*) AS n FROM ${raw(table)} WHERE project = ${key} ${more}`
  return {
    sessions: count('sdk_sessions'),
    observations: count('observations'),
    summaries: count('session_summaries'),
    prompts: count('search_rows', sql`AND id & 3 = 2`),
  }
}

/** The project under which rows are stored: the target of a merge, else the project itself. */
export function resolveMergedProject(db: Database, project: Project): Project {
  const merged = db.get<{ key: string | null }>`SELECT merged_into AS key FROM projects WHERE key = ${project.key}`
  const key = merged?.key ?? null
  return key === null ? project : { key, name: newestName(db, key) ?? project.name }
}

/** As its newest session reports it. A repository is called the same wherever its clones are. */
export function newestName(db: Database, key: string): string | null {
  const travelling = travellingName(key)
  if (travelling !== null) return travelling
  const newest = db.get<{ name: string }>`
    SELECT project_name AS name FROM sdk_sessions WHERE project = ${key} ORDER BY updated_at_epoch DESC LIMIT 1`
  return newest?.name ?? null
}

type SettingsRow = Stored<ProjectSettings>

const SETTINGS_COLUMNS = sql`key, name, merged_into AS mergedInto, root, fingerprint, files`

export function selectProjectSettings(db: Database): ProjectSettings[] {
  return db.all<SettingsRow>`SELECT ${SETTINGS_COLUMNS} FROM projects ORDER BY key`.map(toProjectSettings)
}

function toProjectSettings(row: SettingsRow): ProjectSettings {
  return { ...row, files: parseFiles(row.files) }
}

/** Tolerates broken JSON in a salvaged row: without the settings no daemon could start. */
function parseFiles(json: string): string[] {
  try {
    const files: unknown = JSON.parse(json)
    return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []
  } catch {
    return []
  }
}

const NO_SETTINGS: Omit<ProjectSettings, 'key'> = {
  name: null,
  mergedInto: null,
  root: null,
  fingerprint: null,
  files: [],
}

/** All updates or none. From then on commits of a merged key are stored under its target. */
export function updateProjects(
  db: Database,
  updates: readonly ProjectUpdate[],
  at: number,
  directories: readonly DirectoryUpdate[] = [],
): { seq: number | null } {
  return db.write(() => {
    updateDirectories(db, directories, at)
    const visible = updates.filter((update) => upsertSettings(db, update, at))
    return { seq: visible.length > 0 ? nextSeq(db) : null }
  })
}

/** Takes no sequence number: the caller's change has one. */
export function nameProject(db: Database, key: string, name: string | null, at: number): void {
  upsertSettings(db, { key, name }, at)
}

/** True if a visible column changed. */
function upsertSettings(db: Database, update: ProjectUpdate, at: number): boolean {
  const known = db.get<SettingsRow>`SELECT ${SETTINGS_COLUMNS} FROM projects WHERE key = ${update.key}`
  const before = known === undefined ? NO_SETTINGS : toProjectSettings(known)
  const { key, name, mergedInto, root, fingerprint, files } = { ...before, ...update }
  db.run`
    INSERT INTO projects (key, name, merged_into, root, fingerprint, files, at)
    VALUES (${key}, ${name}, ${mergedInto}, ${root}, ${fingerprint}, ${files}, ${at})
    ON CONFLICT (key) DO UPDATE SET name = excluded.name, merged_into = excluded.merged_into, root = excluded.root,
      fingerprint = excluded.fingerprint, files = excluded.files, at = excluded.at`
  // Clients do not see the other columns.
  return before.name !== name || before.mergedInto !== mergedInto || before.root !== root
}

/** Tables with an index on the project. A merge is finished when none of them has rows of the merged key. */
const TABLES_BY_PROJECT = ['observations', 'session_summaries', 'search_rows', 'sdk_sessions'] as const

/** Of passages both projects may have the same: the newer one stays. A deletion also changes the full-text index. */
const MAX_MOVED_PASSAGES = 500

interface Merge {
  from: string
  into: string
}

/**
 * Moves up to `limit` rows of merged projects to their targets and returns how many it moved. The caller repeats it until
 * it returns 0; after a crash the next process continues.
 */
export function moveMergedRows(db: Database, limit: number): number {
  const move = () => {
    const merges = db.all<Merge>`
      SELECT key AS "from", merged_into AS "into" FROM projects WHERE merged_into IS NOT NULL ORDER BY id`
    const merge = merges.find(({ from }) => hasRows(db, from))
    return merge === undefined ? 0 : moveRows(db, merge, limit)
  }
  return withIndexReset(db, () => db.write(move))
}

function movePassages(db: Database, { from, into }: Merge, limit: number): number {
  const pairs = db.all<{ id: number; at: number; other: number | null; otherAt: number }>`
    SELECT p.id, p.at, q.id AS other, q.at AS otherAt FROM passages p
      LEFT JOIN passages q ON q.project = ${into} AND q.digest = p.digest
        AND q.author IS p.author AND q.machine IS p.machine
    WHERE p.project = ${from} LIMIT ${limit}`
  for (const { id, at, other, otherAt } of pairs) {
    const older = other === null ? null : at > otherAt ? other : id
    if (older !== null) {
      // Only the machine that made it erases the one of two equal ones in the shared log.
      db.run`UPDATE passages SET repository = NULL WHERE id = ${older} AND machine IS NOT NULL`
      db.run`DELETE FROM passages WHERE id = ${older}`
    }
    if (older !== id) db.run`UPDATE passages SET project = ${into} WHERE id = ${id}`
  }
  return pairs.length
}

function hasRows(db: Database, key: string): boolean {
  return [...TABLES_BY_PROJECT, 'passages'].some(
    (table) => db.exists`SELECT 1 FROM ${raw(table)} WHERE project = ${key} LIMIT 1`,
  )
}

function moveRows(db: Database, { from, into }: Merge, limit: number): number {
  const setName = sql`project_name = coalesce(${newestName(db, into)}, project_name)`
  // Small tables without an index: all at once and first, so that the indexed tables tell when the merge is finished.
  db.run`UPDATE session_chunks SET project = ${into} WHERE project = ${from}`
  db.run`UPDATE calls SET project = ${into}, ${setName} WHERE project = ${from}`
  let moved = movePassages(db, { from, into }, Math.min(limit, MAX_MOVED_PASSAGES))
  for (const table of TABLES_BY_PROJECT) {
    if (moved >= limit) break
    const columns = table === 'sdk_sessions' ? sql`project = ${into}, ${setName}` : sql`project = ${into}`
    moved += db.run`
      UPDATE ${raw(table)} SET ${columns}
      WHERE id IN (SELECT id FROM ${raw(table)} WHERE project = ${from} LIMIT ${limit - moved})`.changes
  }
  return moved
}
