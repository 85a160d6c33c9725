/** One session for people: where it is in its life, what it knows, what it waits for, and how it got there. */
import { liftSnapshot } from '../../../machines/session/migrations.ts'
import type { Effect, SessionContext } from '../../../machines/session/types.ts'
import { CHARTS } from '../../chart/charts.ts'
import { messageOf } from '../../errors.ts'
import type { Message, SessionRow, SessionView, TraceRow } from '../../store/port.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean, counted, wrap } from '../text.ts'
import { ago, clockTime, due } from '../times.ts'
import { arrowsFrom } from './arrows.ts'
import { canDraw, chartLines } from './chart.ts'
import { messageLines } from './messages.ts'
import { indented, section } from './section.ts'
import { statusPaint } from './sessions.ts'
import { inOrder, traceLines } from './trace.ts'

const CHART = CHARTS.session
const CHAIN = CHART.states.filter(({ parent }) => parent === null).map(({ name }) => name)
/** Longer lines are hard to read however wide the terminal is. */
const MAX_COLUMNS = 100

export function sessionViewLines(view: SessionView, messageLimit: number, look: Look): string[] {
  const { row } = view
  return [
    `${look.style.bold('Session')} ${clean(row.session)}`,
    '',
    ...whereLines(view, look),
    '',
    // What it does now comes first: a watched terminal may not be high enough for all of it.
    ...fields([statusField(row, look), ...work(view, look), ...identity(view, look), ...tokens(row)], look),
    ...section('Context', contextLines(row.snapshot, look), look),
    ...section('Messages', messagesOf(view, messageLimit, look), look),
    ...section('Transitions', traceLines(view.trace, view.traceDropped, look), look),
  ]
}

/** Where it is in its life, how it came there, and where it can go from there. */
function whereLines({ row, trace }: SessionView, look: Look): string[] {
  const isKnown = CHART.states.some(({ id }) => id === row.state)
  if (!canDraw(look) || !isKnown) return [`  ${chain(row.state, look)}`]
  const last = inOrder(trace).findLast(({ from, to }) => from !== to) ?? null
  // It is in none of these states, and goes nowhere by itself.
  if (row.quarantine !== null) return [...chartLines(CHART, null, look), '', ...lastLines(last, look)]
  return [...chartLines(CHART, { state: row.state, last }, look), '', ...wayLines(row.state, last, look)]
}

function wayLines(state: string, last: TraceRow | null, look: Look): string[] {
  const next = arrowsFrom(CHART, state)
  return [
    ...lastLines(last, look),
    ...next.flatMap(({ to, when }, i) => wayLine(i === 0 ? 'next' : '', `→ ${to} ${when}`, look)),
  ]
}

function lastLines(last: TraceRow | null, look: Look): string[] {
  if (last === null) return []
  const { from, to, event, at, reason } = last
  return wayLine('last', clean(`${from} → ${to} on ${event}, ${ago(at, look.now)}: ${reason}`), look)
}

function wayLine(label: string, text: string, { style, columns }: Look): string[] {
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS) - WAY_INDENT
  return wrap(text, Math.max(width, 1)).map((line, i) => `  ${style.dim((i === 0 ? label : '').padEnd(4))}  ${line}`)
}

/** Columns before the words about a way. */
const WAY_INDENT = 8

/** `init → observing → [batching: calling] → …`: the brackets say it without colours too. */
export function chain(state: string, { style }: Look): string {
  const [name = '', ...inner] = state.split('.')
  const words = CHAIN.includes(name) ? CHAIN : [...CHAIN, name]
  return words
    .map((word) => {
      if (word !== name) return style.dim(word)
      return style.cyan(style.bold(`[${clean([word, inner.join('.')].filter((part) => part !== '').join(': '))}]`))
    })
    .join(style.dim(' → '))
}

function statusField({ status }: SessionRow, look: Look): [string, string] {
  return ['status', statusPaint(status, look)(status)]
}

function identity({ row, observations, summaries }: SessionView, look: Look): [string, string][] {
  const { now } = look
  return [
    ['project', `${clean(row.project.name)} ${look.style.dim(clean(row.project.key))}`],
    ['client', `${clean(row.client)} in ${clean(row.cwd)}`],
    ['prompts', String(row.prompts)],
    ['memory', `${counted(observations, 'observation')}, ${summaries === 1 ? '1 summary' : `${summaries} summaries`}`],
    ['began', ago(row.createdAt, now)],
    ['heard of', `${ago(row.heardAt, now)}, revision ${row.revision}`],
  ]
}

function work({ row, messages }: SessionView, { style, now }: Look): [string, string][] {
  const lines: [string, string][] = []
  if (row.quarantine !== null) {
    lines.push(['quarantine', style.red(`${clean(row.quarantine)}; claude-mem queue retry --session revives it`)])
  }
  if (row.effect !== null) lines.push(['in flight', effectText(row.effect, now)])
  lines.push(...claims(messages, now))
  if (row.waiting !== null) lines.push(['waiting', style.yellow(clean(row.waiting))])
  if (row.wakeAt !== null && row.quarantine === null) lines.push(['wakes', due(row.wakeAt, now)])
  return lines
}

/** Which messages are with the observer, and since when. */
function claims(messages: readonly Message[], now: number): [string, string][] {
  const claimed = messages.filter(({ status }) => status === 'processing')
  const since = Math.min(...claimed.map(({ claimedAt, createdAt }) => claimedAt ?? createdAt))
  if (claimed.length === 0) return []
  const ids = claimed.slice(0, SHOWN_CLAIMS).map(({ id }) => `#${id}`)
  const more = claimed.length > SHOWN_CLAIMS ? ', …' : ''
  const which = `${counted(claimed.length, 'message')} (${ids.join(', ')}${more})`
  return [['claimed', `${which}, with the observer since ${clockTime(since, now)}`]]
}

const SHOWN_CLAIMS = 6

function effectText(effect: Effect, now: number): string {
  const batch = effect.kind === 'observe' ? `, up to ${counted(effect.limit, 'message')}` : ''
  return `${effect.kind} ${clean(effect.id)} for prompt ${effect.prompt}${batch}, deadline ${due(effect.deadline, now)}`
}

function tokens({ usage, contextTokens, generation, memorySession }: SessionRow): [string, string][] {
  return [
    [
      'tokens',
      `${usage.input} in, ${usage.output} out, ${usage.cacheRead} cache read, ${usage.cacheWrite} cache write`,
    ],
    ['observer', `${clean(memorySession)}, generation ${generation}, ${contextTokens} tokens of context`],
  ]
}

function contextLines(snapshot: string, look: Look): string[] {
  let context: SessionContext
  try {
    context = liftSnapshot(JSON.parse(snapshot)).context
  } catch (error) {
    return [`  ${look.style.red(`the snapshot cannot be read: ${clean(messageOf(error))}`)}`]
  }
  return fields([...turnFields(context, look), ...troubleFields(context, look)], look)
}

function turnFields(context: SessionContext, { now }: Look): [string, string][] {
  const open = context.turnOpen ? 'open' : 'ended'
  return [
    ['turn', `${context.prompt}, ${open}${context.turnPrivate ? ', private' : ''}`],
    ['last event', ago(context.lastEventAt, now)],
    ['outcome', context.ended ? `ended, ${context.outcome}` : context.outcome],
    ...context.turns.map(({ prompt, pending, flush, summary }): [string, string] => [
      `turn ${prompt}`,
      [counted(pending, 'message'), ...(flush ? ['to be flushed'] : []), ...(summary ? ['summary due'] : [])].join(
        ', ',
      ),
    ]),
  ]
}

function troubleFields(
  { failed, split, summaryAttempts, compaction, waiting, offline }: SessionContext,
  look: Look,
): [string, string][] {
  const { style, now } = look
  const lines: [string, string][] = []
  if (failed > 0) lines.push(['set aside', style.red(counted(failed, 'message'))])
  if (split !== null) {
    lines.push(['split', `${split.limit} at a time, ${split.left} left, ${counted(split.attempts, 'failed attempt')}`])
  }
  if (summaryAttempts > 0) lines.push(['summary', counted(summaryAttempts, 'failed attempt')])
  if (compaction !== 'none') lines.push(['compaction', compaction])
  if (offline !== null) {
    lines.push(['offline', style.yellow(`since ${clockTime(offline.since, now)}: ${clean(offline.reason)}`)])
  }
  if (waiting !== null) {
    const { since, until, reason } = waiting
    lines.push(['waiting', style.yellow(`since ${clockTime(since, now)}, again ${due(until, now)}: ${clean(reason)}`)])
  }
  return lines
}

function messagesOf({ messages }: SessionView, limit: number, look: Look): string[] {
  if (messages.length === 0) return [`  ${look.style.dim('none waits')}`]
  const lines = indented((narrow) => messageLines(messages.slice(0, limit), narrow, false), look)
  const left = messages.length - limit
  return left > 0 ? [...lines, look.style.dim(`  and ${left} more: --limit N`)] : lines
}
