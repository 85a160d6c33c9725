/** How a language is described: tables of patterns that one engine reads. */

/** `namespace`, `test` and `route` hold other parts but never lend them their name. */
export type PartKind = 'type' | 'function' | 'object' | 'const' | 'namespace' | 'test' | 'route' | 'section'

/** How a part begins. Group `name` is needed, except for a namespace; `owner` is a class named on the same line. */
export interface Declaration {
  kind: PartKind
  pattern: RegExp
  /** Only directly inside a type or an object: `addItem(item) {` is a call anywhere else. */
  member?: true
  /** Where a part of a flat language ends before the next one begins. */
  until?: RegExp
}

export type SignKind = 'route' | 'schema' | 'env' | 'flag' | 'feature' | 'error' | 'code' | 'todo'

/** Something worth a sentence when a line with it comes or goes. */
export interface Sign {
  kind: SignKind
  pattern: RegExp
  /** The thing itself: `GET /users`. Null where the match is none after all. */
  subject(match: RegExpExecArray): string | null
}

/** A name with a value on a changed line. */
export interface Entry {
  name: string
  value: string
}

/** One side of an edit: the file, or as much of it as the hunks show. */
export interface Side {
  lines: string[]
  /** For each line 0, or the number of the change it belongs to; both sides count alike. */
  change: Int32Array
  /** Lines at which a new fragment begins. */
  starts: Set<number>
}

export interface Language {
  name: string
  /** `flat`: a part lasts until the next one. */
  nesting: 'braces' | 'indent' | 'flat'
  comment: RegExp
  /** A cheap look before the declarations are tried. */
  hint: RegExp
  declarations: Declaration[]
  /** Decorators and attributes: they belong to the declaration below. */
  leading?: RegExp
  /** Marks of a test, on the leading lines or the declaration. */
  test?: RegExp
  /** Delimiters of strings that may span lines. */
  strings?: string[]
  identifier?: RegExp
  exported?: (line: string, name: string) => boolean
  /** Group 1 is a module, or several with commas. */
  imports?: RegExp[]
  /** Groups `name` and `value`. */
  constants?: RegExp[]
  signs?: Sign[]
  /** Languages that are all names and values. */
  entries?: (side: Side) => Entry[]
  /** Values are nobody's business: `.env`. */
  secret?: true
}

export const SLASH_COMMENT = /^(?:\/\/|\/\*|\*(?!\w))/
export const HASH_COMMENT = /^#/
export const NEVER = /^\b$/

/** What may stand as the value of a constant: a literal, simple arithmetic, a short list or call. */
export const LITERAL = String.raw`(?<value>[-+]?\d[\w.]*(?:\s*[-+*/]\s*[\w.]+)*|"[^"]*"|'[^']*'|\x60[^\x60]*\x60|[tT]rue|[fF]alse|null|None|nil|\[[^\]]{0,80}\]|\([^)]{0,80}\)|\{[^}]{0,80}\}|[\w.:]+\([^()]{0,60}\)(?:\.\w+\([^()]{0,40}\))*)`

/** A constant's pattern: `head` ends before the `=`. */
export function constant(head: string, tail = '[;,]?'): RegExp {
  return new RegExp(`^${head}\\s*=\\s*${LITERAL}\\s*${tail}(?:\\s*(?://|#).*)?$`)
}
