/**
 * The vectors of one project in one array, by observation. The score of an observation is that of its closest fragment.
 * Removed vectors leave gaps; the array is compacted when there are many.
 */

export interface VectorMatch {
  observationId: number
  /** Cosine of the closest fragment. */
  score: number
  fragment: string
}

/** The vectors of an observation, which are consecutive. */
interface VectorRange {
  /** Index of the first vector. */
  at: number
  fragments: string[]
}

const FIRST_CAPACITY = 256
/** Share of gaps from which on the array is compacted. */
const MAX_GAPS = 0.25

export class VectorSet {
  readonly dimensions: number
  #matrix: Float32Array
  /** Vectors in the matrix, including gaps. */
  #length = 0
  #gaps = 0
  readonly #ranges = new Map<number, VectorRange>()

  constructor(dimensions: number) {
    this.dimensions = dimensions
    this.#matrix = new Float32Array(FIRST_CAPACITY * dimensions)
  }

  /** Vectors that were not removed. */
  get size(): number {
    return this.#length - this.#gaps
  }
  get observations(): number {
    return this.#ranges.size
  }
  get bytes(): number {
    return this.#matrix.byteLength
  }
  has(observationId: number): boolean {
    return this.#ranges.has(observationId)
  }

  /** Adds a fragment, or replaces one with the same name. */
  add(observationId: number, fragment: string, vector: Float32Array): void {
    const known = this.#ranges.get(observationId)
    if (known === undefined) {
      this.#ranges.set(observationId, { at: this.#append(vector), fragments: [fragment] })
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
    const range = this.#ranges.get(observationId)
    if (range === undefined) return
    this.#ranges.delete(observationId)
    this.#gaps += range.fragments.length
    if (this.#gaps > this.#length * MAX_GAPS) this.#compact()
  }

  /** Best first. `allowed` null: all observations. */
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null = null): VectorMatch[] {
    const best = new TopMatches(limit)
    if (allowed !== null && allowed.size < this.#ranges.size) {
      for (const observationId of allowed) {
        const range = this.#ranges.get(observationId)
        if (range !== undefined) best.offer(this.#bestFragment(observationId, range, query))
      }
      return best.sorted
    }
    for (const [observationId, range] of this.#ranges) {
      // `allowed` may be as large as this set and yet contain other ids.
      if (allowed?.has(observationId) !== false) best.offer(this.#bestFragment(observationId, range, query))
    }
    return best.sorted
  }

  closest(observationId: number, query: Float32Array): VectorMatch | null {
    const range = this.#ranges.get(observationId)
    return range === undefined ? null : this.#bestFragment(observationId, range, query)
  }

  /** A copy of each of an observation's vectors. */
  vectorsOf(observationId: number): Float32Array[] {
    const range = this.#ranges.get(observationId)
    return (range?.fragments ?? []).map((_, i) => this.#vector((range?.at ?? 0) + i))
  }

  fragmentsOf(observationId: number): readonly string[] {
    return this.#ranges.get(observationId)?.fragments ?? []
  }

  ids(): IterableIterator<number> {
    return this.#ranges.keys()
  }

  #bestFragment(observationId: number, { at, fragments }: VectorRange, query: Float32Array): VectorMatch {
    let score = -Infinity
    let which = 0
    for (let n = 0; n < fragments.length; n++) {
      const product = dotProduct(this.#matrix, (at + n) * this.dimensions, query)
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
      throw new Error(`expected a vector of ${this.dimensions} dimensions, got ${vector.length}`)
    }
    if ((this.#length + 1) * this.dimensions > this.#matrix.length) {
      const larger = new Float32Array(this.#matrix.length * 2)
      larger.set(this.#matrix)
      this.#matrix = larger
    }
    this.#matrix.set(vector, this.#length * this.dimensions)
    return this.#length++
  }

  /** Moves the vectors of an observation to the end and adds one. */
  #move(observationId: number, range: VectorRange, fragment: string, vector: Float32Array): void {
    const others = range.fragments.map((name, i) => ({ name, vector: this.#vector(range.at + i) }))
    this.remove(observationId)
    for (const other of others) if (other.name !== fragment) this.add(observationId, other.name, other.vector)
    this.add(observationId, fragment, vector)
  }

  #compact(): void {
    const old = this.#matrix
    const { dimensions } = this
    this.#matrix = new Float32Array(Math.max(FIRST_CAPACITY, this.size * 2) * dimensions)
    this.#length = 0
    this.#gaps = 0
    for (const range of this.#ranges.values()) {
      const end = (range.at + range.fragments.length) * dimensions
      this.#matrix.set(old.subarray(range.at * dimensions, end), this.#length * dimensions)
      range.at = this.#length
      this.#length += range.fragments.length
    }
  }
}

/** Collects the best `limit` matches. Few of many thousand get into the list, so inserting is not what takes time. */
class TopMatches {
  readonly sorted: VectorMatch[] = []
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  offer(found: VectorMatch): void {
    const { sorted } = this
    const isFull = sorted.length >= this.#limit
    const worst = sorted.at(-1)
    if (isFull && (worst === undefined || byScore(found, worst) > 0)) return
    if (isFull) sorted.pop()
    const next = sorted.findIndex((match) => byScore(found, match) < 0)
    sorted.splice(next === -1 ? sorted.length : next, 0, found)
  }
}

/** Best first. With equal scores the newest is first, so that results are stable. */
export function byScore(a: VectorMatch, b: VectorMatch): number {
  return b.score - a.score || b.observationId - a.observationId
}

/**
 * Dot product of `query` and the vector at `start` in `matrix`. Four independent sums take two thirds of the time of
 * one; most of the time of a search over ten thousand vectors is spent here.
 */
export function dotProduct(matrix: Float32Array, start: number, query: Float32Array): number {
  const { length } = query
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  for (; i + 3 < length; i += 4) {
    a += (matrix[start + i] ?? 0) * (query[i] ?? 0)
    b += (matrix[start + i + 1] ?? 0) * (query[i + 1] ?? 0)
    c += (matrix[start + i + 2] ?? 0) * (query[i + 2] ?? 0)
    d += (matrix[start + i + 3] ?? 0) * (query[i + 3] ?? 0)
  }
  for (; i < length; i++) a += (matrix[start + i] ?? 0) * (query[i] ?? 0)
  return a + b + c + d
}
