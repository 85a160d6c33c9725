/** From the store to the text that a session starts with. */
import { estimateTokens } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { Reader } from '../store/port.ts'
import { renderContext } from './render.ts'
import { type ContextOptions, selectContext } from './select.ts'

/** What a session of a project would get, and what it costs. */
export interface ContextView {
  project: Project
  tokens: number
  context: string
}

export function contextView({ key, name }: Project, context: string): ContextView {
  return { project: { key, name }, tokens: estimateTokens(context), context }
}

export type ContextReader = Pick<Reader, 'projects' | 'observations' | 'summaries'>

/** Far more than a budget holds, so that the best can be chosen; few enough to read while a session starts. */
const OBSERVATIONS_READ = 300
const SUMMARIES_READ = 8

/** Empty where nothing is known about the project. */
export async function contextOf(reader: ContextReader, project: string, options: ContextOptions): Promise<string> {
  const [known] = await reader.projects({ key: project, limit: 1 })
  if (known === undefined) return ''
  const [observations, summaries] = await Promise.all([
    reader.observations({ project, limit: OBSERVATIONS_READ }),
    reader.summaries({ project, limit: SUMMARIES_READ }),
  ])
  return renderContext(selectContext({ project: known, observations, summaries }, options))
}
