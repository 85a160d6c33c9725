/** Where the working tree of a projection is. */
import { realpath, stat } from 'node:fs/promises'
import { parse } from 'node:path'
import { MemError } from '../../errors.ts'
import { type Project, projectOf, projectRoot, treeOf } from '../../memory/project.ts'
import type { Projection, ProjectionRow } from './projection.ts'

/** The project and the top of the working tree that a directory is in. */
export async function treeAt(path: string): Promise<{ project: Project; root: string }> {
  const real = await realDirectory(path)
  if (real === null) throw new MemError('not_found', `${path} is not a directory; give one inside the project`)
  const root = projectRoot(real)
  if (root === parse(root).dir) throw new MemError('bad_request', `${root} is no place for a project's files`)
  return { project: projectOf(real), root }
}

/** Null where it is gone. A repository that moved has another key now, and took its files along. */
export async function homeOf<P extends ProjectionRow>(row: P): Promise<P | null> {
  if ((await realDirectory(row.root)) === row.root) return row
  const root = row.project === row.repository ? null : await treeOfKey(row.project)
  return root === null ? null : { ...row, root, repository: row.project }
}

/** A place that another repository has taken since must not get the memory of this one. */
export function isTaken({ root, repository }: Projection): boolean {
  return projectOf(root).key !== repository
}

/** The working tree that a key names, if it is still there. */
export async function treeOfKey(key: string): Promise<string | null> {
  const named = treeOf(key)
  const tree = named === null ? null : await realDirectory(named)
  return tree !== null && projectOf(tree).key === key ? projectRoot(tree) : null
}

async function realDirectory(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : null
  } catch {
    // Gone, or not ours to look at: no place to write to.
    return null
  }
}
