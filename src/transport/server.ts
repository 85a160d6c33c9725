/**
 * The daemon's server. It listens on a Unix socket (a named pipe on Windows), which the file system protects, and on
 * 127.0.0.1, where every request needs the token. Both speak WebSocket and REST.
 */
import { once } from 'node:events'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { DaemonContext } from '../api/context.ts'
import {
  answerType,
  type CallableName,
  isOperationName,
  OPERATIONS,
  type OperationName,
  runOperation,
} from '../api/index.ts'
import {
  type Caller,
  type ConnectionContext,
  checkDoor,
  LOCAL_CALLER,
  runHandler,
  type ViewerInfo,
} from '../api/operation.ts'
import type { CleanedEvent } from '../domain/clean-event.ts'
import type { Door } from '../domain/doors.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { PROTOCOL_VERSION } from '../domain/protocol.ts'
import { HOOK_PATH } from '../hook/post.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { prepareSocketDirectory } from '../lib/own-directory.ts'
import type { Paths } from '../lib/paths.ts'
import {
  type AccessTokens,
  agentProject,
  checkOrigin,
  checkToken,
  checkUpgrade,
  SUBPROTOCOL,
  tokenMatches,
} from './access.ts'
import { removeStaleSocket } from './daemon-lock.ts'
import { HookDoor } from './hook-door.ts'
import type { AnswerMessage, ErrorMessage } from './messages.ts'
import { HTTP_STATUSES, handleRest, parseJson, sendError } from './rest.ts'
import { CLOSE_TOO_SLOW, Subscriptions } from './subscriptions.ts'
import { pageHeaders, ViewerAccess } from './viewer-access.ts'

/** Connections that may wait to be accepted: a thousand hooks at once. */
const BACKLOG = 4_096
/**
 * Connections that are served at the same time, per listener: a full TCP port must not keep hooks out. More on the socket,
 * because many sessions report at once; a hook that is refused spools its event.
 */
const MAX_CONNECTIONS: Record<Listener, number> = { socket: 2_000, tcp: 200 }
/** Connections beyond the limit that get an answer why; the others are closed. */
const MAX_REFUSED_CONNECTIONS = 50
const HOST = '127.0.0.1'
/** Timeout for a request's headers, in ms. */
const HEADERS_TIMEOUT_MS = 10_000
/** Timeout for a whole request with its body, in ms. */
const REQUEST_TIMEOUT_MS = 30_000
/** How often the timeouts are checked, in ms. */
const TIMEOUT_CHECK_MS = 5_000
/** Unread answers of one client, in bytes: several of the largest there are. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024
/** WebSocket close code "unsupported data". */
const CLOSE_NOT_TEXT = 1003
/** WebSocket close code of a connection whose token was revoked or has expired. */
const CLOSE_ACCESS_ENDED = 4401
/** How much of an unknown operation's name an error quotes. */
const MAX_QUOTED_CHARS = 100
/** How long connections may take to close, in ms. */
const CLOSE_TIMEOUT_MS = 500

export interface DaemonServerOptions {
  /** Left out: on Windows, where any user may open the pipe. */
  localNeedsToken?: boolean
  paths: Paths
  token: string
  context: DaemonContext
  port: number
  maxMessageBytes: number
  /** The newest number of the live stream. */
  seq: number
  /** Directory of the built viewer page; null: it was not built. */
  viewerDir?: string | null
  log: Log
  now?: () => number
  maxConnections?: Record<Listener, number>
}

/** What a server listens on. */
type Listener = 'socket' | 'tcp'

interface Connection {
  client: WebSocket
  door: Door
  /** Key of the project in which an agent works; null: not an agent. */
  project: string | null
  /** Id of the viewer page; null: another program. */
  viewer: string | null
  /** False on a named pipe until a message has brought the token: on Windows any user may open the pipe. */
  trusted: boolean
}

export class DaemonServer {
  readonly #options: DaemonServerOptions
  readonly #sockets: WebSocketServer
  readonly #subscriptions: Subscriptions
  readonly #viewer: ViewerAccess
  readonly #hooks: HookDoor
  readonly #tokens: AccessTokens
  readonly #connections = new Set<Connection>()
  readonly #open: Record<Listener, number> = { socket: 0, tcp: 0 }
  /** Connections beyond the limit. */
  readonly #refused = new WeakSet<Socket>()
  readonly #localNeedsToken: boolean
  readonly #local: Server
  readonly #tcp: Server
  #port: number | null = null

  constructor(options: DaemonServerOptions) {
    this.#options = options
    this.#localNeedsToken = options.localNeedsToken ?? process.platform === 'win32'
    this.#subscriptions = new Subscriptions(options.seq)
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxMessageBytes,
      perMessageDeflate: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
    this.#viewer = new ViewerAccess({
      directory: options.viewerDir ?? null,
      now: options.now ?? Date.now,
    })
    const { context, log, now = Date.now } = options
    this.#hooks = new HookDoor({ context, log, now })
    const { tokens } = this.#viewer
    tokens.onRevoked = (id) => this.#disconnect(id)
    this.#tokens = { token: options.token, checkViewer: (given) => tokens.check(given) }
    this.#local = this.#createServer('socket')
    this.#tcp = this.#createServer('tcp')
    options.context.supervisor.subscribe((item) => this.#subscriptions.publish(item))
  }

  get port(): number | null {
    return this.#port
  }
  get connections(): number {
    return this.#sockets.clients.size
  }
  get subscribers(): number {
    return this.#subscriptions.size
  }

  /** Cleans a large event on the thread of the hooks. */
  cleanAside(event: MemoryEvent): Promise<CleanedEvent> {
    return this.#hooks.clean(event)
  }

  async listen(): Promise<void> {
    const { paths, context, log } = this.#options
    prepareSocketDirectory(paths)
    removeStaleSocket(paths.socket)
    await listen(this.#local, { path: paths.socket })
    if (process.platform !== 'win32') chmodSync(paths.socket, 0o600)
    try {
      await this.#listenTcp()
    } catch (error) {
      // Hooks use the local socket: without TCP only the viewer and REST are missing.
      const next = 'viewer and REST are not available; set CLAUDE_MEM_WORKER_PORT to a free port and restart the daemon'
      context.supervisor.notice('warn', `no TCP port could be opened (${errorMessage(error)}); ${next}`)
    }
    log('info', 'listening', { socket: paths.socket, port: this.#port })
  }

  async close(): Promise<void> {
    this.#subscriptions.close()
    for (const socket of this.#sockets.clients) socket.close(1001, 'the daemon stops')
    const closed = [this.#local, this.#tcp]
      .filter((server) => server.listening)
      .map((server) => once(server.close(), 'close'))
    setTimeout(() => {
      for (const socket of this.#sockets.clients) socket.terminate()
      this.#local.closeAllConnections()
      this.#tcp.closeAllConnections()
    }, CLOSE_TIMEOUT_MS).unref()
    await Promise.all(closed)
    await this.#hooks.close()
    rmSync(this.#options.paths.port, { force: true })
  }

  async #listenTcp(): Promise<void> {
    const { port, paths, context } = this.#options
    try {
      await listen(this.#tcp, { host: HOST, port })
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE' && systemCode(error) !== 'EACCES') throw error
      await listen(this.#tcp, { host: HOST, port: 0 })
      const chosen = portOf(this.#tcp)
      context.supervisor.notice(
        'info',
        `port ${port} is in use; REST and viewer are on ${chosen} (change it with CLAUDE_MEM_WORKER_PORT)`,
      )
    }
    this.#port = portOf(this.#tcp)
    writeFileSync(paths.port, `${JSON.stringify({ port: this.#port, pid: process.pid })}\n`, { mode: 0o600 })
  }

  #createServer(listener: Listener): Server {
    const server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      },
      (request, response) => void this.#handleHttp(request, response, listener),
    )
    const limit = (this.#options.maxConnections ?? MAX_CONNECTIONS)[listener]
    server.maxConnections = limit + MAX_REFUSED_CONNECTIONS
    server.on('connection', (socket: Socket) => {
      this.#open[listener] += 1
      if (this.#open[listener] > limit) this.#refused.add(socket)
      socket.once('close', () => {
        this.#open[listener] -= 1
      })
    })
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined)
      let access: Pick<Connection, 'door' | 'project' | 'viewer'>
      try {
        this.#checkCapacity(request)
        if (listener === 'tcp') {
          access = { ...checkUpgrade(request, this.#port ?? 0, this.#tokens), project: null }
        } else {
          const project = agentProject(request)
          access = { door: project === null ? 'local' : 'mcp', project, viewer: null }
        }
      } catch (error) {
        return refuseUpgrade(socket, error, pageHeaders(request.headers.host, this.#port ?? 0))
      }
      this.#sockets.handleUpgrade(request, socket, head, (client) => this.#accept({ client, ...access }))
    })
    server.on('clientError', (_error, socket) => socket.destroy())
    return server
  }

  async #handleHttp(request: IncomingMessage, response: ServerResponse, listener: Listener): Promise<void> {
    const { context, maxMessageBytes: maxBytes } = this.#options
    const port = this.#port ?? 0
    let caller = LOCAL_CALLER
    try {
      this.#checkCapacity(request)
      if (listener === 'tcp') {
        for (const [name, value] of Object.entries(pageHeaders(request.headers.host, port))) {
          response.setHeader(name, value)
        }
        checkOrigin(request, port)
        if (await this.#viewer.handle(request, response, port)) return
      }
      if (listener === 'tcp') caller = { door: checkToken(request, this.#tokens).door, scope: null }
      else if (this.#localNeedsToken) checkToken(request, { ...this.#tokens, checkViewer: () => null })
    } catch (error) {
      request.resume()
      if (error instanceof MemError && error.code === 'busy') response.setHeader('connection', 'close')
      return sendError(response, error)
    }
    // Only on the local socket: a payload says which files and transcripts are read.
    if (listener === 'socket' && isHookRequest(request)) return await this.#hooks.handle(request, response, caller)
    await handleRest(request, response, context, { caller, maxBytes })
  }

  #checkCapacity({ socket }: IncomingMessage): void {
    if (!this.#refused.has(socket)) return
    throw new MemError('busy', 'too many connections; close some of them, then try again', { retryable: true })
  }

  #accept(accepted: Omit<Connection, 'trusted'>): void {
    const { client, door } = accepted
    const isPipe = (door === 'local' || door === 'mcp') && this.#localNeedsToken
    const connection: Connection = { ...accepted, trusted: !isPipe }
    this.#connections.add(connection)
    client.on('close', () => this.#connections.delete(connection))
    client.on('message', (data, isBinary) => {
      if (isBinary) client.close(CLOSE_NOT_TEXT, 'messages are text')
      else void this.#handleMessage(connection, String(data))
    })
    client.on('error', (error) => this.#options.log('debug', 'a connection failed', { error }))
  }

  async #handleMessage(connection: Connection, text: string): Promise<void> {
    const { client } = connection
    if (client.readyState !== client.OPEN) return
    let id = ''
    let requested: OperationName | null = null
    try {
      const message = parseJson(text)
      id = messageId(message)
      const { name, input } = parseRequest(message)
      requested = name
      this.#checkTrusted(connection, input)
      const caller = this.#callerOf(connection)
      const envelope = { v: PROTOCOL_VERSION, id, type: answerType(name) }
      const operation = OPERATIONS[name]
      if (operation.kind === 'connection') {
        // Answered synchronously: items of the stream must not arrive before the answer.
        checkDoor(name, operation, caller)
        const connectionContext = this.#connectionContext(client)
        const output = runHandler<ConnectionContext, object>(operation, connectionContext, input, caller)
        return reply(client, { ...envelope, ...output })
      }
      const output = await runOperation(name as CallableName, input, this.#options.context, caller)
      reply(client, { ...output, ...envelope })
    } catch (error) {
      this.#options.log('debug', 'a request failed; the client gets the error', { operation: requested, id, error })
      reply(client, errorReply(id, error))
    }
  }

  /** Read for each message: the setting may change while an agent works, and projects may be merged. */
  #callerOf({ door, project }: Connection): Caller {
    const { projects, process: own } = this.#options.context
    if (project === null || !own.limitsAgents()) return { door, scope: null }
    return { door, scope: [projects.keyOf(project), project] }
  }

  #checkTrusted(connection: Connection, input: Record<string, unknown>): void {
    const { viewer } = connection
    // An access that has ended closes its connections; this message was on its way.
    if (viewer !== null && !this.#viewer.tokens.touch(viewer)) {
      throw new MemError('unauthorized', 'the access of this page has ended')
    }
    if (connection.trusted) return
    const given = typeof input.token === 'string' ? input.token : undefined
    if (!tokenMatches(this.#options.token, given)) {
      throw new MemError('unauthorized', 'the first message has to carry the token')
    }
    connection.trusted = true
  }

  #connectionContext(client: WebSocket): ConnectionContext {
    return {
      subscribe: (since) => this.#subscriptions.add(client, since),
      viewerLink: () => this.#viewer.createLink(this.#port),
      viewers: () => this.#listViewers(),
      revokeViewers: (id) => this.#viewer.tokens.revoke(id),
    }
  }

  #listViewers(): ViewerInfo[] {
    const connected = new Set([...this.#connections].map(({ viewer }) => viewer))
    return this.#viewer.tokens.list().map((viewer) => ({ ...viewer, connected: connected.has(viewer.id) }))
  }

  /** Ends the connections of a viewer page. */
  #disconnect(viewer: string): void {
    for (const connection of this.#connections) {
      if (connection.viewer === viewer) connection.client.close(CLOSE_ACCESS_ENDED, 'access ended')
    }
  }
}

function isHookRequest({ url = '' }: IncomingMessage): boolean {
  return url === HOOK_PATH || url.startsWith(`${HOOK_PATH}?`)
}

/** Throws `unsupported_version` for another protocol version and `bad_request` for an unknown type. */
export function parseRequest(message: unknown): { name: OperationName; input: Record<string, unknown> } {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new MemError('bad_request', 'the request is not valid: it is not a JSON object')
  }
  const { v, id: _id, type, ...input } = message as Record<string, unknown>
  if (v !== PROTOCOL_VERSION) {
    throw new MemError('unsupported_version', `this daemon speaks version ${PROTOCOL_VERSION} of the protocol`, {
      retryable: true,
    })
  }
  if (!isOperationName(type)) {
    const named = String(JSON.stringify(type)).slice(0, MAX_QUOTED_CHARS)
    throw new MemError('bad_request', `unknown operation ${named}; see docs/protocol.md`)
  }
  return { name: type, input: unnest(input, OPERATIONS[type].nested ?? []) }
}

/** Clients before 0.2 nest some fields: `{ request: { query, filters: { project } } }`. */
function unnest(input: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  let flat = input
  for (const name of names) {
    const { [name]: inner, ...rest } = flat
    if (typeof inner === 'object' && inner !== null) flat = { ...rest, ...inner }
  }
  return flat
}

/** The id to answer to, also for a request that is not valid. */
function messageId(message: unknown): string {
  const isNamed = typeof message === 'object' && message !== null && 'id' in message
  return isNamed && typeof message.id === 'string' ? message.id : ''
}

function errorReply(id: string, error: unknown): ErrorMessage {
  const known = error instanceof MemError ? error : null
  return {
    v: PROTOCOL_VERSION,
    id,
    type: 'error',
    code: known?.code ?? 'internal',
    message: errorMessage(error),
    // A client may drop what it sent after an error that is not retryable, so an unknown error counts as retryable.
    retryable: known?.retryable ?? true,
  }
}

/** Backpressure: a client that sends requests without reading the answers is disconnected. */
function reply(client: WebSocket, message: AnswerMessage): void {
  if (client.bufferedAmount > MAX_UNREAD_BYTES) client.close(CLOSE_TOO_SLOW, 'too slow; read your answers')
  else client.send(JSON.stringify(message))
}

/** Rejects where the address cannot be used. */
async function listen(server: Server, address: { path: string } | { host: string; port: number }): Promise<void> {
  server.listen({ ...address, backlog: BACKLOG })
  await once(server, 'listening')
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function refuseUpgrade(socket: Duplex, error: unknown, headers: Record<string, string>): void {
  const status = (error instanceof MemError ? HTTP_STATUSES[error.code] : undefined) ?? 403
  const lines = Object.entries({ ...headers, connection: 'close', 'content-length': '0' })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`)
}
