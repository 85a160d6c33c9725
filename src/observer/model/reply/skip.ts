/** `<skip reason="…"/>`: there was nothing to say, and why. */
import { MAX_REASON_CHARS } from './bounds.ts'
import type { Element } from './element.ts'
import { inLine, plainText, tidy } from './text.ts'

const NO_REASON = 'no reason given'
const TAG = /<[^<>]{1,100}>/g

/** Null where prose merely mentions the tag: it is not closed, says no reason and does not begin its line. */
export function reasonOf(reply: string, element: Element): string | null {
  const attribute = inLine(tidy(element.attributes?.get('reason') ?? ''), MAX_REASON_CHARS)
  if (attribute !== '') return attribute
  const words = plainText(element.loose.trimStart().slice(0, MAX_LOOSE_CHARS).replace(TAG, ' '), MAX_REASON_CHARS)
  if (element.closed) return inLine(words, MAX_REASON_CHARS) || NO_REASON
  const before = reply.slice(Math.max(0, element.start - MAX_INDENT_CHARS), element.start)
  if (before.slice(before.lastIndexOf('\n') + 1).trim() !== '') return null
  return inLine(words.split('\n')[0] ?? '', MAX_REASON_CHARS) || NO_REASON
}

/** How far back the beginning of a line is looked for. */
const MAX_INDENT_CHARS = 100
/** Tags and entities make a reason longer than it reads. */
const MAX_LOOSE_CHARS = 4 * MAX_REASON_CHARS

export function joinedReasons(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : inLine([...new Set(reasons)].join('; '), MAX_REASON_CHARS)
}
