/** The daemon's log files: the last lines across rotated files, and what is written from now on. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_FILE } from '../log.ts'

export type LogEntry = Record<string, unknown>

const POLL_MS = 200
const READ_BYTES = 65_536
/** pino's number for `error`. */
const LEVEL_ERROR = 50

/** A line that is not JSON (a crash wrote it, or it was cut short) is still a line. */
export function parseLogLine(line: string): LogEntry {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Shown as it is.
  }
  return { msg: line }
}

/** The newest `count` lines, oldest first. */
export function lastLines(directory: string, count: number): string[] {
  let lines: string[] = []
  for (let n = 0; lines.length < count; n++) {
    const file = join(directory, n === 0 ? LOG_FILE : `${LOG_FILE}.${n}`)
    if (!existsSync(file)) {
      // In the middle of a rotation the newest file is missing for a moment.
      if (n > 0) break
      continue
    }
    lines = [...linesOf(readFileSync(file, 'utf8')), ...lines]
  }
  return count === 0 ? [] : lines.slice(-count)
}

/** What a process said last before it gave up. */
export function lastErrorOf(directory: string, pid: number): string | null {
  const entries = lastLines(directory, 50).map(parseLogLine)
  const said = entries.findLast((entry) => entry.pid === pid && Number(entry.level) >= LEVEL_ERROR)
  return typeof said?.msg === 'string' ? said.msg : null
}

/** Each line that is written from now on, across rotations, until aborted. */
export async function followLines(directory: string, signal: AbortSignal, take: (line: string) => void): Promise<void> {
  const path = join(directory, LOG_FILE)
  let open = openAt(path, 'end')
  while (!signal.aborted) {
    open ??= openAt(path, 'start')
    if (open !== null) {
      open.read(take)
      if (open.isReplaced(path)) {
        // What was written between our last read and the rotation.
        open.read(take)
        open.close()
        open = null
        continue
      }
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
  open?.close()
}

function openAt(path: string, where: 'start' | 'end'): FollowedFile | null {
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

  read(take: (line: string) => void): void {
    if (fstatSync(this.#fd).size < this.#position) this.#position = 0
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    for (;;) {
      const length = readSync(this.#fd, buffer, 0, READ_BYTES, this.#position)
      if (length === 0) return
      this.#position += length
      const lines = (this.#partial + this.#decoder.write(buffer.subarray(0, length))).split('\n')
      this.#partial = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') take(line)
    }
  }

  isReplaced(path: string): boolean {
    const now = statSync(path, { throwIfNoEntry: false })
    return now !== undefined && now.ino !== fstatSync(this.#fd).ino
  }

  close(): void {
    closeSync(this.#fd)
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
