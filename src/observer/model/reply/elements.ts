/**
 * Finds the elements of a reply (observations, summaries, skips) and their fields, also in a damaged reply:
 *
 * - A field extends to its closing tag; tags in between are text. It counts as not closed if the same tag opens again
 *   first, or if another observation begins after this one was closed.
 * - A field without a closing tag ends at the next part of the grammar. A field that the element already has does not end
 *   it: that tag is only mentioned in the text.
 * - A list takes its items by the same rules; text between the items is kept as loose text.
 * - Thoughts and comments are skipped.
 * - A mark names earlier observations. It may be beside the elements or inside of one, and does not end it.
 */
import {
  type Attributes,
  ForwardSearch,
  ITEM_OF_LIST,
  LIST_OF_ITEM,
  type ListName,
  type RootName,
  scanTags,
  type Tag,
  type TextName,
  withoutTornEnd,
} from './tags.ts'

export interface ListItem {
  kind: 'item'
  attributes: Attributes
  raw: string
  /** Raw content of the tags inside; only a function has such parts. */
  parts: ReadonlyMap<string, string>
}
export type ListEntry = ListItem | { kind: 'loose'; raw: string }

export interface ReplyElement {
  root: RootName
  /** Null if the fields have no root around them. */
  attributes: Attributes | null
  texts: Map<TextName, string[]>
  lists: Map<ListName, ListEntry[]>
  /** Text outside all fields. */
  loose: string
  start: number
  end: number
  closed: boolean
}

interface ReplyElements {
  /** Outside of thoughts. */
  answered: ReplyElement[]
  /** With elements before the end of a thought whose beginning is missing, for a reply without others; null if none. */
  all: ReplyElement[] | null
  /** The numbers in `<resolved>` marks, as they are written. */
  resolved: string[]
}

export function readElements(reply: string): ReplyElements {
  const cursor = new Cursor(reply)
  const found: FoundElements = { elements: [], thoughtUntil: 0, thoughtFrom: null }
  for (let tag = cursor.peek(); tag !== null; tag = cursor.peek()) {
    if (tag.role === 'root' && tag.form !== 'close') found.elements.push(readRoot(cursor, tag, tag.name))
    else if (beginsBareElement(cursor, tag)) {
      found.elements.push(readFields(cursor, newElement(bareRoot(tag), null, tag)))
    } else if (tag.role === 'thought') skipThought(cursor, tag, found)
    else if (tag.role === 'mark') readMark(cursor, tag)
    else cursor.pass(tag)
  }
  const { elements, thoughtUntil, thoughtFrom } = found
  const whole = thoughtFrom === null ? elements : withoutTornThought(reply, elements, thoughtFrom)
  const answered = whole.filter((element) => element.start >= thoughtUntil)
  const isAnswered = ({ start }: Mark) => start >= thoughtUntil && start < (thoughtFrom ?? reply.length)
  const resolved = cursor.marks.filter(isAnswered).map(({ text }) => text)
  return { answered, all: answered.length === whole.length ? null : whole, resolved }
}

interface FoundElements {
  elements: ReplyElement[]
  /** Everything before this index belongs to a thought that has an end but no beginning. */
  thoughtUntil: number
  /** Everything from this index on belongs to a thought without an end; null if there is none. */
  thoughtFrom: number | null
}

function skipThought(cursor: Cursor, tag: Tag, found: FoundElements): void {
  cursor.pass(tag)
  if (tag.form === 'close') found.thoughtUntil = tag.end
  else if (tag.form === 'open' && tag.nextClose !== null) cursor.passTo(tag.nextClose)
  else if (tag.form === 'open') found.thoughtFrom ??= tag.start
}

/**
 * Removes what a cut-off thought quotes. If the reply ends in complete elements, only the closing tag of the thought is
 * missing, and those elements are the answer.
 */
function withoutTornThought(reply: string, elements: readonly ReplyElement[], from: number): ReplyElement[] {
  let first = elements.length
  let until = reply.length
  for (let element = elements[first - 1]; element?.closed === true; element = elements[first - 1]) {
    if (element.start < from || hasWords(reply.slice(element.end, until))) break
    until = element.start
    first--
  }
  return elements.filter((element, index) => element.start < from || index >= first)
}

const TAG_OR_FENCE = /<[^<>]{1,100}>|```\w*/g

function hasWords(text: string): boolean {
  return /\p{L}/u.test(text.replace(TAG_OR_FENCE, ''))
}

interface Mark {
  start: number
  text: string
}

/** Longer than any list of numbers. */
const MAX_MARK_CHARS = 1_000

/** The numbers are in an attribute or between the tags. */
function readMark(cursor: Cursor, tag: Tag): void {
  cursor.pass(tag)
  if (tag.form === 'close') return
  const next = cursor.peek()
  const inside = tag.form === 'open' ? cursor.reply.slice(tag.end, next?.start ?? cursor.reply.length) : ''
  const isClosed = next?.role === 'mark' && next.form === 'close'
  if (isClosed) cursor.pass(next)
  const written = [tag.attributes.get('ids') ?? tag.attributes.get('id') ?? '', isClosed ? inside : '']
  cursor.marks.push({ start: tag.start, text: written.join(' ').slice(0, MAX_MARK_CHARS) })
}

/** The position of the reader: the next tag, and the text before it. */
class Cursor {
  readonly reply: string
  readonly tags: readonly Tag[]
  /** Index of the next tag. */
  next = 0
  /** Index of the first character that was not read yet. */
  at = 0
  readonly marks: Mark[] = []
  readonly #commentEnd: ForwardSearch

  constructor(reply: string) {
    this.reply = reply
    this.tags = scanTags(reply)
    this.#commentEnd = new ForwardSearch(reply, '-->')
  }

  /** The next tag outside of comments. */
  peek(): Tag | null {
    for (let tag = this.tags[this.next]; tag !== undefined; tag = this.tags[this.next]) {
      const comment = this.reply.slice(this.at, tag.start).lastIndexOf('<!--')
      const end = comment < 0 ? -1 : this.#commentEnd.from(this.at + comment)
      if (end < tag.end) return tag
      this.at = end
      while ((this.tags[this.next]?.start ?? end) < end) this.next++
    }
    return null
  }

  pass(tag: Tag): void {
    this.next++
    this.at = tag.end
  }

  passTo(index: number): void {
    this.next = index + 1
    this.at = this.tags[index]?.end ?? this.reply.length
  }

  /** Moves to the start of a tag; an index after the last tag is the end of the reply. */
  stopAt(index: number): Tag | null {
    const tag = this.tags[index]
    this.next = index
    this.at = tag?.start ?? this.reply.length
    return tag ?? null
  }

  /** Index of the tag that closes the one at `index`; null if there is none. */
  closing(index: number): number | null {
    const tag = this.tags[index]
    const close = tag?.nextClose ?? null
    if (tag === undefined || close === null || (tag.nextRoot !== null && tag.nextRoot < close)) return null
    if (tag.nextOpen === null || tag.nextOpen > close) return close
    // A text may mention its own tag once, or its opening and closing tag.
    if (tag.role !== 'text' || tag.nextOpen !== index + 1 || close !== index + 2) return null
    const outer = this.tags[close]?.nextClose ?? null
    return outer === close + 1 ? outer : close
  }
}

function newElement(root: RootName, attributes: Attributes | null, { start, end }: Tag): ReplyElement {
  return { root, attributes, texts: new Map(), lists: new Map(), loose: '', start, end, closed: false }
}

function readRoot(cursor: Cursor, tag: Tag, name: RootName): ReplyElement {
  const element = newElement(name, tag.attributes, tag)
  cursor.pass(tag)
  return tag.form === 'empty' ? { ...element, closed: true } : readFields(cursor, element)
}

/** Fields without a root. The first one must be closed, otherwise any prose that mentions a tag would be an element. */
function beginsBareElement(cursor: Cursor, tag: Tag): boolean {
  return (tag.role === 'text' || tag.role === 'list') && tag.form === 'open' && cursor.closing(cursor.next) !== null
}

const SUMMARY_TEXTS: ReadonlySet<string> = new Set('request investigated learned completed next_steps notes'.split(' '))

function bareRoot(tag: Tag): RootName {
  return SUMMARY_TEXTS.has(tag.name) ? 'summary' : 'observation'
}

function readFields(cursor: Cursor, element: ReplyElement): ReplyElement {
  for (let tag = cursor.peek(); tag !== null; tag = cursor.peek()) {
    element.loose += cursor.reply.slice(cursor.at, tag.start)
    element.end = tag.start
    if (closesElement(element, tag)) {
      cursor.pass(tag)
      return { ...element, end: tag.end, closed: true }
    }
    if (endsElement(cursor, element, tag)) return element
    // A thought without an end would have ended the element.
    if (tag.role === 'thought') cursor.passTo(tag.nextClose ?? cursor.next)
    else if (tag.role === 'mark') readMark(cursor, tag)
    else readField(cursor, element, tag)
  }
  element.loose += cursor.reply.slice(cursor.at)
  element.end = cursor.reply.length
  return element
}

function closesElement(element: ReplyElement, { role, name, form }: Tag): boolean {
  return role === 'root' && form === 'close' && (name === element.root || element.attributes === null)
}

/** True for a tag that begins something else while the element is not closed. */
function endsElement(cursor: Cursor, element: ReplyElement, tag: Tag): boolean {
  switch (tag.role) {
    case 'root':
      return tag.form !== 'close' && !isNarrative(cursor, element, tag)
    case 'wrapper':
      return tag.form === 'close'
    case 'thought':
      return tag.form === 'close' || (tag.form === 'open' && tag.nextClose === null)
    case 'text':
      // Without roots, a second type or title begins the next observation.
      return (tag.name === 'type' || tag.name === 'title') && element.attributes === null && element.texts.has(tag.name)
    default:
      return false
  }
}

/** A `<summary>` that contains only text inside an observation is used as its narrative. */
function isNarrative(cursor: Cursor, element: ReplyElement, tag: Tag): boolean {
  return element.root === 'observation' && tag.name === 'summary' && tag.nextClose === cursor.next + 1
}

function readField(cursor: Cursor, element: ReplyElement, tag: Tag): void {
  if (tag.form === 'close') cursor.pass(tag)
  else if (tag.role === 'text' && (tag.form === 'open' || tag.attributes.size > 0)) {
    // `<amends id="12">…</amends>`: the number stands before the text.
    const id = tag.attributes.get('ids') ?? tag.attributes.get('id') ?? ''
    const text = tag.form === 'open' ? readText(cursor, element, tag) : ''
    if (tag.form === 'empty') cursor.pass(tag)
    addTo(element.texts, tag.name, id === '' ? text : `${id} ${text}`)
  } else if (tag.role === 'root') addTo(element.texts, 'narrative', readText(cursor, element, tag))
  else if (tag.role === 'list' && tag.form === 'open') readList(cursor, element, tag, tag.name)
  else {
    const list = tag.role === 'item' ? LIST_OF_ITEM[tag.name] : null
    if (list === null) cursor.pass(tag)
    else addTo(element.lists, list, readItem(cursor, element, tag, { name: list, end: cursor.tags.length }))
  }
}

function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}

/** The list around an item, and the index of the tag that ends it. */
interface EnclosingList {
  name: ListName
  end: number
}

function readText(cursor: Cursor, element: ReplyElement, tag: Tag, list: EnclosingList | null = null): string {
  const closing = cursor.closing(cursor.next)
  const closed = closing !== null && closing < (list?.end ?? cursor.tags.length)
  const end = closed ? closing : endOfUnclosed(cursor, element, list)
  const stop = cursor.stopAt(end)
  if (stop === null) return withoutTornEnd(cursor.reply.slice(tag.end))
  const raw = cursor.reply.slice(tag.end, stop.start)
  const isSameTag = stop.name === tag.name
  if (closed || (isSameTag && (stop.form === 'close' || lacksSlash(cursor, end)))) cursor.pass(stop)
  return raw
}

/** `<title>…<title>`: a tag with only space after it was meant to close. */
function lacksSlash(cursor: Cursor, index: number): boolean {
  const tag = cursor.tags[index]
  return tag?.form === 'open' && cursor.reply.slice(tag.end, cursor.tags[index + 1]?.start).trim() === ''
}

/** Index of the tag that ends the field at the cursor, which has no closing tag. */
function endOfUnclosed(cursor: Cursor, element: ReplyElement, list: EnclosingList | null): number {
  const own = cursor.tags[cursor.next]?.name
  const limit = list?.end ?? cursor.tags.length
  for (let index = cursor.next + 1; index < limit; index++) {
    const tag = cursor.tags[index]
    if (tag === undefined || tag.name === own || endsUnclosed(element, tag)) return index
    if (list !== null && isItemOf(list.name, tag)) return index
  }
  return limit
}

function endsUnclosed(element: ReplyElement, tag: Tag): boolean {
  switch (tag.role) {
    case 'root':
    case 'list':
    case 'thought':
      return true
    case 'mark':
      // Without numbers it is only mentioned.
      return tag.attributes.size > 0
    case 'wrapper':
      return tag.form === 'close'
    case 'text':
      return !element.texts.has(tag.name)
    case 'item':
    case 'part':
      return false
  }
}

function isItemOf(list: ListName, tag: Tag): boolean {
  return tag.name === ITEM_OF_LIST[list] || tag.name === 'item'
}

function readList(cursor: Cursor, element: ReplyElement, open: Tag, name: ListName): void {
  const closing = cursor.closing(cursor.next)
  const list = { name, end: closing ?? cursor.tags.length }
  const add = (entry: ListEntry): void => addTo(element.lists, name, entry)
  cursor.pass(open)
  let looseFrom = open.end
  const addLoose = (until: number): void => {
    if (until > looseFrom) add({ kind: 'loose', raw: cursor.reply.slice(looseFrom, until) })
  }
  while (cursor.next < list.end) {
    const tag = cursor.tags[cursor.next]
    if (tag === undefined || endsList(cursor, element, tag, closing)) break
    if (!isItemOf(name, tag)) {
      cursor.pass(tag)
      continue
    }
    addLoose(tag.start)
    // A stray closing tag is not part of the text around it.
    if (tag.form === 'close') cursor.pass(tag)
    else add(readItem(cursor, element, tag, list))
    looseFrom = cursor.at
  }
  const stop = cursor.stopAt(cursor.next)
  if (stop === null) {
    add({ kind: 'loose', raw: withoutTornEnd(cursor.reply.slice(looseFrom)) })
    return
  }
  addLoose(stop.start)
  if (stop.name === name && stop.form === 'close') cursor.pass(stop)
}

function endsList(cursor: Cursor, element: ReplyElement, tag: Tag, closing: number | null): boolean {
  if (closing === null) return endsUnclosed(element, tag)
  // Another complete list inside: this one was closed too late.
  const inner = tag.role === 'list' && tag.form === 'open' ? cursor.closing(cursor.next) : null
  return inner !== null && inner < closing
}

function readItem(cursor: Cursor, element: ReplyElement, tag: Tag, list: EnclosingList): ListItem {
  const first = cursor.next + 1
  let raw = ''
  if (tag.form === 'empty') cursor.pass(tag)
  else raw = readText(cursor, element, tag, list)
  return { kind: 'item', attributes: tag.attributes, raw, parts: readParts(cursor, first) }
}

/** `<function><name>…</name><file>…</file></function>`: from the tag at `first` to the cursor. */
function readParts(cursor: Cursor, first: number): Map<string, string> {
  const parts = new Map<string, string>()
  for (let index = first; index < cursor.next; index++) {
    const part = cursor.tags[index]
    if (part === undefined || part.form !== 'open' || (part.role !== 'part' && part.name !== 'file')) continue
    const close = cursor.closing(index)
    if (close !== null && close < cursor.next) {
      parts.set(part.name, cursor.reply.slice(part.end, cursor.tags[close]?.start))
    }
  }
  return parts
}
