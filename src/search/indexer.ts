/**
 * Updates derived data in the background, in small steps: the full-text index, missing vectors of the current embedder,
 * and links from new observations to the older ones that they repeat.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage, MemError } from '../lib/errors.ts'
import { withTimeout } from '../lib/timeout.ts'
import { STOP_WORDS } from '../lib/words.ts'
import type { Store } from '../store/port.ts'
import { type FoundMemory, type NewVector, searchRowId, type UnembeddedObservation } from '../store/search-port.ts'
import type { SearchCalls } from './search-thread.ts'

export interface IndexerProgress {
  what: 'lexical' | 'vectors'
  done: number
  total: number
  /** Null for the full-text index. */
  embedder: string | null
}

interface IndexerOptions {
  store: Pick<Store, 'indexNext' | 'missingEmbeddings' | 'putEmbeddings' | 'link'>
  search: () => Promise<SearchCalls>
  /** Reports a problem to the user. */
  notice(text: string): void
  now(): number
  /** True while the observer works. */
  busy?: () => boolean
  /** Called after an observation of the project was found to repeat another. */
  linked?: (project: string) => void
}

/** Longest time that indexing is deferred while the observer works. */
const MAX_DEFERRED_MS = 60_000
const BUSY_POLL_MS = 500
/** New passages wait this long, so that those of several commits are indexed in one transaction. */
const WORDS_DELAY_MS = 1_000
/** Rows per step. A commit waits for one step at most. */
const INDEX_BATCH = 100
const EMBED_BATCH = 50
/** Cosine from which on an observation may repeat an older one; their words have to agree too. */
const REPETITION_COSINE = 0.95
/** The whole batch may be closer than the older observations, so more than a batch is compared. */
const COMPARED_NEIGHBOURS = EMBED_BATCH + 3

export class Indexer {
  readonly #options: IndexerOptions
  #running: Promise<void> | null = null
  /** The next run: of the words only, or of everything. */
  #again: 'words' | 'all' | null = null
  #soon: NodeJS.Timeout | null = null
  /** A search waits for the words. */
  #isUrgent = false
  #stopped = false
  #progress: IndexerProgress | null = null
  /** Cursor: up to this observation id all vectors of this embedder exist. */
  #embedded = { by: '', to: 0 }
  /** The last reported problem. It is reported once, until a run succeeds. */
  #reported: string | null = null

  constructor(options: IndexerOptions) {
    this.#options = options
  }

  get progress(): IndexerProgress | null {
    return this.#progress ?? (this.#soon === null ? null : { what: 'lexical', done: 0, total: 0, embedder: null })
  }

  /** Before a search: words that were stored a moment ago are indexed now, unless that takes longer than this, in ms. */
  async beforeSearch(timeoutMs: number): Promise<void> {
    if (this.#soon === null || this.#stopped) return
    this.#isUrgent = true
    this.#indexWordsNow()
    await withTimeout(timeoutMs, this.#running ?? Promise.resolve(), undefined)
  }

  /** Starts a run, or schedules another one after the current. */
  wake(): void {
    if (this.#stopped) return
    this.#again = 'all'
    this.#run()
  }

  /** After a commit with passages: schedules a run for the full-text index only. */
  wakeForWords(): void {
    if (this.#stopped) return
    this.#soon ??= setTimeout(() => this.#indexWordsNow(), WORDS_DELAY_MS).unref()
  }

  #indexWordsNow(): void {
    if (this.#soon !== null) clearTimeout(this.#soon)
    this.#soon = null
    this.#again ??= 'words'
    this.#run()
  }

  #run(): void {
    this.#running ??= this.#work().finally(() => {
      this.#running = null
      if (this.#again !== null && !this.#stopped) this.#run()
      else this.#progress = null
    })
  }

  /** Checks everything again from the beginning, for example after the indexes were deleted. */
  startOver(): void {
    // A new object: a running step still writes its cursor to the old one.
    this.#embedded = { by: '', to: 0 }
    this.#progress = { what: 'lexical', done: 0, total: 0, embedder: null }
    this.wake()
  }

  /** Resolves when nothing is left to do. */
  async whenIdle(): Promise<void> {
    while (this.#running !== null || this.#soon !== null) {
      if (this.#soon !== null) this.#indexWordsNow()
      await this.#running
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#again = null
    if (this.#soon !== null) clearTimeout(this.#soon)
    this.#soon = null
    await this.#running
  }

  async #work(): Promise<void> {
    const what = this.#again
    this.#again = null
    try {
      await this.#waitWhileBusy()
      await this.#indexWords()
      if (what === 'all') await this.#embed()
      this.#reported = null
    } catch (error) {
      this.#report(
        `the search index is not up to date, it is tried again after the next change: ${errorMessage(error)}`,
      )
    }
  }

  /** The observer needs memory and processor more urgently. */
  async #waitWhileBusy(): Promise<void> {
    const until = performance.now() + MAX_DEFERRED_MS
    const isBusy = () => !this.#isUrgent && this.#options.busy?.() === true
    while (!this.#stopped && isBusy() && performance.now() < until) await sleep(BUSY_POLL_MS)
    this.#isUrgent = false
  }

  #report(problem: string): void {
    if (this.#stopped || this.#reported === problem) return
    this.#reported = problem
    this.#options.notice(problem)
  }

  async #indexWords(): Promise<void> {
    let previous = ''
    while (!this.#stopped) {
      const { done, total } = await this.#options.store.indexNext(INDEX_BATCH)
      if (done >= total) return
      // No progress: rows that cannot be indexed must not be tried forever.
      if (`${done}/${total}` === previous) throw new Error(`${total - done} of ${total} cannot be indexed`)
      previous = `${done}/${total}`
      this.#progress = { what: 'lexical', done, total, embedder: null }
    }
  }

  async #embed(): Promise<void> {
    const { store } = this.#options
    const search = await this.#options.search()
    const { embedder } = await search.state()
    if (embedder === null) return
    if (this.#embedded.by !== embedder.name) this.#embedded = { by: embedder.name, to: 0 }
    let counted: { done: number; total: number } | null = null
    while (!this.#stopped) {
      const embedded = this.#embedded
      const { observations, next } = await store.missingEmbeddings(embedder.name, embedded.to, EMBED_BATCH)
      if (observations.length > 0) {
        await store.putEmbeddings(await embedObservations(observations, embedder.name, search))
        // Repetitions are only looked for in the last batch: in a backlog every one would be compared with all others.
        if (next === null) for (const observation of observations) await this.#linkRepetition(search, observation)
      }
      embedded.to = next ?? observations.at(-1)?.id ?? embedded.to
      if (next === null) return
      counted = counted === null ? await countEmbedded(search) : addDone(counted, observations.length)
      this.#progress = { what: 'vectors', ...counted, embedder: embedder.name }
    }
  }

  /** Links an observation to the oldest one with the same meaning and the same words. */
  async #linkRepetition(search: SearchCalls, { id, project }: UnembeddedObservation): Promise<void> {
    const near = (await search.similarTo(project, id, COMPARED_NEIGHBOURS)).filter(
      (match) => match.score >= REPETITION_COSINE && match.observationId < id,
    )
    if (near.length === 0) return
    const ids = near.map((match) => match.observationId).sort((a, b) => a - b)
    const memories = await search.loadMemories([id, ...ids].map((one) => searchRowId('observation', one)))
    const own = memories.find((memory) => memory.id === id)
    const original = memories.find((memory) => memory.id !== id && own !== undefined && hasSameWords(own, memory))
    if (original === undefined) return
    try {
      const at = this.#options.now()
      await this.#options.store.link({ from: id, to: original.id, kind: 'repeats', by: 'search', at })
      this.#options.linked?.(project)
    } catch (error) {
      // One of them was forgotten meanwhile.
      if (!(error instanceof MemError && error.code === 'not_found')) throw error
    }
  }
}

async function countEmbedded(search: SearchCalls): Promise<{ done: number; total: number }> {
  const { observations, vectors } = await search.counts(null)
  return { done: vectors?.observations ?? 0, total: observations }
}

/** The total grows with observations that are added meanwhile. */
function addDone({ done, total }: { done: number; total: number }, more: number): { done: number; total: number } {
  return { done: done + more, total: Math.max(total, done + more) }
}

/** One vector for title, subtitle and narrative, and one for each fact. */
async function embedObservations(
  observations: readonly UnembeddedObservation[],
  embedder: string,
  search: SearchCalls,
): Promise<NewVector[]> {
  const fragments = observations.flatMap(({ id, title, subtitle, narrative, facts }) => [
    {
      observationId: id,
      fragment: 'narrative' as const,
      text: [title, subtitle, narrative].filter((part) => part !== null && part !== '').join('. '),
    },
    ...facts.map((text, n) => ({ observationId: id, fragment: `fact_${n}` as const, text })),
  ])
  const vectors = await search.embed(fragments.map(({ text }) => text))
  return fragments.map(({ observationId, fragment }, i) => ({
    observationId,
    fragment,
    embedder,
    vector: vectors[i] ?? null,
  }))
}

/** Whether two observations have the same type and mostly the same words. */
function hasSameWords(a: FoundMemory, b: FoundMemory): boolean {
  return a.type === b.type && sameWords(comparableWords(a), comparableWords(b))
}

/** Numbers have to be equal: a different port or error code makes a different memory. */
interface ComparableWords {
  /** Without stop words. */
  all: ReadonlySet<string>
  numbers: string
}

/**
 * Share of words that two duplicates have in common: one of six may differ. Neither words nor vectors suffice alone.
 */
const MIN_SHARED_WORDS = 0.85

function sameWords(a: ComparableWords, b: ComparableWords): boolean {
  const [fewer, more] = a.all.size < b.all.size ? [a.all, b.all] : [b.all, a.all]
  if (a.numbers !== b.numbers || more.size === 0) return false
  let missing = more.size - fewer.size
  const maxMissing = more.size * (1 - MIN_SHARED_WORDS)
  for (const word of fewer) {
    if (missing > maxMissing) return false
    if (!more.has(word)) missing += 1
  }
  return missing <= maxMissing
}

function comparableWords({ title, text, facts }: FoundMemory): ComparableWords {
  const words = `${title} ${text} ${facts.join(' ')}`.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const all = new Set(words.filter((word) => !STOP_WORDS.has(word)))
  const numbers = [...all].filter((word) => /\p{N}/u.test(word)).sort()
  return { all, numbers: numbers.join(' ') }
}
