/**
 * Notices that the database was damaged, or that the disk keeps failing, while the daemon runs. The daemon then starts again,
 * which checks the file and recovers it: otherwise everything would be refused until a person restarts it.
 */

import { MemError, systemCode } from '../lib/errors.ts'
import { isIndexDamage } from '../store/sqlite/database.ts'
import { HOUR_MS } from './housekeeping.ts'

/** Failed accesses in a row: a disk that fails once may work the next time. */
const MAX_DISK_FAILURES = 5
/** Restarts within an hour. More would not help: the disk is failing. */
const MAX_RESTARTS = 3

export class StoreHealth {
  readonly #onDamage: (reason: string) => void
  #diskFailures = 0
  #told = false

  constructor(onDamage: (reason: string) => void) {
    this.#onDamage = onDamage
  }

  /** The same operations; their errors are noticed. */
  watch<T extends object>(operations: T): T {
    const watched = Object.entries(operations).map(([name, method]) => [
      name,
      typeof method === 'function' ? (...args: unknown[]) => this.#observe(method(...args)) : method,
    ])
    return Object.fromEntries(watched) as T
  }

  async #observe(result: Promise<unknown>): Promise<unknown> {
    try {
      const value = await result
      this.#diskFailures = 0
      return value
    } catch (error) {
      this.#failed(error)
      throw error
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof MemError) || isIndexDamage(error)) return
    if (systemCode(error.cause)?.startsWith('SQLITE_IOERR') === true) this.#diskFailures += 1
    const isDamaged = error.code === 'corrupt_database' || this.#diskFailures >= MAX_DISK_FAILURES
    if (!isDamaged || this.#told) return
    this.#told = true
    this.#onDamage(error.message)
  }
}

/** Limits how often the daemon starts again because of its database. */
export class RestartLimit {
  #restarts: number[] = []

  /** Whether it may start again now; counts it. */
  allows(now: number): boolean {
    this.#restarts = this.#restarts.filter((at) => now - at < HOUR_MS && at <= now)
    if (this.#restarts.length >= MAX_RESTARTS) return false
    this.#restarts.push(now)
    return true
  }
}
