/** Who waits for which answer on one connection. Knows no socket: browsers and programs use it alike. */
import { type ErrorCode, MemError } from '../errors.ts'
import { type Answer, PROTOCOL_VERSION, type Request } from './protocol.ts'

export type RequestBody = Request extends infer R ? (R extends Request ? Omit<R, 'v' | 'id'> : never) : never
export type AnswerOf<T extends Answer['type']> = Extract<Answer, { type: T }>

interface Waiting {
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export class Questions {
  readonly #waiting = new Map<string, Waiting>()
  #next = 0

  /** Rejects with what the daemon complained about, or `not_running` where no answer comes in time. */
  async ask<T extends Answer['type']>(
    expected: T,
    body: RequestBody,
    timeoutMs: number,
    send: (text: string) => void,
  ): Promise<AnswerOf<T>> {
    const id = String(++this.#next)
    let timer: ReturnType<typeof setTimeout> | undefined
    const answer = await new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      timer = setTimeout(
        () => reject(new MemError('not_running', `the daemon gave no answer within ${timeoutMs / 1000} s`)),
        timeoutMs,
      )
      send(JSON.stringify({ v: PROTOCOL_VERSION, id, ...body }))
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

  answered(answer: Answer): void {
    this.#waiting.get(answer.id)?.resolve(answer)
  }

  /** Nobody answers any more. */
  giveUp(): void {
    const gone = new MemError('not_running', 'the daemon closed the connection', { retryable: true })
    for (const { reject } of this.#waiting.values()) reject(gone)
    this.#waiting.clear()
  }
}

function isAnswer<T extends Answer['type']>(answer: Answer, type: T): answer is AnswerOf<T> {
  return answer.type === type
}
