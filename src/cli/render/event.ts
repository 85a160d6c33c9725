/** `inspect --message`: what became of one event. */
import { ICONS, titleOf } from '../../context/lines.ts'
import type { Observation } from '../../memory/observation.ts'
import type { CallFigures, EventView, SourceEvent } from '../../store/origin-port.ts'
import type { Message } from '../../store/port.ts'
import type { Look } from '../style.ts'
import { fields } from '../table.ts'
import { clean, counted, cut } from '../text.ts'
import { ago, clockTime } from '../times.ts'
import { callFigureLines } from './calls.ts'
import { payloadLines } from './payload.ts'
import { section } from './section.ts'
import { traceLines } from './trace.ts'

const MAX_COLUMNS = 100

export function eventViewLines({ event, message, observations, calls, trace }: EventView, full: boolean, look: Look) {
  const { style, now } = look
  const what = [event.kind, ...(event.tool === null ? [] : [event.tool])].map(clean).join(' ')
  return [
    `${style.bold('Event')} ${clean(event.eventId)}  ${style.cyan(what)}`,
    '',
    ...fields(
      [
        ['session', clean(event.session)],
        ['happened', `${clockTime(event.at, now)} (${ago(event.at, now)})`],
        ...late(event, now),
        ['became', outcomeText(event, message, look)],
        ...attempts(event, message),
      ],
      look,
    ),
    ...section('Payload', keptLines(event, full, look), look),
    ...(observations.length === 0 ? [] : section('Observations', observations.map(observationLine(look)), look)),
    ...(event.effectId === null && calls.length === 0 ? [] : callSection(calls, look)),
    ...section('Transitions', traceLines(trace, 0, look), look),
  ]
}

/** What only had to be noted never had a payload that could be gone. */
function keptLines({ kind, outcome, payload }: SourceEvent, full: boolean, look: Look): string[] {
  if (payload !== null || outcome !== 'noted') return payloadLines(payload, full, look)
  const kept = kind === 'prompt' ? "its text is among its session's prompts" : 'only that it happened is kept'
  return [`  ${look.style.dim(`none: ${kept}`)}`]
}

/** An event that was spooled, or read from a transcript, came in later than it happened. */
function late({ at, receivedAt }: SourceEvent, now: number): [string, string][] {
  return receivedAt - at < 1_000 ? [] : [['received', `${clockTime(receivedAt, now)} (${ago(receivedAt, now)})`]]
}

function outcomeText(event: SourceEvent, message: Message | null, { style, now }: Look): string {
  if (message !== null) {
    const { status, claimedAt, effectId, error } = message
    const why = error === null ? '' : `: ${clean(error)}`
    if (status === 'failed') return style.red(`set aside${why}; claude-mem queue retry brings it back`)
    if (status === 'pending') return style.yellow(`nothing yet: it waits for the observer${why}`)
    const since = claimedAt === null ? '' : ` since ${clockTime(claimedAt, now)}`
    return style.cyan(`nothing yet: it is with the observer${since}, effect ${clean(effectId ?? '?')}`)
  }
  if (event.outcome === null) return style.dim('nothing that is known')
  const reason = event.reason === null ? '' : `: ${clean(event.reason)}`
  const ids = event.observationIds.map((id) => `#${id}`).join(', ')
  return `${clean(event.outcome)}${ids === '' ? '' : ` in ${ids}`}${reason}`
}

function attempts({ attempts, effectId }: SourceEvent, message: Message | null): [string, string][] {
  const failed = Math.max(attempts, message?.attempts ?? 0)
  return [
    ...(failed === 0 ? [] : [['attempts', counted(failed, 'failed attempt')] as [string, string]]),
    ...(effectId === null ? [] : [['effect', clean(effectId)] as [string, string]]),
  ]
}

function observationLine({ style, columns }: Look) {
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS)
  return (observation: Observation) => {
    const { id, type } = observation
    const head = `#${id}  ${ICONS[type]} ${type}`
    return `  ${style.cyan(head)}  ${cut(clean(titleOf(observation)), Math.max(width - head.length - 6, 1))}`
  }
}

/** The calls of the batch: they were made for all messages in it. */
export function callSection(calls: readonly CallFigures[], look: Look): string[] {
  if (calls.length === 0) return section('Calls', [`  ${look.style.dim('none: no model was asked')}`], look)
  const lines = calls.flatMap((call) => callFigureLines(call, look)).map((line) => `  ${line}`)
  return section('Calls', lines, look)
}
