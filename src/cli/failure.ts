/** How a command fails: one line that says what happened and what to do, and an exit code for programs. */
import { messageOf } from '../errors.ts'
import { didYouMean } from './suggest.ts'
import { clean } from './text.ts'

export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

/** The command line itself is wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

export function exitCodeOf(error: unknown): number {
  return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED
}

export function failureText(error: unknown, env: NodeJS.ProcessEnv): string {
  const line = `claude-mem: ${clean(isNowhere(error) ? NOWHERE : messageOf(error))}`
  const wantsStack = env.CLAUDE_MEM_LOG_LEVEL === 'debug' || env.CLAUDE_MEM_LOG_LEVEL === 'trace'
  if (!wantsStack || !(error instanceof Error) || error instanceof UsageError) return line
  return [line, ...stackOf(error)].join('\n')
}

const NOWHERE = 'the directory that you are in was deleted; go to another one, then try again'

/** How node says that there is no working directory. */
function isNowhere(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

function stackOf(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => `  ${clean(line)}`)
  return error.cause instanceof Error ? [...lines, '  caused by', ...stackOf(error.cause)] : lines
}

/** One of a few words, or a usage error that names the nearest. */
export function oneOf<T extends string>(what: string, given: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === given)
  if (found !== undefined) return found
  throw new UsageError(`unknown ${what} "${given}"${didYouMean(given, choices, `it is one of ${choices.join(', ')}`)}`)
}

/** For yargs' `coerce`: a number option that is not a number must not become NaN. */
export function wholeNumber(name: string, min: number, max: number): (value: unknown) => number {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
    throw new UsageError(`${name} takes a whole number from ${min} to ${max}`)
  }
}
