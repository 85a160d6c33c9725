/** Reads the daemon's log files: the last lines across rotated files, and new lines as they are written. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_FILE } from '../lib/log.ts'
import { formatClockTime } from './format.ts'
import type { Display, Paint, Style } from './style.ts'
import { terminalSafe } from './text.ts'

export type LogEntry = Record<string, unknown>

/** How often a followed file is checked for new lines. */
const POLL_MS = 200
const READ_BYTES = 65_536
/** pino's number for `error`. */
const ERROR_LEVEL = 50
/** Lines searched for the reason why a daemon exited. */
const ERROR_SEARCH_LINES = 50

/** A line that is not JSON (written by a crash, or cut short) becomes the message of an entry. */
export function parseLogLine(line: string): LogEntry {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON.
  }
  return { msg: line }
}

/** The newest `count` lines, oldest first. */
export function readLastLogLines(directory: string, count: number): string[] {
  let lines: string[] = []
  for (let n = 0; lines.length < count; n++) {
    const file = join(directory, n === 0 ? LOG_FILE : `${LOG_FILE}.${n}`)
    if (!existsSync(file)) {
      // During a rotation the newest file is briefly missing.
      if (n > 0) break
      continue
    }
    const text = readFileSync(file, 'utf8')
    lines = [...text.split('\n').filter((line) => line.trim() !== ''), ...lines]
  }
  return count === 0 ? [] : lines.slice(-count)
}

/** The last error that a process logged: why a daemon exited. */
export function lastLoggedError(directory: string, pid: number): string | null {
  const entries = readLastLogLines(directory, ERROR_SEARCH_LINES).map(parseLogLine)
  const last = entries.findLast((entry) => entry.pid === pid && Number(entry.level) >= ERROR_LEVEL)
  return typeof last?.msg === 'string' ? last.msg : null
}

/** Calls `onLine` for each line written from now on, across rotations, until aborted. */
export async function followLogLines(
  directory: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<void> {
  const path = join(directory, LOG_FILE)
  let file = openFollowed(path, 'end')
  while (!signal.aborted) {
    file ??= openFollowed(path, 'start')
    if (file !== null) {
      file.read(onLine)
      if (file.isReplaced(path)) {
        // Lines written between the read above and the rotation.
        file.read(onLine)
        file.close()
        file = null
        continue
      }
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
  file?.close()
}

function openFollowed(path: string, where: 'start' | 'end'): FollowedFile | null {
  return existsSync(path) ? new FollowedFile(path, where) : null
}

class FollowedFile {
  readonly #fd: number
  readonly #decoder = new StringDecoder('utf8')
  #position: number
  #partial = ''

  constructor(path: string, where: 'start' | 'end') {
    this.#fd = openSync(path, 'r')
    this.#position = where === 'end' ? fstatSync(this.#fd).size : 0
  }

  read(onLine: (line: string) => void): void {
    if (fstatSync(this.#fd).size < this.#position) this.#position = 0
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    for (;;) {
      const length = readSync(this.#fd, buffer, 0, READ_BYTES, this.#position)
      if (length === 0) return
      this.#position += length
      const lines = (this.#partial + this.#decoder.write(buffer.subarray(0, length))).split('\n')
      this.#partial = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') onLine(line)
    }
  }

  /** Rotated: the path now names another file. */
  isReplaced(path: string): boolean {
    const current = statSync(path, { throwIfNoEntry: false })
    return current !== undefined && current.ino !== fstatSync(this.#fd).ino
  }

  close(): void {
    closeSync(this.#fd)
  }
}

const LEVELS: Record<number, { name: string; paint: keyof Style }> = {
  10: { name: 'trace', paint: 'dim' },
  20: { name: 'debug', paint: 'dim' },
  30: { name: 'info', paint: 'green' },
  40: { name: 'warn', paint: 'yellow' },
  50: { name: 'error', paint: 'red' },
  60: { name: 'fatal', paint: 'red' },
}
/** Fields that are printed before the others, or not at all. */
const STANDARD_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'msg'])

/** `12:30:05 warn  message name=value` */
export function logLine(entry: LogEntry, display: Display): string {
  const { style } = display
  const level = LEVELS[Number(entry.level)]
  const paint: Paint = level === undefined ? style.dim : style[level.paint]
  const details = Object.entries(entry)
    .filter(([name]) => !STANDARD_FIELDS.has(name))
    .map(([name, value]) => ({ name, text: fieldText(value) }))
    // Many messages already end with the error's message.
    .filter(({ name, text }) => name !== 'error' || !String(entry.msg).includes(text))
    .map(({ name, text }) => style.dim(terminalSafe(`${name}=${text}`)))
  const at = Date.parse(String(entry.time))
  const time = Number.isNaN(at) ? [] : [style.dim(formatClockTime(at, display.now))]
  const text = typeof entry.msg === 'string' ? [terminalSafe(entry.msg)] : []
  return [...time, ...(level === undefined ? [] : [paint(level.name.padEnd(5))]), ...text, ...details].join(' ')
}

/** Only the message of an error; the stack is in the file. */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message)
  return JSON.stringify(value)
}
