/** What left the machine, and what came back: every call of a session to a model, with its words. */
import type { CallRow } from '../../store/accounting.ts'
import type { CallFigures } from '../../store/origin-port.ts'
import { money, tokens } from '../amounts.ts'
import type { Look } from '../style.ts'
import { clean, counted, cut } from '../text.ts'
import { clockTime, duration } from '../times.ts'

/** Of each text, unless all of it is asked for: its beginning tells what it is. */
const SHOWN_LINES = 12
/** A line may hold a whole file. */
const SHOWN_COLUMNS = 160
/** The mark before a quoted line, with its blanks. */
const QUOTE_COLUMNS = 4

export interface SessionCalls {
  session: string
  /** Oldest first. */
  calls: readonly CallRow[]
  /** There are older ones. */
  more: boolean
}

export function sentLines({ session, calls, more }: SessionCalls, full: boolean, look: Look): string[] {
  const { style } = look
  const title = `${style.bold('Sent to a model')} by session ${clean(session)}`
  if (calls.length === 0) return [title, '', 'Nothing: no call to a model was made for it.']
  return [
    title,
    style.dim("With each call went the observer's instructions and, within a conversation, the words before it."),
    ...(more ? [style.dim('There are older calls: --limit N')] : []),
    ...calls.flatMap((call) => ['', ...callLines(call, full, look)]),
  ]
}

function callLines(call: CallRow, full: boolean, look: Look): string[] {
  return [...callFigureLines(call, look), ...words(call, full, look)]
}

/** A call without its words: when, what for, with which model, at what price, and what came of it. */
export function callFigureLines(call: CallFigures, look: Look): string[] {
  const { style, now } = look
  const { usage } = call
  const head = [
    style.bold(`#${call.id}`),
    style.dim(clockTime(call.at, now)),
    style.cyan(call.kind),
    `${clean(call.provider)} ${clean(call.model)}`,
    duration(call.durationMs),
    priceOf(call),
  ]
  const counts = [
    `${tokens(usage.input)} in`,
    `${tokens(usage.output)} out`,
    `${tokens(usage.cacheRead)} cache read`,
    `${tokens(usage.cacheWrite)} cache write`,
    counted(call.observations, 'observation'),
    `effect ${clean(call.effectId)}`,
    ...(call.promptVersion === null ? [] : [`prompts ${clean(call.promptVersion)}`]),
  ]
  return [
    head.join('  '),
    `  ${style.dim(counts.join(', '))}`,
    ...(call.error === null ? [] : [`  ${style.red(`failed: ${clean(call.error)}`)}`]),
  ]
}

/** A call that used nothing cost nothing, whatever the price. */
function priceOf({ cost, usage }: CallFigures): string {
  if (cost !== null) return money(cost)
  return Object.values(usage).some((count) => count > 0) ? 'price not known' : money(0)
}

function words({ sent, received }: CallRow, full: boolean, look: Look): string[] {
  if (sent === null) {
    return [
      `  ${look.style.dim('Its words were removed; CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS says for how long they are kept.')}`,
    ]
  }
  return [
    ...quoted('sent', sent, full, look),
    ...(received === null ? [`  ${look.style.dim('nothing received')}`] : quoted('received', received, full, look)),
  ]
}

function quoted(title: string, text: string, full: boolean, { style, columns }: Look): string[] {
  const lines = text.split(/\r\n|[\r\n]/)
  const width = Math.min(SHOWN_COLUMNS, columns ?? SHOWN_COLUMNS) - QUOTE_COLUMNS
  const shown = full
    ? lines.map((line) => ({ words: clean(line), isCut: false }))
    : lines.slice(0, SHOWN_LINES).map((line) => beginning(line, width))
  const left = lines.length - shown.length
  const hint =
    left > 0 ? `${counted(left, 'more line')}: --full` : shown.some(({ isCut }) => isCut) ? 'cut: --full' : null
  return [
    `  ${title}, ${counted(text.length, 'character')}`,
    ...shown.map(({ words }) => `  ${style.dim('│')} ${words}`.trimEnd()),
    ...(hint === null ? [] : [`  ${style.dim(hint)}`]),
  ]
}

/** Only so much of a line is looked at: it may hold megabytes. */
function beginning(line: string, width: number): { words: string; isCut: boolean } {
  const start = clean(line.slice(0, SHOWN_COLUMNS))
  const words = cut(start, width)
  return { words, isCut: words !== start || line.length > SHOWN_COLUMNS }
}
