/** Entry point of the store's thread. */
import { workerData } from 'node:worker_threads'
import { connectWorker, type Remote, serveWorker, workerFile } from '../../lib/worker-rpc.ts'
import type { BackupCopier } from '../recovery/backup-worker.ts'
import { openSqliteStore, storeErrors } from './store.ts'

await serveWorker(
  () =>
    openSqliteStore({
      ...workerData,
      copyTo: (to) => onBackupThread((copier) => copier.copyTo(to)),
      cleanCopy: (file, tombstones) => onBackupThread((copier) => copier.clean(file, tombstones)),
    }),
  storeErrors(workerData?.databaseFile),
)

/** Copying and checking a large database takes seconds; commits continue in the meantime. */
async function onBackupThread<T>(work: (copier: Remote<BackupCopier>) => Promise<T>): Promise<T> {
  const data = { databaseFile: workerData.databaseFile }
  const copier = await connectWorker<BackupCopier>({ name: 'backup', file: workerFile('backup-worker.js'), data })
  try {
    return await work(copier)
  } finally {
    await copier.close()
  }
}
