/** Entry point of the store's thread. */
import { workerData } from 'node:worker_threads'
import { connectWorker, serveWorker, workerFile } from '../../lib/worker-rpc.ts'
import type { BackupCopier } from '../recovery/backup-worker.ts'
import { openSqliteStore, storeErrors } from './store.ts'

await serveWorker(() => openSqliteStore({ ...workerData, copyTo: copyOnThread }), storeErrors(workerData?.databaseFile))

/** Copying and checking a large database takes seconds; commits continue in the meantime. */
async function copyOnThread(to: string): Promise<void> {
  const data = { databaseFile: workerData.databaseFile }
  const copier = await connectWorker<BackupCopier>({ name: 'backup', file: workerFile('backup-worker.js'), data })
  try {
    await copier.copyTo(to)
  } finally {
    await copier.close()
  }
}
