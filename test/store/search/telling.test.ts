import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { searchRowMemoryId } from '../../../src/store/search-port.ts'
import type { Database } from '../../../src/store/sqlite/database.ts'
import { matchExpression, narrowedExpression } from '../../../src/store/sqlite/full-text-search.ts'
import { openForReading } from '../../../src/store/sqlite/reader.ts'
import { SearchPlace } from './place.ts'

const COMMON_FROM = 10

let at: SearchPlace
let db: Database
beforeEach(async () => {
  at = await SearchPlace.open()
  db = openForReading(at.here.file)
})
afterEach(async () => {
  db.close()
  await at.dispose()
})

interface Scored {
  row: number
  score: number
}

function scored(match: string): Scored[] {
  return db.all<Scored>`
    SELECT rowid AS row, -bm25(memory_fts, 4, 3, 3, 3, 3, 0.75) AS score FROM memory_fts WHERE memory_fts MATCH ${match}
    ORDER BY score DESC, row DESC`
}

const telling = (text: string) => narrowedExpression(db, text, 'memory_fts', COMMON_FROM)
const whole = (text: string) => matchExpression({ text, how: 'any' }) ?? ''

/** Each in a session of its own: nothing stands beside it. */
function learnEach(texts: readonly string[]): number[] {
  return texts.flatMap((narrative, n) => at.learn(`session ${n}`, { narrative }))
}

describe('telling words', () => {
  test('have only what says one of them scored, with its common words', () => {
    const common = Array.from({ length: 30 }, (_, n) => `the build failed again, number ${n}`)
    const ids = learnEach([...common, 'the build failed in quokka', 'quokka is an animal'])
    const found = scored(telling('why did the build fail in quokka')?.match ?? '')
    expect(found.map(({ row }) => searchRowMemoryId(row)).sort((a, b) => a - b)).toEqual(ids.slice(-2))
    expect(scored(whole('why did the build fail in quokka'))).toHaveLength(32)
  })

  test('are not looked for where all words are common, none is, or the memory is small', () => {
    learnEach(['build quokka', 'build'])
    expect(telling('build quokka')).toBeNull()
    learnEach(Array.from({ length: 30 }, () => 'the build failed'))
    expect(telling('build failed')).toBeNull()
    expect(telling('quokka wombat')).toBeNull()
    expect(telling('')).toBeNull()
    expect(narrowedExpression(db, 'build quokka')).toBeNull()
  })

  test('are only the rarest of a text that has many', () => {
    const animals = Array.from({ length: 40 }, (_, n) => `animal${'abcdefgh'[n % 8]}${'klmno'[Math.floor(n / 8)]}`)
    learnEach(animals.map((animal, n) => `${animal} ${n < 8 ? animals.slice(8, 16).join(' ') : ''}`))
    const narrowed = telling(animals.join(' '))
    expect(narrowed?.factor).toBe(1)
    expect(narrowed?.match.split(' OR ')).toHaveLength(16)
    for (const often of animals.slice(8, 16)) expect(narrowed?.match).not.toContain(often)
  })

  test('score as they do in the whole question, whatever is asked', () => {
    const words = ['build', 'failed', 'cache', 'getUserById', 'src/auth/jwt.ts', 'quokka', '认证失败', '"NEAR(']
    const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 }).map((some) => some.join(' '))
    learnEach(fc.sample(text, { numRuns: 80, seed: 5 }))
    fc.assert(
      fc.property(text, (query) => {
        const narrowed = telling(query)
        if (narrowed === null) return
        const { match, factor } = narrowed
        const scores = new Map(scored(whole(query)).map(({ row, score }) => [row, score]))
        for (const { row, score } of scored(match)) expect(score / factor).toBeCloseTo(scores.get(row) ?? -1, 9)
      }),
      { seed: 7, numRuns: 60 },
    )
  })
})
