/**
 * The memory as it stands in files of the user's, where the user asked for it. The files follow the memory; what was
 * written where is kept in the store before it is written, so that every trace can be found and removed again.
 */
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../errors.ts'
import type { Store } from '../../store/port.ts'
import { Settling } from '../settling.ts'
import { changeFile, type FileOutcome } from './change.ts'
import { removeDirectories } from './directories.ts'
import { type FilePart, notesOf, type Projection, type ProjectionRow, projectionsIn } from './projection.ts'
import { cleanFiles, cleanTree } from './remove.ts'
import { homeOf, isTaken } from './root.ts'
import { withSection } from './section.ts'
import { survey } from './survey.ts'
import { type FileLimits, headerOf, type ProjectionReader, wantedFiles } from './wanted.ts'

/** A turn's observations and its summary are committed one after the other: one change for all of them, in ms. */
const SETTLE_MS = 500
const DEFAULT_PARTS: readonly FilePart[] = ['project']

export interface ProjectionsOptions {
  store: ProjectionReader & Pick<Store, 'projectDecisions' | 'decideProjects'>
  limits: () => FileLimits
  /** Something that people should know. */
  notice: (text: string) => void
  now?: () => number
}

export interface Projected {
  /** Null: nothing is written for the project. */
  projection: Projection | null
  files: FileOutcome[]
}

export interface Whose {
  key: string
  /** Whose memory it is: another key where this one was merged. */
  project: string
}

export interface TurnOn extends Whose {
  /** A working tree of it, without links. */
  root: string
  /** Null: as before, or the default. */
  parts: readonly FilePart[] | null
  dryRun: boolean
}

export class FileProjections {
  readonly #options: ProjectionsOptions
  readonly #settling: Settling
  /** What was said about a file: once, until the file can be written again. */
  readonly #said = new Map<string, string>()
  /** One change of a project's files at a time, whoever asks for it. */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(options: ProjectionsOptions) {
    this.#options = options
    this.#settling = new Settling(SETTLE_MS, (project) => this.#follow(project))
  }

  /** Something was learned about the project, or forgotten. */
  changed(project: string): void {
    this.#settling.changed(project)
  }

  /** Every file shows what is known now. */
  flush(): Promise<void> {
    return this.#settling.flush()
  }

  /** Whoever was killed may have left files behind the memory. */
  async refresh(): Promise<void> {
    try {
      for (const { project } of await this.#rows()) this.changed(project)
    } catch (error) {
      this.#options.notice(`the files that show the memory could not be looked after: ${messageOf(error)}`)
    }
  }

  /** What there is, and what the next change of the memory would do to it. */
  status(whose: Whose): Promise<Projected> {
    return this.#alone(async () => {
      const row = await this.#rowOf(whose)
      if (row === null) return NOTHING
      return { projection: row, files: await this.#upToDate(row, true) }
    })
  }

  turnOn({ key, project, root, parts, dryRun }: TurnOn): Promise<Projected> {
    return this.#alone(async () => {
      const old = (await this.#rows()).find((row) => row.key === key) ?? null
      const moved = old !== null && old.root !== root
      const files = moved ? await this.#removed(old, dryRun) : []
      const chosen = parts ?? (old === null || old.parts.length === 0 ? DEFAULT_PARTS : old.parts)
      const kept = old === null || moved ? { written: [], made: [] } : { written: old.written, made: old.made }
      const done = await this.#written({ key, project, root, repository: key, parts: chosen, ...kept }, dryRun)
      return { projection: done.projection, files: [...files, ...done.files] }
    })
  }

  /** `tree`: a working tree that is looked through for traces, whatever was noted. */
  turnOff(whose: Whose, tree: string | null, dryRun: boolean): Promise<Projected> {
    return this.#alone(async () => {
      const row = await this.#rowOf(whose)
      const home = row === null ? null : await homeOf(row)
      const files = row === null ? [] : await this.#removed(row, dryRun)
      for (const root of tree === null ? [] : new Set([tree, home?.root ?? tree])) {
        files.push(...(await cleanTree(root, new Set(files.map(({ file }) => file)), dryRun)))
      }
      return { projection: dryRun ? row : await this.#rowOf(whose), files }
    })
  }

  async #rows(): Promise<ProjectionRow[]> {
    return projectionsIn(await this.#options.store.projectDecisions())
  }

  /** A merged project may have several: that of its own key counts. */
  async #rowOf({ key, project }: Whose): Promise<ProjectionRow | null> {
    const rows = await this.#rows()
    return rows.find((row) => row.key === key) ?? rows.find((row) => row.project === project) ?? null
  }

  async #follow(project: string): Promise<void> {
    await this.#alone(async () => {
      for (const row of await this.#rows()) {
        if (row.project !== project || row.parts.length === 0) continue
        for (const outcome of await this.#upToDate(row, false)) this.#tell(outcome)
      }
    }).catch((error: unknown) => this.#options.notice(`the memory could not be written to files: ${messageOf(error)}`))
  }

  async #upToDate(row: ProjectionRow, dryRun: boolean): Promise<FileOutcome[]> {
    const home = await homeOf(row)
    if (home === null) return [ended(row, 'it is gone')]
    if (isTaken(home)) return [ended(home, 'it belongs to another project now')]
    return (await this.#written(home, dryRun)).files
  }

  async #written(row: ProjectionRow, dryRun: boolean): Promise<Projected> {
    const { store, limits } = this.#options
    const { root, repository, parts } = row
    const { wanted, missing, doubles } = await survey(
      root,
      await wantedFiles(store, row.project, root, parts, limits()),
    )
    const names = wanted.map(({ file }) => file)
    const made = [...new Set([...row.made, ...missing])]
    const intended = { root, repository, parts, written: [...new Set([...row.written, ...names])], made }
    if (!dryRun) await this.#note(row.key, intended)
    const outdated = row.written.filter((file) => !names.includes(file))
    const files = await cleanFiles(root, outdated, dryRun)
    const left = outdated.filter((_, i) => files[i]?.what === 'left')
    for (const { file, lines } of wanted) {
      const edit = (old: string | null) => withSection(old, lines, headerOf(file))
      files.push(await changeFile(root, { file, edit, done: 'changed' }, dryRun))
    }
    files.push(...doubles)
    if (dryRun) return { projection: intended, files }
    const projection = { ...intended, written: [...names, ...left], made: await removeDirectories(root, made) }
    await this.#note(row.key, projection)
    return { projection, files }
  }

  async #removed(row: ProjectionRow, dryRun: boolean): Promise<FileOutcome[]> {
    const home = await homeOf(row)
    const files = home === null ? [] : await cleanFiles(home.root, row.written, dryRun)
    if (dryRun) return files
    // What could not be cleaned is tried again with the next `off` or `clean`.
    const left = row.written.filter((_, i) => files[i]?.what === 'left')
    const made = home === null ? [] : await removeDirectories(home.root, row.made)
    await this.#note(row.key, home === null || left.length === 0 ? null : { ...home, parts: [], written: left, made })
    return files
  }

  async #note(key: string, projection: Projection | null): Promise<void> {
    const { store, now = Date.now } = this.#options
    const noted = (await this.#rows()).find((row) => row.key === key) ?? null
    const files = notesOf(projection)
    if (!isDeepStrictEqual(notesOf(noted), files)) await store.decideProjects([{ key, files }], now())
  }

  #tell({ file, what, why }: FileOutcome): void {
    if (what !== 'left') this.#said.delete(file)
    else if (why !== null && this.#said.get(file) !== why) {
      this.#said.set(file, why)
      this.#options.notice(`${file} does not show the newest memory: ${why}`)
    }
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#busy.then(work)
    this.#busy = done.catch(() => undefined)
    return done
  }
}

/** Said like anything else that cannot be written: once. */
function ended({ root, repository }: Projection, how: string): FileOutcome {
  const off = `claude-mem files off --project ${repository}`
  return { file: root, what: 'left', why: `${how}; \`${off}\` ends it` }
}

const NOTHING: Projected = { projection: null, files: [] }
