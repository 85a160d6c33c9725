/** What scripts say: progress for people on stderr; the result on stdout, with --json as one line at the end. */
export type Figures = Record<string, unknown>

export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** One line that is written over and over on a terminal, and now and then elsewhere. */
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
