/** The index is derived: what it lacks is made up in pieces, and all of it can be thrown away. */
import type { IndexState } from '../../search-port.ts'
import { all, type Connection, count } from '../statement.ts'
import { indexChunk, placeInChunk } from './chunks.ts'
import { indexRow } from './indexing.ts'
import { purge, purgesLeft } from './purge.ts'
import { resetOutdatedIndex } from './reset.ts'
import { idOf } from './rows.ts'

/** Indexing a chunk costs as much as indexing this many rows. */
const ROWS_PER_CHUNK = 8

export function indexState(db: Connection): IndexState {
  const left =
    count(db, 'SELECT count(*) AS n FROM search_rows WHERE indexed = 0') +
    count(db, 'SELECT count(*) AS n FROM search_rows WHERE chunk IS NULL AND id & 3 = 0') +
    count(db, 'SELECT count(*) AS n FROM session_chunks WHERE indexed = 0') +
    purgesLeft(db)
  const total =
    count(db, 'SELECT count(*) AS n FROM search_rows') +
    count(db, 'SELECT count(*) AS n FROM observations') +
    count(db, 'SELECT count(*) AS n FROM session_chunks') +
    purgesLeft(db)
  return { done: total - left, total }
}

/** The newest memories first; then what sessions are about, which needs their order. */
export function indexNext(db: Connection, limit: number): IndexState {
  purge(db, 1)
  return db
    .transaction(() => {
      resetOutdatedIndex(db)
      const rows = waitingRows(db, limit)
      for (const row of rows) indexRow(db, row)
      const places = unplacedRows(db, limit - rows.length)
      for (const row of places) placeInChunk(db, idOf(row))
      const left = limit - rows.length - places.length
      for (const chunk of waitingChunks(db, Math.ceil(left / ROWS_PER_CHUNK))) indexChunk(db, chunk)
      return indexState(db)
    })
    .immediate()
}

function waitingRows(db: Connection, limit: number): number[] {
  return ids(all(db, 'SELECT id FROM search_rows WHERE indexed = 0 ORDER BY id DESC LIMIT ?', [limit]))
}

function unplacedRows(db: Connection, limit: number): number[] {
  return ids(
    all(db, `SELECT id FROM search_rows WHERE chunk IS NULL AND id & 3 = 0 ORDER BY content_session_id, id LIMIT ?`, [
      limit,
    ]),
  )
}

function waitingChunks(db: Connection, limit: number): number[] {
  return ids(all(db, 'SELECT id FROM session_chunks WHERE indexed = 0 ORDER BY id LIMIT ?', [limit]))
}

function ids(rows: { id: number }[]): number[] {
  return rows.map(({ id }) => id)
}
