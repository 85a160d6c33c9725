/**
 * Projects as the daemon manages them: names given by hand, merges, clones of one repository (rules in repository-joins.ts),
 * and repositories that moved. Their settings are changed one after the other, kept in memory, and durable before they are
 * used. A merge then moves rows in small pieces; what a dead process left is resumed at the next start.
 */

import { basename } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import { findProject, type Project, projectKeyPath, projectWorkingTree, workingTreeRoot } from '../domain/project.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { DirectoryUpdate, ProjectContents, ProjectSettings, ProjectUpdate, Store } from '../store/port.ts'
import type { ProjectKeyResolver } from './actors/supervisor.ts'
import { readFingerprint } from './git-directory.ts'
import { ProjectDirectories } from './project-directories.ts'
import { checkedProjectName, ProjectState, type ProjectStateOptions, START_TIMEOUTS_MS } from './project-state.ts'
import { isReoccupied, mergeUpdates, moveUpdates, repairMerges } from './project-updates.ts'
import { isProjectGone } from './project-views.ts'

interface ProjectsOptions extends Partial<ProjectStateOptions> {
  store: Store
  /** Whether further clones of a repository share its memory (`CLAUDE_MEM_CLONES`). */
  together?: () => boolean
  /** Whether other machines have the memory of a project. */
  isShared?: (project: string) => Promise<boolean>
  /** Timeouts for tests, in ms. */
  timeoutsMs?: typeof START_TIMEOUTS_MS
}

const DEFAULTS = {
  changed: () => undefined,
  moved: async () => undefined,
  publish: () => undefined,
  notice: () => undefined,
  together: () => true,
  isShared: async () => false,
  timeoutsMs: START_TIMEOUTS_MS,
  now: Date.now,
}

export interface MergeReport extends ProjectContents {
  dryRun: boolean
  from: Project
  into: Project
}

export class Projects implements ProjectKeyResolver {
  readonly #options: Required<ProjectsOptions>
  readonly #store: Store
  readonly #state: ProjectState
  /** Clones of repositories, and directories that the user named. */
  readonly directories: ProjectDirectories

  constructor(options: ProjectsOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#store = options.store
    this.#state = new ProjectState(this.#options)
    this.directories = new ProjectDirectories({ ...this.#options, state: this.#state })
  }

  /** Called before any event is accepted. */
  async load(): Promise<void> {
    await this.#state.read()
    const repairs = repairMerges(this.#state.settings)
    if (repairs.length > 0) await this.#state.update(repairs)
    const merged = [...this.#state.settings.values()].flatMap(({ key: from, mergedInto: into }) =>
      into === null ? [] : [{ from, into }],
    )
    // Merges that an earlier process left unfinished.
    if (merged.length > 0) void this.#state.moveMemory(merged, true)
  }

  /** The key under which a project's memory is kept, after merges. */
  keyOf(project: string): string {
    return this.#state.keyOf(project)
  }

  /** `name` null: back to the name that its sessions report. */
  async rename(given: string, name: string | null): Promise<Project> {
    const project = await this.#known(given)
    const wanted = name === null ? null : checkedProjectName(name)
    await this.#state.queue.run(async () => {
      if (wanted !== null) await this.#refuseTaken(wanted, project.key)
      await this.#state.update([{ key: project.key, name: wanted }])
    })
    this.#options.changed(project.key)
    return await this.#known(project.key)
  }

  /** Resolves once all rows are moved. Without `confirm` it only reports what would move. */
  async merge(from: string, into: string, confirm: boolean): Promise<MergeReport> {
    const [source, target] = await Promise.all([this.#known(from), this.#known(into)])
    if (source.key === target.key) throw sameProjectError(from, into, target)
    const contents = await this.#store.projectContents(source.key)
    const report: MergeReport = { dryRun: !confirm, from: source, into: target, ...contents }
    if (!confirm) return report
    await this.#state.queue.run(async () => {
      const merge = { from: this.keyOf(source.key), into: this.keyOf(target.key) }
      if (merge.from === merge.into) throw sameProjectError(from, into, target)
      await this.#state.update(mergeUpdates(this.#state.settings, merge.from, merge.into))
    })
    await this.#state.moveMemory([{ from: source.key, into: this.keyOf(target.key) }])
    return report
  }

  /** A session starts: its repository may have been at another path before, or be a clone of a known one. */
  async onSessionStart({ project: { key }, cwd }: Pick<MemoryEvent, 'project' | 'cwd'>): Promise<void> {
    if (!key.startsWith('git:')) return
    try {
      await this.#noteDirectory(key, cwd)
      const { inspect, move } = this.#options.timeoutsMs
      const assigned = await withTimeout(inspect, this.directories.assign(key), null)
      if (assigned !== null) await withTimeout(move, assigned.moved, undefined)
    } catch (error) {
      const text = `the directory of project ${key} could not be recorded; its next session tries again`
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    }
  }

  /**
   * A project that the user named, with the key under which its memory is kept. A directory in which no session has started is
   * looked at as if one did, so that a machine that was just set up knows its repository.
   */
  async find(given: string): Promise<Project> {
    const named = await findProject(this.#store, given)
    const directory = projectWorkingTree(named.key)
    if (directory !== null) await this.onSessionStart({ project: named, cwd: directory })
    const key = this.keyOf(named.key)
    const [known] = await this.#store.projects({ key, limit: 1 })
    return { key, name: known?.name ?? named.name }
  }

  /** Finishes the current piece; the rest is resumed at the next start. */
  async stop(): Promise<void> {
    await this.#state.stop()
  }

  async #noteDirectory(key: string, cwd: string): Promise<void> {
    const { inspect, move } = this.#options.timeoutsMs
    const fingerprint = await withTimeout(inspect, readFingerprint(projectKeyPath(key) ?? ''), null)
    const known = this.#state.settings.get(key)
    if (known !== undefined && fingerprint === null && !isReoccupied(known)) return
    if (known !== undefined && fingerprint === known.fingerprint && known.root !== null) return
    const left = await this.#state.queue.run(() => this.#recordDirectory(key, cwd, fingerprint))
    if (left.length === 0) return
    const moved = this.#state.moveMemory(left.map((from) => ({ from, into: this.keyOf(key) })))
    await withTimeout(move, moved, undefined)
  }

  /** Records the directory and returns the keys of projects whose memory moves here. */
  async #recordDirectory(key: string, cwd: string, fingerprint: string | null): Promise<string[]> {
    await this.#state.read()
    const known = this.#state.settings.get(key)
    const reoccupied = isReoccupied(known)
    // A key whose repository is already known gets nothing: then the other one was a copy that was deleted.
    const isNew = fingerprint !== null && (known?.fingerprint ?? null) === null
    const elsewhere = isNew ? await this.#formerProjects(fingerprint, key) : []
    const decided = [...elsewhere, ...(known === undefined ? this.#linkedDirectory(key) : [])]
    const merged = decided.find(({ mergedInto: into }) => into !== null && into !== key)?.mergedInto ?? null
    const mergedInto = reoccupied || known === undefined ? merged : known.mergedInto
    const home = mergedInto ?? key
    const left = [
      ...elsewhere.filter((other) => other.mergedInto === null && other.key !== home),
      ...(known === undefined ? await this.#directoryProject(key) : []),
    ]
    const root = known?.root ?? rootOf(key, cwd)
    const moved = this.#movedDirectories(key, decided)
    await this.#state.update(
      [
        { key, fingerprint, root, mergedInto, ...moved.files },
        ...moved.updates,
        ...left.flatMap((old) => moveUpdates(this.#state.settings, old, home)),
      ],
      moved.directories,
    )
    for (const old of left) await this.#notifyMoved(old, home)
    return left.map((old) => old.key)
  }

  /** What was decided about a directory, and its files, move with its clone; whatever is there later is another one. */
  #movedDirectories(
    key: string,
    decided: readonly ProjectSettings[],
  ): { directories: DirectoryUpdate[]; updates: ProjectUpdate[]; files: Pick<ProjectUpdate, 'files'> } {
    const directories = decided.flatMap(({ key: old }) => this.#state.directories.get(old) ?? [])
    const [first] = directories
    if (first === undefined) return { directories: [], updates: [], files: {} }
    const joined = decided.filter(({ key: old, mergedInto }) => mergedInto !== null && this.#state.directories.has(old))
    const files = joined.find((old) => old.files.length > 0)?.files ?? []
    return {
      directories: [...directories.map((directory) => ({ ...directory, state: null })), { ...first, key }],
      updates: joined.map(({ key: old }) => ({ key: old, root: null, fingerprint: null, files: [] })),
      files: files.length === 0 || (this.#state.settings.get(key)?.files.length ?? 0) > 0 ? {} : { files },
    }
  }

  /** The directory of a new repository, where the user linked it. */
  #linkedDirectory(key: string): ProjectSettings[] {
    const directory = `dir:${projectWorkingTree(key) ?? ''}`
    const known = this.#state.settings.get(directory)
    return known !== undefined && this.#state.directories.get(directory)?.state === 'linked' ? [known] : []
  }

  /** Paths where the same repository was before and no longer is. */
  async #formerProjects(fingerprint: string, here: string): Promise<ProjectSettings[]> {
    const same = [...this.#state.settings.values()].filter(
      (other) => other.fingerprint === fingerprint && other.key !== here,
    )
    const gone = await Promise.all(
      same.map(({ key }) => withTimeout(this.#options.timeoutsMs.inspect, isProjectGone(key), false)),
    )
    return same.filter((_, i) => gone[i] === true)
  }

  /** The project of the same directory before it became a repository. */
  async #directoryProject(key: string): Promise<ProjectSettings[]> {
    const tree = projectWorkingTree(key)
    if (tree === null) return []
    const before = `dir:${tree}`
    const known = this.#state.settings.get(before)
    if (known !== undefined && known.mergedInto !== null) return []
    const { sessions } = await this.#store.projectContents(before)
    if (sessions === 0) return []
    return [known ?? { key: before, name: null, mergedInto: null, root: null, fingerprint: null, files: [] }]
  }

  async #notifyMoved({ key, name, root }: ProjectSettings, home: string): Promise<void> {
    const { observations, sessions } = await this.#store.projectContents(key)
    if (observations + sessions === 0) return
    const pathOf = (of: string) => projectWorkingTree(of) ?? projectKeyPath(of) ?? of
    const displayName = name ?? basename(root ?? pathOf(key))
    const how = pathOf(key) === pathOf(home) ? 'is a repository now' : `moved from ${pathOf(key)} to ${pathOf(home)}`
    this.#options.notice('info', `${displayName} ${how}: its memory moved too`)
  }

  async #known(given: string): Promise<Project> {
    const { key } = await findProject(this.#store, given)
    const known = await this.#state.projectWithKey(key)
    if (known === null) throw new MemError('not_found', `nothing is remembered about ${given}`)
    return known
  }

  async #refuseTaken(name: string, key: string): Promise<void> {
    const other = (await this.#store.projects({ name })).find((project) => project.key !== key)
    if (other === undefined) return
    const ways = 'choose another name, or make them one with claude-mem projects merge'
    throw new MemError('conflict', `another project is called "${name}" (${other.key}): ${ways}`)
  }
}

function rootOf(key: string, cwd: string): string {
  const tree = projectWorkingTree(key)
  return tree !== null && key !== `git:${tree}` ? tree : workingTreeRoot(cwd)
}

function sameProjectError(from: string, into: string, { name, key }: Project): MemError {
  return from === into
    ? new MemError('bad_request', `${name} cannot be merged into itself`)
    : new MemError('bad_request', `${from} and ${into} are one project already: ${name} (${key})`)
}
