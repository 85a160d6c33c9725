/** What a browser is given before it has a token: the viewer's page, and a token for a code that was not used yet. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { MemError } from '../errors.ts'
import { checkOwnPage } from './access.ts'
import { readBody, send } from './rest.ts'
import { sendViewerFile } from './viewer-files.ts'
import { ViewerLinks } from './viewer-link.ts'

const OPEN = '/api/viewer/open'
/** A code and what JSON needs around it. */
const MAX_CODE_BYTES = 1_024

export interface ViewerDoorOptions {
  /** The data directory's. */
  token: string
  /** Null: the page was not built. */
  directory: string | null
  now: () => number
}

export class ViewerDoor {
  readonly #directory: string | null
  readonly #links: ViewerLinks

  constructor({ token, directory, now }: ViewerDoorOptions) {
    this.#directory = directory
    this.#links = new ViewerLinks(token, now)
  }

  link(port: number | null): { url: string; expiresAt: number } {
    if (port === null) {
      throw new MemError('not_found', 'the daemon could open no TCP port for the viewer; see: claude-mem status')
    }
    return this.#links.make(port)
  }

  /** False: it is not for the viewer. Its place was checked before. */
  async answers(request: IncomingMessage, response: ServerResponse, port: number): Promise<boolean> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    if (path === OPEN && request.method === 'POST') {
      checkOwnPage(request, port)
      send(response, 200, { token: this.#links.open(codeOf(await readBody(request, MAX_CODE_BYTES))) })
      return true
    }
    if (path.startsWith('/api/')) return false
    sendViewerFile(request, response, path, this.#directory)
    return true
  }
}

function codeOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string') return body.code
  throw new MemError('bad_request', 'a code is needed: {"code": "…"}')
}
