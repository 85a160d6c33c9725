/** One turn: what was asked, what the actor did about it, what was learned. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Clock } from '../../parts/clock.tsx'
import { KindMark } from '../../parts/icon.tsx'
import { inWords, LONGEST_TEXT, safe, safeLine } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'
import { clockTime, count, counted } from '../../times.ts'
import { BatchBox } from './batch.tsx'
import { type Entry, isFailure, type Moves, type Told, type TraceLine, type Turn } from './timeline.ts'

interface TurnProps {
  turn: Turn
  open: boolean
  /** A link led here. */
  isTarget: boolean
  isNew(kind: Told, id: number): boolean
}

/** Shown whole up to here, in characters and lines. */
const SHORT_PROMPT = 480
const SHORT_PROMPT_LINES = 6
/** What may be seen of the beginning, in characters. */
const LONGEST_PROMPT = 2_000

export function TurnSection({ turn, open, isTarget, isNew }: TurnProps) {
  const { number, prompt, entries } = turn
  const [isOpen, setOpen] = useState(open)
  const place = useRef<HTMLLIElement>(null)
  // What somebody reads stays open when later turns come.
  useEffect(() => {
    if (open) setOpen(true)
  }, [open])
  useEffect(() => {
    if (isTarget) place.current?.scrollIntoView({ block: 'start' })
  }, [isTarget])
  return (
    <li ref={place} class={isTarget ? 'story-turn target' : 'story-turn'} data-turn={number}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="story-turn-head" data-row>
          <span class="story-turn-name">{number === 0 ? 'Before the first prompt' : `Turn ${number}`}</span>
          <span class="soft story-turn-told">{toldOf(entries)}</span>
          {prompt === null ? null : (
            <span class="soft">
              <Ago at={prompt.at} />
            </span>
          )}
        </summary>
        {isOpen ? (
          <div class="story-turn-body">
            {prompt === null ? null : (
              <div class="story-prompt">
                <KindMark kind="prompt" />
                {prompt.private ? <p class="soft">private: not kept</p> : <PromptText text={prompt.text} />}
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

/** A long one shows its beginning. */
function PromptText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const isLong = text.length > SHORT_PROMPT || text.split('\n', SHORT_PROMPT_LINES + 1).length > SHORT_PROMPT_LINES
  return (
    <div>
      <p class={isLong && !whole ? 'cut' : ''}>{safe(text, whole ? LONGEST_TEXT : LONGEST_PROMPT)}</p>
      {isLong ? (
        <button type="button" class="plain" aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show all'}
        </button>
      ) : null}
    </div>
  )
}

function EntryItem({ entry, isNew }: { entry: Entry; isNew(kind: Told, id: number): boolean }) {
  if (entry.kind === 'batch') {
    return (
      <li class="story-entry story-batch-entry">
        <Clock at={entry.at} />
        <BatchBox batch={entry} isNew={isNew} />
      </li>
    )
  }
  return entry.moves.length > 1 ? <Run entry={entry} isNew={isNew} /> : <Move line={entry.moves[0]} isNew={isNew} />
}

/** Several alike: one line that opens. */
function Run({ entry: { moves }, isNew }: { entry: Moves; isNew(kind: Told, id: number): boolean }) {
  const [first, last] = [moves[0], moves.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <li class={isNew('trace', last.id) ? 'story-entry arrived' : 'story-entry'}>
      <Clock at={first.at} />
      <details class="story-run">
        <summary class="story-run-head">
          <Way line={first}>
            <b class="figure">{count(moves.length)} ×</b>{' '}
          </Way>
          <span class="soft"> until {clockTime(last.at)}</span>
        </summary>
        <ol>
          {moves.map((line) => (
            <li key={line.id}>
              <Clock at={line.at} /> <span class="soft">{safe(line.reason, 400)}</span>
            </li>
          ))}
        </ol>
      </details>
    </li>
  )
}

function Move({ line, isNew }: { line: TraceLine | undefined; isNew(kind: Told, id: number): boolean }) {
  if (line === undefined) return null
  const classes = ['story-entry', isFailure(line) ? 'bad' : '', isNew('trace', line.id) ? 'arrived' : '']
  return (
    <li class={classes.join(' ')}>
      <Clock at={line.at} />
      <div class="story-move">
        <Way line={line} />
        <span class="story-reason">{safe(line.reason, 400)}</span>
      </div>
    </li>
  )
}

function Way({ line: { event, from, to }, children }: { line: TraceLine; children?: ComponentChildren }) {
  return (
    <span class="story-way">
      {children}
      <span class="mono">{safeLine(event)}</span>{' '}
      <span class={from === to ? 'soft' : 'story-arrow'}>
        {from === to ? inWords(to) : `${inWords(from)} → ${inWords(to)}`}
      </span>
    </span>
  )
}

function toldOf(entries: readonly Entry[]): string {
  const batches = entries.filter((entry) => entry.kind === 'batch')
  const learned = batches.reduce((sum, { observations }) => sum + observations.length, 0)
  const moves = entries.reduce((sum, entry) => sum + (entry.kind === 'moves' ? entry.moves.length : 0), 0)
  return [
    ...(learned > 0 ? [counted(learned, 'observation')] : []),
    ...(batches.some(({ summaries }) => summaries.length > 0) ? ['summarised'] : []),
    ...(moves > 0 ? [counted(moves, 'transition')] : []),
  ].join(', ')
}
