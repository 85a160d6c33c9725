/** The set of vectors against one that does everything the slow way. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type VectorMatch, VectorSet } from '../../src/search/vectors/vector-set.ts'
import { randomFrom, randomVector } from './search-fixture.ts'

const DIMENSIONS = 4

class NaiveSet {
  readonly vectors = new Map<number, Map<string, Float32Array>>()

  add(id: number, fragment: string, vector: Float32Array): void {
    this.vectors.set(id, new Map([...(this.vectors.get(id) ?? []), [fragment, vector]]))
  }
  remove(id: number): void {
    this.vectors.delete(id)
  }
  get size(): number {
    return [...this.vectors.values()].reduce((sum, { size }) => sum + size, 0)
  }
  nearest(query: Float32Array, limit: number, allowed: ReadonlySet<number> | null): { id: number; score: number }[] {
    return [...this.vectors]
      .filter(([id]) => allowed === null || allowed.has(id))
      .map(([id, fragments]) => ({ id, score: Math.max(...[...fragments.values()].map((one) => dot(one, query))) }))
      .sort((a, b) => b.score - a.score || b.id - a.id)
      .slice(0, limit)
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}

const shown = (found: readonly VectorMatch[]) => found.map(({ observationId: id, score }) => ({ id, score }))

type Step = { do: 'add'; id: number; fragment: string; seed: number } | { do: 'remove'; id: number }

const id = fc.integer({ min: 1, max: 12 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      id,
      fragment: fc.constantFrom('narrative', 'fact_0', 'fact_1'),
      seed: fc.nat(50),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), id }) },
)

describe('vector set', () => {
  test('behaves like a naive implementation under random additions, replacements and removals', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.uniqueArray(id), fc.nat(15), (steps, ids, limit) => {
        const set = new VectorSet(DIMENSIONS)
        const naive = new NaiveSet()
        for (const one of steps) {
          if (one.do === 'remove') {
            set.remove(one.id)
            naive.remove(one.id)
          } else {
            const vector = randomVector(randomFrom(one.seed), DIMENSIONS)
            set.add(one.id, one.fragment, vector)
            naive.add(one.id, one.fragment, vector)
          }
        }
        const query = randomVector(randomFrom(999), DIMENSIONS)
        expect([set.size, set.observations]).toEqual([naive.size, naive.vectors.size])
        expect([...set.ids()].sort()).toEqual([...naive.vectors.keys()].sort())
        expect(shown(set.nearest(query, limit))).toEqual(naive.nearest(query, limit, null))
        const allowed = new Set(ids)
        expect(shown(set.nearest(query, limit, allowed))).toEqual(naive.nearest(query, limit, allowed))
        for (const [known, fragments] of naive.vectors) {
          expect(set.closest(known, query)?.score).toBe(naive.nearest(query, 1, new Set([known]))[0]?.score)
          expect([...set.fragmentsOf(known)].sort()).toEqual([...fragments.keys()].sort())
          expect(set.vectorsOf(known)).toHaveLength(fragments.size)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('only allowed ids are found, even if as many are allowed as exist', () => {
    const set = new VectorSet(2)
    const near = Float32Array.of(1, 0)
    set.add(1, 'narrative', near)
    set.add(2, 'narrative', Float32Array.of(0, 1))
    expect(set.nearest(near, 1, new Set([2, 77, 78])).map(({ observationId }) => observationId)).toEqual([2])
  })

  test('memory of removed vectors is released', () => {
    const set = new VectorSet(8)
    const random = randomFrom(1)
    for (let n = 1; n <= 4_000; n++) set.add(n, 'narrative', randomVector(random, 8))
    const full = set.bytes
    for (let n = 1; n <= 3_900; n++) set.remove(n)
    expect(set.size).toBe(100)
    expect(set.bytes).toBeLessThan(full / 8)
  })

  test('a match names its closest fragment', () => {
    const set = new VectorSet(2)
    set.add(1, 'narrative', Float32Array.of(1, 0))
    set.add(1, 'fact_0', Float32Array.of(0, 1))
    expect(set.closest(1, Float32Array.of(0, 1))).toEqual({ observationId: 1, score: 1, fragment: 'fact_0' })
    expect(set.closest(2, Float32Array.of(0, 1))).toBeNull()
  })

  test('a vector of other dimensions is refused', () => {
    expect(() => new VectorSet(2).add(1, 'narrative', Float32Array.of(1, 0, 0))).toThrow(
      'expected a vector of 2 dimensions, got 3',
    )
  })
})
