/** The store's own thread: a commit that waits for the disk never keeps the daemon from answering a hook. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { SqliteCore } from './core.ts'
import { storageError } from './errors.ts'
import { type Request, type Response, toWire, type WorkerOptions } from './wire.ts'

if (parentPort !== null) await serve(parentPort, workerData)

async function serve(port: MessagePort, options: WorkerOptions): Promise<void> {
  const say = (response: Response) => port.postMessage(response)
  try {
    const core = await SqliteCore.open(options)
    port.on('message', (request: Request) => void handle(core, request, say))
    say({ type: 'open' })
  } catch (error) {
    say({ type: 'refused', error: toWire(storageError(error)) })
  }
}

async function handle(core: SqliteCore, request: Request, say: (response: Response) => void): Promise<void> {
  const { id, method, args } = request
  try {
    say({ type: 'answer', id, value: await core.call(method, args) })
  } catch (error) {
    say({ type: 'error', id, error: toWire(storageError(error)) })
  }
}
