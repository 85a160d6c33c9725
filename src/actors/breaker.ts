/** One per provider: after a failure that is the provider's, nobody calls it for a while. */
const FIRST_WAIT_MS = 1_000
/** A provider that is down for a day is asked every five minutes: often enough for a person who mends a key. */
const MAX_WAIT_MS = 300_000

export class Breaker {
  #failures = 0
  #openUntil = 0
  #since: number | null = null
  #reason = ''

  /** When the provider may be called again; in the past: now. */
  get openUntil(): number {
    return this.#openUntil
  }

  get waiting(): { since: number; reason: string } | null {
    return this.#since === null ? null : { since: this.#since, reason: this.#reason }
  }

  /** Exponential with full jitter on the upper half, unless the provider said when. */
  fail(at: number, random: number, reason: string, retryAfterMs: number | null): number {
    const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures)
    this.#failures += 1
    this.#since ??= at
    this.#reason = reason
    this.#openUntil = at + (retryAfterMs ?? backoff * (0.5 + random / 2))
    return this.#openUntil
  }

  succeed(): void {
    this.#failures = 0
    this.#openUntil = 0
    this.#since = null
  }
}
