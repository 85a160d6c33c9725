/**
 * Projects as the daemon manages them: names given by hand, merges, and repositories that moved. Decisions are made one
 * after the other, kept in memory, and durable before they are used. A merge then moves rows in small pieces; what a dead
 * process left is resumed at the next start.
 */

import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { MemoryEvent } from '../domain/event.ts'
import { findProject, type Project, projectKeyPath, projectWorkingTree, workingTreeRoot } from '../domain/project.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import { withTimeout } from '../lib/timeout.ts'
import type {
  ProjectChange,
  ProjectContents,
  ProjectDecision,
  ProjectOverview,
  Store,
  StoreReader,
} from '../store/port.ts'
import type { ProjectFiling } from './actors/supervisor.ts'

const MAX_CHARS = 80

/** A name that looks like a path, a key or `all` could not be used to name the project. */
function checkedName(given: string): string {
  const name = given.trim().replace(/\s+/g, ' ')
  const fault = faultOf(name)
  if (fault !== null) throw new MemError('bad_request', `this is not a valid project name: ${fault}`)
  return name
}

function faultOf(name: string): string | null {
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
  const place = projectKeyPath(key)
  if (place === null || !key.startsWith('git:')) return null
  const line = await firstLine(join(place, 'logs', 'HEAD'))
  return line === '' ? null : createHash('sha256').update(line).digest('hex').slice(0, FINGERPRINT_CHARS)
}

/** Empty where the file is missing or unreadable. */
async function firstLine(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0)
      return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? ''
    } finally {
      await handle.close()
    }
  } catch {
    return ''
  }
}

/** Whether nothing exists at the project's path. A path that cannot be accessed does not count as gone. */
async function isGone(key: string): Promise<boolean> {
  const place = projectKeyPath(key)
  if (place === null) return false
  try {
    await stat(place)
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

type Decisions = ReadonlyMap<string, ProjectDecision>

/** A merge by hand: both working trees stay where they are. Neither key may be merged into another one yet. */
function mergeChanges(decisions: Decisions, from: string, into: string): ProjectChange[] {
  // With a root it is not a project that moved away: a session that starts there belongs to the merged project.
  const root = decisions.get(from)?.root ?? projectKeyPath(from) ?? from
  return [{ key: from, mergedInto: into, root }, ...reroutes(decisions, from, into)]
}

/** A repository moved to `home` and the path of `left` is gone: its name and file settings move too. */
function moveChanges(decisions: Decisions, left: ProjectDecision, home: string): ProjectChange[] {
  const there = decisions.get(home)
  const name = there?.name ?? left.name
  const files = there === undefined || there.files.length === 0 ? left.files : there.files
  return [
    { key: left.key, mergedInto: home, name: null, root: null, fingerprint: null, files: [] },
    ...reroutes(decisions, left.key, home),
    { key: home, name, files },
  ]
}

/** Whether something exists again at a path that a repository moved away from: it is a new project. */
function isBack(decision: ProjectDecision | undefined): boolean {
  return decision !== undefined && decision.mergedInto !== null && decision.root === null
}

/** Keys that were merged into `from` now point to its target: chains of merges are never longer than one. */
function reroutes(decisions: Decisions, from: string, into: string): ProjectChange[] {
  return [...decisions.values()]
    .filter(({ key, mergedInto }) => mergedInto === from && key !== into)
    .map(({ key }) => ({ key, mergedInto: into }))
}

/**
 * Repairs decisions after a recovery that restored only some of them: cycles are removed and chains are shortened to one.
 */
export function straightened(decisions: Decisions): ProjectChange[] {
  const ends = new Map([...decisions.keys()].map((key) => [key, endOf(decisions, key)]))
  return [...decisions.values()]
    .filter(({ key, mergedInto }) => mergedInto !== null && ends.get(key) !== mergedInto)
    .map(({ key }) => ({ key, mergedInto: ends.get(key) ?? null }))
}

/** The end of a chain of merges; null: not merged, or a cycle. */
function endOf(decisions: Decisions, key: string): string | null {
  const passed = new Set<string>()
  let at: string = key
  for (let next = decisions.get(at)?.mergedInto ?? null; next !== null; next = decisions.get(at)?.mergedInto ?? null) {
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
  numbered?: (seq: number) => void
  notice?: (level: 'info' | 'warn', text: string) => void
  /** Timeouts for tests, in ms. */
  timeoutsMs?: typeof TIMEOUTS_MS
  now?: () => number
}

const DEFAULTS = {
  changed: () => undefined,
  moved: async () => undefined,
  numbered: () => undefined,
  notice: () => undefined,
  timeoutsMs: TIMEOUTS_MS,
  now: Date.now,
}

export interface MergeReport extends ProjectContents {
  dryRun: boolean
  from: Project
  into: Project
}

/** Runs one piece of work after the other; a failed one does not stop the next. */
class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  async idle(): Promise<void> {
    await this.#last
  }
}

export class Projects implements ProjectFiling {
  readonly #options: Required<ProjectsOptions>
  readonly #store: Store
  readonly #deciding = new SerialQueue()
  readonly #moving = new SerialQueue()
  #decisions: Decisions = new Map()
  #stopped = false

  constructor(options: ProjectsOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#store = options.store
  }

  /** Called before any event is accepted. */
  async load(): Promise<void> {
    await this.#read()
    const straight = straightened(this.#decisions)
    if (straight.length > 0) await this.#decide(straight)
    const merged = [...this.#decisions.values()].flatMap(({ key: from, mergedInto: into }) =>
      into === null ? [] : [{ from, into }],
    )
    // Merges that an earlier process left unfinished.
    if (merged.length > 0) void this.#moveMemory(merged, true)
  }

  /** The key under which a project's memory is kept, after merges. */
  keyOf(project: string): string {
    return this.#decisions.get(project)?.mergedInto ?? project
  }

  /** `name` null: back to the name that its sessions report. */
  async rename(given: string, name: string | null): Promise<Project> {
    const project = await this.#known(given)
    const wanted = name === null ? null : checkedName(name)
    await this.#deciding.run(async () => {
      if (wanted !== null) await this.#refuseTaken(wanted, project.key)
      await this.#decide([{ key: project.key, name: wanted }])
    })
    this.#options.changed(project.key)
    return await this.#known(project.key)
  }

  /** Resolves once all rows are moved. Without `confirm` it only reports what would move. */
  async merge(from: string, into: string, confirm: boolean): Promise<MergeReport> {
    const [source, target] = await Promise.all([this.#known(from), this.#known(into)])
    if (source.key === target.key) throw oneAlready(from, into, target)
    const contents = await this.#store.projectContents(source.key)
    const report: MergeReport = { dryRun: !confirm, from: source, into: target, ...contents }
    if (!confirm) return report
    await this.#deciding.run(async () => {
      const merge = { from: this.keyOf(source.key), into: this.keyOf(target.key) }
      if (merge.from === merge.into) throw oneAlready(from, into, target)
      await this.#decide(mergeChanges(this.#decisions, merge.from, merge.into))
    })
    await this.#moveMemory([{ from: source.key, into: this.keyOf(target.key) }])
    return report
  }

  /** A session starts: its repository may have been at another path before. */
  async arrives({ project: { key }, cwd }: MemoryEvent): Promise<void> {
    if (!key.startsWith('git:')) return
    try {
      const fingerprint = await withTimeout(this.#options.timeoutsMs.inspect, fingerprintOf(key), null)
      const known = this.#decisions.get(key)
      if (known !== undefined && fingerprint === null && !isBack(known)) return
      if (known !== undefined && fingerprint === known.fingerprint && known.root !== null) return
      const left = await this.#deciding.run(() => this.#settle(key, cwd, fingerprint))
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
    await this.#deciding.idle()
    this.#stopped = true
    await this.#moving.idle()
  }

  /** Records the directory and returns the keys of projects whose memory moves here. */
  async #settle(key: string, cwd: string, fingerprint: string | null): Promise<string[]> {
    await this.#read()
    const known = this.#decisions.get(key)
    const back = isBack(known)
    // A key whose repository is already known gets nothing: then the other one was a copy that was deleted.
    const isNew = fingerprint !== null && (known?.fingerprint ?? null) === null
    const elsewhere = isNew ? await this.#leftBehind(fingerprint, key) : []
    const mergedByHand = elsewhere.find(({ mergedInto: into }) => into !== null && into !== key)?.mergedInto ?? null
    const mergedInto = back || known === undefined ? mergedByHand : known.mergedInto
    const home = mergedInto ?? key
    const left = [
      ...elsewhere.filter((other) => other.mergedInto === null && other.key !== home),
      ...(known === undefined ? await this.#beforeGit(key) : []),
    ]
    const root = known?.root ?? rootOf(key, cwd)
    await this.#decide([
      { key, fingerprint, root, mergedInto },
      ...left.flatMap((old) => moveChanges(this.#decisions, old, home)),
    ])
    for (const old of left) await this.#tellMoved(old, home)
    return left.map((old) => old.key)
  }

  /** Paths where the same repository was before and no longer is. */
  async #leftBehind(fingerprint: string, here: string): Promise<ProjectDecision[]> {
    const same = [...this.#decisions.values()].filter(
      (other) => other.fingerprint === fingerprint && other.key !== here,
    )
    const gone = await Promise.all(
      same.map(({ key }) => withTimeout(this.#options.timeoutsMs.inspect, isGone(key), false)),
    )
    return same.filter((_, i) => gone[i] === true)
  }

  /** The project of the same directory before it became a repository. */
  async #beforeGit(key: string): Promise<ProjectDecision[]> {
    const tree = projectWorkingTree(key)
    if (tree === null) return []
    const before = `dir:${tree}`
    const decided = this.#decisions.get(before)
    if (decided !== undefined && decided.mergedInto !== null) return []
    const { sessions } = await this.#store.projectContents(before)
    if (sessions === 0) return []
    return [decided ?? { key: before, name: null, mergedInto: null, root: null, fingerprint: null, files: [] }]
  }

  async #tellMoved({ key, name, root }: ProjectDecision, home: string): Promise<void> {
    const { observations, sessions } = await this.#store.projectContents(key)
    if (observations + sessions === 0) return
    const place = (of: string) => projectWorkingTree(of) ?? projectKeyPath(of) ?? of
    const called = name ?? basename(root ?? place(key))
    const how = place(key) === place(home) ? 'is a repository now' : `moved from ${place(key)} to ${place(home)}`
    this.#options.notice('info', `${called} ${how}: its memory moved too`)
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
    const moved = this.#moving.run(async () => {
      const rows = await this.#moveRows()
      // It was finished, and published, before.
      if (isResumed && rows === 0) return
      for (const merge of merges) await this.#updateDerivedData(merge)
      if (!this.#stopped) this.#options.numbered(await this.#store.nextSeq())
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

  async #decide(changes: readonly ProjectChange[]): Promise<void> {
    const { seq } = await this.#store.decideProjects(changes, this.#options.now())
    if (seq !== null) this.#options.numbered(seq)
    await this.#read()
  }

  async #read(): Promise<void> {
    this.#decisions = new Map((await this.#store.projectDecisions()).map((decision) => [decision.key, decision]))
  }
}

function rootOf(key: string, cwd: string): string {
  const tree = projectWorkingTree(key)
  return tree !== null && key !== `git:${tree}` ? tree : workingTreeRoot(cwd)
}

function oneAlready(from: string, into: string, { name, key }: Project): MemError {
  return from === into
    ? new MemError('bad_request', `${name} cannot be merged into itself`)
    : new MemError('bad_request', `${from} and ${into} are one project already: ${name} (${key})`)
}
