import { describe, expect, it } from 'vitest'
import { sumValues } from '../../src/viewer/components/chart-scales.ts'
import {
  columnSpans,
  costByDay,
  daysPerColumn,
  observationsByProject,
  observationsByType,
  queueLevels,
  tokenSeries,
  type UsageActivity,
  type UsageReportRow,
} from '../../src/viewer/views/usage/usage-charts.tsx'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NO_TYPES = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }

function activity(observations: readonly number[], projects: UsageActivity['projects'] = []): UsageActivity {
  return {
    dayStarts: observations.map((_, i) => i * DAY),
    days: observations.map((count) => ({
      observations: count,
      summaries: 0,
      prompts: 0,
      types: { ...NO_TYPES, feature: count },
      discoveryTokens: 0,
    })),
    projects,
    queue: [],
  }
}

function row(at: number, cost: number, input: number): UsageReportRow {
  const usage = { input, output: 0, cacheRead: 0, cacheWrite: 0 }
  return { key: String(at), name: null, at, calls: 1, failed: 0, usage, cost, unpriced: 0, observations: 0 }
}

describe('columns', () => {
  it('are days, or weeks that end today for a year', () => {
    expect([7, 30, 90, 365].map(daysPerColumn)).toEqual([1, 1, 1, 7])
    expect(columnSpans([0, DAY, 2 * DAY], 1)).toHaveLength(3)
    expect(columnSpans(activity(Array(365).fill(1)).dayStarts, 7).at(-1)).toEqual({ first: 358 * DAY, last: 364 * DAY })
  })

  it('keep the sum when days become weeks', () => {
    const [feature, ...others] = observationsByType(activity(Array.from({ length: 365 }, (_, i) => i)), 7)
    expect(others).toEqual([])
    expect(feature?.values).toHaveLength(53)
    expect(sumValues(feature?.values ?? [])).toBe((364 * 365) / 2)
  })
})

it('observations by project.the busiest have names, the others are one series', () => {
  const projects = ['a', 'b', 'c'].map((name, i) => ({ key: name, name, observations: 3 - i, days: [1, 3 - i] }))
  expect(observationsByProject(activity([3, 6], projects), 1, 2)).toEqual([
    { name: 'a', values: [1, 3] },
    { name: 'b', values: [1, 2] },
    { name: '1 other', values: [1, 1] },
  ])
  expect(observationsByProject(activity([3, 6], projects), 1, 3)).toHaveLength(3)
})

it('usage per day.days without calls are 0', () => {
  const starts = [0, DAY, 2 * DAY]
  expect(costByDay([row(2 * DAY, 0.5, 10)], starts, 1).values).toEqual([0, 0, 0.5])
  expect(tokenSeries([row(DAY, 0, 10)], starts, 1)).toEqual([
    { name: 'input', colour: '--refactor', values: [0, 10, 0] },
  ])
  expect(tokenSeries([], starts, 1)).toEqual([])
})

it('observations by project.equal names get their keys', () => {
  const projects = ['/x/app', '/y/app'].map((key) => ({ key, name: 'app', observations: 1, days: [1] }))
  expect(observationsByProject(activity([2], projects), 1, 5).map(({ name }) => name)).toEqual([
    'app (/x/app)',
    'app (/y/app)',
  ])
})

describe('queue levels', () => {
  const sample = (at: number, pending: number) => ({ at, pending, processing: 0, failed: 0 })

  it('are the maximum of each interval and hold until the next sample', () => {
    const { pending, starts } = queueLevels([sample(0, 4), sample(1, 9), sample(2, 2)], 0, 120 * HOUR)
    expect(starts).toHaveLength(120)
    expect(pending.slice(0, 3)).toEqual([9, 2, 2])
    expect(pending.at(-1)).toBe(2)
  })

  it('begin with the first sample and include the newest', () => {
    const { starts, pending } = queueLevels([sample(90 * DAY, 1), sample(100 * DAY, 5)], 0, 100 * DAY)
    expect(starts[0]).toBe(90 * DAY)
    expect(pending.at(-1)).toBe(5)
  })

  it('are NaN before the first sample', () => {
    const { pending } = queueLevels([sample(100 * DAY, 5)], 0, 100 * DAY)
    expect(pending[0]).toBeNaN()
    expect(pending.at(-1)).toBe(5)
    expect(queueLevels([], 0, DAY).pending.every(Number.isNaN)).toBe(true)
  })
})
