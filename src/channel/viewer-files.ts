/** The viewer's page: a few files beside the program, for a browser that has no token yet. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, extname, join } from 'node:path'
import { MemError, systemCode } from '../errors.ts'
import { isOurHost } from './access.ts'

const INDEX = 'index.html'

const CONTENT_TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.png', 'image/png'],
  ['.ico', 'image/x-icon'],
  ['.woff2', 'font/woff2'],
])

/** A program lies in the build's directory or in `chunks` below it; the sources have the build beside them. */
const FOLDERS_UP = 2

/** The built page of the program whose code is in `directory`; null: it was not built. */
export function viewerDirectory(directory: string): string | null {
  let at = directory
  for (let up = 0; up < FOLDERS_UP; up++, at = dirname(at)) {
    const found = [join(at, 'viewer'), join(at, 'dist', 'viewer')].find((place) => existsSync(join(place, 'app.js')))
    if (found !== undefined) return found
  }
  return null
}

/** Nothing may be loaded from elsewhere, framed, guessed or told to others, whatever a stored text holds. */
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

/** `path`: as it was asked for, nothing decoded: names that need it are not among ours. */
export function sendViewerFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  directory: string | null,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new MemError('not_found', `${request.method} is not possible here`)
  }
  const name = path === '/' ? INDEX : path.slice(1)
  const names = namesIn(directory)
  if (directory === null || !names.includes(INDEX)) {
    send(response, 404, 'text/plain; charset=utf-8', MISSING)
    return
  }
  if (!names.includes(name)) throw new MemError('not_found', `there is nothing at ${path.slice(0, MAX_SHOWN_CHARS)}`)
  send(
    response,
    200,
    CONTENT_TYPES.get(extname(name)) ?? 'application/octet-stream',
    readFileSync(join(directory, name)),
  )
}

const MISSING = 'The page of the viewer is not there. Install claude-mem again, or build it with: npm run build\n'
const MAX_SHOWN_CHARS = 100

/** Only what lies in the directory itself can be asked for. */
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

function send(response: ServerResponse, status: number, type: string, content: string | Buffer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(content),
    'cache-control': 'no-cache',
  })
  response.end(content)
}
