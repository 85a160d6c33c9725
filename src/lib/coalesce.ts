/**
 * Coalesces changes per key: work starts `delayMs` after the first change and covers all changes until then. Later changes
 * do not restart the timer, so work is never put off for ever.
 */
export interface CoalescedWork {
  /** Schedules the work for a key. A change while the work runs schedules it again. */
  changed(key: string): void
  /** Starts everything that is scheduled now and waits until all work has finished. */
  flush(): Promise<void>
}

/** The work for one key never runs twice at the same time. `work` handles its own failures. */
export function coalescePerKey(delayMs: number, work: (key: string) => Promise<void>): CoalescedWork {
  const timers = new Map<string, NodeJS.Timeout>()
  const running = new Map<string, Promise<void>>()

  function start(key: string): void {
    clearTimeout(timers.get(key))
    timers.delete(key)
    const done = (running.get(key) ?? Promise.resolve())
      .then(() => work(key))
      .finally(() => {
        if (running.get(key) === done) running.delete(key)
      })
    running.set(key, done)
  }

  return {
    changed(key) {
      if (!timers.has(key)) timers.set(key, setTimeout(start, delayMs, key))
    },
    async flush() {
      for (const key of [...timers.keys()]) start(key)
      await Promise.all(running.values())
    },
  }
}
