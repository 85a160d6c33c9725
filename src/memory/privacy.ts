/**
 * What people marked as private never leaves the hook's process, and what claude-mem itself put into the
 * conversation, or into files of the project, is never observed. Where a text is ambiguous, more is taken out rather
 * than less:
 *
 * - an opening tag needs neither attributes in order nor its `>`: everything behind it is private anyway;
 * - tags nest; what is not closed is private to the end;
 * - a closing tag without an opening one is taken out; in what a tool shows (part of a file, a diff) it means
 *   that the text began inside a private part, and everything before it goes too;
 * - text that holds JSON has its tags escaped (`\u003cprivate\u003e`, `<\/private>`): those count.
 */
import { removeSpans, removeSpansDeep, type Span, type SpanRule } from './spans.ts'

export const PRIVATE_MARKER = '[private]'
export const CONTEXT_TAG = 'claude-mem-context'
/** How the marks begin between which claude-mem writes into files of the user's. */
export const SECTION_BEGIN = '<!-- claude-mem:begin'
export const SECTION_END = '<!-- claude-mem:end'

/** The private parts of a text become a marker; context that claude-mem injected goes without a trace. */
export function removePrivate(text: string): string {
  const shown = removeSpans(removeSpans(removeSpans(text, PRIVATE_TEXT), CONTEXT), SECTION_TEXT)
  // Taking context out may have joined the two halves of a tag.
  return removeSpans(shown, PRIVATE_TEXT)
}

/** The same for every string and key of a JSON value that a tool got or gave. */
export function removePrivateDeep(value: unknown): unknown {
  const shown = removeSpansDeep(removeSpansDeep(removeSpansDeep(value, PRIVATE_FRAGMENT), CONTEXT), SECTION_FRAGMENT)
  return removeSpansDeep(shown, PRIVATE_FRAGMENT)
}

/** There were private parts, and nothing is left without them. */
export function isWhollyPrivate(text: string): boolean {
  if (!PRIVATE_TEXT.hint.test(text) || PRIVATE_TEXT.find(text).length === 0) return false
  const rest = removeSpans(removeSpans(text, { ...PRIVATE_TEXT, marker: ' ' }), CONTEXT)
  return rest.replace(INVISIBLE, '') === ''
}

const INVISIBLE = /\s+|\u200b|\u200c|\u200d|\u2060|\ufeff/gu

const PRIVATE_TEXT = tagRule('private', PRIVATE_MARKER, false)
const PRIVATE_FRAGMENT = tagRule('private', PRIVATE_MARKER, true)
const CONTEXT = tagRule(CONTEXT_TAG, '', false)
const SECTION_TEXT = sectionRule(false)
const SECTION_FRAGMENT = sectionRule(true)

/** Part of a file that begins inside a section: what stands before its end is ours too, or may be. */
function sectionRule(fragment: boolean): SpanRule {
  const mark = /(?:<|\\u003c)!--\s*claude-mem:(begin|end)\b(?:[^\n>\\]{0,200}?--(?:>|\\{1,4}u003e))?/gi
  return { hint: /claude-mem:/i, marker: '', find: (text) => sectionSpans(text, mark, fragment) }
}

function sectionSpans(text: string, mark: RegExp, fragment: boolean): Span[] {
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
  return { hint: new RegExp(name, 'i'), marker, find: (text) => tagSpans(text, tag, fragment) }
}

/** What may stand between a tag's name and its end where there are no attributes. */
const TAG_END = /(?:\s|\\[nrt])*(?:>|\\{1,4}u003e)/iy

function tagSpans(text: string, tag: RegExp, fragment: boolean): Span[] {
  let spans: Span[] = []
  let depth = 0
  let start = 0
  tag.lastIndex = 0
  for (let match = tag.exec(text); match !== null; match = tag.exec(text)) {
    const closing = match[1] !== undefined
    TAG_END.lastIndex = tag.lastIndex
    const ended = TAG_END.test(text)
    // `a < private` is code, and `</private` without its end closes nothing.
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
