/** The same texts in a table of plain FTS5. */
import Database from 'better-sqlite3'
import type { Place } from '../lib/place.ts'
import { PlainFts5 } from '../retrieval/plain-fts5.ts'

interface Row {
  id: number
  text: string
}

export function plainOf(place: Place): PlainFts5 {
  const db = new Database(place.paths.database, { readonly: true })
  try {
    return new PlainFts5(texts(db))
  } finally {
    db.close()
  }
}

function* texts(db: Database.Database): Generator<{ id: string; text: string }> {
  const rows = db.prepare<[], Row>(
    `SELECT id, title || char(10) || narrative || char(10) || facts || char(10) || concepts || char(10) || files_modified AS text
     FROM observations ORDER BY id`,
  )
  for (const { id, text } of rows.iterate()) yield { id: String(id), text }
}
