/**
 * The fields of an element, by these rules:
 *
 * - A field goes on to its own closing tag, whatever tags are in between: they are text. It has none if the same tag
 *   opens again first, or another observation begins after this one was closed.
 * - A field without its closing tag ends where the next part of the grammar begins. What the element already has does
 *   not begin again, so a tag that the text merely mentions does not end it.
 * - A list takes its items by the same rules; what stands between them is kept as loose text.
 */
import type { Cursor } from './cursor.ts'
import { addTo, type Element, type Entry, type Item } from './element.ts'
import type { Tag } from './scan.ts'
import { ITEM_OF, LIST_OF, type ListName } from './tags.ts'
import { withoutTornEnd } from './torn.ts'

/** Reads what begins with this tag, or passes over it. */
export function readField(cursor: Cursor, element: Element, tag: Tag): void {
  const { is } = tag
  if (tag.form === 'close') cursor.pass(tag)
  else if (is.role === 'text' && tag.form === 'open') addTo(element.texts, is.name, readText(cursor, element, tag))
  else if (is.role === 'root') addTo(element.texts, 'narrative', readText(cursor, element, tag))
  else if (is.role === 'list' && tag.form === 'open') readList(cursor, element, tag, is.name)
  else {
    const list = is.role === 'item' ? LIST_OF[is.name] : null
    if (list === null) cursor.pass(tag)
    else addTo(element.lists, list, readItem(cursor, element, tag, { name: list, end: cursor.tags.length }))
  }
}

/** The list that an item stands in, and the index of the tag that ends it. */
interface Within {
  name: ListName
  end: number
}

function readText(cursor: Cursor, element: Element, tag: Tag, within: Within | null = null): string {
  const closing = cursor.closing(cursor.next)
  const closed = closing !== null && closing < (within?.end ?? cursor.tags.length)
  const end = closed ? closing : endOfOpen(cursor, element, within)
  const stop = cursor.stopAt(end)
  if (stop === null) return withoutTornEnd(cursor.reply.slice(tag.end))
  const raw = cursor.reply.slice(tag.end, stop.start)
  const isOwn = stop.is.name === tag.is.name
  if (closed || (isOwn && (stop.form === 'close' || isMissingSlash(cursor, end)))) cursor.pass(stop)
  return raw
}

/** `<title>…<title>`: nothing but space behind it, so it was meant to close. */
function isMissingSlash(cursor: Cursor, index: number): boolean {
  const tag = cursor.tags[index]
  return tag?.form === 'open' && cursor.reply.slice(tag.end, cursor.tags[index + 1]?.start).trim() === ''
}

/** Index of the tag that ends the field at the cursor, which has no closing tag of its own. */
function endOfOpen(cursor: Cursor, element: Element, within: Within | null): number {
  const own = cursor.tags[cursor.next]?.is.name
  const limit = within?.end ?? cursor.tags.length
  for (let index = cursor.next + 1; index < limit; index++) {
    const tag = cursor.tags[index]
    if (tag === undefined || tag.is.name === own || endsOpen(element, tag)) return index
    if (within !== null && isItemOf(within.name, tag)) return index
  }
  return limit
}

function endsOpen(element: Element, { is, form }: Tag): boolean {
  switch (is.role) {
    case 'root':
    case 'list':
    case 'thought':
      return true
    case 'wrapper':
      return form === 'close'
    case 'text':
      return !element.texts.has(is.name)
    case 'item':
    case 'part':
      return false
  }
}

function isItemOf(list: ListName, tag: Tag): boolean {
  return tag.is.name === ITEM_OF[list] || tag.is.name === 'item'
}

function readList(cursor: Cursor, element: Element, open: Tag, name: ListName): void {
  const closing = cursor.closing(cursor.next)
  const within = { name, end: closing ?? cursor.tags.length }
  const add = (entry: Entry): void => addTo(element.lists, name, entry)
  cursor.pass(open)
  let looseFrom = open.end
  const addLoose = (until: number): void => {
    if (until > looseFrom) add({ kind: 'loose', raw: cursor.reply.slice(looseFrom, until) })
  }
  while (cursor.next < within.end) {
    const tag = cursor.tags[cursor.next]
    if (tag === undefined || endsList(cursor, element, tag, closing)) break
    if (!isItemOf(name, tag)) {
      cursor.pass(tag)
      continue
    }
    addLoose(tag.start)
    // A closing tag that closes nothing is no part of the text around it.
    if (tag.form === 'close') cursor.pass(tag)
    else add(readItem(cursor, element, tag, within))
    looseFrom = cursor.at
  }
  const stop = cursor.stopAt(cursor.next)
  if (stop === null) {
    add({ kind: 'loose', raw: withoutTornEnd(cursor.reply.slice(looseFrom)) })
    return
  }
  addLoose(stop.start)
  if (stop.is.name === name && stop.form === 'close') cursor.pass(stop)
}

function endsList(cursor: Cursor, element: Element, tag: Tag, closing: number | null): boolean {
  if (closing === null) return endsOpen(element, tag)
  // Another whole list inside: this one was closed too late.
  const inner = tag.is.role === 'list' && tag.form === 'open' ? cursor.closing(cursor.next) : null
  return inner !== null && inner < closing
}

function readItem(cursor: Cursor, element: Element, tag: Tag, within: Within): Item {
  if (tag.form === 'empty') {
    cursor.pass(tag)
    return { kind: 'item', attributes: tag.attributes, raw: '', parts: new Map() }
  }
  const first = cursor.next + 1
  const raw = readText(cursor, element, tag, within)
  const parts = within.name === 'functions_changed' ? partsOf(cursor, first) : new Map<string, string>()
  return { kind: 'item', attributes: tag.attributes, raw, parts }
}

/** `<function><name>…</name><file>…</file></function>`: from the tag at `first` to the cursor. */
function partsOf(cursor: Cursor, first: number): Map<string, string> {
  const parts = new Map<string, string>()
  for (let index = first; index < cursor.next; index++) {
    const part = cursor.tags[index]
    if (part === undefined || part.form !== 'open' || (part.is.role !== 'part' && part.is.name !== 'file')) continue
    const close = cursor.closing(index)
    if (close !== null && close < cursor.next)
      parts.set(part.is.name, cursor.reply.slice(part.end, cursor.tags[close]?.start))
  }
  return parts
}
