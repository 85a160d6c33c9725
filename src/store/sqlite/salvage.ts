/** Reads what is left of a damaged database, row by row, into a sound one. Nothing read here is trusted. */
import { openDamaged, type Source } from './damaged.ts'
import { failsTheGroup } from './errors.ts'
import { payloadHash } from './events.ts'
import { all, type Connection, count, run } from './statement.ts'
import { readableRows, type SalvagedRow } from './survivors.ts'

export interface Salvaged {
  tables: { what: string; rows: number; complete: boolean }[]
  /** Rows that were read but hold what no row may hold. */
  refused: number
  lostSessions: number
  lostMessages: number
}

interface Plan {
  table: string
  /** For people. */
  what: string
  /** What counts when the restored backup has the row too: the damaged file is the newer one. */
  conflict: string
}

const IGNORE = 'ON CONFLICT DO NOTHING'

/** Parents first: foreign keys hold for what is salvaged too. */
const PLANS: readonly Plan[] = [
  { table: 'sdk_sessions', what: 'sessions', conflict: 'newest' },
  {
    table: 'events',
    what: 'events',
    conflict: `ON CONFLICT (content_session_id, event_id) DO UPDATE SET outcome = excluded.outcome,
      reason = excluded.reason, observation_ids = excluded.observation_ids, effect_id = excluded.effect_id,
      attempts = excluded.attempts WHERE outcome IS NOT excluded.outcome`,
  },
  { table: 'user_prompts', what: 'prompts', conflict: IGNORE },
  { table: 'observations', what: 'observations', conflict: IGNORE },
  { table: 'session_summaries', what: 'summaries', conflict: IGNORE },
  {
    table: 'pending_messages',
    what: 'waiting messages',
    conflict: `ON CONFLICT (content_session_id, event_id) DO UPDATE SET status = excluded.status,
      claimed_at = excluded.claimed_at, effect_id = excluded.effect_id, attempts = excluded.attempts,
      error = excluded.error
      WHERE status IS NOT excluded.status OR effect_id IS NOT excluded.effect_id OR attempts <> excluded.attempts`,
  },
  { table: 'payloads', what: 'payloads', conflict: IGNORE },
  { table: 'observer_turns', what: 'observer turns', conflict: IGNORE },
  { table: 'embeddings', what: 'embeddings', conflict: IGNORE },
  { table: 'links', what: 'links', conflict: IGNORE },
  { table: 'pins', what: 'pins', conflict: IGNORE },
  { table: 'forgotten', what: 'marks of what was forgotten', conflict: IGNORE },
  {
    table: 'projects',
    what: 'projects',
    conflict: `ON CONFLICT (key) DO UPDATE SET name = excluded.name, merged_into = excluded.merged_into,
      root = excluded.root, fingerprint = excluded.fingerprint, files = excluded.files, at = excluded.at
      WHERE excluded.at > projects.at`,
  },
  { table: 'trace', what: 'trace entries', conflict: IGNORE },
  { table: 'calls', what: 'model calls', conflict: IGNORE },
]

/** `targetFile` is the file behind `target`: it lends its first page to a damaged file that lost its own. */
export function salvage(target: Connection, targetFile: string, damaged: string, at: number): Salvaged {
  const result: Salvaged = { tables: [], refused: 0, lostSessions: 0, lostMessages: 0 }
  const source = openDamaged(damaged, targetFile)
  if (source === null) {
    result.tables = PLANS.map(({ what }) => ({ what, rows: 0, complete: false }))
    return result
  }
  try {
    target.transaction(() => {
      for (const plan of PLANS) result.tables.push(salvageTable(source, target, plan, at, result))
      raiseSeqTo(target, seqIn(source.db))
    })()
  } finally {
    source.close()
  }
  return result
}

function salvageTable(
  { db: source, borrowedSchema }: Source,
  target: Connection,
  plan: Plan,
  at: number,
  result: Salvaged,
): Salvaged['tables'][number] {
  const columns = commonColumns(source, target, plan.table)
  if (columns === null) return { what: plan.what, rows: 0, complete: false }
  // An older version wrote the file: it has no such table. A borrowed list of tables cannot tell.
  if (columns.length === 0) return { what: plan.what, rows: 0, complete: !borrowedSchema }
  const insert = `INSERT INTO ${plan.table} (${columns.join(', ')}) VALUES (${columns.map((c) => `@${c}`).join(', ')})
    ${plan.conflict === 'newest' ? newestWins(columns) : plan.conflict}`
  const sessions = new Set(sessionIds(target))
  let rows = 0
  let complete = true
  const reader = readableRows(source, plan.table, columns)
  for (let next = reader.next(); ; next = reader.next()) {
    if (next.done === true) {
      complete = next.value
      break
    }
    try {
      if (addParents(target, plan.table, next.value, sessions, at)) result.lostSessions += 1
      rows += run(target, insert, next.value).changes
    } catch (error) {
      if (failsTheGroup(error)) throw error
      result.refused += 1
    }
  }
  return { what: plan.what, rows, complete }
}

function newestWins(columns: readonly string[]): string {
  const set = columns.filter((c) => c !== 'id' && c !== 'content_session_id').map((c) => `${c} = excluded.${c}`)
  return `ON CONFLICT (content_session_id) DO UPDATE SET ${set.join(', ')}
    WHERE (excluded.revision, excluded.seq) > (sdk_sessions.revision, sdk_sessions.seq)`
}

/** A row whose session or event was lost still gets in; true when its session had to be made up. */
function addParents(target: Connection, table: string, row: SalvagedRow, sessions: Set<string>, at: number): boolean {
  const session = row.content_session_id
  if (table === 'sdk_sessions' || typeof session !== 'string') return false
  const lost = !sessions.has(session)
  if (lost) {
    insertLostSession(target, session, typeof row.project === 'string' ? row.project : 'unknown', at)
    sessions.add(session)
  }
  if (table === 'pending_messages' && typeof row.payload === 'string') insertLostEvent(target, row, row.payload)
  return lost
}

function insertLostSession(db: Connection, session: string, project: string, at: number): void {
  run(
    db,
    `INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_name, client, cwd, status,
       state, revision, machine_version, quarantine, prompts, generation, context_tokens, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, seq, created_at_epoch, updated_at_epoch, snapshot)
     VALUES (@session, @session || ':0', @project, @project, 'unknown', '', 'failed', 'unknown', 1, 0,
       'its row was lost in a damaged database', 0, 0, 0, 0, 0, 0, 0, 0, @at, @at, '')`,
    { session, project, at },
  )
}

function insertLostEvent(db: Connection, row: SalvagedRow, payload: string): void {
  const { content_session_id = null, event_id = null, kind = null, tool = null, created_at_epoch = null } = row
  run(
    db,
    `INSERT INTO events (content_session_id, event_id, kind, tool, at, received_at, payload_hash)
     VALUES (@content_session_id, @event_id, @kind, @tool, @created_at_epoch, @created_at_epoch, @hash)
     ON CONFLICT DO NOTHING`,
    { content_session_id, event_id, kind, tool, created_at_epoch, hash: payloadHash(payload) },
  )
}

function sessionIds(db: Connection): string[] {
  return all<{ id: string }>(db, 'SELECT content_session_id AS id FROM sdk_sessions').map((row) => row.id)
}

/** Null where the schema itself is damaged. */
function commonColumns(source: Connection, target: Connection, table: string): string[] | null {
  const known = new Set(columnsOf(target, table))
  try {
    return columnsOf(source, table).filter((column) => known.has(column))
  } catch {
    return null
  }
}

function columnsOf(db: Connection, table: string): string[] {
  return all<{ name: string }>(db, 'SELECT name FROM pragma_table_info(?)', [table]).map((row) => row.name)
}

function seqIn(source: Connection): number {
  try {
    return count(source, `SELECT value AS n FROM meta WHERE name = 'seq'`)
  } catch {
    return 0
  }
}

function raiseSeqTo(db: Connection, seq: number): void {
  run(db, `UPDATE meta SET value = max(value, ?) WHERE name = 'seq'`, [seq])
}
