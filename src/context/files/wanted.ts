/** Which files a projection consists of, and what each should say. */
import type { Observation, Summary } from '../../memory/observation.ts'
import { OBSERVATION_TYPES } from '../../memory/observation.ts'
import type { Reader } from '../../store/port.ts'
import { touchedFolders } from './folders.ts'
import type { FilePart } from './projection.ts'
import { CURSOR_HEADER, folderLines, projectLines, titleOf } from './text.ts'

export const MEMORY_FILE = 'CLAUDE.md'
export const CURSOR_DIRECTORIES = ['.cursor', '.cursor/rules']
export const CURSOR_FILE = '.cursor/rules/claude-mem-context.mdc'

export interface WantedFile {
  /** Seen from the root, with slashes. */
  file: string
  lines: readonly string[]
}

export interface FileLimits {
  /** Most rows of a section about the project. */
  rows: number
  /** Most folders that have a section. */
  folders: number
}

/** What folders are chosen from: far more than sections show. */
const OBSERVATIONS_READ = 300
/** A turn of pleasantries has no next steps: those before it still count. */
const SUMMARIES_READ = 3
/** A folder's section is read beside the project's, and often beside those of the folders above. */
const FOLDER_ROWS = 5
/** Of the rows about the project, so that pinned ones do not fill all of them for good. */
const PINNED_PART = 0.5

export type ProjectionReader = Pick<Reader, 'contextMaterial'>

export function headerOf(file: string): readonly string[] {
  return file === CURSOR_FILE ? CURSOR_HEADER : []
}

export async function wantedFiles(
  reader: ProjectionReader,
  project: string,
  root: string,
  parts: readonly FilePart[],
  limits: FileLimits,
): Promise<WantedFile[]> {
  const { pinned, current, summaries } = await read(reader, project, limits)
  const rows = distinct([...pinned, ...current]).slice(0, limits.rows)
  const about = projectLines(rows, summaries)
  const files = parts.flatMap((part) => (part === 'folders' ? [] : [part === 'cursor' ? CURSOR_FILE : MEMORY_FILE]))
  const wanted = about === null ? [] : files.map((file) => ({ file, lines: about }))
  if (!parts.includes('folders')) return wanted
  for (const folder of await touchedFolders(root, current, limits.folders)) {
    const lines = folderLines(distinct(folder.observations).slice(0, FOLDER_ROWS))
    if (lines !== null) wanted.push({ file: `${folder.path}/${MEMORY_FILE}`, lines })
  }
  return wanted
}

interface Material {
  pinned: Observation[]
  /** Newest first, the pinned ones too; without those that a newer one replaces, or repeats. */
  current: Observation[]
  summaries: Summary[]
}

async function read(reader: ProjectionReader, project: string, limits: FileLimits): Promise<Material> {
  const material = await reader.contextMaterial({
    project,
    types: OBSERVATION_TYPES,
    observations: OBSERVATIONS_READ,
    ofEachType: 0,
    summaries: SUMMARIES_READ,
    pinned: Math.floor(limits.rows * PINNED_PART),
  })
  if (material === null) return { pinned: [], current: [], summaries: [] }
  const { pinned, observations, summaries, repeats } = material
  const repeated = new Set(repeats.map(({ to }) => to))
  const current = [...pinned, ...observations]
    .filter(({ id }) => !repeated.has(id))
    .sort((a, b) => b.createdAt - a.createdAt || b.id - a.id)
  return { pinned, current, summaries }
}

/** The same said again counts once. */
function distinct(observations: readonly Observation[]): Observation[] {
  const said = new Set<string>()
  return observations.filter((observation) => {
    const title = titleOf(observation).toLowerCase()
    return !said.has(title) && said.add(title)
  })
}
