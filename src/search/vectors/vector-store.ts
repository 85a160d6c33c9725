/**
 * The vectors of one embedder, by project. A project is read from the database at its first search and updated before
 * every later one; the least recently used ones are dropped. While a project has few vectors, or a filter leaves few,
 * all are compared. With many, an HNSW index is used, which is built in small steps between searches. Vectors that are
 * not yet in the index are compared in addition; while those are many, all vectors are compared instead.
 */
import { narrowsProject, type SearchFilters } from '../../domain/search-query.ts'
import { errorMessage } from '../../lib/errors.ts'
import { searchRowId, searchRowMemoryId } from '../../store/search-port.ts'
import type { SearchDatabase } from '../../store/sqlite/search-reader.ts'
import type { Embedder } from '../embedders/models.ts'
import {
  DUPLICATE_EF_SEARCH,
  EF_SEARCH,
  HnswIndex,
  type HnswIndexKey,
  type HnswLibrary,
  loadHnswLibrary,
  removeAllHnswIndexes,
  removeHnswIndex,
  removeHnswIndexesContaining,
  removeTemporaryFiles,
} from './hnsw-index.ts'
import { byScore, dotProduct, type VectorMatch, VectorSet } from './vector-set.ts'

export interface VectorStoreOptions {
  reader: SearchDatabase
  embedder: Embedder
  /** Where the files of indexes are. */
  directory: string
  /** Number of vectors of a project from which on an index is built. */
  hnswThreshold: number
  log(text: string): void
  /** Default: the installed one. Null: all vectors are always compared. */
  library?: HnswLibrary | null
  /** Most bytes of vectors in memory. */
  maxBytes?: number
}

type OpenedOptions = VectorStoreOptions & { library: HnswLibrary | null }

const MAX_BYTES = 512 * 1024 * 1024
/** A filter that leaves more observations than this is applied after the search instead of before. */
const MAX_LISTED = 50_000
/** Matches per wanted one if the filter is applied after the search. */
const SURPLUS = 4

export class VectorStore {
  readonly #options: OpenedOptions
  readonly #projects = new Map<string, ProjectVectors>()

  private constructor(options: OpenedOptions) {
    this.#options = options
  }

  static async open(options: VectorStoreOptions): Promise<VectorStore> {
    removeTemporaryFiles(options.directory)
    if (options.library !== undefined) return new VectorStore({ ...options, library: options.library })
    const { library, reason } = loadHnswLibrary()
    if (reason !== null) options.log(`${reason}; all vectors are compared`)
    return new VectorStore({ ...options, library })
  }

  get embedder(): Embedder {
    return this.#options.embedder
  }

  get method(): 'exact' | 'hnsw' {
    return [...this.#projects.values()].some(({ method }) => method === 'hnsw') ? 'hnsw' : 'exact'
  }

  /** Matches that pass the filters, best first. */
  nearest(query: Float32Array, filters: SearchFilters, limit: number): VectorMatch[] {
    if (filters.kinds.length > 0 && !filters.kinds.includes('observation')) return []
    const { reader } = this.#options
    const isUnfiltered = !narrowsProject(filters)
    const onlyObservations: SearchFilters = { ...filters, kinds: ['observation'] }
    const listed = isUnfiltered ? null : reader.listAllFiltered(onlyObservations, MAX_LISTED)
    const allowed = listed === null ? null : new Set(listed.map(searchRowMemoryId))
    const wanted = isUnfiltered || allowed !== null ? limit : limit * SURPLUS
    const found = this.#searchedProjects(filters.project)
      .flatMap((project) => project.nearest(query, wanted, allowed))
      .sort(byScore)
      .slice(0, wanted)
    // The database decides what exists and passes: an index may still contain deleted observations.
    const rows = found.map(({ observationId }) => searchRowId('observation', observationId))
    const passing = new Set(reader.filterRows(rows, onlyObservations).map(searchRowMemoryId))
    return found.filter(({ observationId }) => passing.has(observationId)).slice(0, limit)
  }

  closest(project: string, observationId: number, query: Float32Array): VectorMatch | null {
    return this.#project(project).set.closest(observationId, query)
  }

  /** Cosine of the closest fragments of two observations; 0 if one has no vector. */
  cosine(project: string, a: number, b: number): number {
    const { set } = this.#project(project)
    const others = set.vectorsOf(b)
    let best = 0
    for (const one of set.vectorsOf(a)) for (const other of others) best = Math.max(best, dotProduct(one, 0, other))
    return best
  }

  similarTo(key: string, observationId: number, limit: number): VectorMatch[] {
    const project = this.#upToDate(key)
    // The first vector is that of the narrative, which describes the observation best.
    const [vector] = project.set.vectorsOf(observationId)
    if (vector === undefined) return []
    return project
      .nearest(vector, limit + 1, null, DUPLICATE_EF_SEARCH)
      .filter((match) => match.observationId !== observationId)
      .slice(0, limit)
  }

  /** Drops everything, including files. The next search reads the database again. */
  reset(): void {
    this.#projects.clear()
    removeAllHnswIndexes(this.#options.directory)
  }

  /**
   * All observations of `from` now belong to `into`: both are read again at the next search. The index of `into` stays
   * valid; the new vectors are added to it.
   */
  moved(from: string, into: string): void {
    this.#projects.get(into)?.write()
    for (const key of [from, into]) this.#projects.delete(key)
    removeHnswIndex(this.#options.directory, this.#indexKey(from))
  }

  forget(observationIds: readonly number[]): void {
    for (const project of this.#projects.values()) project.forget(observationIds)
    // Files of projects that are not in memory, and of other embedders.
    removeHnswIndexesContaining(this.#options.directory, observationIds)
  }

  /** Builds indexes for about `ms`. True while there is more to do. */
  build(ms: number): boolean {
    for (const project of this.#projects.values()) if (project.build(ms)) return true
    return false
  }

  close(): void {
    for (const project of this.#projects.values()) project.write()
    this.#projects.clear()
  }

  #searchedProjects(project: string | null): ProjectVectors[] {
    if (project !== null) return [this.#upToDate(project)]
    return this.#options.reader.projectsWithVectors(this.embedder.name).map((key) => this.#upToDate(key))
  }

  #indexKey(project: string): HnswIndexKey {
    const { name, dimensions } = this.embedder
    return { project, embedder: name, dimensions }
  }

  #project(key: string): ProjectVectors {
    const known = this.#projects.get(key)
    if (known !== undefined) return known
    const project = new ProjectVectors(this.#indexKey(key), this.#options)
    this.#projects.set(key, project)
    project.refresh()
    project.openIndex()
    this.#evict()
    return project
  }

  /** With vectors that were stored meanwhile. Moves the project to the end of the map: most recently used. */
  #upToDate(key: string): ProjectVectors {
    const project = this.#project(key)
    this.#projects.delete(key)
    this.#projects.set(key, project)
    project.refresh()
    return project
  }

  /** Drops the least recently used projects until the rest fits into memory. */
  #evict(): void {
    const { maxBytes = MAX_BYTES } = this.#options
    let bytes = [...this.#projects.values()].reduce((sum, { set }) => sum + set.bytes, 0)
    for (const [key, project] of this.#projects) {
      if (bytes <= maxBytes || this.#projects.size === 1) return
      project.write()
      this.#projects.delete(key)
      bytes -= project.set.bytes
    }
  }
}

/** If a filter leaves no more observations than this, comparing all of them is exact and as fast. */
const FEW_ALLOWED = 20_000
/** Fragments requested from the index per wanted observation, which has several. */
const FRAGMENTS_PER_OBSERVATION = 4
/** Share of removed points from which on the index is built again. */
const MAX_REMOVED_SHARE = 0.2
/** New vectors after which the index is written again. It is always written as a whole. */
const WRITE_AFTER = 5_000
/** Most observations outside of the index that are compared in addition to it. Takes less than a millisecond. */
const MAX_PENDING = 2_000

/** The vectors of one project and one embedder. */
class ProjectVectors {
  readonly set: VectorSet
  readonly #key: HnswIndexKey
  readonly #options: OpenedOptions
  /** Cursor: the newest vector id of any project at the time of the last refresh. */
  #lastId = 0
  #index: HnswIndex | null = null
  /** Observations with vectors that are not in the index. */
  #pending = new Set<number>()
  /** Building the index failed: from then on all vectors are compared. */
  #indexFailed = false

  constructor(key: HnswIndexKey, options: OpenedOptions) {
    this.set = new VectorSet(key.dimensions)
    this.#key = key
    this.#options = options
  }

  /** True while an index is needed and not complete. */
  get #isBuilding(): boolean {
    return this.#needsIndex && (this.#index === null || this.#pending.size > 0)
  }
  get method(): 'exact' | 'hnsw' {
    return this.#index !== null && !this.#isBuilding ? 'hnsw' : 'exact'
  }
  get #needsIndex(): boolean {
    const { library, hnswThreshold } = this.#options
    return library !== null && !this.#indexFailed && this.set.size >= hnswThreshold
  }

  /** Reads vectors that were stored since the last call. */
  refresh(): void {
    const { project, embedder, dimensions } = this.#key
    const { reader } = this.#options
    const newest = reader.lastVector(embedder)
    if (newest <= this.#lastId) return
    let skipped = 0
    for (const page of reader.vectors(project, embedder, this.#lastId)) {
      for (const { observationId, fragment, vector } of page) {
        if (vector.length !== dimensions) {
          skipped += 1
          continue
        }
        this.set.add(observationId, fragment, vector)
        this.#pending.add(observationId)
      }
    }
    this.#lastId = newest
    if (skipped > 0) {
      this.#options.log(
        `${skipped} vectors by ${embedder} do not have ${dimensions} dimensions and are not searched; ` +
          'make them again: claude-mem reindex --what vectors',
      )
    }
  }

  /** Removes the index's file too. It is written again when the index has been built again. */
  forget(observationIds: readonly number[]): void {
    for (const id of observationIds) {
      this.set.remove(id)
      this.#index?.remove(id)
      this.#pending.delete(id)
    }
    if (this.#index === null || this.#index.removedShare === 0) return
    if (this.#index.removedShare > MAX_REMOVED_SHARE) this.#dropIndex()
    else removeHnswIndex(this.#options.directory, this.#key)
  }

  /** Best first. `allowed` null: all of the project. `ef`: HNSW parameter of the search. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null, ef = EF_SEARCH): VectorMatch[] {
    const index = this.#index
    const few = allowed !== null && allowed.size <= FEW_ALLOWED
    if (index === null || few || this.#pending.size > MAX_PENDING) return this.set.nearest(query, limit, allowed)
    const all = this.set.observations
    const wanted = allowed === null ? limit : Math.min(all, Math.ceil((limit * all) / allowed.size))
    const near = index.nearest(query, wanted * FRAGMENTS_PER_OBSERVATION, ef)
    for (const id of this.#pending) near.add(id)
    if (allowed !== null) for (const id of near) if (!allowed.has(id)) near.delete(id)
    // Scored with the exact vectors.
    return this.set.nearest(query, limit, near)
  }

  /** Reads the index from its file if that fits, else starts an empty one. `build` completes it. */
  openIndex(): void {
    const { library, directory, log } = this.#options
    if (library === null || !this.#needsIndex || this.#index !== null) return
    try {
      this.#index = HnswIndex.read(library, directory, this.#key)
      // Observations that were forgotten since the index was written; its file is removed with them.
      this.forget([...(this.#index?.ids() ?? [])].filter((id) => !this.set.has(id)))
      for (const id of this.#index?.ids() ?? []) if (this.#isComplete(id)) this.#pending.delete(id)
    } catch (error) {
      log(`the vector index of ${this.#key.project} is built again: ${errorMessage(error)}`)
      this.#dropIndex()
    }
    this.#index ??= HnswIndex.empty(library, this.#key.dimensions)
  }

  /** Adds vectors to the index for about `ms`. True while there is more to do. */
  build(ms: number): boolean {
    try {
      this.openIndex()
      const index = this.#index
      if (index === null || !this.#isBuilding) return false
      this.#addFor(ms, index)
      const isDue = index.unwritten >= (this.#isBuilding ? WRITE_AFTER * 4 : WRITE_AFTER)
      if (isDue || (!this.#isBuilding && !index.isWritten)) this.write()
    } catch (error) {
      this.#indexFailed = true
      this.#dropIndex()
      this.#options.log(
        `the vector index of ${this.#key.project} could not be built, all vectors are compared: ${errorMessage(error)}`,
      )
    }
    return this.#isBuilding
  }

  /** Writes the index if it has new points. */
  write(): void {
    if (this.#index === null || this.#index.unwritten === 0) return
    try {
      this.#index.write(this.#options.directory, this.#key)
    } catch (error) {
      this.#options.log(`the vector index of ${this.#key.project} could not be written: ${errorMessage(error)}`)
    }
  }

  #addFor(ms: number, index: HnswIndex): void {
    const until = performance.now() + ms
    for (const observationId of this.#pending) {
      index.remove(observationId)
      const vectors = this.set.vectorsOf(observationId)
      for (const [i, fragment] of this.set.fragmentsOf(observationId).entries()) {
        const vector = vectors[i]
        if (vector !== undefined) index.add(observationId, fragment, vector)
      }
      this.#pending.delete(observationId)
      if (performance.now() > until) return
    }
  }

  /** Whether the index contains all fragments of the observation. */
  #isComplete(observationId: number): boolean {
    const known = this.#index?.fragmentsOf(observationId) ?? []
    const fragments = this.set.fragmentsOf(observationId)
    return known.length === fragments.length && fragments.every((fragment) => known.includes(fragment))
  }

  #dropIndex(): void {
    this.#index = null
    this.#pending = new Set(this.set.ids())
    removeHnswIndex(this.#options.directory, this.#key)
  }
}
