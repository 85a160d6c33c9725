/**
 * Prints where a memory comes from and what left the machine: `inspect --observation` (prompt and events behind an
 * observation), `inspect --message` (the outcome of one event) and `inspect --sent` (calls to a model with their texts).
 * Payloads were masked before they were stored; here they are only truncated.
 */
import type { OutputOf } from '../../api/index.ts'
import { observationTitle, TYPE_ICONS } from '../../context/lines.ts'
import { receivedFromText } from '../../domain/authorship.ts'
import { agentTitle } from '../../domain/clients.ts'
import type { MemoryEvent } from '../../domain/event.ts'
import type { Observation } from '../../domain/observation.ts'
import { formatCount, pluralize } from '../../lib/format.ts'
import type {
  CallFigures,
  CallRow,
  EventView,
  EventWithPayload,
  InboxMessage,
  ObservationProvenance,
} from '../../store/port.ts'
import { formatAgo, formatClockTime, formatDuration, formatMoney } from '../format.ts'
import type { Display } from '../style.ts'
import { fieldLines, section } from '../table.ts'
import { displayWidth, paragraphLines, paragraphWidth, terminalSafe, truncate } from '../text.ts'
import { observationLines } from './observation.ts'
import { traceLines } from './sessions.ts'

/** Columns of `  │ ` before a quoted line. */
const QUOTE_COLUMNS = 4
/** Lines of a prompt or of a part of a payload, without --full. */
const SHOWN_LINES = 4
/** Characters of a part that are processed without --full: it may hold megabytes. */
const SHOWN_CHARS = 800
/** Events of an observation, without --full. */
const SHOWN_EVENTS = 12

export function provenanceLines(
  { observation, origin }: OutputOf<'origin'>,
  full: boolean,
  display: Display,
): string[] {
  const { client, effectId, calls, trace } = origin
  const agent = agentTitle(client)
  const eventsTitle = agent === null ? 'Events' : `Events of ${agent}`
  const effectLine = (id: string) => `  ${display.style.dim(`effect ${terminalSafe(id)}`)}`
  return [
    ...observationLines(observation, display),
    ...section('Prompt', promptLines(origin, full, display), display),
    ...section(eventsTitle, sourceLines(origin, receivedFromText(observation, null), full, display), display),
    ...(effectId === null ? [] : [...callSection(calls, display), effectLine(effectId)]),
    ...(trace.length === 0 ? [] : section('Transitions', traceLines(trace, 0, display), display)),
  ]
}

function promptLines({ prompt }: ObservationProvenance, full: boolean, display: Display): string[] {
  const { style, now, columns } = display
  if (prompt === null) return [`  ${style.dim('no prompt is known')}`]
  const text = prompt.private ? '(private)' : prompt.text
  const lines = paragraphLines(text, paragraphWidth(columns, QUOTE_COLUMNS))
  const shown = full ? lines : lines.slice(0, SHOWN_LINES)
  const more = lines.length - shown.length
  return [
    `  ${style.dim(`prompt ${prompt.number}, ${formatClockTime(prompt.at, now)}`)}`,
    ...quoteLines(shown, display),
    ...(more > 0 ? [`  ${style.dim(`${pluralize(more, 'more line')}: --full`)}`] : []),
  ]
}

/** `received`: where the observation came from; null: it was learned here. */
function sourceLines(
  { events }: ObservationProvenance,
  received: string | null,
  full: boolean,
  display: Display,
): string[] {
  const { dim } = display.style
  const why = received === null ? 'it was written by hand or imported' : `it was ${received}, where its events are`
  if (events.length === 0) return [`  ${dim(terminalSafe(`none: ${why}`))}`]
  const shown = full ? events : events.slice(0, SHOWN_EVENTS)
  const more = events.length - shown.length
  return [
    ...shown.flatMap((event) => eventLines(event, full, display)),
    ...(more > 0 ? [`  ${dim(`${pluralize(more, 'more event')}: --full`)}`] : []),
  ]
}

function eventLines(event: EventWithPayload, full: boolean, display: Display): string[] {
  const { style, now, columns } = display
  const failed = event.attempts === 0 ? '' : `, ${pluralize(event.attempts, 'failed attempt')}`
  const head = `  ${style.cyan(terminalSafe(event.eventId))}  ${style.dim(formatClockTime(event.at, now))}  ${eventName(event)}${failed}`
  if (full) return [head, ...payloadLines(event.payload, true, display)]
  const excerpt = payloadExcerpt(event.payload, paragraphWidth(columns, QUOTE_COLUMNS))
  return [head, ...quoteLines([style.dim(excerpt)], display)]
}

/** `tool_use Read` */
function eventName({ kind, tool }: EventWithPayload): string {
  return [kind, ...(tool === null ? [] : [tool])].map(terminalSafe).join(' ')
}

function quoteLines(lines: readonly string[], { style }: Display): string[] {
  return lines.map((line) => `  ${style.dim('│')} ${line}`.trimEnd())
}

export function eventViewLines(view: EventView, full: boolean, display: Display): string[] {
  const { event, message, observations, calls, trace } = view
  const { style, now } = display
  const attempts = Math.max(event.attempts, message?.attempts ?? 0)
  return [
    `${style.bold('Event')} ${terminalSafe(event.eventId)}  ${style.cyan(eventName(event))}`,
    '',
    ...fieldLines(
      [
        ['session', terminalSafe(event.session)],
        ['happened', `${formatClockTime(event.at, now)} (${formatAgo(event.at, now)})`],
        ['received', receivedText(event, now)],
        ['outcome', outcomeText(event, message, display)],
        ['attempts', attempts === 0 ? null : pluralize(attempts, 'failed attempt')],
        ['effect', event.effectId && terminalSafe(event.effectId)],
      ],
      display,
    ),
    ...section('Payload', eventPayloadLines(event, full, display), display),
    ...(observations.length === 0 ? [] : section('Observations', observations.map(observationLine(display)), display)),
    ...(event.effectId === null && calls.length === 0 ? [] : callSection(calls, display)),
    ...section('Transitions', traceLines(trace, 0, display), display),
  ]
}

/** Only for an event that was spooled or read from a transcript, and so received later than it happened. */
function receivedText({ at, receivedAt }: EventWithPayload, now: number): string | null {
  return receivedAt - at < 1_000 ? null : `${formatClockTime(receivedAt, now)} (${formatAgo(receivedAt, now)})`
}

function outcomeText(event: EventWithPayload, message: InboxMessage | null, { style, now }: Display): string {
  if (message !== null) {
    const { status, claimedAt, effectId, error } = message
    const why = error === null ? '' : `: ${terminalSafe(error)}`
    if (status === 'failed') return style.red(`failed${why}; to retry it: claude-mem queue retry`)
    if (status === 'pending') return style.yellow(`none yet: it waits for the observer${why}`)
    const since = claimedAt === null ? '' : ` since ${formatClockTime(claimedAt, now)}`
    return style.cyan(`none yet: it is with the observer${since}, effect ${terminalSafe(effectId ?? '?')}`)
  }
  if (event.outcome === null) return style.dim('unknown')
  const reason = event.reason === null ? '' : `: ${terminalSafe(event.reason)}`
  const ids = event.observationIds.map((id) => `#${id}`).join(', ')
  return `${terminalSafe(event.outcome)}${ids === '' ? '' : ` in ${ids}`}${reason}`
}

/** Events with the outcome `noted` never had a payload, so it is not missing. */
function eventPayloadLines({ kind, outcome, payload }: EventWithPayload, full: boolean, display: Display): string[] {
  if (payload !== null || outcome !== 'noted') return payloadLines(payload, full, display)
  const why =
    kind === 'prompt' ? 'the text is stored with the prompts of the session' : 'only that it happened is stored'
  return [`  ${display.style.dim(`none: ${why}`)}`]
}

function observationLine({ style, columns }: Display): (observation: Observation) => string {
  return (observation) => {
    const { id, type } = observation
    const head = `#${id}  ${TYPE_ICONS[type]} ${type}`
    const title = truncate(terminalSafe(observationTitle(observation)), paragraphWidth(columns, head.length + 6))
    return `  ${style.cyan(head)}  ${title}`
  }
}

function payloadLines(payload: MemoryEvent | null, full: boolean, display: Display): string[] {
  if (payload === null) {
    return [`  ${display.style.dim('removed; CLAUDE_MEM_KEEP_PAYLOADS_DAYS sets how long payloads are kept')}`]
  }
  return payloadParts(payload).flatMap(([label, value]) => payloadPartLines(label, value, full, display))
}

function payloadPartLines(label: string, value: unknown, full: boolean, display: Display): string[] {
  const text = payloadText(value)
  const start = full ? text : text.slice(0, SHOWN_CHARS)
  const lines = paragraphLines(start, paragraphWidth(display.columns, QUOTE_COLUMNS))
  const shown = full ? lines : lines.slice(0, SHOWN_LINES)
  const isTruncated = shown.length < lines.length || start.length < text.length
  const heading = isTruncated ? `${label}, ${text.length} characters, truncated (--full: all)` : label
  return [`  ${display.style.dim(heading)}`, ...quoteLines(shown, display)]
}

/** One line of the first part. */
function payloadExcerpt(payload: MemoryEvent | null, width: number): string {
  if (payload === null) return 'payload removed'
  const [first] = payloadParts(payload)
  return first === undefined ? '' : truncate(terminalSafe(payloadText(first[1]).slice(0, SHOWN_CHARS)), width)
}

function payloadParts(event: MemoryEvent): [label: string, value: unknown][] {
  switch (event.kind) {
    case 'session_start':
      return [['source', event.source]]
    case 'prompt':
      return [['prompt', event.private ? '(private)' : event.text]]
    case 'tool_use':
      return [
        ['input', event.input],
        ['response', event.response],
      ]
    case 'tool_failure':
      return [
        ['input', event.input],
        ['error', event.error],
      ]
    case 'subagent_end':
      return [['last message', event.lastMessage]]
    case 'pre_compact':
      return [['trigger', event.trigger]]
    case 'turn_end':
      return [
        ['last message', event.lastMessage ?? event.error ?? ''],
        ...event.words.map((text): [string, unknown] => ['words', text]),
      ]
    case 'session_end':
      return [['reason', event.reason]]
  }
}

function payloadText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Lines of a sent or received text, without --full. */
const SHOWN_CALL_LINES = 12
/** A line of a call may hold a whole file. */
const SHOWN_CALL_COLUMNS = 160

export interface SessionCalls {
  session: string
  /** Oldest first. */
  calls: readonly CallRow[]
  /** There are older ones. */
  more: boolean
}

export function sentLines({ session, calls, more }: SessionCalls, full: boolean, display: Display): string[] {
  const { style } = display
  const title = `${style.bold('Sent to a model')} by session ${terminalSafe(session)}`
  if (calls.length === 0) return [title, '', 'Nothing: no call to a model was made for it.']
  return [
    title,
    style.dim("Each call also sent the observer's instructions and, within a conversation, the messages before it."),
    ...(more ? [style.dim('There are older calls: --limit N')] : []),
    ...calls.flatMap((call) => ['', ...callLines(call, display), ...callTextLines(call, full, display)]),
  ]
}

/** Calls are made for a batch, so they belong to all messages in it. */
function callSection(calls: readonly CallFigures[], display: Display): string[] {
  if (calls.length === 0) return section('Calls', [`  ${display.style.dim('none: no model was called')}`], display)
  const lines = calls.flatMap((call) => callLines(call, display)).map((line) => `  ${line}`)
  return section('Calls', lines, display)
}

/** A call without its texts. */
function callLines(call: CallFigures, { style, now }: Display): string[] {
  const { usage } = call
  const head = [
    style.bold(`#${call.id}`),
    style.dim(formatClockTime(call.at, now)),
    style.cyan(call.kind),
    `${terminalSafe(call.provider)} ${terminalSafe(call.model)}`,
    formatDuration(call.durationMs),
    costText(call),
  ]
  const counts = [
    `${formatCount(usage.input)} in`,
    `${formatCount(usage.output)} out`,
    `${formatCount(usage.cacheRead)} cache read`,
    `${formatCount(usage.cacheWrite)} cache write`,
    pluralize(call.observations, 'observation'),
    `effect ${terminalSafe(call.effectId)}`,
    ...(call.promptVersion === null ? [] : [`prompts ${terminalSafe(call.promptVersion)}`]),
  ]
  return [
    head.join('  '),
    `  ${style.dim(counts.join(', '))}`,
    ...(call.error === null ? [] : [`  ${style.red(`failed: ${terminalSafe(call.error)}`)}`]),
  ]
}

/** A call without tokens costs nothing, even if the price is unknown. */
function costText({ cost, usage }: CallFigures): string {
  if (cost !== null) return formatMoney(cost)
  return Object.values(usage).some((count) => count > 0) ? 'price not known' : formatMoney(0)
}

function callTextLines({ sent, received }: CallRow, full: boolean, display: Display): string[] {
  const { dim } = display.style
  if (sent === null) {
    return [`  ${dim('The texts were removed; CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS sets how long they are kept.')}`]
  }
  return [
    ...quotedText('sent', sent, full, display),
    ...(received === null ? [`  ${dim('nothing received')}`] : quotedText('received', received, full, display)),
  ]
}

/** Unlike payloads, these texts keep their line breaks. */
function quotedText(title: string, text: string, full: boolean, display: Display): string[] {
  const { style, columns } = display
  const lines = text.split(/\r\n|[\r\n]/)
  const width = Math.min(SHOWN_CALL_COLUMNS, columns ?? SHOWN_CALL_COLUMNS) - QUOTE_COLUMNS
  const some = full ? lines : lines.slice(0, SHOWN_CALL_LINES)
  const shown = some.map((line) =>
    full ? terminalSafe(line) : truncate(terminalSafe(line.slice(0, SHOWN_CALL_COLUMNS)), width),
  )
  const more = lines.length - shown.length
  const isTooWide = (line: string) => line.length > SHOWN_CALL_COLUMNS || displayWidth(terminalSafe(line)) > width
  const isTruncated = !full && some.some(isTooWide)
  const hint = more > 0 ? `${pluralize(more, 'more line')}: --full` : isTruncated ? 'truncated: --full' : null
  return [
    `  ${title}, ${pluralize(text.length, 'character')}`,
    ...quoteLines(shown, display),
    ...(hint === null ? [] : [`  ${style.dim(hint)}`]),
  ]
}
