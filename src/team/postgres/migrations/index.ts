/**
 * The schema of the shared log: all migrations, oldest first. Append only: a released migration is never edited, because
 * databases of teams have it already. All missing ones run in one transaction. Only what PostgreSQL 13 has.
 */
import { missingSchema, TeamError } from '../../errors.ts'
import type { PostgresDatabase } from '../connection.ts'
import { tablesMigration } from './0001-tables.ts'
import { accessMigration } from './0002-access.ts'
import { exchangeMigration } from './0003-exchange.ts'

export interface LogMigration {
  version: number
  /** The lowest schema version of a program that can still use the log after this migration. */
  oldestProgram: number
  sql: string
}

export const LOG_MIGRATIONS: readonly LogMigration[] = [tablesMigration, accessMigration, exchangeMigration]

export const LOG_SCHEMA_VERSION = LOG_MIGRATIONS.reduce((highest, { version }) => Math.max(highest, version), 0)

const OLDEST_SERVER = 130_000
/** Any number, the same in every version: it orders those who run `init` at the same time. */
const INIT_LOCK = 7_164_201_365_201
/** Others hold the lock for about a second; a large table may take longer to migrate. */
const INIT_LOCK_TIMEOUT = '60s'

export interface LogVersion {
  version: number
  /** Programs with a lower schema version cannot use the log. */
  oldestProgram: number
}

type RunStatement = Parameters<Parameters<PostgresDatabase['transaction']>[0]>[0]

interface Answer extends Record<string, unknown> {
  answer: unknown
}

/** Throws unless this program can use the log as it is. */
export function checkLogVersion(found: LogVersion | null, server: string): void {
  if (found === null) throw new TeamError('schema_missing', missingSchema(server))
  if (found.oldestProgram > LOG_SCHEMA_VERSION) throw newerSchema(found, server)
  if (found.version < LOG_SCHEMA_VERSION) {
    throw new TeamError(
      'schema_missing',
      `The shared log at ${server} has schema ${found.version} and this claude-mem needs ${LOG_SCHEMA_VERSION}. ` +
        'Its owner runs `claude-mem team init` with this version once.',
    )
  }
}

function newerSchema(found: LogVersion, server: string): TeamError {
  return new TeamError(
    'schema_newer',
    `The shared log at ${server} was changed by a newer claude-mem (schema ${found.version}; this one supports up to ` +
      `${LOG_SCHEMA_VERSION}). Update claude-mem here. Until then memories stay on this machine and nothing is lost.`,
  )
}

/**
 * Null: there is no log in this database. Asks the catalogue's tables: `to_regclass` answers from a cache that a wait for
 * the lock of `init` does not refresh.
 */
export async function readLogVersion(run: RunStatement): Promise<LogVersion | null> {
  const [exists] = await run<Answer>(
    'SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace ' +
      "WHERE n.nspname = 'claude_mem' AND c.relname = 'log') AS answer",
  )
  if (exists?.answer !== true) return null
  const [found] = await run<{ version: number; oldest: number }>(
    'SELECT version, oldest_program AS oldest FROM claude_mem.log',
  )
  return found === undefined ? null : { version: found.version, oldestProgram: found.oldest }
}

export interface InitResult {
  /** Versions that were applied; empty: nothing was missing. */
  applied: number[]
  version: number
  /** The log came from another server, or from another time of this one: everybody receives everything again. */
  renewed: boolean
}

/** Makes or updates the schema. Safe to run by several at the same time: they wait for each other. */
export async function initLog(database: PostgresDatabase): Promise<InitResult> {
  const { server } = database.target
  const before = await database.transaction(readLogVersion)
  if (before !== null && before.oldestProgram > LOG_SCHEMA_VERSION) throw newerSchema(before, server)
  const applied = before !== null && before.version >= LOG_SCHEMA_VERSION ? [] : await applyMissing(database)
  const [renewed] = await database.query<Answer>('SELECT claude_mem.renew() AS answer')
  return { applied, version: LOG_SCHEMA_VERSION, renewed: renewed?.answer === true }
}

async function applyMissing(database: PostgresDatabase): Promise<number[]> {
  return await database.transaction(async (run) => {
    await run('SET LOCAL search_path = pg_catalog, pg_temp')
    await run(`SET LOCAL lock_timeout = '${INIT_LOCK_TIMEOUT}'`)
    await run('SELECT pg_advisory_xact_lock($1)', [INIT_LOCK])
    const found = await readLogVersion(run)
    if (found !== null && found.oldestProgram > LOG_SCHEMA_VERSION) throw newerSchema(found, database.target.server)
    const missing = LOG_MIGRATIONS.filter(({ version }) => version > (found?.version ?? 0))
    if (missing.length === 0) return []
    await checkServer(run, database.target.server)
    await ownSchema(run, found === null)
    for (const migration of missing) await run(migration.sql)
    await recordVersion(run, found === null)
    return missing.map(({ version }) => version)
  })
}

async function checkServer(run: RunStatement, server: string): Promise<void> {
  const [found] = await run<{ version: number; encoding: string }>(
    "SELECT current_setting('server_version_num')::integer AS version, current_setting('server_encoding') AS encoding",
  )
  if ((found?.version ?? 0) < OLDEST_SERVER) {
    throw new TeamError('refused', `PostgreSQL at ${server} is older than 13. Use a newer server.`)
  }
  if (found?.encoding !== 'UTF8') {
    throw new TeamError(
      'refused',
      `The database has the encoding ${found?.encoding}. Create one with ENCODING 'UTF8' and connect to it.`,
    )
  }
}

/** A schema of this name that belongs to another role may have anything in it, so it is not used. */
async function ownSchema(run: RunStatement, first: boolean): Promise<void> {
  const [schema] = await run<{ owner: string; own: boolean }>(
    "SELECT pg_get_userbyid(nspowner) AS owner, pg_has_role(current_user, nspowner, 'USAGE') AS own " +
      "FROM pg_namespace WHERE nspname = 'claude_mem'",
  )
  if (schema === undefined) {
    const [may] = await run<Answer>("SELECT has_database_privilege(current_database(), 'CREATE') AS answer")
    if (may?.answer !== true) {
      throw new TeamError(
        'denied',
        'This role may not create a schema in this database. An administrator of the server runs `CREATE SCHEMA ' +
          'claude_mem AUTHORIZATION` with its name, or `GRANT CREATE ON DATABASE`.',
      )
    }
    await run('CREATE SCHEMA claude_mem')
    return
  }
  if (!schema.own) {
    throw new TeamError(
      'denied',
      `The schema claude_mem belongs to the role ${schema.owner}, who ${first ? 'makes' : 'updates'} the shared log with ` +
        '`claude-mem team init`.',
    )
  }
}

async function recordVersion(run: RunStatement, first: boolean): Promise<void> {
  const oldest = LOG_MIGRATIONS.reduce((highest, { oldestProgram }) => Math.max(highest, oldestProgram), 0)
  if (!first) {
    await run('UPDATE claude_mem.log SET version = $1, oldest_program = $2', [LOG_SCHEMA_VERSION, oldest])
    return
  }
  await run(
    'INSERT INTO claude_mem.log (version, oldest_program, generation, identity) ' +
      "VALUES ($1, $2, gen_random_uuid()::text, coalesce(claude_mem.server_identity(), ''))",
    [LOG_SCHEMA_VERSION, oldest],
  )
  await run(
    'INSERT INTO claude_mem.grants SELECT DISTINCT role, 0, true, true, true, role, claude_mem.now_ms() ' +
      'FROM (VALUES (session_user::text), (current_user::text)) AS owner (role)',
  )
}
