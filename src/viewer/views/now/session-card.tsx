/** The card of an active session: its state machine, current work, figures and newest observations. */

import { useMemo, useRef } from 'preact/hooks'
import { clientTitle } from '../../../domain/clients.ts'
import { countFigure, type Figure, FigureList } from '../../components/basics.tsx'
import { Icon, KindIcon } from '../../components/icon.tsx'
import {
  ContextMeter,
  EffectProgress,
  SessionStatusChip,
  sessionTone,
  shortSessionId,
} from '../../components/session-status.tsx'
import { Statechart } from '../../components/statechart.tsx'
import { ClockTime, compactCount, fullCount, RelativeTime, Time, timeOfDay } from '../../format.tsx'
import type { LiveSession, LiveTransition } from '../../live-sessions.ts'
import { useLast, useOperation, useReloadOnStream } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeLine, stateLabel } from '../../safe-text.ts'

/** `large`: the only card. `dense`: one of many. */
export type CardSize = 'large' | 'usual' | 'dense'

const MAX_TRANSITIONS = 3

interface SessionCardProps {
  session: LiveSession
  size: CardSize
}

/** Memoized: a commit renders the whole view, but changes only one card. */
export function SessionCard({ session, size }: SessionCardProps) {
  return useMemo(() => <Card session={session} size={size} />, [session, size])
}

function Card({ session, size }: SessionCardProps) {
  const name = safeLine(session.projectName)
  return (
    <article
      class={`card now-card stack ${size}`}
      data-testid="session-card"
      data-session={session.session}
      aria-label={`${name}, ${stateLabel(session.state)}`}
    >
      <header class="now-card-head">
        <h2 class="ellipsis">
          <a class="plain-link" href={viewHref('session', session.session)} data-row>
            {name}
          </a>
        </h2>
        <SessionStatusChip session={session} />
        <p class="wrap small soft">
          <span title={safeLine(session.cwd)}>{safeLine(clientTitle(session.client))}</span>
          <span class="mono" title={safeLine(session.session)}>
            {safeLine(shortSessionId(session.session))}
          </span>
          <span>
            started <RelativeTime at={session.createdAt} />
          </span>
        </p>
      </header>
      <Statechart
        label={name}
        size="compact"
        tone={sessionTone(session)}
        state={session.state}
        transitions={session.transitions}
        heard={session.heard}
      />
      <div class="now-card-body stack">
        <CurrentWork session={session} />
        <FigureList class="now-figures" figures={sessionFigures(session)} />
        <ContextMeter tokens={session.contextTokens} generation={session.generation} />
        {size === 'dense' ? null : <LastTransitions session={session} />}
        <LatestObservations session={session.session} max={size === 'dense' ? 1 : 3} />
      </div>
    </article>
  )
}

function CurrentWork({ session: { effect, waiting, wakeAt, quarantine } }: { session: LiveSession }) {
  return (
    <>
      {quarantine === null ? null : (
        <p class="note bad">
          <Icon name="warn" /> Quarantined, because its state cannot be restored: {safeLine(quarantine)}
        </p>
      )}
      {waiting === null ? null : (
        <p class="note warn">
          <Icon name="clock" />
          <span>
            Waiting: {safeLine(waiting)}
            {wakeAt === null ? null : (
              <>
                , next attempt at <Time at={wakeAt}>{timeOfDay(wakeAt)}</Time>
              </>
            )}
          </span>
        </p>
      )}
      {effect === null ? null : <EffectProgress effect={effect} />}
    </>
  )
}

function sessionFigures({ pending, failed, prompts, observations, usage }: LiveSession): Figure[] {
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  const failures: Figure = {
    name: 'failed',
    value: fullCount(failed),
    about: 'Messages that could not be observed',
    tone: 'bad',
  }
  return [
    {
      name: 'waiting',
      value: fullCount(pending),
      about: 'Messages that are waiting for the observer or being observed',
    },
    ...(failed === 0 ? [] : [failures]),
    countFigure(prompts, 'prompt', 'Prompts of the user'),
    countFigure(observations, 'observation', 'Observations made from the session'),
    { name: 'tokens', value: compactCount(tokens), about: `${fullCount(tokens)} tokens used by the observer` },
  ]
}

function LastTransitions({ session: { transitions, heard } }: { session: LiveSession }) {
  if (transitions.length === 0) return null
  const first = Math.max(0, transitions.length - MAX_TRANSITIONS)
  const newest = transitions.slice(first).map((transition, i) => ({ transition, index: first + i }))
  return (
    <div>
      <h3>Last transitions</h3>
      <ol class="now-transitions stack small">
        {newest.reverse().map(({ transition, index }) => (
          <TransitionItem
            key={heard - transitions.length + index}
            transition={transition}
            arrived={index >= transitions.length - heard}
          />
        ))}
      </ol>
    </div>
  )
}

function TransitionItem({ transition, arrived }: { transition: LiveTransition; arrived: boolean }) {
  const { at, event, from, to, reason } = transition
  return (
    <li class={arrived ? 'arrived' : ''}>
      <ClockTime at={at} />
      <span>
        <span class="mono">{safeLine(event)}</span>{' '}
        {from === to ? stateLabel(to) : `${stateLabel(from)} → ${stateLabel(to)}`}
      </span>
      <span class="soft clamp">{safeLine(reason)}</span>
    </li>
  )
}

/** New observations within this time cause one request, in ms. */
const OBSERVATIONS_THROTTLE_MS = 500

function LatestObservations({ session, max }: { session: string; max: number }) {
  const { data, reload } = useOperation('story', { session, trace: 0, rows: max })
  useReloadOnStream(
    (message) =>
      message.type === 'commit'
        ? message.session === session && message.observations.length > 0
        : message.change === 'forgotten',
    OBSERVATIONS_THROTTLE_MS,
    reload,
  )
  const observations = useLast(data)?.story.observationRows.slice(-max) ?? null
  // Newer ones than those of the first answer are highlighted.
  const firstNewest = useRef<number | null>(null)
  if (observations === null) return null
  firstNewest.current ??= observations.at(-1)?.id ?? 0
  const newestId = firstNewest.current
  if (observations.length === 0) return null
  return (
    <div>
      <h3>Newest observations</h3>
      <ul class="now-observations stack">
        {observations.reverse().map(({ id, type, title }) => (
          <li key={id} class={id > newestId ? 'arrived' : ''}>
            <a class="plain-link row" href={viewHref('memory', id)}>
              <KindIcon kind={type} />
              <span class="clamp">{safeLine(title ?? '(no title)')}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
