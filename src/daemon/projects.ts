/**
 * Projects as the daemon manages them: names given by hand, merges, and repositories that moved. Their settings are changed
 * one after the other, kept in memory, and durable before they are used. A merge then moves rows in small pieces; what a
 * dead process left is resumed at the next start.
 */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import { findProject, type Project, projectKeyPath, projectWorkingTree, workingTreeRoot } from '../domain/project.ts'
import { sanitizeText } from '../domain/sanitize.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import { readFileStart } from '../lib/files.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { withTimeout } from '../lib/timeout.ts'
import type {
  ProjectContents,
  ProjectOverview,
  ProjectSettings,
  ProjectUpdate,
  Store,
  StoreReader,
} from '../store/port.ts'
import type { ProjectKeyResolver } from './actors/supervisor.ts'

const MAX_CHARS = 80

/** A name that looks like a path, a key or `all` could not be used to name the project. */
function checkedName(given: string): string {
  const name = sanitizeText(given).trim().replace(/\s+/g, ' ')
  const problem = nameProblem(name)
  if (problem !== null) throw new MemError('bad_request', `this is not a valid project name: ${problem}`)
  return name
}

function nameProblem(name: string): string | null {
  if (name === '') return 'the name is empty'
  if (name.length > MAX_CHARS) return `a name has at most ${MAX_CHARS} characters`
  if (/[\p{Cc}\u2028\u2029]/u.test(name)) return 'a name is one line of text'
  if (/[/\\]|^~|^\.{1,2}$/.test(name)) return 'it looks like a path'
  if (/^\w+:/.test(name)) return 'it looks like the key of a project'
  return name === 'all' ? '"all" means every project' : null
}

/** Bytes of the first log line that are compared: they contain the first commit, its author and its time. */
const FIRST_LINE_BYTES = 1_024
const FINGERPRINT_CHARS = 32

/**
 * Identifies one clone, also after its directory moved: the oldest entry of git's reflog of HEAD, which contains the time it
 * was made. Null without one: no repository, a bare one, one without a commit.
 */
async function fingerprintOf(key: string): Promise<string | null> {
  const path = projectKeyPath(key)
  if (path === null || !key.startsWith('git:')) return null
  const line = await firstLine(join(path, 'logs', 'HEAD'))
  return line === '' ? null : createHash('sha256').update(line).digest('hex').slice(0, FINGERPRINT_CHARS)
}

/** Empty where the file is missing or unreadable. */
async function firstLine(file: string): Promise<string> {
  try {
    return (await readFileStart(file, FIRST_LINE_BYTES)).toString('latin1').split('\n', 1)[0] ?? ''
  } catch {
    return ''
  }
}

/** Whether nothing exists at the project's path. A path that cannot be accessed does not count as gone. */
async function isGone(key: string): Promise<boolean> {
  const path = projectKeyPath(key)
  if (path === null) return false
  try {
    await stat(path)
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
  }
}

export interface ProjectView extends Omit<ProjectOverview, 'root'> {
  /** Path of the working tree; null where none is known on this machine. */
  place: string | null
  /** Nothing exists at that path any more. */
  gone: boolean
}

/** The project with the newest session first. */
export async function projectViews(reader: Pick<StoreReader, 'listProjects'>): Promise<ProjectView[]> {
  const projects = await reader.listProjects()
  return await Promise.all(
    projects.map(async ({ root, ...project }) => ({
      ...project,
      place: root ?? projectWorkingTree(project.key),
      gone: await isGone(project.key),
    })),
  )
}

type SettingsByKey = ReadonlyMap<string, ProjectSettings>

/** A merge by hand: both working trees stay where they are. Neither key may be merged into another one yet. */
function mergeUpdates(settings: SettingsByKey, from: string, into: string): ProjectUpdate[] {
  // With a root it is not a project that moved away: a session that starts there belongs to the merged project.
  const root = settings.get(from)?.root ?? projectKeyPath(from) ?? from
  return [{ key: from, mergedInto: into, root }, ...retargetUpdates(settings, from, into)]
}

/** A repository moved to `home` and the path of `left` is gone: its name and file settings move too. */
function moveUpdates(settings: SettingsByKey, left: ProjectSettings, home: string): ProjectUpdate[] {
  const there = settings.get(home)
  const name = there?.name ?? left.name
  const files = there === undefined || there.files.length === 0 ? left.files : there.files
  return [
    { key: left.key, mergedInto: home, name: null, root: null, fingerprint: null, files: [] },
    ...retargetUpdates(settings, left.key, home),
    { key: home, name, files },
  ]
}

/** Whether something exists again at a path that a repository moved away from: it is a new project. */
function isReoccupied(settings: ProjectSettings | undefined): boolean {
  return settings !== undefined && settings.mergedInto !== null && settings.root === null
}

/** Keys that were merged into `from` now point to its target: chains of merges are never longer than one. */
function retargetUpdates(settings: SettingsByKey, from: string, into: string): ProjectUpdate[] {
  return [...settings.values()]
    .filter(({ key, mergedInto }) => mergedInto === from && key !== into)
    .map(({ key }) => ({ key, mergedInto: into }))
}

/**
 * Repairs merges after a recovery that restored only some of them: cycles are removed and chains are shortened to one.
 */
export function repairMerges(settings: SettingsByKey): ProjectUpdate[] {
  const ends = new Map([...settings.keys()].map((key) => [key, mergeTargetOf(settings, key)]))
  return [...settings.values()]
    .filter(({ key, mergedInto }) => mergedInto !== null && ends.get(key) !== mergedInto)
    .map(({ key }) => ({ key, mergedInto: ends.get(key) ?? null }))
}

/** The end of a chain of merges; null: not merged, or a cycle. */
function mergeTargetOf(settings: SettingsByKey, key: string): string | null {
  const passed = new Set<string>()
  let at: string = key
  for (let next = settings.get(at)?.mergedInto ?? null; next !== null; next = settings.get(at)?.mergedInto ?? null) {
    if (passed.has(next)) return null
    passed.add(next)
    at = next
  }
  return at === key ? null : at
}

/** Rows moved in one transaction: hooks wait for it at most about 0.1 s. */
const PIECE_ROWS = 2_000

/**
 * Timeouts of a session start, in ms: for looking at its directory, which may be on a dead network drive, and for moving
 * its memory. What is not done in time is done for the next session.
 */
const TIMEOUTS_MS = { inspect: 200, move: 700 }

interface Merge {
  from: string
  into: string
}

interface ProjectsOptions {
  store: Store
  /** The rendered context of this project is out of date. */
  changed?: (project: string) => void
  /** Everything of one project is stored under another key now. */
  moved?: (from: string, into: string) => Promise<void>
  /** Publishes a change of projects with its number in the live stream. */
  publish?: (seq: number) => void
  notice?: (level: 'info' | 'warn', text: string) => void
  /** Timeouts for tests, in ms. */
  timeoutsMs?: typeof TIMEOUTS_MS
  now?: () => number
}

const DEFAULTS = {
  changed: () => undefined,
  moved: async () => undefined,
  publish: () => undefined,
  notice: () => undefined,
  timeoutsMs: TIMEOUTS_MS,
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
  readonly #updateQueue = new SerialQueue()
  readonly #moveQueue = new SerialQueue()
  #settings: SettingsByKey = new Map()
  #stopped = false

  constructor(options: ProjectsOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#store = options.store
  }

  /** Called before any event is accepted. */
  async load(): Promise<void> {
    await this.#read()
    const repairs = repairMerges(this.#settings)
    if (repairs.length > 0) await this.#update(repairs)
    const merged = [...this.#settings.values()].flatMap(({ key: from, mergedInto: into }) =>
      into === null ? [] : [{ from, into }],
    )
    // Merges that an earlier process left unfinished.
    if (merged.length > 0) void this.#moveMemory(merged, true)
  }

  /** The key under which a project's memory is kept, after merges. */
  keyOf(project: string): string {
    return this.#settings.get(project)?.mergedInto ?? project
  }

  /** `name` null: back to the name that its sessions report. */
  async rename(given: string, name: string | null): Promise<Project> {
    const project = await this.#known(given)
    const wanted = name === null ? null : checkedName(name)
    await this.#updateQueue.run(async () => {
      if (wanted !== null) await this.#refuseTaken(wanted, project.key)
      await this.#update([{ key: project.key, name: wanted }])
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
    await this.#updateQueue.run(async () => {
      const merge = { from: this.keyOf(source.key), into: this.keyOf(target.key) }
      if (merge.from === merge.into) throw sameProjectError(from, into, target)
      await this.#update(mergeUpdates(this.#settings, merge.from, merge.into))
    })
    await this.#moveMemory([{ from: source.key, into: this.keyOf(target.key) }])
    return report
  }

  /** A session starts: its repository may have been at another path before. */
  async onSessionStart({ project: { key }, cwd }: MemoryEvent): Promise<void> {
    if (!key.startsWith('git:')) return
    try {
      const fingerprint = await withTimeout(this.#options.timeoutsMs.inspect, fingerprintOf(key), null)
      const known = this.#settings.get(key)
      if (known !== undefined && fingerprint === null && !isReoccupied(known)) return
      if (known !== undefined && fingerprint === known.fingerprint && known.root !== null) return
      const left = await this.#updateQueue.run(() => this.#recordDirectory(key, cwd, fingerprint))
      if (left.length === 0) return
      const moved = this.#moveMemory(left.map((from) => ({ from, into: this.keyOf(key) })))
      await withTimeout(this.#options.timeoutsMs.move, moved, undefined)
    } catch (error) {
      const text = `the directory of project ${key} could not be recorded; its next session tries again`
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    }
  }

  /** Finishes the current piece; the rest is resumed at the next start. */
  async stop(): Promise<void> {
    await this.#updateQueue.idle()
    this.#stopped = true
    await this.#moveQueue.idle()
  }

  /** Records the directory and returns the keys of projects whose memory moves here. */
  async #recordDirectory(key: string, cwd: string, fingerprint: string | null): Promise<string[]> {
    await this.#read()
    const known = this.#settings.get(key)
    const reoccupied = isReoccupied(known)
    // A key whose repository is already known gets nothing: then the other one was a copy that was deleted.
    const isNew = fingerprint !== null && (known?.fingerprint ?? null) === null
    const elsewhere = isNew ? await this.#formerProjects(fingerprint, key) : []
    const mergedByHand = elsewhere.find(({ mergedInto: into }) => into !== null && into !== key)?.mergedInto ?? null
    const mergedInto = reoccupied || known === undefined ? mergedByHand : known.mergedInto
    const home = mergedInto ?? key
    const left = [
      ...elsewhere.filter((other) => other.mergedInto === null && other.key !== home),
      ...(known === undefined ? await this.#directoryProject(key) : []),
    ]
    const root = known?.root ?? rootOf(key, cwd)
    await this.#update([
      { key, fingerprint, root, mergedInto },
      ...left.flatMap((old) => moveUpdates(this.#settings, old, home)),
    ])
    for (const old of left) await this.#notifyMoved(old, home)
    return left.map((old) => old.key)
  }

  /** Paths where the same repository was before and no longer is. */
  async #formerProjects(fingerprint: string, here: string): Promise<ProjectSettings[]> {
    const same = [...this.#settings.values()].filter((other) => other.fingerprint === fingerprint && other.key !== here)
    const gone = await Promise.all(
      same.map(({ key }) => withTimeout(this.#options.timeoutsMs.inspect, isGone(key), false)),
    )
    return same.filter((_, i) => gone[i] === true)
  }

  /** The project of the same directory before it became a repository. */
  async #directoryProject(key: string): Promise<ProjectSettings[]> {
    const tree = projectWorkingTree(key)
    if (tree === null) return []
    const before = `dir:${tree}`
    const known = this.#settings.get(before)
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
    const [known] = await this.#store.projects({ key, limit: 1 })
    if (known === undefined) throw new MemError('not_found', `nothing is remembered about ${given}`)
    return { key: known.key, name: known.name }
  }

  async #refuseTaken(name: string, key: string): Promise<void> {
    const other = (await this.#store.projects({ name })).find((project) => project.key !== key)
    if (other === undefined) return
    const ways = 'choose another name, or make them one with claude-mem projects merge'
    throw new MemError('conflict', `another project is called "${name}" (${other.key}): ${ways}`)
  }

  /** Resolves once all rows of these merges are moved. */
  #moveMemory(merges: readonly Merge[], isResumed = false): Promise<void> {
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

  async #updateDerivedData({ from, into }: Merge): Promise<void> {
    this.#options.changed(into)
    try {
      await this.#options.moved(from, into)
    } catch (error) {
      const what = `vectors of project ${from} could not be moved to ${into}`
      const text = `${what}; until the next start of the daemon some of its memories are found by words only`
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    }
  }

  async #update(updates: readonly ProjectUpdate[]): Promise<void> {
    const { seq } = await this.#store.updateProjects(updates, this.#options.now())
    if (seq !== null) this.#options.publish(seq)
    await this.#read()
  }

  async #read(): Promise<void> {
    this.#settings = new Map((await this.#store.projectSettings()).map((settings) => [settings.key, settings]))
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
