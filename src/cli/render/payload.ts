/** What a hook reported, in a few lines. It was masked before it was stored; here it is only cut. */
import type { MemoryEvent } from '../../memory/event.ts'
import type { Look } from '../style.ts'
import { clean, cut, wrap } from '../text.ts'

/** Of each part, unless all of it is asked for. */
const SHOWN_LINES = 4
const MAX_COLUMNS = 100
/** The mark before a quoted line, with its blanks. */
const QUOTE_COLUMNS = 4
/** Only so much of a part is looked at for an excerpt: it may hold megabytes. */
const LOOKED_AT_CHARS = SHOWN_LINES * MAX_COLUMNS * 2

export function payloadLines(payload: MemoryEvent | null, full: boolean, look: Look): string[] {
  const { style } = look
  if (payload === null) {
    return [`  ${style.dim('no longer kept; CLAUDE_MEM_KEEP_PAYLOADS_DAYS says for how long payloads are')}`]
  }
  return partsOf(payload).flatMap(([label, value]) => part(label, value, full, look))
}

function part(label: string, value: unknown, full: boolean, look: Look): string[] {
  const { style, columns } = look
  const width = Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS) - QUOTE_COLUMNS
  const text = textOf(value)
  const looked = full ? text : text.slice(0, LOOKED_AT_CHARS)
  const lines = looked
    .split(/\r\n|[\r\n]/)
    .map((line) => clean(line).trimEnd())
    .filter((line) => line !== '')
    .flatMap((line) => wrap(line, Math.max(width, 1)))
  const shown = full ? lines : lines.slice(0, SHOWN_LINES)
  const isCut = shown.length < lines.length || looked.length < text.length
  return [
    `  ${style.dim(isCut ? `${label}, ${text.length} characters, its beginning (--full: all)` : label)}`,
    ...shown.map((line) => `  ${style.dim('│')} ${line}`),
  ]
}

/** One line: the telling part. */
export function payloadExcerpt(payload: MemoryEvent | null, width: number): string {
  if (payload === null) return 'payload no longer kept'
  const [first] = partsOf(payload)
  return first === undefined ? '' : cut(clean(textOf(first[1]).slice(0, LOOKED_AT_CHARS)), width)
}

function partsOf(event: MemoryEvent): [label: string, value: unknown][] {
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
      return [['last message', event.lastMessage ?? event.error ?? '']]
    case 'session_end':
      return [['reason', event.reason]]
  }
}

/** Text as it is; anything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
