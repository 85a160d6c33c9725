/**
 * Words as people mean them, out of prose and code alike: `getUserById` is four, `src/auth/jwt.ts` is four, `v1.2.3` is
 * one letter and three numbers. Both sides of the search split by the same rules.
 */

export interface Token {
  /** As it stands there, in lower case: `javascript` for `JavaScript`. */
  whole: string
  /** What it is made of: `java`, `script`. At least one. */
  parts: readonly string[]
}

/** A run of letters, with one apostrophe inside at most, or a run of digits. All else separates. */
const RUN = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?|\p{N}+/gu
/** `aB`, `ABc`; the plural of an acronym (`URLs`, `parseIDsOf`) stays whole. */
const HUMP = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))/u
const HAS_HUMP = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const NOT = /^(.+)n['’]t$/
const CLITIC = /['’].*$/

export function wordsOf(text: string): string[] {
  return tokensOf(text).flatMap(({ parts }) => parts)
}

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  // Full-width and composed forms of one letter are one letter.
  for (const [run] of text.normalize('NFKC').matchAll(RUN)) tokens.push(tokenOf(run))
  return tokens
}

function tokenOf(run: string): Token {
  const whole = run.toLowerCase()
  if (run.includes("'") || run.includes('’')) return { whole, parts: uncontracted(whole) }
  if (!HAS_HUMP.test(run)) return { whole, parts: [whole] }
  return { whole, parts: run.split(HUMP).map((part) => part.toLowerCase()) }
}

/** `don't` says not, `it's` and `user's` say no more than `it` and `user`. */
function uncontracted(word: string): string[] {
  const denied = NOT.exec(word)?.[1]
  if (denied === undefined) return [word.replace(CLITIC, '')]
  return [IRREGULAR.get(denied) ?? denied, 'not']
}

const IRREGULAR = new Map([
  ['ca', 'can'],
  ['wo', 'will'],
  ['sha', 'shall'],
])
