/** Forgetting: every copy in the database goes, and the answer says where else it may still be. */
import type { MemoryKind } from '../../../search/query.ts'
import type { BackupInfo } from '../../port.ts'
import type { ForgetRequest, Forgotten } from '../../search-port.ts'
import { nextSeq } from '../meta.ts'
import { all, type Connection, count } from '../statement.ts'
import { isIndexDamage } from './damage.ts'
import { insertTombstones } from './forgotten.ts'
import { existing } from './links.ts'
import { selectPassing } from './passing.ts'
import { purge, startPurge } from './purge.ts'
import { type Removed, removeMemories } from './removal.ts'
import { resetIndex } from './reset.ts'
import { idOf, kindOf, rowOf } from './rows.ts'

/** A small memory is cleared before the answer is given; the rest of a large one in the background. */
const PURGE_AT_ONCE_STEPS = 40

const NOTHING_REMOVED: Removed = { embeddings: 0, links: 0, payloads: 0, observerTurns: 0, callTexts: 0 }

export function forgetMemories(db: Connection, request: ForgetRequest, backups: readonly BackupInfo[]): Forgotten {
  const report = onSoundIndex(db, () => removeAndReport(db, request, backups))
  return { ...report, cleared: purge(db, PURGE_AT_ONCE_STEPS) }
}

/** An index that is damaged is thrown away: it must not keep anything from being forgotten. */
function onSoundIndex<T>(db: Connection, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.transaction(() => resetIndex(db)).immediate()
    return work()
  }
}

function removeAndReport(
  db: Connection,
  { ids, filters, dryRun, at }: ForgetRequest,
  backups: readonly BackupInfo[],
): Omit<Forgotten, 'cleared'> {
  return db
    .transaction((): Omit<Forgotten, 'cleared'> => {
      const there = existing(db, ids)
      const passing = filters === null ? [] : selectPassing(db, filters, -1, 0)
      const rows = [...new Set([...there.map((id) => rowOf('observation', id)), ...passing])]
      const ofKind = (kind: MemoryKind) => rows.filter((row) => kindOf(row) === kind).map(idOf)
      const observations = ofKind('observation')
      const about = {
        dryRun,
        observations: observations.length,
        summaries: ofKind('summary').length,
        prompts: ofKind('prompt').length,
        ids: observations,
        missing: ids.filter((id) => !there.includes(id)),
        summariesBeside: summariesBeside(db, observations).filter((id) => !rows.includes(rowOf('summary', id))),
        backups: holding(backups, oldest(db, rows)),
      }
      if (dryRun || rows.length === 0) return { ...about, ...NOTHING_REMOVED, seq: null }
      insertTombstones(db, rows, at)
      const removed = removeMemories(db, rows)
      startPurge(db)
      return { ...about, ...removed, seq: nextSeq(db) }
    })
    .immediate()
}

function summariesBeside(db: Connection, ids: readonly number[]): number[] {
  return all<{ id: number }>(
    db,
    `SELECT DISTINCT m.id FROM json_each(?) wanted CROSS JOIN observations o ON o.id = wanted.value
       JOIN session_summaries m ON m.content_session_id = o.content_session_id AND m.prompt_number = o.prompt_number
     ORDER BY m.id`,
    [JSON.stringify(ids)],
  ).map(({ id }) => id)
}

function oldest(db: Connection, rows: readonly number[]): number {
  return count(
    db,
    `SELECT min(s.created_at_epoch) AS n FROM json_each(?) wanted CROSS JOIN search_rows s ON s.id = wanted.value`,
    [JSON.stringify(rows)],
  )
}

/** A backup that was made before the oldest of them cannot hold any. */
function holding(backups: readonly BackupInfo[], since: number): Forgotten['backups'] {
  return backups.filter(({ at }) => since > 0 && at >= since).map(({ file, at, reason }) => ({ file, at, reason }))
}
