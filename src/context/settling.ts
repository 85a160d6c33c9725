/** Work that follows a change: the changes of a moment are one, and what is under way is never overtaken. */

export class Settling {
  readonly #ms: number
  readonly #work: (key: string) => Promise<void>
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  readonly #running = new Map<string, Promise<void>>()

  /** `work` handles its own failures. */
  constructor(ms: number, work: (key: string) => Promise<void>) {
    this.#ms = ms
    this.#work = work
  }

  changed(key: string): void {
    if (this.#waiting.has(key)) return
    this.#waiting.set(
      key,
      setTimeout(() => void this.#start(key), this.#ms),
    )
  }

  /** Everything that waits is done. */
  async flush(): Promise<void> {
    for (const key of [...this.#waiting.keys()]) void this.#start(key)
    await Promise.all(this.#running.values())
  }

  #start(key: string): Promise<void> {
    clearTimeout(this.#waiting.get(key))
    this.#waiting.delete(key)
    const before = this.#running.get(key) ?? Promise.resolve()
    const done = before
      .then(() => this.#work(key))
      .finally(() => {
        if (this.#running.get(key) === done) this.#running.delete(key)
      })
    this.#running.set(key, done)
    return done
  }
}
