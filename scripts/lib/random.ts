/** Seeded random numbers (mulberry32): the same seed gives the same sequence. */
/** Repeatable dice: the same seed gives the same sequence (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 (included) to 1 (excluded). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.between(0, items.length - 1)] ?? items[0]
  }

  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, order: this.next() }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item)
  }
}

export function freshSeed(): number {
  return Math.floor(Math.random() * 2 ** 31)
}
