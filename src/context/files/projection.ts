/** Which projects have their memory written into files, and where. Kept as a list of words beside the project's name. */
import type { ProjectDecision } from '../../store/project-port.ts'

/** `project`: its own `CLAUDE.md`; `folders`: those of its folders; `cursor`: a rule for Cursor. */
export const FILE_PARTS = ['project', 'folders', 'cursor'] as const
export type FilePart = (typeof FILE_PARTS)[number]

export const FILES_ACTIONS = ['status', 'on', 'off', 'clean'] as const
export type FilesAction = (typeof FILES_ACTIONS)[number]

export interface Projection {
  /** The working tree that is written to, without links. A repository has several, and one memory for all of them. */
  root: string
  /** The key of the repository that the root is a working tree of. The notes of one that moved come along to a new key. */
  repository: string
  /** Empty: nothing is written any more, but some file could not be cleaned. */
  parts: readonly FilePart[]
  /** Files that hold a section, or may: noted before they are written. Seen from the root, with slashes. */
  written: readonly string[]
  /** Directories that were made for them. */
  made: readonly string[]
}

export interface ProjectionRow extends Projection {
  /** Under which it was asked for. */
  key: string
  /** Whose memory it shows: another one where the key was merged. */
  project: string
}

export function projectionsIn(decisions: readonly ProjectDecision[]): ProjectionRow[] {
  return decisions.flatMap(({ key, mergedInto, files }) => {
    const projection = projectionOf(files)
    return projection === null ? [] : [{ key, project: mergedInto ?? key, ...projection }]
  })
}

export function notesOf(projection: Projection | null): string[] {
  if (projection === null) return []
  const { root, repository, parts, written, made } = projection
  return [
    `root=${root}`,
    `repository=${repository}`,
    ...parts.map((part) => `part=${part}`),
    ...written.map((file) => `wrote=${file}`),
    ...made.map((directory) => `made=${directory}`),
  ]
}

function projectionOf(notes: readonly string[]): Projection | null {
  const noted = (word: string) =>
    notes.filter((note) => note.startsWith(`${word}=`)).map((note) => note.slice(word.length + 1))
  const [root] = noted('root')
  const [repository] = noted('repository')
  if (root === undefined || repository === undefined) return null
  const parts = noted('part')
  return {
    root,
    repository,
    parts: FILE_PARTS.filter((part) => parts.includes(part)),
    written: noted('wrote'),
    made: noted('made'),
  }
}
