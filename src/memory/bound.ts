/**
 * Cuts any JSON value to a size. Of a long text the head and the tail stay and a marker says how much is gone;
 * lists and objects keep their first members. Secrets are masked in between: the text is first cut with a margin
 * on both sides of the gap, so that masking never sees megabytes, then masked, and the margin is cut away with
 * whatever half of a secret the first cut may have left at its edge.
 */
import { MAX_DEPTH, objectOf, TOO_DEEP } from './spans.ts'

export interface Bounds {
  /** Characters of one text. */
  text: number
  /** Bytes of the whole value as JSON. */
  total: number
  /** Members of one array or object. */
  members: number
  /** Levels of arrays and objects. */
  depth: number
}

export const DEFAULT_BOUNDS: Bounds = { text: 65_536, total: 524_288, members: 500, depth: 24 }

/** Longer than any secret in a known shape, private keys aside: those are found on the whole text. */
export const CUT_MARGIN = 8_192

/** A key is a name; longer ones are data in the wrong place. */
const MAX_KEY = 256

/** `key` is the name under which the text stands; null for a text by itself and for names. */
export type Mask = (text: string, key: string | null) => string
const keep: Mask = (text) => text

/** Half a character of UTF-16 is no character. */
export function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text.replace(/\p{Surrogate}/gu, '\ufffd') : text
}

export function cutText(text: string, max: number, mask: Mask = keep): string {
  return renderText(prepareText(text, max, mask, null), max)
}

export function boundValue(value: unknown, bounds: Bounds = DEFAULT_BOUNDS, mask: Mask = keep): unknown {
  const prepared = prepare(value, bounds, mask, null, 0)
  let { text, members } = bounds
  // Long texts give way first, all alike; only then members of lists.
  while (text > 1 || members > 1) {
    const rendered = render(prepared, text, members)
    if (jsonBytes(rendered) <= bounds.total) return rendered
    if (text > SHORT_TEXT || members === 1) text = Math.floor(text / 2)
    else members = Math.floor(members / 2)
  }
  const least = render(prepared, 1, 1)
  return jsonBytes(least) <= bounds.total ? least : null
}

const SHORT_TEXT = 256

class CutText {
  /** `tail` is empty where nothing was left out in between. */
  constructor(
    readonly head: string,
    readonly tail: string,
    readonly left: number,
  ) {}
}
class CutList {
  constructor(
    readonly items: Prepared[],
    readonly left: number,
  ) {}
}
class CutMap {
  constructor(
    readonly entries: [string, Prepared][],
    readonly left: number,
  ) {}
}
type Prepared = CutText | CutList | CutMap | number | boolean | null

function prepareText(text: string, max: number, mask: Mask, key: string | null): CutText {
  if (text.length <= max + 2 * CUT_MARGIN) return new CutText(mask(wellFormed(text), key), '', 0)
  const side = Math.ceil(max / 2) + CUT_MARGIN
  const head = mask(wellFormed(text.slice(0, side)), key)
  const tail = mask(wellFormed(text.slice(-side)), key)
  const keptHead = first(head, Math.max(0, head.length - CUT_MARGIN))
  const keptTail = last(tail, Math.max(0, tail.length - CUT_MARGIN))
  return new CutText(keptHead, keptTail, text.length - keptHead.length - keptTail.length)
}

function prepare(value: unknown, bounds: Bounds, mask: Mask, key: string | null, depth: number): Prepared {
  if (typeof value === 'string') return prepareText(value, bounds.text, mask, key)
  if (typeof value === 'boolean' || typeof value === 'number') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth >= Math.min(bounds.depth, MAX_DEPTH)) return new CutText(TOO_DEEP, '', 0)
  if (Array.isArray(value)) {
    const items = value.slice(0, bounds.members).map((item) => prepare(item, bounds, mask, key, depth + 1))
    return new CutList(items, value.length - items.length)
  }
  const names = Object.keys(value)
  const entries = names.slice(0, bounds.members).map((name): [string, Prepared] => {
    const item: unknown = Reflect.get(value, name)
    return [cutText(name, MAX_KEY, mask), prepare(item, bounds, mask, name, depth + 1)]
  })
  return new CutMap(entries, names.length - entries.length)
}

function render(value: Prepared, text: number, members: number): unknown {
  if (value instanceof CutText) return renderText(value, text)
  if (value instanceof CutList) {
    const items = value.items.slice(0, members).map((item) => render(item, text, members))
    const left = value.left + value.items.length - items.length
    return left > 0 ? [...items, leftOut(left, 'items')] : items
  }
  if (value instanceof CutMap) {
    const entries = value.entries
      .slice(0, members)
      .map(([key, item]): [string, unknown] => [key, render(item, text, members)])
    const left = value.left + value.entries.length - entries.length
    if (left > 0) entries.push(['…', leftOut(left, 'keys')])
    return objectOf(entries)
  }
  return value
}

function renderText(cut: CutText, max: number): string {
  const total = cut.head.length + cut.tail.length + cut.left
  if (cut.left === 0 && total <= max) return cut.head
  const room = max - leftOut(total, 'characters').length
  if (room < 2) return max > 1 ? `${first(cut.head, max - 1)}…` : '…'.slice(0, max)
  const head = first(cut.head, Math.ceil(room / 2))
  const tail = last(cut.left === 0 ? cut.head : cut.tail, Math.floor(room / 2))
  return `${head}${leftOut(total - head.length - tail.length, 'characters')}${tail}`
}

function leftOut(count: number, what: string): string {
  return `[… ${String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')} ${what} left out …]`
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

function first(text: string, length: number): string {
  if (length >= text.length) return text
  return text.slice(0, length > 0 && isHigh(text.charCodeAt(length - 1)) ? length - 1 : length)
}

function last(text: string, length: number): string {
  if (length >= text.length) return text
  const start = text.length - length
  return text.slice(length > 0 && isLow(text.charCodeAt(start)) ? start + 1 : start)
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}
