/** Which files of a working tree have a section with a project's memory. Stored as a list of texts with the project. */
import { realpath, stat } from 'node:fs/promises'
import { parse } from 'node:path'
import {
  type Project,
  projectKeyPath,
  projectOfDirectory,
  projectWorkingTree,
  workingTreeRoot,
} from '../../domain/project.ts'
import { MemError } from '../../lib/errors.ts'
import type { ProjectSettings } from '../../store/port.ts'

/** `project`: its own `CLAUDE.md`; `folders`: those of its folders; `cursor`: a rule for Cursor. */
export const FILE_PARTS = ['project', 'folders', 'cursor'] as const
export type FilePart = (typeof FILE_PARTS)[number]

export const FILES_ACTIONS = ['status', 'on', 'off', 'clean'] as const

export interface TreeSections {
  /** The working tree that is written to, without symbolic links. A repository may have several. */
  root: string
  /** The key of the repository of the root. Differs from the row's key after the repository moved. */
  repository: string
  /** Empty if it is switched off but a file could not be cleaned. */
  parts: readonly FilePart[]
  /** Files that may have a section, relative to the root, with slashes. Stored before they are written. */
  written: readonly string[]
  /** Directories that were created for them. */
  made: readonly string[]
}

export interface TreeSectionsRow extends TreeSections {
  /** The key it was switched on for. */
  key: string
  /** The project whose memory it shows: another key if this one was merged. */
  project: string
}

export function treeSectionsIn(settings: readonly ProjectSettings[]): TreeSectionsRow[] {
  return settings.flatMap(({ key, mergedInto, files }) => {
    const sections = decodeTreeSections(files)
    return sections === null ? [] : [{ key, project: mergedInto ?? key, ...sections }]
  })
}

export function encodeTreeSections(sections: TreeSections | null): string[] {
  if (sections === null) return []
  const { root, repository, parts, written, made } = sections
  return [
    `root=${root}`,
    `repository=${repository}`,
    ...parts.map((part) => `part=${part}`),
    ...written.map((file) => `wrote=${file}`),
    ...made.map((directory) => `made=${directory}`),
  ]
}

function decodeTreeSections(lines: readonly string[]): TreeSections | null {
  const values = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1))
  const [root] = values('root')
  const [repository] = values('repository')
  if (root === undefined || repository === undefined) return null
  const parts = values('part')
  return {
    root,
    repository,
    parts: FILE_PARTS.filter((part) => parts.includes(part)),
    written: values('wrote'),
    made: values('made'),
  }
}

/** The project and the top of the working tree that a directory is in. */
export async function workingTreeAt(path: string): Promise<{ project: Project; root: string }> {
  const real = await realDirectory(path)
  if (real === null) throw new MemError('not_found', `${path} is not a directory; give one inside the project`)
  const root = workingTreeRoot(real)
  if (root === parse(root).dir)
    throw new MemError('bad_request', `${root} cannot have a section; give a directory inside a project`)
  return { project: projectOfDirectory(real), root }
}

/** Null if the root is gone. If the repository moved, its files moved too: then the root is in the new place. */
export async function locateTreeSections<P extends TreeSectionsRow>(row: P): Promise<P | null> {
  if ((await realDirectory(row.root)) === row.root) return row
  // The key of a repository that has several clones contains no path; then the row's own key has the new place.
  const moved = projectKeyPath(row.project) === null ? row.key : row.project
  const root = moved === row.repository ? null : await workingTreeOfKey(moved)
  return root === null ? null : { ...row, root, repository: moved }
}

/** Another repository may be at the root by now: it must not get this project's memory. */
export function belongsToOtherProject({ root, repository }: TreeSections): boolean {
  return projectOfDirectory(root).key !== repository
}

/** The working tree that a key names; null if it is no longer there. */
export async function workingTreeOfKey(key: string): Promise<string | null> {
  const named = projectWorkingTree(key)
  const tree = named === null ? null : await realDirectory(named)
  return tree !== null && projectOfDirectory(tree).key === key ? workingTreeRoot(tree) : null
}

async function realDirectory(path: string): Promise<string | null> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : null
  } catch {
    // It does not exist or is not readable.
    return null
  }
}
