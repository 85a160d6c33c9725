/** The daemon's side of the spool: events that hooks left behind because nobody answered them. */
import type { Log, Spool } from '../actors/supervisor.ts'
import { MemError, messageOf } from '../errors.ts'
import { fault } from '../faults.ts'
import type { MemoryEvent } from '../memory/event.ts'
import { parseEvent } from './schema.ts'
import { listSpool, readSpool, removeSpooled, setAside } from './spool.ts'

/** Read at once: bounds memory, and lets one session's events share their commits. */
const AT_ONCE = 512

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

  async drain(accept: (event: MemoryEvent) => Promise<unknown>): Promise<number> {
    const files = listSpool(this.#directory)
    for (let start = 0; start < files.length; start += AT_ONCE) {
      // In the order of their names, so each session's mailbox gets its events in the order of their hooks.
      await Promise.all(files.slice(start, start + AT_ONCE).map((file) => this.#take(file, accept)))
    }
    return files.length
  }

  async #take(file: string, accept: (event: MemoryEvent) => Promise<unknown>): Promise<void> {
    const event = this.#read(file)
    if (event === null) return
    try {
      await accept(event)
      fault('spool.committed')
      removeSpooled(file)
    } catch (error) {
      // It stays where it is, for the next tick or the next daemon.
      this.#log('warn', 'a spooled event could not be stored yet', { file, error })
    }
  }

  #read(file: string): MemoryEvent | null {
    const spooled = readSpool(file)
    if (spooled === null) return null
    try {
      if (!('bad' in spooled)) return parseEvent(spooled)
      if (spooled.newer) return null
      throw new MemError('bad_request', spooled.bad)
    } catch (error) {
      setAside(file)
      this.#notice(`a spooled event cannot be read and was set aside in ${this.#directory}/bad: ${messageOf(error)}`)
      return null
    }
  }
}
