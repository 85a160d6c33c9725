/**
 * Cells whose column has the name of a secret: tables in Markdown, those that `psql` and `mysql` print, CSV, and the rows of an
 * SQL `INSERT`. Every line is read once, so the time is linear in the length of the text.
 */
import { LiteralSearch } from '../lib/literal-search.ts'
import type { Span } from './private-parts.ts'
import {
  isMixed,
  isPlaceholderValue,
  LANGUAGE_HINTS,
  looksRandom,
  namesPasswordInOtherLanguage,
  OTHER_PARTS,
  readSecretName,
  type SecretName,
} from './secret-names.ts'

/** By the place of the column. */
type Columns = ReadonlyMap<number, SecretName>

interface Line {
  text: string
  /** Of its first character in the text. */
  start: number
}

interface Cell extends Span {
  kind: string
}

/** `hints`: those of `TABLE_HINTS` in the text. */
export function maskTables(text: string, hints: ReadonlySet<string>): string {
  const isInOtherLanguage = namesPasswordInOtherLanguage(text, hints)
  if (!isInOtherLanguage && !TABLE_HINTS.some((hint) => hints.has(hint))) return text
  const found = [...rowsOfTables(text, isInOtherLanguage ? anyNames() : englishNames()), ...rowsOfInserts(text)].sort(
    (a, b) => a.start - b.start,
  )
  let masked = ''
  let done = 0
  for (const { start, end, kind } of found) {
    if (start < done) continue
    masked += `${text.slice(done, start)}[secret:${kind}]`
    done = end
  }
  return done === 0 ? text : masked + text.slice(done)
}

const DIVIDER = /[|│]/
const SEPARATOR = /^[\s|+:│├┼┤─-]*[-─]{2}[\s|+:│├┼┤─-]*$/
const CSV_DIVIDER = /[,;\t]/
/** Characters. A name with more is a sentence. */
const MAX_NAME = 40
/** Characters. A longer line is no row that somebody reads. */
const MAX_LINE = 4_096

/** In lower case. A text without any of them has no such column. */
export const TABLE_HINTS: readonly string[] = [
  ...['passw', 'passphrase', 'passcode', 'secret', 'token', 'apikey', 'api_key', 'api-key', 'api key', 'access_key'],
  ...['private_key', 'credential', 'senha', 'wachtwoord', 'contrase'],
]
let english: LiteralSearch | null = null
let any: LiteralSearch | null = null

function englishNames(): LiteralSearch {
  english ??= new LiteralSearch(TABLE_HINTS)
  return english
}

function anyNames(): LiteralSearch {
  any ??= new LiteralSearch([...TABLE_HINTS, ...LANGUAGE_HINTS, ...OTHER_PARTS])
  return any
}

function rowsOfTables(text: string, names: LiteralSearch): Cell[] {
  const cells: Cell[] = []
  for (let at = names.next(text, 0); at !== -1; ) {
    const header = lineAt(text, text.lastIndexOf('\n', at) + 1)
    const table = tableBelow(text, header)
    let row = table?.first ?? null
    while (table !== null && row !== null && cellsOf(row, table.divider).length === table.count) {
      cells.push(...secretsOfRow(cellsOf(row, table.divider), table.columns, table.isCertain))
      row = lineAfter(text, row)
    }
    const next = table === null ? lineAfter(text, header) : row
    if (next === null) break
    at = names.next(text, next.start)
  }
  return cells
}

interface Table {
  columns: Columns
  count: number
  divider: RegExp
  /** No list of words in a sentence or in code. */
  isCertain: boolean
  first: Line | null
}

/** Null if the line is not the header of a table with a secret. */
function tableBelow(text: string, header: Line): Table | null {
  if (header.text.length > MAX_LINE) return null
  const next = lineAfter(text, header)
  const hasSeparator = next !== null && SEPARATOR.test(next.text.slice(0, MAX_LINE))
  const divider = hasSeparator ? DIVIDER : CSV_DIVIDER
  const cells = cellsOf(header, divider)
  if (!hasSeparator && !(cells.length > 1 && cells.every(({ text: name }) => /^[\p{L}\p{M}\w .-]+$/u.test(name))))
    return null
  const columns = columnsOf(cells)
  if (columns.size === 0) return null
  const isCertain = hasSeparator || !/[,;] /.test(header.text)
  return { columns, count: cells.length, divider, isCertain, first: hasSeparator ? lineAfter(text, next) : next }
}

function lineAt(text: string, start: number): Line {
  const end = text.indexOf('\n', start)
  return { text: text.slice(start, end === -1 ? text.length : end), start }
}

function lineAfter(text: string, { text: line, start }: Line): Line | null {
  const next = start + line.length + 1
  return next < text.length ? lineAt(text, next) : null
}

/** Without blanks, quotes and signs of Markdown around them. */
function cellsOf({ text, start }: Line, divider: RegExp): (Line & Span)[] {
  if (text.length > MAX_LINE) return []
  let at = start
  return text.split(divider).map((cell) => {
    const inner = cell.replace(/^[\s"'`*\\]+/, '')
    const from = at + cell.length - inner.length
    const value = inner.replace(/[\s"'`*\\]+$/, '')
    at += cell.length + 1
    return { text: value, start: from, end: from + value.length }
  })
}

function columnsOf(names: readonly Line[]): Columns {
  const read = names.map(({ text }, i) => [i, text.length > MAX_NAME ? null : readSecretName(text)] as const)
  return new Map(read.filter((one): one is [number, SecretName] => one[1] !== null && !one[1].plural))
}

function secretsOfRow(cells: readonly (Line & Span)[], columns: Columns, isCertain: boolean): Cell[] {
  return cells.flatMap(({ text, start, end }, i) => {
    const name = columns.get(i)
    return name !== undefined && isSecretCell(name, text, isCertain) ? [{ start, end, kind: name.kind }] : []
  })
}

/** Under a password any value, but words about it, and counts. */
function isSecretCell({ kind }: SecretName, value: string, isCertain: boolean): boolean {
  if (isPlaceholderValue(value)) return false
  if (kind !== 'password') return looksRandom(value, 16)
  return isCertain
    ? !ABOUT.test(value) && !COUNT.test(value)
    : value.length >= 6 && isMixed(value) && !/[\s(]/.test(value)
}

const ABOUT =
  /^(?:string|text|varchar(?:\(\d+\))?|char|required|optional|hashed|encrypted|masked|hidden|unset|empty|default|never|always|n\/a|bcrypt|argon2\w*|scrypt|sha-?\d+|md5)$/i
const COUNT = /^(?:\d{1,3}|\d+[.,]\d+)%?$/

const INSERT = /insert\s{1,8}into\s{1,8}[^\s(]{1,128}\s{0,8}\(([^()]{1,2000})\)\s{0,8}values\s{0,8}/gi
const ROW = /\s{0,8},?\s{0,80}\(((?:'[^'\n]{0,2000}'|[^'()]){0,400})\)/y
const ROW_VALUE = /'[^'\n]{0,2000}'|[^',]+/g

function rowsOfInserts(text: string): Cell[] {
  if (!/insert\s/i.test(text)) return []
  const cells: Cell[] = []
  for (const insert of text.matchAll(INSERT)) {
    const names = (insert[1] ?? '').split(',').map((name) => ({ text: name.replace(/[\s"'`\\[\]]/g, ''), start: 0 }))
    const columns = columnsOf(names)
    ROW.lastIndex = insert.index + insert[0].length
    if (columns.size === 0) continue
    for (let row = ROW.exec(text); row !== null; row = ROW.exec(text)) {
      const start = row.index + row[0].length - (row[1] ?? '').length - 1
      cells.push(...secretsOfRow(valuesOf(row[1] ?? '', start), columns, true))
    }
  }
  return cells
}

function valuesOf(row: string, start: number): (Line & Span)[] {
  const values = [...row.matchAll(ROW_VALUE)].filter(([value]) => value.trim() !== '')
  return values.map(({ 0: value, index }) => {
    const text = value.replace(/^'|'$/g, '')
    const from = start + index + value.indexOf(text)
    return { text: value.startsWith("'") ? text : '', start: from, end: from + text.length }
  })
}
