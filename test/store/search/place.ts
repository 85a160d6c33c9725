/** A store and a search reader on one real file. */
import type { ObservationDraft } from '../../../src/memory/observation.ts'
import { NO_FILTERS, type SearchFilters } from '../../../src/search/query.ts'
import type { Commit } from '../../../src/store/commit.ts'
import { EVEN_WEIGHTS, type LexicalQuery } from '../../../src/store/search-port.ts'
import { SqliteCore } from '../../../src/store/sqlite/core.ts'
import { SearchReader } from '../../../src/store/sqlite/search/reader.ts'
import { idOf } from '../../../src/store/sqlite/search/rows.ts'
import { type Place, place } from '../place.ts'
import { commitOf, NOW, observationOf } from '../samples.ts'

export const ALL: SearchFilters = { ...NO_FILTERS, kinds: [] }

export class SearchPlace {
  readonly here: Place
  core: SqliteCore
  #reader: SearchReader | null = null

  private constructor(here: Place, core: SqliteCore) {
    this.here = here
    this.core = core
  }

  static async open(here: Place = place()): Promise<SearchPlace> {
    return new SearchPlace(here, await SqliteCore.open(here.options))
  }

  get reader(): SearchReader {
    this.#reader ??= SearchReader.open(this.here.file)
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
    return this.reader.lexical({ text, how }, filters, EVEN_WEIGHTS, 1_000).map(({ row }) => idOf(row))
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
    this.core = await SqliteCore.open(this.here.options)
  }

  async dispose(): Promise<void> {
    await this.close()
    this.here.dispose()
  }
}

export function bareObservation(draft: Partial<ObservationDraft>, createdAt = NOW) {
  const bare = { title: null, narrative: null, facts: [], concepts: [], filesRead: [], functionsChanged: [] }
  return observationOf([], { createdAt, draft: { ...observationOf([]).draft, ...bare, ...draft } })
}
