/** The day at a glance: what was learned, what waits, what it cost, who observes. */
import type { Status } from '../../../channel/protocol.ts'
import { useCell } from '../../cell.ts'
import { status } from '../../model/status.ts'
import { Icon } from '../../parts/icon.tsx'
import { Meter } from '../../parts/plain.tsx'
import { safe, safeLine } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'
import { hrefOf } from '../../route.ts'
import { clockTime, count, counted, exactTime, money, short } from '../../times.ts'

/** In characters. */
const LONGEST_REASON = 1_000

export function Strip() {
  const daemon = useCell(status)
  if (daemon === null) return null
  return (
    <>
      <section class="now-strip" aria-label="Today">
        <div class="card now-tile" title="Since midnight">
          <h2>Learned today</h2>
          <p class="now-big figure" data-testid="observations-today">
            {count(daemon.observationsToday)}
          </p>
          <p class="soft">
            {daemon.observationsToday === 1 ? 'observation' : 'observations'}, <span>{count(daemon.observations)}</span>{' '}
            in all
          </p>
        </div>
        <Queue queue={daemon.queue} />
        <Today budget={daemon.budget} />
        <Observer daemon={daemon} />
      </section>
      {daemon.indexing === null ? null : (
        <div class="card now-indexing">
          <Meter
            label={daemon.indexing.what === 'vectors' ? 'Search is making vectors' : 'Search is reading in'}
            value={daemon.indexing.done}
            of={daemon.indexing.total}
            text={`${count(daemon.indexing.done)} of ${count(daemon.indexing.total)}`}
          />
        </div>
      )}
    </>
  )
}

function Queue({ queue: { pending, processing, failed, sessions, oldestAt } }: { queue: Status['queue'] }) {
  return (
    <div class="card now-tile" title="Messages that wait for the observer, or are with it">
      <h2>Queue</h2>
      <p class="now-big figure" data-testid="queue">
        {count(pending + processing)}
      </p>
      <p class="soft">
        {pending + processing === 0 ? (
          'nothing waits'
        ) : (
          <>
            of {counted(sessions, 'session')}
            {oldestAt === null ? null : (
              <>
                , oldest <Ago at={oldestAt} />
              </>
            )}
          </>
        )}
      </p>
      {failed === 0 ? null : (
        <p>
          <a class="chip bad" href={hrefOf('session', null, { with: 'failed' })}>
            {counted(failed, 'failed message')}
          </a>
        </p>
      )}
    </div>
  )
}

function Today({ budget }: { budget: Status['budget'] }) {
  return (
    <div class="card now-tile wide">
      <h2>Spent today</h2>
      {budget === null ? (
        <p class="soft">Nothing: the offline observer asks no model. It is free, instant and private.</p>
      ) : (
        <>
          <Meter
            label="Money"
            value={budget.spentUsd}
            of={budget.limitUsd}
            text={`${money(budget.spentUsd)} of ${money(budget.limitUsd)}`}
          />
          <Meter
            label="Tokens"
            value={budget.spentTokens}
            of={budget.limitTokens}
            text={`${short(budget.spentTokens)} of ${short(budget.limitTokens)}`}
          />
          {budget.reason === null ? null : (
            <p class="now-note warn" title={exactTime(budget.until)}>
              Without a model until {clockTime(budget.until)}: {safeLine(budget.reason)}
            </p>
          )}
        </>
      )}
    </div>
  )
}

function Observer({ daemon }: { daemon: Status }) {
  const { provider, model, waiting } = daemon
  return (
    <div class="card now-tile wide">
      <h2>Observer</h2>
      <p class="now-observer">
        <b>{safeLine(model ?? provider)}</b>
        {model === null ? null : <span class="soft"> by {safeLine(provider)}</span>}
      </p>
      {waiting === null ? (
        <p class="soft">
          {counted(daemon.awake, 'session')} awake of {count(daemon.sessions)}
        </p>
      ) : (
        <p class="now-note warn" role="status">
          <Icon name="clock" />
          <span title={safe(waiting.reason, LONGEST_REASON)}>
            {waiting.offline ? 'Goes on without a model' : 'Not answering'} since <Ago at={waiting.since} />:{' '}
            {safeLine(waiting.reason)}
          </span>
        </p>
      )}
    </div>
  )
}
