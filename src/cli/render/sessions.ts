/** The list of sessions for people. */
import type { SessionListItem } from '../../store/port.ts'
import type { Look, Paint } from '../style.ts'
import { type Cell, table } from '../table.ts'
import { ago } from '../times.ts'

/** Ids are random: their first characters tell sessions apart, and are enough to type. */
const SHORT_ID = 8

export function sessionLines(sessions: readonly SessionListItem[], more: boolean, look: Look): string[] {
  if (sessions.length === 0)
    return ['No session yet: one begins with the first prompt or tool use that a hook reports.']
  const short = shortIds(sessions.map((item) => item.session))
  const rows = sessions.map((item, i): Cell[] => [
    { text: short[i] ?? item.session, paint: look.style.bold },
    item.projectName,
    { text: item.status, paint: statusPaint(item.status, look) },
    { text: item.state, paint: look.style.cyan },
    String(item.prompts),
    String(item.observations),
    String(item.pending + item.processing),
    item.failed === 0 ? '0' : { text: String(item.failed), paint: look.style.red },
    ago(item.updatedAt, look.now),
    noteOf(item, look),
  ])
  const lines = table(
    [
      { title: 'SESSION' },
      { title: 'PROJECT', narrow: 'cut' },
      { title: 'STATUS' },
      { title: 'STATE' },
      { title: 'PROMPTS', align: 'right' },
      { title: 'OBS', align: 'right' },
      { title: 'QUEUED', align: 'right' },
      { title: 'FAILED', align: 'right' },
      { title: 'UPDATED' },
      { title: '', narrow: 'wrap' },
    ],
    rows,
    look,
  )
  const hint = more ? ['', look.style.dim('There are more: --limit N')] : []
  return [...lines, ...hint]
}

/** As short as they can be while all of them differ. */
export function shortIds(ids: readonly string[]): string[] {
  for (let length = SHORT_ID; ; length++) {
    const short = ids.map((id) => id.slice(0, length))
    if (new Set(short).size === new Set(ids).size) return short
  }
}

export function statusPaint(status: string, { style }: Look): Paint {
  if (status === 'active') return style.green
  if (status === 'failed') return style.red
  return status === 'interrupted' ? style.yellow : style.dim
}

function noteOf(item: SessionListItem, { style }: Look): Cell {
  if (item.quarantine !== null) return { text: `quarantined: ${item.quarantine}`, paint: style.red }
  return item.waiting === null ? '' : { text: `waiting: ${item.waiting}`, paint: style.yellow }
}
