/**
 * What a merge leaves to be done: rows move to the other key in pieces, then what is derived from them follows. The
 * decision is durable before; a process that dies in between leaves the rest to the next one.
 */
import { messageOf } from '../errors.ts'
import type { ProjectStore } from '../store/project-port.ts'

/** Rows that are filed anew in one transaction: hooks wait for it no longer than a tenth of a second. */
const PIECE_ROWS = 2_000

export interface Merge {
  from: string
  into: string
}

export interface RefilingOptions {
  store: Pick<ProjectStore, 'refileNext' | 'takeSeq'>
  /** What a session of this project starts with is not the same any more. */
  changed?: (project: string) => void
  /** Everything of one project is filed under another now. */
  moved?: (from: string, into: string) => Promise<void>
  /** Projects are not what they were: a number for those who follow. */
  numbered?: (seq: number) => void
  notice?: (level: 'info' | 'warn', text: string) => void
}

export class Refiling {
  readonly #options: RefilingOptions
  #last: Promise<unknown> = Promise.resolve()
  #stopped = false

  constructor(options: RefilingOptions) {
    this.#options = options
  }

  /** Resolves once everything is where these merges want it. */
  after(merges: readonly Merge[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#moveRows()
      await this.#tellAll(merges)
    })
  }

  /** Takes up what an earlier process left. */
  resume(merges: readonly Merge[]): void {
    if (merges.length === 0) return
    void this.#inTurn(async () => {
      if ((await this.#moveRows()) > 0) await this.#tellAll(merges)
    })
  }

  /** After the piece that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#last
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    // Whoever waits hears of it too, but not everybody waits.
    this.#last = done.catch((error: unknown) =>
      this.#options.notice?.('warn', `a merge is not finished, the next start goes on: ${messageOf(error)}`),
    )
    return done
  }

  async #moveRows(): Promise<number> {
    let rows = 0
    while (!this.#stopped) {
      const moved = await this.#options.store.refileNext(PIECE_ROWS)
      if (moved === 0) break
      rows += moved
    }
    return rows
  }

  async #tellAll(merges: readonly Merge[]): Promise<void> {
    for (const merge of merges) await this.#tell(merge)
    if (merges.length > 0 && !this.#stopped) this.#options.numbered?.(await this.#options.store.takeSeq())
  }

  async #tell({ from, into }: Merge): Promise<void> {
    this.#options.changed?.(into)
    try {
      await this.#options.moved?.(from, into)
    } catch (error) {
      const text = 'search has not heard of a merge and finds some of it by words alone until the next start'
      this.#options.notice?.('warn', `${text}: ${messageOf(error)}`)
    }
  }
}
