/**
 * The parts of one side and which of them each line belongs to, in one pass from top to bottom.
 *
 * Nesting is read from indentation: it is right in every formatted file, needs no parser, and works in a fragment.
 * In languages with braces a part that was opened by one is closed by one, so that a dedented string or an
 * `#ifdef` in a body does not end it.
 */
import type { Language, Side } from './language.ts'
import { declared, holdsMembers, makePart, type Part } from './part.ts'
import { indentOf, LINE_MAX } from './text.ts'

export interface Outline {
  parts: Part[]
  /** The innermost part of each line. */
  owner: (Part | null)[]
}

interface Frame {
  part: Part
  indent: number
  braced: boolean
  /** The least indentation seen inside: where members stand. */
  inner: number
  until: RegExp | null
}

const CLOSER = /^(?:[}\])]|(?:end|done|fi|esac)\b|<\/)/
const OPENER = /(?:[{([,:]|=>|\bdo|\bdo\s*\|[^|]*\|)$/
const BRACE_AT_END = /[{([,]$/
/** C++ access labels, goto labels: they stand left of what they are in. */
const LABEL = /^(?:(?:public|private|protected)(?:\s+slots)?|[a-z_]\w*)\s*:$/
/** Read below the last change, to see where its part ends. */
const LINES_BELOW = 60
/** A template that never ends is a misread quote; such a line says where code goes on. */
const RESUME = /^(?:export|function|class|def|func|fun|async|public|describe)\b/

export function outline(side: Side, language: Language): Outline {
  const { lines } = side
  const parts: Part[] = []
  const owner: (Part | null)[] = new Array(lines.length).fill(null)
  let stack: Frame[] = []
  let quote: string | null = null
  let pending = -1
  let pendingIndent = 0
  const fragmented = side.starts.size > 1

  const top = (): Frame | undefined => stack.at(-1)
  const pop = (end: number): void => {
    const frame = stack.pop()
    if (frame && frame.part.end < end) frame.part.end = end
  }

  const last = Math.min(lines.length, side.change.findLastIndex((one) => one > 0) + 1 + LINES_BELOW)
  for (let i = 0; i < last; i++) {
    const line = lines[i] ?? ''
    if (fragmented && side.starts.has(i)) {
      stack = []
      quote = null
      pending = -1
    }
    const indent = indentOf(line)
    if (indent < 0) {
      owner[i] = top()?.part ?? null
      continue
    }
    const text = line.trim()
    if (quote !== null) {
      if (quote === '`' && indent === 0 && RESUME.test(text)) quote = null
      else {
        owner[i] = top()?.part ?? null
        if (odd(text, quote)) quote = null
        continue
      }
    }
    if (language.comment.test(text)) {
      owner[i] = enclosing(stack, indent, language)
      continue
    }
    quote = opened(text, language)

    const closes = CLOSER.test(text)
    let found = line.length < LINE_MAX && !closes && language.hint.test(text) ? declared(text, language, null) : null
    const flat = language.nesting === 'flat'

    for (let frame = top(); frame; frame = top()) {
      if (flat) {
        if (!found) break
        pop(i - 1)
      } else if (frame.indent > indent) {
        if (frame.braced && !closes && !found && language.nesting === 'braces') break
        pop(i - 1)
      } else if (frame.indent === indent) {
        if (closes) {
          owner[i] = frame.part
          if (OPENER.test(text)) frame.braced = true
          else pop(i)
          break
        }
        if (text.startsWith('{')) {
          frame.braced = true
          break
        }
        if (frame.braced && !found && language.nesting === 'braces') break
        pop(i - 1)
      } else break
    }
    if (owner[i]) continue

    const frame = top()
    if (frame && indent > frame.indent && indent < frame.inner) frame.inner = indent
    if (
      !found &&
      frame &&
      !closes &&
      line.length < LINE_MAX &&
      holdsMembers(frame.part) &&
      indent <= frame.inner &&
      !LABEL.test(text)
    )
      found = declared(text, language, frame.part)

    if (!found) {
      owner[i] = frame?.part ?? null
      if (language.leading?.test(text)) {
        if (pending < 0) {
          pending = i
          pendingIndent = indent
        }
      } else if (pending >= 0 && indent <= pendingIndent && !closes) pending = -1
      if (frame?.until?.test(text)) pop(i)
      continue
    }

    const first = pending >= 0 && pendingIndent === indent ? pending : i
    pending = -1
    const part = makePart(found, language, frame?.part ?? null, first, i, lines)
    if (part === null) {
      owner[i] = frame?.part ?? null
      continue
    }
    parts.push(part)
    for (let j = first; j <= i; j++) owner[j] = part
    const braced = BRACE_AT_END.test(text)
    const ended = found.rule.until?.test(text) === true
    if (!ended && (flat || braced || goesOn(side, i, indent)))
      stack.push({ part, indent, braced, inner: Number.POSITIVE_INFINITY, until: found.rule.until ?? null })
  }
  while (stack.length > 0) pop(last - 1)
  return { parts, owner }
}

function enclosing(stack: Frame[], indent: number, language: Language): Part | null {
  if (language.nesting === 'flat') return stack.at(-1)?.part ?? null
  for (let i = stack.length - 1; i >= 0; i--) {
    const frame = stack[i]
    if (frame && frame.indent < indent) return frame.part
  }
  return null
}

/** Whether the lines below still belong to a declaration that does not end in a brace. */
function goesOn(side: Side, at: number, indent: number): boolean {
  for (let i = at + 1; i < side.lines.length && !side.starts.has(i); i++) {
    const next = side.lines[i] ?? ''
    const there = indentOf(next)
    if (there < 0) continue
    return there > indent || (there === indent && next.trimStart().startsWith('{'))
  }
  return false
}

function opened(text: string, language: Language): string | null {
  if (!language.strings) return null
  for (const quote of language.strings) if (text.includes(quote) && odd(text, quote)) return quote
  return null
}

function odd(text: string, quote: string): boolean {
  let count = 0
  for (let at = text.indexOf(quote); at !== -1; at = text.indexOf(quote, at + quote.length)) {
    if (text.charCodeAt(at - 1) !== 92) count++
  }
  return count % 2 === 1
}
