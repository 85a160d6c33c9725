/** Looks at a database file without changing it: a read-only connection neither migrates nor checkpoints. */
import BetterSqlite3 from 'better-sqlite3'
import { messageOf } from '../../errors.ts'
import { isCorruption, storageError } from './errors.ts'
import { schemaVersion } from './migrate.ts'
import { all, type Connection } from './statement.ts'

/** Problems listed by one check; the first few say what is wrong. */
const MAX_PROBLEMS = 20

/** Empty when the file is sound. */
export function quickCheck(db: Connection): string[] {
  try {
    const problems = all<{ quick_check: string }>(db, `PRAGMA quick_check(${MAX_PROBLEMS})`).map(
      (row) => row.quick_check,
    )
    return problems.filter((problem) => problem !== 'ok')
  } catch (error) {
    if (isCorruption(error)) return [messageOf(error)]
    throw storageError(error)
  }
}

export interface Inspection {
  version: number
  /** What is wrong with it, null when nothing was found. */
  damage: string | null
}

export function inspectFile(file: string, check: boolean): Inspection {
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    const version = schemaVersion(db)
    const [damage = null] = check ? quickCheck(db) : []
    return { version, damage }
  } catch (error) {
    if (isCorruption(error)) return { version: 0, damage: messageOf(error) }
    throw storageError(error)
  } finally {
    db?.close()
  }
}
