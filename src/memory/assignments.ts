/**
 * Secrets that only their name gives away: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`. Code is full of the
 * same names with expressions behind them, so what counts as a secret depends on how it is written:
 *
 * - a quoted text behind such a name is one, unless it is a placeholder;
 * - an unquoted value is one where a shell, an ini or a YAML file would have it (`NAME=value`, a line
 *   `name: value`), and is left alone where it reads as an expression, a type or another name.
 *
 * Every pattern is anchored at a literal or bounded: the time is linear in the text.
 */
export type AssignmentKind = 'password' | 'secret' | 'token' | 'key' | 'credentials'

export function maskAssignments(text: string): string {
  let masked = ''
  let done = 0
  NAME.lastIndex = 0
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const found = assignmentAt(text, match.index)
    NAME.lastIndex = Math.max(found.end, NAME.lastIndex)
    if (found.kind === null) continue
    masked += `${text.slice(done, found.start)}[secret:${found.kind}]`
    done = found.end
  }
  return done === 0 ? text : masked + text.slice(done)
}

/** What kind of secret a value of this name is, null for none. */
export function secretKindOf(name: string): AssignmentKind | null {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_-]+/)
    .filter((word) => word !== '' && !ENCODED_WORDS.has(word))
  const upper = isUpper(name)
  const end = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (!upper && HARMLESS_ENDS.has(end)) return null
  if (words.some((word) => PASSWORD_WORD.test(word))) return 'password'
  if (upper ? name.includes('SECRET') : words.some((word) => word.endsWith('secret') || word === 'secrets'))
    return 'secret'
  if (end.endsWith('token')) return 'token'
  if (
    upper ? /(?:_|API|ACCESS)KEY$/.test(name) : KEY_WORD.test(end) || (end === 'key' && KEY_WORD.test(`${before}key`))
  )
    return 'key'
  return upper && /CREDENTIALS?$/.test(name) ? 'credentials' : null
}

/** Stands for a value, or says where it comes from. */
export function isPlaceholder(value: string): boolean {
  return value.length <= MAX_PLACEHOLDER && PLACEHOLDERS.some((pattern) => pattern.test(value.trim()))
}

const NAME =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|token|credential|(?:api|access|account|auth|client|deploy|encryption|license|master|private|service|session|shared|signing|storage|subscription)[_-]?key|_key/gi
const PASSWORD_WORD = /passw(?:or)?d|passphrase|passcode|^pwd$/
const KEY_WORD =
  /^(?:.*api|access|account|auth|client|deploy|encryption|license|master|private|secret|service|session|shared|signing|storage|subscription)key$/

/** `password_min_length`, `secretName`, `token_type`: about a secret, not it. */
const HARMLESS_ENDS = new Set(
  'length min max size timeout enabled disabled required file files path paths dir url uri endpoint name names id ids field type types policy count limit expiry expires ttl prompt hint label placeholder error errors regex pattern rule rules strength manager provider store ref schema class input'.split(
    ' ',
  ),
)

/** `client-key-data`: still the key. */
const ENCODED_WORDS = new Set(['data', 'value', 'base64', 'b64'])

const MAX_PLACEHOLDER = 200
const PLACEHOLDERS: readonly RegExp[] = [
  /^$/,
  /^\[(?:secret:[a-z-]+|private)\]$/,
  /^[x*.…\-_#•]+$/i,
  /^<[^<>]*>$/,
  /^\$\{[^{}]*\}$/,
  /^\$\(.*\)$/,
  /^\$(?:env:)?[A-Za-z_]\w*$/,
  /^%\w+%$/,
  /^\{\{.*\}\}$/,
  /^\{[\w.]*\}$/,
  /^your[-_ ].*$/i,
  /^(?:redacted|placeholder|null|none|nil|undefined|true|false|yes|no|on|off)$/i,
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|Deno\.env|System\.getenv|getenv|ENV\[|env\.|secrets\.|vars\.)/,
]

const TYPE_WORDS =
  /^(?:string|str|text|number|int|integer|bool|boolean|bytes|any|unknown|object|void|char|varchar|uuid|self|this|required|optional|[A-Z][A-Za-z]*)$/
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const LETTERS = /^[A-Za-z_$-]+$/
/** `f(…)`, `list[0]`, `!x`, `/x/`: code or a path, not a value. */
const EXPRESSION = /^(?:[([{|>!/]|[A-Za-z_$][\w$]*(?:\?*\.[A-Za-z_$][\w$]*)*(?:[([{<]|\?\.))/
/** How a password in a shell may begin, too. */
const SHELL_VALUE = /^[[|>!{/]/
const MEMBER = /^[A-Za-z_$][\w$]*(?:\?*\.[A-Za-z_$][\w$]*)+$/
const KNOWN_OWNER = /^(?:process|os|env|config|settings|options|opts|self|this|ctx|req|request|props|args)\b/

const OPERATOR = /\\{0,3}["'`]?\]?([ \t]{0,8})(=>|:=|:(?![:=])|=(?![=>~]))([ \t]{0,8})/y
/** `password: string = "…"` */
const TYPED = /\??[ \t]{0,4}:[ \t]{0,4}[A-Za-z_][\w.<>[\]|]{0,40}[ \t]{0,4}=[ \t]{0,4}(?=["'`])/y
const QUOTE = /[fbru@]{0,2}(\\{0,3})(["'`])/iy
const FLAG_VALUE = /[ \t]+(?=[^\s-])/y
const BARE = /[^\s"'`]{1,8192}/y
const MARKER = /secret:[a-z-]+\]/y
const MAX_VALUE = 8_192
const MAX_NAME = 64

interface Found {
  /** Null: not a secret; look on behind `end`. */
  kind: AssignmentKind | null
  start: number
  end: number
}

function assignmentAt(text: string, index: number): Found {
  const from = nameStart(text, index)
  const to = nameEnd(text, index)
  const nothing: Found = { kind: null, start: to, end: to }
  const marker = text[index - 1] === '[' ? matchAt(MARKER, text, index) : null
  if (marker !== null) return { kind: null, start: to, end: index + marker[0].length }
  const name = text.slice(from, to).replace(/^-+/, '')
  const kind = secretKindOf(name)
  if (kind === null) return nothing
  const operator = matchAt(OPERATOR, text, to)
  const typed = matchAt(TYPED, text, to)
  const flag = operator === null && text.startsWith('--', from) ? matchAt(FLAG_VALUE, text, to) : null
  const between = typed ?? operator ?? flag
  if (between === null) return nothing
  const start = to + between[0].length
  const quote = matchAt(QUOTE, text, start)
  if (quote !== null) {
    const open = start + quote[0].length
    const end = closingQuote(text, open, quote[1] ?? '', quote[2] ?? '"')
    const value = text.slice(open, end)
    return isPlaceholder(value) || isHarmlessValue(name, value)
      ? { kind: null, start, end }
      : { kind, start: open, end }
  }
  const spaced = (operator?.[1] ?? '') !== '' || (operator?.[3] ?? '') !== ''
  const shell = isUpper(name) && !spaced && operator?.[2] === '='
  // Looked at before the whole value is: a text full of these must not be read over and over.
  const code = EXPRESSION.exec(text.slice(start, start + MAX_PLACEHOLDER))
  if (code !== null && !(shell && SHELL_VALUE.test(code[0]))) return nothing
  const bare = matchAt(BARE, text, start)?.[0] ?? ''
  const line = isWholeLine(text, from, start + bare.length)
  const how = { name, kind, shell, spaced, colon: operator?.[2] === ':', flag: flag !== null, line }
  const value = bareValue(bare, how)
  return value === '' ? nothing : { kind, start, end: start + value.length }
}

interface Written {
  name: string
  kind: AssignmentKind
  /** `NAME=value`, as a shell would read it. */
  shell: boolean
  spaced: boolean
  colon: boolean
  flag: boolean
  /** Nothing else stands in its line, as in YAML. */
  line: boolean
}

/** The part of an unquoted value that is secret, '' for none. */
function bareValue(bare: string, how: Written): string {
  const { shell } = how
  const value = withoutTrailing(shell ? bare : (/^[^&;,)]*/.exec(bare)?.[0] ?? ''))
  if (isPlaceholder(value) || isHarmlessValue(how.name, value)) return ''
  if (/^\d+$/.test(value)) return value.length >= (how.kind === 'password' ? 4 : 8) ? value : ''
  if (MEMBER.test(value) && (!shell || KNOWN_OWNER.test(value))) return ''
  if (how.flag) return LETTERS.test(value) ? '' : value
  if (shell) return value
  if (IDENTIFIER.test(value) && secretKindOf(value) !== null && !/\d/.test(value)) return ''
  if (!how.spaced && !how.colon) return value
  if (how.colon && how.line) return TYPE_WORDS.test(value) ? '' : value
  return LETTERS.test(value) || value.length < 6 ? '' : value
}

/** What ends the sentence or the list around a value, unless it closes something inside it. */
function withoutTrailing(value: string): string {
  let end = value.length
  while (end > 0) {
    const char = value[end - 1] ?? ''
    const opening = OPENING[char]
    if (opening === undefined || (opening !== '' && value.includes(opening))) break
    end--
  }
  return value.slice(0, end)
}

const OPENING: Readonly<Record<string, string>> = { ';': '', ',': '', ')': '(', ']': '[', '}': '{' }

/** `PASSWORD_MIN_LENGTH=8`, `SECRET_FILE=/run/secrets/db`: a setting about the secret. */
function isHarmlessValue(name: string, value: string): boolean {
  const end = name.toLowerCase().split(/[_-]/).at(-1) ?? ''
  return HARMLESS_ENDS.has(end) && /^(?:\d+|\.{0,2}\/.*|https?:.*)$/.test(value)
}

function isUpper(name: string): boolean {
  return /^[A-Z0-9_]*[A-Z][A-Z0-9_]*$/.test(name)
}

function nameStart(text: string, index: number): number {
  let at = index
  while (at > 0 && index - at < MAX_NAME && isNameCode(text.charCodeAt(at - 1))) at--
  // The n of `\n` in a text that holds JSON belongs to no name.
  return at < index && text[at - 1] === '\\' && /[bfnrt]/.test(text[at] ?? '') ? at + 1 : at
}

function nameEnd(text: string, index: number): number {
  let at = index
  while (at < text.length && at - index < MAX_NAME && isNameCode(text.charCodeAt(at))) at++
  return at
}

/** Letters, digits, `_` and `-`. */
function isNameCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45
  )
}

/** Where the value ends: at its quote, escaped as the opening one was, else at the end of the line. */
function closingQuote(text: string, open: number, escapes: string, quote: string): number {
  const limit = Math.min(text.length, open + MAX_VALUE)
  for (let at = open; at < limit; at++) {
    const char = text[at]
    if (char === '\n') return at
    if (escapes !== '' && text.startsWith(escapes + quote, at)) return at
    if (escapes === '' && char === '\\') at++
    else if (escapes === '' && char === quote) return at
  }
  return limit
}

function isWholeLine(text: string, from: number, end: number): boolean {
  const stop = text[end]
  if (stop !== undefined && stop !== '\n' && stop !== '\r') return false
  let at = from
  while (at > 0 && from - at < MAX_NAME && /[ \t+-]/.test(text[at - 1] ?? '')) at--
  return at === 0 || text[at - 1] === '\n'
}

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index
  return pattern.exec(text)
}
