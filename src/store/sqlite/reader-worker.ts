/** Entry point of the thread on which a daemon reads for its clients. */
import { workerData } from 'node:worker_threads'
import { serveWorker } from '../../lib/worker-rpc.ts'
import { openSqliteReader } from './reader.ts'
import { storeErrors } from './store.ts'

await serveWorker(() => openSqliteReader(workerData.databaseFile), storeErrors(workerData?.databaseFile))
