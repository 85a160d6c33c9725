/** A store and a search reader on one real file. */
import type { ObservationDraft } from '../../../src/domain/observation.ts'
import { NO_FILTERS, type SearchFilters } from '../../../src/domain/search-query.ts'
import type { Commit } from '../../../src/store/commit.ts'
import {
  type ColumnWeights,
  type LexicalQuery,
  searchRowId,
  searchRowMemoryId,
} from '../../../src/store/search-port.ts'
import { openSearchDatabase, type SearchDatabase } from '../../../src/store/sqlite/search-reader.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts'
import { type Place, place } from '../place.ts'
import { commitOf, NOW, observationOf } from '../samples.ts'

export const ALL: SearchFilters = { ...NO_FILTERS, kinds: [] }

export const EVEN_WEIGHTS: ColumnWeights = { title: 1, body: 1, facts: 1, names: 1, grams: 1, neighbours: 0.3 }

/** The chunk of each observation, by observation id. */
export function chunksOf(reader: SearchDatabase, ids: readonly number[]): Map<number, number | null> {
  const rows = reader.rankingRows(ids.map((id) => searchRowId('observation', id)))
  return new Map(rows.map(({ id, chunk }) => [id, chunk]))
}

export class SearchPlace {
  readonly here: Place
  core: SqliteStore
  #reader: SearchDatabase | null = null

  private constructor(here: Place, core: SqliteStore) {
    this.here = here
    this.core = core
  }

  static async open(here: Place = place()): Promise<SearchPlace> {
    return new SearchPlace(here, await openSqliteStore(here.options))
  }

  get reader(): SearchDatabase {
    this.#reader ??= openSearchDatabase(this.here.file)
    return this.#reader
  }

  commit(session: string, over: Partial<Commit>): number[] {
    const revision = (this.core.session(session)?.revision ?? 0) + 1
    const [result] = this.core.commit([commitOf(session, revision, over)])
    if (result?.ok !== true) throw new Error(`the commit did not land: ${JSON.stringify(result)}`)
    return result.observationIds
  }

  /** Observations with nothing in them but what is given; each a millisecond younger than the one before. */
  learn(session: string, ...drafts: Partial<ObservationDraft>[]): number[] {
    return this.commit(session, { observations: drafts.map((draft, n) => bareObservation(draft, NOW + n)) })
  }

  /** Ids of what is found, best (or newest) first. */
  find(text: string, how: LexicalQuery['how'] = 'every', filters: SearchFilters = ALL): number[] {
    return this.reader.lexical({ text, how }, filters, EVEN_WEIGHTS, 1_000).map(({ row }) => searchRowMemoryId(row))
  }

  indexAll(limit = 500): void {
    for (let state = this.core.indexState(); state.done < state.total; state = this.core.indexNext(limit));
  }

  async close(): Promise<void> {
    this.#reader?.close()
    this.#reader = null
    await this.core.close()
  }

  async reopen(): Promise<void> {
    await this.close()
    this.core = await openSqliteStore(this.here.options)
  }

  async dispose(): Promise<void> {
    await this.close()
    this.here.dispose()
  }
}

export function bareObservation(draft: Partial<ObservationDraft>, createdAt = NOW) {
  const bare = { title: null, narrative: null, facts: [], concepts: [], filesRead: [], functionsChanged: [] }
  return observationOf([], { createdAt, ...bare, ...draft })
}
