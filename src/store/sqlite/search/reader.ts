/**
 * What search reads, on a read-only connection of its own: made for a worker thread, so it answers at once. A writer
 * beside it is never kept waiting; `atOnce` has several answers speak of one state.
 */
import type { SearchFilters } from '../../../search/query.ts'
import type {
  ColumnWeights,
  FoundMemory,
  IndexState,
  LexicalQuery,
  LinkedObservation,
  MemoryCounts,
  Rankable,
  ScoredChunk,
  ScoredRow,
  StoredVector,
} from '../../search-port.ts'
import { storageError } from '../errors.ts'
import { openForReading } from '../reader.ts'
import type { Connection } from '../statement.ts'
import { selectCounts } from './counts.ts'
import { indexDamageError, isIndexDamage } from './damage.ts'
import { selectFound, selectLinked } from './found.ts'
import { countMatches, selectChunks, selectMatchedWords, selectMatches } from './lexical.ts'
import {
  countPassing,
  selectAllPassing,
  selectBeside,
  selectChunksOf,
  selectNeighbours,
  selectPassing,
  selectPassingOf,
  selectRankable,
} from './passing.ts'
import { indexState } from './progress.ts'
import { selectAlike } from './spelling.ts'
import { countVectors, pagesOfVectors, selectLastVector, selectProjectsWithVectors } from './vectors.ts'

export class SearchReader {
  readonly #db: Connection

  private constructor(db: Connection) {
    this.#db = db
  }

  static open(file: string): SearchReader {
    return new SearchReader(openForReading(file))
  }

  /** By words. Empty where the query has none. */
  lexical(query: LexicalQuery, filters: SearchFilters, weights: ColumnWeights, limit: number): ScoredRow[] {
    return this.#read((db) => selectMatches(db, query, filters, weights, limit))
  }
  /** How many `lexical` would find, counted up to `atMost`. */
  countLexical(query: LexicalQuery, filters: SearchFilters, atMost: number): number {
    return this.#read((db) => countMatches(db, query, filters, atMost))
  }
  /** The query's words that stand in each of the rows. */
  matchedWords(text: string, rows: readonly number[]): Map<number, string[]> {
    return this.#read((db) => selectMatchedWords(db, text, rows))
  }
  /** For each word that no memory says, what is spelt like it: nothing of it need pass any filter. */
  alike(text: string): Map<string, string[]> {
    return this.#read((db) => selectAlike(db, text))
  }
  /** Parts of sessions that are about it, best first. `project` null: of all. */
  chunks(text: string, project: string | null, limit: number): ScoredChunk[] {
    return this.#read((db) => selectChunks(db, text, project, limit))
  }
  /** The chunk of each observation that has one, by the observation's id. */
  chunksOf(observationIds: readonly number[]): Map<number, number> {
    return this.#read((db) => selectChunksOf(db, observationIds))
  }
  /** What stands before and after each observation in its session. */
  neighbours(observationIds: readonly number[]): Map<number, { before: number | null; after: number | null }> {
    return this.#read((db) => selectNeighbours(db, observationIds))
  }
  /** Newest first. */
  passing(filters: SearchFilters, limit: number, offset: number): number[] {
    return this.#read((db) => selectPassing(db, filters, limit, offset))
  }
  /** All that pass, in no order; null where there are more than `atMost`. */
  allPassing(filters: SearchFilters, atMost: number): number[] | null {
    return this.#read((db) => selectAllPassing(db, filters, atMost))
  }
  count(filters: SearchFilters): number {
    return this.#read((db) => countPassing(db, filters))
  }
  /** Those of the rows that pass, in their order. */
  filterRows(rows: readonly number[], filters: SearchFilters): number[] {
    return this.#read((db) => selectPassingOf(db, rows, filters))
  }
  /** What passes and stands nearest to a row in time, oldest first, the row itself in between; empty if it is gone. */
  beside(row: number, filters: SearchFilters, before: number, after: number): number[] {
    return this.#read((db) => selectBeside(db, row, filters, before, after))
  }
  /** In the order of the rows; what is gone is left out. Much cheaper than `found`. */
  rankable(rows: readonly number[]): Rankable[] {
    return this.#read((db) => selectRankable(db, rows))
  }
  /** In the order of the rows; what is gone is left out. */
  found(rows: readonly number[]): FoundMemory[] {
    return this.#read((db) => selectFound(db, rows))
  }
  observations(ids: readonly number[]): LinkedObservation[] {
    return this.#read((db) => selectLinked(db, ids))
  }
  /** In pages, oldest first, so that no page is held while an index is built. `project` null: of all. */
  vectors(project: string | null, embedder: string, afterId: number): Generator<StoredVector[]> {
    return pagesOfVectors(this.#db, project, embedder, afterId)
  }
  /** The id of the newest vector of any project; 0 where there is none. */
  lastVector(embedder: string): number {
    return this.#read((db) => selectLastVector(db, embedder))
  }
  projectsWithVectors(embedder: string): string[] {
    return this.#read((db) => selectProjectsWithVectors(db, embedder))
  }
  vectorCount(project: string | null, embedder: string): number {
    return this.#read((db) => countVectors(db, project, embedder))
  }
  indexState(): IndexState {
    return this.#read(indexState)
  }
  /** `project` null: of all. `embedder` null: the one that made the newest vectors. */
  counts(project: string | null, embedder: string | null): MemoryCounts {
    return this.#read((db) => selectCounts(db, project, embedder))
  }

  /** All that is read within it is of one moment. */
  atOnce<T>(read: () => T): T {
    return this.#db.transaction(read)()
  }

  close(): void {
    this.#db.close()
  }

  #read<T>(read: (db: Connection) => T): T {
    try {
      return read(this.#db)
    } catch (error) {
      throw isIndexDamage(error) ? indexDamageError(error) : storageError(error)
    }
  }
}
