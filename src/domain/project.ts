/**
 * Projects partition the memory. A key is `git:` with the common directory of a repository, `dir:` with a directory
 * outside of repositories, or `import:` with a name for imported memories whose directory is unknown. These mean something
 * on one machine only; `repo:` with the address of a remote and `named:` with a name that the user chose are the same on
 * every machine (src/domain/repository.ts), and the daemon files the memory of directories under them. The name is for
 * people: several projects may have the same one.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { homedir } from 'node:os'
import nodePath from 'node:path'
import { MemError } from '../lib/errors.ts'
import { readTextFile } from '../lib/files.ts'
import {
  comparablePath,
  isAtOrBelow,
  isPosixPath,
  isWindowsPath,
  pathRules,
  withoutLongPathPrefix,
} from '../lib/paths.ts'

export interface Project {
  key: string
  name: string
}

/** The file system as far as it is needed to find a project. No method throws. */
export interface ProjectFiles {
  /** The path without symbolic links; null if it does not exist. */
  real(path: string): string | null
  /** Of the entry itself: a symbolic link is not followed. Null if there is none, or a device, a pipe or a socket. */
  kind(path: string): 'file' | 'directory' | 'link' | null
  /** Null if it is not a regular file of reasonable size. */
  read(path: string): string | null
}

/** Longer than any path that a file system opens, in characters: walking up all its levels would take minutes. */
const MAX_OPENED_CHARS = 4_096

/**
 * The project of a directory: its repository, found as git does but without running git, else the directory itself. All
 * worktrees of a repository are one project; a submodule is a separate project. A tree that claims the repository of
 * another one is a directory of its own.
 */
export function projectOfDirectory(
  given: string,
  files: ProjectFiles = realFiles,
  path: typeof nodePath = nodePath,
): Project {
  const cwd = withoutLongPathPrefix(given)
  if (cwd.length > MAX_OPENED_CHARS) return { key: `dir:${cwd}`, name: path.basename(cwd) || cwd }
  const foreign = pathRulesOfOtherSystem(cwd, path)
  if (foreign !== null) return projectOfDirectory(withUpperDrive(cwd), NO_FILES, foreign)
  const directory = realDirectory(cwd, files, path)
  for (let at = directory; ; at = path.dirname(at)) {
    const project = repositoryAt(at, files, path)
    if (project !== null) return project
    if (path.dirname(at) === at) break
  }
  return { key: `dir:${directory}`, name: path.basename(directory) || directory }
}

const NO_FILES: ProjectFiles = { real: () => null, kind: () => null, read: () => null }

/**
 * The rules of the other system, if a path is one of its paths: a transcript may come from another computer. By the rules of
 * this one it would be taken for a relative path, or for a path on the current drive. Null for a path of this system.
 */
function pathRulesOfOtherSystem(cwd: string, path: typeof nodePath): typeof nodePath | null {
  if (path.sep === '/') return isWindowsPath(cwd) ? nodePath.win32 : null
  return isPosixPath(cwd) ? nodePath.posix : null
}

/** Clients write the letter of a drive in either case. */
const withUpperDrive = (cwd: string): string => cwd.replace(/^[a-z](?=:)/, (letter) => letter.toUpperCase())

/** The top of the working tree that a directory is in; the directory itself if it is in no repository. */
export function workingTreeRoot(
  cwd: string,
  files: ProjectFiles = realFiles,
  path: typeof nodePath = nodePath,
): string {
  // Its parents would be looked for in the current directory.
  if (!path.isAbsolute(cwd) || pathRulesOfOtherSystem(cwd, path) !== null) return cwd
  for (let at = cwd; ; at = path.dirname(at)) {
    if (repositoryAt(at, files, path) !== null) return at
    if (path.dirname(at) === at) return cwd
  }
}

/** The top of the working tree that this process runs in. */
export function currentWorkingTree(): string {
  try {
    return workingTreeRoot(process.cwd())
  } catch {
    // The directory was deleted, so that no file of a project is here any more.
    return nodePath.sep
  }
}

/** The path in a key: git's common directory, or the directory itself. Null for keys without a path. */
export function projectKeyPath(key: string): string | null {
  return /^(?:git|dir):(.+)$/s.exec(key)?.[1] ?? null
}

/**
 * Whether a session that changes its directory stays in its project: outside of repositories, a directory below the project's own
 * belongs to it. Not below the home directory, where clients are started that then enter a project.
 */
export function staysInProject(from: Project, to: Project): boolean {
  if (!from.key.startsWith('dir:') || !to.key.startsWith('dir:')) return false
  const [root, directory] = [projectKeyPath(from.key) ?? '', projectKeyPath(to.key) ?? '']
  return root !== homedir() && nodePath.dirname(root) !== root && isAtOrBelow(directory, root)
}

/** The main working tree that a key names. The path in the key if that is a bare repository. */
export function projectWorkingTree(key: string, path: typeof nodePath = nodePath): string | null {
  const place = projectKeyPath(key)
  if (place === null || key.startsWith('dir:')) return place
  return ['.git', '.bare'].includes(path.basename(place)) ? path.dirname(place) : place
}

/** Resolves symbolic links. For a deleted directory, those of its existing parents. */
function realDirectory(cwd: string, files: ProjectFiles, path: typeof nodePath): string {
  const absolute = path.isAbsolute(cwd) ? path.normalize(cwd) : resolveSafely(cwd, path)
  let rest = ''
  for (let at = absolute; ; at = path.dirname(at)) {
    const real = files.real(at)
    if (real !== null) return rest === '' ? real : path.join(real, rest)
    if (path.dirname(at) === at) return path.resolve(absolute)
    rest = path.join(path.basename(at), rest)
  }
}

function resolveSafely(cwd: string, path: typeof nodePath): string {
  try {
    return path.resolve(cwd)
  } catch {
    // The working directory of this process was deleted.
    return path.join(path.sep, cwd)
  }
}

function repositoryAt(directory: string, files: ProjectFiles, path: typeof nodePath): Project | null {
  const dotGit = path.join(directory, '.git')
  const kind = files.kind(dotGit)
  const gitDir = kind === null ? null : gitDirectory(dotGit, directory, files, path)
  // An empty `.git` is not a repository: git continues with the parent directory too.
  if (gitDir === null || files.kind(path.join(gitDir, 'HEAD')) === null) return null
  const common = ownCommonDirectory(gitDir, directory, files, path)
  // Anybody can write a `.git` that names the repository of another project: an archive may contain one.
  if (common === null) return { key: `dir:${directory}`, name: path.basename(directory) || directory }
  return { key: `git:${common}`, name: repositoryName(common, common === gitDir ? directory : null, path) }
}

/** What `.git` leads to, without symbolic links; null if it leads nowhere. In worktrees and submodules it is a file. */
function gitDirectory(dotGit: string, directory: string, files: ProjectFiles, path: typeof nodePath): string | null {
  const text = files.read(dotGit)
  if (text === null) return files.real(dotGit)
  const target = /^gitdir:[ \t]*([^\r\n]+)/.exec(text)?.[1]?.trim() ?? ''
  if (target === '') return null
  const gitDir = path.resolve(directory, target)
  return files.real(gitDir) ?? gitDir
}

/**
 * The common directory of the repository that a working tree belongs to; null if only the tree itself says so. A git
 * directory directly in the tree is its own. Any other one must name the tree: a linked worktree's in `gitdir`, below the
 * `worktrees` of its repository, and a submodule's in `core.worktree`. What `git init --separate-git-dir` makes names no
 * tree; `git config core.worktree` adds it.
 */
function ownCommonDirectory(
  gitDir: string,
  directory: string,
  files: ProjectFiles,
  path: typeof nodePath,
): string | null {
  const named = (from: string, target: string): string => {
    const absolute = path.resolve(from, target)
    return files.real(absolute) ?? absolute
  }
  const dotGit = path.join(directory, '.git')
  if (files.kind(path.join(gitDir, 'commondir')) === null) {
    if (path.dirname(gitDir) === directory) return gitDir
    const tree = configuredWorktree(gitDir, files, path)
    return tree !== null && files.kind(dotGit) === 'file' && named(gitDir, tree) === directory ? gitDir : null
  }
  const shared = files.read(path.join(gitDir, 'commondir'))?.trim() ?? ''
  const backLink = files.read(path.join(gitDir, 'gitdir'))?.trim() ?? ''
  if (shared === '' || backLink === '' || files.kind(dotGit) !== 'file') return null
  const common = named(gitDir, shared)
  const isRegistered = path.dirname(gitDir) === path.join(common, 'worktrees')
  return isRegistered && named(gitDir, backLink) === dotGit ? common : null
}

/** `core.worktree` of a git directory. With `extensions.worktreeConfig` git keeps it in a second file. */
function configuredWorktree(gitDir: string, files: ProjectFiles, path: typeof nodePath): string | null {
  for (const name of ['config.worktree', 'config']) {
    let section = ''
    for (const line of (files.read(path.join(gitDir, name)) ?? '').split('\n')) {
      const text = line.trim()
      if (text.startsWith('[')) section = text.toLowerCase()
      else if (section === '[core]' && /^worktree[ \t]*=/i.test(text)) return configValue(text)
    }
  }
  return null
}

/** As git writes it: in quotes, with escapes, where the path has special characters. */
function configValue(line: string): string {
  const value = line.slice(line.indexOf('=') + 1).trim()
  return value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1).replace(/\\(["\\])/g, '$1') : value
}

/**
 * The directory of the main working tree. A linked worktree does not name it unless it contains the common directory.
 */
function repositoryName(common: string, workingTree: string | null, path: typeof nodePath): string {
  const base = path.basename(common)
  if (base === '.git' || base === '.bare') return path.basename(path.dirname(common)) || common
  if (workingTree !== null) return path.basename(workingTree) || workingTree
  return base.replace(/\.git$/, '') || common
}

/** The files read here hold one path; a `config` has a section for each branch. */
const MAX_GIT_FILE_BYTES = 1 << 20

const realFiles: ProjectFiles = {
  real: (path) => orNull(() => realpathSync.native(path)),
  kind: (path) => orNull(() => entryKind(lstatSync(path, { throwIfNoEntry: false }))),
  read: (path) => readTextFile(path, MAX_GIT_FILE_BYTES) ?? null,
}

function entryKind(stat: Stats | undefined): 'file' | 'directory' | 'link' | null {
  if (stat?.isFile() === true) return 'file'
  if (stat?.isDirectory() === true) return 'directory'
  return stat?.isSymbolicLink() === true ? 'link' : null
}

/** A path that does not exist or is not readable is not part of a project. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** The system that the directories of `isExcluded` are on. */
interface DirectorySystem {
  platform: NodeJS.Platform
  home: string
  /** The path without symbolic links; null if it does not exist. */
  real(path: string): string | null
}

const thisSystem = (): DirectorySystem => ({ platform: process.platform, home: homedir(), real: realFiles.real })

/**
 * Whether a directory belongs to an excluded project: the hook reports nothing from there. This includes a worktree
 * elsewhere whose repository is in an excluded directory. `excluded`: paths, `~` is the home directory. Case is ignored on
 * systems whose file systems usually do: excluding too much is the smaller mistake.
 */
export function isExcluded(
  cwd: string,
  project: Project,
  excluded: readonly string[],
  system: DirectorySystem = thisSystem(),
): boolean {
  if (excluded.length === 0) return false
  const path = pathRules(system.platform)
  const comparable = (one: string) => comparablePath(one, system.platform)
  const real = (one: string) => (pathRulesOfOtherSystem(one, path) === null ? (system.real(one) ?? one) : one)
  const paths = [cwd, real(cwd), projectKeyPath(project.key) ?? project.key].map(comparable)
  return excluded.some((entry) => {
    const directory = excludedDirectory(entry, system.home, path)
    return [directory, real(directory)].map(comparable).some((root) => paths.some((one) => isAtOrBelow(one, root)))
  })
}

/** The same for a directory whose project is not known. */
export function isExcludedDirectory(cwd: string, excluded: readonly string[]): boolean {
  return excluded.length > 0 && isExcluded(cwd, projectOfDirectory(cwd), excluded)
}

function excludedDirectory(entry: string, home: string, path: typeof nodePath): string {
  if (entry === '~') return home
  if (pathRulesOfOtherSystem(entry, path) !== null) return entry
  return /^~[/\\]/.test(entry) ? path.join(home, entry.slice(2)) : path.resolve(entry)
}

const IMPORT_PREFIX = 'import:'

/** The key of imported memories of which only the project's name is known. */
export function importedProjectKey(name: string): string {
  return `${IMPORT_PREFIX}${name}`
}

export function isImportedProjectKey(key: string): boolean {
  return key.startsWith(IMPORT_PREFIX)
}

/** The name, path or address in a project key; null if the text is not a project key. */
function projectKeyName(text: string): string | null {
  return projectKeyPath(text) ?? /^(?:import|repo|named):(.+)$/s.exec(text)?.[1] ?? null
}

/**
 * What the user gave as a project: a key stays a key, a path becomes the key of its project, and anything else is a
 * name. A name contains no slash. `~` is the home directory.
 */
export function projectKeyOrName(given: string, cwd: string, home: string = homedir()): string {
  if (projectKeyName(given) !== null) return given
  const path = resolveGivenPath(given, cwd, home)
  return path === null ? given : projectOfDirectory(path).key
}

/** Null: it does not look like a path. The name of a project has no slash. */
export function resolveGivenPath(
  given: string,
  cwd: string,
  home: string,
  path: typeof nodePath = nodePath,
): string | null {
  if (/^~(?:[/\\]|$)/.test(given)) return path.join(home, given.slice(1))
  if (pathRulesOfOtherSystem(given, path) !== null) return given
  return path.isAbsolute(given) || /^\.{1,2}$|[/\\]/.test(given) ? path.resolve(cwd, given) : null
}

interface ProjectLookup {
  projects(filter: { key?: string; name?: string; limit?: number }): Promise<readonly Project[]>
}

/** The project with this key or name. A well-formed key of an unknown project is accepted. */
export async function findProject(reader: ProjectLookup, given: string): Promise<Project> {
  const [known] = await reader.projects({ key: given, limit: 1 })
  if (known !== undefined) return { key: known.key, name: known.name }
  const name = projectKeyName(given)
  if (name !== null) return { key: given, name }
  const [only, ...others] = await reader.projects({ name: given })
  if (only === undefined) {
    throw new MemError(
      'not_found',
      `no project is called "${given}"; give a path (./${given}) or run the command inside the project`,
    )
  }
  if (others.length > 0) {
    const keys = [only, ...others].map(({ key }) => key).join(', ')
    throw new MemError(
      'bad_request',
      `${others.length + 1} projects are called "${given}"; give the key of one of them: ${keys}`,
    )
  }
  return { key: only.key, name: only.name }
}
