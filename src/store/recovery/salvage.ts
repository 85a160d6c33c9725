/**
 * Reads the remaining rows of a damaged database into an intact one. Nothing that is read here is trusted: rows that violate
 * a constraint are skipped.
 */
import { type Database, isGroupFailure, raw, rowSql, type Sql, sql } from '../sqlite/database.ts'
import { forgetAgain } from '../sqlite/forget.ts'
import { isIntactPassage } from '../sqlite/passages.ts'
import { tableColumns } from '../sqlite/readable-rows.ts'
import { whileApplying } from '../sqlite/team-apply.ts'
import { KEEP_WIDEST } from '../sqlite/tombstones.ts'
import { DamagedDatabase, HIGHEST_ID, type SalvagedRow } from './damaged-database.ts'
import { fileSize } from './database-files.ts'
import { UNKNOWN_PROJECT } from './reconcile.ts'

export interface SalvageResult {
  tables: { label: string; rows: number; complete: boolean }[]
  /** Rows that violate a constraint. */
  refused: number
  lostSessions: number
  lostMessages: number
}

interface TablePlan {
  table: string
  /** For the notes to the user. */
  label: string
  /** If the restored backup has the row too. Without: the row of the backup is kept. `newest`: the higher revision wins. */
  conflict?: Sql | 'newest'
  /** Columns that are not taken over. */
  without?: readonly string[]
  /** Refuses a row whose content is damaged although its page can be read. */
  isIntact?: (row: SalvagedRow) => boolean
}

/** First: what was forgotten must not be in the restored backup when newer rows are added to it. */
const TOMBSTONES: readonly TablePlan[] = [
  { table: 'forgotten', label: 'tombstones of forgotten memories' },
  {
    table: 'forgotten_sessions',
    label: 'tombstones of erased sessions',
    conflict: sql`ON CONFLICT (content_session_id) DO UPDATE SET at = max(at, excluded.at)`,
  },
  { table: 'forgotten_turns', label: 'tombstones of forgotten turns', conflict: KEEP_WIDEST },
]

function isTombstone(table: string): boolean {
  return TOMBSTONES.some((plan) => plan.table === table)
}

/** A backup of an older version got other ids when it was migrated than the file that was in use. */
const KEEP_USED_UID = sql`ON CONFLICT (id) DO UPDATE SET uid = excluded.uid, author = excluded.author,
    machine = excluded.machine, repository = excluded.repository
  WHERE created_at_epoch = excluded.created_at_epoch AND excluded.uid IS NOT NULL
    AND (uid <> excluded.uid OR repository IS NOT excluded.repository)
  ON CONFLICT DO NOTHING`

/** Parents first, because of the foreign keys. */
const PLANS: readonly TablePlan[] = [
  { table: 'sdk_sessions', label: 'sessions', conflict: 'newest' },
  {
    table: 'events',
    label: 'events',
    conflict: sql`ON CONFLICT (content_session_id, event_id) DO UPDATE SET outcome = excluded.outcome,
      reason = excluded.reason, observation_ids = excluded.observation_ids, effect_id = excluded.effect_id,
      attempts = excluded.attempts WHERE outcome IS NOT excluded.outcome`,
  },
  { table: 'user_prompts', label: 'prompts' },
  { table: 'observations', label: 'observations', conflict: KEEP_USED_UID },
  { table: 'session_summaries', label: 'summaries', conflict: KEEP_USED_UID },
  {
    table: 'pending_messages',
    label: 'pending messages',
    conflict: sql`ON CONFLICT (content_session_id, event_id) DO UPDATE SET status = excluded.status,
      claimed_at = excluded.claimed_at, effect_id = excluded.effect_id, attempts = excluded.attempts,
      error = excluded.error
      WHERE status IS NOT excluded.status OR effect_id IS NOT excluded.effect_id OR attempts <> excluded.attempts`,
  },
  { table: 'payloads', label: 'payloads' },
  {
    table: 'passages',
    label: 'passages',
    without: ['indexed'],
    isIntact: isIntactPassage,
    conflict: sql`ON CONFLICT (id) DO UPDATE SET content_session_id = excluded.content_session_id,
      prompt_number = excluded.prompt_number, event_id = excluded.event_id, position = excluded.position,
      outcome = excluded.outcome, at = excluded.at WHERE digest = excluded.digest AND excluded.at > at
      ON CONFLICT DO NOTHING`,
  },
  { table: 'observer_turns', label: 'observer turns' },
  { table: 'embeddings', label: 'embeddings' },
  { table: 'links', label: 'links' },
  { table: 'pins', label: 'pins' },
  {
    table: 'projects',
    label: 'projects',
    conflict: sql`ON CONFLICT (key) DO UPDATE SET name = excluded.name, merged_into = excluded.merged_into,
      root = excluded.root, fingerprint = excluded.fingerprint, files = excluded.files, at = excluded.at
      WHERE excluded.at > projects.at`,
  },
  {
    table: 'project_directories',
    label: 'directories of projects',
    conflict: sql`ON CONFLICT (key) DO UPDATE SET repository = excluded.repository, state = excluded.state,
      told = excluded.told, created_at = excluded.created_at, at = excluded.at
      WHERE excluded.at > project_directories.at`,
  },
  // Before the outbox: what the triggers would put into it comes from there.
  {
    table: 'shared_projects',
    label: 'shared projects',
    conflict: sql`ON CONFLICT (project) DO UPDATE SET since = excluded.since, passages = excluded.passages,
      withdrawn = excluded.withdrawn, at = excluded.at WHERE excluded.at > shared_projects.at`,
  },
  { table: 'team_outbox', label: 'records to push' },
  { table: 'team_aliases', label: 'aliases of shared records' },
  { table: 'team_tombstones', label: 'tombstones of shared records' },
  { table: 'team_expired', label: 'ids of expired passages' },
  { table: 'retention_marks', label: 'marks of retention' },
  { table: 'trace', label: 'trace entries' },
  { table: 'calls', label: 'model calls' },
]

export const SALVAGED = [...TOMBSTONES, ...PLANS].map(({ table }) => table)

/** The other tables, and why their rows are not read from a damaged database. Together these are all tables. */
export const NOT_SALVAGED: Readonly<Record<string, string>> = {
  meta: 'only its sequence number is taken over; the rest belongs to the rows of the backup',
  queue_depth: 'samples for a chart, of the last days',
  seen: 'reconcile clears it: an outdated digest would make a changed result look like a repeated one',
  shown: 'a running session may be shown a memory twice',
  project_totals: 'counted by triggers',
  search_rows: 'follows the memories by triggers',
  session_chunks: 'derived from memories by the indexer',
  team_cursors: 'reconcile clears it: all records are received again',
  team_versions: 'reconcile clears it, as above',
  team_waiting: 'reconcile clears it, as above',
}

export function salvage(target: Database, damaged: string, at: number): SalvageResult {
  const result: SalvageResult = { tables: [], refused: 0, lostSessions: 0, lostMessages: 0 }
  if (fileSize(damaged) === 0) {
    result.tables = [...TOMBSTONES, ...PLANS].map(({ label }) => ({ label, rows: 0, complete: false }))
    return result
  }
  const source = DamagedDatabase.open(damaged)
  try {
    const work = () => {
      for (const plan of TOMBSTONES) result.tables.push(salvageTable(source, target, plan, at, result))
      forgetAgain(target)
      for (const plan of PLANS) result.tables.push(salvageTable(source, target, plan, at, result))
      raiseSeqTo(target, source.seq())
      raiseIds(target, source)
    }
    target.transaction(() => whileApplying(target, work))()
  } finally {
    source.close()
  }
  return result
}

function salvageTable(
  source: DamagedDatabase,
  target: Database,
  plan: TablePlan,
  at: number,
  result: SalvageResult,
): SalvageResult['tables'][number] {
  const known = tableColumns(target, plan.table)
  const columns = source.columns(plan.table).filter((name) => known.has(name) && plan.without?.includes(name) !== true)
  // A file of an older version does not have the table.
  if (columns.length === 0) return { label: plan.label, rows: 0, complete: true }
  const conflict = plan.conflict === 'newest' ? newestWins(columns) : (plan.conflict ?? sql`ON CONFLICT DO NOTHING`)
  const sessions = new Set(target.ids<string>`SELECT content_session_id AS id FROM sdk_sessions`)
  let rows = 0
  const reader = source.rows(plan.table, columns)
  let next = reader.next()
  for (; next.done !== true; next = reader.next()) {
    if (plan.isIntact?.(next.value) === false) {
      result.refused += 1
      continue
    }
    try {
      if (addParents(target, plan.table, next.value, sessions, at)) result.lostSessions += 1
      rows += target.run`INSERT INTO ${raw(plan.table)} ${rowSql(next.value)} ${conflict}`.changes
    } catch (error) {
      if (isGroupFailure(error)) throw error
      result.refused += 1
    }
  }
  return { label: plan.label, rows, complete: next.value }
}

function newestWins(columns: readonly string[]): Sql {
  const set = columns.filter((c) => c !== 'id' && c !== 'content_session_id').map((c) => `${c} = excluded.${c}`)
  return sql`ON CONFLICT (content_session_id) DO UPDATE SET ${raw(set.join(', '))}
    WHERE (excluded.revision, excluded.seq) > (sdk_sessions.revision, sdk_sessions.seq)`
}

/** Creates the session or event of a row if it was lost, so that the row can be kept; true if it created a session. */
function addParents(target: Database, table: string, row: SalvagedRow, sessions: Set<string>, at: number): boolean {
  const session = row.content_session_id
  if (table === 'sdk_sessions' || isTombstone(table) || typeof session !== 'string') return false
  const lost = !sessions.has(session)
  if (lost) {
    insertLostSession(target, session, typeof row.project === 'string' ? row.project : UNKNOWN_PROJECT, at)
    sessions.add(session)
  }
  if (table === 'pending_messages' && typeof row.payload === 'string') insertLostEvent(target, row)
  return lost
}

/** Its counts and its snapshot are rebuilt from its rows by `reconcile`, which recognises the empty snapshot. */
function insertLostSession(db: Database, session: string, project: string, at: number): void {
  db.run`
    INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_name, client, cwd, status,
      state, revision, machine_version, prompts, generation, context_tokens, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, seq, created_at_epoch, updated_at_epoch, snapshot)
    VALUES (${session}, ${session} || ':1', ${project}, ${project}, 'unknown', '', 'active', 'unknown', 1, 0,
      0, 1, 0, 0, 0, 0, 0, 0, ${at}, ${at}, '')`
}

function insertLostEvent(db: Database, row: SalvagedRow): void {
  const { content_session_id = null, event_id = null, kind = null, tool = null, created_at_epoch = null } = row
  db.run`
    INSERT INTO events (content_session_id, event_id, kind, tool, at, received_at)
    VALUES (${content_session_id}, ${event_id}, ${kind}, ${tool}, ${created_at_epoch}, ${created_at_epoch})
    ON CONFLICT DO NOTHING`
}

/** Ids of rows that were lost are not used again. */
function raiseIds(target: Database, source: DamagedDatabase): void {
  for (const { name = null, seq = null } of source.rows('sqlite_sequence', ['name', 'seq'])) {
    // A damaged number could be so high that no id is left after it.
    if (Number(seq) <= HIGHEST_ID) target.run`UPDATE sqlite_sequence SET seq = max(seq, ${seq}) WHERE name = ${name}`
  }
}

function raiseSeqTo(db: Database, seq: number): void {
  db.run`UPDATE meta SET value = max(value, ${seq}) WHERE name = 'seq'`
}
