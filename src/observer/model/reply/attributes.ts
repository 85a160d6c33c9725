/** Reads what stands between a tag's name and its end. Attributes may be quoted in either way, or not at all. */
import { skip } from './sticky.ts'
import { decodeEntities } from './text.ts'

/** Names are in lower case, without hyphens and underscores. */
export type Attributes = ReadonlyMap<string, string>

export interface TagEnd {
  attributes: Attributes
  /** `<file/>`: nothing is inside. */
  empty: boolean
  /** Index behind the tag. */
  end: number
}

const NO_ATTRIBUTES: Attributes = new Map()

/** A tag that goes on for longer was never closed; a reason or a path fits well into it. */
const MAX_TAG_CHARS = 4_096

const SPACE = /\s*/y
const NAME = /[^\s=<>/"']{1,64}/y
const BARE_VALUE = /[^\s<>"'`]{1,1024}/y

/** From behind the name; null where the reply ends before the tag does. A tag that another one interrupts ends there. */
export function readTagEnd(reply: string, from: number): TagEnd | null {
  const attributes = new Map<string, string>()
  const limit = Math.min(reply.length, from + MAX_TAG_CHARS)
  let at = from
  while (at < limit) {
    at = skip(SPACE, reply, at)
    const char = reply[at]
    if (char === undefined) return null
    if (char === '>') return { attributes, empty: false, end: at + 1 }
    if (char === '/' && reply[at + 1] === '>') return { attributes, empty: true, end: at + 2 }
    if (char === '<') return { attributes: NO_ATTRIBUTES, empty: false, end: from }
    const nameEnd = skip(NAME, reply, at)
    if (nameEnd === at) {
      at++
      continue
    }
    const name = reply.slice(at, nameEnd).toLowerCase().replace(/[-_]/g, '')
    const value = readValue(reply, nameEnd)
    if (value === null) return null
    if (!attributes.has(name)) attributes.set(name, decodeEntities(value.text))
    at = value.end
  }
  return null
}

function readValue(reply: string, from: number): { text: string; end: number } | null {
  const equals = skip(SPACE, reply, from)
  if (reply[equals] !== '=') return { text: '', end: from }
  const start = skip(SPACE, reply, equals + 1)
  const quote = reply[start]
  if (quote === '"' || quote === "'") {
    // Looked for in a slice: a text full of single quotes must not be read to its end for each.
    const length = reply.slice(start + 1, start + MAX_TAG_CHARS).indexOf(quote)
    return length < 0 ? null : { text: reply.slice(start + 1, start + 1 + length), end: start + length + 2 }
  }
  let end = skip(BARE_VALUE, reply, start)
  if (reply[end - 1] === '/' && reply[end] === '>') end--
  return { text: reply.slice(start, end), end }
}
