/** The projects that are remembered, and whether they are still where they were. */
import { treeOf } from '../memory/project.ts'
import type { ListedProject, ProjectReader } from '../store/project-port.ts'
import { isGone } from './project-place.ts'

export interface ProjectView extends Omit<ListedProject, 'root'> {
  /** Its working tree, as far as anybody knows; null where it never had one here. */
  place: string | null
  /** Nothing is there any more. */
  gone: boolean
}

/** The one that was last heard of first. */
export async function projectViews(reader: Pick<ProjectReader, 'listProjects'>): Promise<ProjectView[]> {
  const projects = await reader.listProjects()
  return await Promise.all(
    projects.map(async ({ root, ...project }) => ({
      ...project,
      place: root ?? treeOf(project.key),
      gone: await isGone(project.key),
    })),
  )
}
