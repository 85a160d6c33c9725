/**
 * A graph index over vectors (HNSW), for sets that are too large to compare all of them, and its files. The package is
 * optional: without it all vectors are compared. Matches are scored again with the exact vectors, so the graph can miss
 * one but never rank it wrongly. Its files are derived: one that does not fit is deleted and built again from the
 * database.
 */

import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { HierarchicalNSW } from 'hnswlib-node'
import { errorMessage, systemCode } from '../../lib/errors.ts'
import { syncDirectory } from '../../lib/files.ts'
import { shortHash } from '../../lib/paths.ts'

/** HNSW parameter M: links of each point. With 16, a search would have to be half as wide again. */
const LINKS = 24
/** HNSW parameter efConstruction. */
const BUILD_WIDTH = 200
/**
 * HNSW parameter ef of a search. A query is short and close to nothing: among 90,000 observations, 200 finds .88 of the
 * ten closest ones, 1,200 finds .98, and this finds .99 in 4 ms.
 */
export const SEARCH_WIDTH = 2_000
/** Enough to find near-duplicates of an observation. */
export const DUPLICATE_SEARCH_WIDTH = 200
const SEED = 100
const FIRST_CAPACITY = 1_024
const GROWTH = 1.5

export type GraphLibrary = typeof import('hnswlib-node')

/** `library` is null if the package is not installed or does not run on this machine; `reason` says why. */
export async function loadGraphLibrary(): Promise<{ library: GraphLibrary | null; reason: string | null }> {
  try {
    const loaded = await import('hnswlib-node')
    return { library: 'default' in loaded ? (loaded.default as GraphLibrary) : loaded, reason: null }
  } catch (error) {
    return { library: null, reason: `hnswlib-node cannot be loaded: ${errorMessage(error).split('\n', 1)[0]}` }
  }
}

class Graph {
  readonly #index: HierarchicalNSW
  #capacity: number

  private constructor(index: HierarchicalNSW, capacity: number) {
    this.#index = index
    this.#capacity = capacity
  }

  static empty(library: GraphLibrary, dimensions: number): Graph {
    const index = new library.HierarchicalNSW('ip', dimensions)
    index.initIndex(FIRST_CAPACITY, LINKS, BUILD_WIDTH, SEED)
    return new Graph(index, FIRST_CAPACITY)
  }

  /** Throws if the file is not a graph, or has other dimensions. */
  static read(library: GraphLibrary, dimensions: number, file: string): Graph {
    const index = new library.HierarchicalNSW('ip', dimensions)
    index.readIndexSync(file)
    if (index.getNumDimensions() !== dimensions) throw new Error(`it has ${index.getNumDimensions()} dimensions`)
    return new Graph(index, index.getMaxElements())
  }

  get size(): number {
    return this.#index.getCurrentCount()
  }

  add(label: number, vector: Float32Array): void {
    if (this.size >= this.#capacity) {
      this.#capacity = Math.ceil(this.#capacity * GROWTH)
      this.#index.resizeIndex(this.#capacity)
    }
    this.#index.addPoint(Array.from(vector), label)
  }

  remove(label: number): void {
    this.#index.markDelete(label)
  }

  /** Labels, closest first. */
  nearest(query: Float32Array, count: number, width: number): number[] {
    const most = Math.min(count, this.size)
    if (most === 0) return []
    this.#index.setEf(Math.max(width, most))
    return this.#index.searchKnn(Array.from(query), most).neighbors
  }

  write(file: string): void {
    this.#index.writeIndexSync(file)
  }
}

/**
 * A graph whose labels are fragments of observations. Removed points stay in the graph, marked as deleted, so a graph
 * with removed points is never written: the file would keep what was forgotten.
 */
export class LabelledGraph {
  readonly #graph: Graph
  readonly #labels: GraphLabel[] = []
  readonly #labelsOf = new Map<number, number[]>()
  #removed = 0
  /** Points added since it was last written. */
  unwritten = 0
  isWritten = false

  private constructor(graph: Graph) {
    this.#graph = graph
  }

  static empty(library: GraphLibrary, dimensions: number): LabelledGraph {
    return new LabelledGraph(Graph.empty(library, dimensions))
  }

  /** Null if there is no file. Throws if the file cannot be used. */
  static read(library: GraphLibrary, directory: string, key: GraphKey): LabelledGraph | null {
    const files = graphFiles(directory, key)
    const labels = readLabels(directory, key)
    if (labels === null) {
      if (existsSync(files.index)) throw new Error('the file with its labels is missing')
      return null
    }
    const read = new LabelledGraph(Graph.read(library, key.dimensions, files.index))
    if (read.#graph.size !== labels.length) throw new Error('its labels belong to another graph')
    for (const { observationId, fragment } of labels) read.#label(observationId, fragment)
    read.isWritten = true
    return read
  }

  /** Points that were not removed. */
  get size(): number {
    return this.#labels.length - this.#removed
  }
  /** Share of removed points. */
  get removedShare(): number {
    return this.#labels.length === 0 ? 0 : this.#removed / this.#labels.length
  }
  ids(): IterableIterator<number> {
    return this.#labelsOf.keys()
  }
  fragmentsOf(observationId: number): string[] {
    return (this.#labelsOf.get(observationId) ?? []).flatMap((label) => this.#labels[label]?.fragment ?? [])
  }

  add(observationId: number, fragment: string, vector: Float32Array): void {
    this.#graph.add(this.#labels.length, vector)
    this.#label(observationId, fragment)
    this.unwritten += 1
  }

  remove(observationId: number): void {
    const labels = this.#labelsOf.get(observationId) ?? []
    for (const label of labels) this.#graph.remove(label)
    this.#labelsOf.delete(observationId)
    this.#removed += labels.length
  }

  /** Ids of the observations of the `count` closest fragments, closest first. */
  nearest(query: Float32Array, count: number, width: number): Set<number> {
    const ids = this.#graph.nearest(query, count, width).flatMap((label) => this.#labels[label]?.observationId ?? [])
    return new Set(ids)
  }

  write(directory: string, key: GraphKey): void {
    if (this.#removed > 0) {
      removeGraph(directory, key)
      return
    }
    writeGraph(directory, key, this.#graph, this.#labels)
    this.unwritten = 0
    this.isWritten = true
  }

  #label(observationId: number, fragment: string): void {
    const label = this.#labels.length
    this.#labels.push({ observationId, fragment })
    const labels = this.#labelsOf.get(observationId)
    if (labels === undefined) this.#labelsOf.set(observationId, [label])
    else labels.push(label)
  }
}

/** Raised when the format of the labels changes. */
const FORMAT = 1
const INDEX_SUFFIX = '.hnsw'
const LABELS_SUFFIX = '.json'

/** Identifies the vectors of a graph. */
export interface GraphKey {
  project: string
  embedder: string
  dimensions: number
}

/** The position in the list is the label of the point. */
interface GraphLabel {
  observationId: number
  fragment: string
}

interface GraphFiles {
  index: string
  labels: string
}

export function graphFiles(directory: string, { project, embedder }: GraphKey): GraphFiles {
  const name = shortHash(`${embedder}\0${project}`)
  return { index: join(directory, `${name}${INDEX_SUFFIX}`), labels: join(directory, `${name}${LABELS_SUFFIX}`) }
}

interface Stored {
  format: number
  key: GraphKey
  checksum: string
  labels: [observationId: number, fragment: string][]
}

/** The labels are written last: without them, or with another checksum, the index is not used. */
function writeGraph(directory: string, key: GraphKey, graph: Graph, labels: readonly GraphLabel[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const files = graphFiles(directory, key)
  const temporary = `${files.index}.${process.pid}`
  try {
    graph.write(temporary)
    const stored: Stored = {
      format: FORMAT,
      key,
      checksum: sha256(temporary),
      labels: labels.map(({ observationId, fragment }) => [observationId, fragment]),
    }
    syncFile(temporary)
    renameSync(temporary, files.index)
    writeDurably(files.labels, JSON.stringify(stored))
    syncDirectory(directory)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Null if there is no file. Throws if the file or its index cannot be used. */
function readLabels(directory: string, key: GraphKey): GraphLabel[] | null {
  const files = graphFiles(directory, key)
  const stored = readStored(files.labels)
  if (stored === null) return null
  if (stored.format !== FORMAT) throw new Error('it was written by another version')
  if (JSON.stringify(stored.key) !== JSON.stringify(key)) throw new Error('it is of another project or embedder')
  if (stored.checksum !== sha256(files.index)) throw new Error('its checksum is wrong')
  return (stored.labels ?? []).map(([observationId, fragment]) => ({ observationId, fragment }))
}

function readStored(file: string): Partial<Stored> | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  const stored: unknown = JSON.parse(text)
  if (typeof stored !== 'object' || stored === null) throw new Error('its labels are not a JSON object')
  return stored
}

export function removeGraph(directory: string, key: GraphKey): void {
  const { index, labels } = graphFiles(directory, key)
  remove(labels)
  remove(index)
}

/** Removes the files of all projects and embedders. */
export function removeAllGraphs(directory: string): void {
  for (const name of graphFileNames(directory)) rmSync(join(directory, name), { force: true })
}

/** Removes the files of graphs that contain one of these observations, or whose labels cannot be read. */
export function removeGraphsContaining(directory: string, observationIds: readonly number[]): void {
  const forgotten = new Set(observationIds)
  for (const name of graphFileNames(directory)) {
    if (!name.endsWith(INDEX_SUFFIX)) continue
    const index = join(directory, name)
    const labels = `${index.slice(0, -INDEX_SUFFIX.length)}${LABELS_SUFFIX}`
    if (!mayContain(labels, forgotten)) continue
    remove(labels)
    remove(index)
  }
}

/** Removes what a process that was killed while it wrote has left. */
export function removeTemporaryFiles(directory: string): void {
  for (const name of graphFileNames(directory)) {
    if (!name.endsWith(INDEX_SUFFIX) && !name.endsWith(LABELS_SUFFIX)) rmSync(join(directory, name), { force: true })
  }
}

function mayContain(labels: string, forgotten: ReadonlySet<number>): boolean {
  try {
    return readStored(labels)?.labels?.some(([observationId]) => forgotten.has(observationId)) ?? true
  } catch {
    return true
  }
}

/** Names of files that this module writes. */
function graphFileNames(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => GRAPH_FILE_NAME.test(name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
const GRAPH_FILE_NAME = /^[0-9a-f]{16}\.(?:hnsw|json)(?:\.\d+)?$/

/** ENOTDIR: a file has the name of the directory. */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}

function remove(file: string): void {
  try {
    rmSync(file)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeDurably(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`
  try {
    const descriptor = openSync(temporary, 'w', 0o600)
    try {
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}
