/**
 * `retention_marks`: how long ago rows were stored, without trust in the clock. A clock that is wrong for a while must not
 * make rows old, neither those that are there nor those that are stored meanwhile.
 *
 * Time that passes is counted from the uptime of the machine, which no clock changes. Every few hours a mark notes the
 * counted time with the highest id of each table: rows up to it are at least as old as the mark.
 */
import { DAY_MS } from '../../domain/dates.ts'
import { type Database, selectMeta, setMeta } from './database.ts'

/** The longest time without power that is taken from the clock: a long weekend. A longer one makes rows stay longer. */
const MAX_OFF_MS = 3 * DAY_MS
/** Retention counts in days; four marks a day are precise enough, and 60 KB a year. */
const MARK_EVERY_MS = DAY_MS / 4

/** Counts the time since the last call. `uptime`: since the machine was started, in ms. */
export function countTime(db: Database, now: number, uptime: number): void {
  db.write(() => {
    const last = { now: selectMeta(db, 'counted_at'), uptime: selectMeta(db, 'counted_uptime') }
    const passed = last.now === null || last.uptime === null ? 0 : passedSince(last.now, last.uptime, now, uptime)
    const elapsed = (selectMeta(db, 'elapsed') ?? 0) + passed
    setMeta(db, 'elapsed', elapsed)
    setMeta(db, 'counted_at', Math.round(now))
    setMeta(db, 'counted_uptime', Math.round(uptime))
    const marked = db.get<{ elapsed: number }>`SELECT elapsed FROM retention_marks ORDER BY id DESC LIMIT 1`
    if (marked === undefined || elapsed - marked.elapsed >= MARK_EVERY_MS) insertMark(db, elapsed, now)
  })
}

/** After a restart of the machine only the clock says how long it was off. */
function passedSince(lastNow: number, lastUptime: number, now: number, uptime: number): number {
  if (uptime >= lastUptime) return Math.round(uptime - lastUptime)
  return Math.round(uptime + Math.min(MAX_OFF_MS, Math.max(0, now - lastNow - uptime)))
}

/** A sample of the queue has its time as its id. */
function insertMark(db: Database, elapsed: number, now: number): void {
  db.run`
    INSERT INTO retention_marks (elapsed, ids) SELECT ${elapsed}, json_group_object(name, seq) FROM (
      SELECT name, seq FROM sqlite_sequence UNION ALL SELECT 'queue_depth', ${now})`
}

/**
 * Ids up to which rows are at least `days` old, by table; a table that is missing has none. Null: nothing was ever counted,
 * as in a database that no daemon has opened for long, and dates alone say how old a row is.
 */
export function oldIds(db: Database, days: number): Record<string, number> | null {
  const elapsed = selectMeta(db, 'elapsed')
  if (elapsed === null) return null
  const mark = db.get<{ ids: string }>`
    SELECT ids FROM retention_marks WHERE elapsed <= ${elapsed - days * DAY_MS} ORDER BY elapsed DESC, id DESC LIMIT 1`
  return mark === undefined ? {} : JSON.parse(mark.ids)
}
