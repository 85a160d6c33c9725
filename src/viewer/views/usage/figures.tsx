/** The numbers that people look for first. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Status } from '../../../channel/protocol.ts'
import { Icon } from '../../parts/icon.tsx'
import { Meter } from '../../parts/plain.tsx'
import { hrefOf } from '../../route.ts'
import { clockTime, count, counted, money, short } from '../../times.ts'
import { sumOf, type UsageData } from './series.ts'

const WORK_TITLE =
  'Tokens that your agents used to find this out the first time, as far as their transcripts say; else an estimate. ' +
  'What it spares depends on what later sessions need of it.'
const CACHED_TITLE = 'Read from the cache of the provider, at about a tenth of the price'

export function Figures({ data, budget }: { data: UsageData; budget: Status['budget'] }) {
  const { activity, byDay, days } = data
  const { calls, failed, usage, cost, unpriced, observations } = byDay.total
  const learned = sumOf(activity.days.map((day) => day.observations))
  const work = sumOf(activity.days.map((day) => day.discoveryTokens))
  const span = days === 365 ? 'a year' : `${days} days`
  return (
    <>
      <dl class="usage-figures">
        <Figure name="Observations" value={count(learned)} title={`${count(learned)} observations in ${span}`}>
          {counted(sumOf(activity.days.map((day) => day.summaries)), 'summary', 'summaries')},{' '}
          {counted(sumOf(activity.days.map((day) => day.prompts)), 'prompt', 'prompts')}
        </Figure>
        <Figure name="Work remembered" value={short(work)} unit="tokens" title={WORK_TITLE}>
          used to find it out the first time
        </Figure>
        {calls === 0 ? null : (
          <>
            <Figure name="Spent" value={money(cost)} title={`US dollars in ${span}, of the calls whose price is known`}>
              {unpriced > 0
                ? `${counted(unpriced, 'call', 'calls')} without a known price`
                : observations > 0
                  ? `${money(cost / observations)} an observation`
                  : 'no observation came of it'}
            </Figure>
            <Figure
              name="Tokens"
              value={short(usage.input + usage.output + usage.cacheRead + usage.cacheWrite)}
              title={`Input ${count(usage.input)}, output ${count(usage.output)}, cache read ${count(usage.cacheRead)}, cache write ${count(usage.cacheWrite)} tokens`}
            >
              {short(usage.input + usage.cacheWrite)} in, {short(usage.output)} out,{' '}
              <span title={CACHED_TITLE}>{short(usage.cacheRead)} cached</span>
            </Figure>
            <Figure name="Calls" value={count(calls)} title={`Questions to a model in ${span}`}>
              {failed === 0 ? (
                'all were answered'
              ) : (
                <span class="usage-failed" title="Calls without an answer that could be used">
                  {count(failed)} failed
                </span>
              )}
            </Figure>
          </>
        )}
      </dl>
      {calls === 0 ? <NothingSpent /> : null}
      {budget === null ? null : <Budget budget={budget} />}
    </>
  )
}

interface FigureProps {
  name: string
  value: string
  unit?: string
  title: string
  children: ComponentChildren
}

function Figure({ name, value, unit, title, children }: FigureProps) {
  const changed = useChanged(value)
  return (
    <div class={changed ? 'usage-figure arrived' : 'usage-figure'} title={title}>
      <dt>{name}</dt>
      <dd class="usage-value figure">
        {value}
        {unit === undefined ? null : <small> {unit}</small>}
      </dd>
      <dd class="usage-note">{children}</dd>
    </div>
  )
}

/** As long as the soft flash takes, in ms. */
const FLASH_MS = 2_400

function useChanged(value: string): boolean {
  const before = useRef(value)
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    if (before.current === value) return
    before.current = value
    setChanged(true)
    const timer = setTimeout(() => setChanged(false), FLASH_MS)
    return () => clearTimeout(timer)
  }, [value])
  return changed
}

function NothingSpent() {
  return (
    <p class="usage-free">
      <Icon name="spark" />
      <span>
        No model was asked: nothing was spent. Without one, memories are written by rules, on this machine.{' '}
        <a href={hrefOf('settings', null, { find: 'provider' })}>Choose a model</a>
      </span>
    </p>
  )
}

function Budget({ budget }: { budget: NonNullable<Status['budget']> }) {
  const { spentUsd, limitUsd, spentTokens, limitTokens, reason, until } = budget
  return (
    <section class="usage-budget card" aria-label="Budget of today">
      <div>
        <h2>Today</h2>
        <p class="soft">
          {reason === null
            ? `The budget starts anew at ${clockTime(until)}.`
            : `No model is asked until ${clockTime(until)}: ${reason}.`}{' '}
          <a href={hrefOf('settings', null, { find: 'budget' })}>Change</a>
        </p>
      </div>
      <Meter label="Money" value={spentUsd} of={limitUsd} text={`${money(spentUsd)} of ${money(limitUsd)}`} />
      <Meter
        label="Tokens"
        value={spentTokens}
        of={limitTokens}
        text={`${short(spentTokens)} of ${short(limitTokens)}`}
      />
    </section>
  )
}
