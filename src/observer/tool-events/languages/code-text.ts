/** Source text of any origin, made safe for patterns and for display. */

/** Longer lines are minified code or data; patterns see their beginning only. */
export const MAX_CODE_LINE_CHARS = 500
/** Longest name in a result. */
const MAX_NAME_CHARS = 120
/** Larger files are too slow to read; only the hunks of the edit are used. */
export const MAX_FILE_CHARS = 400_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]+/g
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

export function cutLine(line: string): string {
  const head = line.slice(0, MAX_CODE_LINE_CHARS)
  return head.endsWith('\r') ? head.slice(0, -1) : head
}

export function splitCodeLines(text: string): string[] {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const lines = body.includes('\r') ? body.split(/\r\n?|\n/) : body.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => (line.length > MAX_CODE_LINE_CHARS ? line.slice(0, MAX_CODE_LINE_CHARS) : line))
}

export function countLines(text: string): number {
  if (text === '') return 0
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  if (count === 0 && text.includes('\r')) return splitCodeLines(text).length
  return text.endsWith('\n') ? count : count + 1
}

export function looksBinary(text: string): boolean {
  return text.slice(0, 8_000).includes('\0')
}

/** One line without control characters. */
export function cleanName(text: string, max = MAX_NAME_CHARS): string {
  const line = text
    .slice(0, max * 4)
    .replace(CONTROL, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const short = line.length <= max ? line : `${line.slice(0, max - 1).trimEnd()}…`
  return short.replace(LONE_SURROGATE, '')
}

/** Columns before the first character; a tab counts four. -1 for a blank line. */
export function indentation(line: string): number {
  let columns = 0
  for (let i = 0; i < line.length; i++) {
    const char = line[i]
    if (char === ' ') columns++
    else if (char === '\t') columns += 4
    else return char === '\r' ? -1 : columns
  }
  return -1
}

export const SECRET_MASK = '***'
const SECRET_NAME =
  /secret|token(?!s\b|_?(?:limit|count|budget))|passw|passphrase|api_?-?key|private_?-?key|access_?-?key|credential|auth_?key/i
const SECRET_VALUE =
  /\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?\w{12,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w+|\bAKIA[0-9A-Z]{12,}|\bxox[abprs]-[\w-]{8,}|\beyJ[\w-]{8,}\.[\w-]{6,}|-----BEGIN|\bAIza[\w-]{20,}/
const RANDOM_TEXT = /^['"`]?(?=[^\s'"`]*\d)(?=[^\s'"`]*[a-zA-Z])[A-Za-z0-9+/=_-]{32,}['"`]?$/
const LOGIN_IN_URL = /(\w:\/\/[^\s:/@]*):[^\s@/]+@/g
/** A reference to a secret is not the secret. */
const REFERENCE = /^(?:process\.|os\.|env|ENV|getenv|System\.|\$|\{\{|\w+\(|['"]?\$\{)/

/** The value as it may be stored. */
export function maskSecretValue(name: string, value: string): string {
  if (SECRET_VALUE.test(value) || RANDOM_TEXT.test(value)) return SECRET_MASK
  const mayBeSecret =
    /["'`\w]/.test(value) && !REFERENCE.test(value) && !/^(?:true|false|null|None|nil|\d{1,6})$/.test(value)
  if (SECRET_NAME.test(name) && mayBeSecret) return SECRET_MASK
  return value.replace(LOGIN_IN_URL, `$1:${SECRET_MASK}@`)
}

const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`)$/

export function unquote(text: string): string {
  const match = QUOTED.exec(text)
  return match?.[1] ?? match?.[2] ?? match?.[3] ?? text
}
