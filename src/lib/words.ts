/**
 * Splits prose and code into words: `getUserById` has four, `src/auth/jwt.ts` has four, `v1.2.3` is one letter and three
 * numbers. Indexing and searching use the same rules.
 */

export interface WordToken {
  /** In lower case: `javascript` for `JavaScript`. */
  whole: string
  /** Its parts: `java`, `script`. At least one. */
  parts: readonly string[]
}

/** A run of letters with at most one apostrophe inside, or a run of digits. Everything else separates. */
const RUN = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)?|\p{N}+/gu
/** The same for a text of ASCII, several times as fast. */
const ASCII_RUN = /[A-Za-z]+(?:'[A-Za-z]+)?|[0-9]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const NOT_ASCII = /[^\x00-\x7f]/
/** `aB`, `ABc`; the plural of an acronym (`URLs`, `parseIDsOf`) stays whole. */
const HUMP = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))/u
const HAS_HUMP = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const NOT = /^(.+)n['’]t$/
const CLITIC = /['’].*$/

export function splitWords(text: string): string[] {
  return splitTokens(text).flatMap(({ parts }) => parts)
}

export function splitTokens(text: string): WordToken[] {
  const tokens: WordToken[] = []
  // NFKC unifies full-width and composed forms of a letter.
  const runs = NOT_ASCII.test(text) ? text.normalize('NFKC').match(RUN) : text.match(ASCII_RUN)
  for (const run of runs ?? []) tokens.push(toToken(run))
  return tokens
}

function toToken(run: string): WordToken {
  const whole = run.toLowerCase()
  if (run.includes("'") || run.includes('’')) return { whole, parts: expandContraction(whole) }
  if (run === whole || !HAS_HUMP.test(run)) return { whole, parts: [whole] }
  return { whole, parts: run.split(HUMP).map((part) => part.toLowerCase()) }
}

/** `don't` becomes `do`, `not`; `it's` and `user's` become `it` and `user`. */
function expandContraction(word: string): string[] {
  const negated = NOT.exec(word)?.[1]
  if (negated === undefined) return [word.replace(CLITIC, '')]
  return [IRREGULAR.get(negated) ?? negated, 'not']
}

const IRREGULAR = new Map([
  ['ca', 'can'],
  ['wo', 'will'],
  ['sha', 'shall'],
])

/** English words without meaning for a search. Used only if a query has no others. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all am an and any are as at be because been before being below between both but by
  can could did do does doing done down during each few for from further had has have having he her here hers herself
  him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
  other our ours ourselves out over own same shall she should so some such than that the their theirs them themselves
  then there these they this those through to too under until up us very was we were what when where which while who
  whom whose why will with would you your yours yourself yourselves
  d ll m re s t ve don didn doesn isn wasn weren hasn haven hadn won wouldn couldn shouldn aren`.split(/\s+/),
)
