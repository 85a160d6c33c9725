/** One turn of the story: its prompt, transitions, model calls and memories. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { KindIcon } from '../../components/icon.tsx'
import { ClockTime, countOf, durationText, fullCount, RelativeTime, timeOfDay, usdText } from '../../format.tsx'
import { viewHref } from '../../route.ts'
import { DISPLAY_TEXT_CHARS, safeLine, safeText, stateLabel } from '../../safe-text.ts'
import {
  type CallLine,
  type EffectEntry,
  isFailedTransition,
  type StoryEntry,
  type StoryItemKind,
  type StoryTurn,
  summaryParts,
  type TraceLine,
  type TransitionRun,
} from './story-turns.ts'

interface IsNewProps {
  /** Whether a row arrived after the page was opened. */
  isNew(kind: StoryItemKind, id: number): boolean
}

interface TurnProps extends IsNewProps {
  turn: StoryTurn
  open: boolean
  /** The turn of the address: the page scrolls to it. */
  isTarget: boolean
}

const MAX_REASON_CHARS = 400

export function TurnSection({ turn, open, isTarget, isNew }: TurnProps) {
  const { number, prompt, entries } = turn
  const [isOpen, setOpen] = useState(open)
  const section = useRef<HTMLLIElement>(null)
  // A turn that is no longer among the last ones stays open: the user may be reading it.
  useEffect(() => {
    if (open) setOpen(true)
  }, [open])
  useEffect(() => {
    if (isTarget) section.current?.scrollIntoView({ block: 'start' })
  }, [isTarget])
  return (
    <li ref={section} class={isTarget ? 'story-turn box target' : 'story-turn box'} data-turn={number}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="story-turn-head row small" data-row>
          <span class="story-turn-name">{number === 0 ? 'Before the first prompt' : `Turn ${number}`}</span>
          <span class="soft grow">{turnSummary(entries)}</span>
          {prompt === null ? null : (
            <span class="soft">
              <RelativeTime at={prompt.at} />
            </span>
          )}
        </summary>
        {isOpen ? (
          <div class="story-turn-body">
            {prompt === null ? null : (
              <div class="story-prompt">
                <KindIcon kind="prompt" />
                {prompt.private ? <p class="soft">private: not stored</p> : <PromptText text={prompt.text} />}
              </div>
            )}
            <ol class="story-entries">
              {entries.map((entry) => (
                <EntryItem key={entry.key} entry={entry} isNew={isNew} />
              ))}
            </ol>
          </div>
        ) : null}
      </details>
    </li>
  )
}

function turnSummary(entries: readonly StoryEntry[]): string {
  const effects = entries.filter((entry) => entry.kind === 'effect')
  const observations = effects.reduce((sum, effect) => sum + effect.observations.length, 0)
  const transitions = entries.reduce(
    (sum, entry) => sum + (entry.kind === 'transitions' ? entry.transitions.length : 0),
    0,
  )
  return [
    ...(observations > 0 ? [countOf(observations, 'observation')] : []),
    ...(effects.some(({ summaries }) => summaries.length > 0) ? ['summarized'] : []),
    ...(transitions > 0 ? [countOf(transitions, 'transition')] : []),
  ].join(', ')
}

/** Prompts up to this length are shown whole. */
const SHORT_PROMPT_CHARS = 480
const SHORT_PROMPT_LINES = 6
const COLLAPSED_PROMPT_CHARS = 2_000

function PromptText({ text }: { text: string }) {
  const [expanded, setExpanded] = useState(false)
  const lines = text.split('\n', SHORT_PROMPT_LINES + 1).length
  const isLong = text.length > SHORT_PROMPT_CHARS || lines > SHORT_PROMPT_LINES
  return (
    <div>
      <p class={isLong && !expanded ? 'clamp' : ''}>
        {safeText(text, expanded ? DISPLAY_TEXT_CHARS : COLLAPSED_PROMPT_CHARS)}
      </p>
      {isLong ? (
        <button type="button" class="plain" aria-expanded={expanded} onClick={() => setExpanded(!expanded)}>
          {expanded ? 'Show less' : 'Show all'}
        </button>
      ) : null}
    </div>
  )
}

function EntryItem({ entry, isNew }: IsNewProps & { entry: StoryEntry }) {
  if (entry.kind === 'effect') {
    return (
      <li class="story-entry story-batch-entry">
        <ClockTime at={entry.at} />
        <EffectBox effect={entry} isNew={isNew} />
      </li>
    )
  }
  const [first] = entry.transitions
  if (first === undefined) return null
  return entry.transitions.length > 1 ? (
    <RunItem run={entry} isNew={isNew} />
  ) : (
    <TransitionItem line={first} isNew={isNew} />
  )
}

/** Several equal transitions in one line that can be expanded. */
function RunItem({ run: { transitions }, isNew }: IsNewProps & { run: TransitionRun }) {
  const [first, last] = [transitions[0], transitions.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <li class={isNew('trace', last.id) ? 'story-entry arrived' : 'story-entry'}>
      <ClockTime at={first.at} />
      <details class="story-run">
        <summary>
          <TransitionText line={first}>
            <b class="figure">{fullCount(transitions.length)} ×</b>{' '}
          </TransitionText>
          <span class="soft"> until {timeOfDay(last.at)}</span>
        </summary>
        <ol>
          {transitions.map((line) => (
            <li key={line.id}>
              <ClockTime at={line.at} /> <span class="soft">{safeText(line.reason, MAX_REASON_CHARS)}</span>
            </li>
          ))}
        </ol>
      </details>
    </li>
  )
}

function TransitionItem({ line, isNew }: IsNewProps & { line: TraceLine }) {
  const classes = ['story-entry', isFailedTransition(line) ? 'bad' : '', isNew('trace', line.id) ? 'arrived' : '']
  return (
    <li class={classes.join(' ')}>
      <ClockTime at={line.at} />
      <div class="story-transition">
        <TransitionText line={line} />
        <span class="soft">{safeText(line.reason, MAX_REASON_CHARS)}</span>
      </div>
    </li>
  )
}

function TransitionText({ line: { event, from, to }, children }: { line: TraceLine; children?: ComponentChildren }) {
  return (
    <span>
      {children}
      <b class="mono">{safeLine(event)}</b>{' '}
      <span class={from === to ? 'soft' : 'accent'}>
        {from === to ? stateLabel(to) : `${stateLabel(from)} → ${stateLabel(to)}`}
      </span>
    </span>
  )
}

const EFFECT_NAMES = { observe: 'Batch', summarize: 'Summary', compact: 'Compaction', 'by-hand': 'By hand' } as const
const MAX_ERROR_CHARS = 600

function EffectBox({ effect, isNew }: IsNewProps & { effect: EffectEntry }) {
  const { what, calls, observations, summaries } = effect
  return (
    <div class="story-batch">
      <p class="row wrap">
        <b>{summaries.some(({ whole }) => whole === true) ? 'Summary of the session' : EFFECT_NAMES[what]}</b>
        <span class="soft">{effectSummary(effect)}</span>
      </p>
      {calls.length === 0 ? null : (
        <ul class="story-calls">
          {calls.map((call) => (
            <CallItem key={call.id} call={call} arrived={isNew('call', call.id)} />
          ))}
        </ul>
      )}
      {observations.length === 0 ? null : (
        <ul>
          {observations.map(({ id, type, title, subtitle }) => (
            <li key={id} class={isNew('observation', id) ? 'arrived' : ''}>
              <a class="plain-link story-observation" href={viewHref('memory', id)} data-row>
                <KindIcon kind={type} />
                <span>
                  {safeLine(title ?? '(no title)')}
                  {subtitle === null ? null : <span class="soft small">{safeLine(subtitle)}</span>}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {summaries.map((summary) => (
        <dl
          key={summary.id}
          class={isNew('summary', summary.id) ? 'story-summary stack arrived' : 'story-summary stack'}
        >
          {summaryParts(summary).map(({ name, text }) => (
            <div key={name}>
              <dt class="small soft">{name}</dt>
              <dd>{safeText(text)}</dd>
            </div>
          ))}
        </dl>
      ))}
    </div>
  )
}

function effectSummary({ what, calls, observations, summaries }: EffectEntry): string {
  const succeeded = calls.some(({ error }) => error === null)
  const isEmpty = observations.length + summaries.length === 0
  return [
    ...(observations.length > 0 ? [countOf(observations.length, 'observation')] : []),
    ...(calls.length > 0 ? [countOf(calls.length, 'call')] : what === 'by-hand' ? [] : ['without a model']),
    ...(calls.length > 0 && !succeeded ? ['no usable answer'] : []),
    ...(succeeded && isEmpty && what === 'observe' ? ['nothing worth remembering'] : []),
  ].join(', ')
}

function CallItem({ call, arrived }: { call: CallLine; arrived: boolean }) {
  const { provider, model, durationMs, usage, cost, error } = call
  return (
    <li class={arrived ? 'wrap spread arrived' : 'wrap spread'}>
      <span class="mono" title={`by ${safeLine(provider)}`}>
        {safeLine(model)}
      </span>
      <span class="figure soft row wrap">
        <span title="Duration">{durationText(durationMs)}</span>
        <span
          title={`${fullCount(usage.cacheRead)} read from the cache, ${fullCount(usage.cacheWrite)} written to the cache`}
        >
          {fullCount(usage.input + usage.cacheRead + usage.cacheWrite)} in, {fullCount(usage.output)} out tokens
        </span>
        <span title="US dollars">{cost === null ? 'price unknown' : usdText(cost)}</span>
      </span>
      {error === null ? null : <p class="story-error bad mono smaller clamp">{safeText(error, MAX_ERROR_CHARS)}</p>}
    </li>
  )
}
