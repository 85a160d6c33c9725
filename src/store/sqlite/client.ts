/**
 * The store's threads. All commits run on one, so that a commit that waits for the disk never delays an answer to a hook.
 * What clients read runs on another, so that a long read never delays a commit.
 */
import { errorMessage, MemError } from '../../lib/errors.ts'
import { connectWorker, workerFile } from '../../lib/worker-rpc.ts'
import type { Store, StoreReader } from '../port.ts'
import type { OpenOptions } from './open.ts'
import { readOperations, type SqliteReader } from './reader.ts'
import type { SqliteStore } from './store.ts'

/** A function such as `now` cannot be sent to another thread. */
interface StoreOptions extends Omit<OpenOptions, 'now'> {
  /** The bundled worker; by default the one beside the running program. */
  workerFile?: string
  /** The thread exited although the store was not closed: nothing can be stored any more. */
  onExit?: (error: MemError) => void
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const { workerFile: file = workerFile('store-worker.js'), onExit, ...data } = options
  return await connectWorker<SqliteStore>({ name: 'store', file, data, onExit })
}

interface ReaderThreadOptions {
  databaseFile: string
  workerFile?: string
  log(text: string): void
}

/** Starting the thread takes some ten milliseconds, and it takes some megabytes: it ends after this time without a read. */
const IDLE_TIMEOUT_MS = 60_000

/** Reads the database of a running store. Its thread is started with the first read, and again after it was idle or crashed. */
export function openReaderThread(options: ReaderThreadOptions): StoreReader {
  const thread = new ReaderThread(options)
  const names = Object.keys(readOperations) as (keyof typeof readOperations)[]
  const methods = names.map((name) => [name, async (...args: never[]) => call((await thread.open())[name], args)])
  // One method for each operation, as the worker serves them.
  return { ...Object.fromEntries(methods), close: () => thread.close() } as StoreReader
}

function call(method: unknown, args: readonly never[]): unknown {
  if (typeof method !== 'function') throw new MemError('internal', 'The reader thread does not have this operation.')
  return method(...args)
}

class ReaderThread {
  readonly #options: ReaderThreadOptions
  #opening: Promise<StoreReader> | null = null
  #idle: NodeJS.Timeout | null = null
  #closed = false

  constructor(options: ReaderThreadOptions) {
    this.#options = options
  }

  open(): Promise<StoreReader> {
    if (this.#closed) throw new MemError('draining', 'the daemon is stopping', { retryable: true })
    this.#opening ??= this.#start()
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.#end(), IDLE_TIMEOUT_MS).unref()
    return this.#opening
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#idle !== null) clearTimeout(this.#idle)
    await this.#end()
  }

  #start(): Promise<StoreReader> {
    const { databaseFile, workerFile: file = workerFile('reader-worker.js'), log } = this.#options
    const opening = connectWorker<SqliteReader>({
      name: 'reader',
      file,
      data: { databaseFile },
      onExit: (error) => {
        log(`the reader thread crashed and is started again with the next read: ${error.message}`)
        this.#forget(opening)
      },
    })
    opening.catch(() => this.#forget(opening))
    return opening
  }

  #forget(opening: Promise<StoreReader>): void {
    if (this.#opening === opening) this.#opening = null
  }

  /** Reads that are running are answered before the thread ends. */
  async #end(): Promise<void> {
    const opened = this.#opening
    this.#opening = null
    try {
      await (await opened)?.close()
    } catch (error) {
      this.#options.log(`the reader thread could not be closed: ${errorMessage(error)}`)
    }
  }
}
