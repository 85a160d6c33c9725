/** Entry point of the thread that copies the database for one backup. */
import { workerData } from 'node:worker_threads'
import { serveWorker } from '../../lib/worker-rpc.ts'
import { storageError } from '../sqlite/database.ts'
import { copyDatabase } from './backup.ts'

const copier = {
  copyTo: (file: string) => copyDatabase(workerData.databaseFile, file),
  close: () => undefined,
}
export type BackupCopier = typeof copier

await serveWorker(() => copier, storageError)
