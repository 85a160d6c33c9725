/** Who may come in: the token, and for browsers the names they may use. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { MemError } from '../errors.ts'

const TOKEN_BYTES = 32
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

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
 * Every request over TCP: a name of this machine (a page that rebinds its own name to 127.0.0.1 sends that name),
 * no foreign origin, and the token.
 */
export function checkAccess(request: IncomingMessage, port: number, token: string): void {
  const hosts = LOOPBACK_NAMES.map((name) => `${name}:${port}`)
  if (!hosts.includes(request.headers.host ?? '')) {
    throw new MemError('forbidden', `this address answers only as ${hosts[0]}`)
  }
  const { origin } = request.headers
  if (origin !== undefined && !hosts.includes(origin.replace(/^http:\/\//, ''))) {
    throw new MemError('forbidden', 'requests from other pages are not answered')
  }
  if (!tokenMatches(token, givenToken(request))) {
    throw new MemError(
      'unauthorized',
      'a token is needed: Authorization: Bearer <the content of the file "token" in the data directory>',
    )
  }
}

function givenToken(request: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1]
}
