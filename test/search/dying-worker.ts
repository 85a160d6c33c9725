/** The search thread as it is, but for one question that kills it. */
import { parentPort } from 'node:worker_threads'
import '../../src/search/worker.ts'

parentPort?.on('message', ({ args }: { args: readonly unknown[] }) => {
  const [request] = args
  if (typeof request === 'object' && request !== null && 'query' in request && request.query === 'die') process.exit(7)
})
