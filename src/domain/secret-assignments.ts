/**
 * Masks secrets that are only recognizable by their name: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`,
 * `<password>…</password>`. In source code such a name is often followed by an expression, so the syntax decides:
 *
 * - a quoted text after such a name is a secret unless it is a placeholder or a label;
 * - an unquoted value is a secret where a shell, ini or YAML file would have one (`NAME=value`, a line `name: value`),
 *   unless it is an expression, a type or another name.
 *
 * Everything that is read around a name is bounded, so the time is linear in the length of the text.
 */
import type { Span } from './private-parts.ts'
import {
  type AssignmentKind,
  isHarmlessValue,
  isMixed,
  isNameInOtherLanguage,
  isPlaceholderValue,
  isUpperName,
  looksRandom,
  MAX_PLACEHOLDER,
  namesPasswordInOtherLanguage,
  PASSWORD_NAMES,
  readSecretName,
  type SecretName,
} from './secret-names.ts'

/** `hints`: those of `LANGUAGE_HINTS` in the text. */
export function maskAssignments(text: string, hints: ReadonlySet<string>): string {
  let masked = ''
  let done = 0
  const names = namesPasswordInOtherLanguage(text, hints) ? nameInAnyLanguage() : NAME
  const bareAt = bareReader(text)
  names.lastIndex = 0
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const found = assignmentAt(text, bareAt, match.index, match[0].length)
    names.lastIndex = Math.max(found.end, names.lastIndex)
    for (const { start, end } of found.secrets) {
      if (start < done || start >= end) continue
      masked += `${text.slice(done, start)}[secret:${found.kind}]`
      done = end
    }
  }
  return done === 0 ? text : masked + text.slice(done)
}

/** A part of every name that `readSecretName` accepts. Short: it is compiled in every hook. */
const NAME =
  /pass(?:wo?r?d|phrase|code|(?![a-z]))|pwd?(?![a-z])|psk|secret|token|credential|mnemonic|phrase|recovery|jwt|_pat\b|_salt|masterauth|_AUTH(?==)|auth(?=ident|\\{0,3}["'] ?:)|key/gi
let anyName: RegExp | null = null
function nameInAnyLanguage(): RegExp {
  anyName ??= new RegExp(`${PASSWORD_NAMES}|${NAME.source}`, 'gi')
  return anyName
}

const TYPE_WORDS =
  /^(?:string|str|text|number|int|integer|bool|boolean|bytes|any|unknown|object|void|char|varchar|uuid|self|this|required|optional|write|read)$/i
/** `string): Promise`, `String!`, `String?` */
const TYPE_BEGIN = /^(?:string|str|text|number|int|integer|bool|boolean|bytes|any|unknown)[)\]!?;|>]/i
const CAPITALIZED = /^[A-Z]\w*$/
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const LETTERS = /^[A-Za-z_$-]+$/
/** `f(…)`, `list[0]`, `!x`, `/x/`: code or a path. */
const EXPRESSION =
  /^(?:[([{|>!/<]|[A-Za-z_$][\w$]*(?:(?:\?{0,2}\.#?|::)[A-Za-z_$][\w$]*)*(?:[([{<]|\?\.)|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+[+?&|])/
/** First characters that an unquoted password in a shell may have too. */
const SHELL_VALUE = /^[[|>!{/]/
const MEMBER = /^[A-Za-z_$][\w$]*(?:(?:\?{0,2}\.#?|::)[A-Za-z_$][\w$]*)+!?$/
const KNOWN_OWNER =
  /^(?:process|os|env|config|settings|options|opts|self|this|ctx|req|request|props|args|var|local|data)\b/

/** Those of a terminal. */
const COLORS = '(?:\\u001b\\[[\\d;]{0,12}m){0,3}'
const OPERATOR = new RegExp(
  `${COLORS}\\\\{0,3}["'\`]?\\]?([ \\t]{0,8})(=>|:=|<-|:(?![:=])|：|=(?![=>~])|%3D)${COLORS}([ \\t]{0,8})${COLORS}`,
  'y',
)
/** `password: string = "…"` */
const TYPED = /\??[ \t]{0,4}:[ \t]{0,4}[&A-Za-z_][\w.<>[\]|' ]{0,40}[ \t]{0,4}=[ \t]{0,4}(?=["'`])/y
const QUOTE = /\(?[fbrun@]{0,2}(\\{0,3})(["'`])/iy
/** `"…" +` and a line below it the rest. */
const CONTINUED =
  /\\{0,3}["'`][ \t]{0,4}(?:[+.\\][ \t]{0,4}\r?\n[ \t]{0,80}|\r?\n[ \t]{0,80}[+.][ \t]{0,4}|\r?\n[ \t]{2,80})["'`]([^"'`\n]{3,4096})(?=["'`](?![ \t]*:))/y
const FLAG_VALUE = /[ \t]{1,8}(?:\\\r?\n[ \t]{0,40})?(?=[^\s-])/y
/** `"name": "DB_PASSWORD", "value": "…"`, also in YAML and XML. */
const PAIRED_VALUE =
  /\\{0,3}["']?(?:[ \t]{0,4},)?(?:\s|\\n){0,40}\\{0,3}["']?(?:value|Value|VALUE)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}/y
const PAIRED_NAME = /(?:name|key|variable|id)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?[\w.-]{0,100}$/i
/** `define('DB_PASSWORD', '…')`, `page.fill('#password', '…')`. */
const SECOND_ARGUMENT = /\\{0,3}["'`][ \t]{0,4},[ \t]{0,4}(?=["'`])/y
/** `get('#password').type('…')` */
const TYPED_INTO = /\\{0,3}["'`]\]?\\{0,3}["'`]?\)\.(?:fill|type|sendKeys|send_keys|setValue)\((?=\\{0,3}["'`])/y
const NAMED_ARGUMENT =
  /(?:\b(define|setenv|putenv|fill|type)|\.(?:set|put|append|setItem|setHeader|addHeader|setProperty|sendKeys))\(\s{0,8}\\{0,3}["'`][\w.#[\]="'-]{0,100}$/
/** `password is …`, and the same in other languages. */
const IS =
  /[ \t]{1,4}(?:is|ist|lautet|est|es|è|é|to|är|je|from|(?:is generated )?for \S{1,80}(?::|[ \t]=))(?:[ \t](?:now|jetzt|nun|désormais|maintenant|ahora|agora|ora|adesso|nu|теперь))?[:：]?[ \t]{1,4}|[ \t]?(?:是|为|為|は|는|은)[:：]?[ \t]{0,4}/iy
/** `password for the server is …`, `Passwort für den Server: …` */
const OF =
  /[ \t](?:for|of|to|on|at|für|zum|zur|vom|von|der|des|pour|du|de|para|do|da|di|del|per|voor|van|dla|od|от|для|к|до|на|till|för|til)[ \t](?:[^\s:=—"'`()]{1,40}[ \t]){0,4}?(?:[^\s:=—"'`()]{1,40}(?:[:：]|[ \t][—–=])|[^\s:=—"'`()]{1,40}[ \t](?:is|ist|lautet|est|es|è|é|to|är|je)(?:[ \t](?:now|jetzt|nun|désormais|maintenant|ahora|agora|ora|adesso|nu|теперь))?[:：]?)[ \t]{1,4}/iy
/** `changed from … to …` */
const TO = /[ \t](?:to|zu|auf|à|a|naar|na|на)[ \t]{1,4}/iy
const SPACE = /[ \t]{1,40}/y
/** In JSON text a line break is escaped. */
const BARE = /(?:[^\s"'`\\]{1,8192}|\\\r?\n(?=[A-Za-z0-9])|\\(?!\\{0,2}[nrt"])){1,64}/y
/**
 * Reads `BARE`. A word without blanks may have many names, and ends at the same place for each of them: this is looked for once.
 */
function bareReader(text: string): (start: number) => string {
  let from = 0
  let end = 0
  return (start) => {
    if (start < from || start >= end) {
      from = start
      end = start + (matchAt(BARE, text, start)?.[0].length ?? 0)
    }
    return text.slice(start, end)
  }
}

const MARKER = /secret:[a-z-]+\]/y
/** Most characters of a value and of a name. */
const MAX_VALUE = 8_192
const MAX_NAME = 64

/** `[\w-]` and the letters of Latin and Cyrillic, without a pattern: it is asked for every character of a name. */
function isNameCharacter(code: number): boolean {
  if (code > 127) return (code >= 0xc0 && code <= 0x24f) || (code >= 0x400 && code <= 0x4ff)
  if (code >= 97) return code <= 122
  if (code >= 65) return code <= 90 || code === 95
  return (code >= 48 && code <= 57) || code === 45
}

interface FoundAssignment {
  kind: AssignmentKind
  /** In their order; empty if there is no secret. */
  secrets: Span[]
  /** The search continues here. */
  end: number
}

interface NameAt extends SecretName {
  text: string
  /** The unquoted word that begins at a place of the text. */
  bareAt: (start: number) => string
  name: string
  from: number
  to: number
}

function assignmentAt(text: string, bareAt: NameAt['bareAt'], index: number, length: number): FoundAssignment {
  const from = nameStart(text, index)
  const to = nameEnd(text, index + length)
  const nothing: FoundAssignment = { kind: 'secret', secrets: [], end: to }
  const marker = text[index - 1] === '[' ? matchAt(MARKER, text, index) : null
  if (marker !== null) return { ...nothing, end: index + marker[0].length }
  const name = text.slice(from, to).replace(/^-+/, '')
  const read = readSecretName(name)
  if (read === null) return nothing
  const isCall = text[to] === '('
  if (!isCall && !mayHaveValue(text, to, read)) return nothing
  const at: NameAt = { ...read, text, bareAt, name, from, to }
  const found = isCall ? hashedValue(at) : valueAfter(at)
  return found === null ? nothing : { kind: read.kind, secrets: found.secrets, end: Math.max(to, found.end) }
}

/** Mostly prose follows: nothing is read or made for it. */
function mayHaveValue(text: string, to: number, { weak }: SecretName): boolean {
  return FOLLOWED.has(text[to] ?? '') && (!weak || SYNTAX.has(afterBlanks(text, to)))
}

function valueAfter(at: NameAt): Values | null {
  return (
    markedValue(at) ??
    blockValue(at) ??
    operatorValue(at) ??
    pairedValue(at) ??
    elementValue(at) ??
    argumentValue(at) ??
    spacedValue(at)
  )
}

/** What can be between a name and its value. */
const FOLLOWED = new Set([...' \t\r\n\\"\'`=:>?,;]*<%\x1b：是为為は는은'])
const SYNTAX = new Set([...'\r\n\\"\'`=:>?,]'])

function afterBlanks(text: string, to: number): string {
  let at = to
  while (at - to < 40 && (text[at] === ' ' || text[at] === '\t')) at++
  return text[at] ?? ''
}

type Values = Pick<FoundAssignment, 'secrets' | 'end'>

const one = (start: number, end: number): Values => ({ secrets: [{ start, end }], end })
const none = (end: number): Values => ({ secrets: [], end })

/** `name = value`, `"name": "value"`, `--name value`. */
function operatorValue(at: NameAt): Values | null {
  const { text, name, from, to } = at
  const operator = matchAt(OPERATOR, text, to)
  const typed = matchAt(TYPED, text, to)
  const flag = operator === null && text.startsWith('--', from) ? matchAt(FLAG_VALUE, text, to) : null
  const between = typed ?? operator ?? flag
  if (between === null || ARN.test(text.slice(Math.max(0, from - 140), from))) return null
  const start = to + between[0].length
  // A variable of psql: `PASSWORD :'name'`.
  if (operator?.[2] === ':' && operator[1] !== '' && operator[3] === '' && /["']/.test(text[start] ?? ''))
    return none(to)
  const spaced = (operator?.[1] ?? '') !== '' || (operator?.[3] ?? '') !== ''
  const shell = isUpperName(name) && !spaced && operator?.[2] === '='
  const quoted = quotedValue(shell ? { ...at, generic: false } : at, start)
  if (quoted !== null) return quoted
  const below = operator?.[2] === ':' || operator?.[2] === '：' ? valueBelow(at, start) : null
  const list = below ?? listValues(at, start)
  if (list !== null) return list
  // Tested on a bounded slice first: a text with many expressions must not be read repeatedly.
  const expression = EXPRESSION.exec(text.slice(start, start + MAX_PLACEHOLDER))
  const mayBeChosen = at.kind === 'password' && !at.weak
  if (expression !== null && !mayBeChosen && !(shell && SHELL_VALUE.test(expression[0]))) return none(to)
  if (expression !== null && !(shell && SHELL_VALUE.test(expression[0]))) {
    const probe = matchAt(BARE, text.slice(start, start + MAX_PLACEHOLDER + 1), 0)?.[0] ?? ''
    if (!isNoCode(probe, shell) || (!shell && isCode(at))) return none(to)
  }
  const bare = at.bareAt(start)
  const line = isWholeLine(text, from, start + bare.length)
  const colon = operator?.[2] === ':' || operator?.[2] === '：'
  const value = bareValue(bare, { at, shell, spaced, colon, flag: flag !== null, line })
  return value === '' ? none(to) : one(start, start + value.length)
}

const ARN = /\barn:[\w-]{1,20}:[\w:-]{1,80}:$/

/** Null if there is no quote. */
function quotedValue(at: NameAt, start: number): Values | null {
  const quote = matchAt(QUOTE, at.text, start)
  if (quote === null) return null
  const open = start + quote[0].length
  const end = closingQuote(at.text, open, quote[1] ?? '', quote[2] ?? '"')
  const value = at.text.slice(open, end)
  // In documents code is in backticks: the secret: `SECRET_FILE=/x`.
  // `getpass('Password: ')`, `print("token=" + x)`: the quote closes the text that the name is in.
  if (/^\s*[+),;%\]]/.test(value)) return none(open)
  // `read -p "Password: " NAME`: so does this one, if nothing closed it before.
  if (quote[1] === '' && at.text[at.from - 1] === quote[2] && !at.text.slice(at.to, start).includes(quote[2] ?? '"'))
    return none(open)
  if (quote[2] === '`' && (!isMixed(value) || /[\s=]/.test(value))) return none(end)
  return isSecretText(at, value) ? { secrets: withContinuations(at.text, { start: open, end }), end } : none(end)
}

/** A long text in code is often several ones, a line each. */
function withContinuations(text: string, first: Span): Span[] {
  const spans = [first]
  for (let last = first; ; ) {
    const next = matchAt(CONTINUED, text, last.end)
    if (next === null) return spans
    const end = last.end + next[0].length
    last = { start: end - (next[1] ?? '').length, end }
    spans.push(last)
  }
}

/** Whether a quoted text under this name is a secret. */
function isSecretText(at: NameAt, value: string): boolean {
  if (isPlaceholderValue(value) || isHarmlessValue(at.name, value) || isLabel(value)) return false
  if (at.kind !== 'password' && value.length < MIN_SECRET) return false
  if (at.kind === 'credentials' && at.weak) return looksRandom(value, 12)
  if (at.weak) return /^[!-~]+$/.test(value) && !/^pass/i.test(value)
  if (REGEX_SOURCE.test(value) || (isUpperName(value) && readSecretName(value) !== null)) return false
  if (at.generic && WORDS.test(value)) return false
  if (at.kind !== 'password' && at.kind !== 'secret' && WORDS.test(value) && /(?:token|key)$/i.test(value)) return false
  return at.plural && at.kind !== 'password' ? looksRandom(value, 8) : true
}

/** Characters. Shorter tokens and keys are parts of programs: `token = "("`, `accesskey="h"`. */
const MIN_SECRET = 3
/** `refresh_token`, `claude-mem:read-notices`: a name, not a secret. */
const WORDS = /^[@_]?[A-Za-z]+(?:[-_.:/][A-Za-z]+)*$/
/** A pattern for tokens, not a token. */
const REGEX_SOURCE = /\(\?[:!=<]|\[\^[^\]]{1,40}\][+*{)$]|\\[wdsWDS][+*]/

/** What a page shows beside the field: `Your password`, `Forgot your password?`, `Password`. */
function isLabel(value: string): boolean {
  if (value.length > MAX_PLACEHOLDER || /\d/.test(value)) return false
  if (/^(?:password|passphrase|token|secret|api ?key)$/i.test(value)) return /^[A-Z]/.test(value)
  const hasWords = /\p{L} \p{L}/u.test(value)
  return hasWords && (/passwor|pass?phrase|token|secret|\bkey|kennw/i.test(value) || /[.?!:…]$/.test(value))
}

/** `["a", "b"]` on one line, and the lines `- a` below a name. */
function listValues(at: NameAt, start: number): Values | null {
  const { text } = at
  const window = text.slice(start, start + MAX_LIST)
  if (/^\[\s{0,8}\\{0,3}["'`]/.test(window)) {
    const end = window.indexOf(']')
    if (end === -1) return null
    const items = [...window.slice(0, end).matchAll(/(\\{0,3})(["'`])((?:(?!\2)[^\\\n]){1,4096})\1\2/g)]
    if (items.length === 0) return null
    // `['required', 'string', 'min:8']` is what a password must be.
    if (items.some(([, , , value = '']) => TYPE_WORDS.test(value))) return none(start + end)
    const secrets = items
      .filter(([, , , value = '']) => isSecretText({ ...at, plural: true }, value))
      .map((item) => {
        const open = start + item.index + (item[1] ?? '').length + 1
        return { start: open, end: open + (item[3] ?? '').length }
      })
    return { secrets, end: start + end }
  }
  const block = /^([|>][+-]?)?[ \t]{0,8}\r?\n/.exec(window)
  if (block === null) return null
  const secrets: Span[] = []
  let next = start + block[0].length
  for (let lines = 0; lines < MAX_LIST_LINES; lines++) {
    const item = matchAt(block[1] === undefined ? LIST_LINE : BLOCK_LINE, text, next)
    if (item === null) break
    const value = item[2] ?? ''
    const open = next + (item[1] ?? '').length
    if (isSecretText({ ...at, plural: true }, value)) secrets.push({ start: open, end: open + value.length })
    next += item[0].length
    if (block[1] !== undefined) break
  }
  return secrets.length === 0 ? none(at.to) : { secrets, end: next }
}

/** `The new password:` and below it, alone on its line or in a fence, the password. */
function valueBelow({ text, kind, plural }: NameAt, start: number): Values | null {
  const match = matchAt(BELOW, text, start)
  const value = match?.[2] ?? ''
  if (match === null || plural || value.length > MAX_PLACEHOLDER || /[:,;{(=\\]$/.test(value)) return null
  const isRandom = kind === 'password' ? isSaid(kind, value) && /\d/.test(value) : looksRandom(value, 16)
  if (!isRandom || MEMBER.test(value) || PATH.test(value)) return null
  const open = start + (match[1] ?? '').length
  return one(open, open + value.length)
}

const BELOW = /([ \t]{0,8}(?:\r?\n){1,3}(?:```\w{0,12}\r?\n)?[`*]{0,2})([^\s`*]{6,512})[`*]{0,2}[ \t]{0,8}(?:\r?\n|$)/y
const MAX_LIST = 4_096
const MAX_LIST_LINES = 50
const LIST_LINE = /([ \t]{0,64}-[ \t]{1,8}["']?)([^\s"':{}[\],]{1,512})["']?[ \t]{0,8}(?:\r?\n|$)/y
const BLOCK_LINE = /([ \t]{1,64})(\S{1,512})[ \t]{0,8}(?:\r?\n|$)/y

/** `- name: DB_PASSWORD` and below `value: …`. */
function pairedValue(at: NameAt): Values | null {
  const { text, from, to } = at
  const between = /value/i.test(text.slice(to, to + 60)) ? matchAt(PAIRED_VALUE, text, to) : null
  if (between === null || !PAIRED_NAME.test(text.slice(Math.max(0, from - 140), from))) return null
  const start = to + between[0].length
  const quoted = quotedValue(at, start)
  if (quoted !== null) return quoted
  const bare = at.bareAt(start)
  return bare === '' || isPlaceholderValue(bare) || EXPRESSION.test(bare.slice(0, MAX_PLACEHOLDER))
    ? none(start)
    : one(start, start + bare.length)
}

const DEFAULT = /\\{0,3}["'][ \t]{0,4}\{[^{}]{0,400}?\bdefault[ \t]{0,20}=[ \t]{0,20}(?=\\{0,3}["'])/y
const PLIST = /<\/key>(?:\s|\\n){0,40}<string>(?=[^<>\r\n]{1,512}<)/y
const BEFORE = /\bvalue=\\{0,3}["']([^"'<>\\\n]{1,512})\\{0,3}["']\s{1,8}(?:name|key)=\\{0,3}["'][\w.:-]{0,60}$/i

/** `variable "db_password" { default = "…" }`, `<key>token</key><string>…</string>`, `<set value="…" name="password"/>`. */
function blockValue(at: NameAt): Values | null {
  const { text, from, to } = at
  const block = text[to] === '"' || text[to] === '\\' ? matchAt(DEFAULT, text, to) : null
  if (block !== null && /\bvariable[ \t]{1,4}\\{0,3}"[\w-]{0,100}$/.test(text.slice(Math.max(0, from - 140), from)))
    return quotedValue(at, to + block[0].length)
  const key = text[to] === '<' ? matchAt(PLIST, text, to) : null
  const start = to + (key?.[0].length ?? 0)
  const value = key === null ? '' : text.slice(start, text.indexOf('<', start))
  if (value !== '') return isSecretText(at, value) ? one(start, start + value.length) : none(to)
  const before = /["'\\]/.test(text[to] ?? '') ? BEFORE.exec(text.slice(Math.max(0, from - MAX_BEFORE), from)) : null
  if (before === null || !isSecretText(at, before[1] ?? '')) return null
  const open = from - before[0].length + before[0].indexOf(before[1] ?? '', 'value='.length)
  return one(open, open + (before[1] ?? '').length)
}

/** Characters of an attribute and its neighbour. */
const MAX_BEFORE = 600
const ELEMENT = /\\{0,3}["']?>([^<>\r\n]{1,512})<\\{0,3}\//y

/** `<password>…</password>`, `<entry key="db.password">…</entry>`. */
function elementValue(at: NameAt): Values | null {
  const { text, from, to } = at
  const match = text.slice(to, to + 5).includes('>') ? matchAt(ELEMENT, text, to) : null
  if (match === null) return null
  const before = text.slice(Math.max(0, from - 140), from)
  if (!/<(?:[\w.-]{1,60}:)?[\w.-]{0,60}$/.test(before) && !/\b(?:key|name)=["'][\w.-]{0,100}$/.test(before)) return null
  const value = match[1] ?? ''
  if (!isSecretText(at, value.trim()) || /^\s*[{$]/.test(value)) return none(to)
  const start = to + match[0].indexOf('>') + 1
  return one(start, start + value.length)
}

/** `define('DB_PASSWORD', '…')`: with other functions only what no label and no other name looks like. */
function argumentValue(at: NameAt): Values | null {
  const { text, from, to } = at
  const typed = matchAt(TYPED_INTO, text, to)
  if (typed !== null) return quotedValue(at, to + typed[0].length)
  const between = matchAt(SECOND_ARGUMENT, text, to)
  if (between === null) return null
  const call = NAMED_ARGUMENT.exec(text.slice(Math.max(0, from - 140), from))
  if (call === null) return null
  const found = quotedValue(at, to + between[0].length)
  const [secret] = found?.secrets ?? []
  if (secret === undefined || call[1] !== undefined) return found
  return /[^A-Za-z _-]/.test(text.slice(secret.start, secret.end)) ? found : none(secret.end)
}

/** Signs of Markdown and quotes around a name and its value: `**Password:** …`, ``password `…` ``, `| password | … |`. */
const MARKED =
  /(?=[ \t]{0,2}(?:[*`|“„«→—–:\\"'_]|(?:is|to|ist|est|es|è|é|är|je)[ \t]))([ \t]{0,2}[*_`"'\\]{0,4}[:：]?[*_`"'\\]{0,4}[ \t]{0,8}(?:(?:is(?: now)?|to|=|→|->|[|—–-]|ist|lautet|est|es|è|é|to|är|je)[ \t]{1,8})?[*_`"'“„«\\]{0,4}(?:(?<=«)[ \u00a0\u202f])?)((?:[^\s*`"'“”„«»|<>\\]|\*(?!\*)){4,512})/y

/** Where only Markdown is between the name and a value that no word and no code looks like. */
function markedValue({ text, name, to, kind, plural }: NameAt): Values | null {
  const match = MARKED_START.has(text[to] ?? '') ? matchAt(MARKED, text, to) : null
  if (match === null || plural) return null
  const between = match[1] ?? ''
  if (!/[*`|“„«→]|^[ \t]["'\\]/.test(between)) return null
  const value = withoutTrailing(match[2] ?? '')
  const isChosen = kind === 'password' ? value.length >= 6 && isMixed(value) : looksRandom(value, 16)
  if (!isChosen || isPlaceholderValue(value) || isHarmlessValue(name, value)) return null
  if (MEMBER.test(value) || ALGORITHM.test(value) || isUpperName(value)) return null
  if (!isNoCode(value) && (EXPRESSION.test(value) || PATH.test(value))) return null
  const start = to + between.length
  return one(start, start + value.length)
}

const MARKED_START = new Set([...' \t*`:|"\\'])
/** `sha256`, `utf-8`: neither is a password, though letters and digits are mixed. */
const ALGORITHM = /^(?:sha|md|hs|rs|es|aes|rsa|bcrypt|argon|scrypt|pbkdf|utf|base|oauth|ed|x|v|p)[-_]?\d{1,5}\w{0,2}$/i
const PATH = /^[.~]?\/|^--?\w|\/.*\/|^[\w-]+\.[a-z]{1,5}(?::\d+)?$/

/** `password is …` in prose, `password    …` in a table or a configuration file, `set some_secret_key …` in a command. */
function spacedValue(at: NameAt): Values | null {
  const { text, from, to, kind } = at
  if (at.weak) return null
  const is = at.plural ? null : (matchAt(IS, text, to) ?? matchAt(OF, text, to))
  const space = is ?? matchAt(SPACE, text, to)
  if (space === null) return null
  const start = to + space[0].length
  if (kind === 'password' && SQL_QUOTE.test(text.slice(start, start + 4)) && isSql(at)) return quotedValue(at, start)
  if (is !== null && /["'`]/.test(text[start] ?? '')) return chosenQuote(at, start)
  const quoted = is === null ? null : matchAt(TYPOGRAPHIC, text, start)
  if (quoted !== null) {
    const value = quoted[2] ?? ''
    const open = start + (quoted[1] ?? '').length
    return isSaid(kind, value) ? one(open, open + value.length) : null
  }
  const word = at.bareAt(start)
  const bare = withoutTrailing(isNameOfOtherScript(at.name) ? asciiStart(word) : word)
  if (bare.length > MAX_VALUE || isPlaceholderValue(bare) || isHarmlessValue(at.name, bare)) return null
  const end = start + bare.length
  if (is !== null) {
    if (!isSaid(kind, bare)) return null
    const next = matchAt(TO, text, end)
    const after = next === null ? '' : withoutTrailing(at.bareAt(end + next[0].length))
    if (next === null || !isSaid(kind, after)) return one(start, end)
    const second = { start: end + next[0].length, end: end + next[0].length + after.length }
    return { secrets: [{ start, end }, second], end: second.end }
  }
  const wholeLine = isWholeLine(text, from, end) && !TYPE_WORDS.test(bare)
  // A table has its columns apart; the configuration of a server has one space.
  if (wholeLine && (space[0].length > 1 || CONFIG_WORDS.test(at.name)) && /^[^\s|()[\]{}<>=:]{4,}$/.test(bare)) {
    return at.plural || /^-/.test(bare) ? null : one(start, end)
  }
  if (MEMBER.test(bare)) return null
  if (LOGIN_BEFORE.test(text.slice(Math.max(0, from - 260), from))) return one(start, end)
  return looksRandom(bare, 16) && !/^[\w-]*\/|\.\w{1,5}$/.test(bare) && !/[():]/.test(bare) ? one(start, end) : null
}

/** `„…“`, `« … »`, `「…」` */
const TYPOGRAPHIC =
  /([„“”«»‹›‘‚「『][ \u00a0\u202f]?)([^\s„“”«»‹›‘’「」『』]{4,512})(?=[ \u00a0\u202f]?[“”»«›‹’‘」』])/y

/** What somebody says a password is, and no word. */
function isSaid(kind: AssignmentKind, value: string): boolean {
  if (kind !== 'password') return looksRandom(value, 16)
  if (value.includes('[secret:')) return false
  if (value.length < 4 || !isMixed(value) || ALGORITHM.test(value) || isPlaceholderValue(value)) return false
  return isNoCode(value) || !EXPRESSION.test(value.slice(0, MAX_PLACEHOLDER))
}

/** `the passphrase is "…"`, where a sentence quotes other things too. */
function chosenQuote(at: NameAt, start: number): Values | null {
  const found = quotedValue(at, start)
  const isChosen = found?.secrets.every((span) => isMixed(at.text.slice(span.start, span.end))) === true
  return isChosen ? found : null
}

const CONFIG_WORDS = /^(?:requirepass|masterauth|bindpw|rootpw)$/
/** `machine x login y password z` of a netrc file. */
const LOGIN_BEFORE = /(?:machine\s{1,8}\S{1,80}|default)\s{1,8}login\s{1,8}\S{1,80}\s{1,8}$/
/** `CREATE ROLE app PASSWORD '…'`, `SET PASSWORD FOR app = '…'` */
const SQL_QUOTE = /^[nNeE]?'/
const SQL_BEFORE = /\b(?:create|alter|set|with|encrypted|options|login)\b[^;]{0,120}$/i
const isSql = ({ text, from, name }: NameAt): boolean =>
  /^password$/i.test(name) && SQL_BEFORE.test(text.slice(Math.max(0, from - 140), from))

/** `SET PASSWORD FOR app = PASSWORD('…')` */
function hashedValue(at: NameAt): Values | null {
  const { text, from, to, kind } = at
  const isCall = kind === 'password' && /=[ \t]{0,4}$/.test(text.slice(Math.max(0, from - 6), from))
  return isCall && isSql(at) ? quotedValue(at, to + 1) : null
}

const isNameOfOtherScript = (name: string): boolean => /[^\p{ASCII}]/u.test(name)
const asciiStart = (word: string): string => /^[!-~]*/.exec(word)?.[0] ?? ''

interface AssignmentSyntax {
  at: NameAt
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
  const { shell, at } = syntax
  const value = valueWithin(bare, syntax)
  if (!shell && value.startsWith(':')) return ''
  if (isPlaceholderValue(value) || isHarmlessValue(at.name, value)) return ''
  if (!shell && TYPE_BEGIN.test(bare)) return ''
  if (/^\d+$/.test(value)) {
    return !at.plural && value.length >= (at.kind === 'password' && !at.weak ? 4 : 8) ? value : ''
  }
  if (isNameInOtherLanguage(at.name)) return value.length >= 4 && isMixed(value) ? value : ''
  if (at.plural && at.kind !== 'password' && !looksRandom(value, 12)) return ''
  if (at.kind === 'credentials' && at.weak) return shell && looksRandom(value, 16) ? value : ''
  if (MEMBER.test(value) && (!shell || KNOWN_OWNER.test(value)) && !isNoMember(value, syntax)) return ''
  if (syntax.flag) return LETTERS.test(value) ? '' : value
  if (shell) return value
  if (IDENTIFIER.test(value) && readSecretName(value) !== null && !/\d/.test(value)) return ''
  if (value.length < MIN_SECRET) return ''
  if (!syntax.spaced && !syntax.colon) return value
  if (syntax.colon && IDENTIFIER.test(value) && isCode(at)) return ''
  if (syntax.colon && syntax.line) return isType(value, at) ? '' : value
  if (syntax.line && (at.kind === 'password' || /\d/.test(value)) && !isCode(at)) return isType(value, at) ? '' : value
  return LETTERS.test(value) || value.length < 6 || /^[A-Z][A-Za-z]*\d{0,3}(?:Array|Vec|Clamped\w*)$/.test(value)
    ? ''
    : value
}

/** Without what follows the value: `password=x&user=y`, `f(password=x)`. */
function valueWithin(bare: string, { shell, at, line, spaced, colon }: AssignmentSyntax): string {
  const ascii = isNameOfOtherScript(at.name) ? asciiStart(bare) : bare
  if (shell) return withoutTrailing(ascii)
  if (at.kind !== 'password' || at.weak) return withoutTrailing(/^[^&;,)]*/.exec(ascii)?.[0] ?? '')
  if (line && !isCode(at)) return withoutTrailing(ascii)
  // A sentence: `created the user (password: x).`
  if (colon && spaced && isNoCode(ascii)) return withoutTrailing(ascii.replace(/[).,;]+$/, ''))
  const before = at.text.slice(Math.max(0, at.from - CODE_WINDOW), at.from)
  const isInside = before.lastIndexOf('(') > Math.max(before.lastIndexOf('\n'), before.lastIndexOf(')'))
  return withoutTrailing((isInside ? /^[^&;,)]*/ : /^[^&;,]*/).exec(ascii)?.[0] ?? '')
}

/** Brackets that do not pair, or a name right after a closing one: a password, not an expression. */
function isNoCode(value: string, shell = false): boolean {
  if (!/^[A-Za-z0-9]/.test(value) || value.length > MAX_PLACEHOLDER || /[([{]$/.test(value)) return false
  if (/[)\]}][A-Za-z0-9@#_]/.test(value) || (shell && /[A-Za-z0-9]$/.test(value))) return true
  const open: string[] = []
  for (const char of value) {
    if (OPENING[char] !== undefined && OPENING[char] !== '') {
      if (open.pop() !== OPENING[char]) return true
    } else if (char === '(' || char === '[' || char === '{') open.push(char)
  }
  // `f(a, b)`: only its first part.
  return open.length > 0 && !value.endsWith(',')
}

/** Digits and letters in parts of a value with dots, where code would have words. */
function isNoMember(value: string, { at, line }: AssignmentSyntax): boolean {
  const parts = value.split('.')
  if (parts.some((part) => looksRandom(part, 16))) return true
  return (
    at.kind === 'password' && line && !KNOWN_OWNER.test(value) && parts.some((part) => /\d/.test(part)) && !isCode(at)
  )
}

/** In code a capitalized word after a colon is a type, in a configuration file it is a value. */
function isType(value: string, at: NameAt): boolean {
  return TYPE_WORDS.test(value) || (CAPITALIZED.test(value) && isCode(at))
}

/** Characters before and after a name that show whether the text is code. */
const CODE_WINDOW = 200
const CODE =
  /[{};(,][ \t]{0,8}$|^[ \t]{0,40}[})\]]|=>|: (?:string|number|boolean)\b|\([^()\n]{0,80}\)[ \t]{0,4}[:{;]|^[ \t]{0,40}(?:export|import|const|let|var|return|function|class|interface|type|def|fn|func|pub|public|private)\b/m

function isCode({ text, from, to }: NameAt): boolean {
  const before = text.slice(Math.max(0, from - CODE_WINDOW), to)
  // A password may have any sign; where the text is a string in JSON, what follows it is not code either.
  const [own = '', ...next] = text
    .slice(to, to + CODE_WINDOW)
    .replace(/\\?"[ \t]{0,4}[}\]][^\n]*$/, '')
    .split(/\n|\\n/)
  return CODE.test([before + own.trimEnd().slice(-1), ...next].join('\n'))
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

const OPENING: Readonly<Record<string, string>> = { ';': '', ',': '', '.': '', ')': '(', ']': '[', '}': '{', '>': '<' }

function nameStart(text: string, index: number): number {
  let at = index
  while (at > 0 && index - at < MAX_NAME && isNameCharacter(text.charCodeAt(at - 1))) at--
  // In JSON text the `n` of an escaped line break is not part of the name.
  return at < index && text[at - 1] === '\\' && /[bfnrt]/.test(text[at] ?? '') ? at + 1 : at
}

function nameEnd(text: string, index: number): number {
  let at = index
  while (at - index < MAX_NAME && isNameCharacter(text.charCodeAt(at))) at++
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

/** Also as JSON text has lines; a comment may follow, and names with dots are one name. */
const LINE_STOP = /[ \t]{1,8}#|$|[\r\n"]|\\{1,3}[nr"]/y
const LINE_NAME = /[\w.+ \t-]/

function isWholeLine(text: string, from: number, end: number): boolean {
  if (matchAt(LINE_STOP, text, end) === null) return false
  let at = from
  while (at > 0 && from - at < MAX_NAME && LINE_NAME.test(text[at - 1] ?? '')) at--
  if (at === 0 || text[at - 1] === '\n' || /:[ \t]?\\{0,3}"$/.test(text.slice(Math.max(0, at - 6), at))) return true
  // The `n` of an escaped line break.
  return text[at - 1] === '\\' && /[nr]/.test(text[at] ?? '')
}

export function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index
  return pattern.exec(text)
}
