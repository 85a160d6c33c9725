/** Throws the index of words away; `indexNext` makes it again from the rows. */
import { type Connection, get, run } from '../statement.ts'
import { FULL_TEXT_TABLES, type FullTextTable } from './full-text.ts'
import { INDEX_VERSION, indexVersion, setIndexVersion } from './index-version.ts'

/** Deletes everything that is derived from the rows' words. Quick, however large the index is. */
export function resetIndex(db: Connection): void {
  for (const table of FULL_TEXT_TABLES) recreate(db, table)
  run(db, 'UPDATE search_rows SET indexed = 0, chunk = NULL')
  run(db, 'DELETE FROM session_chunks')
  setIndexVersion(db)
}

/** An index that another version made, or that was found damaged, is made anew. */
export function resetOutdatedIndex(db: Connection): void {
  const version = indexVersion(db)
  if (version === undefined) setIndexVersion(db)
  else if (version !== INDEX_VERSION) resetIndex(db)
}

/** As the migration made it: a deletion row by row would take as long as the index is large. */
function recreate(db: Connection, table: FullTextTable): void {
  const made = get<{ sql: string }>(db, 'SELECT sql FROM sqlite_schema WHERE name = ?', [table])
  if (made === undefined) throw new Error(`the database has no table ${table}`)
  db.exec(`DROP TABLE ${table}`)
  db.exec(made.sql)
}
