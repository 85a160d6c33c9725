/**
 * What is decided about projects: their names by hand, which of them are one, and that a repository moved. Decisions
 * are made one after the other, held in memory, and durable before anybody hears of them. What a merge leaves to be
 * filed anew is done behind them, in pieces; one that a dead process left is taken up at the next start.
 */
import { basename } from 'node:path'
import type { Filing } from '../actors/supervisor.ts'
import { chosenProject } from '../context/project.ts'
import { MemError, messageOf } from '../errors.ts'
import type { MemoryEvent } from '../memory/event.ts'
import { type Project, placeOf, projectRoot, treeOf } from '../memory/project.ts'
import type { Store } from '../store/port.ts'
import type { ProjectChange, ProjectContents, ProjectDecision } from '../store/project-port.ts'
import { type ProjectView, projectViews } from './project-list.ts'
import { type Decisions, isBack, keptUnder, mergeChanges, moveChanges, straightened } from './project-moves.ts'
import { checkedName } from './project-name.ts'
import { fingerprintOf, isGone } from './project-place.ts'
import { Refiling, type RefilingOptions } from './refiling.ts'
import { within } from './within.ts'

/**
 * A session that starts waits no longer for its place to be looked at, which may be on a dead network drive, nor for
 * memory that comes along: the rest of it comes with the next session. In ms.
 */
const PATIENCE = { look: 200, along: 700 }

export interface ProjectsOptions extends RefilingOptions {
  store: Store
  /** Other times than the usual, in ms. */
  patience?: { look: number; along: number }
  now?: () => number
}

export interface MergeReport extends ProjectContents {
  dryRun: boolean
  from: Project
  into: Project
}

export class Projects implements Filing {
  readonly #options: ProjectsOptions
  readonly #store: Store
  readonly #refiling: Refiling
  readonly #patience: { look: number; along: number }
  #decisions: Decisions = new Map()
  #deciding: Promise<unknown> = Promise.resolve()

  constructor(options: ProjectsOptions) {
    this.#options = options
    this.#store = options.store
    this.#refiling = new Refiling(options)
    this.#patience = options.patience ?? PATIENCE
  }

  /** Before anything is accepted. */
  async load(): Promise<void> {
    await this.#read()
    const straight = straightened(this.#decisions)
    if (straight.length > 0) await this.#decide(straight)
    const merged = [...this.#decisions.values()].flatMap(({ key: from, mergedInto: into }) =>
      into === null ? [] : [{ from, into }],
    )
    this.#refiling.resume(merged)
  }

  keyOf(project: string): string {
    return keptUnder(this.#decisions, project)
  }

  list(): Promise<ProjectView[]> {
    return projectViews(this.#store)
  }

  /** `name` null: back to what its sessions say. */
  async rename(given: string, name: string | null): Promise<Project> {
    const project = await this.#known(given)
    const wanted = name === null ? null : checkedName(name)
    await this.#inTurn(async () => {
      if (wanted !== null) await this.#refuseTaken(wanted, project.key)
      await this.#decide([{ key: project.key, name: wanted }])
    })
    this.#options.changed?.(project.key)
    return await this.#known(project.key)
  }

  /** Resolves once everything is filed under the other. Without `confirm` it only says what would be. */
  async merge(from: string, into: string, confirm: boolean): Promise<MergeReport> {
    const [source, target] = await Promise.all([this.#known(from), this.#known(into)])
    if (source.key === target.key) throw oneAlready(from, into, target)
    const contents = await this.#store.projectContents(source.key)
    const report: MergeReport = { dryRun: !confirm, from: source, into: target, ...contents }
    if (!confirm) return report
    await this.#inTurn(async () => {
      const merge = { from: this.keyOf(source.key), into: this.keyOf(target.key) }
      if (merge.from === merge.into) throw oneAlready(from, into, target)
      await this.#decide(mergeChanges(this.#decisions, merge.from, merge.into))
    })
    await this.#refiling.after([{ from: source.key, into: this.keyOf(target.key) }])
    return report
  }

  /** A session starts: its repository may have been elsewhere before. */
  async arrives({ project: { key }, cwd }: MemoryEvent): Promise<void> {
    if (!key.startsWith('git:')) return
    try {
      const fingerprint = await within(this.#patience.look, fingerprintOf(key), null)
      const known = this.#decisions.get(key)
      if (known !== undefined && fingerprint === null && !isBack(known)) return
      if (known !== undefined && fingerprint === known.fingerprint && known.root !== null) return
      const left = await this.#inTurn(() => this.#settle(key, cwd, fingerprint))
      if (left.length === 0) return
      const filed = this.#refiling.after(left.map((from) => ({ from, into: this.keyOf(key) })))
      await within(this.#patience.along, filed, undefined)
    } catch (error) {
      this.#options.notice?.('warn', `the place of a project could not be noted: ${messageOf(error)}`)
    }
  }

  /** What is under way is finished; what is left to be filed is the next start's. */
  async stop(): Promise<void> {
    await this.#deciding
    await this.#refiling.stop()
  }

  /** Keys of projects that came along. */
  async #settle(key: string, cwd: string, fingerprint: string | null): Promise<string[]> {
    await this.#read()
    const known = this.#decisions.get(key)
    const back = isBack(known)
    // A key whose repository is known already keeps to itself: then the other one was a copy, and was deleted.
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

  /** Where the same repository was seen before, and is no more. */
  async #leftBehind(fingerprint: string, here: string): Promise<ProjectDecision[]> {
    const same = [...this.#decisions.values()].filter(
      (other) => other.fingerprint === fingerprint && other.key !== here,
    )
    const gone = await Promise.all(same.map(({ key }) => within(this.#patience.look, isGone(key), false)))
    return same.filter((_, i) => gone[i] === true)
  }

  /** What was remembered of the directory before somebody made a repository of it. */
  async #beforeGit(key: string): Promise<ProjectDecision[]> {
    const tree = treeOf(key)
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
    const place = (of: string) => treeOf(of) ?? placeOf(of) ?? of
    const called = name ?? basename(root ?? place(key))
    const how = place(key) === place(home) ? 'is a repository now' : `moved from ${place(key)} to ${place(home)}`
    this.#options.notice?.('info', `${called} ${how}: its memory came along`)
  }

  async #known(given: string): Promise<Project> {
    const { key } = await chosenProject(this.#store, given)
    const [known] = await this.#store.projects({ key, limit: 1 })
    if (known === undefined) throw new MemError('not_found', `nothing is remembered of ${given}`)
    return { key: known.key, name: known.name }
  }

  async #refuseTaken(name: string, key: string): Promise<void> {
    const other = (await this.#store.projects({ name })).find((project) => project.key !== key)
    if (other === undefined) return
    const ways = 'choose another name, or make them one with claude-mem projects merge'
    throw new MemError('bad_request', `another project is called "${name}" (${other.key}): ${ways}`)
  }

  #inTurn<T>(decide: () => Promise<T>): Promise<T> {
    const decided = this.#deciding.then(decide)
    this.#deciding = decided.catch(() => undefined)
    return decided
  }

  async #decide(changes: readonly ProjectChange[]): Promise<void> {
    const { seq } = await this.#store.decideProjects(changes, (this.#options.now ?? Date.now)())
    if (seq !== null) this.#options.numbered?.(seq)
    await this.#read()
  }

  async #read(): Promise<void> {
    this.#decisions = new Map((await this.#store.projectDecisions()).map((decision) => [decision.key, decision]))
  }
}

function rootOf(key: string, cwd: string): string {
  const tree = treeOf(key)
  return tree !== null && key !== `git:${tree}` ? tree : projectRoot(cwd)
}

function oneAlready(from: string, into: string, { name, key }: Project): MemError {
  return from === into
    ? new MemError('bad_request', `${name} cannot be merged into itself`)
    : new MemError('bad_request', `${from} and ${into} are one project already: ${name} (${key})`)
}
