/** One turn of a session: the prompt, what came of it, the observations; how it was observed is behind "Details". */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Details } from '../../components/basics.tsx'
import { MemoryLink } from '../../components/memory-parts.tsx'
import { ClockTime, countOf, RelativeTime } from '../../format.tsx'
import { viewHref } from '../../route.ts'
import { DISPLAY_TEXT_CHARS, safeLine, safeText, stateLabel, titleText } from '../../safe-text.ts'
import { CallTable } from '../memory/provenance.tsx'
import { outcomeParts, type StoryTurn, type TraceLine } from './story-turns.ts'

interface TurnProps {
  turn: StoryTurn
  open: boolean
  /** The turn of the address: the page scrolls to it. */
  isTarget: boolean
}

/** Transitions of a turn that are listed. */
const MAX_TRANSITIONS = 200
const MAX_REASON_CHARS = 400

export function TurnCard({ turn, open, isTarget }: TurnProps) {
  const { number, prompt, observations, summaries } = turn
  const [isOpen, setOpen] = useState(open)
  const card = useRef<HTMLLIElement>(null)
  // A turn that is no longer among the last ones stays open: the user may be reading it.
  useEffect(() => {
    if (open) setOpen(true)
  }, [open])
  useEffect(() => {
    if (isTarget) card.current?.scrollIntoView({ block: 'start' })
  }, [isTarget])
  return (
    <li ref={card} class="card turn" data-turn={number} aria-current={isTarget ? 'true' : undefined}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary data-row>
          <b>{number === 0 ? 'Before the first prompt' : `Turn ${number}`}</b>{' '}
          <span class="soft">
            {isOpen || prompt === null ? '' : `${titleText(prompt.private ? 'private' : prompt.text, 100)} `}
            {prompt === null ? null : <RelativeTime at={prompt.at} />}
          </span>
        </summary>
        {isOpen ? (
          <div class="stack turn-body">
            {prompt === null ? null : prompt.private ? (
              <p class="soft">This prompt is private: it was not stored and its turn was not observed.</p>
            ) : (
              <LongText text={prompt.text} />
            )}
            {summaries.map((summary) => (
              <OutcomeList key={summary.id} summary={summary} />
            ))}
            {observations.length === 0 ? null : (
              <ul class="rows small">
                {observations.map(({ id, type, title }) => (
                  <MemoryLink key={id} href={viewHref('memory', id)} kind={type} title={title} />
                ))}
              </ul>
            )}
            <TurnDetails turn={turn} label="Details" />
          </div>
        ) : null}
      </details>
    </li>
  )
}

export function OutcomeList({ summary }: { summary: Parameters<typeof outcomeParts>[0] }) {
  return (
    <dl class="stack small outcome">
      {outcomeParts(summary).map(({ name, text }) => (
        <div key={name}>
          <dt class="soft">{name}</dt>
          <dd class="prose" dir="auto">
            {safeText(text)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Texts up to this length are shown whole. */
const SHORT_CHARS = 480
const COLLAPSED_CHARS = 2_000

function LongText({ text }: { text: string }) {
  const [expanded, setExpanded] = useState(false)
  const isLong = text.length > SHORT_CHARS
  return (
    <div class="prompt">
      <p class={isLong && !expanded ? 'prose clamp' : 'prose'} dir="auto">
        {safeText(text, expanded ? DISPLAY_TEXT_CHARS : COLLAPSED_CHARS)}
      </p>
      {isLong ? (
        <button type="button" class="plain small" aria-expanded={expanded} onClick={() => setExpanded(!expanded)}>
          {expanded ? 'Show less' : 'Show all'}
        </button>
      ) : null}
    </div>
  )
}

export function TurnDetails({ turn: { trace, calls }, label }: { turn: StoryTurn; label: string }) {
  if (trace.length + calls.length === 0) return null
  const counts = [
    ...(trace.length === 0 ? [] : [countOf(trace.length, 'transition')]),
    ...(calls.length === 0 ? [] : [countOf(calls.length, 'call')]),
  ]
  return (
    <Details summary={`${label}: ${counts.join(', ')}`}>
      {calls.length === 0 ? null : <CallTable calls={calls} />}
      <ol class="small" data-testid="transitions">
        {trace.slice(-MAX_TRANSITIONS).map((line) => (
          <Transition key={line.id} line={line} />
        ))}
      </ol>
    </Details>
  )
}

function Transition({ line: { at, event, from, to, reason } }: { line: TraceLine }) {
  const failed = event === 'FAILED' || to.endsWith('.waiting')
  return (
    <li class={failed ? 'row wrap bad' : 'row wrap'}>
      <ClockTime at={at} />
      <b class="mono">{safeLine(event)}</b>
      <span class={from === to ? 'soft' : 'accent'}>
        {from === to ? stateLabel(to) : `${stateLabel(from)} → ${stateLabel(to)}`}
      </span>
      <span class="soft">{safeText(reason, MAX_REASON_CHARS)}</span>
    </li>
  )
}
