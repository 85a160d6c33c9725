/** Access rules: the token, and for browsers the allowed Host and Origin. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { MemError } from '../lib/errors.ts'
import { moveFileSync, readTextFile } from '../lib/files.ts'

const TOKEN_BYTES = 32
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** On the local socket: the key of the project in which an agent works, percent-encoded. */
export const AGENT_PROJECT_HEADER = 'claude-mem-agent-project'

/** A browser's WebSocket cannot send headers, so it passes its token as a second subprotocol. */
export const SUBPROTOCOL = 'claude-mem.v1'
const TOKEN_SUBPROTOCOL = 'token.'

/** The token of the data directory, created at the first start; only the owner can read the file. */
export function readOrMakeToken(file: string): string {
  const known = readTextFile(file)?.trim() ?? ''
  if (known.length >= TOKEN_BYTES) return known
  // Missing or unreadable: a new one is created, and an error of writing it is reported.
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const beside = `${file}.${process.pid}`
  writeFileSync(beside, `${token}\n`, { mode: 0o600 })
  moveFileSync(beside, file)
  return token
}

export function tokenMatches(expected: string, given: string | undefined): boolean {
  if (given === undefined) return false
  const a = Buffer.from(expected)
  const b = Buffer.from(given)
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Who showed which token. */
export type TokenHolder = { door: 'rest'; viewer: null } | { door: 'viewer'; viewer: string }

export interface AccessTokens {
  /** Of the data directory. */
  token: string
  /** The id of the page with this token; null where it is not valid. */
  checkViewer(token: string): string | null
}

/**
 * For every request over TCP. The Host must be a name of this machine, which stops DNS rebinding; an Origin, where a browser
 * sends one, must be our own page.
 */
export function checkOrigin(request: IncomingMessage, port: number): void {
  if (!isOurHost(request.headers.host, port)) {
    throw new MemError('forbidden', `use ${LOOPBACK_NAMES[0]}:${port} as the Host of this address`)
  }
  const { origin } = request.headers
  if (origin !== undefined && !isOurOrigin(origin, port)) throw otherOrigin()
}

/** Accepts the data directory's token and tokens of viewers. */
export function checkToken(request: IncomingMessage, tokens: AccessTokens): TokenHolder {
  const given = bearerToken(request) ?? subprotocolToken(request)
  if (given !== undefined && tokenMatches(tokens.token, given)) return { door: 'rest', viewer: null }
  const viewer = given === undefined ? null : tokens.checkViewer(given)
  if (viewer !== null) return { door: 'viewer', viewer }
  throw new MemError(
    'unauthorized',
    'a token is required: Authorization: Bearer <content of the file "token" in the data directory>',
  )
}

/** Null: the connection acts for a person. An unreadable value is a project that does not exist. */
export function agentProject({ headers }: IncomingMessage): string | null {
  const given = headers[AGENT_PROJECT_HEADER]
  if (typeof given !== 'string') return null
  try {
    return decodeURIComponent(given)
  } catch {
    return ''
  }
}

/** For requests of our own page only: browsers set these headers themselves, and no page can forge them. */
export function checkOwnPage(request: IncomingMessage, port: number): void {
  const { origin } = request.headers
  if (origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : isOurOrigin(origin, port)) return
  throw otherOrigin()
}

/** Programs send the token as a header. A token in the subprotocol comes from a page, which must be our own. */
export function checkUpgrade(request: IncomingMessage, port: number, tokens: AccessTokens): TokenHolder {
  checkOrigin(request, port)
  if (bearerToken(request) === undefined && subprotocolToken(request) !== undefined) checkOwnPage(request, port)
  return checkToken(request, tokens)
}

export function isOurHost(host: string | undefined, port: number): boolean {
  return LOOPBACK_NAMES.some((name) => host === `${name}:${port}`)
}

function isOurOrigin(origin: string, port: number): boolean {
  return origin.startsWith('http://') && isOurHost(origin.slice('http://'.length), port)
}

function otherOrigin(): MemError {
  return new MemError('forbidden', 'requests from other origins are refused')
}

function bearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]
}

function subprotocolToken(request: IncomingMessage): string | undefined {
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  return offered.find((name) => name.startsWith(TOKEN_SUBPROTOCOL))?.slice(TOKEN_SUBPROTOCOL.length)
}
