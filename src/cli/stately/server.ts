/** A server for the inspector, on the loopback interface only. It sends; whatever it is sent is not read. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { MemError, messageOf, systemCode } from '../../errors.ts'
import type { InspectionMessage } from './actors.ts'
import { bridgePage } from './page.ts'

const HOST = '127.0.0.1'
const LOCAL_NAMES = [HOST, 'localhost']
/** Nobody has to send us anything; larger frames end their connection. */
const MAX_INCOMING_BYTES = 64 * 1024
/** What may wait unsent for one inspector, in bytes: one that is stuck is let go of. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024

/**
 * Any page in a browser can reach a port of this machine: only the inspector's own, those of this machine, and programs
 * that are no browser may.
 */
export function mayConnect(origin: string | undefined): boolean {
  if (origin === undefined) return true
  const url = URL.canParse(origin) ? new URL(origin) : null
  if (url === null) return false
  const { protocol, hostname } = url
  if (protocol === 'https:') return hostname === 'stately.ai' || hostname.endsWith('.stately.ai')
  return protocol === 'http:' && LOCAL_NAMES.includes(hostname)
}

/** A page that gives its own name this machine's address still says its own name. */
function isLocalName(host: string | undefined): boolean {
  return LOCAL_NAMES.includes((host ?? '').replace(/:\d+$/, ''))
}

export class InspectorServer {
  readonly #http: Server
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INCOMING_BYTES,
    perMessageDeflate: false,
  })
  /** Told first to everyone who comes. */
  readonly #current: () => readonly InspectionMessage[]

  private constructor(current: () => readonly InspectionMessage[]) {
    this.#current = current
    this.#http = createServer((request, response) => {
      if (!isLocalName(request.headers.host) || request.method !== 'GET' || request.url !== '/') {
        response.writeHead(404).end()
        return
      }
      const { html, policy } = bridgePage(this.port, randomBytes(16).toString('base64url'))
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
      response.writeHead(200, { ...headers, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end(html)
    })
    this.#http.on('upgrade', (request, socket, head) => {
      // From here on nobody else listens to what becomes of it.
      socket.on('error', () => undefined)
      if (!this.#isWelcome(request)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (inspector) => {
        inspector.on('error', () => inspector.terminate())
        for (const message of this.#current()) inspector.send(JSON.stringify(message))
      })
    })
  }

  static async open(port: number, current: () => readonly InspectionMessage[]): Promise<InspectorServer> {
    const server = new InspectorServer(current)
    try {
      server.#http.listen(port, HOST)
      await once(server.#http, 'listening')
    } catch (error) {
      const what =
        systemCode(error) === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used: ${messageOf(error)}`
      throw new MemError('already_running', `port ${port} ${what}; choose another one with --port`, { cause: error })
    }
    return server
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#http.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  send(messages: readonly InspectionMessage[]): void {
    for (const text of messages.map((message) => JSON.stringify(message))) {
      for (const inspector of this.#sockets.clients) {
        if (inspector.bufferedAmount > MAX_BACKLOG_BYTES) inspector.terminate()
        else if (inspector.readyState === WebSocket.OPEN) inspector.send(text)
      }
    }
  }

  async close(): Promise<void> {
    for (const inspector of this.#sockets.clients) inspector.terminate()
    const closed = once(this.#http, 'close')
    this.#http.close()
    this.#http.closeAllConnections()
    await closed
  }

  #isWelcome({ headers }: IncomingMessage): boolean {
    return isLocalName(headers.host) && mayConnect(headers.origin)
  }
}
