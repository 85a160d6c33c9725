/** Text that came from anywhere, made fit for patterns and for people. */

/** Longer lines are minified or data; patterns see their beginning only. */
export const LINE_MAX = 500
/** Longest string in a result. */
export const TEXT_MAX = 120
/** Beyond this a whole file costs more than it tells; the hunks are used alone. */
export const FILE_MAX = 400_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to be removed
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]+/g
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

export function cutLine(line: string): string {
  const cut = line.length > LINE_MAX ? line.slice(0, LINE_MAX) : line
  return cut.endsWith('\r') ? cut.slice(0, -1) : cut
}

export function splitLines(text: string): string[] {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const lines = body.includes('\r') ? body.split(/\r\n?|\n/) : body.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? ''
    if (line.length > LINE_MAX) lines[i] = line.slice(0, LINE_MAX)
  }
  return lines
}

export function countLines(text: string): number {
  if (text === '') return 0
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  if (count === 0 && text.includes('\r')) return splitLines(text).length
  return text.endsWith('\n') ? count : count + 1
}

export function looksBinary(text: string): boolean {
  return text.slice(0, 8_000).includes('\0')
}

/** One line, no control characters, at most `max` long. */
export function clean(text: string, max = TEXT_MAX): string {
  const line = text
    .slice(0, max * 4)
    .replace(CONTROL, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const cut = line.length <= max ? line : `${line.slice(0, max - 1).trimEnd()}…`
  return cut.replace(LONE_SURROGATE, '')
}

/** Columns before the first character; a tab counts four. -1 for a blank line. */
export function indentOf(line: string): number {
  let columns = 0
  for (let i = 0; i < line.length; i++) {
    const code = line.charCodeAt(i)
    if (code === 32) columns++
    else if (code === 9) columns += 4
    else return code === 13 ? -1 : columns
  }
  return -1
}

export const MASK = '***'
const SECRET_NAME =
  /secret|token(?!s\b|_?(?:limit|count|budget))|passw|passphrase|api_?-?key|private_?-?key|access_?-?key|credential|auth_?key/i
const SECRET_VALUE =
  /\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?\w{12,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w+|\bAKIA[0-9A-Z]{12,}|\bxox[abprs]-[\w-]{8,}|\beyJ[\w-]{8,}\.[\w-]{6,}|-----BEGIN|\bAIza[\w-]{20,}/
const OPAQUE = /^['"`]?(?=[^\s'"`]*\d)(?=[^\s'"`]*[a-zA-Z])[A-Za-z0-9+/=_-]{32,}['"`]?$/
const LOGIN_IN_URL = /(\w:\/\/[^\s:/@]*):[^\s@/]+@/g
/** A reference to a secret says where it is kept, not what it is. */
const REFERENCE = /^(?:process\.|os\.|env|ENV|getenv|System\.|\$|\{\{|\w+\(|['"]?\$\{)/

/** The value as it may be remembered. */
export function discreet(name: string, value: string): string {
  if (SECRET_VALUE.test(value) || OPAQUE.test(value)) return MASK
  if (
    SECRET_NAME.test(name) &&
    /["'`\w]/.test(value) &&
    !REFERENCE.test(value) &&
    !/^(?:true|false|null|None|nil|\d{1,6})$/.test(value)
  )
    return MASK
  return value.replace(LOGIN_IN_URL, `$1:${MASK}@`)
}

const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`)$/

export function unquote(text: string): string {
  const match = QUOTED.exec(text)
  return match === null ? text : (match[1] ?? match[2] ?? match[3] ?? text)
}
