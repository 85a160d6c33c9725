/**
 * Embeds with word vectors that are part of the package: no model, no network, microseconds per text. The vector of a
 * text is the weighted sum of the vectors of its words; rare words have more weight.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { STOP_WORDS, splitTokens, type WordToken } from '../../lib/words.ts'
import { JARGON } from './jargon.ts'
import type { Embedder } from './models.ts'
import { decodeWordVectors, type WordVectorFile } from './word-vectors.ts'

/** The number is raised by every change that changes the vector of any text. */
export const STATIC_EMBEDDER_NAME = 'static-1'

/** Characters of a text that are read: more do not change its meaning, and a pasted file stays cheap. */
const MAX_CHARS = 20_000

/** How close a text is to a query. */
export interface TextSimilarity {
  /** Of the vectors of both, from 0 to 1. */
  cosine: number
  /** How much of what the query says the text says too, word by word, from 0 to 1. */
  coverage: number
}

export type QueryComparer = (text: string) => TextSimilarity

export interface StaticEmbedder extends Embedder {
  /** Compares texts with one query. Much cheaper than embedding: words are shared by the texts. */
  comparerFor(query: string): QueryComparer
}

export async function staticEmbedder({ file = vectorsFile() }: { file?: string } = {}): Promise<StaticEmbedder> {
  const vectors = await loadVectorFile(file)
  const lexicon = new Lexicon(new Vocabulary(vectors.text, vectors.starts))
  return {
    name: STATIC_EMBEDDER_NAME,
    dimensions: vectors.dimensions,
    embed: async (texts) => texts.map((text) => embedOne(text, vectors, lexicon)),
    comparerFor: (query) => queryComparer(query, vectors, lexicon),
  }
}

/** Cosine up to which two words are unrelated: most pairs of words of one field are above .2. */
const UNRELATED_COSINE = 0.4
/** Of a pasted text the first words say what is asked. */
const MAX_QUERY_WORDS = 32

interface QueryWord {
  whole: string
  stems: readonly string[]
  vector: Float32Array | null
  weight: number
}

/** A word of the texts, whatever the query is. */
interface TextWord {
  /** Direction and length of its weighted vector; null where no part of it is known. */
  unit: Float32Array | null
  length: number
  forms: readonly WordForm[]
}

interface WordForm {
  form: string
  stems: readonly string[]
  unit: Float32Array | null
}

interface ComparedWord extends Pick<TextWord, 'unit' | 'length'> {
  /** With each word of the query. A plain array: there are thousands, and small typed arrays take long to make. */
  similarities: readonly number[]
}

/**
 * Coverage: for each word of the query the closest word of the text, weighted by how rare it is. Other than the vector of
 * the whole text it does not fade in a text that says other things too. The words of many texts are mostly the same: each
 * is compared once for a query.
 */
function queryComparer(query: string, file: WordVectorFile, lexicon: Lexicon): QueryComparer {
  const words = queryWords(query, file, lexicon)
  const total = words.reduce((sum, { weight }) => sum + weight, 0)
  const queryVector = embedOne(query, file, lexicon)
  const sum = new Float64Array(file.dimensions)
  // Spellings that differ in case are one word; the first one decides on its parts.
  const known = new Map<string, ComparedWord>()
  const compared = (token: WordToken): ComparedWord => {
    const cached = known.get(token.whole)
    if (cached !== undefined) return cached
    const { unit, length, forms } = lexicon.textWord(token, file)
    const found = { unit, length, similarities: similarities(forms, words) }
    known.set(token.whole, found)
    return found
  }
  return (text) => {
    const best = words.map(() => 0)
    sum.fill(0)
    for (const token of splitTokens(text.slice(0, MAX_CHARS))) {
      const { unit, length, similarities: near } = compared(token)
      for (let i = 0; i < best.length; i++) if ((near[i] ?? 0) > (best[i] ?? 0)) best[i] = near[i] ?? 0
      if (unit !== null) addScaled(sum, unit, length)
    }
    const covered = words.reduce((part, { weight }, i) => part + weight * (best[i] ?? 0), 0)
    return { cosine: cosineOf(queryVector, normalize(sum)), coverage: total === 0 ? 0 : covered / total }
  }
}

function addScaled(sum: Float64Array, vector: Float32Array, factor: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + factor * (vector[i] ?? 0)
}

/** How similar a word is to each word of the query. */
function similarities(forms: readonly WordForm[], words: readonly QueryWord[]): number[] {
  return words.map((word) => {
    let best = 0
    for (const form of forms) best = Math.max(best, wordSimilarity(word, form))
    return best
  })
}

/** A compound counts as a whole and with its parts. */
const tokenForms = ({ whole, parts }: WordToken): readonly string[] => (parts.length > 1 ? [whole, ...parts] : parts)

function queryWords(query: string, file: WordVectorFile, lexicon: Lexicon): QueryWord[] {
  const forms = [...new Set(splitTokens(query.slice(0, MAX_CHARS)).flatMap(tokenForms))]
  const telling = forms.filter((form) => !STOP_WORDS.has(form)).slice(0, MAX_QUERY_WORDS)
  return telling.map((whole) => {
    const ranks = lexicon.ranksOfWord(whole)
    const weight = ranks.length === 0 ? 1 : wordWeight(Math.max(...ranks))
    return { whole, stems: stemsOf(whole), vector: wordVector(whole, file, lexicon), weight }
  })
}

function wordVector(word: string, file: WordVectorFile, lexicon: Lexicon): Float32Array | null {
  const ranks = lexicon.ranksOfWord(word)
  return ranks.length === 0 ? null : normalize(weightedSum(ranks, file))
}

function weightedSum(ranks: readonly number[], file: WordVectorFile): Float64Array {
  const sum = new Float64Array(file.dimensions)
  for (const rank of ranks) add(sum, file, rank)
  return sum
}

function wordSimilarity(word: QueryWord, { form, stems, unit }: WordForm): number {
  if (form === word.whole || stems.includes(word.whole) || word.stems.includes(form)) return 1
  if (unit === null) return 0
  return Math.max(0, (cosineOf(word.vector, unit) - UNRELATED_COSINE) / (1 - UNRELATED_COSINE))
}

/** Of unit vectors; 0 where one is unknown or they point away from each other. */
function cosineOf(a: Float32Array | null, b: Float32Array | null): number {
  if (a === null || b === null) return 0
  // Four sums: an addition need not wait for the one before it, which halves the time. After the end `?? 0` adds nothing.
  let [first, second, third, fourth] = [0, 0, 0, 0]
  for (let i = 0; i < a.length; i += 4) {
    first += (a[i] ?? 0) * (b[i] ?? 0)
    second += (a[i + 1] ?? 0) * (b[i + 1] ?? 0)
    third += (a[i + 2] ?? 0) * (b[i + 2] ?? 0)
    fourth += (a[i + 3] ?? 0) * (b[i + 3] ?? 0)
  }
  return Math.max(0, first + second + third + fourth)
}

async function loadVectorFile(file: string): Promise<WordVectorFile> {
  try {
    return decodeWordVectors(await readFile(file))
  } catch (cause) {
    const message = `${file} cannot be used: ${errorMessage(cause)}. Install claude-mem again.`
    throw new MemError('internal', message, { cause })
  }
}

function embedOne(text: string, file: WordVectorFile, lexicon: Lexicon): Float32Array | null {
  const sum = new Float64Array(file.dimensions)
  for (const token of splitTokens(text.slice(0, MAX_CHARS))) {
    for (const rank of lexicon.ranksOfToken(token)) add(sum, file, rank)
  }
  return normalize(sum)
}

function add(sum: Float64Array, { vectors, scales, dimensions }: WordVectorFile, rank: number): void {
  const factor = (scales[rank] ?? 0) * wordWeight(rank)
  const at = rank * dimensions
  for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + factor * (vectors[at + i] ?? 0)
}

function lengthOf(vector: Float64Array): number {
  let square = 0
  for (let i = 0; i < vector.length; i++) square += (vector[i] ?? 0) ** 2
  return Math.sqrt(square)
}

/** Null if no word was known. */
function normalize(sum: Float64Array): Float32Array | null {
  const length = lengthOf(sum)
  if (!(length > 0)) return null
  const factor = 1 / length
  // Many times faster than `Float32Array.from` with a function.
  const unit = new Float32Array(sum.length)
  for (let i = 0; i < sum.length; i++) unit[i] = (sum[i] ?? 0) * factor
  return unit
}

const VECTORS_FILE = join('assets', 'word-vectors.bin')
/** dist/chunks is two levels below the package, a build in node_modules/.cache up to five. */
const MAX_LEVELS_UP = 6

/** Next to the directory of the built program, or at the root of the sources. */
function vectorsFile(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  let at = start
  for (let up = 0; up < MAX_LEVELS_UP; up++, at = dirname(at)) {
    if (existsSync(join(at, VECTORS_FILE))) return join(at, VECTORS_FILE)
  }
  throw new MemError('internal', `${VECTORS_FILE} is missing above ${start}. Install claude-mem again.`)
}

/** Words that are more frequent than this have less than half of the full weight. */
const FREQUENT = 1e-3

/** Smooth inverse frequency. The frequency follows from the rank by Zipf's law; rank 0 is the most frequent word. */
function wordWeight(rank: number): number {
  const frequency = 1 / ((rank + 2.7) * 12)
  return FREQUENT / (FREQUENT + frequency)
}

/** Endings and their replacements, tried in this order. */
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
const MIN_STEM_CHARS = 3
/** Shorter words fit into any compound. */
const MIN_HALF_CHARS = 3
/** Longer words are hashes and encoded data. */
const MAX_COMPOUND_CHARS = 30
/** Only common words can be halves of a compound: with rare ones, any name could be split. */
const COMMON_RANK = 20_000
const MARKS = /\p{M}/gu
const ASCII = /^[a-z0-9]+$/
/** Most words whose ranks are cached. A memory uses the same few thousand words. */
const MAX_CACHED = 20_000
/** Most words whose vectors are cached: some 10 MB. */
const MAX_CACHED_VECTORS = 20_000

const NONE: readonly number[] = []

/**
 * Maps a word to words of the vocabulary: itself, its meaning in programming, its stem, or the two halves of a
 * compound.
 */
class Lexicon {
  readonly #vocabulary: Vocabulary
  readonly #cache = new Map<string, readonly number[]>()
  readonly #textWords = new Map<string, TextWord>()

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** A known name counts in addition to its parts: `JavaScript` is itself and `script`. */
  ranksOfToken({ whole, parts }: WordToken): readonly number[] {
    const [first = whole] = parts
    if (parts.length <= 1) return this.ranksOfWord(first)
    const ranks = parts.flatMap((part) => this.ranksOfWord(part))
    return [...this.#directRanks(whole), ...ranks]
  }

  textWord(token: WordToken, file: WordVectorFile): TextWord {
    // `JavaScript` and `javascript` are the same whole with different parts.
    const key = token.parts.length === 1 ? token.whole : token.parts.join(' ')
    const cached = this.#textWords.get(key)
    if (cached !== undefined) return cached
    const ranks = this.ranksOfToken(token)
    const sum = ranks.length === 0 ? null : weightedSum(ranks, file)
    const length = sum === null ? 0 : lengthOf(sum)
    const unit = sum === null ? null : normalize(sum)
    const forms = tokenForms(token).map((form) => ({
      form,
      stems: stemsOf(form),
      unit: token.parts.length === 1 ? unit : wordVector(form, file, this),
    }))
    if (this.#textWords.size >= MAX_CACHED_VECTORS) this.#textWords.clear()
    const word = { unit, length, forms }
    this.#textWords.set(key, word)
    return word
  }

  ranksOfWord(word: string): readonly number[] {
    const cached = this.#cache.get(word)
    if (cached !== undefined) return cached
    const ranks = this.#find(word)
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear()
    this.#cache.set(word, ranks)
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

  /** A programming term that has another meaning too counts with both. */
  #directRanks(word: string): readonly number[] {
    const own = this.#vocabulary.rankOf(word)
    const meanings = JARGON.get(word)?.map((other) => this.#vocabulary.rankOf(other)) ?? NONE
    return [own, ...meanings].filter((rank) => rank !== -1)
  }

  /** `stacktrace`: of all splits into two common words, the one with the most frequent words. */
  #halvesOf(word: string): readonly number[] {
    if (word.length > MAX_COMPOUND_CHARS) return NONE
    let best = NONE
    let lowest = Number.POSITIVE_INFINITY
    for (let cut = MIN_HALF_CHARS; cut <= word.length - MIN_HALF_CHARS; cut++) {
      const head = this.#vocabulary.rankOf(word.slice(0, cut))
      if (head === -1 || head >= COMMON_RANK) continue
      const tail = this.#vocabulary.rankOf(word.slice(cut))
      if (tail === -1 || tail >= COMMON_RANK) continue
      const rarity = (head + 10) * (tail + 10)
      if (rarity < lowest) {
        lowest = rarity
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
    if (!word.endsWith(ending) || stem.length < MIN_STEM_CHARS) return []
    return instead.map((other) => stem + other)
  })
}

/**
 * A hash table from words to their ranks (0 is the most frequent word) that does not create a string for every word.
 */
export class Vocabulary {
  readonly #text: Uint8Array
  readonly #starts: Uint32Array
  /** Open addressing: 0 is free, else the word's rank plus one. */
  readonly #slots: Uint32Array
  readonly #encoder = new TextEncoder()
  readonly #word: Uint8Array

  constructor(text: Uint8Array, starts: Uint32Array) {
    this.#text = text
    this.#starts = starts
    this.#slots = buildSlots(text, starts)
    this.#word = new Uint8Array(longestWord(starts))
  }

  /** -1 if the word is unknown. */
  rankOf(word: string): number {
    // In UTF-8 every UTF-16 unit takes at least one byte.
    if (word.length > this.#word.length) return -1
    const { read, written } = this.#encoder.encodeInto(word, this.#word)
    if (read < word.length) return -1
    const mask = this.#slots.length - 1
    let slot = hash(this.#word, 0, written) & mask
    for (;;) {
      const n = (this.#slots[slot] ?? 0) - 1
      if (n === -1 || this.#equals(n, written)) return n
      slot = (slot + 1) & mask
    }
  }

  #equals(n: number, length: number): boolean {
    const start = this.#starts[n] ?? 0
    if ((this.#starts[n + 1] ?? 0) - start !== length) return false
    for (let i = 0; i < length; i++) {
      if (this.#text[start + i] !== this.#word[i]) return false
    }
    return true
  }
}

/**
 * Words are unique, so none is compared. The size is a power of two, for the mask; at most half of the slots are used,
 * so that probing always ends at a free one.
 */
function buildSlots(text: Uint8Array, starts: Uint32Array): Uint32Array {
  const count = starts.length - 1
  const slots = new Uint32Array(2 ** Math.max(1, Math.ceil(Math.log2(2 * count))))
  const mask = slots.length - 1
  for (let n = 0; n < count; n++) {
    let slot = hash(text, starts[n] ?? 0, starts[n + 1] ?? 0) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = n + 1
  }
  return slots
}

function longestWord(starts: Uint32Array): number {
  let longest = 0
  for (let n = 1; n < starts.length; n++) longest = Math.max(longest, (starts[n] ?? 0) - (starts[n - 1] ?? 0))
  return longest
}

/** 32-bit FNV-1a; the high bits are folded into the low ones, which select the slot. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let mixed = 0x811c9dc5
  for (let i = start; i < end; i++) mixed = Math.imul(mixed ^ (bytes[i] ?? 0), 0x01000193)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
