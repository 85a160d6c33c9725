/** The store on a worker thread, behind the same port. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { MemError, messageOf } from '../../errors.ts'
import { type Answer, type Arguments, type Method, type SqliteStore, StoreFacade } from './facade.ts'
import { fromWire, type Request, type Response, type WorkerOptions } from './wire.ts'

export interface StoreOptions extends WorkerOptions {
  /** The bundled worker; the default lies beside the program that runs. */
  workerFile?: string
  /** The worker is gone though nobody closed the store: nothing can be kept any more. */
  onExit?: (error: MemError) => void
}

const WORKER_NAME = 'store-worker.js'

export async function openStore(options: StoreOptions): Promise<SqliteStore> {
  const { workerFile = defaultWorkerFile(), onExit, ...rest } = options
  const thread = new StoreThread(workerFile, rest, onExit)
  await thread.opened
  return new StoreFacade((method, ...args) => thread.call(method, args))
}

/** Beside the program, or beside or above this module: the bundler puts shared code into a directory of its own. */
function defaultWorkerFile(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  const program = process.argv[1]
  const directories = [...(program === undefined ? [] : [dirname(realProgram(program))]), here, dirname(here)]
  const found = directories.map((directory) => join(directory, WORKER_NAME)).find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new MemError('internal', `${WORKER_NAME} is missing beside ${program ?? here}. Install claude-mem again.`)
}

function realProgram(program: string): string {
  return existsSync(program) ? realpathSync(program) : program
}

interface Waiting {
  resolve(value: Answer<Method>): void
  reject(error: MemError): void
}

class StoreThread {
  readonly opened: Promise<void>
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #gone: MemError | null = null
  #closing = false

  constructor(workerFile: string, options: WorkerOptions, onExit: StoreOptions['onExit']) {
    this.#worker = new Worker(workerFile, { workerData: options, name: 'store' })
    this.opened = new Promise((resolve, reject) => {
      let open = false
      let cause: unknown
      this.#worker.on('message', (response: Response) => {
        if (response.type === 'open') {
          open = true
          resolve()
        } else if (response.type === 'refused') reject(fromWire(response.error))
        else this.#settle(response)
      })
      // An exit always follows.
      this.#worker.on('error', (error) => {
        cause = error
      })
      this.#worker.on('exit', (code) => {
        const error = this.#fail(code, cause)
        reject(error)
        if (open && !this.#closing) onExit?.(error)
      })
    })
  }

  async call<M extends Method>(method: M, args: Arguments<M>): Promise<Answer<M>> {
    if (this.#gone !== null) throw this.#gone
    if (method === 'close') this.#closing = true
    const answered = await this.#ask(method, args)
    if (method === 'close') await this.#worker.terminate()
    return answered
  }

  #ask<M extends Method>(method: M, args: Arguments<M>): Promise<Answer<M>> {
    this.#lastId += 1
    const request: Request<M> = { id: this.#lastId, method, args }
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(request)
      // The worker answers a request with what its own method returned.
      this.#waiting.set(request.id, { resolve: (value) => resolve(value as Answer<M>), reject })
    })
  }

  #settle(response: Extract<Response, { id: number }>): void {
    const waiting = this.#waiting.get(response.id)
    this.#waiting.delete(response.id)
    if (response.type === 'answer') waiting?.resolve(response.value)
    else waiting?.reject(fromWire(response.error))
  }

  #fail(code: number, cause: unknown): MemError {
    const why = this.#closing ? 'The store is closed.' : `The store's thread ended (${describe(code, cause)}).`
    const error = new MemError('storage', why, { retryable: !this.#closing, ...(cause === undefined ? {} : { cause }) })
    this.#gone = error
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    return error
  }
}

function describe(code: number, cause: unknown): string {
  return cause === undefined ? `exit code ${code}` : messageOf(cause)
}
