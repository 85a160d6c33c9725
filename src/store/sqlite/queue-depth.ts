/** How long the queue was over time: a row where it changed. */
import type { QueueSample } from '../origin-port.ts'
import { selectQueueStats } from './queue.ts'
import { all, type Connection, get, run } from './statement.ts'

export function sampleQueue(db: Connection, at: number): void {
  const { pending, processing, failed } = selectQueueStats(db)
  const sample: QueueSample = { at, pending, processing, failed }
  const last = selectSampleAt(db, at)
  if (last === null ? pending + processing + failed > 0 : differs(last, sample)) insertSample(db, sample)
}

function differs(a: QueueSample, b: QueueSample): boolean {
  return a.pending !== b.pending || a.processing !== b.processing || a.failed !== b.failed
}

const COLUMNS = 'at, pending, processing, failed'

/** By time and not by age: after a clock that went back, newer samples lie in the future. */
function selectSampleAt(db: Connection, at: number): QueueSample | null {
  return get<QueueSample>(db, `SELECT ${COLUMNS} FROM queue_depth WHERE at <= ? ORDER BY at DESC LIMIT 1`, [at]) ?? null
}

function insertSample(db: Connection, { at, pending, processing, failed }: QueueSample): void {
  run(
    db,
    `INSERT INTO queue_depth (${COLUMNS}) VALUES (@at, @pending, @processing, @failed)
     ON CONFLICT (at) DO UPDATE SET pending = excluded.pending, processing = excluded.processing,
       failed = excluded.failed`,
    { at, pending, processing, failed },
  )
}

/** More points than a chart has pixels help nobody; each piece has at most two. */
const PIECES = 1_000

/** Begins with the depth that the period began with. Of a piece with many samples the highest and the last are shown. */
export function selectQueueDepth(db: Connection, since: number, until: number): QueueSample[] {
  const before = selectSampleAt(db, since)
  const pieceMs = Math.max(1, Math.ceil((until - since) / PIECES))
  const during = all<QueueSample & { peak: number }>(
    db,
    // Beside max(), SQLite takes bare columns from the row that holds the maximum.
    `WITH during AS (SELECT *, CAST((at - @since) / @pieceMs AS INTEGER) AS piece FROM queue_depth WHERE at > @since AND at < @until)
     SELECT ${COLUMNS}, max(pending + processing + failed) AS peak FROM during GROUP BY piece
     UNION SELECT at, pending, processing, failed, pending + processing + failed FROM
       (SELECT max(at) AS at, pending, processing, failed FROM during GROUP BY piece)
     ORDER BY at`,
    { since, until, pieceMs },
  ).map(({ peak: _, ...sample }) => sample)
  return before === null ? during : [{ ...before, at: since }, ...during]
}
