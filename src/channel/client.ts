/** A program's end of the channel: requests and their answers over one WebSocket. */
import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import { type ErrorCode, MemError } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { VERSION } from '../version.ts'
import { type Answer, PROTOCOL_VERSION, type Request, type StreamMessage } from './protocol.ts'

const CONNECT_MS = 1_000
const ANSWER_MS = 30_000

type RequestBody = Request extends infer R ? (R extends Request ? Omit<R, 'v' | 'id'> : never) : never
type AnswerOf<T extends Answer['type']> = Extract<Answer, { type: T }>

export class ChannelClient {
  readonly #socket: WebSocket
  readonly #waiting = new Map<string, { resolve: (answer: Answer) => void; reject: (error: unknown) => void }>()
  #next = 0
  onStream: (message: StreamMessage) => void = () => undefined
  onClose: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => this.#take(String(data)))
    socket.on('close', () => {
      const gone = new MemError('not_running', 'the daemon closed the connection', { retryable: true })
      for (const { reject } of this.#waiting.values()) reject(gone)
      this.#waiting.clear()
      this.onClose()
    })
    socket.on('error', () => undefined)
  }

  /** Rejects with `not_running` where no daemon answers. */
  static async connect(paths: Paths): Promise<ChannelClient> {
    const socket = new WebSocket(`ws+unix:${paths.socket}:/`, {
      handshakeTimeout: CONNECT_MS,
      perMessageDeflate: false,
    })
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

  async request<T extends Answer['type']>(expected: T, body: RequestBody, timeoutMs = ANSWER_MS): Promise<AnswerOf<T>> {
    const id = String(++this.#next)
    let timer: NodeJS.Timeout | undefined
    const answer = await new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      timer = setTimeout(
        () => reject(new MemError('not_running', `the daemon gave no answer within ${timeoutMs / 1000} s`)),
        timeoutMs,
      )
      this.#socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id, ...body }))
    }).finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(id)
    })
    if (answer.type === 'error')
      throw new MemError(answer.code as ErrorCode, answer.message, { retryable: answer.retryable })
    if (!isAnswer(answer, expected))
      throw new MemError('internal', `the daemon answered with ${answer.type}, not ${expected}`)
    return answer
  }

  close(): void {
    this.#socket.close()
  }

  #take(text: string): void {
    const message: Answer | StreamMessage = JSON.parse(text)
    if (message.type === 'commit') this.onStream(message)
    else this.#waiting.get(message.id)?.resolve(message)
  }
}

function isAnswer<T extends Answer['type']>(answer: Answer, type: T): answer is AnswerOf<T> {
  return answer.type === type
}
