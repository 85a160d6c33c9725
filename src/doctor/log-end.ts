/** What a daemon said last. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { LOG_FILE } from '../log.ts'

/** Room for the last line with a stack in it. */
const END_BYTES = 65_536
/** pino's number for `error`. */
const LEVEL_ERROR = 50

/** The error with which it ended; null where it ended otherwise, or nothing is known. */
export function lastFailure(directory: string): string | null {
  const line = endOf(join(directory, LOG_FILE)).trimEnd().split('\n').at(-1) ?? ''
  try {
    const { level, msg }: { level?: unknown; msg?: unknown } = JSON.parse(line)
    return Number(level) >= LEVEL_ERROR && typeof msg === 'string' ? msg : null
  } catch {
    // No log, or a last line that was cut short.
    return null
  }
}

function endOf(file: string): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(descriptor)
    const buffer = Buffer.alloc(Math.min(size, END_BYTES))
    const length = readSync(descriptor, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
