/**
 * The settings of projects and the decisions about directories, as the daemon keeps them in memory, and the moving of rows
 * after a merge. Changes are made one after the other (`queue`), and are durable before they are used.
 */
import { isName, NAME_RULE } from '../domain/names.ts'
import { type Project, projectKeyPath, projectWorkingTree } from '../domain/project.ts'
import { sanitizeText } from '../domain/sanitize.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import type { DirectoryRow, DirectoryUpdate, ProjectUpdate, Store } from '../store/port.ts'
import type { SettingsByKey } from './project-updates.ts'

/** A name that looks like a path, a key or `all` could not be used to name the project. */
export function checkedProjectName(name: string): string {
  const problem = name === 'all' ? '"all" means every project' : isName(name) ? null : `a name has ${NAME_RULE}`
  if (problem !== null) throw new MemError('bad_request', `this is not a valid project name: ${problem}`)
  return name
}

/** Rows moved in one transaction: hooks wait for it at most about 0.1 s. */
const PIECE_ROWS = 2_000

/**
 * Timeouts of a session start, in ms: for looking at its directory, which may be on a dead network drive, and for moving
 * its memory. What is not done in time is done for the next session.
 */
export const START_TIMEOUTS_MS = { inspect: 200, move: 700 }

interface ProjectMerge {
  from: string
  into: string
}

export interface ProjectStateOptions {
  store: Store
  /** The rendered context of this project is out of date. */
  changed: (project: string) => void
  /** Everything of one project is stored under another key now. */
  moved: (from: string, into: string) => Promise<void>
  /** Publishes a change of projects with its number in the live stream. */
  publish: (seq: number) => void
  notice: (level: 'info' | 'warn', text: string) => void
  now: () => number
}

export class ProjectState {
  readonly #options: ProjectStateOptions
  readonly #store: Store
  readonly #moveQueue = new SerialQueue()
  /** Every change of the settings runs in it. */
  readonly queue = new SerialQueue()
  #settings: SettingsByKey = new Map()
  #directories: ReadonlyMap<string, DirectoryRow> = new Map()
  #stopped = false

  constructor(options: ProjectStateOptions) {
    this.#options = options
    this.#store = options.store
  }

  get settings(): SettingsByKey {
    return this.#settings
  }

  /** What was decided about directories, by their key. */
  get directories(): ReadonlyMap<string, DirectoryRow> {
    return this.#directories
  }

  get stopped(): boolean {
    return this.#stopped
  }

  /** The key under which a project's memory is kept, after merges. */
  keyOf(project: string): string {
    return this.#settings.get(project)?.mergedInto ?? project
  }

  /** The working tree of a directory's key, for people. */
  pathOf(key: string): string {
    const path = this.#settings.get(key)?.root ?? projectWorkingTree(key) ?? projectKeyPath(key) ?? key
    return sanitizeText(path).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
  }

  async projectWithKey(key: string): Promise<Project | null> {
    const [known] = await this.#store.projects({ key, limit: 1 })
    return known === undefined ? null : { key: known.key, name: known.name }
  }

  async update(updates: readonly ProjectUpdate[], directories: readonly DirectoryUpdate[] = []): Promise<void> {
    const { seq } = await this.#store.updateProjects(updates, this.#options.now(), directories)
    if (seq !== null) this.#options.publish(seq)
    await this.read()
  }

  async read(): Promise<void> {
    const [settings, directories] = await Promise.all([this.#store.projectSettings(), this.#store.projectDirectories()])
    this.#settings = new Map(settings.map((row) => [row.key, row]))
    this.#directories = new Map(directories.map((row) => [row.key, row]))
  }

  /** Finishes the current piece; the rest is resumed at the next start. */
  async stop(): Promise<void> {
    await this.queue.idle()
    this.#stopped = true
    await this.#moveQueue.idle()
  }

  /** Resolves once all rows of these merges are moved. */
  moveMemory(merges: readonly ProjectMerge[], isResumed = false): Promise<void> {
    const moved = this.#moveQueue.run(async () => {
      const rows = await this.#moveRows()
      // It was finished, and published, before.
      if (isResumed && rows === 0) return
      for (const merge of merges) await this.#updateDerivedData(merge)
      if (!this.#stopped) this.#options.publish(await this.#store.nextSeq())
    })
    // Callers that wait get the error too, but not every caller waits.
    moved.catch((error: unknown) => {
      const which = merges.map(({ from, into }) => `${from} into ${into}`).join(', ')
      const text = `the merge of ${which} is not finished; it is resumed at the next start of the daemon`
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    })
    return moved
  }

  async #moveRows(): Promise<number> {
    let rows = 0
    while (!this.#stopped) {
      const moved = await this.#store.moveMergedRows(PIECE_ROWS)
      if (moved === 0) break
      rows += moved
    }
    return rows
  }

  async #updateDerivedData({ from, into }: ProjectMerge): Promise<void> {
    this.#options.changed(into)
    try {
      await this.#options.moved(from, into)
    } catch (error) {
      const what = `vectors of project ${from} could not be moved to ${into}`
      const text = `${what}; until the next start of the daemon some of its memories are found by words only`
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    }
  }
}
