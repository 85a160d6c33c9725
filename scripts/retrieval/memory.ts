/**
 * A memory to be searched, as a daemon keeps it: real commits into a real database, the indexer, the search thread with
 * the settings that are shipped.
 */
import { join } from 'node:path'
import { contentHash } from '../../src/memory/content-hash.ts'
import type { ObservationDraft, SummaryDraft } from '../../src/memory/observation.ts'
import type { Project } from '../../src/memory/project.ts'
import { openSearchThread, type SearchCalls } from '../../src/search/client.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { searchOptions } from '../../src/search/options.ts'
import { NO_FILTERS, type SearchFilters, type SearchHit } from '../../src/search/query.ts'
import { loadSettings } from '../../src/settings.ts'
import { closedState } from '../../src/store/closed-session.ts'
import { type Commit, emptyCommit, type NewObservation, type NewSummary } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { makePlace, type Place } from '../lib/place.ts'
import { DIST } from '../lib/root.ts'

export interface Dated<T> {
  draft: T
  promptNumber: number
  at: number
}

export interface KeptSession {
  id: string
  project: Project
  observations: Dated<ObservationDraft>[]
  summaries: Dated<SummaryDraft>[]
}

export interface KeptIds {
  observations: number[]
  summaries: number[]
}

export class SearchedMemory {
  readonly #place: Place
  readonly #store: Store
  readonly #search: SearchCalls
  readonly #notices: string[]

  private constructor(place: Place, store: Store, search: SearchCalls, notices: string[]) {
    this.#place = place
    this.#store = store
    this.#search = search
    this.#notices = notices
  }

  static async open(name: string): Promise<SearchedMemory> {
    const place = makePlace(name)
    const notices: string[] = []
    const notice = (text: string) => notices.push(text)
    const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
    const { values } = loadSettings('', {})
    const search = await openSearchThread(
      { ...searchOptions(values, place.paths), workerFile: join(DIST, 'search-worker.js') },
      { notice, log: () => undefined, exited: (error) => notice(error.message) },
    )
    return new SearchedMemory(place, store, search, notices)
  }

  /** Each observation in a commit of its own, as observers answer one after the other. */
  async keep(session: KeptSession): Promise<KeptIds> {
    const kept: KeptIds = { observations: [], summaries: [] }
    const parts = [
      ...session.observations.map((one) => ({ at: one.at, observations: [newObservation(one)], summaries: [] })),
      ...session.summaries.map((one) => ({ at: one.at, observations: [], summaries: [newSummary(one)] })),
    ]
    for (const [i, part] of parts.entries()) {
      const [result] = await this.#store.commit([commitOf(session, i + 1, part)])
      if (result?.ok !== true) throw new Error(`${session.id} could not be kept: ${JSON.stringify(result)}`)
      kept.observations.push(...result.observationIds)
      kept.summaries.push(...result.summaryIds)
    }
    return kept
  }

  /** Everything is indexed and has its vectors; what the search complained about meanwhile is an error. */
  async index(): Promise<void> {
    const notice = (text: string) => this.#notices.push(text)
    const indexer = new Indexer({ store: this.#store, search: async () => this.#search, notice, now: Date.now })
    indexer.wake()
    await indexer.settled()
    if (this.#notices.length > 0) throw new Error(this.#notices.join('; '))
  }

  async ask(query: string, filters: Partial<SearchFilters>, limit: number): Promise<SearchHit[]> {
    const { hits } = await this.#search.search({
      query,
      mode: 'auto',
      filters: { ...NO_FILTERS, ...filters },
      limit,
      offset: 0,
    })
    return hits
  }

  async close(): Promise<void> {
    await this.#search.close()
    await this.#store.close()
    this.#place.remove()
  }
}

function newObservation({ draft, promptNumber, at }: Dated<ObservationDraft>): NewObservation {
  return {
    draft,
    sources: [],
    promptNumber,
    contentHash: contentHash(draft),
    promptVersion: null,
    model: null,
    createdAt: at,
  }
}

function newSummary({ draft, promptNumber, at }: Dated<SummaryDraft>): NewSummary {
  return { draft, promptNumber, model: null, createdAt: at }
}

type Part = Pick<Commit, 'at' | 'observations' | 'summaries'>

function commitOf({ id, project }: KeptSession, revision: number, part: Part): Commit {
  return {
    ...emptyCommit(id, revision, part.at),
    ...part,
    state: closedState({ project, client: 'claude-mem', cwd: project.name, heardAt: part.at }),
  }
}
