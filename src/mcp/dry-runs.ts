/** What `forget` was shown to take away. Only that, exactly, can be confirmed: nothing goes unseen. */

/** More than anybody weighs at a time. */
const MAX_REMEMBERED = 20

export class DryRuns {
  readonly #offered = new Set<string>()

  offer(ids: readonly number[]): void {
    const key = keyOf(ids)
    this.#offered.delete(key)
    this.#offered.add(key)
    for (const oldest of this.#offered) {
      if (this.#offered.size <= MAX_REMEMBERED) break
      this.#offered.delete(oldest)
    }
  }

  has(ids: readonly number[]): boolean {
    return this.#offered.has(keyOf(ids))
  }

  done(ids: readonly number[]): void {
    this.#offered.delete(keyOf(ids))
  }
}

function keyOf(ids: readonly number[]): string {
  return [...new Set(ids)].sort((a, b) => a - b).join(',')
}
