/**
 * Values that only another field of their object shows to be secret: cookies (`httpOnly`), outputs of Terraform
 * (`sensitive`), parameters of AWS (`SecureString`), fields of 1Password (`CONCEALED`), the data of Kubernetes secrets. In
 * a text as JSON, Python or JavaScript write it, also escaped, and in values that were parsed.
 */
import { isWord } from './secret-names.ts'

interface Marked {
  start: number
  end: number
  kind: string
}

const MARKS: readonly [kind: string, mark: string][] = [
  ['cookie', 'httpOnly|hostOnly|sameSite'],
  ['secret', 'sensitive\\\\{0,3}["\'][ \\t]{0,4}:[ \\t]{0,4}true'],
  ['secret', 'masked\\\\{0,3}["\'][ \\t]{0,4}:[ \\t]{0,4}true'],
  ['secret', 'SecureString\\\\{0,3}["\']'],
  ['secret', 'CONCEALED\\\\{0,3}["\']'],
  ['secret', 'vault\\.azure\\.net/secrets/'],
]
/** In lower case. A text without any of them has no such mark. */
const MARK_HINTS = [
  ...['httponly', 'hostonly', 'samesite', 'sensitive"', "sensitive'", 'sensitive\\', 'masked"', "masked'", 'masked\\'],
  ...['securestring', 'concealed', 'vault.azure.net'],
]
const MANIFEST_HINTS = ['"secret"', '"secret\\']
export const OBJECT_HINTS: readonly string[] = [...MARK_HINTS, ...MANIFEST_HINTS]
const MARK = new RegExp(MARKS.map(([, mark]) => `(${mark})`).join('|'), 'g')
const FIELD = /\\{0,3}["']?\b[vV]alue\\{0,3}["']?[ \t]{0,4}:[ \t]{0,4}(\\{0,3})(["'])/g
/** Characters of an object around its mark. */
const MAX_OBJECT = 2_000
const MAX_VALUE = 8_192

/** `hints`: those of `OBJECT_HINTS` in the text. */
export function maskMarkedObjects(text: string, hints: ReadonlySet<string>): string {
  const found = [
    ...(MARK_HINTS.some((hint) => hints.has(hint)) ? markedValues(text) : []),
    ...(MANIFEST_HINTS.some((hint) => hints.has(hint)) ? manifestValues(text) : []),
  ].sort((a, b) => a.start - b.start)
  let masked = ''
  let done = 0
  for (const { start, end, kind } of found) {
    if (start < done || text.startsWith('[secret:', start)) continue
    masked += `${text.slice(done, start)}[secret:${kind}]`
    done = end
  }
  return done === 0 ? text : masked + text.slice(done)
}

function markedValues(text: string): Marked[] {
  const found: Marked[] = []
  let read = 0
  MARK.lastIndex = 0
  for (let match = MARK.exec(text); match !== null; match = MARK.exec(text)) {
    // Objects that follow each other are read once.
    const from = Math.max(read, braceBefore(text, match.index))
    const to = braceAfter(text, match.index + match[0].length)
    const kind = MARKS[match.slice(1).findIndex((group) => group !== undefined)]?.[0] ?? 'secret'
    FIELD.lastIndex = from
    const field = FIELD.exec(text.slice(0, to))
    read = to
    MARK.lastIndex = Math.max(MARK.lastIndex, to)
    if (field === null) continue
    const start = field.index + field[0].length
    const end = endOfString(text, start, field[1] ?? '', field[2] ?? '"')
    if (end > start && isSecret(kind, text.slice(start, end))) found.push({ start, end, kind })
  }
  return found
}

const isSecret = (kind: string, value: string): boolean => kind !== 'cookie' || (value.length >= 6 && !isWord(value))

function braceBefore(text: string, index: number): number {
  const least = Math.max(0, index - MAX_OBJECT)
  for (let at = index - 1; at >= least; at--) if (text[at] === '{' || text[at] === '}') return at
  return least
}

function braceAfter(text: string, index: number): number {
  const most = Math.min(text.length, index + MAX_OBJECT)
  for (let at = index; at < most; at++) if (text[at] === '{' || text[at] === '}') return at
  return most
}

function endOfString(text: string, from: number, escapes: string, quote: string): number {
  const most = Math.min(text.length, from + MAX_VALUE)
  for (let at = from; at < most; at++) {
    if (text[at] === '\n') return at
    if (escapes !== '' && text.startsWith(escapes + quote, at)) return at
    if (escapes === '' && text[at] === '\\') at++
    else if (escapes === '' && text[at] === quote) return at
  }
  return most
}

const Q = '\\\\{0,3}"'
const BLANK = '(?:\\s|\\\\n){0,80}'
const KIND_SECRET = new RegExp(`${Q}kind${Q}${BLANK}:${BLANK}${Q}Secret${Q}`)
const KIND = new RegExp(`${Q}kind${Q}${BLANK}:${BLANK}${Q}(\\w+)${Q}`, 'g')
const DATA = new RegExp(`${Q}(?:data|stringData)${Q}${BLANK}:${BLANK}\\{`, 'g')
const AFTER_DATA = new RegExp(`\\}${BLANK},${BLANK}${Q}kind${Q}${BLANK}:${BLANK}${Q}(\\w+)${Q}`, 'y')
const ENTRY = new RegExp(`${Q}[\\w.-]{1,253}${Q}${BLANK}:${BLANK}(\\\\{0,3})"`, 'y')
const COMMA = new RegExp(`${BLANK},?${BLANK}`, 'y')

/** The data of Kubernetes secrets in JSON. `kind` is right after the data, or somewhere before it. */
function manifestValues(text: string): Marked[] {
  if (!KIND_SECRET.test(text)) return []
  const kinds = [...text.matchAll(KIND)]
  const found: Marked[] = []
  let before = ''
  for (const data of text.matchAll(DATA)) {
    while (kinds[0] !== undefined && kinds[0].index < data.index) before = kinds.shift()?.[1] ?? ''
    const { values, end } = entries(text, data.index + data[0].length)
    AFTER_DATA.lastIndex = end
    if ((AFTER_DATA.exec(text)?.[1] ?? before) === 'Secret') found.push(...values)
  }
  return found
}

function entries(text: string, from: number): { values: Marked[]; end: number } {
  const values: Marked[] = []
  let at = from
  for (;;) {
    COMMA.lastIndex = at
    at += COMMA.exec(text)?.[0].length ?? 0
    ENTRY.lastIndex = at
    const entry = ENTRY.exec(text)
    if (entry === null) return { values, end: at }
    const start = at + entry[0].length
    const end = endOfString(text, start, entry[1] ?? '', '"')
    values.push({ start, end, kind: 'kubernetes' })
    at = end + (entry[1] ?? '').length + 1
  }
}

/** The fields of a parsed object that such a mark makes secret. */
export function markedFields(value: object): readonly string[] {
  const field = (name: string): unknown => Reflect.get(value, name)
  if (field('kind') === 'Secret') return ['data', 'stringData']
  const isCookie = ['httpOnly', 'hostOnly', 'sameSite'].some((name) => name in value)
  if (isCookie) return isSecret('cookie', String(field('value'))) ? ['value'] : []
  const isMarked =
    field('sensitive') === true ||
    field('masked') === true ||
    field('type') === 'CONCEALED' ||
    field('Type') === 'SecureString' ||
    String(field('id')).includes('vault.azure.net/secrets/')
  return isMarked ? ['value', 'Value'] : []
}
