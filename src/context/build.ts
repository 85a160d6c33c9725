/** Reads the memory of a project and renders what its next session would get. */
import type { ContextPart } from '../domain/context-parts.ts'
import { estimateTokens } from '../domain/observation.ts'
import type { Project } from '../domain/project.ts'
import type { RenderedContext } from '../domain/rendered-context.ts'
import type { ContextQuery, ProjectTotals, StoreReader } from '../store/port.ts'
import { type ObserverProblems, renderMessage } from './message.ts'
import type { ContextOptions } from './options.ts'
import { renderStart, type StartLine } from './start.ts'
import type { EndState } from './state.ts'

/** The context of a project with everything that explains it, but without the message for the user. */
export interface BuiltContext {
  project: Project
  context: string
  /** The lines of the context, each with the part that it belongs to and what it rests on. */
  lines: StartLine[]
  /** Of the context. */
  tokens: number
  /** Null if nothing is known about the project. */
  totals: ProjectTotals | null
  /** Tokens of each part, including the `frame` around them; null if the context is empty. */
  parts: Partial<Record<ContextPart | 'frame', number>> | null
  /** How the last session ended; null where none is known. */
  state: EndState | null
}

export type ContextPreview = Omit<BuiltContext, 'state'> & RenderedContext

export type ContextReader = Pick<StoreReader, 'contextMaterial'>

/** More than a budget holds, to choose from; few enough to read while a session starts. */
const READ: Omit<ContextQuery, 'project'> = {
  observations: 100,
  summaries: 0,
  pinned: 50,
  prompts: 150,
  passages: [
    { kinds: ['prompt', 'answer', 'closing'], limit: 300 },
    { kinds: ['commit', 'check', 'status', 'link'], limit: 100 },
    { kinds: ['file', 'edit'], limit: 100 },
    { kinds: ['command'], limit: 10 },
    { kinds: ['words'], limit: 100 },
  ],
  others: 30,
}

export async function buildContext(
  reader: ContextReader,
  project: Project,
  options: ContextOptions,
): Promise<BuiltContext> {
  const material = await reader.contextMaterial({ ...READ, project: project.key, me: options.me ?? null })
  const start = material === null ? null : renderStart(material, options)
  const context = start?.text ?? ''
  return {
    project: material?.project ?? project,
    context,
    lines: start?.lines ?? [],
    tokens: estimateTokens(context),
    totals: material?.totals ?? null,
    parts: start?.parts ?? null,
    state: start?.state ?? null,
  }
}

/** Adds the message, which also depends on how the observer is doing now. */
export function withMessage(
  { state, ...built }: BuiltContext,
  { message: kind, now }: Pick<ContextOptions, 'message' | 'now'>,
  problems: ObserverProblems,
): ContextPreview {
  const { project, tokens } = built
  return { ...built, message: renderMessage({ project, state, tokens, problems, kind, now }) }
}
