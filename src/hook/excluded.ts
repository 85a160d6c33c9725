/** Excluded projects leave no trace: the hook stops before it reads anything else of their payload. */
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import type { Project } from '../memory/project.ts'

/** Also a worktree elsewhere whose repository is in an excluded directory. */
export function isExcluded(cwd: string, project: Project, excluded: readonly string[]): boolean {
  if (excluded.length === 0) return false
  const places = [cwd, real(cwd), project.key.replace(/^(?:git|dir):/, '')].map(comparable)
  return excluded.some((entry) => {
    const directory = expand(entry)
    return [directory, real(directory)].map(comparable).some((root) => places.some((place) => isAtOrBelow(place, root)))
  })
}

function expand(entry: string): string {
  if (entry === '~') return homedir()
  return /^~[/\\]/.test(entry) ? join(homedir(), entry.slice(2)) : resolve(entry)
}

function real(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

/** Where file systems do not tell cases apart, excluding too much is the smaller mistake. */
function comparable(path: string): string {
  const trimmed = path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path
  return process.platform === 'linux' ? trimmed : trimmed.toLowerCase()
}

function isAtOrBelow(place: string, root: string): boolean {
  return place === root || place.startsWith(root.endsWith(sep) ? root : root + sep)
}
