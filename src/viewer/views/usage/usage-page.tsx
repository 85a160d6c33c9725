/** The usage view: figures, charts and costs of the last days. */
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { DaemonStatus } from '../../../api/operations/daemon.ts'
import type { StreamMessage } from '../../../transport/messages.ts'
import { EmptyState, ErrorNotice, LoadingRows, Table } from '../../components/basics.tsx'
import { sumValues } from '../../components/chart-scales.ts'
import { Icon } from '../../components/icon.tsx'
import { callDaemon } from '../../connection.ts'
import { daemonStatus } from '../../daemon-status.ts'
import { compactCount, countOf, fullCount, timeOfDay, usdText } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { useLast, useQuery, useReloadOnStream } from '../../queries.ts'
import { currentRoute, viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { BudgetMeters } from '../now/today-strip.tsx'
import { UsageCharts, type UsageData, type UsageReport, type UsageReportRow } from './usage-charts.tsx'
import './usage.css'

const USAGE_RANGES = [7, 30, 90, 365] as const
/** Changes within this time cause one request, in ms: a turn makes several commits. */
const THROTTLE_MS = 1_200

export function UsagePage() {
  const requested = Number(useObservable(currentRoute).query.get('days'))
  const days = USAGE_RANGES.find((range) => range === requested) ?? 30
  const { data, error, loading, reload } = useQuery(`usage ${days}`, () => loadUsage(days))
  useReloadOnStream(isUsageChange, THROTTLE_MS, reload)
  const visible = useLast(data)
  return (
    <div class="usage">
      <div class="view-head row wrap">
        <h1>Usage</h1>
        <RangeLinks days={days} />
      </div>
      <ErrorNotice text={error} retry={reload} />
      {visible === null && loading ? <LoadingRows rows={4} /> : null}
      {visible === null ? null : <UsageBody data={visible} outdated={visible.days !== days} />}
    </div>
  )
}

async function loadUsage(days: number): Promise<UsageData> {
  const report = async (by: UsageReport['by']) => (await callDaemon('usage', { by, days })).usage
  const [{ activity }, byDay, byModel, byProject] = await Promise.all([
    callDaemon('activity', { days }),
    report('day'),
    report('model'),
    report('project'),
  ])
  return { days, activity, byDay, byModel, byProject, loadedAt: Date.now() }
}

function isUsageChange(message: StreamMessage): boolean {
  if (message.type === 'change') return message.change !== 'pinned' && message.change !== 'linked'
  return message.calls.length + message.observations.length > 0
}

function UsageBody({ data, outdated }: { data: UsageData; outdated: boolean }) {
  const { activity, byDay, byModel, byProject } = data
  const budget = useObservable(daemonStatus)?.budget ?? null
  const hasActivity = byDay.total.calls > 0 || activity.days.some((day) => day.observations + day.prompts > 0)
  if (!hasActivity && activity.queue.length === 0) {
    return (
      <EmptyState icon="usage" title={`No activity in the last ${data.days} days`}>
        <p>Work in a project with Claude Code. This page then shows the number of memories and their cost.</p>
      </EmptyState>
    )
  }
  return (
    <div class={outdated ? 'usage-body stack outdated' : 'usage-body stack'}>
      <UsageFigures data={data} />
      {byDay.total.calls === 0 ? <NothingSpent /> : null}
      {budget === null ? null : <Budget budget={budget} />}
      <UsageCharts data={data} />
      {byDay.total.calls === 0 ? null : (
        <div class="usage-pair">
          <CostRanking title="Cost by model" column="Model" rows={byModel.rows} />
          <CostRanking title="Cost by project" column="Project" rows={byProject.rows} />
        </div>
      )}
    </div>
  )
}

function RangeLinks({ days }: { days: number }) {
  return (
    <nav class="usage-ranges row" aria-label="Days">
      {USAGE_RANGES.map((range) => (
        <a
          key={range}
          href={viewHref('usage', null, { days: String(range) })}
          aria-current={range === days || undefined}
        >
          {range === 365 ? 'A year' : `${range} days`}
        </a>
      ))}
    </nav>
  )
}

const WORK_TITLE =
  'Tokens that your agents used to find this out the first time, from their transcripts or estimated. ' +
  'The savings depend on what later sessions need.'
const CACHED_TITLE = "Read from the provider's cache, at about a tenth of the price"

function UsageFigures({ data: { activity, byDay, days } }: { data: UsageData }) {
  const { calls, failed, usage, cost, unpriced, observations } = byDay.total
  const total = (field: 'observations' | 'discoveryTokens' | 'summaries' | 'prompts') =>
    sumValues(activity.days.map((day) => day[field]))
  const period = days === 365 ? 'a year' : `${days} days`
  return (
    <dl class="usage-figures">
      <UsageFigure name="Observations" value={fullCount(total('observations'))} about={`Observations in ${period}`}>
        {countOf(total('summaries'), 'summary', 'summaries')}, {countOf(total('prompts'), 'prompt')}
      </UsageFigure>
      <UsageFigure
        name="Work remembered"
        value={compactCount(total('discoveryTokens'))}
        unit="tokens"
        about={WORK_TITLE}
      >
        used to find it out the first time
      </UsageFigure>
      {calls === 0 ? null : (
        <>
          <UsageFigure
            name="Spent"
            value={usdText(cost)}
            about={`US dollars in ${period}, for calls with a known price`}
          >
            {unpriced > 0
              ? `${countOf(unpriced, 'call')} without a known price`
              : observations > 0
                ? `${usdText(cost / observations)} per observation`
                : 'no observations'}
          </UsageFigure>
          <UsageFigure name="Tokens" value={compactCount(usageTokens(usage))} about={usageText(usage)}>
            {compactCount(usage.input + usage.cacheWrite)} in, {compactCount(usage.output)} out,{' '}
            <span title={CACHED_TITLE}>{compactCount(usage.cacheRead)} cached</span>
          </UsageFigure>
          <UsageFigure name="Calls" value={fullCount(calls)} about={`Model calls in ${period}`}>
            {failed === 0 ? (
              'all succeeded'
            ) : (
              <span class="bad" title="Calls without a usable answer">
                {fullCount(failed)} failed
              </span>
            )}
          </UsageFigure>
        </>
      )}
    </dl>
  )
}

type TokenUsage = UsageReportRow['usage']

function usageTokens({ input, output, cacheRead, cacheWrite }: TokenUsage): number {
  return input + output + cacheRead + cacheWrite
}

function usageText({ input, output, cacheRead, cacheWrite }: TokenUsage): string {
  const cache = `cache read ${fullCount(cacheRead)}, cache write ${fullCount(cacheWrite)}`
  return `Input ${fullCount(input)}, output ${fullCount(output)}, ${cache} tokens`
}

interface UsageFigureProps {
  name: string
  value: string
  unit?: string
  about: string
  children: ComponentChildren
}

function UsageFigure({ name, value, unit, about, children }: UsageFigureProps) {
  const changes = useChangeCount(value)
  return (
    // A new element for each change restarts the animation.
    <div key={changes} class={changes === 0 ? 'usage-figure' : 'usage-figure arrived'} title={about}>
      <dt class="small soft">{name}</dt>
      <dd class="usage-value figure">
        {value}
        {unit === undefined ? null : <small> {unit}</small>}
      </dd>
      <dd class="soft small figure">{children}</dd>
    </div>
  )
}

function useChangeCount(value: string): number {
  const seen = useRef({ value, changes: 0 })
  if (seen.current.value !== value) seen.current = { value, changes: seen.current.changes + 1 }
  return seen.current.changes
}

function NothingSpent() {
  return (
    <p class="note live">
      <Icon name="spark" />
      <span>
        No model was called, so nothing was spent. Without a model, memories are written by rules on this machine.{' '}
        <a href={viewHref('settings', null, { find: 'provider' })}>Choose a model</a>
      </span>
    </p>
  )
}

function Budget({ budget }: { budget: NonNullable<DaemonStatus['budget']> }) {
  const { reason, until } = budget
  return (
    <section class="usage-budget card" aria-label="Budget of today">
      <div>
        <h2>Today</h2>
        <p class="soft small">
          {reason === null
            ? `The budget is reset at ${timeOfDay(until)}.`
            : `No model calls until ${timeOfDay(until)}: ${reason}.`}{' '}
          <a href={viewHref('settings', null, { find: 'budget' })}>Change</a>
        </p>
      </div>
      <BudgetMeters budget={budget} />
    </section>
  )
}

/** Rows at first; the others are in an expandable part. */
const MAX_RANKED = 8

interface RankingProps {
  title: string
  column: 'Model' | 'Project'
  rows: readonly UsageReportRow[]
}

/** A table sorted by cost, with a bar for each row. */
function CostRanking({ title, column, rows }: RankingProps) {
  // Costs can only be compared if all prices are known.
  const byMoney = rows.every(({ unpriced }) => unpriced === 0)
  const weight = (row: UsageReportRow) => (byMoney ? row.cost : usageTokens(row.usage))
  const sorted = [...rows].sort((a, b) => weight(b) - weight(a))
  const largest = sorted[0] === undefined ? 0 : weight(sorted[0])
  const share = (row: UsageReportRow) => (largest > 0 ? weight(row) / largest : 0)
  const rest = sorted.slice(MAX_RANKED)
  return (
    <section class="card usage-card" aria-label={title}>
      <div class="chart-head wrap spread">
        <h2>{title}</h2>
        <p class="soft small">{byMoney ? 'bars compare money' : 'bars compare tokens'}</p>
      </div>
      <RankingTable column={column} rows={sorted.slice(0, MAX_RANKED)} share={share} />
      {rest.length === 0 ? null : (
        <details class="chart-more">
          <summary class="soft smaller">{fullCount(rest.length)} more</summary>
          <RankingTable column={column} rows={rest} share={share} />
        </details>
      )}
    </section>
  )
}

function RankingTable({ column, rows, share }: Omit<RankingProps, 'title'> & { share(row: UsageReportRow): number }) {
  return (
    <Table class="numbers usage-ranking" columns={[column, 'Calls', 'Tokens', 'Cost']}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">
              <span class="block ellipsis" title={safeLine(row.key)}>
                {safeLine(column === 'Model' ? row.key : (row.name ?? row.key))}
                {column === 'Model' && row.name !== null ? <span class="soft small"> {safeLine(row.name)}</span> : null}
              </span>
              <span class="track usage-bar">
                <span style={{ width: `${Math.max(1, share(row) * 100)}%` }} />
              </span>
            </th>
            <td title={`${countOf(row.observations, 'observation')} made from them`}>
              {fullCount(row.calls)}
              {row.failed === 0 ? null : <span class="bad small block">{fullCount(row.failed)} failed</span>}
            </td>
            <td title={usageText(row.usage)}>{compactCount(usageTokens(row.usage))}</td>
            <td>
              <RankedCost row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function RankedCost({ row: { cost, unpriced, calls } }: { row: UsageReportRow }) {
  if (unpriced === 0) return <>{usdText(cost)}</>
  return (
    <span
      title={`The price of ${fullCount(unpriced)} of ${countOf(calls, 'call')} is unknown. Set CLAUDE_MEM_PRICES to add prices.`}
    >
      {cost > 0 ? usdText(cost) : null}
      <span class="warn small block">{cost > 0 ? '+ unknown price' : 'unknown price'}</span>
    </span>
  )
}
