/** The list of projects as clients get it: with the directories of each, and whether they still exist. */
import { stat } from 'node:fs/promises'
import { projectKeyPath, projectWorkingTree } from '../domain/project.ts'
import { travellingIdentity } from '../domain/repository.ts'
import { systemCode } from '../lib/errors.ts'
import type { ProjectOverview, StoreReader } from '../store/port.ts'

/** Whether nothing exists at the project's path. A path that cannot be accessed does not count as gone. */
export async function isProjectGone(key: string): Promise<boolean> {
  const path = projectKeyPath(key)
  if (path === null) return false
  try {
    await stat(path)
    return false
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
  }
}

export interface ProjectView extends Omit<ProjectOverview, 'roots'> {
  /** Path of the working tree that was used last; null where none is known on this machine. */
  place: string | null
  /** Paths of all its working trees: a repository may have several clones. */
  places: string[]
  /** Nothing exists at these paths any more. */
  gone: boolean
  /** Repository whose memory its directory does not get before the user confirms that it is a clone (`host/path`). */
  claims: string | null
}

/** The project with the newest session first. */
export async function projectViews(
  reader: Pick<StoreReader, 'listProjects' | 'projectDirectories'>,
): Promise<ProjectView[]> {
  const [projects, decided] = await Promise.all([reader.listProjects(), reader.projectDirectories()])
  const waiting = new Map(
    decided.filter(({ state }) => state === 'unconfirmed').map((row) => [row.key, row.repository]),
  )
  return await Promise.all(
    projects.map(async ({ roots, ...project }) => {
      const own = projectWorkingTree(project.key)
      const places = [...new Set([...roots, ...(roots.length > 0 || own === null ? [] : [own])])]
      const keys = travellingIdentity(project.key) === null ? [project.key] : project.merged
      const gone = await Promise.all(keys.map(isProjectGone))
      return {
        ...project,
        place: places[0] ?? null,
        places,
        gone: gone.length > 0 && gone.every(Boolean),
        claims: travellingIdentity(waiting.get(project.key) ?? ''),
      }
    }),
  )
}
