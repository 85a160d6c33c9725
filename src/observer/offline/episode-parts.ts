/** What titles and stories of an episode both look at. */
import type { Episode } from './episodes.ts'
import { isTestFile, unique } from './text.ts'
import type { CodeChange, CommandResult } from './types.ts'

/** The work before its tests, the most changed first. */
export function ranked(changes: readonly CodeChange[]): CodeChange[] {
  return [...changes].sort((a, b) => Number(isTestFile(a.file)) - Number(isTestFile(b.file)) || weight(b) - weight(a))
}

export function weight(change: CodeChange): number {
  return change.linesAdded + change.linesRemoved + change.symbols.length * 3
}

/** What went wrong, most telling first. That make gave up says nothing; what it gave up on does. */
export function errorsOf({ failures, carried }: Episode): string[] {
  const empty = /^make(?:\[\d+\])?:|\b0 (?:failures|errors|failed)\b|^(?:npm (?:ERR!|error)|exit code|error:? command)/i
  const errors = unique([...failures.flatMap((failure) => failure.result.errors), ...(carried?.errors ?? [])])
  return errors.sort((one, other) => Number(empty.test(one)) - Number(empty.test(other)))
}

export function shortCommand(result: CommandResult | undefined): string {
  return (result?.command ?? 'command').split(' ').slice(0, 3).join(' ')
}
