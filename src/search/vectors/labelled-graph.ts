/**
 * A graph with what its labels stand for: a fragment of an observation each. What is removed stays in it, marked, and a graph
 * that holds anything removed is never written: a file would keep what somebody wanted forgotten.
 */
import { existsSync } from 'node:fs'
import { Graph, type GraphLibrary } from './graph.ts'
import { type GraphKey, graphFiles, type Labelled, readLabels, removeGraph, writeGraph } from './graph-file.ts'

export class LabelledGraph {
  readonly #graph: Graph
  readonly #labels: Labelled[] = []
  readonly #labelsOf = new Map<number, number[]>()
  #removed = 0
  /** Added since it was last written. */
  unwritten = 0
  isWritten = false

  private constructor(graph: Graph) {
    this.#graph = graph
  }

  static empty(library: GraphLibrary, dimensions: number): LabelledGraph {
    return new LabelledGraph(Graph.empty(library, dimensions))
  }

  /** Null: there is none. Throws with the reason where there is one that cannot be used. */
  static read(library: GraphLibrary, directory: string, key: GraphKey): LabelledGraph | null {
    const files = graphFiles(directory, key)
    const labels = readLabels(directory, key)
    if (labels === null) {
      if (existsSync(files.index)) throw new Error('nothing says what it was made of')
      return null
    }
    const read = new LabelledGraph(Graph.read(library, key.dimensions, files.index))
    if (read.#graph.size !== labels.length) throw new Error('it was made of something else')
    for (const { observationId, fragment } of labels) read.#label(observationId, fragment)
    read.isWritten = true
    return read
  }

  /** Fragments that count. */
  get size(): number {
    return this.#labels.length - this.#removed
  }
  /** Share of what was removed. */
  get holes(): number {
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

  /** Of the `count` closest fragments, each once, closest first. */
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
