/** Requests about the files that the memory is written into: what may be asked, and its answers. */
import { z } from 'zod'
import type { FileOutcome } from '../context/files/change.ts'
import { FILE_PARTS, FILES_ACTIONS, type FilePart, type FilesAction } from '../context/files/projection.ts'
import type { FileProjections, Projected } from '../context/files/projections.ts'
import { treeAt, treeOfKey } from '../context/files/root.ts'
import { chosenProject } from '../context/project.ts'
import { MemError } from '../errors.ts'
import type { Project } from '../memory/project.ts'
import type { Reader } from '../store/port.ts'

export interface FilesRequest {
  type: 'files'
  action: FilesAction
  /** Its key or name; null: that of the root. */
  project: string | null
  /** A directory inside the working tree; null: that of the project. */
  root: string | null
  /** Null: as before. */
  parts: readonly FilePart[] | null
  /** Nothing is written; the report says what would be. */
  dryRun: boolean
}

export interface FilesReport {
  action: FilesAction
  dryRun: boolean
  project: Project
  /** Null: nothing is written for the project. */
  root: string | null
  parts: readonly FilePart[]
  files: FileOutcome[]
}

const MAX_PATH_CHARS = 4_096

export function filesRequestSchemas<E extends z.ZodRawShape>(envelope: E) {
  const path = z.string().min(1).max(MAX_PATH_CHARS).nullable()
  const parts = z.array(z.enum(FILE_PARTS)).min(1).max(FILE_PARTS.length).nullable()
  return [
    z.object({
      ...envelope,
      type: z.literal('files'),
      action: z.enum(FILES_ACTIONS),
      project: path,
      root: path,
      parts,
      dryRun: z.boolean(),
    }),
  ] as const
}

export async function filesReport(
  request: FilesRequest,
  projections: FileProjections,
  reader: Pick<Reader, 'projects'>,
): Promise<FilesReport> {
  const { action, dryRun } = request
  const { project, key, root } = await meant(request, reader)
  const { projection, files } = await done({ ...request, whose: { key, project: project.key }, root }, projections)
  return { action, dryRun, project, root: projection?.root ?? null, parts: projection?.parts ?? [], files }
}

interface Meant {
  /** Whose memory it is. */
  project: Project
  key: string
  /** Null where the project's place is not known. */
  root: string | null
}

async function meant({ project: given, root }: FilesRequest, reader: Pick<Reader, 'projects'>): Promise<Meant> {
  if (given !== null) {
    const project = await chosenProject(reader, given)
    const tree = root === null ? null : await treeAt(root)
    return { project, key: tree?.project.key ?? project.key, root: tree?.root ?? (await treeOfKey(project.key)) }
  }
  if (root === null) throw new MemError('bad_request', 'say which project: its name, or a directory of it')
  const tree = await treeAt(root)
  const [known] = await reader.projects({ key: tree.project.key, limit: 1 })
  const project = known === undefined ? tree.project : { key: known.key, name: known.name }
  return { project, key: tree.project.key, root: tree.root }
}

type Wish = Pick<FilesRequest, 'action' | 'parts' | 'dryRun' | 'root'> & { whose: { key: string; project: string } }

function done({ action, whose, root, parts, dryRun }: Wish, projections: FileProjections): Promise<Projected> {
  switch (action) {
    case 'status':
      return projections.status(whose)
    case 'on':
      if (root === null) throw new MemError('not_found', `where ${whose.project} lies is not known; say it with --path`)
      return projections.turnOn({ ...whose, root, parts, dryRun })
    case 'off':
      return projections.turnOff(whose, null, dryRun)
    case 'clean':
      return projections.turnOff(whose, root, dryRun)
  }
}
