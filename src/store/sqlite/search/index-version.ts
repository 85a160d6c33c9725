/** Which program's rules the index of words was made by. */
import { type Connection, get, run } from '../statement.ts'

/** Raised when texts are taken apart differently: the index of an older program is then made anew. */
export const INDEX_VERSION = 1

/** No program's: the index was found damaged. */
const DISTRUSTED = 0

export function indexVersion(db: Connection): number | undefined {
  return get<{ value: number }>(db, `SELECT value FROM meta WHERE name = 'index_version'`)?.value
}

export function setIndexVersion(db: Connection, version = INDEX_VERSION): void {
  run(
    db,
    `INSERT INTO meta (name, value) VALUES ('index_version', @version)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    { version },
  )
}

export function distrustIndex(db: Connection): void {
  setIndexVersion(db, DISTRUSTED)
}
