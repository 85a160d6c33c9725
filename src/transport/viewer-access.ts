/**
 * What a browser gets without a token: the viewer's page, a token of its own in exchange for a one-time code that
 * `claude-mem viewer` put into the address, and the proof that this is the daemon that issued the token.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, extname, join } from 'node:path'
import { MemError, systemCode } from '../lib/errors.ts'
import { checkOwnPage, isOurHost } from './access.ts'
import { readBody, send, VIEWER_OPEN_PATH } from './rest.ts'
import { isNonce, VIEWER_PROVE_PATH } from './viewer-proof.ts'
import { ViewerTokens } from './viewer-tokens.ts'

const CODE_BYTES = 32
/** How long a link can be used, in ms: time to copy it by hand. */
const LINK_VALID_MS = 120_000
/** Unused links that are valid at the same time; the oldest is dropped first. */
const MAX_UNUSED_LINKS = 20

export class ViewerLinks {
  readonly #now: () => number
  /** Keyed by the hash of the code, so that a memory dump contains no usable code. */
  readonly #expiresAt = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  create(port: number): { url: string; expiresAt: number } {
    const code = randomBytes(CODE_BYTES).toString('base64url')
    const expiresAt = this.#now() + LINK_VALID_MS
    const [oldest] = this.#expiresAt.keys()
    if (this.#expiresAt.size >= MAX_UNUSED_LINKS && oldest !== undefined) this.#expiresAt.delete(oldest)
    this.#expiresAt.set(hashCode(code), expiresAt)
    // After the #, which a browser does not send to any server.
    return { url: `http://127.0.0.1:${port}/#open=${code}`, expiresAt }
  }

  /** Throws for a code that is not valid; afterwards it no longer is. */
  redeem(code: string): void {
    const hash = hashCode(code)
    const expiresAt = this.#expiresAt.get(hash)
    this.#expiresAt.delete(hash)
    if (expiresAt === undefined || expiresAt <= this.#now()) {
      throw new MemError(
        'unauthorized',
        'this link was already used or has expired; run claude-mem viewer for a new one',
      )
    }
  }
}

function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}

const INDEX_PAGE = 'index.html'

const CONTENT_TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
])

/** The program runs from the build directory or from `chunks` below it. */
const PARENT_FOLDERS = 2

/** The directory of the built page, for a program in `directory`; null: it was not built. */
export function viewerDirectory(directory: string): string | null {
  let at = directory
  for (let up = 0; up < PARENT_FOLDERS; up++, at = dirname(at)) {
    const found = [join(at, 'viewer'), join(at, 'dist', 'viewer')].find((place) => existsSync(join(place, 'app.js')))
    if (found !== undefined) return found
  }
  return null
}

/** Nothing may be loaded from other hosts, framed or sniffed, whatever a stored text contains. */
export function pageHeaders(host: string | undefined, port: number): Record<string, string> {
  const ours = host !== undefined && isOurHost(host, port) ? host : `127.0.0.1:${port}`
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ws://${ours}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  }
}

/** `path` is used without decoding: our file names need none. */
function sendViewerFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  directory: string | null,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    throw new MemError('method_not_allowed', `${request.method} is not allowed here; use GET`)
  }
  const name = path === '/' ? INDEX_PAGE : path.slice(1)
  const names = namesIn(directory)
  if (directory === null || !names.includes(INDEX_PAGE)) {
    sendFile(response, 404, 'text/plain; charset=utf-8', MISSING)
    return
  }
  if (!names.includes(name)) throw new MemError('not_found', `there is nothing at ${path.slice(0, MAX_SHOWN_CHARS)}`)
  sendFile(
    response,
    200,
    CONTENT_TYPES.get(extname(name)) ?? 'application/octet-stream',
    readFileSync(join(directory, name)),
  )
}

const MISSING = 'The viewer page is missing. Install claude-mem again, or build it with: npm run build\n'
const MAX_SHOWN_CHARS = 100

/** Only files directly in the directory are served. */
function namesIn(directory: string | null): string[] {
  if (directory === null) return []
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function sendFile(response: ServerResponse, status: number, type: string, content: string | Buffer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    'cache-control': 'no-cache',
  })
  response.end(content)
}

/** A code, or an id and a nonce, and the JSON around it. */
const MAX_BODY_BYTES = 1_024
/** How a browser requests the script of a service worker. */
const SERVICE_WORKER_HEADER = 'service-worker'
/**
 * The viewer has no service worker. If the browser asks for one, another program that once had this port left it behind,
 * and it could show its own page at this address: this replaces it and removes it.
 */
const REMOVE_SERVICE_WORKER = `self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.registration.unregister()))
`

interface ViewerAccessOptions {
  /** Null: the page was not built. */
  directory: string | null
  now: () => number
}

export class ViewerAccess {
  readonly #directory: string | null
  readonly #links: ViewerLinks
  readonly tokens: ViewerTokens

  constructor({ directory, now }: ViewerAccessOptions) {
    this.#directory = directory
    this.#links = new ViewerLinks(now)
    this.tokens = new ViewerTokens(now)
  }

  createLink(port: number | null): { url: string; expiresAt: number } {
    if (port === null) {
      throw new MemError('not_found', 'the daemon has no TCP port for the viewer; see: claude-mem status')
    }
    return this.#links.create(port)
  }

  /** Returns false for requests that are not the viewer's. The caller has checked Host and Origin. */
  async handle(request: IncomingMessage, response: ServerResponse, port: number): Promise<boolean> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    if (path === VIEWER_OPEN_PATH && request.method === 'POST') {
      checkOwnPage(request, port)
      this.#links.redeem(codeIn(await readBody(request, MAX_BODY_BYTES)))
      send(response, 200, { token: await this.tokens.issue() })
      return true
    }
    if (path === VIEWER_PROVE_PATH && request.method === 'POST') {
      checkOwnPage(request, port)
      send(response, 200, { proof: await this.#prove(await readBody(request, MAX_BODY_BYTES), port) })
      return true
    }
    if (request.headers[SERVICE_WORKER_HEADER] === 'script') {
      response.setHeader('clear-site-data', '"storage"')
      sendFile(response, 200, CONTENT_TYPES.get('.js') ?? '', REMOVE_SERVICE_WORKER)
      return true
    }
    if (path.startsWith('/api/')) return false
    sendViewerFile(request, response, path, this.#directory)
    return true
  }

  async #prove(body: unknown, port: number): Promise<string> {
    const { viewer, nonce }: { viewer?: unknown; nonce?: unknown } =
      typeof body === 'object' && body !== null ? body : {}
    if (typeof viewer !== 'string' || !isNonce(nonce)) {
      throw new MemError('bad_request', 'the body must be {"viewer": "…", "nonce": "…"}')
    }
    const proof = await this.tokens.prove(viewer, port, nonce)
    if (proof === null) {
      throw new MemError('unauthorized', 'the access of this page has ended; run claude-mem viewer for a new link')
    }
    return proof
  }
}

function codeIn(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string') return body.code
  throw new MemError('bad_request', 'the body must be {"code": "…"}')
}
