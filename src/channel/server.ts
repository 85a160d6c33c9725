/**
 * The one door, twice: a Unix socket (a named pipe on Windows) that the file system guards, and 127.0.0.1 where every
 * request needs the token. Both speak WebSocket and REST.
 */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../actors/supervisor.ts'
import { MemError, messageOf, systemCode } from '../errors.ts'
import { type Paths, prepareSocketDirectory } from '../paths.ts'
import { checkPlace, checkToken, checkUpgrade, SUBPROTOCOL, tokenMatches } from './access.ts'
import { removeStaleSocket } from './ownership.ts'
import { type Answer, PROTOCOL_VERSION } from './protocol.ts'
import { answer, errorAnswer } from './requests.ts'
import { handleRest, sendError } from './rest.ts'
import { parseJson, parseRequest, requestId } from './schema.ts'
import type { Service } from './service.ts'
import { CLOSE_TOO_SLOW, Subscriptions } from './subscriptions.ts'
import { ViewerDoor } from './viewer-door.ts'
import { pageHeaders } from './viewer-files.ts'

/** Connections that may wait to be accepted: a thousand hooks at once. */
const BACKLOG = 4_096
const HOST = '127.0.0.1'
/** A client that says nothing for this long after connecting has lost its way, in ms. */
const HEADERS_MS = 10_000

export interface ChannelOptions {
  paths: Paths
  token: string
  service: Service
  port: number
  maxMessageBytes: number
  seq: number
  /** Where the viewer's page was built; null: it was not. */
  viewerDir?: string | null
  log: Log
  now?: () => number
}

/** The local one is guarded by the file system, except on Windows, where anyone may open a named pipe. */
type Door = 'local' | 'tcp'

export class ChannelServer {
  readonly #options: ChannelOptions
  readonly #sockets: WebSocketServer
  readonly #subscriptions: Subscriptions
  readonly #viewer: ViewerDoor
  readonly #local: Server
  readonly #tcp: Server
  #port: number | null = null

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#subscriptions = new Subscriptions(options.seq)
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxMessageBytes,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
    this.#viewer = new ViewerDoor({
      token: options.token,
      directory: options.viewerDir ?? null,
      now: options.now ?? Date.now,
    })
    this.#local = this.#server('local')
    this.#tcp = this.#server('tcp')
    options.service.supervisor.subscribe((item) => this.#subscriptions.publish(item))
  }

  get port(): number | null {
    return this.#port
  }
  get connections(): number {
    return this.#sockets.clients.size
  }
  get followers(): number {
    return this.#subscriptions.size
  }

  async listen(): Promise<void> {
    const { paths, service, log } = this.#options
    prepareSocketDirectory(paths)
    removeStaleSocket(paths.socket)
    await listening(this.#local, { path: paths.socket, backlog: BACKLOG })
    if (process.platform !== 'win32') chmodSync(paths.socket, 0o600)
    try {
      await this.#listenTcp()
    } catch (error) {
      // Hooks do not need TCP: the memory works without viewer and REST.
      service.supervisor.notice('warn', `no TCP port could be opened: ${messageOf(error)}`)
    }
    log('info', 'listening', { socket: paths.socket, port: this.#port })
  }

  async close(): Promise<void> {
    this.#subscriptions.close()
    for (const socket of this.#sockets.clients) socket.close(1001, 'the daemon stops')
    const closed = [this.#local, this.#tcp].filter((server) => server.listening).map(closing)
    setTimeout(() => {
      for (const socket of this.#sockets.clients) socket.terminate()
      this.#local.closeAllConnections()
      this.#tcp.closeAllConnections()
    }, CLOSE_MS).unref()
    await Promise.all(closed)
    rmSync(this.#options.paths.port, { force: true })
  }

  async #listenTcp(): Promise<void> {
    const { port, paths, service } = this.#options
    try {
      await listening(this.#tcp, { host: HOST, port, backlog: BACKLOG })
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE' && systemCode(error) !== 'EACCES') throw error
      await listening(this.#tcp, { host: HOST, port: 0, backlog: BACKLOG })
      const chosen = portOf(this.#tcp)
      service.supervisor.notice(
        'info',
        `port ${port} is taken; REST and viewer are on ${chosen} (CLAUDE_MEM_WORKER_PORT)`,
      )
    }
    this.#port = portOf(this.#tcp)
    writeFileSync(paths.port, `${JSON.stringify({ port: this.#port, pid: process.pid })}\n`, { mode: 0o600 })
  }

  #server(door: Door): Server {
    const server = createServer(
      { headersTimeout: HEADERS_MS, requestTimeout: HEADERS_MS * 3 },
      (request, response) => void this.#handle(request, response, door),
    )
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined)
      try {
        if (door === 'tcp') checkUpgrade(request, this.#port ?? 0, this.#options.token)
      } catch (error) {
        return refuse(socket, error, pageHeaders(request.headers.host, this.#port ?? 0))
      }
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#welcome(client, door))
    })
    server.on('clientError', (_error, socket) => socket.destroy())
    return server
  }

  async #handle(request: IncomingMessage, response: ServerResponse, door: Door): Promise<void> {
    const { service, maxMessageBytes, token } = this.#options
    const port = this.#port ?? 0
    try {
      if (door === 'tcp') {
        for (const [name, value] of Object.entries(pageHeaders(request.headers.host, port))) {
          response.setHeader(name, value)
        }
        checkPlace(request, port)
        if (await this.#viewer.answers(request, response, port)) return
      }
      if (door === 'tcp' || process.platform === 'win32') checkToken(request, token)
    } catch (error) {
      request.resume()
      return sendError(response, error)
    }
    await handleRest(request, response, service, maxMessageBytes)
  }

  #welcome(client: WebSocket, door: Door): void {
    // On Windows the first message has to bring the token.
    const state = { door, trusted: !(door === 'local' && process.platform === 'win32') }
    client.on('message', (data, isBinary) => {
      if (isBinary) client.close(CLOSE_NOT_TEXT, 'messages are text')
      else void this.#take(client, String(data), state)
    })
    client.on('error', (error) => this.#options.log('debug', 'a connection failed', { error }))
  }

  async #take(client: WebSocket, text: string, state: { door: Door; trusted: boolean }): Promise<void> {
    const { service, paths, token } = this.#options
    if (client.readyState !== client.OPEN) return
    let id = ''
    try {
      const json = parseJson(text)
      id = requestId(json)
      const request = parseRequest(json)
      if (!state.trusted) {
        const given = 'token' in request ? request.token : undefined
        if (!tokenMatches(token, given)) throw new MemError('unauthorized', 'the first message has to bring the token')
        state.trusted = true
      }
      if (request.type === 'subscribe') return this.#subscriptions.add(client, request.id, request.since)
      if (request.type === 'viewer_link') {
        if (state.door !== 'local') throw new MemError('forbidden', 'a link is made by claude-mem viewer only')
        const link = this.#viewer.link(this.#port)
        return reply(client, { v: PROTOCOL_VERSION, id, type: 'viewer_link', ...link })
      }
      reply(client, await answer(request, service, paths.dataDir))
    } catch (error) {
      this.#options.log('debug', 'a request failed', { error })
      reply(client, errorAnswer(id, error))
    }
  }
}

/** Whoever asks and asks and reads nothing is let go of: its answers would fill the memory of the daemon. */
function reply(client: WebSocket, message: Answer): void {
  if (client.bufferedAmount > MAX_UNREAD_BYTES) client.close(CLOSE_TOO_SLOW, 'too slow; read your answers')
  else client.send(JSON.stringify(message))
}

/** Answers that wait for one client to read them, in bytes: several of the largest there are. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024
/** WebSocket close code "unsupported data". */
const CLOSE_NOT_TEXT = 1003
/** How long connections may take to say goodbye, in ms. */
const CLOSE_MS = 500

function listening(
  server: Server,
  where: { path: string; backlog: number } | { host: string; port: number; backlog: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closing(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function refuse(socket: Duplex, error: unknown, headers: Record<string, string>): void {
  const status = error instanceof MemError && error.code === 'unauthorized' ? 401 : 403
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': '0' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`)
}
