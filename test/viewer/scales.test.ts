import { describe, expect, it } from 'vitest'
import {
  axisOf,
  bandAt,
  grouped,
  labelled,
  stacked,
  stepArea,
  stepPath,
  totals,
} from '../../src/viewer/parts/scales.ts'

describe('an axis', () => {
  it('counts in steps of 1, 2 or 5 and reaches above every value', () => {
    expect(axisOf([3, 17, 92])).toEqual({ top: 100, ticks: [0, 50, 100] })
    expect(axisOf([0.04])).toEqual({ top: 0.04, ticks: [0, 0.01, 0.02, 0.03, 0.04] })
    expect(axisOf([0.3]).ticks).toEqual([0, 0.1, 0.2, 0.3])
  })

  it('has no halves of what can only be counted', () => {
    expect(axisOf([2], { whole: true })).toEqual({ top: 2, ticks: [0, 1, 2] })
    expect(axisOf([1], { whole: true })).toEqual({ top: 1, ticks: [0, 1] })
  })

  it('stands where there is nothing, only zeros, or no numbers at all', () => {
    for (const values of [[], [0, 0], [Number.NaN, -4, Number.POSITIVE_INFINITY]]) {
      expect(axisOf(values)).toEqual({ top: 1, ticks: [0, 1] })
    }
  })

  it('takes the largest and the smallest numbers there are', () => {
    for (const value of [Number.MAX_VALUE, 1e300, Number.MIN_VALUE, 1e-300]) {
      const { top, ticks } = axisOf([value])
      expect(top).toBeGreaterThanOrEqual(value)
      expect(ticks.every(Number.isFinite)).toBe(true)
      expect(ticks.length).toBeLessThan(8)
    }
  })

  it.each([1, 2, 3, 7, 10, 12, 99, 100, 101, 365, 4_999, 1_234_567])(
    'has few ticks for %i, the last at its top',
    (n) => {
      const { top, ticks } = axisOf([n], { whole: true })
      expect(top).toBeGreaterThanOrEqual(n)
      expect(ticks.at(-1)).toBe(top)
      expect(ticks.length).toBeLessThanOrEqual(6)
    },
  )
})

describe('labels along the days', () => {
  const places = (count: number) => Array.from({ length: count }, (_, i) => i)

  it('always name the newest and keep their distance', () => {
    expect(labelled(places(7), 700, 70)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(labelled(places(30), 300, 60)).toEqual([5, 11, 17, 23, 29])
    expect(labelled(places(1), 10, 60)).toEqual([0])
    expect(labelled([], 300, 60)).toEqual([])
  })
})

it('a place on the chart belongs to one band, beyond the edge to the nearest', () => {
  expect([0, 49, 50, 99, 100, 400, -3].map((x) => bandAt(x, 100, 2))).toEqual([0, 0, 1, 1, 1, 1, 0])
  expect(bandAt(5, 0, 2)).toBeNull()
  expect(bandAt(5, 100, 0)).toBeNull()
  expect(bandAt(Number.NaN, 100, 2)).toBeNull()
})

it('series stand on each other, and what is no number takes no room', () => {
  const series = [
    [1, Number.NaN, 3],
    [4, 5, -6],
  ]
  expect(stacked(series)).toEqual([
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
  expect(totals(series)).toEqual([5, 5, 3])
  expect(totals([])).toEqual([])
})

it('groups end with the newest, so that the oldest may be short', () => {
  expect(grouped([1, 2, 3, 4, 5, 6, 7, 8], 7)).toEqual([[1], [2, 3, 4, 5, 6, 7, 8]])
  expect(grouped([], 7)).toEqual([])
})

describe('steps', () => {
  const heightOf = (value: number) => 10 - value

  it('hold each value until the next, with a gap where nothing is known', () => {
    expect(stepPath([1, 2, Number.NaN, 3], 40, heightOf)).toBe('M0.0 9.0H10.0V8.0H20.0M30.0 7.0H40.0')
    expect(stepPath([], 40, heightOf)).toBe('')
  })

  it('rise from the floor and fall to it, but do not run along it', () => {
    expect(stepPath([0, 4, 0, 0], 40, heightOf)).toBe('M10.0 10.0V6.0H20.0V10.0')
    expect(stepPath([0, 0], 40, heightOf)).toBe('')
  })

  it('stand on the floor where they are filled', () => {
    expect(stepArea([0, 4, Number.NaN], 30, heightOf)).toBe('M10.0 10.0V6.0H20.0V10.0Z')
  })
})
