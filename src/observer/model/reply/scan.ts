/**
 * One pass over a reply: finds the known tags, and says of each where the next of the same name opens and closes, so
 * that the reader can look ahead without searching. Linear in the reply.
 */

import { type Attributes, readTagEnd } from './attributes.ts'
import { skip } from './sticky.ts'
import { type Role, roleOf } from './tags.ts'

export interface Tag {
  is: Role
  form: 'open' | 'close' | 'empty'
  attributes: Attributes
  /** Where `<` stands, and where the text behind the tag begins. */
  start: number
  end: number
  /** Index of the next tag of this name that opens, or closes; null for none. */
  nextOpen: number | null
  nextClose: number | null
  /** Index of the next tag that opens an observation or a summary after one was closed: no field goes on past it. */
  nextRoot: number | null
}

const CDATA = '<![CDATA['
const CDATA_END = ']]>'
const NO_ATTRIBUTES: Attributes = new Map()
const NAME = /[A-Za-z_][\w.:-]{0,63}/y
const SPACE = /\s{0,16}/y

export function scanTags(reply: string): Tag[] {
  const tags: Tag[] = []
  const cdata = new Finder(reply, CDATA)
  const cdataEnd = new Finder(reply, CDATA_END)
  for (let at = reply.indexOf('<'); at >= 0; at = reply.indexOf('<', at)) {
    const tag = tagAt(reply, at)
    if (tag === null || isMentioned(reply, tag)) {
      at++
      continue
    }
    tags.push(tag)
    at = tag.form === 'open' && tag.is.role !== 'root' ? behindCdata(reply, tag.end, cdata, cdataEnd) : tag.end
  }
  link(tags)
  return tags
}

function tagAt(reply: string, start: number): Tag | null {
  const closing = reply[start + 1] === '/'
  const nameStart = skip(SPACE, reply, start + (closing ? 2 : 1))
  NAME.lastIndex = nameStart
  const name = NAME.exec(reply)?.[0]
  const is = name === undefined ? null : roleOf(name)
  if (name === undefined || is === null) return null
  const behind = nameStart + name.length
  const links = { nextOpen: null, nextClose: null, nextRoot: null }
  const ended = readTagEnd(reply, behind)
  if (ended === null) return null
  if (closing) return { is, form: 'close', attributes: NO_ATTRIBUTES, start, end: ended.end, ...links }
  // `a < title b >` is a comparison; `< title >` is a tag.
  if (nameStart > start + 1 && (ended.attributes.size > 0 || ended.end === behind)) return null
  return { is, form: ended.empty ? 'empty' : 'open', attributes: ended.attributes, start, end: ended.end, ...links }
}

/** A tag in backticks of its own is spoken of, not used; one that says something, as a skip does, is used. */
function isMentioned(reply: string, tag: Tag): boolean {
  if (tag.attributes.size > 0) return false
  return reply[tag.start - 1] === '`' && reply[tag.end] === '`' && reply[tag.start - 2] !== '`'
}

/** Behind the CDATA sections that a field begins with, whatever tags are in them; `from` where there is none. */
function behindCdata(reply: string, from: number, cdata: Finder, cdataEnd: Finder): number {
  let at = from
  for (;;) {
    const open = skip(SPACE, reply, at)
    if (!reply.startsWith(CDATA, open)) return at
    const end = cdataEnd.from(open)
    const another = cdata.from(open + CDATA.length)
    // A section that another one begins in was never closed.
    if (end < 0 || (another >= 0 && another < end)) return at
    at = end + CDATA_END.length
  }
}

/** Backwards, so that every tag sees what comes after it. */
function link(tags: readonly Tag[]): void {
  const opens = new Map<string, number>()
  const closes = new Map<string, number>()
  let rootOpen: number | null = null
  let nextRoot: number | null = null
  for (let index = tags.length - 1; index >= 0; index--) {
    const tag = tags[index]
    if (tag === undefined) continue
    tag.nextOpen = opens.get(tag.is.name) ?? null
    tag.nextClose = closes.get(tag.is.name) ?? null
    tag.nextRoot = nextRoot
    if (tag.form === 'open') opens.set(tag.is.name, index)
    if (tag.form === 'close') closes.set(tag.is.name, index)
    if (tag.is.name !== 'observation' && tag.is.name !== 'summary') continue
    if (tag.form === 'open') rootOpen = index
    if (tag.form === 'close') nextRoot = rootOpen
  }
}

/** `indexOf` for positions that only grow: what was found, or not found, is not searched for again. */
export class Finder {
  #asked = -1
  #found = -1

  constructor(
    readonly text: string,
    readonly needle: string,
  ) {}

  from(at: number): number {
    const known = this.#asked >= 0 && at >= this.#asked && (this.#found < 0 || this.#found >= at)
    if (!known) {
      this.#found = this.text.indexOf(this.needle, at)
      this.#asked = at
    }
    return this.#found
  }
}
