/** All vectors of one embedder, by project. Projects are read when they are first asked about; few are held at once. */
import type { SearchReader } from '../../store/sqlite/search/reader.ts'
import { idOf, rowOf } from '../../store/sqlite/search/rows.ts'
import { isNarrow } from '../asked.ts'
import type { Embedder } from '../embedder.ts'
import type { SearchFilters } from '../query.ts'
import { dot } from './dot.ts'
import { type GraphLibrary, graphLibrary, SAME_WIDTH } from './graph.ts'
import { removeGraph, removeGraphs, removeGraphsWith, removeLeftovers } from './graph-file.ts'
import { ProjectVectors, type VectorOptions } from './project-vectors.ts'
import type { FoundVector } from './vector-set.ts'

export interface VectorStoreOptions {
  reader: SearchReader
  embedder: Embedder
  directory: string
  graphFrom: number
  log(text: string): void
  /** The default is the one that is installed, if any. */
  library?: GraphLibrary | null
  /** Bytes of vectors held; the projects that were not asked about for longest go first. */
  maxBytes?: number
}

const MAX_BYTES = 512 * 1024 * 1024
/** A filter that leaves more than this is applied to what was found instead. */
const MAX_LISTED = 50_000
/** Found for each that is wanted where the filter comes afterwards. */
const SURPLUS = 4

export class VectorStore {
  readonly embedder: Embedder
  readonly #options: VectorOptions
  readonly #maxBytes: number
  readonly #projects = new Map<string, ProjectVectors>()

  private constructor(embedder: Embedder, options: VectorOptions, maxBytes: number) {
    this.embedder = embedder
    this.#options = options
    this.#maxBytes = maxBytes
  }

  static async open({ embedder, maxBytes = MAX_BYTES, ...rest }: VectorStoreOptions): Promise<VectorStore> {
    removeLeftovers(rest.directory)
    if (rest.library !== undefined) return new VectorStore(embedder, { ...rest, library: rest.library }, maxBytes)
    const { library, reason } = await graphLibrary()
    if (reason !== null) rest.log(`${reason}; vectors are looked through one by one`)
    return new VectorStore(embedder, { ...rest, library }, maxBytes)
  }

  get method(): 'exact' | 'hnsw' {
    return [...this.#projects.values()].some((one) => one.method === 'hnsw') ? 'hnsw' : 'exact'
  }

  /** Best first; every one passes the filters. */
  nearest(query: Float32Array, filters: SearchFilters, limit: number): FoundVector[] {
    if (filters.kinds.length > 0 && !filters.kinds.includes('observation')) return []
    const { reader } = this.#options
    const isWhole = !isNarrow(filters)
    const onlyObservations: SearchFilters = { ...filters, kinds: ['observation'] }
    const listed = isWhole ? null : reader.allPassing(onlyObservations, MAX_LISTED)
    const allowed = listed === null ? null : new Set(listed.map(idOf))
    const wanted = isWhole || allowed !== null ? limit : limit * SURPLUS
    const found = this.#asked(filters.project)
      .flatMap((project) => project.nearest(query, wanted, allowed))
      .sort(byScore)
      .slice(0, wanted)
    // Rows say what exists and passes, whatever an index still holds.
    const rows = found.map(({ observationId }) => rowOf('observation', observationId))
    const passing = new Set(reader.filterRows(rows, onlyObservations).map(idOf))
    return found.filter(({ observationId }) => passing.has(observationId)).slice(0, limit)
  }

  closest(project: string, observationId: number, query: Float32Array): FoundVector | null {
    return this.#project(project).closest(observationId, query)
  }

  /** Of the two observations' closest fragments; 0 where one has no vector. */
  cosine(project: string, a: number, b: number): number {
    const vectors = this.#project(project)
    const others = vectors.vectorsOf(b)
    let best = 0
    for (const one of vectors.vectorsOf(a)) for (const other of others) best = Math.max(best, dot(one, 0, other))
    return best
  }

  similarTo(key: string, observationId: number, limit: number): FoundVector[] {
    const project = this.#current(key)
    // What happened comes before the facts, and says the most.
    const [vector] = project.vectorsOf(observationId)
    if (vector === undefined) return []
    return project
      .nearest(vector, limit + 1, null, SAME_WIDTH)
      .filter((found) => found.observationId !== observationId)
      .slice(0, limit)
  }

  /** What is held is thrown away, files too; the rows are read again when somebody asks. */
  reset(): void {
    this.#projects.clear()
    removeGraphs(this.#options.directory)
  }

  /**
   * Everything of one project is filed under another now: both are read again when somebody asks. What the other has
   * in its file is still true; the rest is added to it.
   */
  moved(from: string, into: string): void {
    this.#projects.get(into)?.write()
    for (const key of [from, into]) this.#projects.delete(key)
    const { name, dimensions } = this.embedder
    removeGraph(this.#options.directory, { project: from, embedder: name, dimensions })
  }

  forget(observationIds: readonly number[]): void {
    for (const project of this.#projects.values()) project.forget(observationIds)
    // Of projects that nobody asked about, and of other embedders.
    removeGraphsWith(this.#options.directory, observationIds)
  }

  /** Works at indexes for about `ms`; true while there is more to do. */
  build(ms: number): boolean {
    for (const project of this.#projects.values()) if (project.build(ms)) return true
    return false
  }

  close(): void {
    for (const project of this.#projects.values()) project.write()
    this.#projects.clear()
  }

  #asked(project: string | null): ProjectVectors[] {
    if (project !== null) return [this.#current(project)]
    return this.#options.reader.projectsWithVectors(this.embedder.name).map((key) => this.#current(key))
  }

  #project(key: string): ProjectVectors {
    const known = this.#projects.get(key)
    const project =
      known ??
      new ProjectVectors(
        { project: key, embedder: this.embedder.name, dimensions: this.embedder.dimensions },
        this.#options,
      )
    if (known === undefined) {
      this.#projects.set(key, project)
      project.refresh()
      project.openGraph()
      this.#makeRoom()
    }
    return project
  }

  /** With what was stored meanwhile. The one that was asked about last stands last. */
  #current(key: string): ProjectVectors {
    const project = this.#project(key)
    this.#projects.delete(key)
    this.#projects.set(key, project)
    project.refresh()
    return project
  }

  #makeRoom(): void {
    let bytes = [...this.#projects.values()].reduce((sum, one) => sum + one.bytes, 0)
    for (const [key, project] of this.#projects) {
      if (bytes <= this.#maxBytes || this.#projects.size === 1) return
      project.write()
      this.#projects.delete(key)
      bytes -= project.bytes
    }
  }
}

/** Of equals the newest first, so that results are stable. */
function byScore(a: FoundVector, b: FoundVector): number {
  return b.score - a.score || b.observationId - a.observationId
}
