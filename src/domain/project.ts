/**
 * Projects partition the memory. A key is `git:` with the common directory of a repository, `dir:` with a directory
 * outside of repositories, or `import:` with a name for imported memories whose directory is unknown. The name is for
 * people: several projects may have the same one.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import nodePath, { isAbsolute, join, resolve, sep } from 'node:path'
import { MemError } from '../lib/errors.ts'

export interface Project {
  key: string
  name: string
}

/** The file system as far as it is needed to find a project. No method throws. */
export interface ProjectFiles {
  /** The path without symbolic links; null if it does not exist. */
  real(path: string): string | null
  kind(path: string): 'file' | 'directory' | null
  read(path: string): string | null
}

/**
 * The project of a directory: its repository, found as git does but without running git, else the directory itself. All
 * worktrees of a repository are one project; a submodule is a separate project.
 */
export function projectOfDirectory(
  cwd: string,
  files: ProjectFiles = realFiles,
  path: typeof nodePath = nodePath,
): Project {
  const directory = realDirectory(cwd, files, path)
  for (let at = directory; ; at = path.dirname(at)) {
    const project = repositoryAt(at, files, path)
    if (project !== null) return project
    if (path.dirname(at) === at) break
  }
  return { key: `dir:${directory}`, name: path.basename(directory) || directory }
}

/** The top of the working tree that a directory is in; the directory itself if it is in no repository. */
export function workingTreeRoot(
  cwd: string,
  files: ProjectFiles = realFiles,
  path: typeof nodePath = nodePath,
): string {
  for (let at = cwd; ; at = path.dirname(at)) {
    if (repositoryAt(at, files, path) !== null) return at
    if (path.dirname(at) === at) return cwd
  }
}

/** The path in a key: git's common directory, or the directory itself. Null for keys without a path. */
export function projectKeyPath(key: string): string | null {
  return /^(?:git|dir):(.+)$/s.exec(key)?.[1] ?? null
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
    if (path.dirname(at) === at) return path.join(absolute, '.')
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
  if (kind === null) return null
  const gitDir = kind === 'directory' ? dotGit : linkedGitDir(dotGit, directory, files, path)
  // An empty `.git` is not a repository: git continues with the parent directory too.
  if (gitDir === null || files.kind(path.join(gitDir, 'HEAD')) === null) return null
  const shared = files.read(path.join(gitDir, 'commondir'))
  const common = shared === null ? gitDir : path.resolve(gitDir, shared.trim())
  const key = files.real(common) ?? common
  return { key: `git:${key}`, name: repositoryName(key, shared === null ? directory : null, path) }
}

/** In worktrees and submodules `.git` is a file: `gitdir: <path>`. */
function linkedGitDir(file: string, directory: string, files: ProjectFiles, path: typeof nodePath): string | null {
  const target = /^gitdir:[ \t]*([^\r\n]+)/.exec(files.read(file) ?? '')?.[1]?.trim()
  return target === undefined || target === '' ? null : path.resolve(directory, target)
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

const realFiles: ProjectFiles = {
  real: (path) => orNull(() => realpathSync.native(path)),
  kind: (path) =>
    orNull(() => {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? null : stat.isDirectory() ? 'directory' : 'file'
    }),
  read: (path) => orNull(() => readFileSync(path, 'utf8')),
}

/** A path that does not exist or is not readable is not part of a project. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/**
 * Whether a directory belongs to an excluded project: the hook reports nothing from there. This includes a worktree
 * elsewhere whose repository is in an excluded directory. `excluded`: paths, `~` is the home directory.
 */
export function isExcluded(cwd: string, project: Project, excluded: readonly string[]): boolean {
  if (excluded.length === 0) return false
  const paths = [cwd, realPath(cwd), projectKeyPath(project.key) ?? project.key].map(comparablePath)
  return excluded.some((entry) => {
    const directory = expandHome(entry)
    const roots = [directory, realPath(directory)].map(comparablePath)
    return roots.some((root) => paths.some((path) => isAtOrBelow(path, root)))
  })
}

function expandHome(entry: string): string {
  if (entry === '~') return homedir()
  return /^~[/\\]/.test(entry) ? join(homedir(), entry.slice(2)) : resolve(entry)
}

function realPath(path: string): string {
  return realFiles.real(path) ?? path
}

/** Ignores case on systems whose file systems usually do: excluding too much is the smaller mistake. */
function comparablePath(path: string): string {
  const trimmed = path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path
  return process.platform === 'linux' ? trimmed : trimmed.toLowerCase()
}

function isAtOrBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}

const IMPORT_PREFIX = 'import:'

/** The key of imported memories of which only the project's name is known. */
export function importedProjectKey(name: string): string {
  return `${IMPORT_PREFIX}${name}`
}

export function isImportedProjectKey(key: string): boolean {
  return key.startsWith(IMPORT_PREFIX)
}

/** The name or path in a project key; null if the text is not a project key. */
function projectKeyName(text: string): string | null {
  return projectKeyPath(text) ?? (isImportedProjectKey(text) ? text.slice(IMPORT_PREFIX.length) : null)
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
export function resolveGivenPath(given: string, cwd: string, home: string): string | null {
  if (/^~(?:[/\\]|$)/.test(given)) return join(home, given.slice(1))
  return isAbsolute(given) || /^\.{1,2}$|[/\\]/.test(given) ? resolve(cwd, given) : null
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
