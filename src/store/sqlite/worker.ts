/** The store's own thread: a commit that waits for the disk never keeps the daemon from answering a hook. */
import { parentPort, workerData } from 'node:worker_threads'
import { serveThread, Thread, threadFile } from '../../thread.ts'
import { SqliteCore } from './core.ts'
import { storageError } from './errors.ts'
import type { Arguments, Method } from './facade.ts'

if (parentPort !== null) {
  await serveThread(
    parentPort,
    async () => {
      const core = await SqliteCore.open({ ...workerData, copyTo: (to) => copyOnThread(workerData.databaseFile, to) })
      // The other end is our own client, which knows no other methods.
      return (method, args) => core.call(method as Method, args as Arguments<Method>)
    },
    storageError,
  )
}

/** Reading and checking a large database takes seconds, in which hooks want their acks. */
async function copyOnThread(databaseFile: string, to: string): Promise<void> {
  const thread = new Thread({ name: 'backup', file: threadFile('backup-worker.js'), data: { databaseFile, to } })
  await thread.opened
  await thread.end('copy')
}
