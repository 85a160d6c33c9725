import { expect, test } from 'vitest'
import { maxRows, renderedRange, scrollTopFor } from '../../src/viewer/components/virtual-list.tsx'

test('virtual list.the rendered range covers the visible rows at every scroll position', () => {
  const count = 100_000
  for (const top of [0, 1, 79, 80, 4_000_123, count * 80 - 700, count * 80, -50, 9e9]) {
    const { from, to } = renderedRange(top, 700, 80, count, 5, 4)
    const last = count * 80 - 700
    const seen = Math.min(Math.max(0, top), last)
    expect(from * 80).toBeLessThanOrEqual(seen)
    expect(to * 80).toBeGreaterThanOrEqual(seen + 700)
    expect(from % 4).toBe(0)
    expect(to).toBeLessThanOrEqual(count)
    expect(to - from).toBeLessThan(30)
  }
})

test('virtual list.an empty or short list renders only existing rows', () => {
  expect(renderedRange(0, 700, 80, 0, 5)).toEqual({ from: 0, to: 0 })
  expect(renderedRange(300, 700, 80, 3, 5)).toEqual({ from: 0, to: 3 })
  expect(renderedRange(0, 0, 80, 50, 0)).toEqual({ from: 0, to: 2 })
})

test('virtual list.scrolls to a row only if it is not visible', () => {
  expect(scrollTopFor(3, 0, 700, 80)).toBeNull()
  expect(scrollTopFor(20, 0, 700, 80)).toBe(980)
  expect(scrollTopFor(2, 400, 700, 80, 30)).toBe(130)
  expect(scrollTopFor(0, 400, 700, 80, 30)).toBe(0)
})

test('virtual list.the height stays below the limit of browsers', () => {
  expect(maxRows(88) * 88).toBeLessThan(17_000_000)
  expect(maxRows(88)).toBeGreaterThan(100_000)
})
