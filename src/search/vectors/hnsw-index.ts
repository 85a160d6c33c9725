/**
 * An HNSW index over vectors, for sets that are too large to compare all of them, and its files. The package is
 * optional: without it all vectors are compared. Matches are scored again with the exact vectors, so the index can miss
 * one but never rank it wrongly. Its files are derived: one that does not fit is deleted and built again from the
 * database.
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HierarchicalNSW } from 'hnswlib-node'
import { errorMessage } from '../../lib/errors.ts'
import {
  isMissingFile,
  makeSubdirectory,
  moveFileSync,
  readFileIfExists,
  syncDirectory,
  syncFile,
  writeFileDurably,
} from '../../lib/files.ts'
import { isMissingPackage, requirePackage } from '../../lib/packages.ts'
import { shortHash } from '../../lib/paths.ts'

/** HNSW parameter M: links of each point. With 16, efSearch would have to be half as large again. */
const M = 24
/** HNSW parameter efConstruction. */
const EF_CONSTRUCTION = 200
/**
 * HNSW parameter efSearch. A query is short and close to nothing: among 90,000 observations, 200 finds .88 of the
 * ten closest ones, 1,200 finds .98, and this finds .99 in 4 ms.
 */
export const EF_SEARCH = 2_000
/** Enough to find near-duplicates of an observation. */
export const DUPLICATE_EF_SEARCH = 200
const SEED = 100
const FIRST_CAPACITY = 1_024
const GROWTH = 1.5

export type HnswLibrary = typeof import('hnswlib-node')

/** `library` is null if the package is not installed or does not run on this machine; `reason` says why. */
export function loadHnswLibrary(): { library: HnswLibrary | null; reason: string | null } {
  try {
    return { library: requirePackage('hnswlib-node'), reason: null }
  } catch (error) {
    if (isMissingPackage(error)) return { library: null, reason: 'hnswlib-node is not installed' }
    return { library: null, reason: `hnswlib-node cannot be loaded: ${errorMessage(error).split('\n', 1)[0]}` }
  }
}

/** Raised when the format of the labels changes. */
const FORMAT = 1
const INDEX_SUFFIX = '.hnsw'
const LABELS_SUFFIX = '.json'

/** Identifies the vectors of an index. */
export interface HnswIndexKey {
  project: string
  embedder: string
  dimensions: number
}

/** The position in the list of labels is the label of the point. */
type HnswLabel = [observationId: number, fragment: string]

/** The content of the file with the labels. */
interface StoredLabels {
  format: number
  key: HnswIndexKey
  /** Of the file with the index. */
  checksum: string
  labels: readonly HnswLabel[]
}

/**
 * An index whose labels are fragments of observations. Removed points stay in the index, marked as deleted, so an index
 * with removed points is never written: the file would keep what was forgotten.
 */
export class HnswIndex {
  readonly #index: HierarchicalNSW
  readonly #labels: HnswLabel[] = []
  readonly #labelsOf = new Map<number, number[]>()
  #removed = 0
  /** Points added since it was last written. */
  unwritten = 0
  isWritten = false

  private constructor(index: HierarchicalNSW) {
    this.#index = index
  }

  static empty(library: HnswLibrary, dimensions: number): HnswIndex {
    const index = new library.HierarchicalNSW('ip', dimensions)
    index.initIndex(FIRST_CAPACITY, M, EF_CONSTRUCTION, SEED)
    return new HnswIndex(index)
  }

  /** Null if there is no file. Throws if the file cannot be used. */
  static read(library: HnswLibrary, directory: string, key: HnswIndexKey): HnswIndex | null {
    const files = hnswIndexFiles(directory, key)
    const stored = readStored(files.labels)
    if (stored === null) {
      if (existsSync(files.index)) throw new Error('the file with its labels is missing')
      return null
    }
    if (stored.format !== FORMAT) throw new Error('it was written by another version')
    if (JSON.stringify(stored.key) !== JSON.stringify(key)) throw new Error('it is of another project or embedder')
    if (stored.checksum !== sha256(files.index)) throw new Error('its checksum is wrong')
    const index = new library.HierarchicalNSW('ip', key.dimensions)
    index.readIndexSync(files.index)
    if (index.getNumDimensions() !== key.dimensions) throw new Error(`it has ${index.getNumDimensions()} dimensions`)
    const loaded = new HnswIndex(index)
    stored.labels?.forEach((label) => {
      loaded.#label(...label)
    })
    if (index.getCurrentCount() !== loaded.#labels.length) throw new Error('its labels belong to another graph')
    loaded.isWritten = true
    return loaded
  }

  /** Share of removed points. */
  get removedShare(): number {
    return this.#labels.length === 0 ? 0 : this.#removed / this.#labels.length
  }
  ids(): IterableIterator<number> {
    return this.#labelsOf.keys()
  }
  fragmentsOf(observationId: number): string[] {
    return (this.#labelsOf.get(observationId) ?? []).flatMap((label) => this.#labels[label]?.[1] ?? [])
  }

  add(observationId: number, fragment: string, vector: Float32Array): void {
    const capacity = this.#index.getMaxElements()
    if (this.#labels.length >= capacity) this.#index.resizeIndex(Math.ceil(capacity * GROWTH))
    this.#index.addPoint(Array.from(vector), this.#labels.length)
    this.#label(observationId, fragment)
    this.unwritten += 1
  }

  remove(observationId: number): void {
    const labels = this.#labelsOf.get(observationId) ?? []
    for (const label of labels) this.#index.markDelete(label)
    this.#labelsOf.delete(observationId)
    this.#removed += labels.length
  }

  /** Ids of the observations of the `count` closest fragments, closest first. `ef`: HNSW parameter of the search. */
  nearest(query: Float32Array, count: number, ef: number): Set<number> {
    const most = Math.min(count, this.#labels.length)
    if (most === 0) return new Set()
    this.#index.setEf(Math.max(ef, most))
    const { neighbors } = this.#index.searchKnn(Array.from(query), most)
    return new Set(neighbors.flatMap((label) => this.#labels[label]?.[0] ?? []))
  }

  /** The labels are renamed last: without them, or with another checksum, the index is not used. */
  write(directory: string, key: HnswIndexKey): void {
    if (this.#removed > 0) {
      removeHnswIndex(directory, key)
      return
    }
    makeSubdirectory(directory)
    const files = hnswIndexFiles(directory, key)
    const index = `${files.index}.${process.pid}`
    const labels = `${files.labels}.${process.pid}`
    try {
      this.#index.writeIndexSync(index)
      syncFile(index)
      const stored: StoredLabels = { format: FORMAT, key, checksum: sha256(index), labels: this.#labels }
      writeFileDurably(labels, JSON.stringify(stored), 'w')
      moveFileSync(index, files.index)
      moveFileSync(labels, files.labels)
      syncDirectory(directory)
    } finally {
      for (const temporary of [index, labels]) rmSync(temporary, { force: true })
    }
    this.unwritten = 0
    this.isWritten = true
  }

  #label(observationId: number, fragment: string): void {
    const labels = this.#labelsOf.get(observationId)
    if (labels === undefined) this.#labelsOf.set(observationId, [this.#labels.length])
    else labels.push(this.#labels.length)
    this.#labels.push([observationId, fragment])
  }
}

export function hnswIndexFiles(
  directory: string,
  { project, embedder }: HnswIndexKey,
): { index: string; labels: string } {
  const path = join(directory, shortHash(`${embedder}\0${project}`))
  return { index: path + INDEX_SUFFIX, labels: path + LABELS_SUFFIX }
}

/** Null if there is no file. */
function readStored(file: string): Partial<StoredLabels> | null {
  const text = readFileIfExists(file)
  if (text === null) return null
  const stored: unknown = JSON.parse(text)
  if (typeof stored !== 'object' || stored === null) throw new Error('its labels are not a JSON object')
  return stored
}

export function removeHnswIndex(directory: string, key: HnswIndexKey): void {
  const { index, labels } = hnswIndexFiles(directory, key)
  remove(labels)
  remove(index)
}

/** Removes the files of all projects and embedders. */
export function removeAllHnswIndexes(directory: string): void {
  for (const name of hnswFileNames(directory)) rmSync(join(directory, name), { force: true })
}

/** Removes the files of indexes that contain one of these observations, or whose labels cannot be read. */
export function removeHnswIndexesContaining(directory: string, observationIds: readonly number[]): void {
  const forgotten = new Set(observationIds)
  for (const name of hnswFileNames(directory)) {
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
  for (const name of hnswFileNames(directory)) {
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
function hnswFileNames(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => HNSW_FILE_NAME.test(name))
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}
const HNSW_FILE_NAME = /^[0-9a-f]{16}\.(?:hnsw|json)(?:\.\d+)?$/

function remove(file: string): void {
  try {
    rmSync(file)
  } catch (error) {
    if (!isMissingFile(error)) throw error
  }
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
