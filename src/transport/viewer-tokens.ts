/**
 * The tokens of viewer pages. A token is worth something only to the daemon that issued it: it is kept in memory, and ends 12
 * hours after its last use, when it is revoked, and with the daemon. No daemon accepts the token of an earlier one: if
 * another program had the port in between, and the user loaded a page from there, that program could read the token of the
 * tab.
 *
 * A page sends its token only after the daemon has proved that it knows it: see viewer-proof.ts.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { ViewerInfo } from '../api/operation.ts'
import { tokenMatches } from './access.ts'
import { computeProof, deriveProofKey, parseViewerToken } from './viewer-proof.ts'

/** A page that was not used for this long needs a new link, in ms. */
const IDLE_MS = 12 * 60 * 60 * 1_000
/** More pages than anyone has open; the one that was not used for the longest time is dropped first. */
const MAX_VIEWERS = 20
const ID_BYTES = 6
const SECRET_BYTES = 32

/** Neither field reveals the token. */
interface Viewer {
  id: string
  tokenHash: string
  proofKey: string
  createdAt: number
  usedAt: number
}

export class ViewerTokens {
  readonly #now: () => number
  readonly #viewers = new Map<string, Viewer>()
  /** Called for each viewer whose access ended. */
  onRevoked: (id: string) => void = () => undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** A token for a new page. */
  async issue(): Promise<string> {
    const id = randomBytes(ID_BYTES).toString('base64url')
    const secret = randomBytes(SECRET_BYTES).toString('base64url')
    const now = this.#now()
    const proofKey = await deriveProofKey(secret)
    for (const dropped of this.#byUse().slice(MAX_VIEWERS - 1)) this.revoke(dropped.id)
    this.#viewers.set(id, { id, tokenHash: hashSecret(secret), proofKey, createdAt: now, usedAt: now })
    return `v2.${id}.${secret}`
  }

  /** The id of the page with this token, which counts as used now; null where the token is not valid. */
  check(token: string): string | null {
    const parsed = parseViewerToken(token)
    const viewer = parsed === null ? null : this.#find(parsed.id)
    if (parsed === null || viewer === null || !tokenMatches(viewer.tokenHash, hashSecret(parsed.secret))) return null
    viewer.usedAt = this.#now()
    return viewer.id
  }

  /** Counts as a use. False where the access has ended. */
  touch(id: string): boolean {
    const viewer = this.#find(id)
    if (viewer !== null) viewer.usedAt = this.#now()
    return viewer !== null
  }

  /** Null for a page that has no access. */
  async prove(id: string, port: number, nonce: string): Promise<string | null> {
    const viewer = this.#find(id)
    return viewer === null ? null : await computeProof(viewer.proofKey, port, nonce)
  }

  list(): Omit<ViewerInfo, 'connected'>[] {
    return this.#byUse().map(({ id, createdAt, usedAt }) => ({ id, createdAt, usedAt, expiresAt: usedAt + IDLE_MS }))
  }

  /** Null: all of them. Returns how many had access. */
  revoke(id: string | null): number {
    const ids = this.#byUse()
      .map((viewer) => viewer.id)
      .filter((known) => id === null || known === id)
    for (const known of ids) {
      this.#viewers.delete(known)
      this.onRevoked(known)
    }
    return ids.length
  }

  #find(id: string): Viewer | null {
    const viewer = this.#viewers.get(id)
    if (viewer === undefined || !this.#isExpired(viewer)) return viewer ?? null
    this.#viewers.delete(id)
    this.onRevoked(id)
    return null
  }

  /** Those with access, the one used last first. */
  #byUse(): Viewer[] {
    return [...this.#viewers.values()].filter((viewer) => !this.#isExpired(viewer)).sort((a, b) => b.usedAt - a.usedAt)
  }

  #isExpired({ usedAt }: Viewer): boolean {
    return this.#now() - usedAt > IDLE_MS
  }
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
