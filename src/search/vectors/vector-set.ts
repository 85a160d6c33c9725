/**
 * The vectors of one project in one piece of memory, by observation: an observation is as close as its closest fragment.
 * What is removed leaves a hole, and the holes are closed once they are many.
 */
import { dot } from './dot.ts'

export interface FoundVector {
  observationId: number
  /** Cosine of the closest fragment. */
  score: number
  fragment: string
}

interface Place {
  /** Of its first vector. */
  at: number
  fragments: string[]
}

const FIRST_CAPACITY = 256
/** Share of holes that are worth the work of closing them. */
const MAX_HOLES = 0.25

export class VectorSet {
  readonly dimensions: number
  #matrix: Float32Array
  /** Vectors in the matrix, holes included. */
  #length = 0
  #holes = 0
  readonly #places = new Map<number, Place>()

  constructor(dimensions: number) {
    this.dimensions = dimensions
    this.#matrix = new Float32Array(FIRST_CAPACITY * dimensions)
  }

  /** Vectors that count. */
  get size(): number {
    return this.#length - this.#holes
  }
  get observations(): number {
    return this.#places.size
  }
  get bytes(): number {
    return this.#matrix.byteLength
  }
  has(observationId: number): boolean {
    return this.#places.has(observationId)
  }

  /** A further fragment of an observation may come later; one that is known is replaced with all the others. */
  add(observationId: number, fragment: string, vector: Float32Array): void {
    const known = this.#places.get(observationId)
    if (known === undefined) {
      this.#places.set(observationId, { at: this.#append(vector), fragments: [fragment] })
      return
    }
    if (known.at + known.fragments.length === this.#length && !known.fragments.includes(fragment)) {
      this.#append(vector)
      known.fragments.push(fragment)
      return
    }
    this.#move(observationId, known, fragment, vector)
  }

  remove(observationId: number): void {
    const place = this.#places.get(observationId)
    if (place === undefined) return
    this.#places.delete(observationId)
    this.#holes += place.fragments.length
    if (this.#holes > this.#length * MAX_HOLES) this.#close()
  }

  /** Best first; `allowed` null: all. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null = null): FoundVector[] {
    const best = new Best(limit)
    if (allowed !== null && allowed.size < this.#places.size) {
      for (const observationId of allowed) {
        const place = this.#places.get(observationId)
        if (place !== undefined) best.offer(this.#closest(observationId, place, query))
      }
      return best.taken
    }
    for (const [observationId, place] of this.#places) {
      // As many may be allowed as there are here, and yet be others.
      if (allowed?.has(observationId) !== false) best.offer(this.#closest(observationId, place, query))
    }
    return best.taken
  }

  closest(observationId: number, query: Float32Array): FoundVector | null {
    const place = this.#places.get(observationId)
    return place === undefined ? null : this.#closest(observationId, place, query)
  }

  /** A copy of each of an observation's vectors. */
  vectorsOf(observationId: number): Float32Array[] {
    const place = this.#places.get(observationId)
    return (place?.fragments ?? []).map((_, i) => this.#vector((place?.at ?? 0) + i))
  }

  fragmentsOf(observationId: number): readonly string[] {
    return this.#places.get(observationId)?.fragments ?? []
  }

  ids(): IterableIterator<number> {
    return this.#places.keys()
  }

  #closest(observationId: number, { at, fragments }: Place, query: Float32Array): FoundVector {
    let score = -Infinity
    let which = 0
    for (let n = 0; n < fragments.length; n++) {
      const product = dot(this.#matrix, (at + n) * this.dimensions, query)
      if (product > score) {
        score = product
        which = n
      }
    }
    return { observationId, score, fragment: fragments[which] ?? '' }
  }

  #vector(at: number): Float32Array {
    return this.#matrix.slice(at * this.dimensions, (at + 1) * this.dimensions)
  }

  #append(vector: Float32Array): number {
    if (vector.length !== this.dimensions) {
      throw new Error(`a vector of ${vector.length} dimensions among those of ${this.dimensions}`)
    }
    if ((this.#length + 1) * this.dimensions > this.#matrix.length) {
      const larger = new Float32Array(this.#matrix.length * 2)
      larger.set(this.#matrix)
      this.#matrix = larger
    }
    this.#matrix.set(vector, this.#length * this.dimensions)
    return this.#length++
  }

  /** To the end, where there is room for one more. */
  #move(observationId: number, place: Place, fragment: string, vector: Float32Array): void {
    const others = place.fragments.map((name, i) => ({ name, vector: this.#vector(place.at + i) }))
    this.remove(observationId)
    for (const other of others) if (other.name !== fragment) this.add(observationId, other.name, other.vector)
    this.add(observationId, fragment, vector)
  }

  #close(): void {
    const old = this.#matrix
    const { dimensions } = this
    this.#matrix = new Float32Array(Math.max(FIRST_CAPACITY, this.size * 2) * dimensions)
    this.#length = 0
    this.#holes = 0
    for (const place of this.#places.values()) {
      const end = (place.at + place.fragments.length) * dimensions
      this.#matrix.set(old.subarray(place.at * dimensions, end), this.#length * dimensions)
      place.at = this.#length
      this.#length += place.fragments.length
    }
  }
}

/** The best `limit` of many, in their order; of equals the newest first, so that results are stable. */
class Best {
  readonly #limit: number
  readonly #heap: FoundVector[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  offer(found: FoundVector): void {
    const heap = this.#heap
    if (heap.length < this.#limit) {
      heap.push(found)
      if (heap.length === this.#limit) for (let i = (heap.length >> 1) - 1; i >= 0; i--) this.#sink(i)
      return
    }
    const [worst] = heap
    if (worst === undefined || !isBetter(found, worst)) return
    heap[0] = found
    this.#sink(0)
  }

  get taken(): FoundVector[] {
    return [...this.#heap].sort((a, b) => (isBetter(a, b) ? -1 : 1))
  }

  /** The worst stands first. */
  #sink(from: number): void {
    const heap = this.#heap
    for (let at = from; ; ) {
      const left = 2 * at + 1
      let worst = at
      for (const child of [left, left + 1]) {
        const a = heap[child]
        const b = heap[worst]
        if (a !== undefined && b !== undefined && isBetter(b, a)) worst = child
      }
      if (worst === at) return
      const moved = heap[at]
      const other = heap[worst]
      if (moved === undefined || other === undefined) return
      heap[at] = other
      heap[worst] = moved
      at = worst
    }
  }
}

function isBetter(a: FoundVector, b: FoundVector): boolean {
  return a.score > b.score || (a.score === b.score && a.observationId > b.observationId)
}
