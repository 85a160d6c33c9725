/** Prints one session: its place in the statechart, current work, state of the machine, queue and transitions. */
import { migrateSnapshot } from '../../../machines/session/migrations.ts'
import type { Effect, SessionContext, StoredSnapshot, TurnState } from '../../../machines/session/types.ts'
import { receivedFromText } from '../../domain/authorship.ts'
import { errorMessage } from '../../lib/errors.ts'
import { pluralize } from '../../lib/format.ts'
import { CHARTS } from '../../statechart/machine-charts.ts'
import type { InboxMessage, ReceivedSession, SessionView, StoredSessionRow, TraceRow } from '../../store/port.ts'
import { formatAgo, formatClockTime, formatDue, summariesText } from '../format.ts'
import type { Display } from '../style.ts'
import { type Field, fieldLines, indented, section } from '../table.ts'
import { paragraphWidth, terminalSafe, wrapText } from '../text.ts'
import { messageLines, sessionStatusPaint, sortTrace, traceLines } from './sessions.ts'
import { arrowsFrom, canDrawChart, chartLines } from './statechart.ts'

const CHART = CHARTS.session
const TOP_LEVEL_STATES = CHART.states.filter(({ parent }) => parent === null).map(({ name }) => name)
/** Claimed messages whose ids are named. */
const SHOWN_CLAIMS = 6
/** Columns before the text of a transition. */
const TRANSITION_INDENT = 8

export function sessionViewLines(view: SessionView, messageLimit: number, display: Display): string[] {
  const { row } = view
  if (view.received != null) return receivedSessionLines(view, view.received, display)
  return [
    `${display.style.bold('Session')} ${terminalSafe(row.session)}`,
    '',
    ...positionLines(view, display),
    '',
    // Current work comes first, because a watched terminal may be too low for all lines.
    ...fieldLines(
      [
        ['status', sessionStatusPaint(row.status, display)(row.status)],
        ...workFields(view, display),
        ...identityFields(view, display),
        ...tokenFields(row),
      ],
      display,
    ),
    ...section('State', contextLines(row.snapshot, display), display),
    ...section('Messages', queueLines(view, messageLimit, display), display),
    ...section('Transitions', traceLines(view.trace, view.traceDropped, display), display),
  ]
}

/** A session of another machine has no state, queue or transitions here. */
function receivedSessionLines(view: SessionView, received: ReceivedSession, display: Display): string[] {
  const { row, observations, summaries } = view
  const session = terminalSafe(row.session)
  return [
    `${display.style.bold('Session')} ${session}`,
    '',
    `  ${terminalSafe(receivedFromText(received, null) ?? '')}`,
    '  Its events are not on this machine: it is neither run nor replayed here.',
    '',
    ...fieldLines(
      [
        ['project', `${terminalSafe(row.project.name)} ${display.style.dim(terminalSafe(row.project.key))}`],
        ['prompts', String(row.prompts)],
        ['memory', `${pluralize(observations, 'observation')}, ${summariesText(summaries)}`],
        ['started', formatAgo(row.createdAt, display.now)],
      ],
      display,
    ),
    display.style.dim(`  What was learned in it: claude-mem search --session ${session}`),
  ]
}

/** The statechart with the active state marked, the last transition, and the possible next ones. */
function positionLines({ row, trace }: SessionView, display: Display): string[] {
  const isKnown = CHART.states.some(({ id }) => id === row.state)
  if (!canDrawChart(display) || !isKnown) return [`  ${stateChain(row.state, display)}`]
  const last = sortTrace(trace).findLast(({ from, to }) => from !== to) ?? null
  // A quarantined session has no active state and makes no transition.
  const isQuarantined = row.quarantine !== null
  const next = isQuarantined ? [] : arrowsFrom(CHART, row.state)
  return [
    ...chartLines(CHART, isQuarantined ? null : { state: row.state, last }, display),
    '',
    ...(last === null ? [] : transitionLines('last', lastTransitionText(last, display.now), display)),
    ...next.flatMap(({ to, when }, i) => transitionLines(i === 0 ? 'next' : '', `→ ${to} ${when}`, display)),
  ]
}

function lastTransitionText({ from, to, event, at, reason }: TraceRow, now: number): string {
  return terminalSafe(`${from} → ${to} on ${event}, ${formatAgo(at, now)}: ${reason}`)
}

function transitionLines(label: string, text: string, { style, columns }: Display): string[] {
  return wrapText(text, paragraphWidth(columns, TRANSITION_INDENT)).map(
    (line, i) => `  ${style.dim((i === 0 ? label : '').padEnd(4))}  ${line}`,
  )
}

/** `init → observing → [batching: calling] → …`: the brackets mark the active state without colours. */
export function stateChain(state: string, { style }: Display): string {
  const [active = '', ...inner] = state.split('.')
  const names = TOP_LEVEL_STATES.includes(active) ? TOP_LEVEL_STATES : [...TOP_LEVEL_STATES, active]
  const activeText = inner.length === 0 ? active : `${active}: ${inner.join('.')}`
  return names
    .map((name) => (name === active ? style.cyan(style.bold(`[${terminalSafe(activeText)}]`)) : style.dim(name)))
    .join(style.dim(' → '))
}

function identityFields({ row, observations, summaries }: SessionView, { style, now }: Display): Field[] {
  return [
    ['project', `${terminalSafe(row.project.name)} ${style.dim(terminalSafe(row.project.key))}`],
    ['client', `${terminalSafe(row.client)} in ${terminalSafe(row.cwd)}`],
    ['prompts', String(row.prompts)],
    ['memory', `${pluralize(observations, 'observation')}, ${summariesText(summaries)}`],
    ['started', formatAgo(row.createdAt, now)],
    ['last heard', `${formatAgo(row.heardAt, now)}, revision ${row.revision}`],
  ]
}

function workFields({ row, messages }: SessionView, { style, now }: Display): Field[] {
  const { quarantine, effect, waiting, wakeAt } = row
  const retry = 'to retry it: claude-mem queue retry --session'
  return [
    ['quarantine', quarantine === null ? null : style.red(`${terminalSafe(quarantine)}; ${retry}`)],
    ['in flight', effect === null ? null : effectText(effect, now)],
    ['claimed', claimText(messages, now)],
    ['waiting', waiting === null ? null : style.yellow(terminalSafe(waiting))],
    ['wakes', wakeAt === null || quarantine !== null ? null : formatDue(wakeAt, now)],
  ]
}

/** Messages that an effect has claimed for the observer. */
function claimText(messages: readonly InboxMessage[], now: number): string | null {
  const claimed = messages.filter(({ status }) => status === 'processing')
  if (claimed.length === 0) return null
  const since = Math.min(...claimed.map(({ claimedAt, createdAt }) => claimedAt ?? createdAt))
  const ids = claimed.slice(0, SHOWN_CLAIMS).map(({ id }) => `#${id}`)
  const more = claimed.length > SHOWN_CLAIMS ? ', …' : ''
  const which = `${pluralize(claimed.length, 'message')} (${ids.join(', ')}${more})`
  return `${which}, with the observer since ${formatClockTime(since, now)}`
}

function effectText(effect: Effect, now: number): string {
  const batch = effect.kind === 'observe' ? `, up to ${pluralize(effect.limit, 'message')}` : ''
  return `${effect.kind} ${terminalSafe(effect.id)} for prompt ${effect.prompt}${batch}, deadline ${formatDue(effect.deadline, now)}`
}

function tokenFields({ usage, contextTokens, generation, memorySession }: StoredSessionRow): Field[] {
  const { input, output, cacheRead, cacheWrite } = usage
  return [
    ['tokens', `${input} in, ${output} out, ${cacheRead} cache read, ${cacheWrite} cache write`],
    ['observer', `${terminalSafe(memorySession)}, generation ${generation}, conversation of ${contextTokens} tokens`],
  ]
}

function contextLines(snapshot: string, display: Display): string[] {
  let stored: StoredSnapshot
  try {
    stored = migrateSnapshot(JSON.parse(snapshot))
  } catch (error) {
    return [`  ${display.style.red(`the snapshot cannot be read: ${terminalSafe(errorMessage(error))}`)}`]
  }
  return fieldLines([...turnFields(stored, display), ...problemFields(stored.context, display)], display)
}

/** The newest turn. */
const TURN_TEXTS: Record<TurnState, string> = { none: 'ended', open: 'open', private: 'private' }

function turnFields({ value, context }: StoredSnapshot, { now }: Display): Field[] {
  return [
    ['turn', `${context.prompt}, ${TURN_TEXTS[value.turn]}`],
    ['last event', formatAgo(context.lastEventAt, now)],
    ['outcome', context.outcome === 'active' ? 'active' : `ended, ${context.outcome}`],
    ...context.turns.map(({ prompt, pending, flush, summary }): Field => {
      const due = [...(flush ? ['to be flushed'] : []), ...(summary ? ['summary due'] : [])]
      return [`turn ${prompt}`, [pluralize(pending, 'message'), ...due].join(', ')]
    }),
  ]
}

function problemFields(context: SessionContext, { style, now }: Display): Field[] {
  const { failed, split, summaryAttempts, compacted, waiting, offline } = context
  const since = (at: number) => `since ${formatClockTime(at, now)}`
  const splitText = split && `${split.limit} at a time, ${split.left} left, ${failedAttempts(split.attempts)}`
  const offlineText = offline && `${since(offline.since)}: ${terminalSafe(offline.reason)}`
  const waitingText =
    waiting && `${since(waiting.since)}, next attempt ${formatDue(waiting.until, now)}: ${terminalSafe(waiting.reason)}`
  return [
    ['failed', failed === 0 ? null : style.red(pluralize(failed, 'message'))],
    ['split', splitText],
    ['summary', summaryAttempts === 0 ? null : failedAttempts(summaryAttempts)],
    ['compaction', compacted ? 'done' : null],
    ['offline', offlineText && style.yellow(offlineText)],
    ['waiting', waitingText && style.yellow(waitingText)],
  ]
}

function failedAttempts(count: number): string {
  return pluralize(count, 'failed attempt')
}

function queueLines({ messages }: SessionView, limit: number, display: Display): string[] {
  const { dim } = display.style
  if (messages.length === 0) return [`  ${dim('none in the queue')}`]
  const lines = indented((narrow) => messageLines(messages.slice(0, limit), narrow, false), display)
  const more = messages.length - limit
  return more > 0 ? [...lines, dim(`  and ${more} more: --limit N`)] : lines
}
