/** What one effect did: its calls to a model, and what was learned from them. */
import { KindMark } from '../../parts/icon.tsx'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { hrefOf } from '../../route.ts'
import { count, counted, duration, money } from '../../times.ts'
import type { Batch, CallLine, SummaryLine, Told } from './timeline.ts'

const NAMES = { observe: 'Batch', summarize: 'Summary', compact: 'Compaction', hand: 'By hand' } as const
/** In characters. */
const LONGEST_ERROR = 600

export function BatchBox({ batch, isNew }: { batch: Batch; isNew(kind: Told, id: number): boolean }) {
  const { what, calls, observations, summaries } = batch
  return (
    <div class={`story-batch ${what}`}>
      <p class="story-batch-head">
        <b>{NAMES[what]}</b>
        <span class="soft">{headOf(batch)}</span>
      </p>
      {calls.length === 0 ? null : (
        <ul class="story-calls">
          {calls.map((call) => (
            <Call key={call.id} call={call} arrived={isNew('call', call.id)} />
          ))}
        </ul>
      )}
      {observations.length === 0 ? null : (
        <ul class="story-learned">
          {observations.map(({ id, type, title, subtitle }) => (
            <li key={id} class={isNew('observation', id) ? 'arrived' : ''}>
              <a href={hrefOf('memory', id)} data-row>
                <KindMark kind={type} />
                <span>
                  {safeLine(title ?? 'Without a title')}
                  {subtitle === null ? null : <span class="soft">{safeLine(subtitle)}</span>}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {summaries.map((summary) => (
        <SummaryTold key={summary.id} summary={summary} arrived={isNew('summary', summary.id)} />
      ))}
    </div>
  )
}

function headOf({ what, calls, observations, summaries }: Batch): string {
  const answered = calls.some(({ error }) => error === null)
  const kept = observations.length + summaries.length
  return [
    ...(observations.length > 0 ? [counted(observations.length, 'observation')] : []),
    calls.length === 0 ? (what === 'hand' ? '' : 'without a model') : counted(calls.length, 'call'),
    ...(calls.length > 0 && !answered ? ['no answer that could be used'] : []),
    ...(answered && kept === 0 && what === 'observe' ? ['nothing to keep'] : []),
  ]
    .filter((word) => word !== '')
    .join(', ')
}

function Call({ call, arrived }: { call: CallLine; arrived: boolean }) {
  const { provider, model, durationMs, usage, cost, error } = call
  return (
    <li class={arrived ? 'arrived' : ''}>
      <span class="mono" title={`by ${safeLine(provider)}`}>
        {safeLine(model)}
      </span>
      <span class="figure soft">
        <span title="How long it took">{duration(durationMs)}</span>
        <span title={`${count(usage.cacheRead)} read from the cache, ${count(usage.cacheWrite)} written to it`}>
          {count(usage.input + usage.cacheRead + usage.cacheWrite)} in, {count(usage.output)} out tokens
        </span>
        <span title="US dollars">{cost === null ? 'price unknown' : money(cost)}</span>
      </span>
      {error === null ? null : <p class="story-error">{safe(error, LONGEST_ERROR)}</p>}
    </li>
  )
}

const PARTS = [
  ['request', 'Request'],
  ['investigated', 'Investigated'],
  ['learned', 'Learned'],
  ['completed', 'Completed'],
  ['nextSteps', 'Next steps'],
  ['notes', 'Notes'],
] as const satisfies readonly (readonly [keyof SummaryLine, string])[]

function SummaryTold({ summary, arrived }: { summary: SummaryLine; arrived: boolean }) {
  return (
    <dl class={arrived ? 'story-summary arrived' : 'story-summary'}>
      {PARTS.map(([part, name]) => {
        const text = summary[part]
        if (text === null || text === '') return null
        return (
          <div key={part}>
            <dt>{name}</dt>
            <dd>{safe(text)}</dd>
          </div>
        )
      })}
    </dl>
  )
}
