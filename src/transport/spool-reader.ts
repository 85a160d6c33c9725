/** The daemon's side of the spool: events that hooks wrote to files because no daemon acknowledged them in time. */

import { eventSchema, parseInput } from '../api/schemas.ts'
import type { Spool } from '../daemon/actors/supervisor.ts'
import type { MemoryEvent } from '../domain/event.ts'
import { listSpool, readSpool, removeSpooled, setAside } from '../hook/spool.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { faultPoint } from '../lib/faults.ts'
import type { Log } from '../lib/log.ts'

/** Files read in one batch: bounds memory, and lets events of a session share a commit. */
const FILES_AT_ONCE = 512

export class SpoolReader implements Spool {
  readonly #directory: string
  readonly #log: Log
  readonly #notice: (text: string) => void

  constructor(directory: string, log: Log, notice: (text: string) => void) {
    this.#directory = directory
    this.#log = log
    this.#notice = notice
  }

  get size(): number {
    return listSpool(this.#directory).length
  }

  async deliver(accept: (event: MemoryEvent) => Promise<unknown>): Promise<number> {
    const files = listSpool(this.#directory)
    for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
      // In the order of their names, so each session's mailbox gets its events in the order of their hooks.
      await Promise.all(files.slice(start, start + FILES_AT_ONCE).map((file) => this.#accept(file, accept)))
    }
    return files.length
  }

  async #accept(file: string, accept: (event: MemoryEvent) => Promise<unknown>): Promise<void> {
    const event = this.#read(file)
    if (event === null) return
    try {
      await accept(event)
      faultPoint('spool.committed')
      removeSpooled(file)
    } catch (error) {
      // The file stays for the next tick.
      this.#log('warn', 'a spooled event could not be stored; it is retried on the next tick', { file, error })
    }
  }

  #read(file: string): MemoryEvent | null {
    const spooled = readSpool(file)
    if (spooled === null) return null
    try {
      if (!('bad' in spooled)) return parseInput(eventSchema, spooled)
      if (spooled.newer) return null
      throw new MemError('bad_request', spooled.bad)
    } catch (error) {
      setAside(file)
      this.#notice(`a spooled event cannot be read and was set aside in ${this.#directory}/bad: ${errorMessage(error)}`)
      return null
    }
  }
}
