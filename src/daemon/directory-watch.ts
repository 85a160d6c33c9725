/**
 * Notices that the data directory was removed or replaced. The daemon would otherwise keep its port and its memory, and
 * write to files that nobody sees any more, while another daemon may already serve the new directory.
 */
import { statSync } from 'node:fs'
import { isMissingFile } from '../lib/files.ts'
import type { Paths } from '../lib/paths.ts'

const CHECK_MS = 1_000
/** Checks in a row: a directory on a network drive may be away for a moment. */
const CHECKS = 2

export class DirectoryWatch {
  readonly #files: { path: string; identity: string }[]
  readonly #onGone: (path: string) => void
  #timer: NodeJS.Timeout | null = null
  #failedChecks = 0

  constructor(paths: Pick<Paths, 'dataDir' | 'lock'>, onGone: (path: string) => void) {
    // The lock too: without it a second daemon could start.
    this.#files = [paths.dataDir, paths.lock].map((path) => ({ path, identity: identityOf(path) ?? '' }))
    this.#onGone = onGone
  }

  /** On a timer of its own: a tick may wait for the store. */
  start(): void {
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #check(): void {
    const gone = this.#files.find(({ path, identity }) => {
      const now = identityOf(path)
      return now !== null && now !== identity
    })
    this.#failedChecks = gone === undefined ? 0 : this.#failedChecks + 1
    if (gone !== undefined && this.#failedChecks >= CHECKS) {
      this.stop()
      this.#onGone(gone.path)
    }
  }
}

/** Empty if it does not exist, null if that is not known. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    return isMissingFile(error) ? '' : null
  }
}
