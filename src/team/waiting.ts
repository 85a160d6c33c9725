/** Waiting in the loops of the sync service: until something happens, until a time has passed, or until it is stopped. */

/** Rejection of everything that waits when the service, or one connection of it, is stopped. */
export class SyncStopped extends Error {
  constructor() {
    super('the sync service was stopped')
    this.name = 'SyncStopped'
  }
}

/** Wakes one loop. A wake while nobody waits counts for the next wait. */
export class WakeSignal {
  #isWoken = false
  #resolve: (() => void) | null = null

  wake(): void {
    if (this.#resolve === null) this.#isWoken = true
    else this.#resolve()
  }

  /** Resolves after a wake or `ms`, whichever is first; rejects with `SyncStopped` when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new SyncStopped()
    if (this.#isWoken) {
      this.#isWoken = false
      return
    }
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, ms)
        // Nothing that waits here keeps the process alive.
        timer.unref()
        const stop = () => reject(new SyncStopped())
        signal.addEventListener('abort', stop, { once: true })
        this.#resolve = resolve
        this.#finish = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', stop)
        }
      })
    } finally {
      this.#resolve = null
      this.#finish()
    }
  }

  #finish: () => void = () => undefined
}

/** Tells everyone who waits that something has changed. */
export class Changes {
  readonly #waiters = new Set<() => void>()

  happened(): void {
    for (const resolve of [...this.#waiters]) resolve()
  }

  /** Resolves after the next change or `ms`. */
  async next(ms: number): Promise<void> {
    let resolve: () => void = () => undefined
    const changed = new Promise<void>((done) => {
      resolve = done
    })
    const timer = setTimeout(resolve, ms)
    this.#waiters.add(resolve)
    await changed
    this.#waiters.delete(resolve)
    clearTimeout(timer)
  }
}

/**
 * The promise, or a rejection when it takes too long or the signal is aborted. The work behind it is not cancelled: closing
 * the connection ends it.
 */
export async function withDeadline<T>(
  promise: Promise<T>,
  ms: number,
  signal: AbortSignal,
  late: () => Error,
): Promise<T> {
  let finish: () => void = () => undefined
  const ended = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), ms)
    timer.unref()
    const stop = () => reject(new SyncStopped())
    signal.addEventListener('abort', stop, { once: true })
    finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
    if (signal.aborted) stop()
  })
  try {
    return await Promise.race([promise, ended])
  } finally {
    // A rejection that comes after the deadline is not unhandled.
    promise.catch(() => undefined)
    finish()
  }
}

/** Between half and all of `ms`, so that many machines do not come back at the same moment. */
export function jittered(ms: number, random: () => number): number {
  return ms / 2 + (ms / 2) * random()
}
