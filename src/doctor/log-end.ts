/** What a daemon said last. */
import { join } from 'node:path'
import { endOf } from '../file-end.ts'
import { LOG_FILE } from '../log.ts'

/** Room for the last line with a stack in it. */
const END_BYTES = 65_536
/** pino's number for `error`. */
const LEVEL_ERROR = 50

/** The error with which it ended; null where it ended otherwise, or nothing is known. */
export function lastFailure(directory: string): string | null {
  const line = endOf(join(directory, LOG_FILE), END_BYTES).trimEnd().split('\n').at(-1) ?? ''
  try {
    const { level, msg }: { level?: unknown; msg?: unknown } = JSON.parse(line)
    return Number(level) >= LEVEL_ERROR && typeof msg === 'string' ? msg : null
  } catch {
    // No log, or a last line that was cut short.
    return null
  }
}
