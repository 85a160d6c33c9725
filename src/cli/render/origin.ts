/** `inspect --observation`: why an observation exists, back to the tool uses that it was learned from. */
import type { Origin, SourceEvent } from '../../store/origin-port.ts'
import type { ObservationOrigin } from '../memory-reader.ts'
import type { Look } from '../style.ts'
import { clean, counted, wrap } from '../text.ts'
import { clockTime } from '../times.ts'
import { callSection } from './event.ts'
import { observationLines } from './observation.ts'
import { payloadExcerpt, payloadLines } from './payload.ts'
import { section } from './section.ts'
import { traceLines } from './trace.ts'

const MAX_COLUMNS = 100
/** Of a prompt, unless all of it is asked for. */
const SHOWN_PROMPT_LINES = 4
/** A batch may hold more than anyone reads. */
const SHOWN_EVENTS = 12

export function originLines({ observation, origin }: ObservationOrigin, full: boolean, look: Look): string[] {
  const { style } = look
  return [
    ...observationLines(observation, look),
    ...section('What had been asked', promptLines(origin, full, look), look),
    ...section('What it came from', sourceLines(origin, full, look), look),
    ...(origin.effectId === null
      ? []
      : [...callSection(origin.calls, look), `  ${style.dim(`effect ${clean(origin.effectId)}`)}`]),
    ...(origin.trace.length === 0 ? [] : section('Transitions', traceLines(origin.trace, 0, look), look)),
  ]
}

function promptLines({ prompt }: Origin, full: boolean, look: Look): string[] {
  const { style, now, columns } = look
  if (prompt === null) return [`  ${style.dim('no prompt is known')}`]
  const text = prompt.private ? '(private)' : prompt.text
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS) - 4
  const lines = text
    .split(/\r\n|[\r\n]/)
    .map((line) => clean(line).trimEnd())
    .filter((line) => line !== '')
    .flatMap((line) => wrap(line, Math.max(width, 1)))
  const shown = full ? lines : lines.slice(0, SHOWN_PROMPT_LINES)
  return [
    `  ${style.dim(`prompt ${prompt.number}, ${clockTime(prompt.at, now)}`)}`,
    ...shown.map((line) => `  ${style.dim('│')} ${line}`),
    ...(shown.length < lines.length
      ? [`  ${style.dim(`${counted(lines.length - shown.length, 'more line')}: --full`)}`]
      : []),
  ]
}

function sourceLines({ events }: Origin, full: boolean, look: Look): string[] {
  const { style } = look
  if (events.length === 0) return [`  ${style.dim('no event: it was written by hand or imported')}`]
  const shown = full ? events : events.slice(0, SHOWN_EVENTS)
  const left = events.length - shown.length
  return [
    ...shown.flatMap((event) => eventLines(event, full, look)),
    ...(left > 0 ? [`  ${style.dim(`${counted(left, 'more event')}: --full`)}`] : []),
  ]
}

function eventLines(event: SourceEvent, full: boolean, look: Look): string[] {
  const { style, now, columns } = look
  const what = [event.kind, ...(event.tool === null ? [] : [event.tool])].map(clean).join(' ')
  const failed = event.attempts === 0 ? '' : `, ${counted(event.attempts, 'failed attempt')}`
  const head = `  ${style.cyan(clean(event.eventId))}  ${style.dim(clockTime(event.at, now))}  ${what}${failed}`
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS) - 4
  return full
    ? [head, ...payloadLines(event.payload, true, look)]
    : [head, `  ${style.dim('│')} ${style.dim(payloadExcerpt(event.payload, width))}`]
}
