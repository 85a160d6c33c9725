/** Addresses that open the viewer once: a code that is exchanged for a token, and is worth nothing afterwards. */
import { createHash, randomBytes } from 'node:crypto'
import { MemError } from '../errors.ts'
import { makeViewerToken } from './access.ts'

const CODE_BYTES = 32
/** A browser opens it at once; a person who copies it needs a moment, in ms. */
const VALID_MS = 120_000
/** Nobody opens more at a time; the oldest goes first. */
const MAX_OPEN = 20

export class ViewerLinks {
  readonly #token: string
  readonly #now: () => number
  /** By the code's hash: what lies in memory opens nothing. */
  readonly #expiresAt = new Map<string, number>()

  constructor(token: string, now: () => number) {
    this.#token = token
    this.#now = now
  }

  make(port: number): { url: string; expiresAt: number } {
    const code = randomBytes(CODE_BYTES).toString('base64url')
    const expiresAt = this.#now() + VALID_MS
    const [oldest] = this.#expiresAt.keys()
    if (this.#expiresAt.size >= MAX_OPEN && oldest !== undefined) this.#expiresAt.delete(oldest)
    this.#expiresAt.set(hashOf(code), expiresAt)
    // Behind the #: a browser sends that part to nobody.
    return { url: `http://127.0.0.1:${port}/#open=${code}`, expiresAt }
  }

  /** The token of a new viewer. */
  open(code: string): string {
    const hash = hashOf(code)
    const expiresAt = this.#expiresAt.get(hash)
    this.#expiresAt.delete(hash)
    if (expiresAt === undefined || expiresAt <= this.#now()) {
      throw new MemError(
        'unauthorized',
        'this link was used already or is too old; run claude-mem viewer for a new one',
      )
    }
    return makeViewerToken(this.#token)
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
