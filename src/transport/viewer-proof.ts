/**
 * How a daemon proves to a viewer page that it knows the page's token, before the page sends it. The page sends its id and
 * a nonce; the answer is an HMAC over port and nonce, with a key that is derived from the token. Another program on the
 * port knows no such key, and a proof that it requests from the real daemon is for the real daemon's port.
 * Runs in Node and in browsers.
 */

/** Where a page asks for a proof. */
export const VIEWER_PROVE_PATH = '/api/viewer/prove'
/** Characters of a nonce: 32 random bytes in hex. */
const NONCE_BYTES = 32
const NONCE = /^[0-9a-f]{64}$/
const TOKEN = /^v2\.([\w-]{1,64})\.([\w-]{1,128})$/

/** `id` is not secret. Null: not a viewer's token. */
export function parseViewerToken(token: string): { id: string; secret: string } | null {
  const [, id, secret] = TOKEN.exec(token) ?? []
  return id === undefined || secret === undefined ? null : { id, secret }
}

export function makeNonce(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
}

export function isNonce(given: unknown): given is string {
  return typeof given === 'string' && NONCE.test(given)
}

/** The key of proofs. It does not reveal the secret, so the daemon can keep it in place of the token. */
export async function deriveProofKey(secret: string): Promise<string> {
  return await hmac(new TextEncoder().encode(secret), 'claude-mem proof key')
}

export async function computeProof(proofKey: string, port: number, nonce: string): Promise<string> {
  return await hmac(new TextEncoder().encode(proofKey), `claude-mem daemon\n${port}\n${nonce}`)
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<string> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text))))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
