/**
 * Typed calls to an object on a worker thread. The worker serves an object whose methods answer directly or with a
 * promise; the other side gets the same methods, each answering with a promise. Adding a method to the served object is
 * all it takes.
 *
 * Our own and not birpc or comlink: with either of them the error code, the failure of pending calls when the thread
 * exits, and the refusal to start would still have to be written here.
 */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort, Worker } from 'node:worker_threads'
import { type ErrorCode, errorMessage, MemError, systemCode } from './errors.ts'

type Method = (...args: never[]) => unknown

/** The methods of `T`, each answering with a promise. */
export type Remote<T> = {
  [K in keyof T as T[K] extends Method ? K : never]: T[K] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** The reverse: what a worker may serve for the remote interface `T`. */
export type Served<T> = {
  [K in keyof T]: T[K] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result | Promise<Result>
    : never
}

interface WorkerRequest {
  id: number
  method: string
  args: readonly unknown[]
}

interface WireError {
  code: ErrorCode
  message: string
  retryable: boolean
  cause: { message: string; code: string | undefined } | null
}

type WorkerResponse =
  | { type: 'started'; methods: string[] }
  | { type: 'refused'; error: WireError }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'error'; id: number; error: WireError }
  /** Not the answer to a call: progress, a log line. */
  | { type: 'event'; value: unknown }

interface WorkerOptions<Event> {
  /** For error messages: `store`. */
  name: string
  file: string
  data: unknown
  /** The thread exited without `close()`. */
  onExit?: ((error: MemError) => void) | undefined
  onEvent?: (event: Event) => void
}

/** Starts a worker and resolves when it serves calls. `close()` is answered by the worker first; then the thread ends. */
export function connectWorker<T extends { close(): unknown }, Event = never>(
  options: WorkerOptions<Event>,
): Promise<Remote<T>> {
  const { name, file, data, onExit, onEvent } = options
  const worker = new Worker(file, { workerData: data, name })
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: MemError): void }>()
  let lastId = 0
  let closing = false
  let exited: MemError | null = null

  const call = (method: string, args: readonly unknown[]): Promise<unknown> => {
    if (exited !== null) return Promise.reject(exited)
    lastId += 1
    const request: WorkerRequest = { id: lastId, method, args }
    return new Promise((resolve, reject) => {
      worker.postMessage(request)
      pending.set(request.id, { resolve, reject })
    })
  }
  const close = async (): Promise<void> => {
    closing = true
    await call('close', [])
    await worker.terminate()
  }
  const settle = (response: Extract<WorkerResponse, { id: number }>): void => {
    const caller = pending.get(response.id)
    pending.delete(response.id)
    if (response.type === 'result') caller?.resolve(response.value)
    else caller?.reject(fromWire(response.error))
  }
  const failPending = (code: number, cause: unknown): MemError => {
    const reason = cause === undefined ? `exit code ${code}` : errorMessage(cause)
    const message = closing ? `The ${name} is closed.` : `The ${name} thread exited (${reason}).`
    const error = new MemError('storage', message, { retryable: !closing, ...(cause === undefined ? {} : { cause }) })
    exited = error
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
    return error
  }

  return new Promise((resolve, reject) => {
    let started = false
    let cause: unknown
    worker.on('message', (response: WorkerResponse) => {
      if (response.type === 'started') {
        started = true
        const methods = response.methods.map((method) => [method, (...args: unknown[]) => call(method, args)])
        // The worker is built from the same source: what it serves has the type T, what it emits the type Event.
        resolve({ ...Object.fromEntries(methods), close } as Remote<T>)
      } else if (response.type === 'refused') reject(fromWire(response.error))
      else if (response.type === 'event') onEvent?.(response.value as Event)
      else settle(response)
    })
    // 'exit' always follows 'error'.
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      const error = failPending(code, cause)
      reject(error)
      if (started && !closing) onExit?.(error)
    })
  })
}

/** The worker's side: serves what `open` makes. `toError` maps any error to one with a code. No-op on the main thread. */
export async function serveWorker<Event = never>(
  open: (emit: (event: Event) => void) => object | Promise<object>,
  toError: (error: unknown) => MemError,
): Promise<void> {
  const port = parentPort
  if (port === null) return
  const send = (response: WorkerResponse) => port.postMessage(response)
  try {
    const methods = methodsOf(await open((value) => send({ type: 'event', value })))
    port.on('message', async ({ id, method, args }: WorkerRequest) => {
      try {
        const serve = methods.get(method)
        if (serve === undefined) throw new MemError('internal', `This worker has no method ${method}.`)
        send({ type: 'result', id, value: await serve(...(args as never[])) })
      } catch (error) {
        send({ type: 'error', id, error: toWire(toError(error)) })
      }
    })
    send({ type: 'started', methods: [...methods.keys()] })
  } catch (error) {
    send({ type: 'refused', error: toWire(toError(error)) })
  }
}

/** The same interface as `connectWorker`, served on the calling thread. */
export function callLocally<T extends object>(served: T, toError: (error: unknown) => MemError): Remote<T> {
  const methods = [...methodsOf(served)].map(([name, method]) => [
    name,
    async (...args: never[]) => {
      try {
        return await method(...args)
      } catch (error) {
        throw toError(error)
      }
    },
  ])
  return Object.fromEntries(methods) as Remote<T>
}

function methodsOf(served: object): Map<string, Method> {
  return new Map(Object.entries(served).filter((entry): entry is [string, Method] => typeof entry[1] === 'function'))
}

/** Looks beside the program, then beside and above this module: the bundler puts shared code into a subdirectory. */
export function workerFile(name: string): string {
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

function toWire({ code, message, retryable, cause }: MemError): WireError {
  const sent = cause === undefined ? null : { message: errorMessage(cause), code: systemCode(cause) }
  return { code, message, retryable, cause: sent }
}

/** The cause keeps its code: what went wrong on the disk matters on this side too. */
function fromWire({ code, message, retryable, cause: sent }: WireError): MemError {
  if (sent === null) return new MemError(code, message, { retryable })
  const cause = Object.assign(new Error(sent.message), sent.code === undefined ? {} : { code: sent.code })
  return new MemError(code, message, { retryable, cause })
}
