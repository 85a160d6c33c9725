/** Time, once for the whole service. A tick that takes long delays the next one; two never run at once. */
export class Ticker {
  readonly #everyMs: number
  readonly #tick: () => Promise<void>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null

  constructor(everyMs: number, tick: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#tick = tick
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.run(), this.#everyMs)
  }

  /** A tick now, or the one that is under way. */
  run(): Promise<void> {
    this.#running ??= this.#tick().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#running
  }
}
