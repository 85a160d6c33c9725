/** Statistics of samples, progress on stderr, and the result on stdout (with --json as one line at the end). */
import { readFileSync } from 'node:fs'

/** Figures out of samples. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const low = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  const high = sorted[sorted.length >> 1] ?? Number.NaN
  return (low + high) / 2
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits))
}

/** Of the figures of several sessions or projects; `spread` is their standard deviation, null if there is only one. */
export function meanAndSpread(values: readonly number[]): { mean: number; spread: number | null } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const spread = values.length < 2 ? null : rounded(Math.sqrt(squares / (values.length - 1)), 3)
  return { mean: rounded(mean, 3), spread }
}

/** What scripts say: progress for people on stderr; the result on stdout, with --json as one line at the end. */
export type Figures = Record<string, unknown>

export function printNote(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** One line that is overwritten on a terminal; elsewhere a line every ten seconds. */
export class Progress {
  readonly #everyMs = process.stderr.isTTY === true ? 100 : 10_000
  #last = 0

  show(text: string): void {
    const now = Date.now()
    if (now - this.#last < this.#everyMs) return
    this.#last = now
    process.stderr.write(process.stderr.isTTY === true ? `\r\x1b[K${text}` : `${text}\n`)
  }

  clear(): void {
    if (process.stderr.isTTY === true) process.stderr.write('\r\x1b[K')
  }
}

export function report(figures: Figures, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(figures)}\n`)
    return
  }
  const width = Math.max(...Object.keys(figures).map((name) => name.length))
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(
      `${name.padEnd(width)}  ${typeof value === 'object' ? JSON.stringify(value) : String(value)}\n`,
    )
  }
}

/** Resident memory of a process, or its peak (`VmHWM`), in MB. Linux only, else null. */
export function memoryMb({ pid }: { pid: number }, field: 'VmRSS' | 'VmHWM'): number | null {
  if (process.platform !== 'linux') return null
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return line?.[1] === undefined ? null : rounded(Number(line[1]) / 1024, 1)
}
