import { describe, expect, it } from 'vitest'
import {
  chartAxis,
  columnAt,
  columnTotals,
  groupFromEnd,
  labelledColumns,
  stackSeries,
  stepArea,
  stepPath,
} from '../../src/viewer/components/chart-scales.ts'

describe('chart axis', () => {
  it('has steps of 1, 2 or 5 and reaches every value', () => {
    expect(chartAxis([3, 17, 92])).toEqual({ top: 100, ticks: [0, 50, 100] })
    expect(chartAxis([0.04])).toEqual({ top: 0.04, ticks: [0, 0.01, 0.02, 0.03, 0.04] })
    expect(chartAxis([0.3]).ticks).toEqual([0, 0.1, 0.2, 0.3])
  })

  it('has no fractions for whole numbers', () => {
    expect(chartAxis([2], { whole: true })).toEqual({ top: 2, ticks: [0, 1, 2] })
    expect(chartAxis([1], { whole: true })).toEqual({ top: 1, ticks: [0, 1] })
  })

  it('is valid for no values, zeros and invalid numbers', () => {
    for (const values of [[], [0, 0], [Number.NaN, -4, Number.POSITIVE_INFINITY]]) {
      expect(chartAxis(values)).toEqual({ top: 1, ticks: [0, 1] })
    }
  })

  it('handles the largest and smallest numbers', () => {
    for (const value of [Number.MAX_VALUE, 1e300, Number.MIN_VALUE, 1e-300]) {
      const { top, ticks } = chartAxis([value])
      expect(top).toBeGreaterThanOrEqual(value)
      expect(ticks.every(Number.isFinite)).toBe(true)
      expect(ticks.length).toBeLessThan(8)
    }
  })

  it.each([1, 2, 3, 7, 10, 12, 99, 100, 101, 365, 4_999, 1_234_567])(
    'has few ticks for %i, the last at its top',
    (n) => {
      const { top, ticks } = chartAxis([n], { whole: true })
      expect(top).toBeGreaterThanOrEqual(n)
      expect(ticks.at(-1)).toBe(top)
      expect(ticks.length).toBeLessThanOrEqual(6)
    },
  )
})

describe('labelled columns', () => {
  const places = (count: number) => Array.from({ length: count }, (_, i) => i)

  it('always include the newest and keep their distance', () => {
    expect(labelledColumns(places(7), 700, 70)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(labelledColumns(places(30), 300, 60)).toEqual([5, 11, 17, 23, 29])
    expect(labelledColumns(places(1), 10, 60)).toEqual([0])
    expect(labelledColumns([], 300, 60)).toEqual([])
  })
})

it('column at a position.is the nearest one beyond the edges', () => {
  expect([0, 49, 50, 99, 100, 400, -3].map((x) => columnAt(x, 100, 2))).toEqual([0, 0, 1, 1, 1, 1, 0])
  expect(columnAt(5, 0, 2)).toBeNull()
  expect(columnAt(5, 100, 0)).toBeNull()
  expect(columnAt(Number.NaN, 100, 2)).toBeNull()
})

it('stacked series.ignore invalid numbers', () => {
  const series = [
    [1, Number.NaN, 3],
    [4, 5, -6],
  ]
  expect(stackSeries(series)).toEqual([
    [
      { from: 0, to: 1 },
      { from: 0, to: 0 },
      { from: 0, to: 3 },
    ],
    [
      { from: 1, to: 5 },
      { from: 0, to: 5 },
      { from: 3, to: 3 },
    ],
  ])
  expect(columnTotals(series)).toEqual([5, 5, 3])
  expect(columnTotals([])).toEqual([])
})

it('groups.end with the newest, so that the oldest may be smaller', () => {
  expect(groupFromEnd([1, 2, 3, 4, 5, 6, 7, 8], 7)).toEqual([[1], [2, 3, 4, 5, 6, 7, 8]])
  expect(groupFromEnd([], 7)).toEqual([])
})

describe('step lines', () => {
  const heightOf = (value: number) => 10 - value

  it('hold each value until the next, with a gap at unknown values', () => {
    expect(stepPath([1, 2, Number.NaN, 3], 40, heightOf)).toBe('M0.0 9.0H10.0V8.0H20.0M30.0 7.0H40.0')
    expect(stepPath([], 40, heightOf)).toBe('')
  })

  it('rise from the bottom and fall to it, but do not run along it', () => {
    expect(stepPath([0, 4, 0, 0], 40, heightOf)).toBe('M10.0 10.0V6.0H20.0V10.0')
    expect(stepPath([0, 0], 40, heightOf)).toBe('')
  })

  it('are closed along the bottom when filled', () => {
    expect(stepArea([0, 4, Number.NaN], 30, heightOf)).toBe('M10.0 10.0V6.0H20.0V10.0Z')
  })
})
