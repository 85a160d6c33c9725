/** Copies the database for a backup, on a thread that lives as long as that takes. */
import { parentPort, workerData } from 'node:worker_threads'
import { serveThread } from '../../thread.ts'
import { copyDatabase } from './backup.ts'
import { storageError } from './errors.ts'

if (parentPort !== null) {
  await serveThread(parentPort, async () => () => copyDatabase(workerData.databaseFile, workerData.to), storageError)
}
