/** Requests about projects: what may be asked, and its answers. */
import { z } from 'zod'
import type { Projects } from './projects.ts'
import type { ProjectAnswer, ProjectRequest } from './protocol.ts'

/** A project's key holds a path. */
const MAX_KEY_CHARS = 4_096
const MAX_NAME_CHARS = 1_024

/** The members of the union of requests that are about projects. */
export function projectRequestSchemas<E extends z.ZodRawShape>(envelope: E) {
  const project = z.string().min(1).max(MAX_KEY_CHARS)
  return [
    z.object({ ...envelope, type: z.literal('projects') }),
    z.object({
      ...envelope,
      type: z.literal('project_rename'),
      project,
      name: z.string().max(MAX_NAME_CHARS).nullable(),
    }),
    z.object({ ...envelope, type: z.literal('project_merge'), from: project, into: project, confirm: z.boolean() }),
  ] as const
}

export async function projectAnswer(request: ProjectRequest, projects: Projects): Promise<ProjectAnswer> {
  switch (request.type) {
    case 'projects':
      return { type: 'projects', projects: await projects.list() }
    case 'project_rename':
      return { type: 'project', project: await projects.rename(request.project, request.name) }
    case 'project_merge':
      return { type: 'project_merged', report: await projects.merge(request.from, request.into, request.confirm) }
  }
}
