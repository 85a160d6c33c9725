import { expect, test } from 'vitest'
import { HIT_KINDS, SEARCH_FILTERS } from '../../src/domain/search-query.ts'
import {
  activeFilters,
  EMPTY_MEMORY_QUERY,
  filterHref,
  type MemoryQuery,
  memoryHref,
  parseMemoryQuery,
  shownKinds,
} from '../../src/viewer/views/memory/memory-query.ts'

const roundTrip = (href: string) => parseMemoryQuery(new URLSearchParams(href.split('?')[1] ?? ''))

test('memory query.round trip through the address', () => {
  const query: MemoryQuery = {
    text: 'why & how? #1 100%',
    filters: {
      ...EMPTY_MEMORY_QUERY.filters,
      project: 'git:/home/me/a b/.git',
      kinds: ['observation', 'prompt'],
      types: ['bugfix', 'change'],
      concepts: ['how it works', 'gotcha'],
      files: ['src/a b.ts', 'C:\\x'],
      since: new Date('2026-01-31T00:00:00').getTime(),
      until: new Date('2026-02-01T23:59:59.999').getTime(),
      session: 'abc',
      agent: 'explore',
      pinned: true,
    },
  }
  expect(roundTrip(memoryHref(query, '12'))).toEqual(query)
  expect(memoryHref(query, 'p1/y').startsWith('#/memory/p1%2Fy?')).toBe(true)
  expect(roundTrip(memoryHref(EMPTY_MEMORY_QUERY))).toEqual(EMPTY_MEMORY_QUERY)
  expect(memoryHref(EMPTY_MEMORY_QUERY)).toBe('#/memory')
  expect(activeFilters(query.filters)).toHaveLength(14)
  expect(activeFilters(EMPTY_MEMORY_QUERY.filters)).toEqual([])
})

test('memory query.a single kind and all kinds are different', () => {
  expect(memoryHref({ text: '', filters: { ...EMPTY_MEMORY_QUERY.filters, kinds: ['observation'] } })).toBe(
    '#/memory?kind=observation',
  )
  expect(roundTrip('#/memory?kind=observation').filters.kinds).toEqual(['observation'])
})

test('memory query.without a text each turn is listed by its observations; a search finds every kind', () => {
  expect(shownKinds(EMPTY_MEMORY_QUERY)).toEqual(['observation'])
  expect(shownKinds({ ...EMPTY_MEMORY_QUERY, text: 'why' })).toEqual(HIT_KINDS)
  expect(shownKinds(roundTrip('#/memory?kind=prompt'))).toEqual(['prompt'])
})

test('memory query.invalid values of the address are ignored', () => {
  const address = `type=nonsense&type=feature&type=feature&kind=x&since=2026-13-45&until=never&pinned=yes&concept=&file=${'x'.repeat(9_999)}`
  const { text, filters } = parseMemoryQuery(new URLSearchParams(address))
  const file = 'x'.repeat(SEARCH_FILTERS.files.maxChars)
  expect({ text, filters }).toEqual({
    text: '',
    filters: { ...EMPTY_MEMORY_QUERY.filters, types: ['feature'], files: [file] },
  })
})

test('memory query.removing an active filter keeps the others', () => {
  const { filters } = roundTrip(filterHref({ concepts: ['a', 'b'], agent: 'explore' }))
  const [first] = activeFilters(filters)
  expect(first).toMatchObject({ param: 'concept', value: 'a' })
  expect(first?.without).toEqual({ ...filters, concepts: ['b'] })
  expect(activeFilters(filters).at(-1)?.without).toEqual({ ...filters, agent: null })
})

test('memory query.days are whole days in the time zone of the browser', () => {
  const { since, until } = roundTrip('#/memory?since=2026-03-29&until=2026-03-29').filters
  expect(new Date(since ?? 0).getHours()).toBe(0)
  expect(new Date(until ?? 0).getDate()).toBe(29)
  expect(new Date((until ?? 0) + 1).getDate()).toBe(30)
})
