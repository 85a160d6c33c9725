/**
 * Errors of the shared log: why a request failed, whether it is worth trying again, and what to do. A message never has the
 * password or the text of a record: PostgreSQL quotes rows in `detail` and `where`, so only its code and message are kept.
 */
import { systemCode } from '../lib/errors.ts'

export type TeamErrorCode =
  /** Wrong or missing password, or a role that may not log in. */
  | 'auth'
  | 'unreachable'
  | 'tls'
  /** The server or the role accepts no writes. */
  | 'read_only'
  /** Written by a newer claude-mem that older ones cannot use. */
  | 'schema_newer'
  /** `claude-mem team init` has not been run, or not by a claude-mem as new as this. */
  | 'schema_missing'
  /** The role has no right to do this. */
  | 'denied'
  /** No disk space, memory or connection left in the server. */
  | 'server_full'
  /** It will never be accepted as it is. */
  | 'refused'
  | 'timeout'
  | 'internal'

const RETRYABLE: ReadonlySet<TeamErrorCode> = new Set(['unreachable', 'read_only', 'server_full', 'timeout'])

export class TeamError extends Error {
  readonly code: TeamErrorCode
  readonly retryable: boolean
  /** SQLSTATE, where PostgreSQL answered. */
  readonly state: string | null
  /** Name of the constraint that a record violates. */
  readonly constraint: string | null

  constructor(
    code: TeamErrorCode,
    message: string,
    options: { retryable?: boolean; state?: string | null; constraint?: string | null } = {},
  ) {
    super(message)
    this.name = 'TeamError'
    this.code = code
    this.retryable = options.retryable ?? RETRYABLE.has(code)
    this.state = options.state ?? null
    this.constraint = options.constraint ?? null
  }
}

/** SQLSTATEs that `claude_mem` functions raise themselves; their messages are ours and say what to do. */
export const OWN_STATES = { refused: 'CM001', denied: 'CM002', authorName: 'CM003', newer: 'CM004' } as const

const AUTH_STATES = new Set(['28000', '28P01'])
const MISSING_STATES = new Set(['3F000', '42P01', '42883', '42703'])
const TIMEOUT_STATES = new Set(['57014', '55P03', '25P03', '25P04'])
const CONFLICT_STATES = new Set(['40001', '40P01'])

const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOENT',
  'EACCES',
])

/** Codes of Node for a certificate that cannot be verified. */
const UNKNOWN_ISSUER = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
])

/** `server` is what messages call the server: host and port, never the password. */
export function toTeamError(error: unknown, server: string): TeamError {
  if (error instanceof TeamError) return error
  if (!(error instanceof Error)) return new TeamError('internal', `PostgreSQL at ${server}: unknown error`)
  const state = sqlState(error)
  if (state !== null) return fromState(error, state, server)
  return fromConnection(error, server)
}

/** Five characters, set only on errors that PostgreSQL sent. */
function sqlState(error: Error): string | null {
  const code = systemCode(error)
  return 'severity' in error && code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : null
}

function fromState(error: Error, state: string, server: string): TeamError {
  const constraint = 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : null
  const make = (code: TeamErrorCode, message: string, retryable?: boolean) =>
    new TeamError(code, message, { state, constraint, ...(retryable === undefined ? {} : { retryable }) })
  const said = quotesInput(state) ? `SQLSTATE ${state}` : error.message

  if (state === OWN_STATES.refused || state === OWN_STATES.authorName) return make('refused', error.message)
  if (state === OWN_STATES.newer) return make('schema_newer', sentence(error.message))
  if (state === OWN_STATES.denied || state === '42501') {
    return make('denied', `${sentence(said)} Ask someone who may grant for \`claude-mem team grant\`.`)
  }
  if (AUTH_STATES.has(state)) return authError(error, make, server)
  if (state === '3D000') return make('refused', `${sentence(said)} Correct the database in the URL, or create it.`)
  if (state === '25006') {
    return make(
      'read_only',
      `PostgreSQL at ${server} accepts no writes: it is a standby, or the role is read-only. ` +
        'Connect to the primary server, or remove default_transaction_read_only from the role.',
    )
  }
  if (MISSING_STATES.has(state)) return make('schema_missing', missingSchema(server))
  if (state.startsWith('53')) {
    return make('server_full', `PostgreSQL at ${server} has no room left (${said}). It is tried again later.`)
  }
  if (TIMEOUT_STATES.has(state)) return make('timeout', `PostgreSQL at ${server} cancelled the request (${said}).`)
  if (CONFLICT_STATES.has(state)) return make('internal', `Conflict of two transactions (${said}).`, true)
  if (state.startsWith('57') || state.startsWith('08')) {
    return make('unreachable', `PostgreSQL at ${server} ended the connection (${said}). It is tried again later.`)
  }
  if (/^(?:22|23|54)/.test(state)) return make('refused', `PostgreSQL does not accept this (${said}).`)
  return make('internal', `PostgreSQL at ${server} failed (SQLSTATE ${state}: ${said}).`, state.startsWith('58'))
}

type MakeError = (code: TeamErrorCode, message: string) => TeamError

function authError(error: Error, make: MakeError, server: string): TeamError {
  if (/no encryption|SSL off/i.test(error.message)) {
    return make(
      'tls',
      `PostgreSQL at ${server} wants TLS: remove sslmode=disable from the URL, or use sslmode=require.`,
    )
  }
  if (/pg_hba\.conf/.test(error.message)) {
    return make('auth', `${sentence(error.message)} Add a line for this host and role to pg_hba.conf of the server.`)
  }
  return make('auth', `${sentence(error.message)} Check role and password in the URL: \`claude-mem team connect URL\`.`)
}

/** The message itself quotes the value for these. */
function quotesInput(state: string): boolean {
  return state.startsWith('22')
}

function sentence(text: string): string {
  const start = text.slice(0, 1).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(start) ? start : `${start}.`
}

export function missingSchema(server: string): string {
  return `PostgreSQL at ${server} has no shared log in this database yet. Run \`claude-mem team init\` once.`
}

function fromConnection(error: Error, server: string): TeamError {
  const code = systemCode(error) ?? ''
  const { message } = error
  if (/password must be a (?:non-empty )?string/.test(message)) {
    return new TeamError('auth', `PostgreSQL at ${server} wants a password and the URL has none.`)
  }
  if (/server signature|SASL/.test(message)) {
    return new TeamError('auth', `PostgreSQL at ${server} could not be authenticated (${message}).`)
  }
  if (/does not support SSL/.test(message)) {
    return new TeamError(
      'tls',
      `PostgreSQL at ${server} offers no TLS. Switch it on in the server (ssl = on), or accept an unencrypted connection ` +
        'with sslmode=disable in the URL and --insecure.',
    )
  }
  const tls = certificateProblem(code, message)
  if (tls !== null) return new TeamError('tls', `${sentence(`the certificate of ${server} ${tls}`)}`)
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code === 'EPROTO') {
    return new TeamError('tls', `No TLS connection with ${server} (${code}).`)
  }
  if (/Query read timeout/.test(message)) {
    return new TeamError('timeout', `PostgreSQL at ${server} did not answer in time. It is tried again later.`)
  }
  if (code === 'ETIMEDOUT' || /timeout/i.test(message)) {
    return new TeamError(
      'unreachable',
      `PostgreSQL at ${server} did not answer in time: check host, port and firewall.`,
    )
  }
  if (UNREACHABLE_CODES.has(code)) {
    return new TeamError('unreachable', `PostgreSQL at ${server} cannot be reached (${code}): check host and port.`)
  }
  if (/[Cc]onnection terminated|connection error|Client was closed|not queryable/.test(message)) {
    return new TeamError(
      'unreachable',
      `The connection with PostgreSQL at ${server} was lost. It is tried again later.`,
    )
  }
  if (error instanceof AggregateError && error.errors.length > 0) return toTeamError(error.errors[0], server)
  return new TeamError('internal', `PostgreSQL at ${server}: ${message}`)
}

function certificateProblem(code: string, message: string): string | null {
  if (UNKNOWN_ISSUER.has(code)) {
    return (
      'is signed by an authority that this machine does not know: download the certificate of the authority from the ' +
      'provider and add sslrootcert=FILE to the URL'
    )
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'is for another host name: use the name that is in the certificate, or sslmode=verify-ca if you trust its authority for this'
  }
  if (code === 'CERT_HAS_EXPIRED') return 'has expired: renew it'
  if (code === 'CERT_NOT_YET_VALID') return 'is not valid yet: check the clocks of both machines'
  if (/^CERT_|certificate/i.test(code)) return `is not valid (${code})`
  return /self-signed certificate|unable to verify/i.test(message)
    ? 'cannot be verified: add sslrootcert=FILE to the URL'
    : null
}
