/**
 * Fingerprints of tool results, and the normal forms they are made of: without what differs from run to run (durations,
 * addresses, process ids, temporary paths). Null: a result that cannot be compared.
 */
import { createHash } from 'node:crypto'
import { rateOutputLine } from '../../domain/telling-lines.ts'
import { asFields, type JsonFields, stringField } from '../../reading/fields.ts'
import { stripControlCharacters } from '../../reading/text.ts'

/** A longer result is not compared and counts as new. */
const MAX_COMPARED_CHARS = 262_144
/** Deeper than any tool's payload, and safe for the stack. */
const MAX_DEPTH = 64
/** 128 bits of SHA-256, as hex. */
const FINGERPRINT_CHARS = 32
/** A subject is a key in a table. */
const MAX_SUBJECT_CHARS = 100

/** The marker of a cut by the hook: the text that was cut may have changed. */
const CUT_MARKER = /\[… [\d,]+ (?:characters|items|keys) left out …\]|\[… nested too deep …\]/

export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_CHARS)
}

/** Readable if it is short and ASCII, otherwise hashed. */
export function subjectKey(kind: string, what: string): string {
  const key = `${kind}:${what}`
  return key.length <= MAX_SUBJECT_CHARS && /^[\x20-\x7e]*$/.test(key) ? key : `${kind}:${fingerprint(what)}`
}

export function comparable(text: string): string | null {
  return text.length > MAX_COMPARED_CHARS || CUT_MARKER.test(text) ? null : text
}

/** Fields that describe the call, not its result; in lower case, without underscores. */
const CALL_FIELDS = new Set([
  ...['duration', 'durationms', 'durationseconds', 'totalduration', 'totaldurationms', 'totaldurationseconds'],
  ...['elapsed', 'elapsedms', 'took', 'tooluseid', 'requestid', 'timestamp', 'usage'],
])
const isCallField = (name: string) => CALL_FIELDS.has(name.toLowerCase().replaceAll('_', ''))

/** The same text for the same JSON value, whatever the order of its keys. */
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
    const isList = Array.isArray(part)
    const names = Object.keys(part)
    if (names.length > left) return false
    if (!isList) names.sort()
    return (
      put(isList ? '[' : '{') &&
      names.every((name) => {
        if (!isList && isCallField(name)) return true
        return put(`${JSON.stringify(name)}:`) && write(Reflect.get(part, name), depth + 1) && put(',')
      }) &&
      put('}')
    )
  }
  return write(value, 0) ? comparable(parts.join('')) : null
}

const TEMPORARY_PATH = /(?:\/private)?(?:\/tmp|\/var\/tmp|\/var\/folders\/\w+\/\w+\/T)\/[^\s"':,;)\]]+/g
const TEMPORARY_PATH_WINDOWS = /[A-Za-z]:\\[^\s"':;]{0,200}?\\Temp\\[^\s"':,;)\]]+/gi
/** Longer than an error code. */
const MEMORY_ADDRESS = /\b0x[\da-f]{9,16}\b/gi
const PROCESS_ID = /\b(pid|process id)([ =:#]{1,3})\d{1,10}\b/gi

/** A program's output without colours, progress bars, addresses, process ids and temporary paths. */
export function normalizeOutput(text: string): string {
  return trimLineEnds(stripControlCharacters(lastProgressStates(text.replace(/\r\n/g, '\n'))))
    .replace(TEMPORARY_PATH, '<temporary>')
    .replace(TEMPORARY_PATH_WINDOWS, '<temporary>')
    .replace(MEMORY_ADDRESS, '<address>')
    .replace(PROCESS_ID, '$1$2<number>')
    .trim()
}

/** A progress bar overwrites its line: only what follows the last carriage return in a line remains. */
function lastProgressStates(text: string): string {
  if (!text.includes('\r')) return text
  return text
    .split('\n')
    .map((line) => (line.length < 2 ? line : line.slice(line.lastIndexOf('\r', line.length - 2) + 1)))
    .join('\n')
}

/** Line by line: a regular expression takes quadratic time on a long run of blanks. */
function trimLineEnds(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const AMOUNT = String.raw`\d{1,9}(?:[.,]\d{1,9})?\s?(?:ns|µs|us|ms|s|secs?|seconds?|m|min|minutes?)\b`
const DURATION = new RegExp(`(?<![\\w.])${AMOUNT}(?:\\s?${AMOUNT})?`, 'gi')
const CLOCK = /\b(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])/g

/** The output of a check (tests, build, linter): also without durations and times, but for lines that report an error. */
export function normalizeCheckOutput(text: string): string {
  return normalizeOutput(text)
    .split('\n')
    .map((line) => (rateOutputLine(line) > 1 ? line : line.replace(CLOCK, '<time>').replace(DURATION, '<time>')))
    .join('\n')
}

/** The key of a file, or of a range of it. Null if the input names no file. */
export function fileSubject(input: JsonFields, cwd: string, range: string): string | null {
  const named = stringField(input, 'file_path') || stringField(input, 'notebook_path')
  if (named === '') return null
  const path = named.replaceAll('\\', '/')
  const absolute = /^(?:\/|[A-Za-z]:\/)/.test(path) ? path : `${cwd.replaceAll('\\', '/')}/${path}`
  return subjectKey('read', `${absolute}:${range}`)
}

/** The content that a read returned. */
export function readContent(response: unknown): string | null {
  const content = asFields(asFields(response).file).content
  if (typeof content !== 'string') return stableText(response)
  return normalizeContent(comparable(content))
}

/** The content of a file before and after an edit. `before` null: whatever it was; `after` null: not known. */
export function editedContent(
  tool: string,
  input: JsonFields,
  response: JsonFields,
): { before: string | null; after: string | null } {
  if (tool === 'Write') return { before: null, after: normalizeContent(comparable(stringField(input, 'content'))) }
  const original = response.originalFile ?? response.originalFileContents
  const before = typeof original === 'string' ? comparable(original) : null
  // If the user changed the edit, the new content is not known.
  if (before === null || response.userModified === true) return { before: null, after: null }
  const edits = tool === 'MultiEdit' ? (Array.isArray(input.edits) ? input.edits.map(asFields) : []) : [input]
  return { before: normalizeContent(before), after: normalizeContent(edits.reduce(applyEdit, before)) }
}

/** A replacement that grows beyond this is not followed: one letter could be replaced by a whole text, everywhere. */
const MAX_EDITED_CHARS = 1_048_576

function applyEdit(content: string | null, edit: JsonFields): string | null {
  const from = stringField(edit, 'old_string')
  const to = comparable(stringField(edit, 'new_string'))
  if (content === null || to === null || from === '' || !content.includes(from)) return null
  if (edit.replace_all !== true) return comparable(content.replace(from, () => to))
  const parts = content.split(from)
  return content.length + parts.length * to.length > MAX_EDITED_CHARS ? null : comparable(parts.join(to))
}

/** Tools differ in line endings and in the newline at the end. */
function normalizeContent(content: string | null): string | null {
  if (content === null) return null
  const text = content.replace(/\r\n/g, '\n')
  let end = text.length
  while (text[end - 1] === '\n') end--
  return text.slice(0, end)
}
