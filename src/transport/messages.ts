/** Messages on the WebSocket, and the requests of one connection that wait for their answers. Runs in browsers too. */
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import type { StreamItem } from '../daemon/actors/stream.ts'
import { PROTOCOL_VERSION } from '../domain/protocol.ts'
import { type ErrorCode, MemError } from '../lib/errors.ts'

/** An answer has the `id` of its request. Its other fields are the operation's output. */
export interface AnswerMessage {
  v: number
  id: string
  type: string
}

export interface ErrorMessage extends AnswerMessage {
  type: 'error'
  code: string
  message: string
  retryable: boolean
}

/** What subscribers get after each change. It has no `id`. */
export type StreamMessage = { v: number } & StreamItem

/** Default time to wait for an answer, in ms. */
const ANSWER_TIMEOUT_MS = 30_000

interface PendingRequest {
  resolve(answer: AnswerMessage): void
  reject(error: unknown): void
}

export class PendingRequests {
  readonly #pending = new Map<string, PendingRequest>()
  #nextId = 0

  /** Rejects with the daemon's error, or with `not_running` where no answer arrives in time. */
  async send<N extends OperationName>(
    send: (text: string) => void,
    name: N,
    ...[input, timeoutMs = ANSWER_TIMEOUT_MS]: CallArguments<N>
  ): Promise<OutputOf<N>> {
    const id = String(++this.#nextId)
    let timer: ReturnType<typeof setTimeout> | undefined
    const answer = await new Promise<AnswerMessage>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject })
      timer = setTimeout(
        () => reject(new MemError('not_running', `the daemon did not answer within ${timeoutMs / 1000} s`)),
        timeoutMs,
      )
      send(JSON.stringify({ ...input, v: PROTOCOL_VERSION, id, type: name }))
    }).finally(() => {
      clearTimeout(timer)
      this.#pending.delete(id)
    })
    if (isErrorMessage(answer)) {
      throw new MemError(answer.code as ErrorCode, answer.message, { retryable: answer.retryable })
    }
    const { v: _v, id: _id, type: _type, ...output } = answer
    // The daemon derives its answers from the same definitions.
    return output as OutputOf<N>
  }

  settle(answer: AnswerMessage): void {
    this.#pending.get(answer.id)?.resolve(answer)
  }

  /** The connection is closed: no answer will come. */
  rejectAll(): void {
    const closed = new MemError('not_running', 'the daemon closed the connection', { retryable: true })
    for (const { reject } of this.#pending.values()) reject(closed)
    this.#pending.clear()
  }
}

export function isStreamMessage(message: AnswerMessage | StreamMessage): message is StreamMessage {
  return message.type === 'commit' || message.type === 'change'
}

function isErrorMessage(answer: AnswerMessage): answer is ErrorMessage {
  return answer.type === 'error'
}
