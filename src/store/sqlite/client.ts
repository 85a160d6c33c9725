/** The store on a worker thread, behind the same port. */
import type { MemError } from '../../errors.ts'
import { Thread, threadFile } from '../../thread.ts'
import { type Answer, type Arguments, type Method, type SqliteStore, StoreFacade } from './facade.ts'
import type { OpenOptions } from './open.ts'

/** A clock cannot be handed to another thread. */
export type WorkerOptions = Omit<OpenOptions, 'now'>

export interface StoreOptions extends WorkerOptions {
  /** The bundled worker; the default lies beside the program that runs. */
  workerFile?: string
  /** The worker is gone though nobody closed the store: nothing can be kept any more. */
  onExit?: (error: MemError) => void
}

const WORKER_NAME = 'store-worker.js'

export async function openStore(options: StoreOptions): Promise<SqliteStore> {
  const { workerFile = threadFile(WORKER_NAME), onExit, ...data } = options
  const thread = new Thread({ name: 'store', file: workerFile, data, onExit })
  await thread.opened
  return new StoreFacade(async <M extends Method>(method: M, ...args: Arguments<M>): Promise<Answer<M>> => {
    const answer = method === 'close' ? await thread.end(method) : await thread.call(method, args)
    // The worker answers a request with what its own method returned.
    return answer as Answer<M>
  })
}
