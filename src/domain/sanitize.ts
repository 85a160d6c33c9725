/**
 * Everything that happens to a text or a tool's payload before it leaves the hook's process, in this order: private
 * parts and private keys are removed from the whole text, the text is cut to its bound plus a margin, secrets are
 * masked, and the margin is cut away together with any half of a secret that the first cut left at its edge. The first
 * cut keeps masking fast for texts of megabytes; a payload of many texts is cut to its total first, too.
 *
 * Cutting keeps the head and the tail of a text, and of an output the lines between them that say what happened; a marker
 * says how much is missing. Arrays and objects keep their first members. Everything here is idempotent.
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
import { maskLines } from './secret-lines.ts'
import {
  isPlaceholderValue,
  isSecretNumber,
  looksRandom,
  readSecretName,
  type SecretName,
  secretKindForName,
} from './secret-names.ts'
import { markedFields } from './secret-objects.ts'
import { maskSecrets } from './secrets.ts'
import {
  bestLines,
  findTellingLines,
  MAX_TELLING_LINE_CHARS,
  type TellingLine,
  totalLineChars,
} from './telling-lines.ts'

export function sanitizeText(text: string, max: number = DEFAULT_BOUNDS.text): string {
  const visible = removeSpans(removePrivateParts(text), PRIVATE_KEYS)
  return renderText(prepareText(visible, max, maskSecrets, null, CUT_MARGIN), max, true)
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
  if (name !== null && !isPlaceholderValue(text) && isSecretUnder(name, text)) return `[secret:${name.kind}]`
  return key !== null && HEADER.test(key) ? maskHeader(key, text) : maskSecrets(text)
}

/** Names in it are kept. */
const maskWhole: MaskText = (text, key) => (key === null || isPlaceholderValue(text) ? text : '[secret:secret]')

function isSecretUnder({ kind, plural, weak }: SecretName, value: string): boolean {
  if (weak) return kind === 'password' ? /^[!-~]+$/.test(value) && !/^pass/i.test(value) : looksRandom(value, 12)
  return kind === 'password' || !plural || looksRandom(value, 8)
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

/** `key` is the object key of the text; null for a text without a key and for keys themselves. */
type MaskText = (text: string, key: string | null) => string
const keep: MaskText = (text) => text

/** Replaces lone surrogates by U+FFFD. */
export function toWellFormed(text: string): string {
  return text.toWellFormed()
}

export function cutText(text: string, max: number, mask: MaskText = keep): string {
  return renderText(prepareText(text, max, mask, null, CUT_MARGIN), max, false)
}

/** The same, with the lines between head and tail that say what happened. */
export function cutOutput(text: string, max: number): string {
  return renderText(prepareText(text, max, keep, null, CUT_MARGIN), max, true)
}

export function boundValue(value: unknown, bounds: SizeBounds = DEFAULT_BOUNDS, mask: MaskText = keep): unknown {
  let { text, members } = startingBounds(value, bounds)
  const prepared = prepare(value, { ...bounds, text, members }, mask, null, 0)
  while (text > 1 || members > 1) {
    const rendered = render(prepared, text, members)
    if (isWithin(rendered, bounds.total)) return rendered
    ;({ text, members } = smaller(text, members))
  }
  const least = render(prepared, 1, 1)
  return isWithin(least, bounds.total) ? least : null
}

type Limits = Pick<SizeBounds, 'text' | 'members'>

/** Shortens all texts first, then drops members of arrays and objects. */
function smaller(text: number, members: number): Limits {
  if (text > SHORT_TEXT || members === 1) return { text: Math.floor(text / 2), members }
  return { text, members: Math.floor(members / 2) }
}

/** The limits at which the value may fit: what is cut away with them is not masked, so that masking takes bounded time. */
function startingBounds(value: unknown, bounds: SizeBounds): Limits {
  let limits: Limits = { text: bounds.text, members: bounds.members }
  // Twice the total: masking makes most texts shorter.
  const most = bounds.total * 2
  while ((limits.text > 1 || limits.members > 1) && measure(value, limits, most, 0) > most) {
    limits = smaller(limits.text, limits.members)
  }
  return limits
}

/** About how many characters a value has within limits; counting stops above `most`. */
function measure(value: unknown, limits: Limits, most: number, depth: number): number {
  if (typeof value === 'string') return Math.min(value.length, limits.text) + 3
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return 5
  let sum = 2
  for (const name of Object.keys(value).slice(0, limits.members)) {
    sum += (Array.isArray(value) ? 0 : Math.min(name.length, MAX_KEY)) + 3
    sum += measure(Reflect.get(value, name), limits, most - sum, depth + 1)
    if (sum > most) break
  }
  return sum
}

/** Characters. Texts are not cut below this while members can still be dropped. */
const SHORT_TEXT = 256

/**
 * `left`: how many characters, items or keys were cut away. The tail of a text is empty if it is 0. `lines`: the telling
 * ones of what was cut away.
 */
type CutText = { kind: 'text'; head: string; tail: string; left: number; lines: TellingLine[] }
type CutList = { kind: 'list'; items: Prepared[]; left: number }
type CutObject = { kind: 'object'; entries: [string, Prepared][]; left: number }
type Prepared = CutText | CutList | CutObject | number | boolean | null

const uncut = (text: string): CutText => ({ kind: 'text', head: text, tail: '', left: 0, lines: [] })

function prepareText(text: string, max: number, mask: MaskText, key: string | null, margin: number): CutText {
  if (text.length <= max + 2 * margin) return uncut(mask(toWellFormed(text), key))
  const side = Math.ceil(max / 2) + margin
  const head = mask(toWellFormed(text.slice(0, side)), key)
  const tail = mask(toWellFormed(text.slice(-side)), key)
  const keptHead = first(head, Math.max(0, head.length - margin))
  const keptTail = last(tail, Math.max(0, tail.length - margin))
  const left = text.length - keptHead.length - keptTail.length
  const lines = max < MIN_CHARS_WITH_LINES ? [] : maskedLines(text, side - 2 * margin, max, mask, key)
  const kept = new Set(
    lines.length === 0 ? [] : [keptHead, keptTail].flatMap((part) => part.split('\n').map(shortLine)),
  )
  return { kind: 'text', head: keptHead, tail: keptTail, left, lines: lines.filter((line) => !kept.has(line.text)) }
}

/** A text that is cut to less keeps its head and tail only: the markers would take most of it. */
const MIN_CHARS_WITH_LINES = 1_000

/** The best telling lines apart from both ends. Each is masked with more of it than is kept. */
function maskedLines(text: string, end: number, max: number, mask: MaskText, key: string | null): TellingLine[] {
  const from = Math.max(0, end)
  const found = findTellingLines(text, from, text.length - from)
  const lines = found.map((line) => ({ ...line, whole: line.text, text: shortLine(line.text) }))
  // One by one: beside a line from elsewhere a secret may look like something else.
  return bestLines(lines, max * LINES_SHARE).map(({ whole, ...line }) => ({
    ...line,
    text: shortLine(mask(toWellFormed(whole), key)),
  }))
}

function shortLine(text: string): string {
  const line = text.trimEnd()
  return line.length <= MAX_TELLING_LINE_CHARS ? line : `${first(line, MAX_TELLING_LINE_CHARS - 1)}…`
}

/** Of a short text less is read for secrets beside the cut: a payload may have thousands of them. */
const marginFor = (max: number): number => (max >= CUT_MARGIN ? CUT_MARGIN : CUT_MARGIN / 4)

function prepare(value: unknown, bounds: SizeBounds, mask: MaskText, key: string | null, depth: number): Prepared {
  if (typeof value === 'string') return prepareText(value, bounds.text, mask, key, marginFor(bounds.text))
  if (typeof value === 'number')
    return key !== null && mask !== keep && isSecretNumber(key, value)
      ? uncut(`[secret:${secretKindForName(key)}]`)
      : value
  if (typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (depth >= Math.min(bounds.depth, MAX_DEPTH)) return uncut(TOO_DEEP)
  if (Array.isArray(value)) {
    const before = leftOutBefore(value.at(-1), 'items')
    const own = before === null ? value : value.slice(0, -1)
    const kept = linesTogether(own.slice(0, bounds.members), bounds.text, mask, key)
    const items = kept.map((item) => prepare(item, bounds, mask, key, depth + 1))
    return { kind: 'list', items, left: own.length - items.length + (before ?? 0) }
  }
  const before = leftOutBefore(Reflect.get(value, MORE_KEYS), 'keys')
  const names = Object.keys(value).filter((name) => before === null || name !== MORE_KEYS)
  const kept = names.slice(0, bounds.members)
  const paired = pairedName(value)
  const marked = mask === keep ? [] : markedFields(value)
  const entries = kept.map((name): [string, Prepared] => {
    const item: unknown = Reflect.get(value, name)
    if (marked.includes(name)) return [name, prepare(item, bounds, maskWhole, name, depth + 1)]
    const of = paired !== null && /^value$/i.test(name) ? paired : name
    return [cutKey(name, mask), prepare(item, bounds, mask, of, depth + 1)]
  })
  return { kind: 'object', entries, left: names.length - entries.length + (before ?? 0) }
}

/** A diff is an array of lines, and the name of a secret may be on another line than the secret. */
function linesTogether(items: readonly unknown[], max: number, mask: MaskText, key: string | null): readonly unknown[] {
  const lines = items.filter((item) => typeof item === 'string')
  const chars = lines.reduce((sum, line) => sum + line.length, 0)
  if (mask === keep || lines.length < 2 || lines.length < items.length || chars > max) return items
  return maskLines(lines, (text) => mask(text, key))
}

/** `{ name: 'DB_PASSWORD', value: '…' }`: the name of the value, if it is that of a secret. */
function pairedName(value: object): string | null {
  for (const field of ['name', 'key', 'Name', 'Key', 'variable']) {
    const name: unknown = Reflect.get(value, field)
    if (typeof name === 'string' && (secretKindForName(name) !== null || HEADER.test(name))) return name
  }
  return null
}

function render(value: Prepared, text: number, members: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value.kind === 'text') return renderText(value, text, true)
  if (value.kind === 'list') {
    const items = value.items.slice(0, members).map((item) => render(item, text, members))
    const left = value.left + value.items.length - items.length
    return left > 0 ? [...items, leftOut(left, 'items')] : items
  }
  const entries = value.entries
    .slice(0, members)
    .map(([key, item]): [string, unknown] => [key, render(item, text, members)])
  const left = value.left + value.entries.length - entries.length
  if (left > 0) entries.push([MORE_KEYS, leftOut(left, 'keys')])
  return toObjectWithUniqueKeys(entries)
}

function renderText(cut: CutText, max: number, withLines: boolean): string {
  const total = cut.head.length + cut.tail.length + cut.left
  if (cut.left === 0 && total <= max) return cut.head
  const tail = cut.left === 0 ? cut.head : cut.tail
  if (withLines && max >= MIN_CHARS_WITH_LINES) {
    const rendered = renderWithLines(cut, tail, total, max)
    if (rendered !== null) return rendered
  }
  const room = max - leftOut(total, 'characters').length
  if (room < 2) return max > 1 ? `${first(cut.head, max - 1)}…` : '…'.slice(0, max)
  const [start, end] = [first(cut.head, Math.ceil(room / 2)), last(tail, Math.floor(room / 2))]
  return `${start}${leftOut(total - start.length - end.length, 'characters')}${end}`
}

/** Share of a cut text for telling lines; head and tail get what they leave over. */
const LINES_SHARE = 0.3

/** Null without telling lines between head and tail. */
function renderWithLines(cut: CutText, tail: string, total: number, max: number): string | null {
  const room = max - linesMarker(total).length - LINES_END.length - 4
  const least = Math.floor((room * (1 - LINES_SHARE)) / 2)
  const isWhole = cut.left === 0
  const found = [
    ...findTellingLines(cut.head, least, isWhole ? cut.head.length - least : cut.head.length).map((line) => ({
      ...line,
      part: 'head',
    })),
    ...cut.lines.map((line) => ({ ...line, part: 'middle' })),
    ...(isWhole ? [] : findTellingLines(tail, 0, tail.length - least)).map((line) => ({ ...line, part: 'tail' })),
  ].map((line) => ({ ...line, text: shortLine(line.text) }))
  const best = bestLines(found, Math.floor(room * LINES_SHARE))
  const side = Math.floor((room - totalLineChars(best)) / 2)
  const [start, end] = [first(cut.head, side), last(tail, side)]
  const tailFrom = tail.length - end.length
  const between = best.filter(
    (line) =>
      (line.part !== 'head' || line.start >= start.length) &&
      (line.part === 'middle' || (line.part === 'head' && !isWhole) || line.end <= tailFrom),
  )
  if (between.length === 0) return null
  const left = total - start.length - end.length - totalLineChars(between)
  return [start, linesMarker(Math.max(0, left)), ...between.map((line) => line.text), LINES_END, end].join('\n')
}

const LINES_END = '[…]'
const linesMarker = (left: number): string => leftOut(left, 'characters').replace(' …]', ' but for these lines: …]')

/** The key under which an object says how many keys are left out. */
const MORE_KEYS = '…'

function leftOut(count: number, what: string): string {
  return `[… ${String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')} ${what} left out …]`
}

/** How many an earlier cut left out; null if it is not the marker of one. */
function leftOutBefore(marker: unknown, what: string): number | null {
  if (typeof marker !== 'string' || marker.length > 60) return null
  const match = /^\[… ([\d,]+) (\w+) left out …\]$/.exec(marker)
  return match?.[2] === what ? Number(match[1]?.replaceAll(',', '')) : null
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

/** Bytes of a character that is escaped in JSON. */
const MAX_CHAR_BYTES = 6

/** Whether a value has at most so many bytes as JSON. Most values are so small that counting characters is enough. */
function isWithin(value: unknown, bytes: number): boolean {
  const chars = measure(value, { text: Infinity, members: Infinity }, bytes, 0)
  return chars * MAX_CHAR_BYTES <= bytes || Buffer.byteLength(JSON.stringify(value) ?? '') <= bytes
}
