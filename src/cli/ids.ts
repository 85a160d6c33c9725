/** Ids of observations as people type them: `12`, `#12`, `12,15`. */
import { UsageError } from './failure.ts'

const ID = /^#?(\d{1,15})$/

/** Each once, in the order in which they were typed. */
export function idsOf(words: readonly string[]): number[] {
  return [
    ...new Set(
      words
        .flatMap((word) => word.split(','))
        .filter(Boolean)
        .map(idOf),
    ),
  ]
}

export function idOf(word: string): number {
  const id = Number(ID.exec(word)?.[1] ?? 0)
  if (id === 0) throw new UsageError(`"${word}" is no id of an observation; claude-mem search shows them as #12`)
  return id
}

export function isId(word: string): boolean {
  return ID.test(word)
}
