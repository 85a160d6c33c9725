/** A reply that was cut off may end in the middle of a tag. */
import { beginsKnownTag, roleOf } from './tags.ts'

/** Longer than any tag with its attributes that a model writes. */
const MAX_TORN_CHARS = 1_000
/** An attribute may hold a bracket or two: `name="get<K, V`. */
const MAX_BRACKETS = 4

const TORN_NAME = /^<\/?([A-Za-z][\w-]{0,40})?$/
const TORN_ATTRIBUTES =
  /^<([A-Za-z][\w-]{0,40})(?:\s+[\w:-]{1,64}\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(?:\/|[\w:-]{1,64}(?:\s*=\s*(?:"[^"]*|'[^']*)?)?)?$/

/** What belongs to the text: neither the beginning of a tag nor the end of the fence around the whole reply. */
export function withoutTornEnd(raw: string): string {
  const text = withoutTornTag(raw).trimEnd()
  const fences = text.match(/^[ \t]{0,3}```/gm)?.length ?? 0
  return text.endsWith('\n```') && fences % 2 === 1 ? text.slice(0, -3) : text
}

function withoutTornTag(raw: string): string {
  const tail = raw.slice(-MAX_TORN_CHARS)
  let bracket = tail.lastIndexOf('<')
  for (let count = 0; bracket >= 0 && count < MAX_BRACKETS; count++) {
    if (isTornTag(tail.slice(bracket))) return raw.slice(0, raw.length - tail.length + bracket)
    bracket = bracket === 0 ? -1 : tail.lastIndexOf('<', bracket - 1)
  }
  return raw
}

function isTornTag(text: string): boolean {
  const name = TORN_NAME.exec(text)
  if (name !== null) return beginsKnownTag(name[1] ?? '')
  const written = TORN_ATTRIBUTES.exec(text)?.[1]
  return written !== undefined && roleOf(written) !== null
}
