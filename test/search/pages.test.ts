/** A list without a query is read page by page, as far down as somebody scrolls. */
import { expect, test } from 'vitest'
import { MEMORY_KINDS } from '../../src/domain/search-query.ts'
import { NOW } from '../store/samples.ts'
import { learn, searchFixture } from './search-fixture.ts'

test('pages of filtered memories are one complete list, newest first', async () => {
  const here = await searchFixture(null)
  try {
    const ids = await learn(
      here,
      'one',
      Array.from({ length: 23 }, (_, i) => ({ title: `memory ${i}`, at: NOW - (i % 7) * 1_000 })),
    )
    await learn(here, 'two', [{ title: 'of another type', type: 'decision', at: NOW }])
    const whole = await here.search('', { types: ['bugfix', 'change', 'discovery'], limit: 100 })
    expect(new Set(whole.hits.map(({ id }) => id))).toEqual(new Set(ids))
    const paged: number[] = []
    for (let offset = 0; offset < 30; offset += 10) {
      const page = await here.search('', { types: ['bugfix', 'change', 'discovery'], limit: 10, offset })
      expect(page.total).toBe(23)
      paged.push(...page.hits.map(({ id }) => id))
    }
    expect(paged).toEqual(whole.hits.map(({ id }) => id))
    expect((await here.search('', { kinds: MEMORY_KINDS, limit: 10, offset: 999_000 })).hits).toEqual([])
  } finally {
    await here.dispose()
  }
})
