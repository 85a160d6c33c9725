/** The search thread, opened when somebody first needs it and again after it died. */
import { MemError, messageOf } from '../errors.ts'
import { openSearchThread, type SearchCalls, type SearchThreadOptions } from './client.ts'

/** After this time without a question the thread ends; the next one starts it again, within a tenth of a second. */
const IDLE_MS = 300_000

export interface GateOptions {
  options: () => SearchThreadOptions & { workerFile?: string }
  notice(text: string): void
  log(text: string): void
}

export class SearchGate {
  readonly #host: GateOptions
  #opening: Promise<SearchCalls> | null = null
  #closed = false
  #idle: NodeJS.Timeout | null = null

  constructor(host: GateOptions) {
    this.#host = host
  }

  /** Throws where it cannot be opened; the next call tries again. */
  async open(): Promise<SearchCalls> {
    if (this.#closed) throw new MemError('draining', 'the daemon is stopping', { retryable: true })
    this.#opening ??= openSearchThread(this.#host.options(), {
      notice: this.#host.notice,
      log: this.#host.log,
      exited: (error) => {
        this.#opening = null
        this.#host.notice(`the search died and is started again when it is needed: ${error.message}`)
      },
    }).catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    this.#rest()
    return await this.#opening
  }

  /** Word vectors take memory that a daemon which nobody asks does not need. */
  #rest(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      const opened = this.#opening
      this.#opening = null
      // A question that is under way is answered before the thread ends.
      void opened?.then((search) => search.close()).catch((error: unknown) => this.#host.log(messageOf(error)))
    }, IDLE_MS).unref()
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#idle !== null) clearTimeout(this.#idle)
    try {
      await (await this.#opening)?.close()
    } catch (error) {
      this.#host.log(`the search did not close: ${messageOf(error)}`)
    }
  }
}
