/**
 * Finds the elements of a reply (observations, summaries, skips) and their fields, also in a damaged reply:
 *
 * - A field extends to its closing tag; tags in between are text. It counts as not closed if the same tag opens again
 *   first.
 * - A field without a closing tag ends at the next part of the grammar. A field that the element already has does not end
 *   it: that tag is only mentioned in the text.
 * - A list takes its items by the same rules; text between the items is kept as loose text.
 * - Thoughts are skipped. What stands before the end of a thought without a beginning belongs to it.
 * - A mark names earlier observations. It may be beside the elements or inside of one, and does not end it.
 */
import { type Attributes, scanTags, type Tag, withoutTornTag } from './tags.ts'

export interface ListEntry {
  /** Null for loose text: what a list contains outside of item tags. */
  attributes: Attributes | null
  raw: string
}

export interface ReplyElement {
  root: string
  /** Null if the fields have no root around them. */
  attributes: Attributes | null
  texts: Map<string, string[]>
  lists: Map<string, ListEntry[]>
  /** Text outside all fields. */
  loose: string
  startsLine: boolean
  closed: boolean
}

interface ReplyElements {
  /** Outside of thoughts. */
  answered: ReplyElement[]
  /** With those before the end of a thought without a beginning, for a reply that has no others. */
  all: ReplyElement[]
  /** The numbers in `<resolved>` marks, as they are written. */
  marks: string[]
}

export function readElements(reply: string): ReplyElements {
  return new ElementReader(prepare(reply)).read()
}

function prepare(reply: string): string {
  const withoutCdata = replaceSections(reply, '<![CDATA[', ']]>', escapeMarkup).replaceAll('<![CDATA[', '')
  const text = replaceSections(withoutCdata, '<!--', '-->', (inside) => escapeMarkup(`<!--${inside}-->`))
  const isFenced = /^[^<]*```/.test(text) && text.trimEnd().endsWith('\n```')
  return withoutTornTag(isFenced ? text.trimEnd().slice(0, -3) : text)
}

/** Where a section with tags in it begins: at a line, or after a tag. Elsewhere its marker is only mentioned. */
const BEFORE_SECTION = /(?:^|[\n>])\s*$/

function replaceSections(text: string, open: string, close: string, replace: (inside: string) => string): string {
  const pieces = text.split(close)
  const rest = pieces.pop() ?? ''
  const replaced = pieces.map((piece) => {
    const at = piece.lastIndexOf(open)
    const inside = piece.slice(at + open.length)
    const isSection = !inside.includes('<') || BEFORE_SECTION.test(piece.slice(Math.max(0, at - 16), at))
    return at < 0 || !isSection ? piece + close : piece.slice(0, at) + replace(inside)
  })
  return replaced.join('') + rest
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

const LISTS = ['facts', 'concepts', 'files_read', 'functions_changed']
const SUMMARY_TEXTS = ['request', 'investigated', 'learned', 'completed', 'next_steps', 'notes']
/** Longer than any list of numbers. */
const MAX_MARK_CHARS = 1_000

type IsEnd = (tag: Tag) => boolean

/** One pass over the tags; the state is the element that is open and the thought that has no end. */
class ElementReader {
  readonly #text: string
  readonly #tags: readonly Tag[]
  /** Index of the next tag, and of the first character that was not read yet. */
  #next = 0
  #at = 0
  readonly #elements: ReplyElement[] = []
  readonly #marks: string[] = []
  #element: ReplyElement | null = null
  /** Number of elements before the end of a thought without a beginning. */
  #answerFrom = 0
  /** Number of elements before a thought without an end; null if there is none. */
  #thoughtFrom: number | null = null

  constructor(text: string) {
    this.#text = text
    this.#tags = scanTags(text)
  }

  read(): ReplyElements {
    for (let tag = this.#tags[0]; tag !== undefined; tag = this.#tags[this.#next]) {
      this.#addLoose(this.#text.slice(this.#at, tag.start))
      this.#continueAfter(tag.index)
      this.#readTag(tag)
    }
    this.#addLoose(this.#text.slice(this.#at))
    // If the reply ends in complete elements, only the closing tag of its thought is missing.
    const first = this.#thoughtFrom ?? this.#elements.length
    const last = this.#elements.slice(first)
    const complete = last.slice(last.findLastIndex(({ closed }) => !closed) + 1)
    const all = [...this.#elements.slice(0, first), ...complete]
    return { answered: all.slice(this.#answerFrom), all, marks: this.#marks }
  }

  #continueAfter(index: number): void {
    this.#next = index + 1
    this.#at = this.#tags[index]?.end ?? this.#text.length
  }

  #continueAt(index: number): void {
    this.#next = index
    this.#at = this.#tags[index]?.start ?? this.#text.length
  }

  #addLoose(text: string): void {
    if (this.#element !== null) this.#element.loose += text
    // The thought goes on: what it quoted before was not the answer.
    else if (this.#thoughtFrom !== null && /\p{L}/u.test(text.replace(/```\w*/g, ''))) {
      this.#elements.length = this.#thoughtFrom
    }
  }

  #readTag(tag: Tag): void {
    if (tag.role === 'root') this.#readRoot(tag)
    else if (tag.role === 'thought') this.#readThought(tag)
    else if (tag.role === 'mark') this.#readMark(tag)
    else if (tag.role === 'wrapper') this.#element = tag.form === 'close' ? null : this.#element
    else if (tag.form !== 'close') this.#readField(tag)
  }

  #readRoot(tag: Tag): void {
    const element = this.#element
    if (tag.form !== 'close') {
      // A summary that contains only text inside an observation is its narrative.
      const isNarrative = element?.root === 'observation' && tag.name === 'summary' && tag.close === tag.index + 1
      if (isNarrative) this.#readText(element, 'narrative', tag)
      else this.#begin(tag.name, tag.attributes, tag)
      if (tag.form === 'empty') this.#end()
    } else if (element?.root === tag.name || element?.attributes === null) this.#end()
  }

  #begin(root: string, attributes: Attributes | null, { start }: Tag): ReplyElement {
    const startsLine = /(?:^|\n)\s*$/.test(this.#text.slice(Math.max(0, start - 100), start))
    this.#element = { root, attributes, texts: new Map(), lists: new Map(), loose: '', startsLine, closed: false }
    this.#elements.push(this.#element)
    return this.#element
  }

  #end(): void {
    if (this.#element !== null) this.#element.closed = true
    this.#element = null
  }

  #readThought(tag: Tag): void {
    if (tag.close !== null) this.#continueAfter(tag.close)
    else if (tag.form !== 'empty') {
      this.#element = null
      if (tag.form === 'open') this.#thoughtFrom ??= this.#elements.length
      else {
        this.#answerFrom = this.#elements.length
        this.#marks.length = 0
      }
    }
  }

  /** The numbers are in an attribute or between the tags. */
  #readMark(tag: Tag): void {
    if (tag.form === 'close') return
    let written = tagIds(tag)
    if (tag.close === tag.index + 1) {
      this.#continueAt(tag.close)
      written += ` ${this.#text.slice(tag.end, this.#at)}`
    }
    if (this.#thoughtFrom === null) this.#marks.push(written.slice(0, MAX_MARK_CHARS))
  }

  #readField(tag: Tag): void {
    const element = this.#elementOf(tag)
    if (element === null) return
    const list = tag.role === 'item' ? LISTS.find((name) => name.startsWith(tag.name)) : undefined
    if (tag.role === 'text') this.#readText(element, tag.name, tag)
    else if (tag.role === 'list' && tag.form === 'open') this.#readList(element, tag)
    else if (list !== undefined) {
      const raw = this.#readContent(tag, endOfUnclosed(element))
      addTo(element.lists, list, { attributes: tag.attributes, raw })
    }
  }

  /** Fields without a root must begin with a closed one: else prose that mentions a tag would be an element. */
  #elementOf(tag: Tag): ReplyElement | null {
    const element = this.#element
    const isSecond = element?.attributes === null && ['type', 'title'].includes(tag.name) && element.texts.has(tag.name)
    if (element !== null && !isSecond) return element
    if (tag.role === 'item' || tag.close === null) return null
    return this.#begin(SUMMARY_TEXTS.includes(tag.name) ? 'summary' : 'observation', null, tag)
  }

  #readText(element: ReplyElement, name: string, tag: Tag): void {
    const raw = this.#readContent(tag, endOfUnclosed(element))
    // `<amends id="12">…</amends>`: the number stands before the text.
    addTo(element.texts, name, name === 'amends' ? `${tagIds(tag)} ${raw}` : raw)
  }

  #readList(element: ReplyElement, list: Tag): void {
    const limit = list.close ?? this.#tags.length
    // Another complete list inside: this one was closed too late.
    const isComplete: IsEnd = ({ role, close }) => role === 'list' && close !== null && close < limit
    const isEnd = list.close === null ? endOfUnclosed(element) : isComplete
    const isItem: IsEnd = ({ role, name }) => role === 'item' && (name === 'item' || list.name.startsWith(name))
    const add = (entry: ListEntry): void => addTo(element.lists, list.name, entry)
    let from = list.end
    let tag = this.#tags[this.#next]
    for (; tag !== undefined && this.#next < limit && !isEnd(tag); tag = this.#tags[this.#next]) {
      this.#continueAfter(tag.index)
      if (!isItem(tag)) continue
      add({ attributes: null, raw: this.#text.slice(from, tag.start) })
      if (tag.form !== 'close') {
        const raw = this.#readContent(tag, (other) => isItem(other) || isEnd(other), limit)
        add({ attributes: tag.attributes, raw })
      }
      from = this.#at
    }
    this.#continueAt(this.#next)
    add({ attributes: null, raw: this.#text.slice(from, this.#at) })
  }

  /** The raw content of a tag: to its closing tag, else to the first tag for which `isEnd` is true. */
  #readContent(tag: Tag, isEnd: IsEnd, limit = this.#tags.length): string {
    if (tag.form === 'empty') return ''
    let end = tag.index + 1
    if (tag.close !== null && tag.close < limit) end = tag.close
    else {
      for (let next = this.#tags[end]; next !== undefined && end < limit; next = this.#tags[++end]) {
        if (next.name === tag.name || isEnd(next)) break
      }
    }
    this.#continueAt(end)
    return this.#text.slice(tag.end, this.#at)
  }
}

function endOfUnclosed({ texts }: ReplyElement): IsEnd {
  return ({ role, name, form, attributes }) => {
    if (role === 'text') return !texts.has(name)
    // Without numbers a mark is only mentioned.
    if (role === 'mark') return attributes.size > 0
    return role === 'wrapper' ? form === 'close' : role !== 'item'
  }
}

function tagIds({ attributes }: Tag): string {
  return attributes.get('ids') ?? attributes.get('id') ?? ''
}

function addTo<V>(map: Map<string, V[]>, key: string, value: V): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
