/**
 * Masks secrets before a text leaves the hook's process. There are three detectors: secrets with a known format (API
 * keys, tokens), values that are assigned to a name such as `DB_PASSWORD`, and the content of `.env` files. Every
 * pattern begins with a literal or is bounded, so the time is linear in the length of the text.
 */
import { removeSpans, type Span, type SpanRule } from './private-parts.ts'

interface SecretRule {
  kind: string
  /** Literals: a text without any of them contains no such secret, and the pattern is not tried. */
  hints: readonly string[]
  /** Its capture group is the secret; without one the whole match is. */
  pattern: RegExp
  /** Returns false for a match that is not a secret. */
  accepts?: (secret: string) => boolean
}

const hasDigit = (text: string): boolean => /\d/.test(text)
/** `Basic authentication` is prose, not a credential. */
const isNotWord = (text: string): boolean => !/^[A-Z]?[a-z]+$/.test(text) && !isPlaceholderValue(text)

/** Matches only at the start of a word. In JSON text the `n` of an escaped line break is not part of a word. */
const atWordStart = (pattern: RegExp): RegExp =>
  new RegExp(`(?:(?<![\\w-])|(?<=\\\\[bfnrt]))${pattern.source}`, pattern.flags)

export const SECRET_RULES: readonly SecretRule[] = [
  { kind: 'anthropic-key', hints: ['sk-ant-'], pattern: /sk-ant-[\w-]{16,}/g },
  { kind: 'openai-key', hints: ['sk-'], pattern: atWordStart(/sk-[\w-]{20,}/g), accepts: hasDigit },
  { kind: 'aws-access-key-id', hints: ['AKIA', 'ASIA'], pattern: atWordStart(/A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g) },
  {
    kind: 'aws-secret-key',
    hints: ['ecret', 'ECRET'],
    pattern:
      /secret_?(?:access_?)?key\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])/gi,
  },
  { kind: 'github-token', hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /gh[pousr]_[A-Za-z0-9]{30,}/g },
  { kind: 'github-token', hints: ['github_pat_'], pattern: /github_pat_\w{30,}/g },
  { kind: 'gitlab-token', hints: ['glpat-'], pattern: /glpat-[\w.-]{20,}/g },
  { kind: 'google-key', hints: ['AIza'], pattern: /AIza[\w-]{35}(?![\w-])/g },
  {
    kind: 'slack-webhook',
    hints: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/+-]{8,})/g,
  },
  { kind: 'slack-token', hints: ['xox'], pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,}/g, accepts: hasDigit },
  { kind: 'stripe-key', hints: ['k_live_', 'k_test_'], pattern: atWordStart(/[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g) },
  { kind: 'npm-token', hints: ['npm_'], pattern: /npm_[A-Za-z0-9]{36,}/g },
  { kind: 'pypi-token', hints: ['pypi-'], pattern: /pypi-[\w-]{40,}/g },
  { kind: 'huggingface-token', hints: ['hf_'], pattern: /hf_[A-Za-z0-9]{30,}/g },
  { kind: 'sendgrid-key', hints: ['SG.'], pattern: atWordStart(/SG\.[\w-]{16,}\.[\w-]{16,}/g) },
  { kind: 'twilio-key', hints: ['SK'], pattern: atWordStart(/SK[0-9a-f]{32}(?!\w)/g) },
  { kind: 'jwt', hints: ['eyJ'], pattern: atWordStart(/eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g) },
  {
    kind: 'authorization',
    hints: ['uthorization', 'UTHORIZATION'],
    pattern:
      /authorization\\{0,3}["']?[ \t]{0,8}[:=][ \t]{0,8}\\{0,3}["'`]?(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,8})?([\w.~+/=:-]{6,})/gi,
    accepts: isNotWord,
  },
  {
    kind: 'authorization',
    hints: ['earer ', 'EARER '],
    pattern: atWordStart(/bearer[ \t]{1,8}([\w.~+/=-]{16,})/gi),
    accepts: (secret) => hasDigit(secret) && isNotWord(secret),
  },
  {
    kind: 'url-password',
    hints: ['://'],
    pattern: /:\/\/[^\s/:@"'`<>\\]{0,128}:([^\s/"'`<>\\]{1,256})@/g,
    accepts: (secret) => !isPlaceholderValue(secret),
  },
]

/** Replaces every secret by `[secret:kind]`. Idempotent. */
export function maskSecrets(text: string): string {
  let masked = removeSpans(text, PRIVATE_KEYS)
  // Repeated until nothing changes: masking one secret may reveal the start of the next.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = masked
    for (const rule of SECRET_RULES) {
      if (rule.hints.some((hint) => masked.includes(hint))) masked = applyRule(masked, rule)
    }
    masked = maskAssignments(masked)
    if (masked === before) break
  }
  return masked
}

/** Real text needs two passes; secrets that are concatenated need more. */
const MAX_PASSES = 8

function applyRule(text: string, rule: SecretRule): string {
  return text.replace(rule.pattern, (match: string, group: unknown) => {
    const secret = typeof group === 'string' ? group : match
    if (rule.accepts?.(secret) === false) return match
    const at = match.lastIndexOf(secret)
    return `${match.slice(0, at)}[secret:${rule.kind}]${match.slice(at + secret.length)}`
  })
}

/**
 * PEM private keys. In a block that was cut, one end is enough: a BEGIN without END masks the rest of the text, an END
 * without BEGIN everything before it.
 */
export const PRIVATE_KEYS: SpanRule = {
  hint: /PRIVATE KEY/,
  marker: '[secret:private-key]',
  find(text) {
    const spans: Span[] = []
    let start: number | null = null
    for (const match of text.matchAll(/-----(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g)) {
      if (match[1] === 'BEGIN') {
        start ??= match.index
        continue
      }
      spans.push({ start: start ?? spans.at(-1)?.end ?? 0, end: match.index + match[0].length })
      start = null
    }
    if (start !== null) spans.push({ start, end: text.length })
    return spans
  },
}

/**
 * Masks secrets that are only recognizable by their name: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`. In source
 * code such a name is often followed by an expression, so the syntax decides:
 *
 * - a quoted text after such a name is a secret unless it is a placeholder;
 * - an unquoted value is a secret where a shell, ini or YAML file would have one (`NAME=value`, a line `name: value`),
 *   unless it is an expression, a type or another name.
 */
type AssignmentKind = 'password' | 'secret' | 'token' | 'key' | 'credentials'

function maskAssignments(text: string): string {
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

/** The kind of secret that a value with this name is; null if it is not one. */
export function secretKindForName(name: string): AssignmentKind | null {
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

/** A placeholder, or a reference to where the value comes from (`$TOKEN`, `process.env.KEY`). */
export function isPlaceholderValue(value: string): boolean {
  return value.length <= MAX_PLACEHOLDER && PLACEHOLDERS.some((pattern) => pattern.test(value.trim()))
}

const NAME =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|token|credential|(?:api|access|account|auth|client|deploy|encryption|license|master|private|service|session|shared|signing|storage|subscription)[_-]?key|_key/gi
const PASSWORD_WORD = /passw(?:or)?d|passphrase|passcode|^pwd$/
const KEY_WORD =
  /^(?:.*api|access|account|auth|client|deploy|encryption|license|master|private|secret|service|session|shared|signing|storage|subscription)key$/

/** Last words of names that describe a secret but do not contain it: `password_min_length`, `token_type`. */
const HARMLESS_ENDS = new Set(
  'length min max size timeout enabled disabled required file files path paths dir url uri endpoint name names id ids field type types policy count limit expiry expires ttl prompt hint label placeholder error errors regex pattern rule rules strength manager provider store ref schema class input'.split(
    ' ',
  ),
)

/** Words that do not change what a name means: `client-key-data` is a key. */
const ENCODED_WORDS = new Set(['data', 'value', 'base64', 'b64'])

/** Characters. Longer values are never placeholders. */
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
/** `f(…)`, `list[0]`, `!x`, `/x/`: code or a path. */
const EXPRESSION = /^(?:[([{|>!/]|[A-Za-z_$][\w$]*(?:\?*\.[A-Za-z_$][\w$]*)*(?:[([{<]|\?\.))/
/** First characters that an unquoted password in a shell may have too. */
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
/** Most characters of a value and of a name. */
const MAX_VALUE = 8_192
const MAX_NAME = 64
const NAME_CHARACTER = /[\w-]/

interface FoundAssignment {
  /** Null: not a secret; the search continues after `end`. */
  kind: AssignmentKind | null
  start: number
  end: number
}

function assignmentAt(text: string, index: number): FoundAssignment {
  const from = nameStart(text, index)
  const to = nameEnd(text, index)
  const nothing: FoundAssignment = { kind: null, start: to, end: to }
  const marker = text[index - 1] === '[' ? matchAt(MARKER, text, index) : null
  if (marker !== null) return { kind: null, start: to, end: index + marker[0].length }
  const name = text.slice(from, to).replace(/^-+/, '')
  const kind = secretKindForName(name)
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
    return isPlaceholderValue(value) || isHarmlessValue(name, value)
      ? { kind: null, start, end }
      : { kind, start: open, end }
  }
  const spaced = (operator?.[1] ?? '') !== '' || (operator?.[3] ?? '') !== ''
  const shell = isUpper(name) && !spaced && operator?.[2] === '='
  // Tested on a bounded slice first: a text with many expressions must not be read repeatedly.
  const expression = EXPRESSION.exec(text.slice(start, start + MAX_PLACEHOLDER))
  if (expression !== null && !(shell && SHELL_VALUE.test(expression[0]))) return nothing
  const bare = matchAt(BARE, text, start)?.[0] ?? ''
  const line = isWholeLine(text, from, start + bare.length)
  const syntax = { name, kind, shell, spaced, colon: operator?.[2] === ':', flag: flag !== null, line }
  const value = bareValue(bare, syntax)
  return value === '' ? nothing : { kind, start, end: start + value.length }
}

interface AssignmentSyntax {
  name: string
  kind: AssignmentKind
  /** `NAME=value`, as in a shell. */
  shell: boolean
  spaced: boolean
  colon: boolean
  flag: boolean
  /** The assignment is the whole line, as in YAML. */
  line: boolean
}

/** The part of an unquoted value that is secret; empty if there is none. */
function bareValue(bare: string, syntax: AssignmentSyntax): string {
  const { shell } = syntax
  const value = withoutTrailing(shell ? bare : (/^[^&;,)]*/.exec(bare)?.[0] ?? ''))
  if (isPlaceholderValue(value) || isHarmlessValue(syntax.name, value)) return ''
  if (/^\d+$/.test(value)) return value.length >= (syntax.kind === 'password' ? 4 : 8) ? value : ''
  if (MEMBER.test(value) && (!shell || KNOWN_OWNER.test(value))) return ''
  if (syntax.flag) return LETTERS.test(value) ? '' : value
  if (shell) return value
  if (IDENTIFIER.test(value) && secretKindForName(value) !== null && !/\d/.test(value)) return ''
  if (!syntax.spaced && !syntax.colon) return value
  if (syntax.colon && syntax.line) return TYPE_WORDS.test(value) ? '' : value
  return LETTERS.test(value) || value.length < 6 ? '' : value
}

/** Without punctuation of the text around the value. A closing bracket stays if the value contains its opening one. */
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

/** A setting about a secret: `PASSWORD_MIN_LENGTH=8`, `SECRET_FILE=/run/secrets/db`. */
function isHarmlessValue(name: string, value: string): boolean {
  const end = name.toLowerCase().split(/[_-]/).at(-1) ?? ''
  return HARMLESS_ENDS.has(end) && /^(?:\d+|\.{0,2}\/.*|https?:.*)$/.test(value)
}

function isUpper(name: string): boolean {
  return /^[A-Z0-9_]*[A-Z][A-Z0-9_]*$/.test(name)
}

function nameStart(text: string, index: number): number {
  let at = index
  while (at > 0 && index - at < MAX_NAME && NAME_CHARACTER.test(text[at - 1] ?? '')) at--
  // In JSON text the `n` of an escaped line break is not part of the name.
  return at < index && text[at - 1] === '\\' && /[bfnrt]/.test(text[at] ?? '') ? at + 1 : at
}

function nameEnd(text: string, index: number): number {
  let at = index
  while (at - index < MAX_NAME && NAME_CHARACTER.test(text[at] ?? '')) at++
  return at
}

/** Index of the closing quote, which is escaped like the opening one; else the end of the line. */
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

/** In `.env` files every value is masked: the name of a variable does not show whether it is a secret. */
const ENV_MARKER = '[secret:env]'

/** `.env`, `.env.production`, `staging.env`; not examples such as `.env.example`. */
export function isEnvFile(path: string): boolean {
  const base = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  if (!/^\.env(?:\..+)?$|.\.env$/.test(base)) return false
  return !/\.(?:example|sample|template)$/.test(base)
}

/** Fields in which tools name the file they work on. */
const PATH_FIELDS = new Set(['file_path', 'filePath', 'path', 'notebook_path', 'filename'])
/** Fields that never contain the file's content. */
const DESCRIBING_FIELDS = new Set([...PATH_FIELDS, 'type', 'mode', 'output_mode', 'filenames', 'description'])

export function isEnvContentField(key: string | null): boolean {
  return key !== null && !DESCRIBING_FIELDS.has(key)
}

/** Levels at which tools have paths in their input or response. */
const MAX_PATH_DEPTH = 4

/** Whether a tool's input or response names such a file. */
export function namesEnvFile(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_PATH_DEPTH) return false
  return Object.entries(value).some(([key, item]) =>
    typeof item === 'string' ? PATH_FIELDS.has(key) && isEnvFile(item) : namesEnvFile(item, depth + 1),
  )
}

/** Whether a shell command may print such a file. */
export function commandNamesEnvFile(command: string): boolean {
  for (const match of command.matchAll(/[^\s"'`;|&()<>=]+/g)) if (isEnvFile(match[0])) return true
  return false
}

/** Before a value: a diff sign, a line number, a comment sign, `export`, and the variable's name. */
const ASSIGNMENT_START =
  /^[ \t+-]{0,16}(?:\d{1,7}[ \t→:|]{1,4})?#{0,2}[ \t]{0,8}(?:export[ \t]{1,4}|set[ \t]{1,4})?[A-Za-z_][\w.-]{0,100}[ \t]{0,4}=$/

/**
 * Masks the content of a `.env` file or a part of it. A line that is neither `name=` nor a comment belongs to a value.
 */
export function maskEnvFile(text: string): string {
  let openQuote: string | null = null
  return text
    .split('\n')
    .map((line) => {
      if (openQuote !== null) {
        if (line.includes(openQuote)) openQuote = null
        return ENV_MARKER
      }
      const name = line.slice(0, line.indexOf('=') + 1)
      if (ASSIGNMENT_START.test(name)) {
        const value = line.slice(name.length).trim()
        openQuote = unclosedQuote(value)
        return value === '' ? line : name + ENV_MARKER
      }
      return /^[\s+-]*(?:\d{1,7}[\s→:|]{1,4})?(?:#|$)/.test(line) && !line.includes('=') ? line : ENV_MARKER
    })
    .join('\n')
}

/** Masks assignments in the output of a command that may have printed such a file. */
export function maskEnvLines(text: string): string {
  return text.replace(/^([ \t]{0,8}(?:export )?[A-Za-z_]\w{0,100}=)(?!=)[^\r\n]+/gm, `$1${ENV_MARKER}`)
}

function unclosedQuote(value: string): string | null {
  const quote = value[0]
  if (quote !== '"' && quote !== "'" && quote !== '`') return null
  return value.indexOf(quote, 1) === -1 ? quote : null
}
