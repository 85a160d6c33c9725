/**
 * The schema: all migrations, oldest first, and their application. Append only: a released migration is never edited. All
 * missing ones run in one transaction.
 */
import { MemError } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import { INSTALL_NEWER } from '../../lib/names.ts'
import type { Database } from '../sqlite/database.ts'
import { initialMigration } from './0001-initial.ts'
import { callsMigration } from './0002-calls.ts'
import { searchMigration } from './0003-search.ts'
import { projectsMigration } from './0004-projects.ts'
import { contextMigration } from './0005-context.ts'
import { originMigration } from './0006-origin.ts'
import { callBegunMigration } from './0007-call-begun.ts'
import { forgottenSessionsMigration } from './0008-forgotten-sessions.ts'
import { speakersMigration } from './0009-speakers.ts'
import { wholeSummariesMigration } from './0010-whole-summaries.ts'
import { passagesMigration } from './0011-passages.ts'
import { observationStatusMigration } from './0012-observation-status.ts'
import { teamMigration } from './0013-team.ts'
import { repositoriesMigration } from './0014-repositories.ts'
import { retentionMarksMigration } from './0015-retention-marks.ts'

export interface Migration {
  /** `PRAGMA user_version` after it. */
  version: number
  sql: string
}

export const MIGRATIONS: readonly Migration[] = [
  initialMigration,
  callsMigration,
  searchMigration,
  projectsMigration,
  contextMigration,
  originMigration,
  callBegunMigration,
  forgottenSessionsMigration,
  speakersMigration,
  wholeSummariesMigration,
  passagesMigration,
  observationStatusMigration,
  teamMigration,
  repositoriesMigration,
  retentionMarksMigration,
]

export const SCHEMA_VERSION = MIGRATIONS.reduce((highest, migration) => Math.max(highest, migration.version), 0)

export function schemaVersion(db: Database): number {
  const version = db.pragma('user_version', { simple: true })
  return typeof version === 'number' ? version : 0
}

export function hasTables(db: Database): boolean {
  return db.number`SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table'` > 0
}

export function refuseNewer(version: number, file: string): void {
  if (version <= SCHEMA_VERSION) return
  throw new MemError(
    'newer_database',
    `${file} was written by a newer claude-mem (schema ${version}; this one supports up to ${SCHEMA_VERSION}). ` +
      `Install the newer claude-mem again: ${INSTALL_NEWER}. The data was not changed.`,
  )
}

/**
 * Applies the missing migrations, all or none: after an interrupted upgrade the older program still opens the database, and
 * each backup before the next attempt is one that it opens, too.
 */
export function migrate(db: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  db.write(() => {
    for (const migration of migrations) {
      if (migration.version > schemaVersion(db)) apply(db, migration)
    }
  })
}

function apply(db: Database, migration: Migration): void {
  db.exec(migration.sql)
  faultPoint('migrate.step')
  db.pragma(`user_version = ${migration.version}`)
}
