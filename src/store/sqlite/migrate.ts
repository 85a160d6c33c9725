/** Lifts a database to this version's schema, one transaction a migration. */
import { MemError } from '../../errors.ts'
import { fault } from '../../faults.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'
import { type Connection, count } from './statement.ts'

export function schemaVersion(db: Connection): number {
  const version = db.pragma('user_version', { simple: true })
  return typeof version === 'number' ? version : 0
}

export function hasTables(db: Connection): boolean {
  return count(db, "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table'") > 0
}

export function refuseNewer(version: number, file: string): void {
  if (version <= SCHEMA_VERSION) return
  throw new MemError(
    'newer_database',
    `${file} was written by a newer claude-mem (schema ${version}; this one knows up to ${SCHEMA_VERSION}). ` +
      'Install the newer claude-mem again. The data is untouched.',
  )
}

/** Applies what is missing. */
export function migrate(db: Connection, migrations: readonly Migration[] = MIGRATIONS): void {
  for (const migration of migrations) {
    if (migration.version > schemaVersion(db)) apply(db, migration)
  }
}

function apply(db: Connection, migration: Migration): void {
  db.transaction(() => {
    db.exec(migration.sql)
    fault('migrate.step')
    db.pragma(`user_version = ${migration.version}`)
  }).immediate()
}
