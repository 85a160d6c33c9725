/**
 * `inspect --stately`: shows the daemon's sessions as actors in the Stately inspector until Ctrl-C. A server on this
 * machine serves a page that embeds the inspector (a page of stately.ai) and forwards the daemon's live stream to it.
 *
 * The server of `@statelyai/inspect` 0.7 listens on all network interfaces, so its messages are sent by a server of our
 * own that listens on the loopback interface only. Messages contain states, names of events, reasons that the machine
 * wrote, and counts; no prompts, memories, paths or texts of a provider.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import type { StreamItem } from '../daemon/actors/stream.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import { regionDefinition } from '../statechart/export.ts'
import { MACHINES } from '../statechart/machine-charts.ts'
import type { SessionListItem } from '../store/port.ts'
import { DaemonClient } from '../transport/client.ts'
import { type Cli, interruptSignal, printResult } from './cli.ts'
import { isNotRunning } from './daemon-connection.ts'

const INSPECTOR_URL = 'https://stately.ai/inspect'
const HOST = '127.0.0.1'
const LOCAL_NAMES = [HOST, 'localhost']
/** Time between two attempts to connect to a daemon. */
const RECONNECT_MS = 1_000
/** Sessions listed after a connect. */
const MAX_SESSIONS = 100

export async function serveStatelyInspector(cli: Cli, port: number): Promise<void> {
  const actors = new LiveActors()
  const server = await InspectorServer.open(port, () => actors.current)
  const url = `http://${HOST}:${server.port}`
  const socket = url.replace('http', 'ws')
  printResult(cli, { url, socket, port: server.port }, () => introductionLines(cli, url, socket))
  try {
    await followDaemons(interruptSignal(), cli, actors, server)
  } finally {
    await server.close()
  }
}

function introductionLines(cli: Cli, url: string, socket: string): string[] {
  const { bold, dim } = cli.display().style
  return [
    `${bold('Live actors')} for the Stately inspector: ${bold(url)}`,
    '',
    `  Open that page: it shows ${INSPECTOR_URL} in a frame and forwards the live actors to it.`,
    `  Programs that use the protocol of @statelyai/inspect connect to ${socket}`,
    '',
    '  Nothing is sent before a page or program connects. It then gets session ids, states, events and counts;',
    '  prompts, memories, tool uses, paths and answers of a provider are not sent.',
    '',
    dim('Ctrl-C ends it.'),
  ]
}

/** Follows the running daemon, and the next one after a restart. */
async function followDaemons(
  signal: AbortSignal,
  cli: Cli,
  actors: LiveActors,
  server: InspectorServer,
): Promise<void> {
  let hasWarned = false
  while (!signal.aborted) {
    try {
      await followDaemon(cli.paths, signal, actors, server)
      hasWarned = false
    } catch (error) {
      if (!isNotRunning(error)) throw error
      if (!hasWarned) cli.printStderr('No daemon is running: sessions appear when one starts (claude-mem start).')
      hasWarned = true
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Resolves when the daemon closes the connection. */
async function followDaemon(
  paths: Paths,
  signal: AbortSignal,
  actors: LiveActors,
  server: InspectorServer,
): Promise<void> {
  const client = await DaemonClient.connect(paths)
  const closed = new AbortController()
  client.onClose = () => closed.abort()
  const ended = AbortSignal.any([signal, closed.signal])
  try {
    // Items that arrive before the list of sessions may be newer than the list, so they are applied after it.
    let early: StreamItem[] | null = []
    client.onStream = (item) => {
      if (early === null) server.send(actors.apply(item))
      else early.push(item)
    }
    await client.call('subscribe', { since: null })
    const { sessions } = await client.call('sessions', { status: 'active', limit: MAX_SESSIONS })
    server.send(actors.reset(sessions))
    for (const item of early) server.send(actors.apply(item))
    early = null
    if (!ended.aborted) await once(ended, 'abort')
  } finally {
    client.close()
  }
}

/** The version of @statelyai/inspect whose message format is used. */
const WIRE_VERSION = '0.7.2'
/** Characters of a session's id in the name of its actor. */
const SHORT_ID_CHARS = 8

/** The region whose states the stream has. */
const definition = JSON.stringify(regionDefinition(MACHINES.session, 'life'))

type StateValue = string | { [state: string]: StateValue }

interface ActorSnapshot {
  status: 'active' | 'done' | 'error'
  value: StateValue
  context: Record<string, number | boolean | string | null>
}

interface ActorEvent {
  type: string
  reason: string
}

interface MessageBase {
  _version: string
  sessionId: string
  rootId: string
  /** Epoch ms, as text. */
  createdAt: string
  id: string | null
}

type InspectionMessage = MessageBase &
  (
    | { type: '@xstate.actor'; name: string; definition: string; snapshot: ActorSnapshot }
    | { type: '@xstate.event'; event: ActorEvent }
    | { type: '@xstate.snapshot'; event: ActorEvent; snapshot: ActorSnapshot }
  )

/** The snapshots of all active sessions, and the messages that each change causes. */
export class LiveActors {
  readonly #snapshots = new Map<string, { snapshot: ActorSnapshot; at: number }>()

  /** For an inspector that connects later. */
  get current(): InspectionMessage[] {
    return [...this.#snapshots].map(([session, { snapshot, at }]) => actorMessage(session, snapshot, at))
  }

  /** Replaces all sessions by those that a daemon lists. */
  reset(sessions: readonly SessionListItem[]): InspectionMessage[] {
    this.#snapshots.clear()
    for (const item of sessions) {
      const context = { pending: item.pending + item.processing, failed: item.failed, prompts: item.prompts }
      const snapshot = activeSnapshot(item.state, { ...context, waiting: item.waiting !== null })
      this.#snapshots.set(item.session, { snapshot, at: item.updatedAt })
    }
    return this.current
  }

  apply(item: StreamItem): InspectionMessage[] {
    if (item.type === 'commit') return this.#applyCommit(item)
    if (item.change !== 'erased' && item.change !== 'quarantined') return []
    const known = this.#snapshots.get(item.session)
    if (known === undefined) return []
    this.#snapshots.delete(item.session)
    const status = item.change === 'erased' ? 'done' : 'error'
    const event = { type: item.change.toUpperCase(), reason: item.change }
    return [snapshotMessage(item.session, event, { ...known.snapshot, status }, item.at)]
  }

  #applyCommit(item: StreamItem & { type: 'commit' }): InspectionMessage[] {
    const { session, state, at, usage, effect } = item
    const snapshot = activeSnapshot(state, {
      pending: item.pending,
      failed: item.failed,
      prompts: item.prompts,
      waiting: item.waiting !== null,
      effect: effect?.kind ?? null,
      generation: item.generation,
      contextTokens: item.contextTokens,
      tokens: usage.input + usage.output,
    })
    const isNew = !this.#snapshots.has(session)
    if (item.status === 'active') this.#snapshots.set(session, { snapshot, at })
    else this.#snapshots.delete(session)
    const steps = item.transitions.flatMap(({ event: type, reason, to, at }) => {
      const event = { type, reason: machineReason(reason) }
      // The context is that of the whole commit; only the state is known for each transition.
      const step = { ...snapshot, value: stateValue(to) }
      return [eventMessage(session, event, at), snapshotMessage(session, event, step, at)]
    })
    return isNew ? [actorMessage(session, snapshot, at), ...steps] : steps
  }
}

function activeSnapshot(state: string, context: ActorSnapshot['context']): ActorSnapshot {
  return { status: 'active', value: stateValue(state), context }
}

/** `batching.calling` becomes `{ batching: 'calling' }`. */
function stateValue(state: string): StateValue {
  const [outer = '', ...inner] = state.split('.')
  return inner.length === 0 ? outer : { [outer]: stateValue(inner.join('.')) }
}

/** Only the first clause of a reason: the rest may quote a provider or a model. */
function machineReason(reason: string): string {
  return reason.split(/[:;]/, 1)[0] ?? ''
}

function messageBase(session: string, at: number): MessageBase {
  return { _version: WIRE_VERSION, sessionId: session, rootId: session, createdAt: String(at), id: null }
}

function actorMessage(session: string, snapshot: ActorSnapshot, at: number): InspectionMessage {
  const name = `session ${session.slice(0, SHORT_ID_CHARS)}`
  return { ...messageBase(session, at), type: '@xstate.actor', name, definition, snapshot }
}

function eventMessage(session: string, event: ActorEvent, at: number): InspectionMessage {
  return { ...messageBase(session, at), type: '@xstate.event', id: randomUUID(), event }
}

function snapshotMessage(session: string, event: ActorEvent, snapshot: ActorSnapshot, at: number): InspectionMessage {
  return { ...messageBase(session, at), type: '@xstate.snapshot', event, snapshot }
}

/** Inspectors send nothing that is read; a larger frame closes the connection. */
const MAX_INCOMING_BYTES = 64 * 1024
/** Backpressure: an inspector with more unsent data than this is disconnected. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024

/**
 * Every page in a browser can connect to a port of this machine. Allowed are pages of stately.ai, pages of this machine,
 * and programs that send no origin because they are not browsers.
 */
export function isAllowedOrigin(origin: string | undefined): boolean {
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'https:') return hostname === 'stately.ai' || hostname.endsWith('.stately.ai')
  return protocol === 'http:' && LOCAL_NAMES.includes(hostname)
}

/** Prevents DNS rebinding: a foreign name that resolves to this machine is still in the Host header. */
function isLocalHost(host: string | undefined): boolean {
  return LOCAL_NAMES.includes((host ?? '').replace(/:\d+$/, ''))
}

/** Serves the page, and sends messages to all connected inspectors. What they send is not read. */
export class InspectorServer {
  readonly #http: Server
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_INCOMING_BYTES,
    perMessageDeflate: false,
  })

  private constructor(current: () => readonly InspectionMessage[]) {
    this.#http = createServer((request, response) => {
      if (!isLocalHost(request.headers.host) || request.method !== 'GET' || request.url !== '/') {
        response.writeHead(404).end()
        return
      }
      const { html, policy } = bridgePage(this.port, randomBytes(16).toString('base64url'))
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
      response.writeHead(200, { ...headers, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).end(html)
    })
    this.#http.on('upgrade', (request, socket, head) => {
      // After the upgrade node handles no errors of the socket, and an unhandled one would end the process.
      socket.on('error', () => undefined)
      const { host, origin } = request.headers
      if (!isLocalHost(host) || !isAllowedOrigin(origin)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (inspector) => {
        inspector.on('error', () => inspector.terminate())
        for (const message of current()) inspector.send(JSON.stringify(message))
      })
    })
  }

  /** `current`: the messages that an inspector gets when it connects. */
  static async open(port: number, current: () => readonly InspectionMessage[]): Promise<InspectorServer> {
    const server = new InspectorServer(current)
    try {
      server.#http.listen(port, HOST)
      await once(server.#http, 'listening')
    } catch (error) {
      const isTaken = systemCode(error) === 'EADDRINUSE'
      const what = isTaken ? 'is taken by another program' : `cannot be used: ${errorMessage(error)}`
      throw new MemError('already_running', `port ${port} ${what}; choose another one with --port`, { cause: error })
    }
    return server
  }

  get port(): number {
    const address = this.#http.address()
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
}

/** The page that embeds the inspector and forwards messages to it, with its Content-Security-Policy. */
export function bridgePage(port: number, nonce: string): { html: string; policy: string } {
  const socket = `ws://${HOST}:${port}`
  return {
    policy: [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      'frame-src https://stately.ai https://*.stately.ai',
      `connect-src ${socket}`,
      "frame-ancestors 'none'",
    ].join('; '),
    html: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>claude-mem: live actors</title>
<style nonce="${nonce}">html, body, iframe { width: 100%; height: 100%; margin: 0; border: 0 }</style>
<iframe title="Stately Inspector" src="${INSPECTOR_URL}"></iframe>
<script nonce="${nonce}">
  const frame = document.querySelector('iframe')
  const early = []
  let inspector = null
  addEventListener('message', ({ source, origin, data }) => {
    const ours = source === frame.contentWindow && /^https:\\/\\/([a-z0-9-]+\\.)*stately\\.ai$/.test(origin)
    if (!ours || data?.type !== '@statelyai.connected') return
    inspector = origin
    for (const message of early.splice(0)) frame.contentWindow.postMessage(message, inspector)
  })
  new WebSocket('${socket}').onmessage = ({ data }) => {
    const message = JSON.parse(data)
    if (inspector === null) early.push(message)
    else frame.contentWindow.postMessage(message, inspector)
  }
</script>
</html>
`,
  }
}
