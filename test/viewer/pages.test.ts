import { expect, test } from 'vitest'
import { drawnRange, keptNear, missingPages, mostRows, scrollFor, withoutRows } from '../../src/viewer/parts/pages.ts'

test('what is drawn covers what can be seen, wherever somebody scrolls', () => {
  const count = 100_000
  for (const top of [0, 1, 79, 80, 4_000_123, count * 80 - 700, count * 80, -50, 9e9]) {
    const { from, to } = drawnRange(top, 700, 80, count, 5, 4)
    const last = count * 80 - 700
    const seen = Math.min(Math.max(0, top), last)
    expect(from * 80).toBeLessThanOrEqual(seen)
    expect(to * 80).toBeGreaterThanOrEqual(seen + 700)
    expect(from % 4).toBe(0)
    expect(to).toBeLessThanOrEqual(count)
    expect(to - from).toBeLessThan(30)
  }
})

test('a list that is empty, short or shown nowhere draws nothing that is not there', () => {
  expect(drawnRange(0, 700, 80, 0, 5)).toEqual({ from: 0, to: 0 })
  expect(drawnRange(300, 700, 80, 3, 5)).toEqual({ from: 0, to: 3 })
  expect(drawnRange(0, 0, 80, 50, 0)).toEqual({ from: 0, to: 2 })
})

test('pages are asked for where a row of them is missing, each once', () => {
  const there = new Set([...Array(100).keys(), 250])
  const has = (index: number) => there.has(index)
  expect(missingPages({ from: 90, to: 110 }, 100, has)).toEqual([1])
  expect(missingPages({ from: 90, to: 301 }, 100, has)).toEqual([1, 2, 3])
  expect(missingPages({ from: 250, to: 251 }, 100, has)).toEqual([])
  expect(missingPages({ from: 5, to: 5 }, 100, has)).toEqual([])
})

test('rows near the reader are kept', () => {
  const rows = new Map(Array.from({ length: 1_000 }, (_, i) => [i, `row ${i}`]))
  const kept = keptNear(rows, 990, 100)
  expect(kept.size).toBe(100)
  expect([kept.has(999), kept.has(950), kept.has(100)]).toEqual([true, true, false])
  expect(kept.get(990)).toBe('row 990')
  expect(keptNear(rows, 0, 5_000)).toEqual(rows)
})

test('what stands behind rows that are gone moves up', () => {
  const rows = new Map([
    [0, 'a'],
    [1, 'b'],
    [5, 'f'],
    [6, 'g'],
    [900, 'z'],
  ])
  expect([...withoutRows(rows, new Set([1, 6]))]).toEqual([
    [0, 'a'],
    [4, 'f'],
    [898, 'z'],
  ])
  expect(withoutRows(rows, new Set())).toEqual(rows)
})

test('a row is scrolled to only where it is out of sight', () => {
  expect(scrollFor(3, 0, 700, 80)).toBeNull()
  expect(scrollFor(20, 0, 700, 80)).toBe(980)
  expect(scrollFor(2, 400, 700, 80, 30)).toBe(130)
  expect(scrollFor(0, 400, 700, 80, 30)).toBe(0)
})

test('more rows than a browser can draw are not drawn', () => {
  expect(mostRows(88) * 88).toBeLessThan(17_000_000)
  expect(mostRows(88)).toBeGreaterThan(100_000)
})
