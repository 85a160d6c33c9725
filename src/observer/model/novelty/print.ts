/** Fingerprints of what went into a tool and of what came out, without what differs from run to run and says nothing. */
import { createHash } from 'node:crypto'
import { clean } from '../../offline/text.ts'

/** More than that is not compared: a result of that size is told again. */
const MAX_COMPARED_CHARS = 262_144
/** Deeper than any tool's payload; below it the stack is safe. */
const MAX_DEPTH = 64
/** 128 bits: enough that no two results of a session meet by chance. */
const PRINT_CHARS = 32
/** A subject is a key in a table, not a text. */
const MAX_SUBJECT_CHARS = 100

/** The mark that a hook leaves where it cut a text: what stood there may have changed. */
const CUT = /\[… [\d,]+ (?:characters|items|keys) left out …\]|\[… nested too deep …\]/

export function printOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, PRINT_CHARS)
}

/** Readable where it is short and plain, hashed where it is not. */
export function subjectOf(kind: string, what: string): string {
  const plain = `${kind}:${what}`
  return plain.length <= MAX_SUBJECT_CHARS && /^[\x20-\x7e]*$/.test(plain) ? plain : `${kind}:${printOf(what)}`
}

/** Null where it cannot be known whether two of them are the same. */
export function comparable(text: string): string | null {
  return text.length > MAX_COMPARED_CHARS || CUT.test(text) ? null : text
}

/** Fields of a response that tell about the call, not about what was found. */
const ABOUT_THE_CALL =
  /^(?:(?:total_?)?duration(?:_?ms|_?seconds)?|elapsed(?:_?ms)?|took|tool_?use_?id|request_?id|timestamp|usage)$/i

/** One text for one JSON value, whatever the order of its keys. Null: too large or too deep to compare. */
export function stableText(value: unknown): string | null {
  const parts: string[] = []
  let left = MAX_COMPARED_CHARS
  const put = (text: string): boolean => {
    left -= text.length
    parts.push(text)
    return left >= 0
  }
  const write = (part: unknown, depth: number): boolean => {
    if (depth > MAX_DEPTH) return false
    if (typeof part === 'string') return part.length <= left && put(JSON.stringify(part))
    if (typeof part !== 'object' || part === null) return put(String(part))
    const names = Object.keys(part)
    if (names.length > left) return false
    if (!Array.isArray(part)) names.sort()
    return (
      put(Array.isArray(part) ? '[' : '{') &&
      names.every((name) => {
        if (!Array.isArray(part) && ABOUT_THE_CALL.test(name)) return true
        return put(`${JSON.stringify(name)}:`) && write(Reflect.get(part, name), depth + 1) && put(',')
      }) &&
      put('}')
    )
  }
  return write(value, 0) ? comparable(parts.join('')) : null
}

const TEMPORARY = /(?:\/private)?(?:\/tmp|\/var\/tmp|\/var\/folders\/\w+\/\w+\/T)\/[^\s"':,;)\]]+/g
const TEMPORARY_WINDOWS = /[A-Za-z]:\\[^\s"':;]{0,200}?\\Temp\\[^\s"':,;)\]]+/gi
/** Longer than an error code. */
const ADDRESS = /\b0x[\da-f]{9,16}\b/gi
const PROCESS = /\b(pid|process id)([ =:#]{1,3})\d{1,10}\b/gi
/** What a run prints, without colours, progress, addresses, process numbers and names of temporary files. */
export function plainOutput(text: string): string {
  return trimmedLines(clean(text.replace(/\r\n/g, '\n').replace(/^[^\n]*\r(?=[^\n])/gm, '')))
    .replace(TEMPORARY, '<temporary>')
    .replace(TEMPORARY_WINDOWS, '<temporary>')
    .replace(ADDRESS, '<address>')
    .replace(PROCESS, '$1$2<number>')
    .trim()
}

/** Line by line: an expression for blank ends takes the square of a long run of blanks. */
function trimmedLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const AMOUNT = String.raw`\d{1,9}(?:[.,]\d{1,9})?\s?(?:ns|µs|us|ms|s|secs?|seconds?|m|min|minutes?)\b`
const DURATION = new RegExp(`(?<![\\w.])${AMOUNT}(?:\\s?${AMOUNT})?`, 'gi')
const CLOCK = /\b(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])/g
/** Of a log line: when it was written is not what it says. */
const LINE_TIME = /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?(?=\s)/gm
/** Lines of a report that tell how long something took; elsewhere an amount of time may be what it is about. */
const TIMED_LINE =
  /^[ \t]*(?:[✓✔√×✗✘❯↓#=]|(?:ok|not ok|pass|fail|tests?|test files|suites?|time|total time|duration|start at|finished|done|real|user|sys)\b|--- )[^\n]*/gim
const TIMED_WORDS = new RegExp(
  `(\\b(?:in|took|after|elapsed:?) |[(\\[])${AMOUNT}(?:\\s?${AMOUNT})?(?=[)\\]\\s.,;]|$)`,
  'gim',
)
const TIMED_FIELD = /\b(duration(?:_ms)?|time)([=: ]{1,3})\d{1,9}(?:\.\d{1,9})?/gi

/** Of a check (tests, build, linter) also without its timing: another second is not another result. */
export function checkOutput(text: string): string {
  return plainOutput(text)
    .replace(LINE_TIME, '<time>')
    .replace(TIMED_LINE, (line) => line.replace(CLOCK, '<time>').replace(DURATION, '<time>'))
    .replace(TIMED_WORDS, '$1<time>')
    .replace(TIMED_FIELD, '$1$2<time>')
}
