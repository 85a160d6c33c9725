/**
 * Whether a data directory is the user's own. The daemon in it gets every payload, and its settings name programs to run: a
 * directory of another user, one in which others may write, and one that came with a repository are refused. The hook bundles
 * this file, so it may not import a package.
 */
import { lstatSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { MemError } from './errors.ts'
import { isInside, makeSocketDirectory, type Paths, realPathOrParent } from './paths.ts'

/** Group and others. */
const OTHERS_WRITE = 0o022

/** Why no byte may be sent to or stored in this data directory; null: it is the user's. Windows has no such owners and modes. */
export function foreignDirectoryReason({ dataDir, socket }: Pick<Paths, 'dataDir' | 'socket'>): string | null {
  // Of a HOME that a project chose without knowing this machine.
  if (!isAbsolute(dataDir) || dataDir.startsWith('/proc/')) return `${dataDir} depends on where a program runs (HOME)`
  const user = process.getuid?.()
  if (user === undefined) return null
  for (const directory of new Set([dataDir, dirname(socket)])) {
    const stat = tried(() => statSync(directory))
    if (stat?.isDirectory() !== true) continue
    if (stat.uid !== user) return `${directory} belongs to another user`
    if ((stat.mode & OTHERS_WRITE) !== 0)
      return `others may write in ${directory}; to change that: chmod go-w ${directory}`
  }
  const owner = tried(() => lstatSync(socket))?.uid ?? user
  return owner === user ? null : `${socket} belongs to another user`
}

/** What does not exist, or cannot be looked at, cannot be used either: whoever tries it gets the system's own error. */
function tried(look: () => Stats): Stats | undefined {
  try {
    return look()
  } catch {
    return undefined
  }
}

/** The daemon calls it before it listens, every client before it connects: another user could listen there. */
export function prepareSocketDirectory(paths: Paths): void {
  makeSocketDirectory(paths)
  const reason = foreignDirectoryReason(paths)
  if (reason !== null) throw new MemError('forbidden', `the data directory cannot be used: ${reason}`)
}

/** Why a session in a project may not use this data directory: it lies there, where the files of a repository are. `root`: of its working tree. */
export function sessionDirectoryReason(dataDir: string, root: string, home: string | null = userHome()): string | null {
  if (realPathOrParent(dataDir) === realPathOrParent(root) || !isOfProject(dataDir, root, home)) return null
  return `${dataDir} lies in ${root}, where this session works: its files may have come with a repository`
}

/**
 * Whether a path is one of a project's files. Not where the user's home directory lies there too: then everything of the user
 * does. The home is that of the list of users, which no environment changes.
 */
export function isOfProject(path: string, root: string, home: string | null = userHome()): boolean {
  const work = realPathOrParent(root)
  if (!isInside(work, realPathOrParent(path))) return false
  return home === null || !isInside(work, realPathOrParent(home))
}

/** Null for a user without an entry, as in many containers. */
function userHome(): string | null {
  try {
    return userInfo().homedir
  } catch {
    return null
  }
}
