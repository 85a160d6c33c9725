/**
 * Edits TOML as text: one table is added, replaced or removed, and every other byte stays. Parsing and serialising would
 * lose comments and layout. Only what is needed for that is read: where tables begin and end, and values that are strings
 * or lists of strings. Text that cannot be followed is refused, never guessed at.
 */
import { MemError } from '../../lib/errors.ts'

/** A table with its lines, up to the next header. The first one has an empty path: the lines before any header. */
export interface TomlTable {
  path: string[]
  /** `[[…]]` */
  isArray: boolean
  /** Offset of its header. */
  start: number
  /** Offset behind its header line. */
  body: number
  end: number
  /** Keys of its lines, each as a path: `a.b = 1` has two parts. */
  keys: TomlKey[]
}

interface TomlKey {
  path: string[]
  /** Offsets of the value. */
  start: number
  end: number
}

/** `file` is its name for error messages. */
export function readTomlTables(text: string, file: string): TomlTable[] {
  return new TomlScanner(text, file).tables()
}

class TomlScanner {
  readonly #text: string
  readonly #file: string
  #at = 0

  constructor(text: string, file: string) {
    this.#text = text
    this.#file = file
  }

  tables(): TomlTable[] {
    let table: TomlTable = { path: [], isArray: false, start: 0, body: 0, end: 0, keys: [] }
    const tables = [table]
    while (this.#at < this.#text.length) {
      this.#skipSpace()
      const start = this.#at
      const next = this.#text[start]
      if (next === '[') {
        table.end = start
        table = this.#header(start)
        tables.push(table)
      } else if (next !== undefined && next !== '#' && next !== '\n' && next !== '\r') {
        table.keys.push(this.#keyAndValue())
      }
      this.#endLine()
    }
    table.end = this.#text.length
    return tables
  }

  #header(start: number): TomlTable {
    const isArray = this.#text.startsWith('[[', start)
    this.#at += isArray ? 2 : 1
    const path = this.#keyPath()
    const close = isArray ? ']]' : ']'
    if (!this.#text.startsWith(close, this.#at)) throw this.#unreadable('a table header is not closed')
    this.#at += close.length
    const lineEnd = this.#text.indexOf('\n', this.#at)
    return { path, isArray, start, body: lineEnd === -1 ? this.#text.length : lineEnd + 1, end: 0, keys: [] }
  }

  #keyAndValue(): TomlKey {
    const path = this.#keyPath()
    if (this.#text[this.#at] !== '=') throw this.#unreadable('a key has no value')
    this.#at += 1
    this.#skipSpace()
    const start = this.#at
    this.#value()
    return { path, start, end: this.#at }
  }

  /** `a."b c".d`, with the space around it. */
  #keyPath(): string[] {
    const path: string[] = []
    for (;;) {
      this.#skipSpace()
      path.push(this.#keyPart())
      this.#skipSpace()
      if (this.#text[this.#at] !== '.') return path
      this.#at += 1
    }
  }

  #keyPart(): string {
    const quote = this.#text[this.#at]
    if (quote === '"' || quote === "'") {
      const start = this.#at
      this.#string()
      return parseTomlString(this.#text.slice(start, this.#at)) ?? ''
    }
    const bare = this.#match(/[A-Za-z0-9_-]+/y)
    if (bare === '') throw this.#unreadable('a key is expected')
    return bare
  }

  #value(): void {
    const next = this.#text[this.#at]
    if (next === '"' || next === "'") this.#string()
    else if (next === '[') this.#nested('[', ']')
    else if (next === '{') this.#nested('{', '}')
    // A date and its time may have a space between them.
    else if (this.#match(/[^,\]}#\s]+(?: \d[^,\]}#\s]*)?/y) === '') throw this.#unreadable('a value is expected')
  }

  /** A list or an inline table: only strings and brackets matter. */
  #nested(open: string, close: string): void {
    this.#at += 1
    for (let depth = 1; depth > 0; ) {
      this.#match(/[^"'#[\]{}]+/y)
      const next = this.#text[this.#at]
      if (next === undefined) throw this.#unreadable(`"${open}" is not closed by "${close}"`)
      if (next === '"' || next === "'") this.#string()
      else if (next === '#') this.#match(/[^\n]*/y)
      else {
        depth += next === '[' || next === '{' ? 1 : -1
        this.#at += 1
      }
    }
  }

  #string(): void {
    const quote = this.#text[this.#at] ?? ''
    const triple = quote.repeat(3)
    if (this.#text.startsWith(triple, this.#at)) {
      this.#multilineString(quote, triple)
      return
    }
    const pattern = quote === '"' ? /"(?:[^"\\\r\n]|\\[^\r\n])*"/y : /'[^'\r\n]*'/y
    if (this.#match(pattern) === '') throw this.#unreadable('a string is not closed')
  }

  #multilineString(quote: string, triple: string): void {
    let from = this.#at + 3
    for (;;) {
      const close = this.#text.indexOf(triple, from)
      if (close === -1) throw this.#unreadable('a string is not closed')
      let escapes = 0
      if (quote === '"') while (this.#text[close - 1 - escapes] === '\\') escapes += 1
      from = close + 1
      if (escapes % 2 === 1) continue
      this.#at = close + 3
      // Up to two quotes may stand before the closing ones.
      while (this.#text[this.#at] === quote && this.#at < close + 5) this.#at += 1
      return
    }
  }

  #endLine(): void {
    this.#skipSpace()
    if (this.#text[this.#at] === '#') this.#match(/[^\n]*/y)
    this.#match(/\r?/y)
    if (this.#at >= this.#text.length) return
    if (this.#text[this.#at] !== '\n') throw this.#unreadable('the end of a line is expected')
    this.#at += 1
  }

  #skipSpace(): void {
    this.#match(/[ \t]*/y)
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #unreadable(problem: string): MemError {
    const line = this.#text.slice(0, this.#at).split('\n').length
    const text = `${this.#file} is not valid TOML (line ${line}: ${problem}): repair it, then try again. Nothing was changed.`
    return new MemError('bad_setting', text)
  }
}

export function isTomlPath(path: readonly string[], wanted: readonly string[]): boolean {
  return path.length === wanted.length && path.every((part, index) => part === wanted[index])
}

export function startsWithTomlPath(path: readonly string[], wanted: readonly string[]): boolean {
  return path.length >= wanted.length && isTomlPath(path.slice(0, wanted.length), wanted)
}

/** Null if it is not a string of one line. */
export function parseTomlString(text: string): string | null {
  const literal = /^'([^']*)'$/.exec(text)
  if (literal !== null) return literal[1] ?? ''
  if (!/^"(?:[^"\\]|\\.)*"$/.test(text)) return null
  try {
    // TOML's escapes are those of JSON, and \e, \x and \U, which no path of ours has.
    return String(JSON.parse(text.replaceAll('\t', '\\t')))
  } catch {
    return null
  }
}

/** Null if it is not a list of strings. */
export function parseTomlStrings(text: string): string[] | null {
  if (!text.startsWith('[') || !text.endsWith(']')) return null
  const items = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|'[^']*'/g) ?? []
  const parsed = items.map(parseTomlString)
  return parsed.every((item) => item !== null) ? parsed.filter((item) => item !== null) : null
}

/** A basic string: JSON's escapes are valid in TOML. */
export function tomlString(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

/** The line end of a file; of a new one that of this project. */
export function tomlLineEnd(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}
