/** Runs one piece of work after the other; a failed one does not stop the next. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  async idle(): Promise<void> {
    await this.#last
  }
}
