/**
 * Finds the elements of a reply (observations, summaries, skips) and their fields, also in a damaged reply:
 *
 * - A field extends to its closing tag; tags in between are text. It counts as not closed if the same tag opens again
 *   first. Without a closing tag it ends at the next part of the grammar, but for a field that the element already has: that
 *   tag is only mentioned in the text.
 * - Thoughts are skipped. What stands before the end of a thought without a beginning belongs to it, if more follows.
 */
import { type Attributes, decodeEntities, prepareReply, scanTags, type Tag } from './tags.ts'

/** A text, or an item of a list, whose attributes may be the fields of a JSON object. */
export interface FieldEntry {
  attributes: Attributes
  raw: string
}

export interface ReplyElement {
  root: string
  /** Null if the fields have no root around them. */
  attributes: Attributes | null
  fields: Map<string, FieldEntry[]>
  /** Text outside all fields. */
  loose: string
  closed: boolean
}

export function readElements(reply: string): ReplyElement[] {
  return new ElementReader(reply).read()
}

const LISTS = ['facts', 'concepts', 'files_read', 'functions_changed']
const SUMMARY_TEXTS = ['request', 'investigated', 'learned', 'completed', 'next_steps', 'notes']

/** One pass over the tags; the state is what is open: an element, a thought. */
class ElementReader {
  readonly #text: string
  readonly #tags: readonly Tag[]
  readonly #elements: ReplyElement[] = []
  /** What stands before was read. */
  #at = 0
  #element: ReplyElement | null = null
  /** Number of elements before a thought without an end; null if there is none. */
  #thoughtFrom: number | null = null
  /** All elements so far were in a thought without a beginning. */
  #isThought = false

  constructor(reply: string) {
    this.#text = prepareReply(reply)
    this.#tags = scanTags(this.#text)
  }

  read(): ReplyElement[] {
    for (const tag of this.#tags) {
      if (tag.start < this.#at) continue
      this.#addLoose(this.#text.slice(this.#at, tag.start))
      this.#at = tag.end
      if (tag.role === 'thought') this.#readThought(tag)
      else if (tag.role === 'root') this.#readRoot(tag)
      else if (tag.form === 'close') this.#element = tag.role === 'wrapper' ? null : this.#element
      else if (tag.role !== 'wrapper') this.#readField(tag)
    }
    this.#addLoose(this.#text.slice(this.#at))
    // If the reply ends in complete elements, only the closing tag of its thought is missing.
    const isComplete = this.#elements.slice(this.#thoughtFrom ?? Infinity).every(({ closed }) => closed)
    return isComplete ? this.#elements : this.#elements.slice(0, this.#thoughtFrom ?? 0)
  }

  #addLoose(text: string): void {
    if (this.#element !== null) this.#element.loose += text
    // The thought goes on: what it quoted before was not the answer.
    else if (/\p{L}/u.test(text.replace(/```\w*/g, ''))) this.#elements.splice(this.#thoughtFrom ?? Infinity)
  }

  #readThought({ form, close }: Tag): void {
    if (close !== null) this.#at = close.end
    else if (form !== 'empty') {
      this.#element = null
      if (form === 'open') this.#thoughtFrom ??= this.#elements.length
      else this.#isThought = true
    }
  }

  #readRoot(tag: Tag): void {
    const element = this.#element
    const isEnd = tag.form === 'close' && (element?.root === tag.name || element?.attributes === null)
    // A summary that contains only text inside an observation is its narrative.
    const isNarrative = tag.name === 'summary' && tag.close?.index === tag.index + 1
    if (isNarrative && element?.root === 'observation') this.#addField(element, 'narrative', tag)
    else if (tag.form !== 'close') this.#begin(tag.name, tag.attributes)
    if (this.#element === null || !(isEnd || tag.form === 'empty')) return
    this.#element.closed = true
    this.#element = null
  }

  #begin(root: string, attributes: Attributes | null): ReplyElement {
    if (this.#isThought) this.#elements.length = 0
    this.#isThought = false
    this.#element = { root, attributes, fields: new Map(), loose: '', closed: false }
    this.#elements.push(this.#element)
    return this.#element
  }

  #readField(tag: Tag): void {
    // Without a number it is only mentioned.
    if (tag.name === 'resolved' && tag.close === null && tag.attributes.size === 0) return
    const name = tag.role === 'item' ? LISTS.find((list) => list.startsWith(tag.name)) : tag.name
    const element = this.#elementFor(tag)
    if (element !== null && name !== undefined) this.#addField(element, name, tag)
  }

  /** Fields without a root must begin with a closed one: else prose that mentions a tag would be an element. */
  #elementFor({ role, name, close }: Tag): ReplyElement | null {
    const element = this.#element
    const isSecond = element?.attributes === null && ['type', 'title'].includes(name) && element.fields.has(name)
    if (element !== null && !isSecond) return element
    if (name !== 'resolved' && (role === 'item' || close === null)) return null
    return this.#begin(SUMMARY_TEXTS.includes(name) ? 'summary' : 'observation', null)
  }

  #addField({ fields }: ReplyElement, name: string, tag: Tag): void {
    const raw = this.#readContent(tag)
    const entries = fields.get(name) ?? []
    if (tag.role === 'list') for (const item of listItems(name, raw)) entries.push(item)
    else entries.push({ attributes: tag.attributes, raw })
    fields.set(name, entries)
  }

  /** To its closing tag, else to the next part of the grammar. */
  #readContent(tag: Tag): string {
    if (tag.form === 'empty') return ''
    let end = tag.close ?? this.#tags[tag.index + 1]
    while (end !== tag.close && end !== undefined && end.name !== tag.name && !this.#isEnd(end)) {
      end = this.#tags[end.index + 1]
    }
    const start = end?.start ?? this.#text.length
    this.#at = tag.close?.end ?? start
    return this.#text.slice(tag.end, start)
  }

  /** Whether it ends what has no closing tag. */
  #isEnd({ role, name, form }: Tag): boolean {
    if (role === 'text') return this.#element?.fields.has(name) === false
    return role === 'wrapper' ? form === 'close' : role !== 'item'
  }
}

/** By their tags; what stands between them is read, too. */
function listItems(list: string, raw: string): FieldEntry[] {
  const tags = scanTags(raw).filter(({ role, name }) => role === 'item' && (name === 'item' || list.startsWith(name)))
  const entries: FieldEntry[][] = []
  let at = 0
  for (const [i, { form, attributes, start, end, close }] of tags.entries()) {
    if (start < at) continue
    entries.push(looseItems(raw.slice(at, start)))
    at = form === 'open' ? (close?.start ?? tags[i + 1]?.start ?? raw.length) : end
    if (form !== 'close') entries.push([{ attributes, raw: raw.slice(end, at) }])
  }
  return [...entries.flat(), ...looseItems(raw.slice(at))]
}

export const looseItem = (text: string): FieldEntry => ({ attributes: new Map([['text', text]]), raw: '' })

export const BULLET = /^(?:[-*•+]|\d{1,3}[.)])\s+/

/** A JSON array, bullets, or lines. */
function looseItems(raw: string): FieldEntry[] {
  const lines = decodeEntities(raw)
    .split('\n')
    .filter((line) => !/^\s*(?:```|~~~)[\w-]*\s*$/.test(line))
  return jsonItems(lines.join('\n').trim()) ?? lines.map((line) => looseItem(line.trim().replace(BULLET, '')))
}

/** Double quotes, or single ones as in Python. The last string may be cut off. */
const QUOTED = /"((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\.)*)'?/gs

/** Also of an array that is cut off or not quite JSON. Null if it is no array. */
function jsonItems(text: string): FieldEntry[] | null {
  if (!text.startsWith('[')) return null
  try {
    const values: unknown[] = JSON.parse(text.slice(0, text.lastIndexOf(']') + 1))
    return values.map(jsonItem)
  } catch {
    if (!/^\[\s*["']/.test(text)) return null
    return [...text.matchAll(QUOTED)].map(([, double, single = '']) => looseItem(double ?? single))
  }
}

function jsonItem(value: unknown): FieldEntry {
  if (typeof value !== 'object') return looseItem(String(value))
  const fields = Object.entries(value ?? {}).filter((field): field is [string, string] => typeof field[1] === 'string')
  return { attributes: new Map(fields.map(([key, text]) => [key.toLowerCase(), text])), raw: '' }
}
