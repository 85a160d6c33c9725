/** What the charts of usage are made of: days, or weeks where there are too many days for a column each. */
import type { Answer } from '../../../channel/protocol.ts'
import { OBSERVATION_TYPES } from '../../../memory/observation.ts'
import { drawable, grouped } from '../../parts/scales.ts'

export type Activity = Extract<Answer, { type: 'activity' }>['activity']
export type Usage = Extract<Answer, { type: 'usage' }>['usage']
export type UsageRow = Usage['rows'][number]
type QueueSample = Activity['queue'][number]

/** Everything the view shows, asked for together. */
export interface UsageData {
  days: number
  activity: Activity
  byDay: Usage
  byModel: Usage
  byProject: Usage
  loadedAt: number
}

export const RANGES = [7, 30, 90, 365] as const

/** Days in one column: half a year of days is a fence, in days. */
const WEEK = 7
const MOST_DAYS = 120

export function daysPerColumn(days: number): number {
  return days > MOST_DAYS ? WEEK : 1
}

export interface Values {
  name: string
  values: number[]
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + drawable(value), 0)
}

/** Added up by column. */
function inColumns(values: readonly number[], size: number): number[] {
  return grouped(values, size).map(sumOf)
}

/** When each column begins and, of a week, when its last day does. */
export function spansOf(dayStarts: readonly number[], size: number): { first: number; last: number }[] {
  return grouped(dayStarts, size).map((days) => ({ first: days[0] ?? 0, last: days.at(-1) ?? 0 }))
}

/** The types that there are, in their usual order. */
export function byType({ days }: Activity, size: number): Values[] {
  return OBSERVATION_TYPES.map((type) => ({
    name: type,
    values: inColumns(
      days.map(({ types }) => types[type]),
      size,
    ),
  })).filter(({ values }) => sumOf(values) > 0)
}

/** The busiest by name, the others together. */
export function byProject({ days, projects }: Activity, size: number, most: number): Values[] {
  const [top, rest] = [projects.slice(0, most), projects.slice(most)]
  const named = top.map(({ key, name, days: own }) => ({
    // Two folders of the same name are two projects.
    name: top.some((other) => other.name === name && other.key !== key) ? `${name} (${key})` : name,
    values: inColumns(own, size),
  }))
  if (rest.length === 0) return named
  const others = days.map((_, i) => sumOf(rest.map((project) => project.days[i] ?? 0)))
  return [...named, { name: `${rest.length} other${rest.length === 1 ? '' : 's'}`, values: inColumns(others, size) }]
}

/** The calls' rows begin with the first day that has one; the chart with the first of all days. */
function onDays(rows: readonly UsageRow[], dayStarts: readonly number[], of: (row: UsageRow) => number): number[] {
  const known = new Map(rows.map((row) => [row.at, of(row)]))
  return dayStarts.map((start) => known.get(start) ?? 0)
}

export function tokensByKind(rows: readonly UsageRow[], dayStarts: readonly number[], size: number): Values[] {
  const kinds = [
    ['input', (row: UsageRow) => row.usage.input],
    ['output', (row: UsageRow) => row.usage.output],
    ['cache read', (row: UsageRow) => row.usage.cacheRead],
    ['cache write', (row: UsageRow) => row.usage.cacheWrite],
  ] as const
  return kinds
    .map(([name, of]) => ({ name, values: inColumns(onDays(rows, dayStarts, of), size) }))
    .filter(({ values }) => sumOf(values) > 0)
}

export function moneyByDay(rows: readonly UsageRow[], dayStarts: readonly number[], size: number): Values {
  const values = onDays(rows, dayStarts, ({ cost }) => cost)
  return { name: 'cost', values: inColumns(values, size) }
}

export interface QueueLevels {
  /** When each piece of time begins, and how long it is. */
  starts: number[]
  pieceMs: number
  pending: number[]
  processing: number[]
  failed: number[]
}

/** Pieces of time in the chart of the queue: more are not told apart. */
const PIECES = 120
/** A queue that was first heard of a moment ago still has a chart. */
const LEAST_SPAN_MS = 60 * 60_000

/** The longest it was in each piece of time; NaN before anything was written down. */
export function queueLevels(samples: readonly QueueSample[], since: number, now: number): QueueLevels {
  const known = samples.filter(({ at }) => at <= now)
  const first = Math.min(now - LEAST_SPAN_MS, Math.max(since, known[0]?.at ?? since))
  const pieceMs = Math.max(1, (now - first) / PIECES)
  const levels: QueueLevels = { starts: [], pieceMs, pending: [], processing: [], failed: [] }
  let held: QueueSample | null = null
  let next = 0
  for (let piece = 0; piece < PIECES; piece += 1) {
    const end = piece === PIECES - 1 ? Number.POSITIVE_INFINITY : first + (piece + 1) * pieceMs
    const seen: QueueSample[] = held === null ? [] : [held]
    for (let sample = known[next]; sample !== undefined && sample.at < end; sample = known[next]) {
      seen.push(sample)
      held = sample
      next += 1
    }
    levels.starts.push(first + piece * pieceMs)
    for (const level of ['pending', 'processing', 'failed'] as const) {
      levels[level].push(
        seen.length === 0 ? Number.NaN : seen.reduce((most, sample) => Math.max(most, sample[level]), 0),
      )
    }
  }
  return levels
}
