/**
 * The server of a team: what is done with it beside pushing and pulling, each time over a connection of its own. The driver is
 * loaded here, so only where a team is connected.
 */
import type { LogAdministration, SharedLog } from './shared-log.ts'
import { teamFailure } from './sync-status.ts'

/** Every method rejects with a `TeamError`. */
export interface LogServer {
  /** Host and port. */
  readonly server: string
  readonly database: string
  readonly role: string
  /** How the connection is protected: `off`, `encrypted`, `verify-ca`, `verify-full`. */
  readonly tls: string
  /** Rejects where the log cannot be used: no schema, a newer one, no rights. */
  open(): Promise<SharedLog & LogAdministration>
  /** Makes or updates the schema. Several may do it at once. */
  init(): Promise<{ applied: number[]; version: number }>
}

/** Rejects with a `TeamError` where the URL cannot be used. */
export async function postgresServer(url: string, insecure: boolean): Promise<LogServer> {
  const [{ openPostgresLog, initPostgresLog }, { ConnectionTarget }] = await Promise.all([
    import('./postgres/log.ts'),
    import('./postgres/connection.ts'),
  ])
  const { server, database, role, tls } = new ConnectionTarget(url, { insecure })
  return {
    server,
    database,
    role,
    tls,
    open: () => openPostgresLog(url, { insecure }),
    init: () => initPostgresLog(url, { insecure }),
  }
}

/** Opens the log for one question. */
export async function withLog<T>(
  server: LogServer,
  use: (log: SharedLog & LogAdministration) => Promise<T>,
): Promise<T> {
  const log = await server.open()
  try {
    return await use(log)
  } finally {
    await log.close()
  }
}

export interface ServerFinding {
  what: string
  state: 'ok' | 'advice' | 'problem'
  /** What was found, and what to do. */
  detail: string
}

/** A transaction that holds back newer records longer than this is worth a word, in ms. */
const LONG_TRANSACTION_MS = 120_000

/** What `team doctor` says about the server: one finding for each thing that must be right, in the order of a connection. */
export async function checkServer(server: LogServer, shared: readonly string[]): Promise<ServerFinding[]> {
  const findings: ServerFinding[] = [tlsFinding(server)]
  let log: SharedLog & LogAdministration
  try {
    log = await server.open()
  } catch (error) {
    return [...findings, { what: 'connection', state: 'problem', detail: teamFailure(error).message }]
  }
  findings.push({ what: 'connection', state: 'ok', detail: `${server.role} at ${server.server}/${server.database}` })
  try {
    findings.push(...(await rightsFindings(log, shared)), await listenFinding(log), await heldBackFinding(log, shared))
  } catch (error) {
    findings.push({ what: 'log', state: 'problem', detail: teamFailure(error).message })
  } finally {
    await log.close()
  }
  return findings
}

function tlsFinding({ tls, server }: LogServer): ServerFinding {
  if (tls === 'verify-full' || tls === 'verify-ca') return { what: 'TLS', state: 'ok', detail: `on, ${tls}` }
  if (tls === 'encrypted') {
    const detail = 'on, but the certificate is not checked: connect without --insecure, with sslrootcert=FILE if needed'
    return { what: 'TLS', state: 'advice', detail }
  }
  const isLocal = /^(?:localhost|127\.|\[?::1|\/)/.test(server)
  if (isLocal) return { what: 'TLS', state: 'ok', detail: 'off: the server is on this machine' }
  return {
    what: 'TLS',
    state: 'advice',
    detail: 'off: passwords and memories travel unencrypted; connect without --insecure',
  }
}

async function rightsFindings(log: SharedLog, shared: readonly string[]): Promise<ServerFinding[]> {
  const repositories = new Map((await log.repositories()).map((repository) => [repository.key, repository]))
  return shared.map((key): ServerFinding => {
    const found = repositories.get(key)
    if (found === undefined) {
      const detail = 'this role may not read it: a member who may grant runs claude-mem team grant ROLE REPOSITORY'
      return { what: key, state: 'problem', detail }
    }
    if (!found.mayWrite) return { what: key, state: 'advice', detail: 'this role may only read it' }
    return { what: key, state: 'ok', detail: found.mayEraseOthers ? 'read, write, erase' : 'read and write' }
  })
}

async function listenFinding(log: SharedLog): Promise<ServerFinding> {
  const unlisten = await log.listen(() => undefined)
  if (unlisten === null) {
    const detail = 'do not arrive, as behind PgBouncer in transaction mode: new memories come with the next request'
    return { what: 'notifications', state: 'advice', detail }
  }
  await unlisten()
  return { what: 'notifications', state: 'ok', detail: 'arrive' }
}

async function heldBackFinding(log: SharedLog, shared: readonly string[]): Promise<ServerFinding> {
  const readable = (await log.repositories()).map(({ key }) => key).filter((key) => shared.includes(key))
  const heldBackMs = readable.length === 0 ? null : (await log.pull(await log.start(readable), 1)).heldBackMs
  if (heldBackMs === null || heldBackMs < LONG_TRANSACTION_MS) {
    return { what: 'transactions', state: 'ok', detail: 'none holds back newer records' }
  }
  const detail = `one of ${Math.round(heldBackMs / 60_000)} minutes holds back newer records: see pg_stat_activity on the server`
  return { what: 'transactions', state: 'advice', detail }
}
