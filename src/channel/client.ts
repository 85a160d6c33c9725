/** A program's end of the channel: requests and their answers over one WebSocket. */
import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import { MemError } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { VERSION } from '../version.ts'
import type { Answer, StreamMessage } from './protocol.ts'
import { type AnswerOf, Questions, type RequestBody } from './questions.ts'

const CONNECT_MS = 1_000
const ANSWER_MS = 30_000

/** The daemon's local door. */
export function localSocket(paths: Paths): WebSocket {
  return new WebSocket(`ws+unix:${paths.socket}:/`, { handshakeTimeout: CONNECT_MS, perMessageDeflate: false })
}

export class ChannelClient {
  readonly #socket: WebSocket
  readonly #questions = new Questions()
  onStream: (message: StreamMessage) => void = () => undefined
  onClose: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.#take(String(data)))
    socket.on('close', () => {
      this.#questions.giveUp()
      this.onClose()
    })
    socket.on('error', () => undefined)
  }

  /** Rejects with `not_running` where no daemon answers. */
  static async connect(paths: Paths): Promise<ChannelClient> {
    const socket = localSocket(paths)
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve)
      socket.once('error', (cause) =>
        reject(
          new MemError('not_running', 'the daemon is not running; start it with: claude-mem start', {
            cause,
            retryable: true,
          }),
        ),
      )
    })
    const client = new ChannelClient(socket)
    if (process.platform === 'win32') {
      await client.request('hello', {
        type: 'hello',
        version: VERSION,
        token: readFileSync(paths.token, 'utf8').trim(),
      })
    }
    return client
  }

  request<T extends Answer['type']>(expected: T, body: RequestBody, timeoutMs = ANSWER_MS): Promise<AnswerOf<T>> {
    return this.#questions.ask(expected, body, timeoutMs, (text) => this.#socket.send(text))
  }

  close(): void {
    this.#socket.close()
  }

  #take(text: string): void {
    const message: Answer | StreamMessage = JSON.parse(text)
    if (message.type === 'commit' || message.type === 'change') this.onStream(message)
    else this.#questions.answered(message)
  }
}
