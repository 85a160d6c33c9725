/** Every change to the schema, oldest first. Append only: a released migration is never edited. */
import { initial } from './0001-initial.ts'
import { calls } from './0002-calls.ts'
import { search } from './0003-search.ts'
import { projects } from './0004-projects.ts'
import { context } from './0005-context.ts'
import { origin } from './0006-origin.ts'
import type { Migration } from './migration.ts'

export const MIGRATIONS: readonly Migration[] = [initial, calls, search, projects, context, origin]

export const SCHEMA_VERSION = MIGRATIONS.reduce((highest, migration) => Math.max(highest, migration.version), 0)
