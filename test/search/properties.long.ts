/** Whatever is remembered and whatever is asked, against an oracle that looks at everything. */
import { rmSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { NO_FILTERS, type SearchAnswer, type SearchFilters, type SearchMode } from '../../src/domain/search-query.ts'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { corpus, filters, query, store, WORDS } from './corpus.ts'
import { nameOf, newestFirst, passes, type Stored, saysAll } from './oracle.ts'
import { type SearchFixture, searchFixture, wordEmbedder } from './search-fixture.ts'

const RUNS = 25
const MODES: readonly SearchMode[] = ['auto', 'strict', 'semantic', 'hybrid']
const ALL = 1_000

interface Asked {
  query: string
  filters: SearchFilters
}
const questions: fc.Arbitrary<Asked[]> = fc.array(fc.record({ query, filters }), { minLength: 1, maxLength: 6 })

async function withMemories(
  made: Parameters<typeof store>[1],
  test: (here: SearchFixture, stored: Stored[]) => Promise<void>,
  embedder: Embedder | null = wordEmbedder(),
): Promise<void> {
  const here = await searchFixture(embedder)
  try {
    const stored = await store(here, made)
    await here.index()
    await test(here, stored)
    expect(here.messages.filter((text) => text.includes('behind'))).toEqual([])
  } finally {
    await here.dispose()
  }
}

const ask = (here: SearchFixture, { query, filters }: Asked, mode: SearchMode, limit = ALL, offset = 0) =>
  here.search(query, { ...filters, mode, limit, offset })

/** Without what differs from one moment to the next. */
const shown = ({ tookMs: _, ...answer }: SearchAnswer) => answer
const named = ({ hits }: SearchAnswer) => hits.map(nameOf)
/** With the other pieces of its turn, and what a hit stands for. */
const withSimilar = ({ hits }: SearchAnswer) =>
  hits.flatMap((hit) => [
    ...[hit, ...hit.further].map(nameOf),
    ...hit.similar.map((id) => nameOf({ kind: 'observation', id })),
  ])

describe('filters', () => {
  test('are exact in every mode: only memories that pass, each once; in lists and strict searches all of them', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, questions, async (made, asked) => {
        await withMemories(made, async (here, stored) => {
          for (const question of asked) {
            const passing = newestFirst(stored.filter((memory) => passes(memory, question.filters)))
            const words = question.query.split(' ').filter(Boolean)
            for (const mode of MODES) {
              const answer = await ask(here, question, mode)
              const all = withSimilar(answer)
              expect(new Set(all).size).toBe(all.length)
              expect(passing.map(nameOf)).toEqual(expect.arrayContaining(all))
              if (question.query === '') {
                expect([answer.mode, named(answer), answer.total]).toEqual([
                  'filter',
                  passing.map(nameOf),
                  passing.length,
                ])
              } else if (mode === 'strict') {
                const matching = passing.filter((memory) => saysAll(memory, words)).map(nameOf)
                expect([answer.mode, named(answer), answer.total]).toEqual(['strict', matching, matching.length])
              }
            }
          }
        })
      }),
      { numRuns: RUNS },
    )
  })

  test('are exact without an embedder too, and a note says that only words were searched', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, questions, async (made, asked) => {
        const test = async (here: SearchFixture, stored: Stored[]) => {
          for (const question of asked) {
            const passing = new Set(stored.filter((memory) => passes(memory, question.filters)).map(nameOf))
            for (const mode of MODES) {
              const answer = await ask(here, question, mode)
              expect(answer.embedder).toBeNull()
              expect(withSimilar(answer).filter((name) => !passing.has(name))).toEqual([])
              const byMeaning = question.query !== '' && mode !== 'strict'
              expect(answer.notes.join().includes('by words only')).toBe(byMeaning)
            }
          }
        }
        await withMemories(made, test, null)
      }),
      { numRuns: 8 },
    )
  })
})

describe('the order', () => {
  test('superseded observations come last', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, questions, async (made, asked) => {
        await withMemories(made, async (here, stored) => {
          const replaced = new Map(stored.map((memory) => [nameOf(memory), memory.supersededBy]))
          for (const question of asked.filter((one) => one.query !== '')) {
            for (const mode of ['semantic', 'hybrid'] as const) {
              const hits = (await ask(here, question, mode)).hits
              expect(hits.map(({ supersededBy }) => supersededBy)).toEqual(
                hits.map((hit) => replaced.get(nameOf(hit)) ?? null),
              )
              const last = hits.map(({ supersededBy }) => supersededBy === null).lastIndexOf(true)
              expect(hits.slice(0, last + 1).every(({ supersededBy }) => supersededBy === null)).toBe(true)
            }
          }
        })
      }),
      { numRuns: 15 },
    )
  })

  test('pages are the whole list, without gaps or duplicates', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, questions, fc.integer({ min: 1, max: 5 }), async (made, asked, size) => {
        await withMemories(made, async (here) => {
          for (const question of asked) {
            for (const mode of MODES) {
              const whole = (await ask(here, question, mode)).hits.map(nameOf)
              const pages: string[] = []
              for (let offset = 0; offset <= whole.length; offset += size) {
                const page = await ask(here, question, mode, size, offset)
                expect(page.hits.length).toBeLessThanOrEqual(size)
                pages.push(...page.hits.map(nameOf))
              }
              expect(pages).toEqual(whole)
            }
          }
        })
      }),
      { numRuns: 12 },
    )
  })

  test('is stable: repeated, after reopening, after a rebuild, with and without a graph', async () => {
    await fc.assert(
      fc.asyncProperty(corpus, questions, async (made, asked) => {
        await withMemories(made, async (here) => {
          const answers = async () => {
            const all: unknown[] = []
            for (const one of asked) for (const mode of MODES) all.push(shown(await ask(here, one, mode)))
            return all
          }
          const before = await answers()
          expect(await answers()).toEqual(before)
          await here.open()
          expect(await answers()).toEqual(before)
          await here.open({ hnswThreshold: 1 })
          await answers()
          while (here.engine().vectors?.build(1_000));
          expect(await answers()).toEqual(before)
          await deriveAnew(here)
          expect(await answers()).toEqual(before)
        })
      }),
      { numRuns: 12 },
    )
  })
})

/** As if the embeddings, the vector files and the index of words had been deleted between two starts. */
async function deriveAnew(here: SearchFixture): Promise<void> {
  const db = new BetterSqlite3(here.database)
  db.exec('DELETE FROM embeddings')
  db.close()
  await here.store.rebuildSearch()
  here.engine().close()
  rmSync(here.vectors, { recursive: true, force: true })
  await here.open({ hnswThreshold: 1 })
  await here.index()
}

test('nothing of another project is found or visible in a hit', async () => {
  await fc.assert(
    fc.asyncProperty(corpus, fc.constantFrom(...WORDS), async (made, word) => {
      await withMemories(made, async (here, stored) => {
        for (const project of new Set(stored.map((memory) => memory.project))) {
          const names = new Set(stored.filter((memory) => memory.project === project).map(nameOf))
          for (const mode of MODES) {
            const answer = await ask(here, { query: word, filters: { ...NO_FILTERS, kinds: [], project } }, mode)
            for (const hit of answer.hits) expect(hit.project).toBe(project)
            expect(withSimilar(answer).filter((name) => !names.has(name))).toEqual([])
          }
          for (const { kind, id } of stored.filter((memory) => memory.project === project)) {
            if (kind !== 'observation') continue
            const near = here.engine().similarTo(project, id, ALL)
            expect(near.filter(({ observationId }) => !names.has(`observation ${observationId}`))).toEqual([])
          }
        }
      })
    }),
    { numRuns: 12 },
  )
})
