/**
 * Word vectors have much in common that says nothing about meaning: their mean, and few directions along which they
 * differ most (roughly how frequent a word is). Without them, similar texts stand out. Computed over the words themselves:
 * no corpus, so that it fits no subject more than another.
 */
import type { WordVector } from '../../src/search/embedders/vector-file.ts'

/** 1, 2, 3 and 4 were tried: 3 was best, 4 hardly different. */
const DIRECTIONS = 3
/** The first ones stand out: they stop changing long before. */
const ROUNDS = 200

export function withoutCommon(words: readonly WordVector[], dimensions: number): WordVector[] {
  const mean = meanOf(words, dimensions)
  const centred = words.map(({ word, vector }) => ({ word, vector: vector.map((value, i) => value - at(mean, i)) }))
  const directions = principal(secondMoment(centred, dimensions))
  return centred.map(({ word, vector }) => {
    const rest = Float64Array.from(vector)
    for (const direction of directions) removeAlong(rest, direction)
    return { word, vector: [...rest] }
  })
}

function meanOf(words: readonly WordVector[], dimensions: number): Float64Array {
  const sum = new Float64Array(dimensions)
  for (const { vector } of words) for (const [i, value] of vector.entries()) sum[i] = at(sum, i) + value
  return sum.map((value) => value / words.length)
}

function secondMoment(words: readonly WordVector[], dimensions: number): Float64Array[] {
  const rows = Array.from({ length: dimensions }, () => new Float64Array(dimensions))
  for (const { vector } of words) {
    for (const [i, row] of rows.entries()) {
      const value = vector[i] ?? 0
      for (let j = 0; j < dimensions; j++) row[j] = at(row, j) + value * (vector[j] ?? 0)
    }
  }
  return rows
}

/** Power iteration, one direction after the other. */
function principal(moment: readonly Float64Array[]): Float64Array[] {
  const found: Float64Array[] = []
  for (let n = 0; n < DIRECTIONS; n++) {
    // Any start will do that is not at a right angle to what is looked for.
    let direction = Float64Array.from(moment, (_, i) => 1 + (i % 7))
    for (let round = 0; round < ROUNDS; round++) {
      for (const earlier of found) removeAlong(direction, earlier)
      direction = unit(Float64Array.from(moment, (row) => dot(row, direction)))
    }
    found.push(direction)
  }
  return found
}

function removeAlong(vector: Float64Array, direction: Float64Array): void {
  const along = dot(vector, direction)
  for (let i = 0; i < vector.length; i++) vector[i] = at(vector, i) - along * at(direction, i)
}

function unit(vector: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const length = Math.sqrt(dot(vector, vector))
  return vector.map((value) => value / length)
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += at(a, i) * at(b, i)
  return sum
}

function at(vector: Float64Array, i: number): number {
  return vector[i] ?? 0
}
