/** One session at work: where it is, what it is doing, what it learned. */
import { useMemo } from 'preact/hooks'
import { CHARTS } from '../../charts.ts'
import type { LiveSession, Transition } from '../../model/sessions.ts'
import { Clock } from '../../parts/clock.tsx'
import { ContextSize } from '../../parts/context-size.tsx'
import { Flight } from '../../parts/flight.tsx'
import { Icon, KindMark } from '../../parts/icon.tsx'
import { inWords, safeLine } from '../../parts/safe-text.ts'
import { Statechart } from '../../parts/statechart.tsx'
import { Ago } from '../../parts/time.tsx'
import { hrefOf } from '../../route.ts'
import { clockTime, count, exactTime, short } from '../../times.ts'
import { lineOf, StatusChip, shortId } from '../session/row.tsx'
import { useLatest } from './latest.ts'

/** `large`: alone on the page. `dense`: one of many. */
export type CardSize = 'large' | 'usual' | 'dense'

const SHOWN_TRANSITIONS = 3

interface CardProps {
  session: LiveSession
  size: CardSize
}

/** Each commit draws the view: only the card that it is of has changed. */
export function SessionCard({ session, size }: CardProps) {
  return useMemo(() => <Card session={session} size={size} />, [session, size])
}

function Card({ session, size }: CardProps) {
  const name = safeLine(session.projectName)
  return (
    <article
      class={`card now-card ${size}`}
      data-testid="session-card"
      data-session={session.id}
      aria-label={`${name}, ${inWords(session.state)}`}
    >
      <header class="now-card-head">
        <h2>
          <a class="now-card-name" href={hrefOf('session', session.id)} data-row>
            {name}
          </a>
        </h2>
        <StatusChip line={lineOf(session)} />
        <p class="soft">
          <span title={safeLine(session.cwd)}>{safeLine(session.client)}</span>
          <span class="mono" title={safeLine(session.id)}>
            {safeLine(shortId(session.id))}
          </span>
          <span>
            began <Ago at={session.createdAt} />
          </span>
        </p>
      </header>
      <Statechart
        chart={CHARTS.session}
        of={name}
        size="compact"
        tone={toneOf(session)}
        state={session.state}
        transitions={session.transitions}
        heard={session.heard}
      />
      <div class="now-card-body">
        <Doing session={session} />
        <Figures session={session} />
        <ContextSize tokens={session.contextTokens} generation={session.generation} />
        {size === 'dense' ? null : <Transitions of={session} />}
        <Latest session={session.id} most={size === 'dense' ? 1 : 3} />
      </div>
    </article>
  )
}

function toneOf({ quarantine, waiting, status }: LiveSession): 'live' | 'warn' | 'bad' | 'rest' {
  if (quarantine !== null) return 'bad'
  if (status !== 'active') return 'rest'
  return waiting === null ? 'live' : 'warn'
}

function Doing({ session: { effect, waiting, wakeAt, quarantine } }: { session: LiveSession }) {
  return (
    <>
      {quarantine === null ? null : (
        <p class="now-note bad">
          <Icon name="warn" /> Set aside as it cannot be restored: {safeLine(quarantine)}
        </p>
      )}
      {waiting === null ? null : (
        <p class="now-note warn">
          <Icon name="clock" />
          <span>
            Waiting: {safeLine(waiting)}
            {wakeAt === null ? null : (
              <>
                {', again at '}
                <time dateTime={new Date(wakeAt).toISOString()} title={exactTime(wakeAt)}>
                  {clockTime(wakeAt)}
                </time>
              </>
            )}
          </span>
        </p>
      )}
      {effect === null ? null : <Flight effect={effect} />}
    </>
  )
}

function Figures({ session }: { session: LiveSession }) {
  const { pending, failed, prompts, observations, usage } = session
  const tokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  return (
    <dl class="now-figures">
      <Figure name="waiting" value={count(pending)} about="Messages that wait for the observer, or are with it" />
      {failed === 0 ? null : (
        <Figure name="failed" value={count(failed)} about="Messages that were set aside" tone="bad" />
      )}
      <Figure name={prompts === 1 ? 'prompt' : 'prompts'} value={count(prompts)} about="What its user wrote" />
      <Figure
        name={observations === 1 ? 'observation' : 'observations'}
        value={count(observations)}
        about="What was learned in it"
      />
      <Figure name="tokens" value={short(tokens)} about={`${count(tokens)} tokens that the observer used for it`} />
    </dl>
  )
}

function Figure({ name, value, about, tone = '' }: { name: string; value: string; about: string; tone?: string }) {
  return (
    <div title={about} class={tone}>
      <dd class="figure">{value}</dd>
      <dt>{name}</dt>
    </div>
  )
}

function Transitions({ of: { transitions, heard } }: { of: LiveSession }) {
  if (transitions.length === 0) return null
  const last = transitions.slice(-SHOWN_TRANSITIONS)
  const newSince = transitions.length - heard
  return (
    <div>
      <h3>Last transitions</h3>
      <ol class="now-transitions">
        {last
          .map((transition, i) => ({ transition, at: transitions.length - last.length + i }))
          .reverse()
          .map(({ transition, at }) => (
            <TransitionLine
              key={`${heard - transitions.length + at}`}
              transition={transition}
              arrived={at >= newSince}
            />
          ))}
      </ol>
    </div>
  )
}

function TransitionLine({ transition, arrived }: { transition: Transition; arrived: boolean }) {
  const { at, event, from, to, reason } = transition
  return (
    <li class={arrived ? 'arrived' : ''}>
      <Clock at={at} />
      <span class="now-transition-way">
        <span class="mono">{safeLine(event)}</span> {from === to ? inWords(to) : `${inWords(from)} → ${inWords(to)}`}
      </span>
      <span class="soft">{safeLine(reason)}</span>
    </li>
  )
}

function Latest({ session, most }: { session: string; most: number }) {
  const latest = useLatest(session, most)
  if (latest.length === 0) return null
  return (
    <div>
      <h3>Learned last</h3>
      <ul class="now-learned">
        {latest.map(({ id, type, title, arrived }) => (
          <li key={id} class={arrived ? 'arrived' : ''}>
            <a href={hrefOf('memory', id)}>
              <KindMark kind={type} />
              <span>{safeLine(title ?? 'Without a title')}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  )
}
