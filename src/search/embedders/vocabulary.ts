/** From a word to its number, the most frequent first, without making a string of each word there is. */

export class Vocabulary {
  readonly #text: Uint8Array
  readonly #starts: Uint32Array
  /** Open addressing; 0 is free, else the word's number plus one. */
  readonly #slots: Uint32Array
  readonly #encoder = new TextEncoder()
  readonly #word: Uint8Array

  constructor(text: Uint8Array, starts: Uint32Array) {
    this.#text = text
    this.#starts = starts
    this.#slots = slotsOf(text, starts)
    this.#word = new Uint8Array(longestOf(starts))
  }

  /** -1: not there. */
  rankOf(word: string): number {
    // UTF-8 takes a byte for each UTF-16 unit at least.
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

/** No word stands there twice, so none needs to be compared; at most half full, so that there is always a free one. */
function slotsOf(text: Uint8Array, starts: Uint32Array): Uint32Array {
  const count = starts.length - 1
  const slots = new Uint32Array(powerOfTwoAbove(2 * count))
  const mask = slots.length - 1
  for (let n = 0; n < count; n++) {
    let slot = hash(text, starts[n] ?? 0, starts[n + 1] ?? 0) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = n + 1
  }
  return slots
}

function longestOf(starts: Uint32Array): number {
  let longest = 0
  for (let n = 1; n < starts.length; n++) longest = Math.max(longest, (starts[n] ?? 0) - (starts[n - 1] ?? 0))
  return longest
}

/** 32-bit FNV-1a, its high bits folded into the low ones that are used. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let mixed = 0x811c9dc5
  for (let i = start; i < end; i++) mixed = Math.imul(mixed ^ (bytes[i] ?? 0), 0x01000193)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

function powerOfTwoAbove(least: number): number {
  let size = 2
  while (size < least) size *= 2
  return size
}
