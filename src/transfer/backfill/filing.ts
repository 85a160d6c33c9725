/**
 * To which project a past session belongs: that of the directory with most of its entries. A session moves about; the first
 * directory is often the home directory. Of a directory that is gone git says nothing any more, so the first of these counts:
 *
 * 1. The remote that the client recorded in the session's transcript, or in that of another session in or above the directory.
 * 2. A clone in or above the directory, which exists or is known to the memory.
 * 3. A clone that lists the directory as its worktree.
 * 4. The directory of another session, if this one was below its `worktrees`, where tools put the worktrees of a repository.
 *
 * Transcripts are the user's own files, written by the client, so their word about a remote counts; what a directory says
 * about itself is judged by src/daemon/repository-joins.ts.
 */
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import {
  isExcluded,
  type Project,
  projectKeyPath,
  projectOfDirectory,
  projectWorkingTree,
  resolveGivenPath,
} from '../../domain/project.ts'
import { claimedRepository, travellingName } from '../../domain/repository.ts'
import { readTextFile } from '../../lib/files.ts'

/** Where a session was. */
export interface SessionPlaces {
  /** Entries of the main agent in each directory. */
  directories: ReadonlyMap<string, number>
  /** Key of the repository whose remote the client recorded at its start, and where that was; null: of none. */
  repository: { key: string; directory: string } | null
}

export interface FiledSession {
  project: Project
  /** The directory with most entries. */
  cwd: string
  excluded: boolean
}

interface FilingOptions {
  /** Keys of projects and directories that the memory knows. */
  known: readonly string[]
  /** Paths of projects that are not read. */
  excluded: readonly string[]
}

/** In the order of the sessions. */
export function fileSessions(sessions: readonly SessionPlaces[], options: FilingOptions): FiledSession[] {
  const filing = new Filing(sessions, options)
  return sessions.map((session) => filing.file(session))
}

interface Place {
  directory: string
  /** By what is there now. */
  project: Project
  exists: boolean
}

class Filing {
  readonly #options: FilingOptions
  readonly #places = new Map<string, Place>()
  /** Repositories by directories that are gone, as the client recorded them. */
  readonly #remotes = new Map<string, string>()
  readonly #clones: ReadonlySet<string>
  readonly #worktrees: ReadonlyMap<string, string>
  readonly #excludedRepositories: ReadonlySet<string>

  constructor(sessions: readonly SessionPlaces[], options: FilingOptions) {
    this.#options = options
    for (const { directories, repository } of sessions) {
      for (const directory of directories.keys()) this.#placeOf(directory)
      const start = repository === null ? null : this.#placeOf(repository.directory)
      if (repository !== null && start?.exists === false) this.#remotes.set(realPath(start), repository.key)
    }
    const found = [...this.#places.values()].map(({ project }) => project.key)
    this.#clones = new Set([...options.known, ...found].filter((key) => key.startsWith('git:')))
    this.#worktrees = new Map([...this.#clones].flatMap((key) => worktreesOf(key).map((tree) => [tree, key])))
    this.#excludedRepositories = excludedRepositories(this.#clones, options.excluded)
  }

  file({ directories, repository }: SessionPlaces): FiledSession {
    const place = this.#busiest(directories)
    const project = this.#projectOf(place, repository?.key ?? null)
    const cwd = place.directory
    const excluded =
      isExcluded(cwd, place.project, this.#options.excluded) ||
      isExcluded(cwd, project, this.#options.excluded) ||
      this.#excludedRepositories.has(project.key)
    return { project, cwd, excluded }
  }

  #placeOf(directory: string): Place {
    const known = this.#places.get(directory)
    if (known !== undefined) return known
    const place = { directory, project: projectOfDirectory(directory), exists: existsSync(directory) }
    this.#places.set(directory, place)
    return place
  }

  /** The project with most entries, and there the directory with most; of equal ones the first. */
  #busiest(directories: ReadonlyMap<string, number>): Place {
    const entries = new Map<string, number>()
    for (const [directory, count] of directories) {
      const { key } = this.#placeOf(directory).project
      entries.set(key, (entries.get(key) ?? 0) + count)
    }
    const [project] = mostFirst(entries)
    const inProject = [...directories].filter(([directory]) => this.#placeOf(directory).project.key === project)
    const [directory = UNKNOWN_DIRECTORY] = mostFirst(inProject)
    return this.#placeOf(directory)
  }

  #projectOf(place: Place, repository: string | null): Project {
    const { project, exists } = place
    if (exists && project.key.startsWith('git:')) return project
    if (repository !== null) return repositoryProject(repository)
    return exists ? project : (this.#recordedProject(place) ?? project)
  }

  /** Null: nothing is known of a directory that is gone. */
  #recordedProject(place: Place): Project | null {
    const directory = realPath(place)
    const parents = ancestors(directory)
    const remote = parents.find((at) => this.#remotes.has(at))
    if (remote !== undefined) return repositoryProject(this.#remotes.get(remote) ?? '')
    if (place.project.key.startsWith('git:')) return null
    const clone =
      parents.map((at) => `git:${join(at, '.git')}`).find((key) => this.#clones.has(key)) ??
      parents.map((at) => this.#worktrees.get(at)).find((key) => key !== undefined)
    if (clone !== undefined) return { key: clone, name: baseName(projectWorkingTree(clone) ?? clone) }
    const repository = WORKTREES.exec(directory)?.[1]
    const seen = repository === undefined ? undefined : this.#places.get(repository)
    return seen === undefined || seen.exists ? null : seen.project
  }
}

/** For a session none of whose lines names a directory. */
const UNKNOWN_DIRECTORY = '/'

/** `/shop/.claude/worktrees/fix`, `/shop/.worktrees/fix`: what comes before is the repository. */
const WORKTREES = /^(.+?)[\\/](?:\.[\w-]+[\\/])?\.?worktrees[\\/]/

function mostFirst(counts: Iterable<[string, number]>): string[] {
  return [...counts].sort(([, a], [, b]) => b - a).map(([key]) => key)
}

/** With the links of its existing parents resolved, as git names it. */
const realPath = ({ project, directory, exists }: Place): string =>
  exists || project.key.startsWith('git:') ? directory : (projectKeyPath(project.key) ?? directory)

const baseName = (path: string): string => /[^\\/]+$/.exec(path)?.[0] ?? path

function repositoryProject(key: string): Project {
  return { key, name: travellingName(key) ?? key }
}

/** Longer than any path that a file system opens, in characters. */
const MAX_PATH_CHARS = 4_096

/** A directory and those above it, of any system. */
function ancestors(directory: string): string[] {
  const found: string[] = []
  for (let at = directory; at !== '' && at.length <= MAX_PATH_CHARS; at = at.replace(/[\\/]?[^\\/]*$/, ''))
    found.push(at)
  return found
}

const MAX_WORKTREES = 1_000
/** A file of git with one path, in bytes. */
const MAX_LINK_BYTES = 8_192

/** The directories of a clone's linked worktrees. git lists one until it is pruned, also if it is gone. */
function worktreesOf(clone: string): string[] {
  const listed = join(projectKeyPath(clone) ?? '', 'worktrees')
  try {
    return readdirSync(listed)
      .slice(0, MAX_WORKTREES)
      .flatMap((name) => readTextFile(join(listed, name, 'gitdir'), MAX_LINK_BYTES)?.trim() ?? [])
      .map((dotGit) => dirname(normalize(dotGit)))
  } catch {
    return []
  }
}

const MAX_CONFIG_BYTES = 1 << 20

/** Repositories of clones in excluded directories: their worktrees elsewhere are excluded too, also if they are gone. */
function excludedRepositories(clones: ReadonlySet<string>, excluded: readonly string[]): Set<string> {
  const named = excluded.flatMap((entry) => resolveGivenPath(entry, '/', homedir()) ?? [])
  const keys = [...clones, ...named.map((directory) => projectOfDirectory(directory).key)]
  const repositories = keys.flatMap((key) => {
    const tree = key.startsWith('git:') ? projectWorkingTree(key) : null
    if (tree === null || !isExcluded(tree, { key, name: '' }, excluded)) return []
    return claimedRepository(readTextFile(join(projectKeyPath(key) ?? '', 'config'), MAX_CONFIG_BYTES) ?? '') ?? []
  })
  return new Set(repositories)
}
