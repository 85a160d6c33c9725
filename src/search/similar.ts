/** Near-duplicates among the hits: the best of them stands for the others, which stay where they are and are counted. */
import type { FoundMemory } from '../store/search-port.ts'
import { STOP_WORDS } from '../store/sqlite/search/stop-words.ts'

export interface Collapsed<T> {
  kept: T
  /** Ids of those it stands for. */
  similar: number[]
}

interface Compared<T> extends Collapsed<T> {
  words: Words
}

/** In their order. Only observations of one project and one type are ever the same; `isSame`: what meaning says of two. */
export function collapsed<T extends { memory: FoundMemory }>(
  hits: readonly T[],
  isSame: (a: FoundMemory, b: FoundMemory) => boolean,
): Collapsed<T>[] {
  const all: Compared<T>[] = []
  for (const hit of hits) {
    const { memory } = hit
    const words = wordsOf(memory)
    const original = all.find(({ kept: { memory: other }, words: others }) => {
      if (memory.kind !== 'observation' || other.kind !== 'observation' || memory.project !== other.project)
        return false
      if (memory.repeats.includes(other.id) || other.repeats.includes(memory.id)) return true
      return memory.type === other.type && sameWords(words, others) && isSame(memory, other)
    })
    if (original === undefined) all.push({ kept: hit, similar: [], words })
    else original.similar.push(memory.id)
  }
  return all.map(({ kept, similar }) => ({ kept, similar }))
}

/** As far as words can tell. */
export function saysTheSame(a: FoundMemory, b: FoundMemory): boolean {
  return a.type === b.type && sameWords(wordsOf(a), wordsOf(b))
}

/** Those that say something, and apart from them the numbers: another port or another code is another memory. */
interface Words {
  all: ReadonlySet<string>
  numbers: string
}

/** Words alone are no proof, and neither are vectors: both together are. One word of six may be another. */
const MIN_SHARED_WORDS = 0.85

function sameWords(a: Words, b: Words): boolean {
  const [fewer, more] = a.all.size < b.all.size ? [a.all, b.all] : [b.all, a.all]
  if (a.numbers !== b.numbers || more.size === 0) return false
  let missing = more.size - fewer.size
  const most = more.size * (1 - MIN_SHARED_WORDS)
  for (const word of fewer) {
    if (missing > most) return false
    if (!more.has(word)) missing += 1
  }
  return missing <= most
}

function wordsOf({ title, text, facts }: FoundMemory): Words {
  const words = `${title} ${text} ${facts.join(' ')}`.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const all = new Set(words.filter((word) => !STOP_WORDS.has(word)))
  const numbers = [...all].filter((word) => /\p{N}/u.test(word)).sort()
  return { all, numbers: numbers.join(' ') }
}
