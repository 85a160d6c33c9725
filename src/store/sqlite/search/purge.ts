/**
 * What was deleted from a full-text table stays in its index until parts of it are merged, and in the write-ahead log
 * until that is emptied. After something was forgotten, both are done, a piece at a time, until neither holds a word.
 */
import { all, type Connection, count, get, run } from '../statement.ts'
import { isIndexDamage } from './damage.ts'
import { FULL_TEXT_TABLES, type FullTextTable } from './full-text.ts'
import { resetIndex } from './reset.ts'

/** Pages merged in one step: some ten milliseconds. */
const PAGES_PER_STEP = 100

const LOG_WAIT_MS = 100

/** What is left to do; kept in the database, so that a restart goes on with it. */
const MERGE_FROM_THE_START = 1
const EMPTY_THE_LOG = 2 + 2 * FULL_TEXT_TABLES.length

export function startPurge(db: Connection): void {
  setStage(db, MERGE_FROM_THE_START)
}

/** True when nothing is left. False while there is more to merge, or a reader still looks at an older state. */
export function purge(db: Connection, steps: number): boolean {
  for (let step = 0; step < steps; step += 1) {
    const stage = stageNow(db)
    if (stage === null) return true
    if (stage >= EMPTY_THE_LOG) return emptyLog(db)
    mergeOrReset(db, stage)
  }
  return stageNow(db) === null
}

export function purgesLeft(db: Connection): number {
  return stageNow(db) === null ? 0 : 1
}

/** Each table has two stages: its parts are declared one, then merged until there is nothing to do. */
function mergeSome(db: Connection, stage: number): void {
  const table = FULL_TEXT_TABLES[Math.floor((stage - MERGE_FROM_THE_START) / 2)]
  const begins = (stage - MERGE_FROM_THE_START) % 2 === 0
  if (table === undefined) setStage(db, EMPTY_THE_LOG)
  else if (begins) {
    merge(db, table, -PAGES_PER_STEP)
    setStage(db, stage + 1)
  } else if (!merge(db, table, PAGES_PER_STEP)) setStage(db, stage + 1)
}

/** An index that cannot be merged is thrown away: that clears it, too. */
function mergeOrReset(db: Connection, stage: number): void {
  try {
    mergeSome(db, stage)
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.transaction(() => resetIndex(db)).immediate()
    setStage(db, EMPTY_THE_LOG)
  }
}

/** False when there was nothing to merge: FTS5 then changes no row but its own. */
function merge(db: Connection, table: FullTextTable, pages: number): boolean {
  const before = changes(db)
  run(db, `INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`, [pages])
  return changes(db) - before >= 2
}

function changes(db: Connection): number {
  return count(db, 'SELECT total_changes() AS n')
}

function emptyLog(db: Connection): boolean {
  // First: the row that says so must not be what fills the log again.
  setStage(db, null)
  const emptied = checkpoint(db)
  if (!emptied) setStage(db, EMPTY_THE_LOG)
  return emptied
}

/** Readers are waited for only a moment: commits queue up behind this. */
function checkpoint(db: Connection): boolean {
  const patience = db.pragma('busy_timeout', { simple: true })
  db.pragma(`busy_timeout = ${LOG_WAIT_MS}`)
  try {
    const [result] = all<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
    return result?.busy === 0
  } finally {
    db.pragma(`busy_timeout = ${Number(patience)}`)
  }
}

function stageNow(db: Connection): number | null {
  return get<{ value: number }>(db, `SELECT value FROM meta WHERE name = 'purge'`)?.value ?? null
}

function setStage(db: Connection, stage: number | null): void {
  if (stage === null) run(db, `DELETE FROM meta WHERE name = 'purge'`)
  else {
    run(
      db,
      `INSERT INTO meta (name, value) VALUES ('purge', @stage) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      { stage },
    )
  }
}
