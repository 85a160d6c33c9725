/** What an actor did and why, for people. */
import type { SessionView, TraceRow } from '../../store/port.ts'
import type { Look } from '../style.ts'
import { type Cell, type Column, table } from '../table.ts'
import { clean, counted } from '../text.ts'
import { clockTime } from '../times.ts'
import { indented } from './section.ts'

/** `inspect SESSION --trace`: at most `limit` of them. */
export function sessionTraceLines(view: SessionView, limit: number, look: Look): string[] {
  const { row, trace } = view
  const shown = trace.length < limit ? counted(trace.length, 'transition') : `the last ${counted(limit, 'transition')}`
  const now = row.quarantine === null ? look.style.cyan(clean(row.state)) : look.style.red('in quarantine')
  return [
    `${look.style.bold('Session')} ${clean(row.session)}: ${shown}, now ${now}`,
    '',
    ...traceLines(trace, view.traceDropped, look),
  ]
}

/** Oldest first, and how many older ones were removed. */
export function traceLines(trace: readonly TraceRow[], dropped: number, look: Look): string[] {
  const rows = inOrder(trace).map((entry) => traceCells(entry, look))
  const columns: Column[] = [
    { title: 'TIME' },
    { title: 'EVENT' },
    { title: 'FROM → TO' },
    { title: 'REASON', narrow: 'wrap' },
  ]
  const lines =
    rows.length === 0 ? [`  ${look.style.dim('none shown')}`] : indented((narrow) => table(columns, rows, narrow), look)
  return dropped > 0 ? [...lines, look.style.dim(`  ${dropped} older ones were removed`)] : lines
}

export function inOrder(trace: readonly TraceRow[]): TraceRow[] {
  return [...trace].sort((a, b) => a.id - b.id)
}

function traceCells({ at, event, from, to, reason }: TraceRow, { style, now }: Look): Cell[] {
  return [
    { text: clockTime(at, now), paint: style.dim },
    event,
    from === to ? { text: to, paint: style.dim } : { text: `${from} → ${to}`, paint: style.cyan },
    reason,
  ]
}
