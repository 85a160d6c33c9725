/** One at a time, in the order of their coming. Who is aborted while waiting never enters. */
export class Turnstile {
  #last: Promise<void> = Promise.resolve()

  async pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    // Not before those ahead are through: one that gives up waiting lets nobody past them.
    this.#last = before.then(() => left)
    try {
      await orAborted(before, signal)
      return await work()
    } finally {
      leave()
    }
  }
}

async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
