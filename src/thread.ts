/**
 * Calls to a worker thread of ours and back: by name, each with its answer or its error. What such a thread does is its
 * own business; this is only the wire.
 */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MessagePort, Worker } from 'node:worker_threads'
import { type ErrorCode, MemError, messageOf } from './errors.ts'

interface ThreadRequest {
  id: number
  method: string
  args: readonly unknown[]
}

interface WireError {
  code: ErrorCode
  message: string
  retryable: boolean
  cause: string | null
}

type ThreadResponse =
  | { type: 'open' }
  | { type: 'refused'; error: WireError }
  | { type: 'answer'; id: number; value: unknown }
  | { type: 'error'; id: number; error: WireError }
  /** What nobody asked for: progress, a line for the log. */
  | { type: 'said'; value: unknown }

export interface ThreadOptions {
  /** For people: `store`. */
  name: string
  file: string
  data: unknown
  /** It is gone though nobody ended it. */
  onExit?: ((error: MemError) => void) | undefined
  onSaid?: (value: unknown) => void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: MemError): void
}

export class Thread {
  readonly opened: Promise<void>
  readonly #name: string
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #gone: MemError | null = null
  #ending = false

  constructor({ name, file, data, onExit, onSaid }: ThreadOptions) {
    this.#name = name
    this.#worker = new Worker(file, { workerData: data, name })
    this.opened = new Promise((resolve, reject) => {
      let open = false
      let cause: unknown
      this.#worker.on('message', (response: ThreadResponse) => {
        if (response.type === 'open') {
          open = true
          resolve()
        } else if (response.type === 'refused') reject(fromWire(response.error))
        else if (response.type === 'said') onSaid?.(response.value)
        else this.#settle(response)
      })
      // An exit always follows.
      this.#worker.on('error', (error) => {
        cause = error
      })
      this.#worker.on('exit', (code) => {
        const error = this.#fail(code, cause)
        reject(error)
        if (open && !this.#ending) onExit?.(error)
      })
    })
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#gone !== null) return Promise.reject(this.#gone)
    this.#lastId += 1
    const request: ThreadRequest = { id: this.#lastId, method, args }
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(request)
      this.#waiting.set(request.id, { resolve, reject })
    })
  }

  /** The last call: its answer is waited for, then the thread ends. */
  async end(method: string): Promise<void> {
    this.#ending = true
    await this.call(method, [])
    await this.#worker.terminate()
  }

  #settle(response: Extract<ThreadResponse, { id: number }>): void {
    const waiting = this.#waiting.get(response.id)
    this.#waiting.delete(response.id)
    if (response.type === 'answer') waiting?.resolve(response.value)
    else waiting?.reject(fromWire(response.error))
  }

  #fail(code: number, cause: unknown): MemError {
    const how = cause === undefined ? `exit code ${code}` : messageOf(cause)
    const why = this.#ending ? `The ${this.#name} is closed.` : `The ${this.#name}'s thread ended (${how}).`
    const error = new MemError('storage', why, { retryable: !this.#ending, ...(cause === undefined ? {} : { cause }) })
    this.#gone = error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    return error
  }
}

/** The other end. `open` gives what answers calls; an error that is not ours is given a name by `named`. */
export async function serveThread(
  port: MessagePort,
  open: (say: (value: unknown) => void) => Promise<(method: string, args: readonly unknown[]) => unknown>,
  named: (error: unknown) => MemError,
): Promise<void> {
  const send = (response: ThreadResponse) => port.postMessage(response)
  try {
    const answer = await open((value) => send({ type: 'said', value }))
    port.on('message', async ({ id, method, args }: ThreadRequest) => {
      try {
        send({ type: 'answer', id, value: await answer(method, args) })
      } catch (error) {
        send({ type: 'error', id, error: toWire(named(error)) })
      }
    })
    send({ type: 'open' })
  } catch (error) {
    send({ type: 'refused', error: toWire(named(error)) })
  }
}

/** Beside the program, or beside or above this module: the bundler puts shared code into a directory of its own. */
export function threadFile(name: string): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const program = process.argv[1]
  const directories = [...(program === undefined ? [] : [dirname(realProgram(program))]), here, dirname(here)]
  const found = directories.map((directory) => join(directory, name)).find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new MemError('internal', `${name} is missing beside ${program ?? here}. Install claude-mem again.`)
}

function realProgram(program: string): string {
  return existsSync(program) ? realpathSync(program) : program
}

function toWire(error: MemError): WireError {
  const { code, message, retryable, cause } = error
  return { code, message, retryable, cause: cause === undefined ? null : messageOf(cause) }
}

function fromWire(error: WireError): MemError {
  return new MemError(error.code, error.message, {
    retryable: error.retryable,
    ...(error.cause === null ? {} : { cause: new Error(error.cause) }),
  })
}
