/** Finds the elements of a reply. Thoughts and comments between their parts are passed over. */
import type { Attributes } from './attributes.ts'
import { Cursor } from './cursor.ts'
import type { Element } from './element.ts'
import { readField } from './fields.ts'
import type { Tag } from './scan.ts'
import type { RootName } from './tags.ts'

export interface Elements {
  elements: Element[]
  /** Everything before was a thought: the end of it stands there without its beginning. */
  thoughtUntil: number
  /** Everything from here on is a thought that has no end; null for none. */
  thoughtFrom: number | null
}

export function readElements(reply: string): Elements {
  const cursor = new Cursor(reply)
  const found: Elements = { elements: [], thoughtUntil: 0, thoughtFrom: null }
  for (let tag = cursor.peek(); tag !== null; tag = cursor.peek()) {
    if (tag.is.role === 'root' && tag.form !== 'close') found.elements.push(readRoot(cursor, tag, tag.is.name))
    else if (beginsBareElement(cursor, tag))
      found.elements.push(readFields(cursor, newElement(bareRoot(tag), null, tag)))
    else if (tag.is.role === 'thought') passThought(cursor, tag, found)
    else cursor.pass(tag)
  }
  return found
}

function passThought(cursor: Cursor, tag: Tag, found: Elements): void {
  cursor.pass(tag)
  if (tag.form === 'close') found.thoughtUntil = tag.end
  else if (tag.form === 'open' && tag.nextClose !== null) cursor.passTo(tag.nextClose)
  else if (tag.form === 'open') found.thoughtFrom ??= tag.start
}

function newElement(root: RootName, attributes: Attributes | null, { start, end }: Tag): Element {
  return { root, attributes, texts: new Map(), lists: new Map(), loose: '', start, end, closed: false }
}

function readRoot(cursor: Cursor, tag: Tag, name: RootName): Element {
  const element = newElement(name, tag.attributes, tag)
  cursor.pass(tag)
  return tag.form === 'empty' ? { ...element, closed: true } : readFields(cursor, element)
}

/** Fields whose root was forgotten: the first of them has to be whole, else prose that mentions a tag would be one. */
function beginsBareElement(cursor: Cursor, tag: Tag): boolean {
  return (
    (tag.is.role === 'text' || tag.is.role === 'list') && tag.form === 'open' && cursor.closing(cursor.next) !== null
  )
}

const SUMMARY_TEXTS: ReadonlySet<string> = new Set('request investigated learned completed next_steps notes'.split(' '))

function bareRoot(tag: Tag): RootName {
  return SUMMARY_TEXTS.has(tag.is.name) ? 'summary' : 'observation'
}

function readFields(cursor: Cursor, element: Element): Element {
  for (let tag = cursor.peek(); tag !== null; tag = cursor.peek()) {
    element.loose += cursor.reply.slice(cursor.at, tag.start)
    element.end = tag.start
    if (closes(element, tag)) {
      cursor.pass(tag)
      return { ...element, end: tag.end, closed: true }
    }
    if (interrupts(cursor, element, tag)) return element
    // A thought that has no end interrupts, so this one has.
    if (tag.is.role === 'thought') cursor.passTo(tag.nextClose ?? cursor.next)
    else readField(cursor, element, tag)
  }
  element.loose += cursor.reply.slice(cursor.at)
  element.end = cursor.reply.length
  return element
}

function closes(element: Element, { is, form }: Tag): boolean {
  return is.role === 'root' && form === 'close' && (is.name === element.root || element.attributes === null)
}

function interrupts(cursor: Cursor, element: Element, tag: Tag): boolean {
  const { is, form } = tag
  switch (is.role) {
    case 'root':
      return form !== 'close' && !isNarrative(cursor, element, tag)
    case 'wrapper':
      return form === 'close'
    case 'thought':
      return form === 'close' || (form === 'open' && tag.nextClose === null)
    case 'text':
      // Without a root around them, a second type or title begins the next observation.
      return (is.name === 'type' || is.name === 'title') && element.attributes === null && element.texts.has(is.name)
    default:
      return false
  }
}

/** `<summary>` with nothing but words in it, inside an observation: how it sums itself up. */
function isNarrative(cursor: Cursor, element: Element, tag: Tag): boolean {
  return element.root === 'observation' && tag.is.name === 'summary' && tag.nextClose === cursor.next + 1
}
