/**
 * What a text names: words, identifiers, paths, numbers, in any language. Scripts without blanks between words give pairs of
 * characters. Used to choose what says most (context, offline observer) and to compare what two texts say.
 */
import { STOP_WORDS } from '../lib/words.ts'

const TERM =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2,}|[\p{L}\p{N}_][\p{L}\p{M}\p{N}_./:#@'-]*[\p{L}\p{M}\p{N}_]|[\p{L}\p{N}]/gu
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
const HUMP = /\p{Ll}\p{Lu}/u
const SPECIFIC = /[\d_./:#@]/
/** Longer ones are data. */
const MAX_TERM_CHARS = 120

/** The distinct terms without stop words, in lower case but for names such as `parseLine`. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>()
  for (const found of text.match(TERM) ?? []) {
    if (found.charCodeAt(0) > 127 && UNSPACED.test(found)) {
      for (let i = 0; i < found.length - 1; i++) terms.add(found.slice(i, i + 2))
    } else if (found.length > 1 && found.length <= MAX_TERM_CHARS) {
      const folded = found.toLowerCase()
      if (STOP_WORDS.has(folded)) continue
      if (folded !== found && HUMP.test(found)) terms.add(found)
      else terms.add(SPECIFIC.test(folded) ? folded : stemmed(folded))
    }
  }
  return terms
}

/** A name or a number: an identifier, a path, a version, a hash. */
export function isSpecific(term: string): boolean {
  return SPECIFIC.test(term) || HUMP.test(term)
}

/** Folds the plural, so that `tests` repeats `test`. */
function stemmed(word: string): string {
  return word.length > 4 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

/** The first that says something: "Good question." says less than `share` of what the statements after it say. */
export function firstTelling<T>(
  all: readonly T[],
  termsIn: (one: T) => Iterable<string>,
  share: number,
): T | undefined {
  const says = all.map((one) => [...termsIn(one)].reduce((sum, term) => sum + (isSpecific(term) ? 2 : 1), 0))
  const most = Math.max(0, ...says)
  return all.find((_, i) => (says[i] ?? 0) >= most * share)
}

/** How much each term of a collection of texts says: rare terms more, names and numbers more. */
export class TermWeights {
  readonly #counts = new Map<string, number>()
  /** Each is asked for many times once all texts are added. */
  readonly #weights = new Map<string, number>()
  #texts = 0
  readonly #specificFactor: number

  constructor(specificFactor: number) {
    this.#specificFactor = specificFactor
  }

  add(terms: Iterable<string>): void {
    this.#texts++
    this.#weights.clear()
    for (const term of terms) this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1)
  }

  weight(term: string): number {
    const known = this.#weights.get(term)
    if (known !== undefined) return known
    const rarity = Math.log(1 + this.#texts / (this.#counts.get(term) ?? 1))
    const weight = isSpecific(term) ? rarity * this.#specificFactor : rarity
    this.#weights.set(term, weight)
    return weight
  }
}
