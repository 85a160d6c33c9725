/**
 * Reads the remaining rows of a damaged database into an intact one. If the first page is lost, the page of a backup is
 * used in its place. Nothing that is read here is trusted: rows that violate a constraint are skipped.
 */
import { closeSync, copyFileSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import { Database, isGroupFailure, raw, rowSql, type Sql, type SqlValue, seqNow, sql } from '../sqlite/database.ts'
import { forgetAgain } from '../sqlite/forget.ts'
import { isIntactPassage } from '../sqlite/passages.ts'
import { whileApplying } from '../sqlite/team-apply.ts'
import { KEEP_WIDEST } from '../sqlite/tombstones.ts'
import { fileSize, removeDatabase } from './database-files.ts'
import { UNKNOWN_PROJECT } from './reconcile.ts'

interface DamagedSource {
  db: Database
  /** Its schema is that of the donor, which may have fewer tables. */
  borrowedSchema: boolean
  close(): void
}

/** Null if it cannot be opened even with the donor's first page. */
function openDamaged(file: string, donorFile: string): DamagedSource | null {
  if (fileSize(file) === 0) return null
  return openReadable(file) ?? openWithBorrowedPage(file, donorFile)
}

function openReadable(file: string, borrowedSchema = false): DamagedSource | null {
  let db: Database | undefined
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    db.get`SELECT 1 AS n FROM sdk_sessions LIMIT 0`
    const opened = db
    return { db: opened, borrowedSchema, close: () => opened.close() }
  } catch {
    db?.close()
    return null
  }
}

const HEADER_BYTES = 100
const HEADER_PAGE_SIZE_AT = 16
const HEADER_FORMAT_AT = 18
const HEADER_PAGE_COUNT_AT = 28

/**
 * The first page has the header of the file and the root pages of all tables. The header of any claude-mem database fits.
 * The rest is used only if it is lost too: it fits if both files applied the same migrations at the same size, as a file
 * and its backup did. The bytes are written into a copy; the damaged file is not changed.
 */
function openWithBorrowedPage(file: string, donorFile: string): DamagedSource | null {
  const copy = `${file}.borrowed-header`
  removeDatabase(copy)
  copyFileSync(file, copy)
  const hasLog = existsSync(`${file}-wal`)
  if (hasLog) copyFileSync(`${file}-wal`, `${copy}-wal`)
  const page = firstPage(donorFile)
  page.writeUInt32BE(Math.floor(fileSize(copy) / page.length), HEADER_PAGE_COUNT_AT)
  page.fill(hasLog ? 2 : 1, HEADER_FORMAT_AT, HEADER_FORMAT_AT + 2)
  overwriteStart(copy, page.subarray(0, HEADER_BYTES))
  let source = openReadable(copy)
  if (source === null) {
    overwriteStart(copy, page)
    source = openReadable(copy, true)
  }
  if (source === null) {
    removeDatabase(copy)
    return null
  }
  const { close } = source
  return {
    ...source,
    close: () => {
      close()
      removeDatabase(copy)
    },
  }
}

function overwriteStart(file: string, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+')
  try {
    writeSync(descriptor, bytes, 0, bytes.length, 0)
  } finally {
    closeSync(descriptor)
  }
}

function firstPage(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(descriptor, header, 0, header.length, 0)
    const size = header.readUInt16BE(HEADER_PAGE_SIZE_AT)
    const page = Buffer.alloc(size === 1 ? 65_536 : size)
    readSync(descriptor, page, 0, page.length, 0)
    return page
  } finally {
    closeSync(descriptor)
  }
}

type SalvagedRow = Record<string, SqlValue>

/** The end of the scan if the highest id cannot be read. */
const UNKNOWN_HIGHEST = 2 ** 31

/**
 * Yields every row that can still be reached by its id; returns true if there was no damage. Reads forwards until damage,
 * probes ids behind it with doubling steps, and reads backwards from the first hit to the end of the damage.
 */
export function* readableRows(db: Database, table: string, columns: Sql): Generator<SalvagedRow, boolean> {
  const highest = highestId(db, table)
  const select = sql`SELECT ${columns} FROM ${raw(table)}`
  const gap = (after: number, before: number) =>
    readBackwards(db, sql`${select} WHERE id > ${after} AND id < ${before} ORDER BY id DESC`, before)
  let complete = true
  let last = 0
  let from = 1
  let step = 1
  while (from <= highest) {
    const range = yield* readForwards(db, sql`${select} WHERE id >= ${from} ORDER BY id`)
    const resumed = last + 1 < from
    if (resumed && range.first > 0) yield* gap(last, range.first)
    if (range.ended && (range.first > 0 || !resumed)) return complete
    complete = false
    if (range.last > last) {
      last = range.last
      step = 1
    }
    from = Math.max(from, last) + step
    step *= 2
  }
  // The last probe was past the end: read the rest backwards from the end.
  if (!complete) yield* gap(last, highest + 1)
  return complete
}

interface ReadRange {
  first: number
  last: number
  /** Reached the end of the table, not damage. */
  ended: boolean
}

function* readForwards(db: Database, statement: Sql): Generator<SalvagedRow, ReadRange> {
  const range: ReadRange = { first: 0, last: 0, ended: false }
  try {
    for (const row of db.each<SalvagedRow>`${statement}`) {
      const id = Number(row.id)
      // A damaged b-tree may have a cycle.
      if (id <= range.last) return range
      if (range.first === 0) range.first = id
      range.last = id
      yield row
    }
    range.ended = true
  } catch {
    // Damage: the caller continues behind it.
  }
  return range
}

function* readBackwards(db: Database, statement: Sql, before: number): Generator<SalvagedRow, void> {
  let last = before
  try {
    for (const row of db.each<SalvagedRow>`${statement}`) {
      const id = Number(row.id)
      if (id >= last) return
      last = id
      yield row
    }
  } catch {
    // Damage: the rows before it were read forwards.
  }
}

function highestId(db: Database, table: string): number {
  const sources = [
    () => db.number`SELECT id AS n FROM ${raw(table)} ORDER BY id DESC LIMIT 1`,
    () => db.number`SELECT seq AS n FROM sqlite_sequence WHERE name = ${table}`,
  ]
  const known = sources.flatMap((read) => {
    try {
      return [read()]
    } catch {
      return []
    }
  })
  return known.length === 0 ? UNKNOWN_HIGHEST : Math.max(...known)
}

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
  { table: 'trace', label: 'trace entries' },
  { table: 'calls', label: 'model calls' },
]

/** `targetFile` is the file of `target`, whose first page replaces the one of a damaged file that lost it. */
export function salvage(target: Database, targetFile: string, damaged: string, at: number): SalvageResult {
  const result: SalvageResult = { tables: [], refused: 0, lostSessions: 0, lostMessages: 0 }
  const source = openDamaged(damaged, targetFile)
  if (source === null) {
    result.tables = [...TOMBSTONES, ...PLANS].map(({ label }) => ({ label, rows: 0, complete: false }))
    return result
  }
  try {
    const work = () => {
      for (const plan of TOMBSTONES) result.tables.push(salvageTable(source, target, plan, at, result))
      forgetAgain(target)
      for (const plan of PLANS) result.tables.push(salvageTable(source, target, plan, at, result))
      raiseSeqTo(target, seqIn(source.db))
      raiseIds(target, source.db)
    }
    target.transaction(() => whileApplying(target, work))()
  } finally {
    source.close()
  }
  return result
}

function salvageTable(
  { db: source, borrowedSchema }: DamagedSource,
  target: Database,
  plan: TablePlan,
  at: number,
  result: SalvageResult,
): SalvageResult['tables'][number] {
  const columns = commonColumns(source, target, plan)
  if (columns === null) return { label: plan.label, rows: 0, complete: false }
  // The file of an older version does not have the table. With a borrowed schema that is not known.
  if (columns.length === 0) return { label: plan.label, rows: 0, complete: !borrowedSchema }
  const conflict = plan.conflict === 'newest' ? newestWins(columns) : (plan.conflict ?? sql`ON CONFLICT DO NOTHING`)
  const sessions = new Set(target.ids<string>`SELECT content_session_id AS id FROM sdk_sessions`)
  let rows = 0
  const reader = readableRows(source, plan.table, raw(columns.join(', ')))
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

/** Null if the schema itself is damaged. */
function commonColumns(source: Database, target: Database, { table, without = [] }: TablePlan): string[] | null {
  const known = tableColumns(target, table)
  try {
    return [...tableColumns(source, table)].filter((column) => known.has(column) && !without.includes(column))
  } catch {
    return null
  }
}

export function tableColumns(db: Database, table: string): Set<string> {
  return new Set(db.ids<string>`SELECT name AS id FROM pragma_table_info(${table})`)
}

function seqIn(source: Database): number {
  try {
    return seqNow(source)
  } catch {
    return 0
  }
}

/** Ids of rows that were lost are not used again. */
function raiseIds(target: Database, source: Database): void {
  try {
    for (const { name, seq } of source.all<{ name: string; seq: number }>`SELECT name, seq FROM sqlite_sequence`) {
      // A damaged number could be so high that no id is left after it.
      if (seq < UNKNOWN_HIGHEST) target.run`UPDATE sqlite_sequence SET seq = max(seq, ${seq}) WHERE name = ${name}`
    }
  } catch {
    // Damaged too: new rows follow the highest recovered ids.
  }
}

function raiseSeqTo(db: Database, seq: number): void {
  db.run`UPDATE meta SET value = max(value, ${seq}) WHERE name = 'seq'`
}
