/** The database read directly, with no daemon: right after a crash too, when the log still holds the last commits. */
import { existsSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { MemError } from '../../errors.ts'
import type { Reader } from '../port.ts'
import { answer } from './answer.ts'
import { storageError } from './errors.ts'
import type { Answers } from './facade.ts'
import { refuseNewer, schemaVersion } from './migrate.ts'
import { SCHEMA_VERSION } from './migrations/index.ts'
import { SqliteQueries } from './queries.ts'
import { ReaderFacade } from './reader-facade.ts'
import type { Connection } from './statement.ts'

export class SqliteReader extends ReaderFacade implements Reader {
  private constructor(queries: Answers<keyof Reader>) {
    super((method, ...args) => answer(queries, method, args))
  }

  static async open(file: string): Promise<SqliteReader> {
    return new SqliteReader(new SqliteQueries(openForReading(file)))
  }
}

export function openForReading(file: string): Connection {
  if (!existsSync(file)) throw nothingYet(file)
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    refuseOtherVersions(schemaVersion(db), file)
    return db
  } catch (error) {
    db?.close()
    throw storageError(error)
  }
}

function refuseOtherVersions(version: number, file: string): void {
  refuseNewer(version, file)
  if (version === 0) throw nothingYet(file)
  if (version < SCHEMA_VERSION) {
    throw new MemError(
      'unsupported_version',
      `${file} was written by an older claude-mem (schema ${version}, now ${SCHEMA_VERSION}). Run \`claude-mem start\` to upgrade it.`,
    )
  }
}

function nothingYet(file: string): MemError {
  return new MemError('not_found', `There is no memory yet: ${file} is made when the first session is observed.`)
}
