/** How a language is described: tables of patterns, read by one engine (outline.ts, symbols.ts, values.ts, notable.ts). */

/** `namespace`, `test` and `route` contain other parts but are not part of their names. */
export type CodePartKind = 'type' | 'function' | 'object' | 'const' | 'namespace' | 'test' | 'route' | 'section'

/** How a part begins. Groups: `name` (empty for a namespace), `owner` (a class named on the same line), `verb` of a route. */
export interface Declaration {
  kind: CodePartKind
  pattern: RegExp
  /** Only directly inside a type or an object: anywhere else `addItem(item) {` is a call. */
  member?: true
  /** The last line of a part in a flat language, where it ends before the next one begins. */
  until?: RegExp
}

export type NotableKind = 'route' | 'schema' | 'env' | 'flag' | 'feature' | 'error' | 'code' | 'todo'

/** Something worth a sentence when a line with it is added or removed. */
export interface NotablePattern {
  kind: NotableKind
  pattern: RegExp
  /** The thing itself: `GET /users`. Null or '': not a match after all. */
  subject: (match: RegExpExecArray) => string | null
}

export interface NamedValue {
  name: string
  value: string
}

/** The file before or after an edit, or as much of it as the hunks show. */
export interface EditSide {
  lines: string[]
  /** For each line the number of the change it belongs to, or 0. Both sides use the same numbers. */
  change: Int32Array
  /** Lines at which a new fragment begins. */
  starts: Set<number>
}

export interface Language {
  name: string
  /** Separated by blanks. */
  extensions: string
  /** Names of files without such an extension; they have precedence over extensions. */
  fileNames?: RegExp
  /** `flat`: a part lasts until the next one. */
  nesting: 'braces' | 'indent' | 'flat'
  comment: RegExp
  /** A cheap test before the declarations are tried. */
  hint: RegExp
  declarations: Declaration[]
  /** Decorators and attributes: they belong to the declaration below. */
  leading?: RegExp
  /** Marks a test, on the leading lines or the declaration. */
  test?: RegExp
  /** Delimiters of strings of several lines. */
  strings?: string[]
  identifier?: RegExp
  exported?: (line: string, name: string) => boolean
  /** Group 1 is a module, or several separated by commas. */
  imports?: RegExp[]
  /** Groups `name` and `value`. */
  constants?: RegExp[]
  /** Undefined: the language is not code and has none of the common patterns either. */
  notable?: NotablePattern[]
  /** Reads the names and values of a language that has nothing else. */
  entries?: (side: EditSide) => NamedValue[]
  /** Values are never shown: `.env`. */
  secret?: true
}

export const HASH_COMMENT = /^#/

/** A language with braces and the comments of C, unless `more` says otherwise. */
export function codeLanguage(
  name: string,
  extensions: string,
  more: Partial<Language> & Pick<Language, 'hint' | 'declarations'>,
): Language {
  return { name, extensions, nesting: 'braces', comment: /^(?:\/\/|\/\*|\*(?!\w))/, notable: [], ...more }
}

/** A string is the source of the pattern. */
export function part(kind: CodePartKind, pattern: RegExp | string, until?: RegExp): Declaration {
  const compiled = typeof pattern === 'string' ? new RegExp(pattern, pattern.includes('\\p{') ? 'u' : '') : pattern
  return { kind, pattern: compiled, ...(until === undefined ? {} : { until }) }
}

export function memberPart(kind: CodePartKind, pattern: RegExp | string): Declaration {
  return { ...part(kind, pattern), member: true }
}

/** The value of a constant: a literal, simple arithmetic, a short list or call. */
const LITERAL = String.raw`(?<value>[-+]?\d[\w.]*(?:\s*[-+*/]\s*[\w.]+)*|"[^"]*"|'[^']*'|\x60[^\x60]*\x60|[tT]rue|[fF]alse|null|None|nil|\[[^\]]{0,80}\]|\([^)]{0,80}\)|\{[^}]{0,80}\}|[\w.:]+\([^()]{0,60}\)(?:\.\w+\([^()]{0,40}\))*)`

/** The pattern of a constant; `head` is what precedes the `=`. */
export function constant(head: string, tail = '[;,]?'): RegExp {
  return new RegExp(`^${head}\\s*=\\s*${LITERAL}\\s*${tail}(?:\\s*(?://|#).*)?$`)
}

/** `$1` in a subject is the first group. */
export function notablePattern(
  kind: NotableKind,
  pattern: RegExp,
  subject: string | NotablePattern['subject'] = '$1',
): NotablePattern {
  if (typeof subject === 'function') return { kind, pattern, subject }
  const fill = (match: RegExpExecArray) => subject.replace(/\$(\d)/g, (_, number) => match[Number(number)] ?? '')
  return { kind, pattern, subject: fill }
}

/** Group 1 is the verb and group 2 the path; with `verb`, group 1 is the path. */
export function routePattern(pattern: RegExp, verb?: string): NotablePattern {
  return notablePattern('route', pattern, (match) => {
    const path = verb === undefined ? match[2] : match[1]
    const method = (verb ?? match[1] ?? '').toUpperCase()
    return path === undefined ? null : `${method === 'ALL' ? 'ANY' : method} ${path === '' ? '/' : path}`.trim()
  })
}
