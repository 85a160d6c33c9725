/** Figures of today: observations, queue, budget and the observer. */
import type { ComponentChildren } from 'preact'
import type { DaemonStatus } from '../../../api/operations/daemon.ts'
import { Meter } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { daemonStatus } from '../../daemon-status.ts'
import { compactCount, countOf, exactTime, fullCount, RelativeTime, timeOfDay, usdText } from '../../format.tsx'
import { useObservable } from '../../observable.ts'
import { viewHref } from '../../route.ts'
import { safeLine, safeText } from '../../safe-text.ts'

const MAX_REASON_CHARS = 1_000

export function TodayStrip() {
  const status = useObservable(daemonStatus)
  if (status === null) return null
  const { observationsToday, observations, indexing } = status
  return (
    <>
      <section class="now-strip" aria-label="Today">
        <Tile title="New today" about="Observations since midnight">
          <p class="now-number figure" data-testid="observations-today">
            {fullCount(observationsToday)}
          </p>
          <p class="soft">observations, {fullCount(observations)} in total</p>
        </Tile>
        <QueueTile queue={status.queue} />
        <BudgetTile budget={status.budget} />
        <ObserverTile status={status} />
      </section>
      {indexing === null ? null : (
        <div class="card now-indexing">
          <Meter
            label={indexing.what === 'vectors' ? 'Computing vectors for the search' : 'Indexing for the search'}
            value={indexing.done}
            of={indexing.total}
            text={`${fullCount(indexing.done)} of ${fullCount(indexing.total)}`}
          />
        </div>
      )}
    </>
  )
}

interface TileProps {
  title: string
  about?: string
  wide?: boolean
  children: ComponentChildren
}

function Tile({ title, about, wide = false, children }: TileProps) {
  return (
    <div class={wide ? 'card now-tile column small wide' : 'card now-tile column small'} title={about}>
      <h2 class="small soft">{title}</h2>
      {children}
    </div>
  )
}

function QueueTile({ queue: { pending, processing, failed, sessions, oldestAt } }: { queue: DaemonStatus['queue'] }) {
  const waiting = pending + processing
  return (
    <Tile title="Queue" about="Messages that are waiting for the observer or being observed">
      <p class="now-number figure" data-testid="queue">
        {fullCount(waiting)}
      </p>
      <p class="soft">
        {waiting === 0 ? 'no messages are waiting' : `of ${countOf(sessions, 'session')}`}
        {waiting === 0 || oldestAt === null ? null : (
          <>
            , oldest <RelativeTime at={oldestAt} />
          </>
        )}
      </p>
      {failed === 0 ? null : (
        <p>
          <a class="chip bad" href={viewHref('session', null, { with: 'failed' })}>
            {countOf(failed, 'failed message')}
          </a>
        </p>
      )}
    </Tile>
  )
}

function BudgetTile({ budget }: { budget: DaemonStatus['budget'] }) {
  return (
    <Tile title="Spent today" wide>
      {budget === null ? (
        <p class="soft">Nothing: the offline observer uses no model. It is free, fast and private.</p>
      ) : (
        <>
          <BudgetMeters budget={budget} />
          {budget.reason === null ? null : (
            <p class="note warn" title={exactTime(budget.until)}>
              No model calls until {timeOfDay(budget.until)}: {safeLine(budget.reason)}
            </p>
          )}
        </>
      )}
    </Tile>
  )
}

export function BudgetMeters({ budget }: { budget: NonNullable<DaemonStatus['budget']> }) {
  const { spentUsd, limitUsd, spentTokens, limitTokens } = budget
  return (
    <>
      <Meter label="Money" value={spentUsd} of={limitUsd} text={`${usdText(spentUsd)} of ${usdText(limitUsd)}`} />
      <Meter
        label="Tokens"
        value={spentTokens}
        of={limitTokens}
        text={`${compactCount(spentTokens)} of ${compactCount(limitTokens)}`}
      />
    </>
  )
}

function ObserverTile({ status: { provider, model, waiting, awake, sessions } }: { status: DaemonStatus }) {
  return (
    <Tile title="Observer" wide>
      <p class="now-observer">
        <b>{safeLine(model ?? provider)}</b>
        {model === null ? null : <span class="soft"> by {safeLine(provider)}</span>}
      </p>
      {waiting === null ? (
        <p class="soft">
          {countOf(awake, 'session')} in memory, {fullCount(sessions)} in total
        </p>
      ) : (
        <p class="note warn" role="status">
          <Icon name="clock" />
          <span class="clamp" title={safeText(waiting.reason, MAX_REASON_CHARS)}>
            {waiting.offline ? 'Working without a model' : 'Not answering'}, since <RelativeTime at={waiting.since} />:{' '}
            {safeLine(waiting.reason)}
          </span>
        </p>
      )}
    </Tile>
  )
}
