/** A program's connection to the daemon: operations over one WebSocket on the local socket. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { PROTOCOL_VERSION } from '../domain/protocol.ts'
import { isUnresponsive, MemError } from '../lib/errors.ts'
import { prepareSocketDirectory } from '../lib/own-directory.ts'
import type { Paths } from '../lib/paths.ts'
import { VERSION } from '../lib/version.ts'
import { AGENT_PROJECT_HEADER } from './access.ts'
import { unresponsiveError } from './lock-holder.ts'
import { type AnswerMessage, isStreamMessage, PendingRequests, type StreamMessage } from './messages.ts'

/** A daemon that is well answers in milliseconds. */
const CONNECT_TIMEOUT_MS = 1_000

interface ConnectOptions {
  /** Key of the project in which the agent works that this connection acts for; left out: it acts for a person. */
  agentProject?: string
}

/**
 * A new socket for each connection: after a restart the daemon may have another socket and another token. Throws `forbidden`
 * where another user could listen in place of the daemon.
 */
export function openLocalSocket(paths: Paths, { agentProject }: ConnectOptions = {}): WebSocket {
  prepareSocketDirectory(paths)
  // Not as `ws+unix:PATH:/`: a path may contain characters that mean something in an address.
  const socket = new WebSocket('ws://localhost/', {
    createConnection: () => {
      // Of the socket itself: `handshakeTimeout` has no effect on one that was made here. `ws` ends it with the handshake.
      const local = connect({ path: paths.socket, timeout: CONNECT_TIMEOUT_MS })
      return local.once('timeout', () => local.destroy(unresponsiveError(paths)))
    },
    perMessageDeflate: false,
    // A header is ASCII.
    ...(agentProject === undefined ? {} : { headers: { [AGENT_PROJECT_HEADER]: encodeURIComponent(agentProject) } }),
  })
  // On Windows any user may open a named pipe, so the first message has to carry the token.
  if (process.platform === 'win32') {
    const token = readFileSync(paths.token, 'utf8').trim()
    const hello = { v: PROTOCOL_VERSION, id: 'hello', type: 'hello', version: VERSION, token }
    socket.once('open', () => socket.send(JSON.stringify(hello)))
  }
  return socket
}

export class DaemonClient {
  readonly #socket: WebSocket
  readonly #requests = new PendingRequests()
  onStream: (message: StreamMessage) => void = () => undefined
  onClose: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.#receive(String(data)))
    socket.on('close', () => {
      this.#requests.rejectAll()
      this.onClose()
    })
    socket.on('error', () => undefined)
  }

  /** Rejects with `not_running` where no daemon listens, and with `unresponsive` where one does not answer. */
  static async connect(paths: Paths, options: ConnectOptions = {}): Promise<DaemonClient> {
    const socket = openLocalSocket(paths, options)
    try {
      await once(socket, 'open')
    } catch (cause) {
      if (isUnresponsive(cause)) throw cause
      const text = 'the daemon is not running; start it with: claude-mem start'
      throw new MemError('not_running', text, { cause, retryable: true })
    }
    return new DaemonClient(socket)
  }

  call<N extends OperationName>(name: N, ...args: CallArguments<N>): Promise<OutputOf<N>> {
    return this.#requests.send((text) => this.#socket.send(text), name, ...args)
  }

  close(): void {
    this.#socket.close()
  }

  #receive(text: string): void {
    const message: AnswerMessage | StreamMessage = JSON.parse(text)
    if (isStreamMessage(message)) this.onStream(message)
    else this.#requests.settle(message)
  }
}
