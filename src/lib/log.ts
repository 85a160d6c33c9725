/**
 * Structured logs: one JSON object per line in rotated files. A line never quotes prompts, tool output or replies of a
 * model: forgetting does not search logs.
 */
import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino, stdSerializers } from 'pino'
import { errorMessage } from './errors.ts'
import { moveFileSync } from './files.ts'

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>) => void

const MAX_FILE_BYTES = 5 * 1024 * 1024
export const LOG_FILE = 'daemon.log'

/** Writes synchronously, so that the last lines before a crash are on disk. Starts a new file when it is full. */
class RotatingFile {
  readonly #path: string
  readonly #keep: number
  /** Null: the file could not be opened again after a rotation. */
  #fd: number | null
  #bytes: number

  constructor(directory: string, keep: number) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.#path = join(directory, LOG_FILE)
    this.#keep = keep
    this.#fd = this.#open()
    this.#bytes = fstatSync(this.#fd).size
  }

  /** Opening a pipe would wait for its reader. */
  #open(): number {
    const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants
    return openSync(this.#path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)
  }

  write(line: string): void {
    if (this.#bytes > MAX_FILE_BYTES) this.#rotate()
    try {
      this.#fd ??= this.#open()
      this.#bytes += writeSync(this.#fd, line)
    } catch {
      // A full disk must not stop the daemon: the line is lost. `claude-mem status` reports the disk.
    }
  }

  #rotate(): void {
    // Forgotten before anything can fail: the number is soon that of another file.
    const fd = this.#fd
    this.#fd = null
    this.#bytes = 0
    try {
      if (fd !== null) closeSync(fd)
      rmSync(`${this.#path}.${this.#keep - 1}`, { force: true })
      for (let n = this.#keep - 2; n >= 1; n--) {
        if (existsSync(`${this.#path}.${n}`)) moveFileSync(`${this.#path}.${n}`, `${this.#path}.${n + 1}`)
      }
      if (this.#keep > 1) moveFileSync(this.#path, `${this.#path}.1`)
      else rmSync(this.#path, { force: true })
    } catch {
      // The file cannot be put aside, as when another program has it open: it grows until the next attempt.
    }
  }
}

export function fileLogger(directory: string, level: string, keep: number): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: (error: unknown) => stdSerializers.err(withoutQuote(error)) },
    },
    new RotatingFile(directory, keep),
  )
}

/** A parser quotes what it could not parse, which may be stored text. */
function withoutQuote(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(typeof error)
  if (!(error instanceof SyntaxError)) return error
  const stack = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const plain = new Error(loggedMessage(error))
  plain.stack = [plain.message, ...stack].join('\n')
  return plain
}

/** The message of an error for a log line. */
export function loggedMessage(error: unknown): string {
  return error instanceof SyntaxError ? 'text that cannot be parsed' : errorMessage(error)
}

/** Writes to the log file and, with `claude-mem start --foreground`, to the terminal. */
export function logTo(logger: Logger, terminal: ((line: string) => void) | null): Log {
  return (level, text, details = {}) => {
    logger[level](details, text)
    if (terminal !== null && level !== 'debug')
      terminal(`${new Date().toLocaleTimeString()} ${level.padEnd(5)} ${text}${formatDetails(text, details)}`)
  }
}

function formatDetails(text: string, details: Record<string, unknown>): string {
  const parts = Object.entries(details)
    .filter(([, value]) => !(value instanceof Error && text.includes(value.message)))
    .map(([name, value]) => `${name}=${value instanceof Error ? value.message : String(value)}`)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
