/**
 * Erases a memory because a tombstone of the shared log says so, with every copy, as forgetting does. Runs inside the
 * caller's transaction.
 *
 * A received memory may name any session, also one of this machine. So that nobody erases another's work by putting a
 * memory beside it and erasing that, only what came from the same machine is erased with it.
 */
import { searchRowId } from '../search-port.ts'
import { type Database, sql } from './database.ts'
import { indexOutdatedText, removeMemories } from './forget.ts'
import { deletePassageRows, forgetPassages, selectPassagesToForget } from './forget-passages.ts'
import { startPurge } from './full-text-index.ts'
import { insertTombstones, insertTombstoneWithoutTurn } from './tombstones.ts'

/**
 * An observation is erased with the passages of its turn. A summary alone: one of a whole session is also erased because a
 * newer one took its place.
 */
export function eraseMemory(db: Database, kind: 'observation' | 'summary', id: number, at: number): void {
  const row = searchRowId(kind, id)
  const table = kind === 'observation' ? sql`observations` : sql`session_summaries`
  const { session, machine } = db.one<{ session: string; machine: string | null }>`
    SELECT content_session_id AS session, machine FROM ${table} WHERE id = ${id}`
  if (kind === 'observation') {
    erasePassages(db, selectPassagesToForget(db, [row], [], null), machine, session, at)
  }
  if (machine === null) {
    insertTombstones(db, [row], at)
    removeMemories(db, [row])
  } else {
    insertTombstoneWithoutTurn(db, row, at)
    db.run`DELETE FROM ${table} WHERE id = ${id}`
    indexOutdatedText(db, session)
  }
  startPurge(db)
}

export function erasePassage(db: Database, id: number, at: number): void {
  const { session, machine } = db.one<{ session: string; machine: string | null }>`
    SELECT content_session_id AS session, machine FROM passages WHERE id = ${id}`
  erasePassages(db, [id], machine, session, at)
  startPurge(db)
}

/** The tombstone of a turn is for all its passages: not where the turn has others too. The log has those of the others. */
function erasePassages(
  db: Database,
  ids: readonly number[],
  machine: string | null,
  session: string,
  at: number,
): void {
  const ofMachine = db.ids`
    SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(${ids})) AND machine IS ${machine}`
  if (ofMachine.length === 0) return
  const isShared = db.exists`
    SELECT 1 FROM passages WHERE content_session_id = ${session} AND machine IS NOT ${machine} LIMIT 1`
  if (isShared) deletePassageRows(db, ofMachine)
  else forgetPassages(db, ofMachine, at)
}
