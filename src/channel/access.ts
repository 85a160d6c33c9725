/** Who may come in: the token, and for browsers the names they may use. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { MemError } from '../errors.ts'

const TOKEN_BYTES = 32
const VIEWER_ID_BYTES = 16
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** What a browser's WebSocket speaks, and how it brings its token: it cannot send a header of its own. */
export const SUBPROTOCOL = 'claude-mem.v1'
const TOKEN_SUBPROTOCOL = 'token.'

/** The data directory's token, made on the first start; only its owner can read the file. */
export function readOrMakeToken(file: string): string {
  try {
    const token = readFileSync(file, 'utf8').trim()
    if (token.length >= TOKEN_BYTES) return token
  } catch {
    // Not there yet, or not readable: a new one is made, and failing to write it is an error of its own.
  }
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  const beside = `${file}.${process.pid}`
  writeFileSync(beside, `${token}\n`, { mode: 0o600 })
  renameSync(beside, file)
  return token
}

export function tokenMatches(expected: string, given: string | undefined): boolean {
  if (given === undefined) return false
  const a = Buffer.from(expected)
  const b = Buffer.from(given)
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * A token for one viewer. It can be checked without being remembered, so that an open page outlives its daemon, and it
 * does not give away the token that it was made from.
 */
export function makeViewerToken(token: string): string {
  return viewerToken(token, randomBytes(VIEWER_ID_BYTES).toString('base64url'))
}

function viewerToken(token: string, id: string): string {
  return `v1.${id}.${createHmac('sha256', token).update(`viewer:${id}`).digest('base64url')}`
}

function isViewerToken(token: string, given: string): boolean {
  const id = /^v1\.([\w-]{1,64})\./.exec(given)?.[1]
  return id !== undefined && tokenMatches(viewerToken(token, id), given)
}

/**
 * Whatever is asked over TCP: under a name of this machine (a page that rebinds its own name to 127.0.0.1 sends that
 * name), and by no page but our own.
 */
export function checkPlace(request: IncomingMessage, port: number): void {
  if (!isOurHost(request.headers.host, port)) {
    throw new MemError('forbidden', `this address answers only as ${LOOPBACK_NAMES[0]}:${port}`)
  }
  const { origin } = request.headers
  if (origin !== undefined && !isOurOrigin(origin, port)) throw fromElsewhere()
}

/** The file's token or a viewer's. */
export function checkToken(request: IncomingMessage, token: string): void {
  const given = bearerToken(request) ?? subprotocolToken(request)
  if (given !== undefined && (tokenMatches(token, given) || isViewerToken(token, given))) return
  throw new MemError(
    'unauthorized',
    'a token is needed: Authorization: Bearer <the content of the file "token" in the data directory>',
  )
}

/** For what only a page of ours does: a browser says so by itself, and lets no other page say it. */
export function checkOwnPage(request: IncomingMessage, port: number): void {
  const { origin } = request.headers
  if (origin === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : isOurOrigin(origin, port)) return
  throw fromElsewhere()
}

/** A program brings its token in a header; whoever has to use the subprotocol is a page, which has an origin. */
export function checkUpgrade(request: IncomingMessage, port: number, token: string): void {
  checkPlace(request, port)
  if (bearerToken(request) === undefined && subprotocolToken(request) !== undefined) checkOwnPage(request, port)
  checkToken(request, token)
}

export function isOurHost(host: string | undefined, port: number): boolean {
  return LOOPBACK_NAMES.some((name) => host === `${name}:${port}`)
}

function isOurOrigin(origin: string, port: number): boolean {
  return origin.startsWith('http://') && isOurHost(origin.slice('http://'.length), port)
}

function fromElsewhere(): MemError {
  return new MemError('forbidden', 'requests from other pages are not answered')
}

function bearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]
}

function subprotocolToken(request: IncomingMessage): string | undefined {
  const offered = request.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  return offered.find((name) => name.startsWith(TOKEN_SUBPROTOCOL))?.slice(TOKEN_SUBPROTOCOL.length)
}
