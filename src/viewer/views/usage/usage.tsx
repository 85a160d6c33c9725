/** What was learned and what it cost, over time. */
import { useRef } from 'preact/hooks'
import type { StreamMessage } from '../../../channel/protocol.ts'
import { useCell } from '../../cell.ts'
import { ask } from '../../connection.ts'
import { useLoaded } from '../../loaded.ts'
import { status } from '../../model/status.ts'
import { useNews } from '../../news.ts'
import { Empty, Trouble, Waiting } from '../../parts/plain.tsx'
import { hrefOf, route } from '../../route.ts'
import { UsageCharts } from './charts.tsx'
import { Figures } from './figures.tsx'
import { Ranking } from './ranking.tsx'
import { RANGES, type Usage, type UsageData } from './series.ts'
import './usage.css'

/** A turn makes several commits: they are one question, in ms. */
const SETTLE_MS = 1_200

export function UsageView() {
  const days = daysOf(useCell(route).query)
  const { data, error, loading, reload } = useLoaded(`usage ${days}`, () => load(days))
  const last = useRef<UsageData | null>(null)
  last.current = data ?? last.current
  useNews(counts, SETTLE_MS, reload)
  const shown = last.current
  return (
    <div class="usage">
      <div class="view-head">
        <h1>Usage</h1>
        <Ranges days={days} />
      </div>
      {error === null ? null : <Trouble text={error} retry={reload} />}
      {shown === null ? loading ? <Waiting rows={4} /> : null : <Shown data={shown} old={shown.days !== days} />}
    </div>
  )
}

async function load(days: number): Promise<UsageData> {
  const usage = async (by: Usage['by']) => (await ask('usage', { type: 'usage', by, days })).usage
  const [{ activity }, byDay, byModel, byProject] = await Promise.all([
    ask('activity', { type: 'activity', days }),
    usage('day'),
    usage('model'),
    usage('project'),
  ])
  return { days, activity, byDay, byModel, byProject, loadedAt: Date.now() }
}

function Shown({ data, old }: { data: UsageData; old: boolean }) {
  const { activity, byDay, byModel, byProject } = data
  const budget = useCell(status)?.budget ?? null
  const nothing = byDay.total.calls === 0 && activity.days.every((day) => day.observations + day.prompts === 0)
  if (nothing && activity.queue.length === 0) {
    return (
      <Empty icon="usage" title={`Nothing was learned in the last ${data.days} days`}>
        <p>Work in a project with Claude Code: what its sessions learn, and what that costs, is counted here.</p>
      </Empty>
    )
  }
  return (
    <div class={old ? 'usage-body old' : 'usage-body'}>
      <Figures data={data} budget={budget} />
      <UsageCharts data={data} />
      {byDay.total.calls === 0 ? null : (
        <div class="usage-pair">
          <Ranking title="Cost by model" what="Model" rows={byModel.rows} />
          <Ranking title="Cost by project" what="Project" rows={byProject.rows} />
        </div>
      )}
    </div>
  )
}

function Ranges({ days }: { days: number }) {
  return (
    <nav class="usage-ranges" aria-label="Days">
      {RANGES.map((range) => (
        <a key={range} href={hrefOf('usage', null, { days: String(range) })} aria-current={range === days || undefined}>
          {range === 365 ? 'A year' : `${range} days`}
        </a>
      ))}
    </nav>
  )
}

function daysOf(query: URLSearchParams): number {
  const given = Number(query.get('days'))
  return RANGES.find((range) => range === given) ?? 30
}

function counts(item: StreamMessage): boolean {
  if (item.type === 'change') return item.change !== 'pinned' && item.change !== 'linked'
  return item.calls.length + item.observations.length > 0
}
