/**
 * The search as a worker thread (worker.ts), so that a slow search never delays a hook. The thread is started at the
 * first call, and again after it crashed or was stopped because it was idle.
 */
import { errorMessage, MemError } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import { connectWorker, type Remote, workerFile } from '../lib/worker-rpc.ts'
import type { Settings } from '../settings/settings.ts'
import type { SearchDatabase } from '../store/sqlite/search-reader.ts'
import type { SearchEngine } from './engine.ts'

/** Calls that the thread answers: those of the engine, and reads of its database. */
export type SearchCalls = Remote<
  Pick<SearchEngine, 'search' | 'embed' | 'similarTo' | 'state' | 'counts' | 'forget' | 'reset' | 'moved' | 'close'> &
    Pick<SearchDatabase, 'observations' | 'loadMemories' | 'around' | 'listFiltered' | 'evidence' | 'passagesAround'>
>

/** What the worker reports without being called: a notice for the user, or a log line. */
export interface SearchWorkerEvent {
  type: 'notice' | 'log'
  text: string
}

interface SearchThreadEvents {
  /** Reports a problem to the user. */
  notice(text: string): void
  log(text: string): void
  /** The thread crashed. */
  exited(error: MemError): void
}

const WORKER_NAME = 'search-worker.js'

type SearchThreadOptions = SearchOptions & { workerFile?: string }

export async function openSearchThread(options: SearchThreadOptions, events: SearchThreadEvents): Promise<SearchCalls> {
  const { workerFile: file = workerFile(WORKER_NAME), ...data } = options
  return connectWorker<SearchCalls, SearchWorkerEvent>({
    name: 'search',
    file,
    data,
    onExit: events.exited,
    onEvent: ({ type, text }) => events[type](text),
  })
}

/** The thread takes 20 MB, and starting it again less than 100 ms: it is stopped after this time without a call. */
const IDLE_TIMEOUT_MS = 60_000

interface LazySearchThreadOptions extends Pick<SearchThreadEvents, 'notice' | 'log'> {
  options: () => SearchThreadOptions
}

export class LazySearchThread {
  readonly #host: LazySearchThreadOptions
  #opening: Promise<SearchCalls> | null = null
  #closed = false
  #idle: NodeJS.Timeout | null = null

  constructor(host: LazySearchThreadOptions) {
    this.#host = host
  }

  /** Throws if the thread cannot be started; the next call tries again. */
  async open(): Promise<SearchCalls> {
    if (this.#closed) throw new MemError('draining', 'the daemon is stopping', { retryable: true })
    this.#opening ??= openSearchThread(this.#host.options(), {
      notice: this.#host.notice,
      log: this.#host.log,
      exited: (error) => {
        this.#opening = null
        this.#host.notice(`the search thread crashed and is started again at the next search: ${error.message}`)
      },
    }).catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    this.#restartIdleTimer()
    return await this.#opening
  }

  /** An idle daemon does not need the memory that word vectors take. */
  #restartIdleTimer(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      const opened = this.#opening
      this.#opening = null
      // Running calls are answered before the thread ends.
      void opened
        ?.then((search) => search.close())
        .catch((error: unknown) => this.#host.log(`the idle search thread could not be closed: ${errorMessage(error)}`))
    }, IDLE_TIMEOUT_MS).unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#idle !== null) clearTimeout(this.#idle)
    try {
      await (await this.#opening)?.close()
    } catch (error) {
      this.#host.log(`the search thread could not be closed: ${errorMessage(error)}`)
    }
  }
}

/** How a search is opened. */
export type SearchOptions = ReturnType<typeof searchOptions>

export function searchOptions(settings: Settings, paths: Paths) {
  return {
    database: paths.database,
    /** `static`, or a model's name or folder. */
    embedder: settings.CLAUDE_MEM_EMBEDDER || 'static',
    modelsDirectory: paths.models,
    vectorsDirectory: paths.vectors,
    /** Number of vectors in a project from which on an HNSW index is built for them. */
    hnswThreshold: settings.CLAUDE_MEM_VECTOR_INDEX_FROM,
  }
}
