/** How much is remembered, and how much of it search has taken in. */
import { OBSERVATION_TYPES, type ObservationType } from '../../../memory/observation.ts'
import type { MemoryCounts } from '../../search-port.ts'
import { all, type Connection, count, get, type Values } from '../statement.ts'

/** `project` null: of all. `embedder` null: the one that made the newest vectors. */
export function selectCounts(db: Connection, project: string | null, embedder: string | null): MemoryCounts {
  const of = (table: string) => (project === null ? 'TRUE' : `${table}.project = @project`)
  const values: Values = project === null ? [] : { project }
  const kinds = new Map(
    all<{ kind: number; n: number; indexed: number }>(
      db,
      `SELECT id & 3 AS kind, count(*) AS n, sum(indexed) AS indexed FROM search_rows s WHERE ${of('s')} GROUP BY 1`,
      values,
    ).map(({ kind, ...counts }) => [kind, counts]),
  )
  const rows = [...kinds.values()]
  return {
    observations: kinds.get(0)?.n ?? 0,
    summaries: kinds.get(1)?.n ?? 0,
    prompts: kinds.get(2)?.n ?? 0,
    sessions: count(db, `SELECT count(*) AS n FROM sdk_sessions s WHERE ${of('s')}`, values),
    ...period(db, of('o'), values),
    types: typesOf(db, of('o'), values),
    months: all(
      db,
      `SELECT strftime('%Y-%m', created_at_epoch / 1000, 'unixepoch', 'localtime') AS month, count(*) AS observations
       FROM observations o WHERE ${of('o')} GROUP BY 1 ORDER BY 1`,
      values,
    ),
    pinned: count(db, `SELECT count(*) AS n FROM pins p JOIN observations o USING (id) WHERE ${of('o')}`, values),
    links: { repeats: linked(db, 'repeats', of('o'), values), supersedes: linked(db, 'supersedes', of('o'), values) },
    indexed: {
      done: rows.reduce((sum, { indexed }) => sum + indexed, 0),
      total: rows.reduce((sum, { n }) => sum + n, 0),
    },
    vectors: vectorsOf(db, project, embedder ?? newestEmbedder(db)),
  }
}

function period(db: Connection, where: string, values: Values): Pick<MemoryCounts, 'oldestAt' | 'newestAt'> {
  const found = get<{ oldestAt: number | null; newestAt: number | null }>(
    db,
    `SELECT min(created_at_epoch) AS oldestAt, max(created_at_epoch) AS newestAt FROM observations o WHERE ${where}`,
    values,
  )
  return { oldestAt: found?.oldestAt ?? null, newestAt: found?.newestAt ?? null }
}

function typesOf(db: Connection, where: string, values: Values): Record<ObservationType, number> {
  const found = all<{ type: ObservationType; n: number }>(
    db,
    `SELECT type, count(*) AS n FROM observations o WHERE ${where} GROUP BY type`,
    values,
  )
  const types: Record<ObservationType, number> = {
    bugfix: 0,
    feature: 0,
    refactor: 0,
    decision: 0,
    discovery: 0,
    change: 0,
  }
  for (const { type, n } of found) if (OBSERVATION_TYPES.includes(type)) types[type] = n
  return types
}

/** Observations that repeat an earlier one, or that a newer one replaces. */
function linked(db: Connection, kind: 'repeats' | 'supersedes', where: string, values: Values): number {
  const end = kind === 'repeats' ? 'from_id' : 'to_id'
  return count(
    db,
    `SELECT count(DISTINCT l.${end}) AS n FROM links l JOIN observations o ON o.id = l.${end}
     WHERE l.kind = '${kind}' AND ${where}`,
    values,
  )
}

function newestEmbedder(db: Connection): string | null {
  return get<{ embedder: string }>(db, 'SELECT embedder FROM embeddings ORDER BY id DESC LIMIT 1')?.embedder ?? null
}

function vectorsOf(db: Connection, project: string | null, embedder: string | null): MemoryCounts['vectors'] {
  if (embedder === null) return null
  const found = get<{ observations: number; fragments: number; bytes: number | null; dimensions: number | null }>(
    db,
    `SELECT count(DISTINCT e.observation_id) AS observations, count(*) FILTER (WHERE e.dimensions > 0) AS fragments,
       sum(length(e.vector)) AS bytes, max(e.dimensions) AS dimensions
     FROM embeddings e ${project === null ? '' : 'JOIN observations o ON o.id = e.observation_id AND o.project = @project'}
     WHERE e.embedder = @embedder`,
    project === null ? { embedder } : { embedder, project },
  )
  return {
    embedder,
    dimensions: found?.dimensions ?? 0,
    observations: found?.observations ?? 0,
    fragments: found?.fragments ?? 0,
    bytes: found?.bytes ?? 0,
  }
}
