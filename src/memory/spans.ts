/**
 * Parts of a text that must go, and how they go from any JSON value. The strings of an array are looked at as
 * one text: a diff arrives as an array of lines, and what must go may begin in one line and end in another.
 */
export interface Span {
  start: number
  end: number
}

export interface SpanRule {
  /** Cheap test: false means that `find` would find nothing. */
  hint: RegExp
  /** In order, not overlapping. */
  find(text: string): Span[]
  marker: string
}

/** Deeper than any tool's payload; below it the stack is safe and nothing is looked at, so nothing is kept. */
export const MAX_DEPTH = 64
export const TOO_DEEP = '[… nested too deep …]'

export function removeSpans(text: string, rule: SpanRule): string {
  if (!rule.hint.test(text)) return text
  const spans = rule.find(text)
  return spans.length === 0 ? text : (withoutSpans([text], spans, rule.marker)[0] ?? '')
}

export function removeSpansDeep(value: unknown, rule: SpanRule): unknown {
  return concerns(value, rule, 0) ? rewrite(value, rule, 0) : value
}

/** Entries as an object; a name that already exists gets a number, so that no value is lost. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const seen = new Map<string, unknown>()
  for (const [key, value] of entries) {
    let name = key
    for (let n = 2; seen.has(name); n++) name = `${key} (${n})`
    seen.set(name, value)
  }
  return Object.fromEntries(seen)
}

/** Spares what holds nothing from being copied. */
function concerns(value: unknown, rule: SpanRule, depth: number): boolean {
  if (typeof value === 'string') return rule.hint.test(value)
  if (typeof value !== 'object' || value === null) return false
  if (depth >= MAX_DEPTH) return true
  if (Array.isArray(value)) return value.some((item) => concerns(item, rule, depth + 1))
  return Object.entries(value).some(([key, item]) => rule.hint.test(key) || concerns(item, rule, depth + 1))
}

function rewrite(value: unknown, rule: SpanRule, depth: number): unknown {
  if (typeof value === 'string') return removeSpans(value, rule)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(value)) {
    const texts: string[] = []
    collect(value, texts, depth)
    const spans = rule.find(texts.join(SEPARATOR))
    const cleaned = spans.length === 0 ? texts : withoutSpans(texts, spans, rule.marker)
    return replaceTexts(value, cleaned.values(), rule, depth)
  }
  return objectOf(Object.entries(value).map(([key, item]) => [removeSpans(key, rule), rewrite(item, rule, depth + 1)]))
}

function collect(value: unknown, texts: string[], depth: number): void {
  if (typeof value === 'string') texts.push(value)
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return
  for (const item of Array.isArray(value) ? value : Object.values(value)) collect(item, texts, depth + 1)
}

/** Walks exactly as `collect` does, taking one text for each that it gave. */
function replaceTexts(value: unknown, texts: Iterator<string>, rule: SpanRule, depth: number): unknown {
  if (typeof value === 'string') return texts.next().value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return TOO_DEEP
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, texts, rule, depth + 1))
  return objectOf(
    Object.entries(value).map(([key, item]) => [removeSpans(key, rule), replaceTexts(item, texts, rule, depth + 1)]),
  )
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
