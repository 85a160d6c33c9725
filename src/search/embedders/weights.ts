/** How much a word says about a text: the rarer, the more (smooth inverse frequency). */

/** Words more frequent than this count for less than half. */
const FREQUENT = 1e-3

/** Frequency by Zipf's law from the word's place in the order of frequency, which starts at 0. */
export function weightOf(rank: number): number {
  const frequency = 1 / ((rank + 2.7) * 12)
  return FREQUENT / (FREQUENT + frequency)
}
