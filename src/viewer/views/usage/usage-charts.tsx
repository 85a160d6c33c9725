/** The charts of the usage view: observations, tokens and money per day or week, and the queue over time. */

import { useMemo } from 'preact/hooks'
import type { OutputOf } from '../../../api/index.ts'
import { DAY_MS } from '../../../domain/dates.ts'
import { OBSERVATION_TYPES } from '../../../domain/observation.ts'
import { type ChartColumn, type ChartData, type ChartSeries, TimeChart } from '../../components/chart.tsx'
import { groupFromEnd, sumValues } from '../../components/chart-scales.ts'
import { compactCount, countOf, durationText, fullCount, longDay, shortDay, timeOfDay, usdText } from '../../format.tsx'
import { safeLine } from '../../safe-text.ts'

export type UsageActivity = OutputOf<'activity'>['activity']
export type UsageReport = OutputOf<'usage'>['usage']
export type UsageReportRow = UsageReport['rows'][number]
type QueueSample = UsageActivity['queue'][number]

export interface UsageData {
  days: number
  activity: UsageActivity
  byDay: UsageReport
  byModel: UsageReport
  byProject: UsageReport
  loadedAt: number
}

const WEEK_DAYS = 7
/** More days than this are grouped into weeks. */
const MAX_DAY_COLUMNS = 120

/** The first ones have their own colour; the others share one. */
const PROJECT_COLOURS = ['--accent', '--refactor', '--discovery', '--feature', '--decision'] as const
const OTHER_COLOUR = '--change'

export function UsageCharts({ data }: { data: UsageData }) {
  const { types, projects, tokens, money, queue } = useMemo(() => usageCharts(data), [data])
  const paired = data.byDay.total.calls === 0 ? [types, projects] : [types, projects, tokens, money]
  return (
    <>
      <div class="usage-pair">
        {paired.map((chart) => (
          <ChartCard key={chart.title} data={chart} />
        ))}
      </div>
      <ChartCard data={queue} />
    </>
  )
}

function ChartCard({ data }: { data: ChartData }) {
  return (
    <div class="card usage-card">
      <TimeChart data={data} />
    </div>
  )
}

function usageCharts({ days, activity, byDay, loadedAt }: UsageData) {
  const size = daysPerColumn(days)
  const period = size === 1 ? 'day' : 'week'
  const { dayStarts } = activity
  const bars = {
    kind: 'bars',
    columns: columnSpans(dayStarts, size).map(spanColumn),
    whole: true,
    plain: fullCount,
    tick: compactCount,
  } as const
  const observations = {
    ...bars,
    format: (n: number) => countOf(n, 'observation'),
    empty: 'No observations in these days.',
  }
  return {
    types: {
      ...observations,
      title: `Observations per ${period}`,
      about: `Observations per ${period}, by type`,
      series: withColours(observationsByType(activity, size), ({ name }) => `--${name}`),
    },
    projects: {
      ...observations,
      title: 'Observations by project',
      about: `Observations per ${period} of the busiest projects, and of all others together`,
      series: withColours(
        observationsByProject(activity, size, PROJECT_COLOURS.length),
        (_, i) => PROJECT_COLOURS[i] ?? OTHER_COLOUR,
      ),
    },
    tokens: {
      ...bars,
      title: `Tokens per ${period}`,
      about: `Tokens of all model calls per ${period}`,
      series: tokenSeries(byDay.rows, dayStarts, size),
      format: (n: number) => countOf(n, 'token'),
      empty: 'No tokens in these days.',
    },
    money: {
      ...bars,
      whole: false,
      title: `Money per ${period}`,
      about: `US dollars per ${period}, for calls with a known price`,
      series: withColours([costByDay(byDay.rows, dayStarts, size)], () => '--accent'),
      format: usdText,
      plain: usdText,
      tick: (n: number) => (n >= 1_000 ? `$${compactCount(n)}` : usdText(n)),
      empty: 'No call with a known price in these days.',
    },
    queue: queueChart(queueLevels(activity.queue, dayStarts[0] ?? loadedAt, loadedAt)),
  } satisfies Record<string, ChartData>
}

export function daysPerColumn(days: number): number {
  return days > MAX_DAY_COLUMNS ? WEEK_DAYS : 1
}

/** Start of the first and of the last day of each column. */
export function columnSpans(dayStarts: readonly number[], size: number): { first: number; last: number }[] {
  return groupFromEnd(dayStarts, size).map((days) => ({ first: days[0] ?? 0, last: days.at(-1) ?? 0 }))
}

function spanColumn({ first, last }: { first: number; last: number }): ChartColumn {
  if (first === last) return { short: shortDay(first), long: longDay(first) }
  return { short: shortDay(last), long: `${shortDay(first)} – ${shortDay(last)}` }
}

interface NamedValues {
  name: string
  values: number[]
}

function withColours(
  series: readonly NamedValues[],
  colourOf: (series: NamedValues, i: number) => ChartSeries['colour'],
): ChartSeries[] {
  return series.map((one, i) => ({ ...one, name: safeLine(one.name), colour: colourOf(one, i) }))
}

function sumColumns(values: readonly number[], size: number): number[] {
  return groupFromEnd(values, size).map(sumValues)
}

/** The types that occur. */
export function observationsByType({ days }: UsageActivity, size: number): NamedValues[] {
  const series = OBSERVATION_TYPES.map((type) => {
    const perDay = days.map(({ types }) => types[type])
    return { name: type, values: sumColumns(perDay, size) }
  })
  return series.filter(({ values }) => sumValues(values) > 0)
}

/** The `max` busiest projects, and the others as one series. */
export function observationsByProject({ days, projects }: UsageActivity, size: number, max: number): NamedValues[] {
  const [top, rest] = [projects.slice(0, max), projects.slice(max)]
  const named = top.map(({ key, name, days: perDay }) => ({
    // Two projects with the same name are distinguished by their key.
    name: top.some((other) => other.name === name && other.key !== key) ? `${name} (${key})` : name,
    values: sumColumns(perDay, size),
  }))
  if (rest.length === 0) return named
  const others = days.map((_, i) => sumValues(rest.map((project) => project.days[i] ?? 0)))
  return [...named, { name: `${rest.length} other${rest.length === 1 ? '' : 's'}`, values: sumColumns(others, size) }]
}

/** Days without a call have no row. */
function valuesPerDay(
  rows: readonly UsageReportRow[],
  dayStarts: readonly number[],
  value: (row: UsageReportRow) => number,
): number[] {
  const known = new Map(rows.map((row) => [row.at, value(row)]))
  return dayStarts.map((start) => known.get(start) ?? 0)
}

const TOKEN_KINDS = [
  { name: 'input', field: 'input', colour: '--refactor' },
  { name: 'output', field: 'output', colour: '--accent' },
  { name: 'cache read', field: 'cacheRead', colour: '--discovery' },
  { name: 'cache write', field: 'cacheWrite', colour: '--decision' },
] as const

export function tokenSeries(
  rows: readonly UsageReportRow[],
  dayStarts: readonly number[],
  size: number,
): ChartSeries[] {
  return TOKEN_KINDS.map(({ name, field, colour }) => ({
    name,
    colour,
    values: sumColumns(
      valuesPerDay(rows, dayStarts, ({ usage }) => usage[field]),
      size,
    ),
  })).filter(({ values }) => sumValues(values) > 0)
}

export function costByDay(rows: readonly UsageReportRow[], dayStarts: readonly number[], size: number): NamedValues {
  const values = valuesPerDay(rows, dayStarts, ({ cost }) => cost)
  return { name: 'cost', values: sumColumns(values, size) }
}

interface QueueLevels {
  /** Start of each interval. */
  starts: number[]
  intervalMs: number
  pending: number[]
  processing: number[]
  failed: number[]
}

/** Intervals of the queue chart. */
const QUEUE_INTERVALS = 120
/** Shortest time span of the chart, for a queue that was just recorded for the first time. */
const MIN_QUEUE_SPAN_MS = 60 * 60_000

/** The maximum of each interval; NaN before the first sample. */
export function queueLevels(samples: readonly QueueSample[], since: number, now: number): QueueLevels {
  const known = samples.filter(({ at }) => at <= now)
  const first = Math.min(now - MIN_QUEUE_SPAN_MS, Math.max(since, known[0]?.at ?? since))
  const intervalMs = Math.max(1, (now - first) / QUEUE_INTERVALS)
  const levels: QueueLevels = { starts: [], intervalMs, pending: [], processing: [], failed: [] }
  // A level holds until the next sample, so an interval starts with the last sample before it.
  let held: QueueSample[] = []
  let next = 0
  for (let i = 0; i < QUEUE_INTERVALS; i += 1) {
    const end = i === QUEUE_INTERVALS - 1 ? Number.POSITIVE_INFINITY : first + (i + 1) * intervalMs
    const inInterval = [...held]
    for (let sample = known[next]; sample !== undefined && sample.at < end; sample = known[next]) {
      inInterval.push(sample)
      held = [sample]
      next += 1
    }
    levels.starts.push(first + i * intervalMs)
    for (const level of ['pending', 'processing', 'failed'] as const) {
      const max = inInterval.reduce((highest, sample) => Math.max(highest, sample[level]), 0)
      levels[level].push(inInterval.length === 0 ? Number.NaN : max)
    }
  }
  return levels
}

function queueChart({ starts, intervalMs, pending, processing, failed }: QueueLevels): ChartData {
  const unit = intervalMs * starts.length <= 2 * DAY_MS ? 'hour' : 'day'
  return {
    kind: 'steps',
    title: 'Queue',
    about: `Messages waiting for the observer: the maximum of every ${durationText(intervalMs)}`,
    columns: starts.map((at, i) => ({
      short: unitStartLabel(unit, at, starts[i - 1]),
      long: `${shortDay(at)}, ${timeOfDay(at)}`,
    })),
    series: [
      { name: 'waiting', colour: '--accent', values: pending },
      { name: 'being observed', colour: '--live', values: processing },
      { name: 'failed', colour: '--bad', values: failed },
    ],
    whole: true,
    format: (n) => countOf(n, 'message'),
    plain: fullCount,
    tick: compactCount,
    empty: 'The queue was empty in these days.',
  }
}

/** Label of the first interval of each hour or day; null for the others. */
function unitStartLabel(unit: 'hour' | 'day', at: number, previous: number | undefined): string | null {
  if (previous === undefined) return null
  const start = new Date(at)
  start.setMinutes(0, 0, 0)
  if (unit === 'day') start.setHours(0)
  if (previous >= start.getTime()) return null
  return unit === 'day' ? shortDay(at) : timeOfDay(start.getTime())
}
