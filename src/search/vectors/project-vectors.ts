/**
 * The vectors of one project and one embedder: read from the rows, brought up to date before each search, looked through
 * one by one while they are few or a filter leaves few, with a graph when they are many. A graph is built in small
 * steps between searches. Those that wait for their place in it are looked through beside it, or, while they are many,
 * everything is.
 */
import { messageOf } from '../../errors.ts'
import type { SearchReader } from '../../store/sqlite/search/reader.ts'
import { type GraphLibrary, SEARCH_WIDTH } from './graph.ts'
import { type GraphKey, removeGraph } from './graph-file.ts'
import { LabelledGraph } from './labelled-graph.ts'
import { type FoundVector, VectorSet } from './vector-set.ts'

export interface VectorOptions {
  reader: SearchReader
  /** Null: vectors are always looked through one by one. */
  library: GraphLibrary | null
  /** Where graphs are kept. */
  directory: string
  /** From how many vectors on a graph is worth its memory. */
  graphFrom: number
  log(text: string): void
}

/** Looked through one by one where a filter leaves no more observations than this: exact, and as fast. */
const FEW_ALLOWED = 20_000
/** Fragments asked of the graph for each observation that is wanted: several belong to one. */
const FRAGMENTS_EACH = 4
/** What was removed, as a share, from which on the graph is made anew. */
const MAX_HOLES = 0.2
/** Vectors added since the graph was last written, from which on it is written again: it is always written whole. */
const WRITE_AFTER = 5_000
/** Observations that may wait to be added and are looked through beside the graph: less than a millisecond. */
const MAX_BESIDE = 2_000

export class ProjectVectors {
  readonly key: GraphKey
  readonly #options: VectorOptions
  #set: VectorSet
  /** Everything up to here was read: of the newest vector at that time, whosever it is. */
  #lastId = 0
  #graph: LabelledGraph | null = null
  /** Observations with vectors that the graph does not have. */
  #waiting = new Set<number>()
  /** It failed once: from then on vectors are looked through. */
  #isGivenUp = false

  constructor(key: GraphKey, options: VectorOptions) {
    this.key = key
    this.#options = options
    this.#set = new VectorSet(key.dimensions)
  }

  get bytes(): number {
    return this.#set.bytes
  }
  /** True while a graph is wanted and not complete. */
  get isBuilding(): boolean {
    return this.#wantsGraph && (this.#graph === null || this.#waiting.size > 0)
  }
  get method(): 'exact' | 'hnsw' {
    return this.#graph !== null && !this.isBuilding ? 'hnsw' : 'exact'
  }
  get #wantsGraph(): boolean {
    const { library, graphFrom } = this.#options
    return library !== null && !this.#isGivenUp && this.#set.size >= graphFrom
  }

  /** Reads what was stored since the last time. */
  refresh(): void {
    const { project, embedder, dimensions } = this.key
    const { reader } = this.#options
    const newest = reader.lastVector(embedder)
    if (newest <= this.#lastId) return
    let others = 0
    for (const page of reader.vectors(project, embedder, this.#lastId)) {
      for (const { observationId, fragment, vector } of page) {
        if (vector.length !== dimensions) {
          others += 1
          continue
        }
        this.#set.add(observationId, fragment, vector)
        this.#waiting.add(observationId)
      }
    }
    this.#lastId = newest
    if (others > 0) {
      this.#options.log(
        `${others} vectors by ${embedder} have other dimensions than ${dimensions}: \`claude-mem reindex --what vectors\` makes them anew`,
      )
    }
  }

  /** The file goes with them: it is written again once the graph was made anew. */
  forget(observationIds: readonly number[]): void {
    for (const id of observationIds) {
      this.#set.remove(id)
      this.#graph?.remove(id)
      this.#waiting.delete(id)
    }
    if (this.#graph === null || this.#graph.holes === 0) return
    if (this.#graph.holes > MAX_HOLES) this.#dropGraph()
    else removeGraph(this.#options.directory, this.key)
  }

  /** Best first. `allowed` null: all of the project. `width`: how thoroughly the graph is searched. */
  nearest(
    query: Float32Array,
    limit: number,
    allowed: ReadonlySet<number> | null,
    width = SEARCH_WIDTH,
  ): FoundVector[] {
    const graph = this.#graph
    const few = allowed !== null && allowed.size <= FEW_ALLOWED
    if (graph === null || few || this.#waiting.size > MAX_BESIDE) return this.#set.nearest(query, limit, allowed)
    const all = this.#set.observations
    const wanted = allowed === null ? limit : Math.min(all, Math.ceil((limit * all) / allowed.size))
    const near = graph.nearest(query, wanted * FRAGMENTS_EACH, width)
    for (const id of this.#waiting) near.add(id)
    if (allowed !== null) for (const id of near) if (!allowed.has(id)) near.delete(id)
    // Scored with the vectors themselves.
    return this.#set.nearest(query, limit, near)
  }

  closest(observationId: number, query: Float32Array): FoundVector | null {
    return this.#set.closest(observationId, query)
  }

  vectorsOf(observationId: number): Float32Array[] {
    return this.#set.vectorsOf(observationId)
  }

  /** From the file where it fits, else empty: `build` completes it. */
  openGraph(): void {
    const { library, directory, log } = this.#options
    if (library === null || !this.#wantsGraph || this.#graph !== null) return
    try {
      this.#graph = LabelledGraph.read(library, directory, this.key)
      this.#removeGone()
      for (const id of this.#graph?.ids() ?? []) if (this.#isComplete(id)) this.#waiting.delete(id)
    } catch (error) {
      log(`an index of vectors is made anew: ${messageOf(error)}`)
      this.#dropGraph()
    }
    this.#graph ??= LabelledGraph.empty(library, this.key.dimensions)
  }

  /** Adds vectors to the graph for about `ms`; true while there is more to do. */
  build(ms: number): boolean {
    try {
      this.openGraph()
      const graph = this.#graph
      if (graph === null || !this.isBuilding) return false
      this.#addFor(ms, graph)
      const isDue = this.isBuilding ? graph.unwritten >= WRITE_AFTER * 4 : graph.unwritten >= WRITE_AFTER
      if (isDue || (!this.isBuilding && !graph.isWritten)) this.write()
    } catch (error) {
      this.#isGivenUp = true
      this.#dropGraph()
      this.#options.log(`vectors are looked through one by one, an index could not be made: ${messageOf(error)}`)
    }
    return this.isBuilding
  }

  /** What it holds that its file does not. */
  write(): void {
    if (this.#graph === null || this.#graph.unwritten === 0) return
    try {
      this.#graph.write(this.#options.directory, this.key)
    } catch (error) {
      this.#options.log(`an index of vectors could not be kept: ${messageOf(error)}`)
    }
  }

  #addFor(ms: number, graph: LabelledGraph): void {
    const until = performance.now() + ms
    for (const observationId of this.#waiting) {
      this.#addTo(graph, observationId)
      this.#waiting.delete(observationId)
      if (performance.now() > until) return
    }
  }

  #addTo(graph: LabelledGraph, observationId: number): void {
    graph.remove(observationId)
    const vectors = this.#set.vectorsOf(observationId)
    for (const [i, fragment] of this.#set.fragmentsOf(observationId).entries()) {
      const vector = vectors[i]
      if (vector !== undefined) graph.add(observationId, fragment, vector)
    }
  }

  /** Whether the graph holds each of its fragments. */
  #isComplete(observationId: number): boolean {
    const known = this.#graph?.fragmentsOf(observationId) ?? []
    const fragments = this.#set.fragmentsOf(observationId)
    return known.length === fragments.length && fragments.every((fragment) => known.includes(fragment))
  }

  /** What was forgotten since the graph was written must not be found by it, nor stay in its file. */
  #removeGone(): void {
    this.forget([...(this.#graph?.ids() ?? [])].filter((id) => !this.#set.has(id)))
  }

  #dropGraph(): void {
    this.#graph = null
    this.#waiting = new Set(this.#set.ids())
    removeGraph(this.#options.directory, this.key)
  }
}
