/**
 * The number of messages of all sessions that wait for the observer, counted in memory: every answer to an event carries it,
 * and a query per event would cost more than the event.
 */
export interface QueuePeak {
  at: number
  waiting: number
}

export class QueueGauge {
  /** Without sessions that have no message. */
  readonly #bySession = new Map<string, number>()
  #waiting = 0
  #peak: QueuePeak = { at: 0, waiting: 0 }

  get waiting(): number {
    return this.#waiting
  }

  set(session: string, pending: number, at: number): void {
    this.#waiting += pending - (this.#bySession.get(session) ?? 0)
    if (pending === 0) this.#bySession.delete(session)
    else this.#bySession.set(session, pending)
    if (this.#waiting > this.#peak.waiting) this.#peak = { at, waiting: this.#waiting }
  }

  /** The highest number since the last call. */
  takePeak(at: number): QueuePeak {
    const peak = this.#peak
    this.#peak = { at, waiting: this.#waiting }
    return peak
  }
}
