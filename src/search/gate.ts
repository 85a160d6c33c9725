/** The search thread, opened when somebody first needs it and again after it died. */
import { MemError, messageOf } from '../errors.ts'
import { openSearchThread, type SearchCalls, type SearchThreadOptions } from './client.ts'

export interface GateOptions {
  options: () => SearchThreadOptions & { workerFile?: string }
  notice(text: string): void
  log(text: string): void
}

export class SearchGate {
  readonly #host: GateOptions
  #opening: Promise<SearchCalls> | null = null
  #closed = false

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
    return await this.#opening
  }

  async close(): Promise<void> {
    this.#closed = true
    try {
      await (await this.#opening)?.close()
    } catch (error) {
      this.#host.log(`the search did not close: ${messageOf(error)}`)
    }
  }
}
