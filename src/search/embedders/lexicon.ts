/** Which words of the vocabulary stand for a word: itself, what it means in the trade, its stem, or its two halves. */
import type { Token } from '../tokens.ts'
import { JARGON } from './jargon.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Tried in this order; what is left of the word must still be one. */
const ENDINGS: readonly (readonly [ending: string, instead: readonly string[]])[] = [
  ['isation', ['ization']],
  ['ies', ['y']],
  ['es', ['', 'e']],
  ['s', ['']],
  ['ing', ['', 'e']],
  ['ed', ['', 'e']],
  ['ers', ['', 'e']],
  ['er', ['', 'e']],
  ['ly', ['']],
]
const LEAST_STEM_CHARS = 3
const LEAST_HALF_CHARS = 3 // shorter ones fit anywhere
const MAX_COMPOUND_CHARS = 30 // longer ones are digests and encoded data
/** Halves must be common words: with rare ones, any name falls apart. */
const COMMON_RANK = 20_000
const MARKS = /\p{M}/gu
const ASCII = /^[a-z0-9]+$/
/** Words whose ranks are kept at hand; a memory says the same few thousand again and again. */
const MAX_KEPT = 20_000

const NONE: readonly number[] = []

export class Lexicon {
  readonly #vocabulary: Vocabulary
  readonly #kept = new Map<string, readonly number[]>()

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** A known name counts beside its parts: `JavaScript` is itself, and a script. */
  ranksOfToken({ whole, parts }: Token): readonly number[] {
    const [first = whole] = parts
    if (parts.length <= 1) return this.#ranksOf(first)
    const ranks = parts.flatMap((part) => this.#ranksOf(part))
    return [...this.#directRanks(whole), ...ranks]
  }

  #ranksOf(word: string): readonly number[] {
    const kept = this.#kept.get(word)
    if (kept !== undefined) return kept
    const ranks = this.#find(word)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(word, ranks)
    return ranks
  }

  #find(word: string): readonly number[] {
    for (const form of [word, ...withoutMarks(word)]) {
      const direct = this.#directRanks(form)
      if (direct.length > 0) return direct
      for (const stem of stemsOf(form)) {
        const ranks = this.#directRanks(stem)
        if (ranks.length > 0) return ranks
      }
      const halves = this.#halvesOf(form)
      if (halves.length > 0) return halves
    }
    return NONE
  }

  /** A word of the trade that has another sense too is both. */
  #directRanks(word: string): readonly number[] {
    const own = this.#vocabulary.rankOf(word)
    const meant = JARGON.get(word)?.map((other) => this.#vocabulary.rankOf(other)) ?? NONE
    return own === -1 ? meant.filter((rank) => rank !== -1) : [own, ...meant.filter((rank) => rank !== -1)]
  }

  /** `stacktrace`: of all cuts into two known words the one with the most common words. */
  #halvesOf(word: string): readonly number[] {
    if (word.length > MAX_COMPOUND_CHARS) return NONE
    let best = NONE
    let least = Number.POSITIVE_INFINITY
    for (let cut = LEAST_HALF_CHARS; cut <= word.length - LEAST_HALF_CHARS; cut++) {
      const head = this.#vocabulary.rankOf(word.slice(0, cut))
      if (head === -1 || head >= COMMON_RANK) continue
      const tail = this.#vocabulary.rankOf(word.slice(cut))
      if (tail === -1 || tail >= COMMON_RANK) continue
      const rarity = (head + 10) * (tail + 10)
      if (rarity < least) {
        least = rarity
        best = [head, tail]
      }
    }
    return best
  }
}

function withoutMarks(word: string): string[] {
  if (ASCII.test(word)) return []
  const bare = word.normalize('NFD').replace(MARKS, '')
  return bare === word ? [] : [bare]
}

function stemsOf(word: string): string[] {
  return ENDINGS.flatMap(([ending, instead]) => {
    const stem = word.slice(0, -ending.length)
    if (!word.endsWith(ending) || stem.length < LEAST_STEM_CHARS) return []
    return instead.map((other) => stem + other)
  })
}
