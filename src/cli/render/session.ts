/** One session for people: where it is in its life, what it knows, what it waits for, and how it got there. */
import { liftSnapshot } from '../../../machines/session/migrations.ts'
import type { Effect, SessionContext } from '../../../machines/session/types.ts'
import { messageOf } from '../../errors.ts'
import type { SessionRow, SessionView, TraceRow } from '../../store/port.ts'
import type { Look } from '../style.ts'
import { type Cell, type Column, fields, table } from '../table.ts'
import { clean, counted } from '../text.ts'
import { ago, clockTime, due } from '../times.ts'
import { messageLines } from './messages.ts'
import { statusPaint } from './sessions.ts'

const CHAIN = ['init', 'observing', 'batching', 'summarizing', 'compacting', 'closed']

export function sessionViewLines(view: SessionView, messageLimit: number, look: Look): string[] {
  const { row } = view
  return [
    `${look.style.bold('Session')} ${clean(row.session)}`,
    '',
    `  ${chain(row.state, look)}`,
    '',
    ...fields([...identity(view, look), ...work(row, look), ...tokens(row)], look),
    ...section('Context', contextLines(row.snapshot, look), look),
    ...section('Messages', messagesOf(view, messageLimit, look), look),
    ...section('Transitions', traceLines(view, look), look),
  ]
}

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

function identity({ row, observations, summaries }: SessionView, look: Look): [string, string][] {
  const { now } = look
  return [
    ['status', statusPaint(row.status, look)(row.status)],
    ['project', `${clean(row.project.name)} ${look.style.dim(clean(row.project.key))}`],
    ['client', `${clean(row.client)} in ${clean(row.cwd)}`],
    ['prompts', String(row.prompts)],
    ['memory', `${counted(observations, 'observation')}, ${summaries === 1 ? '1 summary' : `${summaries} summaries`}`],
    ['began', ago(row.createdAt, now)],
    ['heard of', `${ago(row.heardAt, now)}, revision ${row.revision}`],
  ]
}

function work(row: SessionRow, { style, now }: Look): [string, string][] {
  const lines: [string, string][] = []
  if (row.quarantine !== null) {
    lines.push(['quarantine', style.red(`${clean(row.quarantine)}; claude-mem queue retry --session revives it`)])
  }
  if (row.effect !== null) lines.push(['in flight', effectText(row.effect, now)])
  if (row.waiting !== null) lines.push(['waiting', style.yellow(clean(row.waiting))])
  if (row.wakeAt !== null) lines.push(['wakes', due(row.wakeAt, now)])
  return lines
}

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

function traceLines({ trace, traceDropped }: SessionView, look: Look): string[] {
  const rows = [...trace].sort((a, b) => a.id - b.id).map((entry) => traceCells(entry, look))
  const columns: Column[] = [
    { title: 'TIME' },
    { title: 'EVENT' },
    { title: 'FROM → TO' },
    { title: 'REASON', narrow: 'wrap' },
  ]
  const lines =
    rows.length === 0 ? [`  ${look.style.dim('none shown')}`] : indented((narrow) => table(columns, rows, narrow), look)
  return traceDropped > 0 ? [...lines, look.style.dim(`  ${traceDropped} older ones were removed`)] : lines
}

function traceCells({ at, event, from, to, reason }: TraceRow, { style, now }: Look): Cell[] {
  return [
    { text: clockTime(at, now), paint: style.dim },
    event,
    from === to ? { text: to, paint: style.dim } : { text: `${from} → ${to}`, paint: style.cyan },
    reason,
  ]
}

/** In line with the fields above it. */
function indented(render: (narrow: Look) => string[], look: Look): string[] {
  const columns = look.columns === null ? null : look.columns - 2
  return render({ ...look, columns }).map((line) => `  ${line}`)
}

function section(title: string, lines: readonly string[], { style }: Look): string[] {
  return ['', style.bold(title), ...lines]
}
