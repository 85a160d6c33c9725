/**
 * Removes private parts (`<private>…</private>`) before a text leaves the hook's process, and everything that
 * claude-mem itself inserted into the conversation or into files, which is never observed. If a text is ambiguous, more
 * is removed rather than less:
 *
 * - an opening tag may have malformed attributes or no `>`: everything after it is private anyway;
 * - tags nest; a part that is not closed extends to the end of the text;
 * - a closing tag without an opening one is removed; in a fragment (part of a file, a diff) it means that the text
 *   starts inside a private part, so everything before it is removed too;
 * - tags that are escaped in JSON text (`\u003cprivate\u003e`, `<\/private>`) count.
 */
import { LiteralSearch } from '../lib/literal-search.ts'

const PRIVATE_MARKER = '[private]'
export const CONTEXT_TAG = 'claude-mem-context'
/** Beginnings of the marks around the section that claude-mem writes into files of the user. */
export const SECTION_BEGIN = '<!-- claude-mem:begin'
export const SECTION_END = '<!-- claude-mem:end'

/** Replaces private parts by a marker. Context and sections that claude-mem inserted are removed without a marker. */
export function removePrivateParts(text: string): string {
  const visible = removeSpans(text, PRIVATE_TEXT)
  const rest = removeSpans(removeSpans(visible, CONTEXT), SECTION_TEXT)
  // Removing the context may have joined two halves of a tag.
  return rest === visible ? rest : removeSpans(rest, PRIVATE_TEXT)
}

/** The same for every string and key in a tool's input or response. */
export function removePrivatePartsDeep(value: unknown): unknown {
  const visible = removeSpansDeep(value, PRIVATE_FRAGMENT)
  const rest = removeSpansDeep(removeSpansDeep(visible, CONTEXT), SECTION_FRAGMENT)
  return rest === visible ? rest : removeSpansDeep(rest, PRIVATE_FRAGMENT)
}

/** The text has private parts and nothing else but white space and invisible characters. */
export function isEntirelyPrivate(text: string): boolean {
  if (!mayContainSpan(text, PRIVATE_TEXT) || PRIVATE_TEXT.find(text).length === 0) return false
  const rest = removeSpans(removeSpans(text, { ...PRIVATE_TEXT, marker: ' ' }), CONTEXT)
  return rest.replace(INVISIBLE, '') === ''
}

const INVISIBLE = /\s+|\u200b|\u200c|\u200d|\u2060|\ufeff/gu

/** `<`, also as it is escaped in JSON text. */
const TAG_STARTS = ['<', '\\u003', '\\U003']
const SECTION_NAME = new LiteralSearch(['claude-mem:'])
const PRIVATE_TEXT = tagRule('private', PRIVATE_MARKER, false)
const PRIVATE_FRAGMENT = tagRule('private', PRIVATE_MARKER, true)
const CONTEXT = tagRule(CONTEXT_TAG, '', false)
const SECTION_TEXT = sectionRule(false)
const SECTION_FRAGMENT = sectionRule(true)

/** A fragment may start inside a section: then everything before the end mark is removed. */
function sectionRule(fragment: boolean): SpanRule {
  return { literals: TAG_STARTS, hint: SECTION_NAME, marker: '', find: (text) => sectionSpans(text, fragment) }
}

function sectionSpans(text: string, fragment: boolean): Span[] {
  const mark = /(?:<|\\u003c)!--\s*claude-mem:(begin|end)\b(?:[^\n>\\]{0,200}?--(?:>|\\{1,4}u003e))?/gi
  let spans: Span[] = []
  let start: number | null = null
  for (const match of text.matchAll(mark)) {
    const end = match.index + match[0].length
    if (match[1]?.toLowerCase() === 'begin') start ??= match.index
    else {
      if (start === null && fragment) spans = [{ start: 0, end }]
      else spans.push({ start: start ?? match.index, end })
      start = null
    }
  }
  if (start !== null) spans.push({ start, end: text.length })
  return spans
}

function tagRule(name: string, marker: string, fragment: boolean): SpanRule {
  const tag = new RegExp(`(?:<|\\\\u003c)(\\\\*/|\\\\{1,4}u002f)?(\\s*)${name}(?=[\\s/>\\\\]|$)`, 'gi')
  const hint = new LiteralSearch([name])
  return { literals: TAG_STARTS, hint, marker, find: (text) => tagSpans(text, tag, fragment) }
}

/** From a tag's name to its `>` if it has no attributes. */
const TAG_END = /(?:\s|\\[nrt])*(?:>|\\{1,4}u003e)/iy

function tagSpans(text: string, tag: RegExp, fragment: boolean): Span[] {
  let spans: Span[] = []
  let depth = 0
  let start = 0
  for (const match of text.matchAll(tag)) {
    const closing = match[1] !== undefined
    TAG_END.lastIndex = match.index + match[0].length
    const ended = TAG_END.test(text)
    // `a < private` is code, and `</private` without `>` closes nothing.
    if (!ended && (closing || match[2] !== '')) continue
    if (!closing) {
      if (depth === 0) start = match.index
      depth++
    } else if (depth > 0) {
      depth--
      if (depth === 0) spans.push({ start, end: TAG_END.lastIndex })
    } else if (fragment) {
      spans = [{ start: 0, end: TAG_END.lastIndex }]
    } else {
      spans.push({ start: match.index, end: TAG_END.lastIndex })
    }
  }
  if (depth > 0) spans.push({ start, end: text.length })
  return spans
}

/** A range of a text that has to be removed. */
export interface Span {
  start: number
  end: number
}

export interface SpanRule {
  /** A text without any of these has nothing to remove. They are found many times faster than a pattern. */
  literals: readonly string[]
  /** The same in any case. It is tried where there is a literal. */
  hint?: LiteralSearch
  /** Sorted, not overlapping. */
  find(text: string): Span[]
  marker: string
}

/**
 * More levels than any tool's payload has. Deeper values are replaced: they are not searched, and recursion is bounded.
 */
export const MAX_DEPTH = 64
export const TOO_DEEP = '[… nested too deep …]'

export function removeSpans(text: string, rule: SpanRule): string {
  if (!mayContainSpan(text, rule)) return text
  const spans = rule.find(text)
  return spans.length === 0 ? text : (withoutSpans([text], spans, rule.marker)[0] ?? '')
}

/**
 * The same for every string and key in a JSON value. The strings of an array are searched as one text: a diff is an
 * array of lines, and a private part may begin in one line and end in another.
 */
export function removeSpansDeep(value: unknown, rule: SpanRule): unknown {
  return mayContainSpan(value, rule) ? removeFrom(value, rule, 0, null) : value
}

/** Sanitizing can make two keys equal: the second one gets a number, so that no value is lost. */
export function toObjectWithUniqueKeys(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = Object.fromEntries(entries)
  if (Object.keys(object).length === entries.length) return object
  const seen = new Map<string, unknown>()
  for (const [key, value] of entries) {
    let name = key
    for (let n = 2; seen.has(name); n++) name = `${key} (${n})`
    seen.set(name, value)
  }
  return Object.fromEntries(seen)
}

/** Avoids copying values that contain nothing to remove. Literal and hint may be in two strings of an array. */
function mayContainSpan(value: unknown, { literals, hint }: SpanRule): boolean {
  const hasLiteral = hasText(value, (text) => literals.some((literal) => text.includes(literal)), 0)
  return hasLiteral && (hint === undefined || hasText(value, (text) => hint.isIn(text), 0))
}

/** Whether any string or key of a JSON value passes the test. A value that is too deep does. */
function hasText(value: unknown, test: (text: string) => boolean, depth: number): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  if (depth >= MAX_DEPTH) return true
  if (Array.isArray(value)) return value.some((item) => hasText(item, test, depth + 1))
  return Object.keys(value).some((key) => test(key) || hasText(Reflect.get(value, key), test, depth + 1))
}

/** `cleaned`: inside of an array, its strings without spans, in the order of `collectTexts`; null outside. */
function removeFrom(value: unknown, rule: SpanRule, depth: number, cleaned: Iterator<string> | null): unknown {
  if (typeof value === 'string') return cleaned === null ? removeSpans(value, rule) : cleaned.next().value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(value)) {
    const texts = cleaned ?? cleanedTexts(value, rule, depth)
    return value.map((item) => removeFrom(item, rule, depth + 1, texts))
  }
  return toObjectWithUniqueKeys(
    Object.entries(value).map(([key, item]) => [removeSpans(key, rule), removeFrom(item, rule, depth + 1, cleaned)]),
  )
}

function cleanedTexts(value: unknown[], rule: SpanRule, depth: number): Iterator<string> {
  const texts: string[] = []
  collectTexts(value, texts, depth)
  const spans = rule.find(texts.join(SEPARATOR))
  return (spans.length === 0 ? texts : withoutSpans(texts, spans, rule.marker)).values()
}

function collectTexts(value: unknown, texts: string[], depth: number): void {
  if (typeof value === 'string') texts.push(value)
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return
  for (const item of Array.isArray(value) ? value : Object.values(value)) collectTexts(item, texts, depth + 1)
}

const SEPARATOR = '\n'

function withoutSpans(parts: readonly string[], spans: readonly Span[], marker: string): string[] {
  const result: string[] = []
  let offset = 0
  let next = 0
  for (const part of parts) {
    const end = offset + part.length
    let kept = ''
    let at = offset
    for (let i = next; i < spans.length; i++) {
      const span = spans[i]
      if (span === undefined || span.start >= end) break
      const from = Math.max(span.start, offset)
      const to = Math.min(span.end, end)
      if (from < to) {
        kept += part.slice(at - offset, from - offset) + marker
        at = to
      }
      if (span.end <= end) next = i + 1
    }
    result.push(kept + part.slice(at - offset))
    offset = end + SEPARATOR.length
  }
  return result
}
