/**
 * As many observations as one likes, out of what was observed in the recorded sessions: their sentences, facts and names in
 * new combinations. In every session half of the words stand for others, the same ones throughout, drawn from the bundled
 * vocabulary by Zipf's law: so sessions have subjects of their own, and words are as rare and as frequent as in real texts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OBSERVATION_TYPES, type ObservationDraft } from '../../src/memory/observation.ts'
import { decodeVectorFile } from '../../src/search/embedders/vector-file.ts'
import { STOP_WORDS } from '../../src/store/sqlite/search/stop-words.ts'
import type { Random } from '../lib/random.ts'
import { ROOT } from '../lib/root.ts'

/** Facts of an observation: with its narrative four vectors. */
const FACTS = 3
const SENTENCES = 3
const FILES = 2
/** Share of a session's words that stand for others. */
const REPLACED = 0.5
/** Words from here on in the vocabulary are drawn: the first ones stand in every text anyway. */
const FIRST_RANK = 100
const MIN_REPLACED_CHARS = 4

type Some = readonly [string, ...string[]]
type Source = Pick<ObservationDraft, 'title' | 'narrative' | 'facts' | 'concepts' | 'filesRead' | 'filesModified'>

interface Parts {
  titles: Some
  sentences: Some
  facts: Some
  concepts: Some
  files: Some
}

export class Corpus {
  readonly #parts: Parts
  readonly #words: readonly string[]
  readonly #random: Random

  constructor(sources: readonly Source[], random: Random) {
    this.#parts = {
      titles: some(sources.flatMap(({ title }) => title ?? [])),
      sentences: some(sources.flatMap(({ narrative }) => sentencesOf(narrative ?? ''))),
      facts: some(sources.flatMap(({ facts }) => facts)),
      concepts: some(sources.flatMap(({ concepts }) => concepts)),
      files: some(sources.flatMap(({ filesRead, filesModified }) => [...filesRead, ...filesModified])),
    }
    this.#words = vocabulary()
    this.#random = random
  }

  /** Observations of one session. With `apart` false their facts are part of the narrative: the same words, one vector. */
  session(count: number, apart: boolean): ObservationDraft[] {
    const words = new Map<string, string>()
    return Array.from({ length: count }, () => this.#observation((text) => this.#told(text, words), apart))
  }

  #observation(told: (text: string) => string, apart: boolean): ObservationDraft {
    const { titles, sentences, facts, concepts, files } = this.#parts
    const narrative = this.#some(sentences, SENTENCES).map(told).join(' ')
    const said = this.#some(facts, FACTS).map(told)
    return {
      type: this.#random.pick(OBSERVATION_TYPES),
      title: told(this.#random.pick(titles)),
      subtitle: null,
      narrative: apart ? narrative : [narrative, ...said].join(' '),
      facts: apart ? said : [],
      concepts: this.#some(concepts, 1),
      filesRead: [],
      filesModified: this.#some(files, this.#random.between(0, FILES)).map(told),
      functionsChanged: [],
      agent: null,
      discoveryTokens: 0,
      discoveryEstimated: true,
      sources: [],
    }
  }

  #some(of: Some, count: number): string[] {
    return Array.from({ length: count }, () => this.#random.pick(of))
  }

  /** Names are words too: `getUserById` becomes `getHarbourById`. */
  #told(text: string, words: Map<string, string>): string {
    return text.replace(/\p{Lu}?\p{Ll}+/gu, (word) => {
      const lower = word.toLowerCase()
      if (lower.length < MIN_REPLACED_CHARS || STOP_WORDS.has(lower)) return word
      const known = words.get(lower)
      const other = known ?? (this.#random.chance(REPLACED) ? this.#drawn() : lower)
      if (known === undefined) words.set(lower, other)
      return word === lower ? other : `${other.charAt(0).toUpperCase()}${other.slice(1)}`
    })
  }

  /** Twice as far down the list is half as likely. */
  #drawn(): string {
    const rank = FIRST_RANK * (this.#words.length / FIRST_RANK) ** this.#random.next()
    return this.#words[Math.floor(rank)] ?? 'word'
  }
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.:;])\s+/u).filter((sentence) => sentence.trim() !== '')
}

/** The most frequent first; only what looks like a word. */
function vocabulary(): string[] {
  const { text, starts } = decodeVectorFile(readFileSync(join(ROOT, 'assets', 'word-vectors.bin')))
  const bytes = Buffer.from(text)
  const words: string[] = []
  for (let n = 0; n + 1 < starts.length; n++) words.push(bytes.toString('utf8', starts[n], starts[n + 1]))
  return words.filter((word) => /^[a-z]{3,}$/.test(word))
}

function some(texts: readonly string[]): Some {
  const [first, ...others] = texts
  if (first === undefined) throw new Error('nothing was observed in the recorded sessions')
  return [first, ...others]
}
