import { expect, test } from 'vitest'
import {
  ASKED_FOR_ALL,
  type Asked,
  askedOf,
  filterCount,
  filtersOf,
  memoryHref,
} from '../../src/viewer/views/memory/asked.ts'

const there = (href: string) => askedOf(new URLSearchParams(href.split('?')[1] ?? ''))

test('what is asked for survives the way through the address', () => {
  const asked: Asked = {
    text: 'why & how? #1 100%',
    project: 'git:/home/me/a b/.git',
    kinds: ['observation', 'prompt'],
    types: ['bugfix', 'change'],
    concepts: ['how, it works', 'gotcha'],
    files: ['src/a,b.ts', 'C:\\x'],
    from: '2026-01-31',
    to: '2026-02-01',
    session: 'abc',
    agent: 'explore',
    pinned: true,
  }
  expect(there(memoryHref(asked, '12'))).toEqual(asked)
  expect(memoryHref(asked, 'summary.1.remember:x/y').startsWith('#/memory/summary.1.remember%3Ax%2Fy?')).toBe(true)
  expect(there(memoryHref(ASKED_FOR_ALL))).toEqual(ASKED_FOR_ALL)
  expect(memoryHref(ASKED_FOR_ALL)).toBe('#/memory')
  expect([filterCount(asked), filterCount(ASKED_FOR_ALL)]).toEqual([14, 0])
})

test('what makes no sense in an address is left out', () => {
  const query = `type=nonsense&type=feature&type=feature&kind=x&from=2026-13-45&to=yesterday&pinned=yes&concept=&file=${'x'.repeat(9_999)}`
  const asked = askedOf(new URLSearchParams(query))
  expect(asked).toEqual({ ...ASKED_FOR_ALL, types: ['feature'], files: ['x'.repeat(200)] })
})

test('days are whole days of the reader', () => {
  const { since, until } = filtersOf({ ...ASKED_FOR_ALL, from: '2026-03-29', to: '2026-03-29' })
  expect(new Date(since ?? 0).getHours()).toBe(0)
  expect(new Date(until ?? 0).getDate()).toBe(29)
  expect(new Date((until ?? 0) + 1).getDate()).toBe(30)
})
