/**
 * Connections with PostgreSQL. A connection URL is checked before anything is sent; TLS with a verified certificate is
 * required except on this machine. Requests are single statements without session state, so that PgBouncer in transaction
 * mode can be between; only listening needs a connection of its own.
 */
import { checkServerIdentity, type ConnectionOptions as TlsOptions } from 'node:tls'
import { inspect } from 'node:util'
import type { Client, ClientConfig, Pool, QueryResultRow } from 'pg'
import { readRegularFileSync } from '../../lib/files.ts'
import { TeamError, toTeamError } from '../errors.ts'

/** One for pushing, one for pulling, one for what people ask. */
const MAX_CONNECTIONS = 3
const CONNECT_TIMEOUT_MS = 10_000
/** A batch of some MB over a slow line. The request is not cancelled in the server, so it may still take effect. */
const REQUEST_TIMEOUT_MS = 60_000
const IDLE_TIMEOUT_MS = 30_000
/** Two transactions that conflict are tried again at once; three times is more than ever happens. */
const CONFLICT_ATTEMPTS = 3
const DEFAULT_PORT = 5432
const APPLICATION_NAME = 'claude-mem'

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof SSL_MODES)[number]

const URL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host', 'application_name']

/** How the connection is protected: `off` none, `encrypted` without a check of the certificate. */
export type TlsLevel = 'off' | 'encrypted' | 'verify-ca' | 'verify-full'

export interface ConnectionSettings {
  /** Accept a connection without TLS, or with a certificate that cannot be verified, to another machine. */
  insecure?: boolean
  requestTimeoutMs?: number
  connectTimeoutMs?: number
}

/** A checked connection URL. Its password is not shown by any way of printing it. */
export class ConnectionTarget {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly role: string
  readonly tls: TlsLevel
  readonly #password: string
  readonly #files: { ca: string | null; cert: string | null; key: string | null }

  constructor(url: string, settings: Pick<ConnectionSettings, 'insecure'> = {}) {
    const parsed = parseUrl(url)
    const parameters = parsed.searchParams
    const unknown = [...parameters.keys()].find((name) => !URL_PARAMETERS.includes(name))
    if (unknown !== undefined) {
      throw refusedUrl(
        `it has the unknown parameter ${JSON.stringify(unknown)}; known are ${URL_PARAMETERS.join(', ')}`,
      )
    }
    this.host = parameters.get('host') ?? (parsed.hostname === NO_HOST ? '' : parsed.hostname.replace(/^\[|\]$/g, ''))
    this.port = parsed.port === '' ? DEFAULT_PORT : Number(parsed.port)
    this.database = decode(parsed.pathname.slice(1), 'database')
    this.role = decode(parsed.username, 'role')
    this.#password = decode(parsed.password, 'password')
    if (this.host === '') throw refusedUrl('it has no host')
    if (this.role === '') throw refusedUrl('it has no role')
    if (this.database === '') throw refusedUrl('it has no database')
    this.tls = tlsLevel(parameters.get('sslmode'), isLocalHost(this.host), settings.insecure ?? false)
    this.#files = {
      ca: parameters.get('sslrootcert'),
      cert: parameters.get('sslcert'),
      key: parameters.get('sslkey'),
    }
  }

  get hasPassword(): boolean {
    return this.#password !== ''
  }

  /** Host and port, for messages. */
  get server(): string {
    if (this.host.startsWith('/')) return this.host
    return `${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.port}`
  }

  toString(): string {
    return `postgres://${encodeURIComponent(this.role)}@${this.server}/${encodeURIComponent(this.database)}`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }

  /** For the driver. */
  clientConfig(settings: ConnectionSettings): ClientConfig {
    return {
      host: this.host,
      port: this.port,
      database: this.database,
      user: this.role,
      password: this.#password,
      ssl: this.#tlsOptions(),
      application_name: APPLICATION_NAME,
      keepAlive: true,
      connectionTimeoutMillis: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    }
  }

  #tlsOptions(): TlsOptions | false {
    if (this.tls === 'off') return false
    const { ca, cert, key } = this.#files
    return {
      rejectUnauthorized: this.tls !== 'encrypted',
      // The driver passes no host name for an IP address, and Node would compare the certificate with `localhost`.
      checkServerIdentity: (_, certificate) =>
        this.tls === 'verify-full' ? checkServerIdentity(this.host, certificate) : undefined,
      ...(ca === null ? {} : { ca: readPem(ca, 'sslrootcert') }),
      ...(cert === null ? {} : { cert: readPem(cert, 'sslcert') }),
      ...(key === null ? {} : { key: readPem(key, 'sslkey') }),
    }
  }
}

/** Stands for a missing host while the URL is parsed; no host has this name. */
const NO_HOST = 'no-host.invalid'

/** The error of `new URL` has the whole text with the password, so it is not passed on. */
function parseUrl(text: string): URL {
  if (!/^postgres(?:ql)?:\/\//i.test(text)) {
    throw refusedUrl('it does not start with postgres:// or postgresql://')
  }
  try {
    // A URL without a host is valid for PostgreSQL (`host=` names a socket) and not for `URL`.
    return new URL(text.replace(/^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?=\/|\?)/i, `$1${NO_HOST}`))
  } catch {
    throw refusedUrl('it cannot be read: in a password, write special characters as %XX')
  }
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refusedUrl(`its ${what} has a % that is not followed by two hexadecimal digits: write %25 for %`)
  }
}

function refusedUrl(why: string): TeamError {
  return new TeamError(
    'refused',
    `The connection URL cannot be used: ${why}. Expected: postgres://ROLE:PASSWORD@HOST:PORT/DATABASE`,
  )
}

function readPem(file: string, parameter: string): string {
  try {
    return readRegularFileSync(file).toString('utf8')
  } catch {
    throw new TeamError('tls', `The file ${JSON.stringify(file)} of ${parameter} in the URL cannot be read.`)
  }
}

/** A directory is that of a Unix socket. */
export function isLocalHost(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

function tlsLevel(mode: string | null, local: boolean, insecure: boolean): TlsLevel {
  if (mode !== null && !isSslMode(mode)) {
    throw refusedUrl(`sslmode=${JSON.stringify(mode)} is unknown; known are ${SSL_MODES.join(', ')}`)
  }
  if (mode === 'verify-ca' || mode === 'verify-full') return mode
  if (local) return mode === 'require' ? (insecure ? 'encrypted' : 'verify-full') : 'off'
  if (mode === 'disable') {
    if (insecure) return 'off'
    throw new TeamError(
      'tls',
      'sslmode=disable would send memories and password unencrypted to another machine. Remove it from the URL, or add ' +
        '--insecure if the network is trusted.',
    )
  }
  // `allow`, `prefer` and `require` do not check the certificate in other programs; without the check anyone between can
  // read along, so it is done here unless it was switched off.
  return insecure ? 'encrypted' : 'verify-full'
}

function isSslMode(mode: string): mode is SslMode {
  return (SSL_MODES as readonly string[]).includes(mode)
}

/** The driver is loaded only where a team is connected. */
async function loadDriver(): Promise<typeof import('pg').default> {
  const module = await import('pg')
  return module.default
}

/**
 * The driver leaves the socket open if it fails while it logs in, for example because there is no password. The server would
 * wait for it a minute, and nobody could drop a database meanwhile. A connection that breaks during a request is also an
 * `error` event, which would end the process if nothing listened; the request itself fails anyway.
 */
function closingOnError(Base: typeof Client): typeof Client {
  return class extends Base {
    constructor(config?: string | ClientConfig) {
      super(config)
      this.on('error', () => undefined)
      this.connection.on('error', () => this.connection.stream.destroy())
    }
  }
}

/** A few connections for requests. */
export class PostgresDatabase {
  readonly target: ConnectionTarget
  readonly #pool: Pool
  readonly #settings: ConnectionSettings
  readonly #inUse = new Set<Client>()

  private constructor(target: ConnectionTarget, pool: Pool, settings: ConnectionSettings) {
    this.target = target
    this.#pool = pool
    this.#settings = settings
  }

  static async open(target: ConnectionTarget, settings: ConnectionSettings = {}): Promise<PostgresDatabase> {
    const { Client, Pool } = await loadDriver()
    const pool = new Pool({
      ...target.clientConfig(settings),
      Client: closingOnError(Client),
      max: MAX_CONNECTIONS,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      allowExitOnIdle: true,
    })
    // The server may end an idle connection at any time; the pool replaces it with the next request.
    pool.on('error', () => undefined)
    return new PostgresDatabase(target, pool, settings)
  }

  /** One statement, which is a transaction. */
  async query<Row extends QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#request<Row>(text, values)
      } catch (error) {
        const failure = toTeamError(error, this.target.server)
        const conflict = failure.state?.startsWith('40') ?? false
        if (!conflict || attempt === CONFLICT_ATTEMPTS) throw failure
      }
    }
  }

  /** Statements on one connection, in one transaction. */
  async transaction<T>(
    work: (run: <Row extends QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>) => Promise<T>,
  ): Promise<T> {
    return await this.#withClient(async (client) => {
      await client.query('BEGIN')
      const result = await work(async (text, values = []) => (await client.query(this.#config(text, values))).rows)
      await client.query('COMMIT')
      return result
    })
  }

  /** Requests that still run fail at once: a server that does not answer must not delay the end of the program. */
  async close(): Promise<void> {
    const ended = this.#pool.end()
    for (const client of this.#inUse) void client.end().catch(() => undefined)
    await ended
  }

  async #request<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    return await this.#withClient(async (client) => (await client.query<Row>(this.#config(text, values))).rows, true)
  }

  /** `query_timeout` is measured here and not in the server: a setting of the session does not survive PgBouncer. */
  #config(text: string, values: unknown[]) {
    return { text, values, query_timeout: this.#settings.requestTimeoutMs ?? REQUEST_TIMEOUT_MS }
  }

  /** `autocommit`: a statement that PostgreSQL refused leaves the connection usable. */
  async #withClient<T>(work: (client: Client) => Promise<T>, autocommit = false): Promise<T> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw toTeamError(error, this.target.server)
    })
    let broken = true
    this.#inUse.add(client)
    try {
      const result = await work(client)
      broken = false
      return result
    } catch (error) {
      const failure = toTeamError(error, this.target.server)
      broken = !(autocommit && failure.state !== null && failure.code !== 'unreachable')
      throw failure
    } finally {
      this.#inUse.delete(client)
      client.release(broken)
    }
  }
}

/** A connection outside of the pool, for listening. */
export async function connectClient(target: ConnectionTarget, settings: ConnectionSettings = {}): Promise<Client> {
  const { Client } = await loadDriver()
  const client = new (closingOnError(Client))(target.clientConfig(settings))
  try {
    await client.connect()
    return client
  } catch (error) {
    throw toTeamError(error, target.server)
  }
}
