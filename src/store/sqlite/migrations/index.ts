/** Every change to the schema, oldest first. Append only: a released migration is never edited. */
import { initial } from './0001-initial.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [initial]

export const SCHEMA_VERSION = MIGRATIONS.reduce((highest, migration) => Math.max(highest, migration.version), 0)
