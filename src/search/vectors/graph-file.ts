/**
 * A graph on disk: the index as its library writes it, and beside it what it was made of. Both are derived: whatever does
 * not fit is thrown away and made again from the rows.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
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
import { systemCode } from '../../errors.ts'
import { shortHash } from '../../paths.ts'
import { syncDirectory } from '../../sync-directory.ts'
import type { Graph } from './graph.ts'

const FORMAT = 1
const INDEX = '.hnsw'
const LABELS = '.json'

/** Whose vectors they are. */
export interface GraphKey {
  project: string
  embedder: string
  dimensions: number
}

/** One for each label, in their order. */
export interface Labelled {
  observationId: number
  fragment: string
}

export interface GraphFiles {
  index: string
  labels: string
}

export function graphFiles(directory: string, { project, embedder }: GraphKey): GraphFiles {
  const name = shortHash(`${embedder}\0${project}`)
  return { index: join(directory, `${name}${INDEX}`), labels: join(directory, `${name}${LABELS}`) }
}

interface Stored {
  format: number
  key: GraphKey
  checksum: string
  labels: [observationId: number, fragment: string][]
}

/** The description goes last: without it, or with another checksum, the index does not count. */
export function writeGraph(directory: string, key: GraphKey, graph: Graph, labels: readonly Labelled[]): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const files = graphFiles(directory, key)
  const beside = `${files.index}.${process.pid}`
  try {
    graph.write(beside)
    const stored: Stored = {
      format: FORMAT,
      key,
      checksum: checksumOf(beside),
      labels: labels.map(({ observationId, fragment }) => [observationId, fragment]),
    }
    sync(beside)
    renameSync(beside, files.index)
    writeDurably(files.labels, JSON.stringify(stored))
    syncDirectory(directory)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Null: there are none. Throws with the reason where there are some that cannot be used. */
export function readLabels(directory: string, key: GraphKey): Labelled[] | null {
  const files = graphFiles(directory, key)
  const stored = readStored(files.labels)
  if (stored === null) return null
  if (stored.format !== FORMAT) throw new Error('it was written by another version')
  if (JSON.stringify(stored.key) !== JSON.stringify(key)) throw new Error('it is of another project or embedder')
  if (stored.checksum !== checksumOf(files.index)) throw new Error('its checksum is wrong')
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
  if (typeof stored !== 'object' || stored === null) throw new Error('its description is none')
  return stored
}

export function removeGraph(directory: string, key: GraphKey): void {
  const { index, labels } = graphFiles(directory, key)
  remove(labels)
  remove(index)
}

/** Of every project and embedder, whether or not anybody has them in memory. */
export function removeGraphs(directory: string): void {
  for (const name of namesIn(directory)) rmSync(join(directory, name), { force: true })
}

/** Whatever holds one of these goes, and whatever cannot say what it holds. */
export function removeGraphsWith(directory: string, observationIds: readonly number[]): void {
  const gone = new Set(observationIds)
  for (const name of namesIn(directory)) {
    if (!name.endsWith(INDEX)) continue
    const index = join(directory, name)
    const labels = `${index.slice(0, -INDEX.length)}${LABELS}`
    if (!mayHold(labels, gone)) continue
    remove(labels)
    remove(index)
  }
}

/** What a process that was killed left beside the files it was writing. */
export function removeLeftovers(directory: string): void {
  for (const name of namesIn(directory)) {
    if (!name.endsWith(INDEX) && !name.endsWith(LABELS)) rmSync(join(directory, name), { force: true })
  }
}

function mayHold(labels: string, gone: ReadonlySet<number>): boolean {
  try {
    return readStored(labels)?.labels?.some(([observationId]) => gone.has(observationId)) ?? true
  } catch {
    return true
  }
}

/** Only what is ours: 16 hexadecimal digits and what we put behind them. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => OURS.test(name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
const OURS = /^[0-9a-f]{16}\.(?:hnsw|json)(?:\.\d+)?$/

/** Something else may lie where the directory should. */
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

function checksumOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function writeDurably(file: string, text: string): void {
  const beside = `${file}.${process.pid}`
  try {
    const descriptor = openSync(beside, 'w', 0o600)
    try {
      writeFileSync(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(beside, file)
  } finally {
    rmSync(beside, { force: true })
  }
}
