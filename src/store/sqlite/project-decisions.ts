/** What was decided about projects, and the work that a merge leaves behind. */
import type { ProjectChange, ProjectDecision } from '../project-port.ts'
import { nextSeq } from './meta.ts'
import { newestName } from './projects.ts'
import { all, type Connection, get, run, type Value } from './statement.ts'

interface StoredDecision {
  key: string
  name: string | null
  mergedInto: string | null
  root: string | null
  fingerprint: string | null
  files: string
}

const SEEN = ['name', 'mergedInto', 'root'] as const
const COLUMNS = 'key, name, merged_into AS mergedInto, root, fingerprint, files'

export function selectDecisions(db: Connection): ProjectDecision[] {
  return all<StoredDecision>(db, `SELECT ${COLUMNS} FROM projects ORDER BY key`).map(toDecision)
}

function toDecision(row: StoredDecision): ProjectDecision {
  return { ...row, files: filesIn(row.files) }
}

/** Of a row that was salvaged nothing is certain, and without the decisions no daemon starts. */
function filesIn(json: string): string[] {
  try {
    const files: unknown = JSON.parse(json)
    return Array.isArray(files) ? files.filter((file) => typeof file === 'string') : []
  } catch {
    return []
  }
}

const UNDECIDED: Omit<ProjectDecision, 'key'> = {
  name: null,
  mergedInto: null,
  root: null,
  fingerprint: null,
  files: [],
}

export function decideProjects(db: Connection, changes: readonly ProjectChange[], at: number): { seq: number | null } {
  return db
    .transaction(() => {
      const seen = changes.filter((change) => upsertDecision(db, change, at))
      return { seq: seen.length > 0 ? nextSeq(db) : null }
    })
    .immediate()
}

/** True where people see the difference. */
function upsertDecision(db: Connection, change: ProjectChange, at: number): boolean {
  const known = get<StoredDecision>(db, `SELECT ${COLUMNS} FROM projects WHERE key = ?`, [change.key])
  const { files, ...decision } = { ...UNDECIDED, ...(known === undefined ? {} : toDecision(known)), ...change }
  const wanted: StoredDecision = { ...decision, files: JSON.stringify(files) }
  run(
    db,
    `INSERT INTO projects (key, name, merged_into, root, fingerprint, files, at)
     VALUES (@key, @name, @mergedInto, @root, @fingerprint, @files, @at)
     ON CONFLICT (key) DO UPDATE SET name = excluded.name, merged_into = excluded.merged_into, root = excluded.root,
       fingerprint = excluded.fingerprint, files = excluded.files, at = excluded.at`,
    { ...wanted, at },
  )
  const before = known ?? UNDECIDED
  return SEEN.some((column) => before[column] !== wanted[column])
}

/** Whatever names its project and can be found by it: as long as one of them has rows there is work left. */
const FILED = ['observations', 'session_summaries', 'search_rows', 'sdk_sessions'] as const

interface Merge {
  from: string
  into: string
}

/** How many rows were moved; 0: nothing is left under a merged key. */
export function refileNext(db: Connection, limit: number): number {
  return db
    .transaction(() => {
      const merge = all<Merge>(
        db,
        'SELECT key AS "from", merged_into AS "into" FROM projects WHERE merged_into IS NOT NULL ORDER BY id',
      ).find(({ from }) => hasRows(db, from))
      return merge === undefined ? 0 : refile(db, merge, limit)
    })
    .immediate()
}

function hasRows(db: Connection, key: string): boolean {
  const filed = FILED.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE project = @key)`)
  return get<{ has: number }>(db, `SELECT ${filed.join(' OR ')} AS has`, { key })?.has === 1
}

function refile(db: Connection, merge: Merge, limit: number): number {
  const values: Record<string, Value> = { ...merge, name: newestName(db, merge.into) }
  // Few and small beside what they describe: they go first, so that a merge is over when nothing else is left.
  run(db, 'UPDATE session_chunks SET project = @into WHERE project = @from', { ...merge })
  run(
    db,
    'UPDATE calls SET project = @into, project_name = coalesce(@name, project_name) WHERE project = @from',
    values,
  )
  let moved = 0
  for (const table of FILED) {
    if (moved >= limit) break
    const renamed = table === 'sdk_sessions' ? ', project_name = coalesce(@name, project_name)' : ''
    const some = `SELECT id FROM ${table} WHERE project = @from LIMIT @left`
    const sql = `UPDATE ${table} SET project = @into${renamed} WHERE id IN (${some})`
    moved += run(db, sql, { ...(renamed === '' ? merge : values), left: limit - moved }).changes
  }
  return moved
}
