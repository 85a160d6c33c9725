/** Search has a thread and a read-only connection of its own: however long it takes, no hook waits for it. */
import { parentPort, workerData } from 'node:worker_threads'
import { MemError, messageOf, systemCode } from '../errors.ts'
import { storageError } from '../store/sqlite/errors.ts'
import { serveThread } from '../thread.ts'
import type { SearchMethod, SearchThreadOptions } from './client.ts'
import { openSearch } from './open.ts'

/** Work at indexes between two questions, in ms: what a question may have to wait for. */
const STEP_MS = 15

if (parentPort !== null) await serveThread(parentPort, (say) => open(workerData, say), named)

async function open(options: SearchThreadOptions, say: (value: unknown) => void) {
  const { engine, notes } = await openSearch(options, (text) => say({ log: text }))
  for (const text of notes) say({ notice: text })
  let building = false
  const build = () => {
    building = engine.vectors?.build(STEP_MS) ?? false
    if (building) setImmediate(build)
  }
  /** After the answer: nobody waits for an index. */
  const buildSoon = () => {
    if (!building) setImmediate(build)
    building = true
  }
  const methods: Record<SearchMethod, (...args: never[]) => unknown> = {
    search: async (request: Parameters<typeof engine.search>[0]) => {
      const answer = await engine.search(request)
      buildSoon()
      return answer
    },
    embed: (texts: readonly string[]) => engine.vectors?.embedder.embed(texts) ?? texts.map(() => null),
    nearest: (project: string, observationId: number, limit: number) => {
      buildSoon()
      return engine.similarTo(project, observationId, limit)
    },
    observations: (ids: readonly number[]) => engine.reader.observations(ids),
    found: (rows: readonly number[]) => engine.reader.found(rows),
    beside: (...args: Parameters<typeof engine.reader.beside>) => engine.reader.beside(...args),
    passing: (...args: Parameters<typeof engine.reader.passing>) => engine.reader.passing(...args),
    state: () => engine.state(),
    counts: (project: string | null) => engine.reader.counts(project, engine.state().embedder?.name ?? null),
    forget: (ids: readonly number[]) => engine.forget(ids),
    reset: () => engine.reset(),
    moved: (from: string, into: string) => engine.moved(from, into),
    close: async () => {
      engine.close()
      await engine.vectors?.embedder.close?.()
    },
  }
  return (method: string, args: readonly unknown[]) => {
    const known = Object.hasOwn(methods, method) ? methods[method as SearchMethod] : undefined
    if (known === undefined) throw new MemError('internal', `search knows no ${method}`)
    return known(...(args as never[]))
  }
}

function named(error: unknown): MemError {
  if (error instanceof MemError) return error
  if (systemCode(error) !== undefined) return storageError(error)
  return new MemError('internal', `The search failed unexpectedly: ${messageOf(error)}`, { cause: error })
}
