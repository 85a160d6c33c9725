/** One session from its first prompt to its last summary: figures, state machine, failed messages and turns. */

import { useRef, useState } from 'preact/hooks'
import { clientTitle } from '../../../domain/clients.ts'
import { receivedNote } from '../../author.tsx'
import { countFigure, ErrorNotice, type Figure, FigureList, LoadingRows } from '../../components/basics.tsx'
import { ActionDialog, runWithToast, useBusy } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { ContextMeter, EffectProgress, SessionStatusChip, sessionTone } from '../../components/session-status.tsx'
import { Statechart } from '../../components/statechart.tsx'
import { callDaemon } from '../../connection.ts'
import { compactCount, countOf, durationText, fullCount, RelativeTime, usdText } from '../../format.tsx'
import { liveSessions } from '../../live-sessions.ts'
import { useObservable } from '../../observable.ts'
import { useLast, useOperation, useReloadOnStream } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import { useRowKeys } from '../../shortcuts.ts'
import {
  countEntries,
  filterTurn,
  STORY_FILTERS,
  type StoryData,
  type StoryFilter,
  type StoryItemKind,
  storyTurns,
} from './story-turns.ts'
import { TurnSection } from './turn.tsx'
import './session.css'

/** Transitions that are loaded at first: a long working day. */
const FIRST_TRACE = 600
/** All that the daemon keeps. */
const FULL_TRACE = 10_000
const MAX_ROWS = 1_000
/** Changes within this time cause one request, in ms. */
const THROTTLE_MS = 350
/** The last turns are expanded at first. */
const OPEN_TURNS = 3
const MAX_ERROR_CHARS = 500
const MAX_FAILED = 20

interface StoryProps {
  story: StoryData
  reload(): void
}

export function StoryPage({ session, turn }: { session: string; turn: number }) {
  const [trace, setTrace] = useState(FIRST_TRACE)
  const { data, error, reload } = useOperation('story', { session, trace, rows: MAX_ROWS })
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  // `session` may be the beginning of an id.
  useReloadOnStream((message) => message.type === 'change' || message.session.startsWith(session), THROTTLE_MS, reload)
  const story = useLast(data)?.story ?? null
  return (
    <div class="story stack" ref={page}>
      <p class="story-back">
        <a class="plain-link soft" href={viewHref('session')}>
          <Icon name="back" /> Sessions
        </a>
      </p>
      <ErrorNotice text={error} retry={reload} />
      {story === null && error === null ? <LoadingRows rows={5} /> : null}
      {story === null ? null : (
        <>
          <StoryHead story={story} reload={reload} />
          {story.received === null ? (
            <>
              <SessionMachine story={story} />
              <FailedMessages story={story} reload={reload} />
            </>
          ) : (
            <p class="note" data-testid="received">
              This session was {receivedNote(story.received)}. Its events, prompts and state are there; here are the
              memories that came from it.
            </p>
          )}
          <TurnList
            story={story}
            turn={turn}
            isComplete={trace === FULL_TRACE}
            onShowAll={() => setTrace(FULL_TRACE)}
          />
        </>
      )}
    </div>
  )
}

function StoryHead({ story, reload }: StoryProps) {
  const { row } = story
  return (
    <header>
      <div class="story-name row wrap">
        <h1 class="clamp">{safeLine(row.project.name)}</h1>
        {story.received === null ? (
          <>
            <SessionStatusChip session={row} />
            <CloseOrReopen story={story} reload={reload} />
          </>
        ) : (
          <span class="chip">received</span>
        )}
      </div>
      <p class="soft small story-meta wrap">
        <span class="mono">{safeLine(row.session)}</span>
        <span>
          {safeLine(clientTitle(row.client))} in <span class="mono">{safeLine(row.cwd)}</span>
        </span>
        <span>
          started <RelativeTime at={row.createdAt} />, last event <RelativeTime at={row.heardAt} />
        </span>
      </p>
      <FigureList class="story-totals" figures={storyFigures(story)} />
    </header>
  )
}

function storyFigures({ row, observations, summaries, calls, outcomes }: StoryData): Figure[] {
  const { input, output, cacheRead, cacheWrite } = row.usage
  const prices = calls.flatMap(({ cost }) => cost ?? [])
  const cost = prices.reduce((sum, price) => sum + price, 0)
  const events = outcomes.reduce((sum, { count }) => sum + count, 0)
  const outcomeLines = outcomes.map(
    ({ kind, outcome, count }) => `${fullCount(count)} ${kind.replaceAll('_', ' ')}: ${outcome ?? 'waiting'}`,
  )
  const callMs = calls.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return [
    countFigure(row.prompts, 'prompt', 'Prompts of the user'),
    countFigure(events, 'event', outcomeLines.join('\n')),
    countFigure(observations, 'observation', 'Observations made from the session'),
    countFigure(summaries, 'summary', 'One for each turn with enough content', 'summaries'),
    countFigure(calls.length, 'call', `Calls to a model, ${durationText(callMs)} in total`),
    {
      name: 'tokens',
      value: compactCount(input + output + cacheRead + cacheWrite),
      about: `${fullCount(input)} in, ${fullCount(output)} out, ${fullCount(cacheRead)} read from the cache, ${fullCount(cacheWrite)} written to the cache`,
    },
    {
      name: 'cost',
      value: prices.length === 0 && calls.length > 0 ? 'unknown' : usdText(cost),
      about: `US dollars for ${countOf(prices.length, 'call')} with a known price`,
    },
  ]
}

function CloseOrReopen({ story: { row }, reload }: StoryProps) {
  const [confirming, setConfirming] = useState(false)
  const close = () =>
    runWithToast(async () => {
      const { view } = await callDaemon('close_session', { session: row.session })
      reload()
      return view.row.status === 'active'
        ? 'The session will be closed when its waiting messages are observed.'
        : 'The session is closed.'
    })
  const reopen = useBusy(() =>
    runWithToast(async () => {
      await callDaemon('reopen_session', { session: row.session })
      reload()
      return 'The session is open again.'
    }),
  )
  if (row.quarantine !== null) return null
  if (row.status !== 'active') {
    return (
      <button type="button" disabled={reopen.busy} onClick={reopen.start}>
        Reopen
      </button>
    )
  }
  return (
    <>
      <button type="button" onClick={() => setConfirming(true)}>
        Close session
      </button>
      {confirming ? (
        <ActionDialog
          title="Close this session?"
          cancel="Keep it open"
          confirm="Close session"
          onConfirm={close}
          onClose={() => setConfirming(false)}
        >
          <p>
            Waiting messages are observed and summarized, then the session is closed. Nothing is deleted. Its next
            prompt, or Reopen, continues it.
          </p>
        </ActionDialog>
      ) : null}
    </>
  )
}

function SessionMachine({ story: { row } }: { story: StoryData }) {
  const live = useObservable(liveSessions).get(row.session)
  const session = live ?? row
  const { waiting, quarantine, contextTokens, generation, effect } = session
  return (
    <section class="card story-machine" aria-label="State machine">
      <Statechart
        label={safeLine(row.project.name)}
        size="large"
        tone={sessionTone(session)}
        state={session.state}
        transitions={live?.transitions ?? []}
        heard={live?.heard ?? 0}
      >
        {quarantine === null ? null : (
          <p class="note bad">Quarantined, because its state cannot be restored: {safeText(quarantine, 600)}</p>
        )}
        {waiting === null ? null : <p class="note warn">Waiting: {safeText(waiting, 600)}</p>}
        {effect === null ? null : <EffectProgress effect={effect} />}
        <ContextMeter tokens={contextTokens} generation={generation} />
      </Statechart>
    </section>
  )
}

/** Messages that could not be observed, with buttons to retry or drop them. */
function FailedMessages({ story: { row, messages }, reload }: StoryProps) {
  const [confirming, setConfirming] = useState(false)
  const { session } = row
  const failed = messages.filter(({ status }) => status === 'failed')
  const isQuarantined = row.quarantine !== null
  const retry = useBusy(() =>
    runWithToast(async () => {
      const { affected } = await callDaemon('queue_retry', { session })
      reload()
      return isQuarantined ? 'The session is active again.' : `Retrying ${countOf(affected, 'message')}.`
    }),
  )
  const drop = () =>
    runWithToast(async () => {
      const { affected } = await callDaemon('queue_clear', { session, pending: false })
      reload()
      return `Dropped ${countOf(affected, 'message')}.`
    })
  if (failed.length === 0 && !isQuarantined) return null
  return (
    <section class="card story-failed" aria-labelledby="story-failed">
      <div class="row wrap">
        <h2 id="story-failed" class="grow">
          {isQuarantined ? 'This session cannot be restored' : countOf(failed.length, 'failed message')}
        </h2>
        <button type="button" class="primary" disabled={retry.busy} onClick={retry.start}>
          {isQuarantined ? 'Restart it' : 'Retry'}
        </button>
        {failed.length === 0 ? null : (
          <button type="button" class="danger" onClick={() => setConfirming(true)}>
            Drop
          </button>
        )}
      </div>
      {isQuarantined ? (
        <p class="soft">Its stored state cannot be read. A restart continues with its stored messages and memories.</p>
      ) : null}
      <ul>
        {failed.slice(0, MAX_FAILED).map((message) => (
          <FailedMessage key={message.id} message={message} />
        ))}
      </ul>
      {failed.length > MAX_FAILED ? <p class="soft">and {failed.length - MAX_FAILED} more</p> : null}
      {confirming ? (
        <ActionDialog
          title={`Drop ${countOf(failed.length, 'message')}?`}
          cancel="Keep"
          confirm="Drop"
          confirmClass="danger"
          onConfirm={drop}
          onClose={() => setConfirming(false)}
        >
          <p>Dropped messages are never observed, so no memories are made from them. This cannot be undone.</p>
        </ActionDialog>
      ) : null}
    </section>
  )
}

function FailedMessage({ message }: { message: StoryData['messages'][number] }) {
  return (
    <li>
      <p>
        <b>{safeLine(message.tool ?? message.kind.replaceAll('_', ' '))}</b>{' '}
        <span class="soft">
          of turn {message.prompt}, {countOf(message.attempts, 'attempt')}, <RelativeTime at={message.createdAt} />
        </span>
      </p>
      <p class="story-error bad mono smaller clamp">{safeText(message.error ?? 'unknown error', MAX_ERROR_CHARS)}</p>
    </li>
  )
}

interface TruncationProps {
  story: StoryData
  /** All stored transitions are loaded. */
  isComplete: boolean
  onShowAll(): void
}

function TurnList({ story, turn, ...truncation }: TruncationProps & { turn: number }) {
  const [filter, setFilter] = useState<StoryFilter>('all')
  const isNew = useIsNew(story)
  const turns = storyTurns(story)
  const visible = turns.flatMap((one) => filterTurn(one, filter) ?? [])
  const firstOpen = visible.length - OPEN_TURNS
  return (
    <section data-testid="story" aria-labelledby="story-title">
      <div class="story-line-head row wrap spread">
        <h2 id="story-title">Timeline</h2>
        <fieldset class="story-filter wrap">
          <legend class="unseen">Show</legend>
          {STORY_FILTERS.map((name) => (
            <label key={name} class={name === filter ? 'chosen' : ''}>
              <input type="radio" name="story-shown" checked={name === filter} onChange={() => setFilter(name)} />
              {name} <span class="figure soft">{fullCount(countEntries(turns, name))}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <TruncationNotes story={story} {...truncation} />
      {visible.length === 0 ? <p class="soft story-note">No entries match this filter.</p> : null}
      <ol class="story-turns stack">
        {visible.map((one, i) => (
          <TurnSection
            key={`${filter} ${one.number}`}
            turn={one}
            open={one.number === turn || (Number.isNaN(turn) && i >= firstOpen) || filter !== 'all'}
            isTarget={one.number === turn}
            isNew={isNew}
          />
        ))}
      </ol>
    </section>
  )
}

/** True for rows with a higher id than all rows when the page was opened. */
function useIsNew(story: StoryData): (kind: StoryItemKind, id: number) => boolean {
  const [newestIds] = useState(() => ({
    trace: maxId(story.trace),
    observation: maxId(story.observationRows),
    summary: maxId(story.summaryRows),
    call: maxId(story.calls),
  }))
  return (kind, id) => id > newestIds[kind]
}

function maxId(rows: readonly { id: number }[]): number {
  return rows.reduce((max, { id }) => Math.max(max, id), 0)
}

/** What the turns do not contain. */
function TruncationNotes({ story, isComplete, onShowAll }: TruncationProps) {
  const { trace, traceDropped, observations, observationRows } = story
  return (
    <>
      {traceDropped === 0 ? null : <p class="soft story-note">{countOf(traceDropped, 'older transition')} deleted.</p>}
      {!isComplete && trace.length >= FIRST_TRACE ? (
        <p class="soft story-note">
          Only the last {fullCount(trace.length)} transitions are shown.{' '}
          <button type="button" class="plain" onClick={onShowAll}>
            Show all
          </button>
        </p>
      ) : null}
      {observations > observationRows.length ? (
        <p class="soft story-note">
          Only the last {fullCount(observationRows.length)} of {countOf(observations, 'observation')} are shown.
        </p>
      ) : null}
    </>
  )
}
