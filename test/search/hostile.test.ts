/** Any question is safe: whatever stands in it, it is looked for and nothing else. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SEARCH_MODES, type SearchFilters } from '../../src/domain/search-query.ts'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { learn, type SearchFixture, searchFixture } from './search-fixture.ts'

let here: SearchFixture

beforeAll(async () => {
  here = await searchFixture(await staticEmbedder())
  await learn(here, 's1', [
    { title: 'Login fixed', narrative: 'The "token" had expired; NOT NULL failed: users.email.' },
    { title: 'Emoji kept', narrative: 'A 🐛 and a 👨‍👩‍👧 in a title are kept.' },
  ])
  await here.index()
})
afterAll(() => here.dispose())

const HOSTILE: [name: string, query: string][] = [
  ['a quote', '"'],
  ['two quotes', '""'],
  ['quotes that do not match', '"token'],
  ['quotes within quotes', '"to"ken" OR "x"'],
  ['operators', 'token AND OR NOT NEAR'],
  ['an operator alone', 'NOT'],
  ['a distance', 'NEAR(token login, 5)'],
  ['a column', 'title:token'],
  ['columns', '{title body} : token'],
  ['a column of the table', 'neighbours : x rowid:1'],
  ['stars', '* token* ** *token'],
  ['a caret', '^token'],
  ['a plus', 'token + login'],
  ['brackets', '((((token'],
  ['SQL', "'; DROP TABLE observations; --"],
  ['a parameter', '@match :x ?1 $y'],
  ['a backslash', '\\ \\" \\0'],
  ['NUL', 'token\0login'],
  ['NUL alone', '\0'],
  ['a lone surrogate', 'token \ud83d login \udc1b'],
  ['a lone surrogate alone', '\ud83d'],
  ['emoji', '🐛 👨‍👩‍👧'],
  ['stop words', 'the of and is'],
  ['punctuation', '?!.,;:-_/\\|#+*~'],
  ['spaces', ' \t\n\r\u00a0\u2003 '],
  ['a right-to-left mark', '\u202etoken\u202c'],
  ['combining marks', `t${'\u0301'.repeat(500)}`],
  ['one word of 10 KB', 'x'.repeat(10_000)],
  ['10 KB of words', Array.from({ length: 1_400 }, (_, n) => `word${n}`).join(' ')],
  ['10 KB of one word', 'token '.repeat(1_700)],
  ['10 KB of quotes', '"'.repeat(10_000)],
  ['10 KB of Chinese', '数据库'.repeat(1_200)],
  ['1 MB', 'token login '.repeat(90_000)],
]

describe('a query with', () => {
  test.each(HOSTILE)('%s is answered', async (_, query) => {
    for (const mode of SEARCH_MODES) {
      const { hits, mode: answered } = await here.search(query, { mode })
      expect(['filter', 'strict', 'semantic', 'hybrid']).toContain(answered)
      for (const hit of hits) expect([1, 2]).toContain(hit.id)
      for (const { snippet } of hits) expect(snippet).not.toMatch(/\p{Surrogate}/u)
    }
  })

  test('arbitrary text finds only existing memories', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 60 }))
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(...SEARCH_MODES), async (query, mode) => {
        const { hits } = await here.search(query, { mode })
        for (const hit of hits) expect([1, 2]).toContain(hit.id)
      }),
      { numRuns: 300 },
    )
  })

  test('arbitrary filters find only memories that pass', async () => {
    const odd = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom('%', '_', '*', "'", '"', '\0', '\n', '[]'),
    )
    const filters: fc.Arbitrary<Partial<SearchFilters>> = fc.oneof(
      fc.record({ concepts: fc.array(odd, { minLength: 1, maxLength: 3 }) }),
      fc.record({ agent: odd }),
      fc.record({ session: odd.filter((id) => id !== 's1') }),
      fc.record({ project: odd }),
    )
    await fc.assert(
      fc.asyncProperty(filters, fc.constantFrom('', 'token'), async (over, query) => {
        expect((await here.search(query, over)).hits).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

test('words are found among operators and quotes', async () => {
  expect(await here.found('"token" AND (NOT NULL)', { mode: 'strict' })).toEqual([1])
  expect(await here.found('users.email', { mode: 'strict' })).toEqual([1])
  expect((await here.search('“token expired”')).mode).toBe('strict')
  expect((await here.search('"token" "expired"')).mode).toBe('hybrid')
})

test('a query that the embedder does not know is answered by words, with a note', async () => {
  const { mode, notes, embedder, hits } = await here.search('🐛', { mode: 'semantic' })
  expect([mode, embedder, hits]).toEqual(['hybrid', null, []])
  expect(notes.join()).toContain('searched by words only')
})

test('an embedder that fails during a search falls back to words, with a note', async () => {
  const failing = { name: 'broken-1', dimensions: 3, embed: () => Promise.reject(new Error('out of memory')) }
  await here.open({ embedder: failing })
  for (const mode of ['semantic', 'hybrid', 'auto'] as const) {
    const answer = await here.search('token', { mode })
    expect([answer.mode, answer.embedder, answer.hits[0]?.id]).toEqual(['hybrid', null, 1])
    expect(answer.notes).toEqual(['broken-1 failed, searched by words only: out of memory'])
  }
})

test('invalid page numbers give an empty page', async () => {
  expect((await here.search('token', { limit: 0 })).hits).toEqual([])
  expect((await here.search('token', { offset: 1_000_000 })).hits).toEqual([])
})
