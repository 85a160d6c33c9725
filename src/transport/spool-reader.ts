/** The daemon's side of the spool: events that hooks wrote to files because no daemon acknowledged them in time. */

import { performance } from 'node:perf_hooks'
import { eventSchema, parseInput } from '../api/schemas.ts'
import type { Spool } from '../daemon/actors/supervisor.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { listSpool, readSpool, removeSpooled, setAside } from '../hook/spool.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { faultPoint } from '../lib/faults.ts'
import type { Log } from '../lib/log.ts'

/** Files read in one batch: bounds memory, and lets events of a session share a commit. */
const FILES_AT_ONCE = 512
/** Attempts to store an event that the store refuses. After the last one the file is set aside. */
const MAX_ATTEMPTS = 5
/** Pause after the first failed attempt, in ms; doubled after each further one. */
const FIRST_PAUSE_MS = 1_000
/** Longest pause, in ms: how late an event is stored after the disk has space again. */
const MAX_PAUSE_MS = 30_000

/** A file whose event could not be stored. */
interface Retry {
  attempts: number
  /** On the monotonic clock, in ms. */
  notBefore: number
}

export class SpoolReader implements Spool {
  readonly #directory: string
  readonly #log: Log
  readonly #notice: (text: string) => void
  readonly #complete: (event: MemoryEvent) => Promise<MemoryEvent>
  readonly #now: () => number
  #retries = new Map<string, Retry>()
  /** Unusable files that could not be moved either. They are ignored until the next start. */
  #ignored = new Set<string>()

  constructor(
    directory: string,
    log: Log,
    notice: (text: string) => void,
    /** Adds to an event what its hook did not know. */
    complete: (event: MemoryEvent) => Promise<MemoryEvent> = async (event) => event,
    now: () => number = performance.now.bind(performance),
  ) {
    this.#directory = directory
    this.#log = log
    this.#notice = notice
    this.#complete = complete
    this.#now = now
  }

  get size(): number {
    return listSpool(this.#directory).filter((file) => !this.#ignored.has(file)).length
  }

  /** Each file on its own: one that cannot be read or stored does not affect the others. At most `most` files, the oldest. */
  async deliver(
    accept: (event: MemoryEvent) => Promise<unknown>,
    most: number = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    const listed = listSpool(this.#directory)
    this.#forgetMissing(new Set(listed))
    const now = this.#now()
    const files = listed
      .filter((file) => !this.#ignored.has(file) && (this.#retries.get(file)?.notBefore ?? now) <= now)
      .slice(0, most)
    for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
      const read: { file: string; event: MemoryEvent }[] = []
      for (const file of files.slice(start, start + FILES_AT_ONCE)) {
        const event = this.#read(file)
        if (event !== null) read.push({ file, event: await this.#complete(event) })
      }
      // In the order of their names, so each session's mailbox gets its events in the order of their hooks.
      await Promise.all(read.map(({ file, event }) => this.#accept(file, event, accept)))
    }
    return files.length
  }

  async #accept(file: string, event: MemoryEvent, accept: (event: MemoryEvent) => Promise<unknown>): Promise<void> {
    try {
      await accept(event)
    } catch (error) {
      return this.#failed(file, error)
    }
    faultPoint('spool.committed')
    this.#remove(file)
  }

  #read(file: string): MemoryEvent | null {
    const spooled = readSpool(file)
    if (spooled === null) return null
    if (!('bad' in spooled)) {
      try {
        return parseInput(eventSchema, spooled)
      } catch (error) {
        this.#setAside(file, 'a spooled event cannot be read', errorMessage(error))
        return null
      }
    }
    if (spooled.because === 'busy') this.#retryLater(file, spooled.bad)
    if (spooled.because === 'content') this.#setAside(file, 'a spooled event cannot be read', spooled.bad)
    return null
  }

  #remove(file: string): void {
    this.#retries.delete(file)
    try {
      removeSpooled(file)
    } catch (error) {
      const text = `a spooled event was stored, but its file ${file} cannot be removed; it is ignored until the next start`
      this.#ignore(file, `${text}: ${errorMessage(error)}`)
    }
  }

  /** The cause is the store or the daemon, or else the event itself, which would fail for ever. */
  #failed(file: string, error: unknown): void {
    const reason = errorMessage(error)
    const attempts = (this.#retries.get(file)?.attempts ?? 0) + 1
    const isRetryable = error instanceof MemError && error.retryable
    const isInvalid = error instanceof MemError && error.code === 'bad_request'
    if (isInvalid || (!isRetryable && attempts >= MAX_ATTEMPTS)) {
      this.#setAside(file, 'a spooled event cannot be stored', reason)
    } else this.#retryLater(file, reason)
  }

  #retryLater(file: string, reason: string): void {
    const attempts = (this.#retries.get(file)?.attempts ?? 0) + 1
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
    this.#retries.set(file, { attempts, notBefore: this.#now() + pauseMs })
    const text = 'a spooled event could not be stored; it is retried after a pause'
    this.#log('warn', text, { file, attempts, pauseMs, reason })
  }

  #setAside(file: string, what: string, reason: string): void {
    this.#retries.delete(file)
    try {
      if (setAside(file) === null) return
      this.#notice(`${what} and was set aside in ${this.#directory}/bad: ${reason}`)
    } catch (error) {
      const failure = `${file} could not be set aside either (${errorMessage(error)}) and is ignored until the next start`
      this.#ignore(file, `${what} (${reason}); ${failure}`)
    }
  }

  #ignore(file: string, text: string): void {
    this.#ignored.add(file)
    this.#notice(text)
  }

  #forgetMissing(listed: ReadonlySet<string>): void {
    for (const file of this.#retries.keys()) if (!listed.has(file)) this.#retries.delete(file)
    for (const file of this.#ignored) if (!listed.has(file)) this.#ignored.delete(file)
  }
}
