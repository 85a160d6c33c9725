/** Creates the reserve of disk space that `lib/disk-space.ts` describes, and tells the user when the disk is nearly full. */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { freeBytes, RESERVE_BYTES } from '../lib/disk-space.ts'
import { errorMessage } from '../lib/errors.ts'

const CHUNK_BYTES = 1024 * 1024
const MEGABYTE = 1024 * 1024

interface DiskReserveOptions {
  file: string
  notice(level: 'info' | 'warn', text: string): void
}

export class DiskReserve {
  readonly #options: DiskReserveOptions
  /** The user was told that the disk is nearly full. */
  #told = false

  constructor(options: DiskReserveOptions) {
    this.#options = options
  }

  /** Creates the reserve where it is missing and the disk has room for twice its size. */
  check(): void {
    const { file, notice } = this.#options
    if (statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES) return
    const free = freeBytes(dirname(file))
    const problem = free < 2 * RESERVE_BYTES ? `${Math.floor(free / MEGABYTE)} MB are free` : writeReserve(file)
    if (problem === null) {
      if (this.#told) notice('info', 'There is enough disk space again.')
      this.#told = false
    } else if (!this.#told) {
      this.#told = true
      const next = 'Free some space: soon events cannot be stored any more.'
      notice('warn', `The disk of the data directory is nearly full (${problem}). ${next}`)
    }
  }
}

/** Null, or why it could not be written. Random content: file systems that compress would reserve nothing for zeros. */
function writeReserve(file: string): string | null {
  try {
    const descriptor = openSync(file, 'w', 0o600)
    try {
      const chunk = randomBytes(CHUNK_BYTES)
      for (let written = 0; written < RESERVE_BYTES; ) written += writeSync(descriptor, chunk)
    } finally {
      closeSync(descriptor)
    }
    return null
  } catch (error) {
    rmSync(file, { force: true })
    return errorMessage(error)
  }
}
