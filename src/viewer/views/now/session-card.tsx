/** The card of an active session: its state machine, current work, figures and newest observations. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ObservationType } from '../../../domain/observation.ts'
import { type Figure, FigureList } from '../../components/basics.tsx'
import { Icon, KindIcon } from '../../components/icon.tsx'
import {
  ContextMeter,
  EffectProgress,
  SessionStatusChip,
  sessionTone,
  shortSessionId,
} from '../../components/session-status.tsx'
import { Statechart } from '../../components/statechart.tsx'
import { callDaemon, onStreamMessages } from '../../connection.ts'
import { ClockTime, compactCount, fullCount, RelativeTime, Time, timeOfDay } from '../../format.tsx'
import type { LiveSession, LiveTransition } from '../../live-sessions.ts'
import { useQuery } from '../../queries.ts'
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
      class={`card now-card ${size}`}
      data-testid="session-card"
      data-session={session.id}
      aria-label={`${name}, ${stateLabel(session.state)}`}
    >
      <header class="now-card-head">
        <h2 class="ellipsis">
          <a class="plain-link" href={viewHref('session', session.id)} data-row>
            {name}
          </a>
        </h2>
        <SessionStatusChip session={session} />
        <p class="soft">
          <span title={safeLine(session.cwd)}>{safeLine(session.client)}</span>
          <span class="mono" title={safeLine(session.id)}>
            {safeLine(shortSessionId(session.id))}
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
      <div class="now-card-body">
        <CurrentWork session={session} />
        <FigureList class="now-figures" figures={sessionFigures(session)} />
        <ContextMeter tokens={session.contextTokens} generation={session.generation} />
        {size === 'dense' ? null : <LastTransitions session={session} />}
        <LatestObservations session={session.id} max={size === 'dense' ? 1 : 3} />
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
  return [
    {
      name: 'waiting',
      value: fullCount(pending),
      about: 'Messages that are waiting for the observer or being observed',
    },
    ...(failed === 0
      ? []
      : [
          {
            name: 'failed',
            value: fullCount(failed),
            about: 'Messages that could not be observed',
            tone: 'bad' as const,
          },
        ]),
    { name: prompts === 1 ? 'prompt' : 'prompts', value: fullCount(prompts), about: 'Prompts of the user' },
    {
      name: observations === 1 ? 'observation' : 'observations',
      value: fullCount(observations),
      about: 'Observations made from the session',
    },
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
      <ol class="now-transitions">
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

function LatestObservations({ session, max }: { session: string; max: number }) {
  const observations = useLatestObservations(session, max)
  if (observations.length === 0) return null
  return (
    <div>
      <h3>Newest observations</h3>
      <ul class="now-observations">
        {observations.map(({ id, type, title, arrived }) => (
          <li key={id} class={arrived ? 'arrived' : ''}>
            <a class="plain-link" href={viewHref('memory', id)}>
              <KindIcon kind={type} />
              <span class="clamp">{safeLine(title ?? '(no title)')}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface LatestObservation {
  id: number
  type: ObservationType
  title: string | null
  arrived: boolean
}

/**
 * The newest observations of a session, newest first. New ones are taken from the stream: a request per commit and card
 * would be too slow with many sessions.
 */
function useLatestObservations(session: string, max: number): readonly LatestObservation[] {
  const { data } = useQuery(`latest ${session} ${max}`, async () => {
    const { story } = await callDaemon('story', { session, trace: 0, rows: max })
    return story.observationRows.map(({ id, type, title }) => ({ id, type, title, arrived: false }))
  })
  const [streamed, setStreamed] = useState<readonly LatestObservation[]>([])
  const [forgotten, setForgotten] = useState<ReadonlySet<number>>(new Set())
  useEffect(
    () =>
      onStreamMessages((messages) => {
        const fresh: LatestObservation[] = []
        const gone: number[] = []
        for (const message of messages) {
          if (message.type === 'change' && message.change === 'forgotten') gone.push(...message.ids)
          if (message.type !== 'commit' || message.session !== session) continue
          for (const { id, type, title } of message.observations) fresh.push({ id, type, title, arrived: true })
        }
        if (fresh.length > 0) setStreamed((before) => [...before, ...fresh].slice(-max))
        if (gone.length > 0) setForgotten((before) => new Set([...before, ...gone]))
      }),
    [session, max],
  )
  const byId = new Map([...(data ?? []), ...streamed].map((one) => [one.id, one]))
  return [...byId.values()]
    .filter(({ id }) => !forgotten.has(id))
    .sort((a, b) => b.id - a.id)
    .slice(0, max)
}
