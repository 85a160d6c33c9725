/**
 * Brings what is derived up to date in the background, a little at a time: words that wait to be indexed, vectors that are
 * missing for the embedder in use, and links from what repeats something to what it repeats.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemError, messageOf } from '../errors.ts'
import type { NewVector, SearchStore, Unembedded } from '../store/search-port.ts'
import { rowOf } from '../store/sqlite/search/rows.ts'
import type { SearchCalls } from './client.ts'
import { saysTheSame } from './similar.ts'

export interface IndexProgress {
  what: 'lexical' | 'vectors'
  done: number
  total: number
  /** Null for words. */
  embedder: string | null
}

export interface IndexerOptions {
  store: Pick<SearchStore, 'indexNext' | 'missingEmbeddings' | 'putEmbeddings' | 'link'>
  search: () => Promise<SearchCalls>
  notice(text: string): void
  now(): number
  /** The observer is at work. */
  busy?: () => boolean
}

/** A session that never rests is indexed all the same, in ms. */
const MAX_DEFERRED_MS = 60_000
const LOOK_EVERY_MS = 500
/** Rows of one step: commits wait no longer than for one of them. */
const WORDS_AT_ONCE = 100
const TEXTS_AT_ONCE = 50
/** Cosine from which on a new observation may repeat an older one; their words have to agree too. */
const REPEATS_FROM = 0.95
/** All that were embedded with it may be closer and are newer: the older ones must be among these too. */
const COMPARED = TEXTS_AT_ONCE + 3

export class Indexer {
  readonly #options: IndexerOptions
  #running: Promise<void> | null = null
  #again = false
  #stopped = false
  #progress: IndexProgress | null = null
  /** Up to here every observation has its vectors of this embedder. */
  #embedded = { by: '', to: 0 }
  /** The last problem that was told: one that stays is told once. */
  #told: string | null = null

  constructor(options: IndexerOptions) {
    this.#options = options
  }

  get progress(): IndexProgress | null {
    return this.#progress
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#stopped) return
    this.#again = true
    this.#running ??= this.#work().finally(() => {
      this.#running = null
      if (this.#again) this.wake()
      else this.#progress = null
    })
  }

  /** Whatever is derived is looked at from its beginning. */
  startOver(): void {
    // Another object: a step that is under way must not undo it.
    this.#embedded = { by: '', to: 0 }
    this.#progress = { what: 'lexical', done: 0, total: 0, embedder: null }
    this.wake()
  }

  /** Resolves once nothing is left to do. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#again = false
    await this.#running
  }

  async #work(): Promise<void> {
    this.#again = false
    try {
      await this.#quiet()
      await this.#indexWords()
      await this.#embed()
      this.#told = null
    } catch (error) {
      this.#tell(`the index is behind: ${messageOf(error)}`)
    }
  }

  /** While the observer is at work, memory and processor are its: what is derived can wait a while. */
  async #quiet(): Promise<void> {
    const until = performance.now() + MAX_DEFERRED_MS
    while (!this.#stopped && this.#options.busy?.() === true && performance.now() < until) await sleep(LOOK_EVERY_MS)
  }

  #tell(problem: string): void {
    if (this.#stopped || this.#told === problem) return
    this.#told = problem
    this.#options.notice(problem)
  }

  async #indexWords(): Promise<void> {
    let before = ''
    while (!this.#stopped) {
      const { done, total } = await this.#options.store.indexNext(WORDS_AT_ONCE)
      if (done >= total) return
      // What cannot be indexed must not be tried for ever.
      if (`${done}/${total}` === before) throw new Error(`${total - done} of ${total} cannot be indexed`)
      before = `${done}/${total}`
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
      const { observations, next } = await store.missingEmbeddings(embedder.name, embedded.to, TEXTS_AT_ONCE)
      if (observations.length > 0) {
        await store.putEmbeddings(await vectorsOf(observations, embedder.name, search))
        // Of a backlog each would have to be compared with all: only what is new is.
        if (next === null) for (const observation of observations) await this.#linkRepetition(search, observation)
      }
      embedded.to = next ?? observations.at(-1)?.id ?? embedded.to
      if (next === null) return
      counted = counted === null ? await embeddedSoFar(search) : plus(counted, observations.length)
      this.#progress = { what: 'vectors', ...counted, embedder: embedder.name }
    }
  }

  /** Only what both meaning and words say is the same; the oldest of those is the original. */
  async #linkRepetition(search: SearchCalls, { id, project }: Unembedded): Promise<void> {
    const near = (await search.nearest(project, id, COMPARED)).filter(
      (found) => found.score >= REPEATS_FROM && found.observationId < id,
    )
    if (near.length === 0) return
    const ids = near.map((found) => found.observationId).sort((a, b) => a - b)
    const memories = await search.found([id, ...ids].map((one) => rowOf('observation', one)))
    const mine = memories.find((memory) => memory.id === id)
    const original = memories.find((memory) => memory.id !== id && mine !== undefined && saysTheSame(mine, memory))
    if (original === undefined) return
    try {
      const at = this.#options.now()
      await this.#options.store.link({ from: id, to: original.id, kind: 'repeats', by: 'search', at })
    } catch (error) {
      // Forgotten meanwhile.
      if (!(error instanceof MemError && error.code === 'not_found')) throw error
    }
  }
}

async function embeddedSoFar(search: SearchCalls): Promise<{ done: number; total: number }> {
  const { observations, vectors } = await search.counts(null)
  return { done: vectors?.observations ?? 0, total: observations }
}

/** What was learned meanwhile is more than was counted at first. */
function plus({ done, total }: { done: number; total: number }, more: number): { done: number; total: number } {
  return { done: done + more, total: Math.max(total, done + more) }
}

/** One vector for what happened, one for each fact. */
async function vectorsOf(
  observations: readonly Unembedded[],
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
