/** Entry point of the thread that copies the database for one backup, or removes what was forgotten from one. */
import { workerData } from 'node:worker_threads'
import { serveWorker } from '../../lib/worker-rpc.ts'
import { storageError } from '../sqlite/database.ts'
import type { Tombstones } from '../sqlite/tombstones.ts'
import { copyDatabase } from './backup.ts'
import { cleanCopy } from './clean-copies.ts'

const copier = {
  copyTo: (file: string) => copyDatabase(workerData.databaseFile, file),
  clean: (file: string, tombstones: Tombstones) => cleanCopy(file, workerData.databaseFile, tombstones),
  close: () => undefined,
}
export type BackupCopier = typeof copier

await serveWorker(() => copier, storageError)
