/** The worker thread of the search. Between calls it builds vector indexes. */
import { workerData } from 'node:worker_threads'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import { type Served, serveWorker } from '../lib/worker-rpc.ts'
import { storageError } from '../store/sqlite/database.ts'
import { openSearch } from './engine.ts'
import type { SearchCalls, SearchOptions, SearchWorkerEvent } from './search-thread.ts'

/** Duration of one step of building indexes: the longest time that a call waits for it. */
const BUILD_STEP_MS = 15

await serveWorker<SearchWorkerEvent>((emit) => open(workerData, emit), toSearchError)

async function open(options: SearchOptions, emit: (event: SearchWorkerEvent) => void): Promise<Served<SearchCalls>> {
  const { engine, notes } = await openSearch(options, (text) => emit({ type: 'log', text }))
  const { observations, loadMemories, around, listFiltered, evidence, passagesAround } = engine.reader
  for (const text of notes) emit({ type: 'notice', text })
  let building = false
  const build = () => {
    building = engine.vectors?.build(BUILD_STEP_MS) ?? false
    if (building) setImmediate(build)
  }
  // Scheduled, so that the answer is sent first.
  const buildSoon = () => {
    if (!building) setImmediate(build)
    building = true
  }
  return {
    search: async (request) => {
      const answer = await engine.search(request)
      buildSoon()
      return answer
    },
    similarTo: (project, observationId, limit) => {
      buildSoon()
      return engine.similarTo(project, observationId, limit)
    },
    observations,
    loadMemories,
    around,
    listFiltered,
    evidence,
    passagesAround,
    embed: (texts) => engine.embed(texts),
    state: () => engine.state(),
    counts: (project) => engine.counts(project),
    forget: (ids) => engine.forget(ids),
    reset: () => engine.reset(),
    moved: (from, into) => engine.moved(from, into),
    close: async () => {
      engine.close()
      await engine.vectors?.embedder.close?.()
    },
  }
}

function toSearchError(error: unknown): MemError {
  if (error instanceof MemError) return error
  if (systemCode(error) !== undefined) return storageError(error)
  return new MemError('internal', `The search failed unexpectedly: ${errorMessage(error)}`, { cause: error })
}
