/** Which names are those of secrets, and which values under such a name are not one: placeholders, types, references. */

export type AssignmentKind = 'password' | 'secret' | 'token' | 'key' | 'credentials'

export interface SecretName {
  kind: AssignmentKind
  /** `tokens`, `api_keys`: often a number, or a list of words. */
  plural: boolean
  /** `pass`, `pw`, `auth`: the word has other meanings too. */
  weak: boolean
  /** Only the end `_KEY` says so: often the name under which something is stored. */
  generic: boolean
}

/** The kind of secret that a value with this name is; null if it is not one. */
export function secretKindForName(name: string): AssignmentKind | null {
  return readSecretName(name)?.kind ?? null
}

/** Most characters of a name that are read. */
const MAX_NAME = 256

/** Most names that are remembered: a text has the same few again and again. */
const MAX_KNOWN_NAMES = 500
const knownNames = new Map<string, SecretName | null>()

/** Null if it is not the name of a secret. */
export function readSecretName(given: string): SecretName | null {
  const name = given.slice(-MAX_NAME)
  const known = knownNames.get(name)
  if (known !== undefined) return known
  const read = readNewName(name)
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear()
  knownNames.set(name, read)
  return read
}

function readNewName(name: string): SecretName | null {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[\s_.:/-]+/)
    .filter((word) => word !== '' && !ENCODED_WORDS.has(word))
  const upper = isUpperName(name)
  const last = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  if (!upper && (HARMLESS_ENDS.has(last) || (words.length > 1 && HARMLESS_STARTS.has(words[0] ?? '')))) return null
  const plural = PLURALS.test(last)
  const end = plural ? last.slice(0, -1) : last
  const found = (kind: AssignmentKind, weak = false): SecretName => ({ kind, plural, weak, generic: false })
  if (words.some((word) => PASSWORD_WORD.test(word)) || PASSWORD_IN_LANGUAGES.test(words.join('')))
    return found('password')
  if (SHORT_PASSWORD.has(end) && !(plural && end === 'pass')) return found('password', end === 'pass' || end === 'pw')
  if (JOINED_PASS.test(end)) return found('password', !upper)
  if (upper ? name.includes('SECRET') : words.some((word) => word.endsWith('secret') || word === 'secrets')) {
    return found('secret')
  }
  if (end.endsWith('token') || (upper && end === 'jwt')) return found('token')
  if (upper && end === 'pat') return { ...found('token'), plural: true }
  if (MNEMONIC.test(`${before} ${end}`)) return found('secret')
  if (
    upper
      ? /(?:_|API|ACCESS)KEYS?$|_SALT$/.test(name)
      : KEY_WORD.test(end) || (end === 'key' && KEY_WORD.test(`${before}key`))
  ) {
    return { ...found('key'), generic: upper && !KEY_WORD.test(`${before}key`) }
  }
  if (upper && /CREDENTIALS?$/.test(name)) return { ...found('credentials'), plural: false }
  if (end === 'ident' && before === 'auth') return found('credentials')
  return end === 'auth' && (upper || words.length === 1) ? found('credentials', true) : null
}

export function isUpperName(name: string): boolean {
  return /^[A-Z0-9_]+$/.test(name) && /[A-Z]/.test(name)
}

const PLURALS = /(?:password|passwd|passphrase|passcode|token|key)s$/
const PASSWORD_WORD = /passw(?:or)?d|passphrase|passcode|^pwd$/
const SHORT_PASSWORD = new Set([
  'pass',
  'pw',
  'psk',
  'passwrd',
  'storepass',
  'keypass',
  'requirepass',
  'bindpw',
  'rootpw',
  'masterauth',
])
/** `SSHPASS`, `dbpass`; not `bypass`, `compass`. */
const JOINED_PASS = /^[a-z]+(?<!by|com|tres|under|over|sur)pass$/

/** The word for a password in other languages, as it is in names and in sentences. */
const PASSWORDS: Readonly<Record<string, string>> = {
  German: 'passwort|kennwort',
  French: 'mot[ _-]?de[ _-]?passe|mdp(?![a-z])|cl[ée][ _-]?secr[èe]te',
  Spanish: 'contrase(?:ña|na|nya)|clave[ _-]?secreta',
  Portuguese: 'senha|palavra[ _-]?passe|chave[ _-]?secreta',
  Italian: "parola[ _-]?d(?:['_-]|['_-]a)?[ _-]?(?:ordine|accesso)|chiave[ _-]?segreta",
  Dutch: 'wachtwoord',
  Polish: 'has(?:ł|l)o',
  Russian: 'пароль',
  Turkish: '(?:ş|s)ifre|parola',
  Swedish: 'l(?:ö|o)senord',
  Danish: 'adgangskode',
  Czech: 'heslo',
  Chinese: '密码|密碼|口令',
  Japanese: 'パスワード|暗証番号',
  Korean: '비밀번호|암호',
  Finnish: 'salasana',
  Hungarian: 'jelszó',
  Norwegian: 'passord',
  Indonesian: 'kata[ _-]?sandi',
  Vietnamese: 'mật[ _-]?khẩu',
  Greek: 'κωδικός(?: πρόσβασης)?',
  Arabic: 'كلمة (?:المرور|السر)',
  Hebrew: 'סיסמ[הא]',
  Hindi: 'पासवर्ड',
  Thai: 'รหัสผ่าน',
}
/** A part of each of them; a text without any of them names a password in English or not at all. */
export const LANGUAGE_HINTS: readonly string[] = [
  ...'asswort kennwort de_passe de-passe depasse contrase senha palavra parola wachtwoord haslo hasło sifre şifre'.split(
    ' ',
  ),
  ...[
    'secreta',
    'segreta',
    'secrete',
    'secrète',
    'salasana',
    'jelsz',
    'passord',
    'sandi',
    'senord',
    'adgangskode',
    'heslo',
    'de passe',
    ' mdp ',
    '.mdp ',
    '"mdp"',
    'mdp: ',
    'mdp = ',
    '_mdp=',
    '_mdp:',
  ],
]
const OTHER_LETTERS = /[\u0370-\u06ff\u0900-\u097f\u0e00-\u0e7f\u1e00-\u1eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]/
/** A part of those in other letters; too short to be looked for in every text. */
export const OTHER_PARTS =
  'ароль АРОЛЬ 密码 密碼 口令 パスワード 暗証番号 비밀번호 암호 ật κωδικός كلمة סיסמ पासवर्ड รหัสผ่าน'.split(' ')
/** A source of a pattern: it is compiled only for a text that needs it. */
export const PASSWORD_NAMES = Object.values(PASSWORDS).join('|')
const PASSWORD_IN_LANGUAGES = new RegExp(PASSWORD_NAMES.replaceAll('[ _-]?', '').replaceAll(/ (?=\(|\p{L})/gu, ''))

/** Such a word is in sentences too, and may mean something else in another language: Italian `parola` is a word. */
export const isNameInOtherLanguage = (name: string): boolean =>
  PASSWORD_IN_LANGUAGES.test(name.toLowerCase().replace(/[ _-]/g, ''))

/** `hints`: those of `LANGUAGE_HINTS` in the text. */
export const namesPasswordInOtherLanguage = (text: string, hints: ReadonlySet<string>): boolean =>
  LANGUAGE_HINTS.some((hint) => hints.has(hint)) ||
  (OTHER_LETTERS.test(text) && OTHER_PARTS.some((part) => text.includes(part)))

/** A digit or a sign beside letters. */
export const isMixed = (value: string): boolean => /[A-Za-z]/.test(value) && /[\d!@#$%^&*+~=()[\]{}]/.test(value)

const MNEMONIC = /(?:^| )mnemonic$|seed phrase$|recovery (?:phrase|code)$/
const KEY_WORD =
  /^(?:.*api|access|account|application|auth|client|deploy|encryption|hmac|jwt|license|master|preshared|private|secret|service|session|shared|signing|storage|subscription)key$/

/** Last words of names that describe a secret but do not contain it: `password_min_length`, `token_type`. */
const HARMLESS_ENDS = new Set(
  'length min max size timeout enabled disabled required file files path paths dir url uri endpoint name names id ids field type types policy count limit expiry expires ttl prompt hint label placeholder error errors regex pattern rule rules strength manager provider store ref schema class input title text message description subject help format version kind mode status option options parameter parameters config callback handler hash hashed algorithm header headers param params prop props valid invalid validator validators state event button form view page service reset in is has issuer audience scope scopes encoder decoder parser reader request response list map set cache index position budget usage cost price rate limiter limits stream count counts'.split(
    ' ',
  ),
)

/** First words of names that say what happens with a secret: `update_password: on_create`. */
const HARMLESS_STARTS = new Set([
  'update',
  'show',
  'hide',
  'forgot',
  'has',
  'is',
  'require',
  'requires',
  'enable',
  'allow',
])

/** A setting about a secret: `PASSWORD_MIN_LENGTH=8`, `SECRET_FILE=/run/secrets/db`; or the name itself. */
export function isHarmlessValue(name: string, value: string): boolean {
  const end = name.toLowerCase().split(/[_-]/).at(-1) ?? ''
  if (value.toLowerCase() === name.toLowerCase()) return true
  // `PWD` of a shell is the working directory.
  if (end.endsWith('pwd') && /^(?:\/|[A-Za-z]:\\|~)/.test(value)) return true
  return HARMLESS_ENDS.has(end) && (!isMixed(value) || /^(?:\.{0,2}\/|https?:)/.test(value))
}

/** Words that do not change what a name means: `client-key-data` is a key. */
const ENCODED_WORDS = new Set(['data', 'value', 'base64', 'b64', 'base'])

/** A number is a password where a name says so; the number of tokens is not. */
export function isSecretNumber(name: string, value: number): boolean {
  const found = readSecretName(name)
  if (found === null || found.plural) return false
  const digits = String(value).length
  return digits >= (found.kind === 'password' && !found.weak ? 4 : 8) && Number.isInteger(value)
}

/** Characters. Longer values are never placeholders. */
export const MAX_PLACEHOLDER = 200
const PLACEHOLDERS: readonly RegExp[] = [
  /^$/,
  /^\[(?:secret:[a-z-]+|private)\]$/,
  /^[x*.…\-_#•]+$/i,
  /^<[^<>]*>$/,
  /^\$\{[^{}]*\}$/,
  /^\$\(.*\)$/,
  /^\$(?:env:)?[A-Za-z_]\w*$/,
  /^%[\w()]+%$/,
  /^\*\w+$/,
  /^\{\{.*\}\}$/,
  /^\{[\w.]*\}$/,
  /^your[-_ ].*$/i,
  /^(?:redacted|placeholder|null|none|nil|undefined|true|false|yes|no|on|off)$/i,
  /^(?:void|new|await|typeof|function|async|this|self|super|yield|lambda|not)$/,
  /^(?:bearer|basic|oauth)$/i,
  /^#[0-9a-f]{3,8}$/i,
  /^(?:%[sdr]|[\W_])+$/,
  /^(?:https?|op|vault|file|ref\+\w+):\/\/[^@]*$/i,
  /^arn:[\w-]+:/,
  /^\[[A-Z_ ]+\]$/,
  /^[~^v]?\d+\.\d+\.\d+[\w.-]*$/,
]

/** `Basic authentication` is prose, not a credential. */
export const isWord = (text: string): boolean => /^[A-Z]?[a-z]+$/.test(text) || isPlaceholderValue(text)

/** A placeholder, or a reference to where the value comes from (`$TOKEN`, `process.env.KEY`). */
export function isPlaceholderValue(value: string): boolean {
  if (value.length > MAX_PLACEHOLDER) return false
  const trimmed = value.trim()
  return PLACEHOLDERS.some((pattern) => pattern.test(trimmed)) || isInterpolation(trimmed)
}

/** Nothing but interpolations: `${header}.${payload}`. */
function isInterpolation(value: string): boolean {
  return value.includes('${') && /^[A-Za-z\W_]{0,12}$/.test(value.replace(/\$\{[^{}]*\}/g, ''))
}

/** Letters and digits mixed as no word or identifier (`Uint8Array`) has them. */
export function looksRandom(value: string, least: number): boolean {
  if (value.length < least || !/^[\w+/=.~%:-]+$/.test(value) || !/\d/.test(value) || !/[A-Za-z]/.test(value))
    return false
  return value.length >= 20 || !/^[A-Z]?[a-z]+\d{1,3}[A-Z]?[a-zA-Z]*$/.test(value)
}
