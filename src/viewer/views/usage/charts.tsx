/** The same over time. */
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { BarChart } from '../../parts/chart-bars.tsx'
import type { ChartData, Column, Series } from '../../parts/chart-data.ts'
import { LineChart } from '../../parts/chart-lines.tsx'
import { safeLine } from '../../parts/safe-text.ts'
import { clockTime, count, counted, dayOf, duration, money, short, shortDayOf } from '../../times.ts'
import {
  byProject,
  byType,
  daysPerColumn,
  moneyByDay,
  queueLevels,
  spansOf,
  tokensByKind,
  type UsageData,
  type Values,
} from './series.ts'

/** Projects with a colour of their own. */
const PROJECT_COLOURS = ['--accent', '--refactor', '--discovery', '--feature', '--decision'] as const
const OTHERS_COLOUR = '--change'
const TYPE_COLOUR = (type: string) => `--${type}` as const
const TOKEN_COLOURS: Record<string, Series['colour']> = {
  input: '--refactor',
  output: '--accent',
  'cache read': '--discovery',
  'cache write': '--decision',
}
const DAY_MS = 24 * 60 * 60_000

export function UsageCharts({ data }: { data: UsageData }) {
  const charts = useMemo(() => chartsOf(data), [data])
  return (
    <>
      <div class="usage-pair">
        <Card>
          <BarChart data={charts.types} whole />
        </Card>
        <Card>
          <BarChart data={charts.projects} whole />
        </Card>
        {data.byDay.total.calls === 0 ? null : (
          <>
            <Card>
              <BarChart data={charts.tokens} whole />
            </Card>
            <Card>
              <BarChart data={charts.money} />
            </Card>
          </>
        )}
      </div>
      <Card>
        <LineChart data={charts.queue} whole />
      </Card>
    </>
  )
}

function Card({ children }: { children: ComponentChildren }) {
  return <div class="card usage-card">{children}</div>
}

function chartsOf({ days, activity, byDay, loadedAt }: UsageData) {
  const size = daysPerColumn(days)
  const each = size === 1 ? 'day' : 'week'
  const columns = spansOf(activity.dayStarts, size).map(columnOf)
  const observations = {
    columns,
    format: (n: number) => counted(n, 'observation'),
    plain: count,
    tick: short,
    summed: true,
  }
  const nothing = 'No observation in these days.'
  return {
    types: {
      ...observations,
      title: `Observations a ${each}`,
      about: `What was learned each ${each}, by its type`,
      series: coloured(byType(activity, size), ({ name }) => TYPE_COLOUR(name)),
      nothing,
    },
    projects: {
      ...observations,
      title: 'Observations by project',
      about: `What was learned each ${each}, by project: the busiest, and the others together`,
      series: coloured(
        byProject(activity, size, PROJECT_COLOURS.length),
        (_, i) => PROJECT_COLOURS[i] ?? OTHERS_COLOUR,
      ),
      nothing,
    },
    tokens: {
      title: `Tokens a ${each}`,
      about: `Tokens of all calls to models each ${each}`,
      columns,
      series: coloured(
        tokensByKind(byDay.rows, activity.dayStarts, size),
        ({ name }) => TOKEN_COLOURS[name] ?? OTHERS_COLOUR,
      ),
      format: (n: number) => counted(n, 'token'),
      plain: count,
      tick: short,
      summed: true,
      nothing: 'No tokens in these days.',
    },
    money: {
      title: `Money a ${each}`,
      about: `US dollars each ${each}, of the calls whose price is known`,
      columns,
      series: coloured([moneyByDay(byDay.rows, activity.dayStarts, size)], () => '--accent'),
      format: money,
      plain: money,
      tick: (n: number) => (n >= 1_000 ? `$${short(n)}` : money(n)),
      summed: true,
      nothing: 'No call with a known price in these days.',
    },
    queue: queueChart(queueLevels(activity.queue, activity.dayStarts[0] ?? loadedAt, loadedAt)),
  } satisfies Record<string, ChartData>
}

function queueChart({ starts, pieceMs, pending, processing, failed }: ReturnType<typeof queueLevels>): ChartData {
  const brief = pieceMs * starts.length <= 2 * DAY_MS
  return {
    title: 'Queue',
    about: `Messages that waited for the observer: the most in each ${duration(pieceMs)}`,
    columns: starts.map((at, i) => ({
      short: beginsIn(brief ? 'hour' : 'day', at, starts[i - 1]),
      long: `${shortDayOf(at)}, ${clockTime(at)}`,
    })),
    series: [
      { name: 'waiting', colour: '--accent', values: pending },
      { name: 'with the observer', colour: '--live', values: processing },
      { name: 'set aside', colour: '--bad', values: failed },
    ],
    format: (n) => counted(n, 'message'),
    plain: count,
    tick: short,
    summed: false,
    nothing: 'Nothing had to wait in these days.',
  }
}

/** The hour or day that begins in this piece of time, told once. */
function beginsIn(unit: 'hour' | 'day', at: number, before: number | undefined): string | null {
  if (before === undefined) return null
  const start = new Date(at)
  start.setMinutes(0, 0, 0)
  if (unit === 'day') start.setHours(0)
  if (before >= start.getTime()) return null
  return unit === 'day' ? shortDayOf(at) : clockTime(start.getTime())
}

function coloured(all: readonly Values[], colourOf: (values: Values, i: number) => Series['colour']): Series[] {
  return all.map((values, i) => ({ ...values, name: safeLine(values.name), colour: colourOf(values, i) }))
}

function columnOf({ first, last }: { first: number; last: number }): Column {
  if (first === last) return { short: shortDayOf(first), long: dayOf(first) }
  return { short: shortDayOf(last), long: `${shortDayOf(first)} – ${shortDayOf(last)}` }
}
