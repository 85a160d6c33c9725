/**
 * What was forgotten stays so when an older state comes back: its number and its time of birth are kept, and none of
 * its words, not even as a digest from which a short text could be guessed.
 */
import { existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { schemaVersion } from '../migrate.ts'
import { all, type Connection, run } from '../statement.ts'
import { removeMemories } from './removal.ts'

interface Tombstone {
  id: number
  created_at_epoch: number
  at: number
}

/** The first version that could forget. */
const FIRST_VERSION = 3

export function insertTombstones(db: Connection, rows: readonly number[], at: number): void {
  run(
    db,
    `INSERT INTO forgotten (id, created_at_epoch, at)
     SELECT s.id, s.created_at_epoch, @at FROM json_each(@rows) wanted CROSS JOIN search_rows s ON s.id = wanted.value
     WHERE TRUE ON CONFLICT (id) DO UPDATE SET created_at_epoch = excluded.created_at_epoch, at = excluded.at`,
    { rows: JSON.stringify(rows), at },
  )
}

/** After a recovery: whatever came back although it was forgotten goes again. */
export function forgetAgain(db: Connection): number {
  const back = all<{ id: number }>(
    db,
    'SELECT s.id FROM forgotten f JOIN search_rows s ON s.id = f.id AND s.created_at_epoch = f.created_at_epoch',
  ).map(({ id }) => id)
  removeMemories(db, back)
  return back.length
}

/** What the database that is about to be replaced has forgotten; nothing where it cannot be read. */
export function tombstonesIn(file: string): Tombstone[] {
  if (!existsSync(file)) return []
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    if (schemaVersion(db) < FIRST_VERSION) return []
    return all<Tombstone>(db, 'SELECT id, created_at_epoch, at FROM forgotten')
  } catch {
    return []
  } finally {
    db?.close()
  }
}

export function addTombstones(db: Connection, tombstones: readonly Tombstone[]): void {
  for (const { id, created_at_epoch, at } of tombstones) {
    run(db, 'INSERT INTO forgotten (id, created_at_epoch, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', [
      id,
      created_at_epoch,
      at,
    ])
  }
}
