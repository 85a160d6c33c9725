/** Prints lists about sessions: the sessions themselves, queued messages, and the trace of transitions. */
import { authorName } from '../../domain/authorship.ts'
import { clientTitle } from '../../domain/clients.ts'
import { pluralize } from '../../lib/format.ts'
import type { InboxMessage, MessageStatus, SessionListItem, SessionView, TraceRow } from '../../store/port.ts'
import { formatAgo, formatClockTime } from '../format.ts'
import type { Display, Paint } from '../style.ts'
import { cutColumn, indented, rightColumn, type TableCell, tableLines, wrapColumn } from '../table.ts'
import { terminalSafe } from '../text.ts'

/** Ids are random, so their first characters are usually unique, and enough to type. */
const SHORT_ID_CHARS = 8

export function sessionListLines(sessions: readonly SessionListItem[], more: boolean, display: Display): string[] {
  const { style, now } = display
  if (sessions.length === 0) return ['No session yet: the first prompt or tool use that a hook reports creates one.']
  const ids = shortIds(sessions.map((item) => item.session))
  const rows = sessions.map((item, i): TableCell[] => [
    { text: ids[i] ?? item.session, paint: style.bold },
    item.projectName,
    clientTitle(item.client),
    { text: item.status, paint: sessionStatusPaint(item.status, display) },
    { text: item.state, paint: style.cyan },
    String(item.prompts),
    String(item.observations),
    String(item.pending + item.processing),
    item.failed === 0 ? '0' : { text: String(item.failed), paint: style.red },
    formatAgo(item.updatedAt, now),
    sessionNote(item, display),
  ])
  const counts = ['PROMPTS', 'OBS', 'QUEUED', 'FAILED'].map(rightColumn)
  const columns = [
    'SESSION',
    cutColumn('PROJECT'),
    cutColumn('CLIENT'),
    'STATUS',
    'STATE',
    ...counts,
    'UPDATED',
    wrapColumn(''),
  ]
  return [...tableLines(columns, rows, display), ...(more ? ['', style.dim('There are more: --limit N')] : [])]
}

/** At least 8 characters, and as many as are needed to tell the ids apart. */
export function shortIds(ids: readonly string[]): string[] {
  for (let length = SHORT_ID_CHARS; ; length++) {
    const short = ids.map((id) => id.slice(0, length))
    if (new Set(short).size === new Set(ids).size) return short
  }
}

export function sessionStatusPaint(status: string, { style }: Display): Paint {
  if (status === 'active') return style.green
  if (status === 'failed') return style.red
  return status === 'interrupted' ? style.yellow : style.dim
}

function sessionNote(item: SessionListItem, { style }: Display): TableCell {
  if (item.quarantine !== null) return { text: `quarantined: ${item.quarantine}`, paint: style.red }
  if (item.author != null) return { text: `received from ${authorName(item.author)}`, paint: style.dim }
  return item.waiting === null ? '' : { text: `waiting: ${item.waiting}`, paint: style.yellow }
}

export function messageLines(messages: readonly InboxMessage[], display: Display, showSession: boolean): string[] {
  const { style, now } = display
  const paints: Record<MessageStatus, Paint> = { pending: style.yellow, processing: style.cyan, failed: style.red }
  const identity = [rightColumn('ID'), ...(showSession ? ['SESSION'] : []), 'STATUS', cutColumn('WHAT')]
  const columns = [...identity, rightColumn('PROMPT'), rightColumn('TRIES'), 'SINCE', 'CLAIM', wrapColumn('ERROR')]
  const rows = messages.map((message): TableCell[] => [
    String(message.id),
    ...(showSession ? [{ text: message.session.slice(0, SHORT_ID_CHARS), paint: style.bold }] : []),
    { text: message.status, paint: paints[message.status] },
    message.tool === null ? message.kind : `${message.kind} ${message.tool}`,
    String(message.prompt),
    String(message.attempts),
    formatAgo(message.createdAt, now),
    claimText(message, now),
    message.error === null ? '' : { text: message.error, paint: style.red },
  ])
  return tableLines(columns, rows, display)
}

/** The effect that claimed the message, and when. */
function claimText({ effectId, claimedAt }: InboxMessage, now: number): string {
  if (effectId === null) return ''
  const id = effectId.slice(0, SHORT_ID_CHARS)
  return claimedAt === null ? id : `${id} ${formatAgo(claimedAt, now)}`
}

/** `inspect SESSION --trace`. `limit`: how many transitions were asked for. */
export function sessionTraceLines(view: SessionView, limit: number, display: Display): string[] {
  const { row, trace } = view
  const { style } = display
  const count =
    trace.length < limit ? pluralize(trace.length, 'transition') : `the last ${pluralize(limit, 'transition')}`
  const state = row.quarantine === null ? style.cyan(terminalSafe(row.state)) : style.red('in quarantine')
  return [
    `${style.bold('Session')} ${terminalSafe(row.session)}: ${count}, now ${state}`,
    '',
    ...traceLines(trace, view.traceDropped, display),
  ]
}

/** Oldest first. `dropped`: older transitions that were removed. */
export function traceLines(trace: readonly TraceRow[], dropped: number, display: Display): string[] {
  const { style, now } = display
  const columns = ['TIME', 'EVENT', 'FROM → TO', wrapColumn('REASON')]
  const rows = sortTrace(trace).map(({ at, event, from, to, reason }): TableCell[] => [
    { text: formatClockTime(at, now), paint: style.dim },
    event,
    from === to ? { text: to, paint: style.dim } : { text: `${from} → ${to}`, paint: style.cyan },
    reason,
  ])
  const lines =
    rows.length === 0
      ? [`  ${style.dim('none shown')}`]
      : indented((narrow) => tableLines(columns, rows, narrow), display)
  return dropped > 0 ? [...lines, style.dim(`  ${dropped} older ones were removed`)] : lines
}

export function sortTrace(trace: readonly TraceRow[]): TraceRow[] {
  return [...trace].sort((a, b) => a.id - b.id)
}
