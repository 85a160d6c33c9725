/** The usage view: figures, activity by day, and costs of the last days. */
import type { ComponentChildren } from 'preact'
import type { OutputOf } from '../../api/index.ts'
import type { DaemonStatus } from '../../api/operations/daemon.ts'
import type { StreamMessage } from '../../transport/messages.ts'
import {
  Details,
  EmptyState,
  type Figure,
  FigureList,
  Loaded,
  Meter,
  Note,
  Page,
  Section,
  Table,
} from '../components/basics.tsx'
import { callDaemon } from '../connection.ts'
import { daemonStatus } from '../daemon-status.ts'
import { compactCount, countOf, fullCount, shortDay, timeOfDay, usdText } from '../format.tsx'
import { useObservable } from '../observable.ts'
import { useLive, useQuery } from '../queries.ts'
import { currentRoute, viewHref } from '../route.ts'
import { safeLine } from '../safe-text.ts'

type UsageReport = OutputOf<'usage'>['usage']
type UsageRow = UsageReport['rows'][number]
type UsageData = Awaited<ReturnType<typeof loadUsage>>

const RANGES = [7, 30, 90] as const
/** Changes within this time cause one request, in ms: a turn makes several commits. */
const THROTTLE_MS = 1_200

export function UsagePage() {
  const requested = Number(useObservable(currentRoute).query.get('days'))
  const days = RANGES.find((range) => range === requested) ?? 30
  const usage = useLive(
    useQuery(`usage ${days}`, () => loadUsage(days)),
    isUsageChange,
    THROTTLE_MS,
  )
  const ranges = (
    <nav class="row" aria-label="Days">
      {RANGES.map((range) => (
        <a
          key={range}
          class="chip"
          href={viewHref('usage', null, { days: String(range) })}
          aria-current={range === days || undefined}
        >
          {range} days
        </a>
      ))}
    </nav>
  )
  return (
    <Page title="Usage" tools={ranges}>
      <Loaded query={usage}>{(data) => <UsageBody data={data} />}</Loaded>
    </Page>
  )
}

async function loadUsage(days: number) {
  const report = async (by: UsageReport['by']) => (await callDaemon('usage', { by, days })).usage
  const [{ activity }, byDay, byModel, byProject] = await Promise.all([
    callDaemon('activity', { days }),
    report('day'),
    report('model'),
    report('project'),
  ])
  return { days, activity, byDay, byModel, byProject }
}

function isUsageChange(message: StreamMessage): boolean {
  if (message.type === 'change') return message.change !== 'pinned' && message.change !== 'linked'
  return message.calls.length + message.observations.length > 0
}

function UsageBody({ data }: { data: UsageData }) {
  const { activity, byDay, byModel, byProject } = data
  const budget = useObservable(daemonStatus)?.budget ?? null
  const { calls } = byDay.total
  if (calls === 0 && activity.days.every((day) => day.observations + day.prompts === 0)) {
    return <EmptyState icon="usage" title={`No activity in the last ${data.days} days`} />
  }
  return (
    <>
      <FigureList figures={usageFigures(data)} />
      {calls === 0 ? (
        <Note tone="live">
          No model was called, so nothing was spent. Without a model, observations are made by rules on this machine.{' '}
          <a href={viewHref('settings', null, { find: 'provider' })}>Choose a model</a>
        </Note>
      ) : null}
      {budget === null ? null : <Budget budget={budget} />}
      <Section title="Observations by day" card>
        <DayBars data={data} />
      </Section>
      {calls === 0 ? null : (
        <>
          <CostTable title="Cost by model" rows={byModel.rows} name={({ key }) => key} />
          <CostTable title="Cost by project" rows={byProject.rows} name={({ key, name }) => name ?? key} />
        </>
      )}
    </>
  )
}

const WORK_TITLE =
  'Tokens that your agents used to find this out the first time, from their transcripts or estimated. ' +
  'The savings depend on what later sessions need.'

function usageFigures({ activity, byDay }: UsageData): Figure[] {
  const { calls, failed, usage, cost, unpriced } = byDay.total
  const total = (field: 'observations' | 'discoveryTokens' | 'prompts') =>
    activity.days.reduce((sum, day) => sum + day[field], 0)
  const learned: Figure[] = [
    { name: 'observations', value: fullCount(total('observations')), about: 'Observations that were made' },
    { name: 'prompts', value: fullCount(total('prompts')), about: 'Prompts of the user' },
    { name: 'tokens of work remembered', value: compactCount(total('discoveryTokens')), about: WORK_TITLE },
  ]
  if (calls === 0) return learned
  const unknown = unpriced === 0 ? '' : `; ${countOf(unpriced, 'call')} without a known price`
  return [
    ...learned,
    { name: 'spent', value: usdText(cost), about: `US dollars${unknown}` },
    { name: 'tokens used', value: compactCount(usageTokens(usage)), about: usageText(usage) },
    { name: 'calls', value: fullCount(calls), about: 'Calls to a model' },
    ...(failed === 0
      ? []
      : [{ name: 'failed', value: fullCount(failed), about: 'Calls without a usable answer', tone: 'bad' as const }]),
  ]
}

type TokenUsage = UsageRow['usage']

function usageTokens({ input, output, cacheRead, cacheWrite }: TokenUsage): number {
  return input + output + cacheRead + cacheWrite
}

function usageText({ input, output, cacheRead, cacheWrite }: TokenUsage): string {
  const cache = `cache read ${fullCount(cacheRead)}, cache write ${fullCount(cacheWrite)}`
  return `Input ${fullCount(input)}, output ${fullCount(output)}, ${cache} tokens`
}

function Budget({ budget }: { budget: NonNullable<DaemonStatus['budget']> }) {
  const { reason, until, spentUsd, limitUsd, spentTokens, limitTokens } = budget
  return (
    <Section title="Budget of today" card tools={<a href={viewHref('settings', null, { find: 'budget' })}>Change</a>}>
      {reason === null ? null : (
        <Note tone="warn">
          No model calls until {timeOfDay(until)}: {safeLine(reason)}
        </Note>
      )}
      <Meter label="Money" value={spentUsd} of={limitUsd} text={`${usdText(spentUsd)} of ${usdText(limitUsd)}`} />
      <Meter
        label="Tokens"
        value={spentTokens}
        of={limitTokens}
        text={`${compactCount(spentTokens)} of ${compactCount(limitTokens)}`}
      />
    </Section>
  )
}

/** Observations of each day as bars, with all numbers in a table. */
function DayBars({ data: { activity, byDay } }: { data: UsageData }) {
  const spent = new Map(byDay.rows.map((row) => [row.at, row]))
  const days = activity.dayStarts.map((start, i) => ({
    start,
    observations: activity.days[i]?.observations ?? 0,
    prompts: activity.days[i]?.prompts ?? 0,
    cost: spent.get(start)?.cost ?? 0,
  }))
  const most = Math.max(1, ...days.map(({ observations }) => observations))
  const rows = days
    .toReversed()
    .map(({ start, observations, prompts, cost }) => [
      shortDay(start),
      fullCount(observations),
      fullCount(prompts),
      usdText(cost),
    ])
  return (
    <>
      <div class="bars" aria-hidden="true">
        {days.map(({ start, observations }) => (
          <span
            key={start}
            style={{ height: `${(observations / most) * 100}%` }}
            title={`${shortDay(start)}: ${countOf(observations, 'observation')}`}
          />
        ))}
      </div>
      <p class="row spread small soft">
        <span>{shortDay(days[0]?.start ?? 0)}</span>
        <span>today</span>
      </p>
      <Details summary="Show as table">
        <Table
          caption="By day, newest first"
          columns={['Day', 'Observations', 'Prompts', 'Cost']}
          rows={rows}
          numbers
        />
      </Details>
    </>
  )
}

interface CostTableProps {
  title: string
  rows: readonly UsageRow[]
  name(row: UsageRow): string
}

function CostTable({ title, rows, name }: CostTableProps) {
  const sorted = [...rows].sort((a, b) => b.cost - a.cost || usageTokens(b.usage) - usageTokens(a.usage))
  const cells = sorted.map((row): ComponentChildren[] => [
    safeLine(name(row)),
    row.failed === 0 ? fullCount(row.calls) : `${fullCount(row.calls)}, ${fullCount(row.failed)} failed`,
    <span key="tokens" title={usageText(row.usage)}>
      {compactCount(usageTokens(row.usage))}
    </span>,
    costText(row),
  ])
  return (
    <Section title={title} card>
      <Table caption={title} columns={['Name', 'Calls', 'Tokens', 'Cost']} rows={cells} numbers />
      {rows.some(({ unpriced }) => unpriced > 0) ? (
        <p class="small soft">
          Some prices are unknown: <code>CLAUDE_MEM_PRICES</code> adds them.
        </p>
      ) : null}
    </Section>
  )
}

function costText({ cost, unpriced }: UsageRow): string {
  if (unpriced === 0) return usdText(cost)
  return cost > 0 ? `${usdText(cost)} + unknown price` : 'unknown price'
}
