/** Runs the store on a worker thread, so that a commit that waits for the disk never delays an answer to a hook. */
import type { MemError } from '../../lib/errors.ts'
import { connectWorker, workerFile } from '../../lib/worker-rpc.ts'
import type { Store } from '../port.ts'
import type { OpenOptions } from './open.ts'
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
  return connectWorker<SqliteStore>({ name: 'store', file, data, onExit })
}
