/** One session: its request, what came of it, failed messages, its turns; its state machine is behind "Details". */
import { useRef, useState } from 'preact/hooks'
import { clientTitle } from '../../../domain/clients.ts'
import {
  Chip,
  countFigure,
  Details,
  type Figure,
  FigureList,
  Loaded,
  Meter,
  Note,
  Section,
} from '../../components/basics.tsx'
import { ActionDialog, runWithToast, useBusy } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { MemoryLink, receivedNote } from '../../components/memory-parts.tsx'
import { Statechart } from '../../components/statechart.tsx'
import { callDaemon } from '../../connection.ts'
import { daemonSettings, daemonSettingValue } from '../../daemon-status.ts'
import {
  compactCount,
  countOf,
  durationText,
  fullCount,
  RelativeTime,
  timeOfDay,
  usdText,
  useNow,
} from '../../format.tsx'
import { useRowKeys } from '../../keyboard.ts'
import { useObservable } from '../../observable.ts'
import { useLive, useOperation } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeLine, safeText, titleText } from '../../safe-text.ts'
import { StatusChip } from './session-parts.tsx'
import { type StoryData, type StoryTurn, storyTurns } from './story-turns.ts'
import { OutcomeList, TurnCard, TurnDetails } from './turn.tsx'

/** Transitions that are loaded: a long working day. */
const MAX_TRACE = 1_000
const MAX_ROWS = 1_000
/** The last turns are expanded at first. */
const OPEN_TURNS = 3
const MAX_ERROR_CHARS = 500
const MAX_FAILED = 20

interface StoryProps {
  story: StoryData
  reload(): void
}

export function StoryPage({ session, turn }: { session: string; turn: number }) {
  // `session` may be the beginning of an id.
  const answer = useLive(
    useOperation('story', { session, trace: MAX_TRACE, rows: MAX_ROWS }),
    (message) => message.type === 'change' || message.session.startsWith(session),
  )
  const page = useRef<HTMLDivElement>(null)
  useRowKeys(page)
  return (
    <div class="page stack" ref={page} data-testid="story">
      <a class="plain-link soft small" href={viewHref('session')}>
        <Icon name="back" /> Sessions
      </a>
      {answer.data === null ? <h1>Session</h1> : null}
      <Loaded query={answer}>{({ story }) => <Story story={story} turn={turn} reload={answer.reload} />}</Loaded>
    </div>
  )
}

function Story({ story, turn, reload }: StoryProps & { turn: number }) {
  const all = storyTurns(story)
  const turns = all.filter(({ number, observations, summaries }) => number + observations.length + summaries.length > 0)
  const firstOpen = turns.length - OPEN_TURNS
  const whole = story.summaryRows.find((summary) => summary.whole === true)
  return (
    <>
      <StoryHead story={story} reload={reload} />
      {story.received === null ? (
        <FailedMessages story={story} reload={reload} />
      ) : (
        <div data-testid="received">
          <Note>
            This session was {receivedNote(story.received)}. Its events, prompts and state are there; here are the
            memories that came from it.
          </Note>
        </div>
      )}
      {whole === undefined ? null : (
        <Section title="What came of it" card>
          <OutcomeList summary={whole} />
        </Section>
      )}
      <ol class="stack" aria-label="Turns">
        {turns.map((one, i) => (
          <TurnCard
            key={one.number}
            turn={one}
            open={one.number === turn || (Number.isNaN(turn) && i >= firstOpen)}
            isTarget={one.number === turn}
          />
        ))}
      </ol>
      <Given story={story} />
      <StoryDetails story={story} before={all.find((one) => !turns.includes(one))} />
    </>
  )
}

function requestOf({ prompts, summaryRows, row }: StoryData): string {
  const whole = summaryRows.find((summary) => summary.whole === true)?.request ?? null
  const first = prompts.find((prompt) => !prompt.private)?.text ?? summaryRows[0]?.request ?? row.project.name
  return titleText(whole ?? first, 200)
}

function StoryHead({ story, reload }: StoryProps) {
  const { row } = story
  return (
    <header class="stack">
      <div class="row wrap">
        <h1 class="grow clamp" dir="auto">
          {requestOf(story)}
        </h1>
        {story.received === null ? (
          <>
            <StatusChip session={row} />
            <CloseOrReopen story={story} reload={reload} />
          </>
        ) : (
          <Chip>received</Chip>
        )}
      </div>
      <p class="row wrap small soft">
        <span>{safeLine(row.project.name)}</span>
        <span>
          {safeLine(clientTitle(row.client))} in <span class="mono">{safeLine(row.cwd)}</span>
        </span>
        <span>
          started <RelativeTime at={row.createdAt} />, last event <RelativeTime at={row.heardAt} />
        </span>
        <span class="mono">{safeLine(row.session)}</span>
      </p>
    </header>
  )
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
  const tools = (
    <span class="row">
      <button type="button" class="primary" disabled={retry.busy} onClick={retry.start}>
        {isQuarantined ? 'Restart it' : 'Retry'}
      </button>
      {failed.length === 0 ? null : (
        <button type="button" class="danger" onClick={() => setConfirming(true)}>
          Drop
        </button>
      )}
    </span>
  )
  const title = isQuarantined ? 'This session cannot be restored' : countOf(failed.length, 'failed message')
  return (
    <Section title={title} card tools={tools}>
      {row.quarantine === null ? null : (
        <p class="soft">
          Its stored state cannot be read: {safeText(row.quarantine, MAX_ERROR_CHARS)}. A restart continues with its
          stored messages and memories.
        </p>
      )}
      <ul class="rows" data-testid="failed">
        {failed.slice(0, MAX_FAILED).map(({ id, tool, kind, prompt, attempts, error }) => (
          <li key={id}>
            <b>{safeLine(tool ?? kind.replaceAll('_', ' '))}</b>{' '}
            <span class="soft">
              of turn {prompt}, {countOf(attempts, 'attempt')}
            </span>
            <p class="bad mono small">{safeText(error ?? 'unknown error', MAX_ERROR_CHARS)}</p>
          </li>
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
    </Section>
  )
}

function Given({ story: { given } }: { story: StoryData }) {
  if (given.length === 0) return null
  return (
    <Section title="What it was given" about="with its prompts and the files that it read" card>
      <ul class="rows small">
        {given.map(({ id, type, title, at }) => (
          <MemoryLink key={id} href={viewHref('memory', id)} kind={type} title={title}>
            <RelativeTime at={at} />
          </MemoryLink>
        ))}
      </ul>
    </Section>
  )
}

/** `before`: what happened before the first prompt. */
function StoryDetails({ story, before }: { story: StoryData; before: StoryTurn | undefined }) {
  const { row, trace, traceDropped, received } = story
  const newest = trace.reduce<(typeof trace)[number] | undefined>(
    (last, line) => (last === undefined || line.id > last.id ? line : last),
    undefined,
  )
  return (
    <Details summary="Details">
      <FigureList figures={storyFigures(story)} />
      {received === null ? (
        <>
          <Statechart state={row.state} last={newest} />
          <CurrentWork story={story} />
        </>
      ) : null}
      {before === undefined ? null : <TurnDetails turn={before} label="Before the first prompt" />}
      {traceDropped === 0 ? null : <p class="soft small">{countOf(traceDropped, 'older transition')} deleted.</p>}
    </Details>
  )
}

function storyFigures({ row, calls, outcomes }: StoryData): Figure[] {
  const { input, output, cacheRead, cacheWrite } = row.usage
  const prices = calls.flatMap(({ cost }) => cost ?? [])
  const cost = prices.reduce((sum, price) => sum + price, 0)
  const events = outcomes.reduce((sum, { count }) => sum + count, 0)
  const outcomeLines = outcomes.map(
    ({ kind, outcome, count }) => `${fullCount(count)} ${kind.replaceAll('_', ' ')}: ${outcome ?? 'waiting'}`,
  )
  const tokens = input + output + cacheRead + cacheWrite
  return [
    countFigure(events, 'event', outcomeLines.join('\n')),
    countFigure(calls.length, 'call', 'Calls to a model'),
    { name: 'tokens', value: compactCount(tokens), about: 'Used by the observer, including cached ones' },
    {
      name: 'cost',
      value: prices.length === 0 && calls.length > 0 ? 'unknown' : usdText(cost),
      about: `US dollars for ${countOf(prices.length, 'call')} with a known price`,
    },
  ]
}

const EFFECTS = { observe: 'Observing', summarize: 'Summarizing', compact: 'Compacting the conversation' } as const

/** What the observer does for the session now, why it waits, and the size of its conversation. */
function CurrentWork({ story: { row } }: { story: StoryData }) {
  useObservable(daemonSettings)
  const now = useNow(1_000)
  const { effect, waiting, wakeAt, contextTokens } = row
  const limit = daemonSettingValue('CLAUDE_MEM_COMPACT_TOKENS')
  return (
    <>
      {waiting === null ? null : (
        <Note tone="warn">
          Waiting: {safeText(waiting, MAX_ERROR_CHARS)}
          {wakeAt === null ? '' : `, next attempt at ${timeOfDay(wakeAt)}`}
        </Note>
      )}
      {effect === null ? null : (
        <Meter
          label={EFFECTS[effect.kind]}
          value={now - effect.deadline + effect.timeoutMs}
          of={effect.timeoutMs}
          text={`${durationText(Math.max(0, now - effect.deadline + effect.timeoutMs))} of ${durationText(effect.timeoutMs)}`}
        />
      )}
      {typeof limit !== 'number' ? null : (
        <Meter
          label="Observer's conversation"
          value={contextTokens}
          of={limit}
          text={`${compactCount(contextTokens)} of ${compactCount(limit)} tokens`}
        />
      )}
    </>
  )
}
