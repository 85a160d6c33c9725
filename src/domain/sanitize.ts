/**
 * Everything that happens to a text or a tool's payload before it leaves the hook's process, in this order: private
 * parts and private keys are removed from the whole text, the text is cut to its bound plus a margin, secrets are
 * masked, and the margin is cut away together with any half of a secret that the first cut left at its edge. The first
 * cut keeps masking fast for texts of megabytes.
 *
 * Cutting keeps the head and the tail of a text, with a marker for what is missing between them; arrays and objects
 * keep their first members.
 */

import {
  commandCredentialFile,
  isFileContentField,
  maskCredentialFile,
  maskEnvLines,
  maskWrittenCredentials,
  namedCredentialFile,
} from './credential-files.ts'
import {
  MAX_DEPTH,
  removePrivateParts,
  removePrivatePartsDeep,
  removeSpans,
  removeSpansDeep,
  TOO_DEEP,
  toObjectWithUniqueKeys,
} from './private-parts.ts'
import { PRIVATE_KEYS } from './secret-formats.ts'
import { isPlaceholderValue, isSecretNumber, looksRandom, readSecretName, secretKindForName } from './secret-names.ts'
import { maskSecrets } from './secrets.ts'

export function sanitizeText(text: string, max: number = DEFAULT_BOUNDS.text): string {
  return cutText(removeSpans(removePrivateParts(text), PRIVATE_KEYS), max, maskSecrets)
}

/** Input and response (or error) are sanitized together: a path in the input decides how the response is masked. */
export function sanitizeToolFields<T extends Record<string, unknown>>(
  fields: T,
  bounds: SizeBounds = DEFAULT_BOUNDS,
): Record<keyof T, unknown> {
  const visible = removeSpansDeep(removePrivatePartsDeep(fields), PRIVATE_KEYS)
  const bounded = boundValue(visible, bounds, maskFor(fields))
  const result = typeof bounded === 'object' && bounded !== null ? bounded : {}
  const cleaned: Partial<Record<keyof T, unknown>> = {}
  for (const name of Object.keys(fields) as (keyof T)[]) cleaned[name] = Reflect.get(result, name) ?? null
  return cleaned as Record<keyof T, unknown>
}

function maskFor(fields: Record<string, unknown>): MaskText {
  const file = namedCredentialFile(fields)
  if (file !== null) {
    return (text, key) => (isFileContentField(key) ? maskCredentialFile(text, file) : maskSecrets(text))
  }
  const command =
    typeof fields.input === 'object' && fields.input !== null ? Reflect.get(fields.input, 'command') : null
  const shown = typeof command === 'string' ? commandCredentialFile(command) : null
  if (shown === null) return maskByKey
  return (text, key) => {
    if (key === 'command' || key === null || !isFileContentField(key)) return maskByKey(text, key)
    return shown === 'lines' ? maskByKey(maskEnvLines(text), key) : maskCredentialFile(text, shown)
  }
}

/** In JSON the key of a value can show that the value is a secret. */
const maskByKey: MaskText = (text, key) => {
  if (key === 'command') return maskSecrets(maskWrittenCredentials(text))
  const name = key === null ? null : readSecretName(key)
  if (
    name !== null &&
    !isPlaceholderValue(text) &&
    !(name.plural && name.kind !== 'password' && !looksRandom(text, 8))
  ) {
    if (!name.weak || looksRandom(text, 4) || name.kind === 'password') return `[secret:${name.kind}]`
  }
  return key !== null && HEADER.test(key) ? maskHeader(key, text) : maskSecrets(text)
}

/** Headers whose value is not named by a word for a secret. */
const HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i

function maskHeader(name: string, value: string): string {
  const prefix = `${name}: `
  const masked = maskSecrets(prefix + value)
  return masked.startsWith(prefix) ? masked.slice(prefix.length) : masked
}

export interface SizeBounds {
  /** Most characters of one text. */
  text: number
  /** Most bytes of the whole value as JSON. */
  total: number
  /** Most members of one array or object. */
  members: number
  /** Most levels of arrays and objects. */
  depth: number
}

export const DEFAULT_BOUNDS: SizeBounds = { text: 65_536, total: 524_288, members: 500, depth: 24 }

/** Characters. Longer than any secret except private keys, which are removed from the whole text. */
export const CUT_MARGIN = 8_192

/** Most characters of an object's key. A longer one is cut a little shorter, so that the number of a second key fits. */
const MAX_KEY = 256
const CUT_KEY = MAX_KEY - 16

const cutKey = (name: string, mask: MaskText): string => cutText(name, name.length > MAX_KEY ? CUT_KEY : MAX_KEY, mask)

/** How many members are kept; with those that are left out, their marker is one of them. */
const keptMembers = (length: number, max: number): number => (length > max ? Math.max(1, max - 1) : length)

/** `key` is the object key of the text; null for a text without a key and for keys themselves. */
type MaskText = (text: string, key: string | null) => string
const keep: MaskText = (text) => text

/** Replaces lone surrogates by U+FFFD, as `String.prototype.toWellFormed` does. */
export function toWellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? text.replace(/\p{Surrogate}/gu, '\ufffd') : text
}

export function cutText(text: string, max: number, mask: MaskText = keep): string {
  return renderText(prepareText(text, max, mask, null), max)
}

export function boundValue(value: unknown, bounds: SizeBounds = DEFAULT_BOUNDS, mask: MaskText = keep): unknown {
  const prepared = prepare(value, bounds, mask, null, 0)
  let { text, members } = bounds
  // Shorten all texts first, then drop members of arrays and objects.
  while (text > 1 || members > 1) {
    const rendered = render(prepared, text, members)
    if (jsonBytes(rendered) <= bounds.total) return rendered
    if (text > SHORT_TEXT || members === 1) text = Math.floor(text / 2)
    else members = Math.floor(members / 2)
  }
  const least = render(prepared, 1, 1)
  return jsonBytes(least) <= bounds.total ? least : null
}

/** Characters. Texts are not cut below this while members can still be dropped. */
const SHORT_TEXT = 256

/** `left`: how many characters, items or keys were cut away. The tail of a text is empty if it is 0. */
type CutText = { kind: 'text'; head: string; tail: string; left: number }
type CutList = { kind: 'list'; items: Prepared[]; left: number }
type CutObject = { kind: 'object'; entries: [string, Prepared][]; left: number }
type Prepared = CutText | CutList | CutObject | number | boolean | null

const uncut = (text: string): CutText => ({ kind: 'text', head: text, tail: '', left: 0 })

function prepareText(text: string, max: number, mask: MaskText, key: string | null): CutText {
  if (text.length <= max + 2 * CUT_MARGIN) return uncut(mask(toWellFormed(text), key))
  const side = Math.ceil(max / 2) + CUT_MARGIN
  const head = mask(toWellFormed(text.slice(0, side)), key)
  const tail = mask(toWellFormed(text.slice(-side)), key)
  const keptHead = first(head, Math.max(0, head.length - CUT_MARGIN))
  const keptTail = last(tail, Math.max(0, tail.length - CUT_MARGIN))
  return { kind: 'text', head: keptHead, tail: keptTail, left: text.length - keptHead.length - keptTail.length }
}

function prepare(value: unknown, bounds: SizeBounds, mask: MaskText, key: string | null, depth: number): Prepared {
  if (typeof value === 'string') return prepareText(value, bounds.text, mask, key)
  if (typeof value === 'number')
    return key !== null && mask !== keep && isSecretNumber(key, value)
      ? uncut(`[secret:${secretKindForName(key)}]`)
      : value
  if (typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth >= Math.min(bounds.depth, MAX_DEPTH)) return uncut(TOO_DEEP)
  if (Array.isArray(value)) {
    const kept = value.slice(0, keptMembers(value.length, bounds.members))
    const items = kept.map((item) => prepare(item, bounds, mask, key, depth + 1))
    return { kind: 'list', items, left: value.length - items.length }
  }
  const names = Object.keys(value)
  const kept = names.slice(0, keptMembers(names.length, bounds.members))
  const paired = pairedName(value)
  const entries = kept.map((name): [string, Prepared] => {
    const item: unknown = Reflect.get(value, name)
    const of = paired !== null && /^value$/i.test(name) ? paired : name
    return [cutKey(name, mask), prepare(item, bounds, mask, of, depth + 1)]
  })
  return { kind: 'object', entries, left: names.length - entries.length }
}

/** `{ name: 'DB_PASSWORD', value: '…' }`: the name of the value, if it is that of a secret. */
function pairedName(value: object): string | null {
  for (const field of ['name', 'key', 'Name', 'Key', 'variable']) {
    const name: unknown = Reflect.get(value, field)
    if (typeof name === 'string' && secretKindForName(name) !== null) return name
  }
  return null
}

function render(value: Prepared, text: number, members: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value.kind === 'text') return renderText(value, text)
  if (value.kind === 'list') {
    const items = value.items.slice(0, members).map((item) => render(item, text, members))
    const left = value.left + value.items.length - items.length
    return left > 0 ? [...items, leftOut(left, 'items')] : items
  }
  const entries = value.entries
    .slice(0, members)
    .map(([key, item]): [string, unknown] => [key, render(item, text, members)])
  const left = value.left + value.entries.length - entries.length
  if (left > 0) entries.push(['…', leftOut(left, 'keys')])
  return toObjectWithUniqueKeys(entries)
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
