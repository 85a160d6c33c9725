/** The words that were looked for, made visible in a text. */
import type { Style } from '../style.ts'

/** A question of ten thousand characters has more words than anyone would see. */
const MOST_WORDS = 50
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g
/** Words of such letters begin where no letter stands before them; in other scripts there may be no gaps. */
const SPACED = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]/u

/** Of a word that is long enough to be known without it. */
const ENDING = /(?<=\p{L}{4})(?:ing|ed|es|s)$/iu

/** `text` is clean; paint may stand inside of it afterwards. */
export function highlighted(text: string, words: readonly string[], style: Style): string {
  const parts = words
    .slice(0, MOST_WORDS)
    .filter((word) => word.trim() !== '')
    .sort((a, b) => b.length - a.length)
    .map((word) => {
      if (!SPACED.test(word)) return literal(word)
      // It was found by its stem, and may have gone on differently.
      return `(?<![\\p{L}\\p{N}])${literal(word.replace(ENDING, ''))}\\p{L}*`
    })
  if (parts.length === 0) return text
  return text.replace(new RegExp(parts.join('|'), 'giu'), (word) => style.bold(style.yellow(word)))
}

function literal(word: string): string {
  return word.replace(SPECIAL, '\\$&')
}
