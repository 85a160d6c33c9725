/** Parses argument values. A wrong value is a `UsageError` that names the nearest valid one. */

/** The command line is wrong; the process exits with `EXIT_USAGE`. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export function refuseIf(isWrong: boolean, message: string): void {
  if (isWrong) throw new UsageError(message)
}

/** One of a few words. */
export function oneOf<T extends string>(what: string, given: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === given)
  if (found !== undefined) return found
  throw new UsageError(`unknown ${what} "${given}"${didYouMean(given, choices, `it is one of ${choices.join(', ')}`)}`)
}

/** Values separated by commas, without blanks and empty ones. */
export function commaList(given: string | undefined): string[] {
  return (given ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
}

/** Copies of limits in `src/api/schemas.ts`, which would load zod at every start. The compiler compares the values. */
export const INPUT_LIMITS = {
  MAX_AROUND: 200,
  MAX_HITS: 500,
  MAX_IDS: 10_000,
  MAX_OFFSET: 1_000_000,
  MAX_QUERY_CHARS: 10_000,
  MAX_REMEMBERED_CHARS: 20_000,
  MAX_SHOWN: 200,
  MAX_TITLE_CHARS: 300,
  MAX_USAGE_DAYS: 3_650,
  MAX_VALUES: 50,
} as const satisfies Partial<typeof import('../api/schemas.ts')>

/** For yargs' `coerce`, which would otherwise pass on NaN for text. */
function wholeNumber(name: string, min: number, max: number): (value: unknown) => number {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    throw new UsageError(`${name} takes a whole number from ${min} to ${max}`)
  }
}

/** A yargs option that takes a whole number from `min` to `max`. */
export function numberOption(name: string, describe: string, min: number, max: number) {
  return { type: 'number', requiresArg: true, describe, coerce: wholeNumber(`--${name}`, min, max) } as const
}

/** `--limit N` (`-n`). */
export function limitOption(describe: string, defaultLimit: number, max: number) {
  return { ...numberOption('limit', describe, 1, max), alias: 'n', default: defaultLimit } as const
}

/** `12` or `#12`. */
const OBSERVATION_ID = /^#?(\d{1,15})$/

/** Ids separated by blanks or commas, without duplicates, in the order typed. */
export function parseObservationIds(words: readonly string[]): number[] {
  return [...new Set(words.flatMap(commaList).map(parseObservationId))]
}

export function parseObservationId(word: string): number {
  const id = Number(OBSERVATION_ID.exec(word)?.[1] ?? 0)
  if (id === 0) throw new UsageError(`"${word}" is not the id of an observation; claude-mem search shows ids as #12`)
  return id
}

export function isObservationId(word: string): boolean {
  return OBSERVATION_ID.test(word)
}

/** `p12`: the id of a passage. */
const PASSAGE_ID = /^p(\d{1,15})$/i

/** Ids of observations and of passages, `12 p15`, each without duplicates. */
export function parseShownIds(words: readonly string[]): { observations: number[]; passages: number[] } {
  const all = words.flatMap(commaList)
  const passages = all.flatMap((word) => Number(PASSAGE_ID.exec(word)?.[1] ?? 0) || [])
  const rest = all.filter((word) => !PASSAGE_ID.test(word))
  return { observations: parseObservationIds(rest), passages: [...new Set(passages)] }
}

/** `; did you mean status?`, or `otherwise` if no known name is near. */
export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const name = nearestName(word, known)
  return name === null ? `; ${otherwise}` : `; did you mean ${name}?`
}

/** Part of a name's letters that may be wrong: `stta` is near `start`, `foo` is near nothing. */
const MAX_EDIT_RATIO = 0.35

/** The nearest of `known`, or null: a wrong suggestion is worse than none. */
export function nearestName(word: string, known: readonly string[]): string | null {
  const typed = word.toLowerCase()
  let best: { name: string; edits: number } | null = null
  for (const name of known) {
    const edits = editDistance(typed, name.toLowerCase())
    if (best === null || edits < best.edits) best = { name, edits }
  }
  if (best !== null && best.edits <= Math.ceil(best.name.length * MAX_EDIT_RATIO)) return best.name
  return typed.length >= 2 ? (known.find((name) => name.toLowerCase().startsWith(typed)) ?? null) : null
}

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
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
