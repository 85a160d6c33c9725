/** What somebody who mistyped a name probably meant. */

/** Part of a name that may be wrong: `stta` is near `start`, `foo` is near nothing. */
const FORGIVEN = 0.35

/** Edits (insert, delete, replace, swap neighbours) from one word to the other. */
export function distance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1)
      }
      row.push(edits)
    }
    beforeLast = last
    last = row
  }
  return last[b.length] ?? 0
}

/** The nearest of `known`, or null when none is near: a wrong suggestion is worse than none. */
export function nearest(word: string, known: readonly string[]): string | null {
  const typed = word.toLowerCase()
  let best: { name: string; edits: number } | null = null
  for (const name of known) {
    const edits = distance(typed, name.toLowerCase())
    if (best === null || edits < best.edits) best = { name, edits }
  }
  if (best !== null && best.edits <= Math.ceil(best.name.length * FORGIVEN)) return best.name
  return typed.length >= 2 ? (known.find((name) => name.toLowerCase().startsWith(typed)) ?? null) : null
}

/** `; did you mean "status"?`, or what can be done instead. */
export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const name = nearest(word, known)
  return name === null ? `; ${otherwise}` : `; did you mean ${name}?`
}
