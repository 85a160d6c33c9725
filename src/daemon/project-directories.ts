/**
 * The directories of repositories: decides to which repository each belongs (rules in repository-joins.ts), does what the
 * user says about them, and files their memory accordingly.
 */
import { basename } from 'node:path'
import { type Project, projectKeyPath } from '../domain/project.ts'
import { namedProjectKey, travellingIdentity, travellingName } from '../domain/repository.ts'
import { errorMessage, MemError } from '../lib/errors.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import { withTimeout } from '../lib/timeout.ts'
import type { DirectoryUpdate, ProjectContents, Store } from '../store/port.ts'
import { readClaim } from './git-directory.ts'
import { checkedProjectName, type ProjectState } from './project-state.ts'
import { joinUpdates } from './project-updates.ts'
import {
  clonesOf,
  decideRepository,
  decisionNotice,
  questionText,
  type RepositoryDecision,
  readFacts,
} from './repository-joins.ts'

/** Longest time for deciding where a directory belongs, in ms: it may be on a slow disk. */
const DECIDE_TIMEOUT_MS = 10_000
/** Directories of earlier sessions that are looked at when the daemon starts; the others when a session starts in them. */
const MAX_ADOPTED = 500

export interface LinkReport {
  /** Key of the directory. */
  directory: string
  /** The project to which its sessions belong from now on. */
  project: Project
  /** What became part of that project. */
  moved: ProjectContents
  /** The project to which they belonged, and which keeps what was learned before; null: everything moved along. */
  stays: Project | null
}

interface ProjectDirectoriesOptions {
  store: Store
  state: ProjectState
  changed: (project: string) => void
  notice: (level: 'info' | 'warn', text: string) => void
  /** Whether further clones of a repository share its memory. */
  together: () => boolean
  /** Whether other machines have the memory of a project. */
  isShared: (project: string) => Promise<boolean>
}

export class ProjectDirectories {
  readonly #options: ProjectDirectoriesOptions
  readonly #store: Store
  readonly #state: ProjectState
  /** One decision after the other, so that of two new clones one is the first. They read directories, which may take long. */
  readonly #queue = new SerialQueue()

  constructor(options: ProjectDirectoriesOptions) {
    this.#options = options
    this.#store = options.store
    this.#state = options.state
  }

  /** Directories of sessions from before repositories had an identity. Runs in the background; repeated at the next start. */
  async adoptKnown(): Promise<void> {
    try {
      const projects = await this.#store.listProjects()
      const keys = projects
        .map(({ key }) => key)
        .filter((key) => key.startsWith('git:') && !this.#state.directories.has(key))
      for (const key of keys.slice(0, MAX_ADOPTED)) {
        if (this.#state.stopped) return
        await (await this.assign(key)).moved
      }
    } catch (error) {
      const text = 'the repositories of earlier sessions could not be read; each is read when a session starts in it'
      this.#options.notice('warn', `${text}: ${errorMessage(error)}`)
    }
  }

  /** What the user has to be asked about a directory, once; null: nothing, or it was asked before. */
  takeQuestion(key: string): string | null {
    const directory = this.#state.directories.get(key)
    if (directory === undefined || directory.state !== 'unconfirmed' || directory.told || directory.repository === null)
      return null
    const told = this.#state.queue.run(async () => {
      const now = this.#state.directories.get(key)
      if (now?.state === 'unconfirmed') await this.#state.update([], [{ ...now, told: true }])
    })
    told.catch((error: unknown) => {
      this.#options.notice('warn', `it could not be stored that a question was asked: ${errorMessage(error)}`)
    })
    const { repository } = directory
    return questionText(this.#state.pathOf(key), repository, this.#clonesOf(repository, key))
  }

  /** Makes a directory part of the repository that it names, or of the project with this name. Resolves once all is moved. */
  async link(key: string, name: string | null): Promise<LinkReport> {
    const claim = await this.#claimOf(key)
    const target = name === null ? claim : namedProjectKey(checkedProjectName(name))
    if (target === null) {
      const ways = 'name it: claude-mem projects link PATH NAME; other machines find it by that name'
      throw new MemError(
        'bad_request',
        `${this.#state.pathOf(key)} has no remote that other machines can reach; ${ways}`,
      )
    }
    const linked = await this.#state.queue.run(async () => {
      await this.#state.read()
      const [from, into] = [this.#state.keyOf(key), this.#state.keyOf(target)]
      const staysWith = from !== key && travellingIdentity(from) !== null && from !== into ? from : null
      const moves = staysWith === null ? from : key
      const contents = await this.#store.projectContents(moves)
      const updates = from === into ? [] : joinUpdates(this.#state.settings, moves, into)
      const repository = name === null ? claim : null
      await this.#state.update(updates, [{ key, repository, state: 'linked', told: true, createdAt: null }])
      return { into, moves, staysWith, moved: from === into ? NOTHING : contents }
    })
    await this.#state.moveMemory([{ from: linked.moves, into: linked.into }])
    return {
      directory: key,
      project: await this.#nameOf(linked.into),
      moved: linked.moved,
      stays: linked.staysWith === null ? null : await this.#nameOf(linked.staysWith),
    }
  }

  /** Keeps a directory apart from all other clones: what is learned there from now on is its own. */
  async split(key: string): Promise<LinkReport> {
    const claim = await this.#claimOf(key)
    const from = await this.#state.queue.run(async () => {
      await this.#state.read()
      const before = this.#state.keyOf(key)
      if (before !== key && travellingIdentity(before) === null)
        throw mergedByHandError(this.#state.pathOf(key), before)
      const directory: DirectoryUpdate = { key, repository: claim, state: 'apart', told: true, createdAt: null }
      await this.#state.update(before === key ? [] : [{ key, mergedInto: null }], [directory])
      return before
    })
    this.#options.changed(key)
    this.#options.changed(from)
    return {
      directory: key,
      project: await this.#nameOf(key),
      moved: NOTHING,
      stays: from === key ? null : await this.#nameOf(from),
    }
  }

  /** Decides to which repository a directory belongs. `moved` resolves once its memory is filed there. */
  assign(key: string): Promise<{ moved: Promise<void> }> {
    return this.#queue.run(async () => {
      const nothing = { moved: Promise.resolve() }
      if (this.#state.stopped) return nothing
      const decided = await withTimeout(DECIDE_TIMEOUT_MS, this.#decide(key), null)
      if (decided === null || this.#state.stopped) return nothing
      const { decision, createdAt } = decided
      if (!(await this.#apply(key, decision, createdAt))) return nothing
      const clones = decision.type === 'ask' ? this.#clonesOf(decision.repository, key) : []
      const notice = decisionNotice(this.#state.pathOf(key), decision, clones)
      if (notice !== null) this.#options.notice(notice.level, notice.text)
      if (decision.type !== 'join') return nothing
      return { moved: this.#state.moveMemory([{ from: decision.moves, into: this.#state.keyOf(decision.repository) }]) }
    })
  }

  async #decide(key: string): Promise<{ decision: RepositoryDecision; createdAt: number | null } | null> {
    const question = {
      key,
      directory: this.#state.directories.get(key),
      mergedInto: this.#state.settings.get(key)?.mergedInto ?? null,
      directories: [...this.#state.directories.values()],
      together: this.#options.together(),
    }
    const { isShared } = this.#options
    const facts = await readFacts(question, { store: this.#store, keyOf: (of) => this.#state.keyOf(of), isShared })
    if (facts === null) return null
    return { decision: await decideRepository(question, facts), createdAt: facts.createdAt }
  }

  /** False where the user decided in the meantime. */
  async #apply(key: string, decision: RepositoryDecision, createdAt: number | null): Promise<boolean> {
    if (decision.type === 'none' || decision.type === 'stay') return true
    const isApplied = await this.#state.queue.run(async () => {
      const before = this.#state.directories.get(key)
      if (before?.state === 'linked' || before?.state === 'apart') return false
      if (decision.type === 'join') {
        const { repository, moves } = decision
        const into = this.#state.keyOf(repository)
        const updates = moves === into ? [] : joinUpdates(this.#state.settings, moves, into)
        await this.#state.update(updates, [{ key, repository, state: 'joined', told: false, createdAt }])
        return true
      }
      const directory: DirectoryUpdate =
        decision.type === 'ask'
          ? { key, repository: decision.repository, state: 'unconfirmed', told: false, createdAt: null }
          : { key, repository: null, state: null, told: false, createdAt: null }
      await this.#state.update(decision.left === null ? [] : [{ key, mergedInto: null }], [directory])
      return true
    })
    if (isApplied && decision.type !== 'join' && decision.left !== null) this.#options.changed(key)
    return isApplied
  }

  /** Working trees of the repository that are known besides this one. */
  #clonesOf(repository: string, key: string): string[] {
    return clonesOf(repository, key, [...this.#state.directories.values()]).map((other) =>
      this.#state.pathOf(other.key),
    )
  }

  /** Null: the directory names no repository, or cannot be read. */
  async #claimOf(key: string): Promise<string | null> {
    const path = projectKeyPath(key)
    if (path === null) throw new MemError('bad_request', `${key} is not a directory; give the path of one`)
    if (!key.startsWith('git:')) return null
    return (await withTimeout(DECIDE_TIMEOUT_MS, readClaim(path), null)) ?? null
  }

  async #nameOf(key: string): Promise<Project> {
    const known = await this.#state.projectWithKey(key)
    const name = known?.name ?? this.#state.settings.get(key)?.name ?? travellingName(key)
    return { key, name: name ?? basename(this.#state.pathOf(key)) }
  }
}

const NOTHING: ProjectContents = { sessions: 0, observations: 0, summaries: 0, prompts: 0 }

function mergedByHandError(path: string, project: string): MemError {
  return new MemError('bad_request', `${path} was merged into ${project} by hand, which cannot be undone`)
}
