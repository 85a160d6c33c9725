/** Looks at a database file without changing it: a read-only connection neither migrates nor checkpoints. */
import BetterSqlite3 from 'better-sqlite3'
import { messageOf } from '../../errors.ts'
import { isCorruption, storageError } from './errors.ts'
import { schemaVersion } from './migrate.ts'
import { all, type Connection } from './statement.ts'

/** Problems listed by one check; the first few say what is wrong. */
const MAX_PROBLEMS = 20

/** What the check says of a full-text table: it is derived, and made anew from the rows. */
const INDEX_PROBLEM = /FTS5 table main\.(memory|chunk)_fts\b|fts5: .* table "(memory|chunk)_fts"/

export interface Check {
  /** What is wrong with the rows; empty when they are sound. */
  problems: string[]
  /** The index of their words is not sound. */
  indexDamaged: boolean
}

export function quickCheck(db: Connection): Check {
  try {
    const problems = all<{ quick_check: string }>(db, `PRAGMA quick_check(${MAX_PROBLEMS})`)
      .map((row) => row.quick_check)
      .filter((problem) => problem !== 'ok')
    const ofRows = problems.filter((problem) => !INDEX_PROBLEM.test(problem))
    return { problems: ofRows, indexDamaged: ofRows.length < problems.length }
  } catch (error) {
    if (isCorruption(error)) return { problems: [messageOf(error)], indexDamaged: false }
    throw storageError(error)
  }
}

export interface Inspection {
  version: number
  /** What is wrong with it, null when nothing was found. */
  damage: string | null
  indexDamaged: boolean
}

export function inspectFile(file: string, check: boolean): Inspection {
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    const version = schemaVersion(db)
    const { problems, indexDamaged } = check ? quickCheck(db) : { problems: [], indexDamaged: false }
    return { version, damage: problems[0] ?? null, indexDamaged }
  } catch (error) {
    if (isCorruption(error)) return { version: 0, damage: messageOf(error), indexDamaged: false }
    throw storageError(error)
  } finally {
    db?.close()
  }
}
