/** Directories that are made for a file, and go with it. */
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from './place.ts'

/** Those that stay because something is in them. */
export async function removeDirectories(root: string, made: readonly string[]): Promise<string[]> {
  const kept: string[] = []
  for (const directory of [...made].sort((a, b) => b.length - a.length)) {
    try {
      await rmdir(join(root, directory))
    } catch (error) {
      if (!isMissing(error)) kept.push(directory)
    }
  }
  return kept.sort((a, b) => a.length - b.length)
}
