/** Messages of an inbox for people: what waits, what is with the observer, what was set aside and why. */
import type { Message, MessageStatus } from '../../store/port.ts'
import type { Look, Paint } from '../style.ts'
import { type Cell, type Column, table } from '../table.ts'
import { ago } from '../times.ts'

const SHORT_ID = 8

export function messageLines(messages: readonly Message[], look: Look, showSession: boolean): string[] {
  const columns: Column[] = [
    { title: 'ID', align: 'right' },
    ...(showSession ? [{ title: 'SESSION' }] : []),
    { title: 'STATUS' },
    { title: 'WHAT', narrow: 'cut' },
    { title: 'PROMPT', align: 'right' },
    { title: 'TRIES', align: 'right' },
    { title: 'SINCE' },
    { title: 'CLAIM' },
    { title: 'ERROR', narrow: 'wrap' },
  ]
  const rows = messages.map((message): Cell[] => [
    String(message.id),
    ...(showSession ? [{ text: message.session.slice(0, SHORT_ID), paint: look.style.bold }] : []),
    { text: message.status, paint: statusPaint(message.status, look) },
    message.tool === null ? message.kind : `${message.kind} ${message.tool}`,
    String(message.prompt),
    String(message.attempts),
    ago(message.createdAt, look.now),
    claimOf(message, look.now),
    message.error === null ? '' : { text: message.error, paint: look.style.red },
  ])
  return table(columns, rows, look)
}

function statusPaint(status: MessageStatus, { style }: Look): Paint {
  return { pending: style.yellow, processing: style.cyan, failed: style.red }[status]
}

/** Which effect has it, and since when. */
function claimOf({ effectId, claimedAt }: Message, now: number): string {
  if (effectId === null) return ''
  const short = effectId.slice(0, SHORT_ID)
  return claimedAt === null ? short : `${short} ${ago(claimedAt, now)}`
}
