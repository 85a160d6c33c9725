/** The partition of all memory. The key tells two repositories with one name apart; the name is for people. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import nodePath from 'node:path'

export interface Project {
  key: string
  name: string
}

/** What is asked of the file system; none of it throws. */
export interface ProjectFiles {
  /** The path without symbolic links, null where nothing is there. */
  real(path: string): string | null
  kind(path: string): 'file' | 'directory' | null
  read(path: string): string | null
}

/**
 * The project of a directory: its repository, found as git finds it but without running git, else the
 * directory itself. All worktrees of a repository are one project; a submodule is one of its own.
 */
export function projectOf(cwd: string, files: ProjectFiles = realFiles, path: typeof nodePath = nodePath): Project {
  const directory = realDirectory(cwd, files, path)
  for (let at = directory; ; at = path.dirname(at)) {
    const project = repositoryAt(at, files, path)
    if (project !== null) return project
    if (path.dirname(at) === at) break
  }
  return { key: `dir:${directory}`, name: path.basename(directory) || directory }
}

/** The top of the working tree that a directory is in; the directory itself where there is no repository. */
export function projectRoot(cwd: string, files: ProjectFiles = realFiles, path: typeof nodePath = nodePath): string {
  for (let at = cwd; ; at = path.dirname(at)) {
    if (repositoryAt(at, files, path) !== null) return at
    if (path.dirname(at) === at) return cwd
  }
}

/** Where a key says that its project lies: git's common directory, or the directory itself. Null: nowhere. */
export function placeOf(key: string): string | null {
  return /^(?:git|dir):(.+)$/s.exec(key)?.[1] ?? null
}

/** The main working tree, as far as the key of a project tells; else what it says at all. */
export function treeOf(key: string, path: typeof nodePath = nodePath): string | null {
  const place = placeOf(key)
  if (place === null || key.startsWith('dir:')) return place
  return ['.git', '.bare'].includes(path.basename(place)) ? path.dirname(place) : place
}

/** A directory that was deleted still has a place: that of what is left of its path. */
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
    // The process itself stands in a deleted directory.
    return path.join(path.sep, cwd)
  }
}

function repositoryAt(directory: string, files: ProjectFiles, path: typeof nodePath): Project | null {
  const dotGit = path.join(directory, '.git')
  const kind = files.kind(dotGit)
  if (kind === null) return null
  const gitDir = kind === 'directory' ? dotGit : linkedGitDir(dotGit, directory, files, path)
  // An empty `.git` is not a repository: git looks further up, too.
  if (gitDir === null || files.kind(path.join(gitDir, 'HEAD')) === null) return null
  const shared = files.read(path.join(gitDir, 'commondir'))
  const common = shared === null ? gitDir : path.resolve(gitDir, shared.trim())
  const key = files.real(common) ?? common
  return { key: `git:${key}`, name: nameOf(key, shared === null ? directory : null, path) }
}

/** Worktrees and submodules have a file: `gitdir: <path>`. */
function linkedGitDir(file: string, directory: string, files: ProjectFiles, path: typeof nodePath): string | null {
  const target = /^gitdir:[ \t]*([^\r\n]+)/.exec(files.read(file) ?? '')?.[1]?.trim()
  return target === undefined || target === '' ? null : path.resolve(directory, target)
}

/** After the main working tree's directory; a worktree does not know it unless it holds the common directory. */
function nameOf(common: string, workingTree: string | null, path: typeof nodePath): string {
  const base = path.basename(common)
  if (base === '.git' || base === '.bare') return path.basename(path.dirname(common)) || common
  if (workingTree !== null) return path.basename(workingTree) || workingTree
  return base.replace(/\.git$/, '') || common
}

const realFiles: ProjectFiles = {
  real: (path) => attempt(() => realpathSync.native(path)),
  kind: (path) =>
    attempt(() => {
      const stat = statSync(path, { throwIfNoEntry: false })
      return stat === undefined ? null : stat.isDirectory() ? 'directory' : 'file'
    }),
  read: (path) => attempt(() => readFileSync(path, 'utf8')),
}

/** Not there, not readable, not a directory: to finding a project it is all the same. */
function attempt<T>(ask: () => T): T | null {
  try {
    return ask()
  } catch {
    return null
  }
}
