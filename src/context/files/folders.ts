/** Which folders of a working tree have something to tell: those that observations touched last. */
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Observation } from '../../memory/observation.ts'
import { isInside } from '../../paths.ts'
import { directoryAt, isMissing } from './place.ts'

/** Made by tools, or other people's code: nobody reads or keeps notes there. Hidden ones are left out by their dot. */
const NOT_OURS = new Set([
  'bower_components',
  'build',
  'coverage',
  'dist',
  'node_modules',
  'out',
  'target',
  'vendor',
  'venv',
  '__pycache__',
])

export interface Folder {
  /** Seen from the root, with slashes. */
  path: string
  /** Newest first. */
  observations: Observation[]
}

/** At most `most`, the one that was touched last first. `observations` are newest first. */
export async function touchedFolders(
  root: string,
  observations: readonly Observation[],
  most: number,
): Promise<Folder[]> {
  const folders = new Map<string, Folder>()
  const judged = new Map<string, string | null>()
  for (const observation of observations) {
    for (const path of new Set(foldersOf(root, observation))) {
      if (!judged.has(path)) judged.set(path, await folderInside(root, path))
      const real = judged.get(path) ?? null
      if (real === null) continue
      const folder = folders.get(real)
      if (folder === undefined) {
        if (folders.size < most) folders.set(real, { path: real, observations: [observation] })
      } else if (folder.observations.at(-1) !== observation) folder.observations.push(observation)
    }
  }
  return [...folders.values()]
}

export function isNotOurs(name: string): boolean {
  return name.startsWith('.') || NOT_OURS.has(name)
}

/** What was changed says more than what was read. */
function foldersOf(root: string, { filesModified, filesRead }: Observation): string[] {
  const files = filesModified.length > 0 ? filesModified : filesRead
  return files.flatMap((file) => {
    const path = isAbsolute(file) ? file : join(root, file)
    const folder = join(path, '..')
    return isInside(root, folder) ? [folder] : []
  })
}

/** Seen from the root; null for the root itself, for what is not there, and for what is not the project's own. */
async function folderInside(root: string, path: string): Promise<string | null> {
  const real = await directoryAt(root, path).catch(() => null)
  if (real === null || real === 'outside' || real === root) return null
  const names = relative(root, real).split(sep)
  if (names.some(isNotOurs)) return null
  // A repository inside the repository is another project.
  for (let i = names.length; i > 0; i--) {
    if (await isThere(join(root, ...names.slice(0, i), '.git'))) return null
  }
  return names.join('/')
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    return !isMissing(error)
  }
}
