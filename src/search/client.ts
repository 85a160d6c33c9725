/** Search as the daemon sees it: a thread that answers. */
import type { MemError } from '../errors.ts'
import type { FoundMemory, LinkedObservation, MemoryCounts } from '../store/search-port.ts'
import { Thread, threadFile } from '../thread.ts'
import type { SearchState } from './engine.ts'
import type { SearchOptions } from './open.ts'
import type { SearchAnswer, SearchFilters, SearchRequest } from './query.ts'
import type { FoundVector } from './vectors/vector-set.ts'

export type SearchThreadOptions = SearchOptions

/** What the thread can be asked. */
export interface SearchCalls {
  search(request: SearchRequest): Promise<SearchAnswer>
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>
  /** Other observations of the project that are closest to one in meaning, best first. */
  nearest(project: string, observationId: number, limit: number): Promise<FoundVector[]>
  observations(ids: readonly number[]): Promise<LinkedObservation[]>
  found(rows: readonly number[]): Promise<FoundMemory[]>
  beside(row: number, filters: SearchFilters, before: number, after: number): Promise<number[]>
  passing(filters: SearchFilters, limit: number, offset: number): Promise<number[]>
  state(): Promise<SearchState>
  counts(project: string | null): Promise<MemoryCounts>
  forget(observationIds: readonly number[]): Promise<void>
  /** Vectors were thrown away: they are read anew. */
  reset(): Promise<void>
  /** Everything of one project is filed under another now. */
  moved(from: string, into: string): Promise<void>
  close(): Promise<void>
}
export type SearchMethod = keyof SearchCalls

export interface SearchThreadEvents {
  /** Something that people should know. */
  notice(text: string): void
  log(text: string): void
  /** It is gone; whoever needs it opens another. */
  exited(error: MemError): void
}

const WORKER_NAME = 'search-worker.js'

export async function openSearchThread(
  options: SearchThreadOptions & { workerFile?: string },
  events: SearchThreadEvents,
): Promise<SearchCalls> {
  const { workerFile = threadFile(WORKER_NAME), ...data } = options
  const thread = new Thread({
    name: 'search',
    file: workerFile,
    data,
    onExit: events.exited,
    onSaid: (value) => {
      if (hasText(value, 'notice')) events.notice(value.notice)
      else if (hasText(value, 'log')) events.log(value.log)
    },
  })
  await thread.opened
  // The worker answers each call with what the method of that name returned.
  const call =
    <M extends SearchMethod>(method: M) =>
    (...args: Parameters<SearchCalls[M]>) =>
      thread.call(method, args) as ReturnType<SearchCalls[M]>
  return {
    search: call('search'),
    embed: call('embed'),
    nearest: call('nearest'),
    observations: call('observations'),
    found: call('found'),
    beside: call('beside'),
    passing: call('passing'),
    state: call('state'),
    counts: call('counts'),
    forget: call('forget'),
    reset: call('reset'),
    moved: call('moved'),
    close: () => thread.end('close'),
  }
}

function hasText<K extends string>(value: unknown, key: K): value is Record<K, string> {
  return typeof value === 'object' && value !== null && key in value && typeof Reflect.get(value, key) === 'string'
}
