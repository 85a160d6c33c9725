import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LiteralSearch } from '../../src/lib/literal-search.ts'

const escaped = (literal: string) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
/** What the search has to find, found by a pattern. */
function byPattern(literals: readonly string[], text: string, from: number): number {
  const pattern = new RegExp(literals.map(escaped).join('|'), 'gi')
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? -1
}

describe('literal search', () => {
  test('finds the first of several literals, in any case', () => {
    const search = new LiteralSearch(['error', 'fail', ' test'])
    expect(search.next('an ERROR, then a FAILure', 0)).toBe(3)
    expect(search.next('an ERROR, then a FAILure', 4)).toBe(17)
    expect(search.next('one Test', 0)).toBe(3)
    expect(search.next('fail', 0)).toBe(0)
    expect(search.next('fai', 0)).toBe(-1)
    expect(search.next('', 0)).toBe(-1)
  })

  test('does not look beyond the end of its range', () => {
    const search = new LiteralSearch(['fail', 'failure'])
    expect(search.next('a failure', 0, 5)).toBe(-1)
    expect(search.next('a failure', 0, 6)).toBe(2)
  })

  test('other letters that look alike are not the literal', () => {
    const search = new LiteralSearch(['kiss', 'fail'])
    expect(search.next('\u212aiss \u017fail Fai\u017f \u00e6ail', 0)).toBe(-1)
  })

  test('a literal needs two characters', () => {
    expect(() => new LiteralSearch(['ab', 'c'])).toThrow('two characters')
  })

  test('agrees with a pattern of the same literals', () => {
    const unit = fc.constantFrom('a', 'b', 'A', 'k', 'K', ' ', '_', '.', 'é', '\u212a', '😀')
    const literal = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'k', ' ', '_', '.'), minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(literal, { minLength: 1, maxLength: 6 }),
        fc.string({ unit, maxLength: 80 }),
        fc.nat(20),
        (literals, text, from) => {
          expect(new LiteralSearch(literals).next(text, from)).toBe(byPattern(literals, text, from))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
