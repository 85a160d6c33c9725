/**
 * `claude-mem forget --everywhere`: removes everything that was forgotten so far, by whatever request, from every file of the
 * data directory that may still contain it. The tombstones say what that is, so an interrupted run is completed by the next.
 */
import { readdirSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../lib/errors.ts'
import { isMissingFile } from '../lib/files.ts'
import { LOG_FILE } from '../lib/log.ts'
import type { Paths } from '../lib/paths.ts'
import { removeStaleTemporary } from '../lib/temporary.ts'
import type { Store } from '../store/port.ts'

export interface CleanedCopies {
  /** Backups that were written again without it. */
  rewritten: string[]
  /** Damaged databases, backups that cannot be rewritten, log files, set-aside spool files, copies of killed processes. */
  removed: string[]
  /** These may still contain it. */
  failed: { file: string; reason: string }[]
}

export interface CleaningProgress {
  done: number
  total: number
  /** The file that is being cleaned. */
  file: string
}

interface ForgottenCopiesOptions {
  store: Pick<Store, 'copies' | 'cleanCopy' | 'purgeForgotten'>
  paths: Pick<Paths, 'database' | 'logs' | 'spoolBad' | 'context' | 'temporary'>
  /** Renders the contexts again after their files were deleted. */
  renderContexts(): Promise<void>
}

/** Merging the full-text index, in steps between which commits run. */
const PURGE_STEPS = 40
const MAX_PURGE_CALLS = 1_000

export class ForgottenCopies {
  readonly #options: ForgottenCopiesOptions
  #progress: CleaningProgress | null = null
  /** Runs follow each other: one that has begun may have passed a file that holds what was forgotten since. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ForgottenCopiesOptions) {
    this.#options = options
  }

  /** Null while nothing is being cleaned. */
  get progress(): CleaningProgress | null {
    return this.#progress
  }

  clean(): Promise<CleanedCopies> {
    const cleaning = this.#last.then(() => this.#clean())
    this.#last = cleaning.catch(() => undefined)
    return cleaning
  }

  async #clean(): Promise<CleanedCopies> {
    const { store } = this.#options
    const report: CleanedCopies = { rewritten: [], removed: [], failed: [] }
    try {
      await this.#purgeDatabase(report)
      await this.#removeFiles(report)
      const copies = await store.copies()
      for (const [done, file] of copies.entries()) {
        this.#progress = { done, total: copies.length, file }
        await attempt(report, file, async () => {
          const outcome = await store.cleanCopy(file)
          if (outcome !== 'unchanged') report[outcome].push(file)
        })
      }
      return report
    } finally {
      this.#progress = null
    }
  }

  /** Words of deleted rows leave the index when its segments are merged, and the write-ahead log when it is truncated. */
  async #purgeDatabase(report: CleanedCopies): Promise<void> {
    const { store, paths } = this.#options
    for (let call = 0; call < MAX_PURGE_CALLS; call += 1) if (await store.purgeForgotten(PURGE_STEPS)) return
    report.failed.push({ file: paths.database, reason: 'another program is reading it; close it, then try again' })
  }

  async #removeFiles(report: CleanedCopies): Promise<void> {
    const { paths, renderContexts } = this.#options
    for (const name of namesIn(paths.logs)) {
      const file = join(paths.logs, name)
      // The running log is open in this process.
      const clear = () => (name === LOG_FILE ? truncateSync(file) : rmSync(file, { force: true }))
      await attempt(report, file, () => {
        clear()
        report.removed.push(file)
      })
    }
    await removeIn(paths.spoolBad, report)
    await attempt(report, paths.temporary, () => {
      report.removed.push(...removeStaleTemporary(paths.temporary))
    })
    // Derived: not worth reporting.
    await removeIn(paths.context, { ...report, removed: [] })
    await attempt(report, paths.context, renderContexts)
  }
}

async function removeIn(directory: string, report: CleanedCopies): Promise<void> {
  for (const name of namesIn(directory)) {
    const file = join(directory, name)
    await attempt(report, file, () => {
      rmSync(file, { force: true, recursive: true })
      report.removed.push(file)
    })
  }
}

/** One file that cannot be cleaned does not keep the others. */
async function attempt(report: CleanedCopies, file: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    report.failed.push({ file, reason: errorMessage(error) })
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}
