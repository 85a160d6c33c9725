/** Reads the memory of a project and renders what its next session would get. */
import { estimateTokens } from '../domain/observation.ts'
import type { Project } from '../domain/project.ts'
import type { RenderedContext } from '../domain/rendered-context.ts'
import type { ContextMaterial, ProjectTotals, StoreReader } from '../store/port.ts'
import { ownMaterial } from './others.ts'
import { type ContextReport, type ObserverProblems, renderContext, renderMessage } from './rendering.ts'
import { type ContextOptions, selectContext } from './selection.ts'

/** The context of a project with everything that explains it, but without the message for the user. */
export interface BuiltContext {
  project: Project
  context: string
  /** Of the context. */
  tokens: number
  /** Null if nothing is known about the project. */
  totals: ProjectTotals | null
  /** Null if the context is empty. */
  report: ContextReport | null
  /** What of one's own it was selected from, without the passages; null if nothing is known about the project. */
  material: ContextMaterial | null
}

export type ContextPreview = Omit<BuiltContext, 'material'> & RenderedContext

export type ContextReader = Pick<StoreReader, 'contextMaterial'>

/** More observations than a budget holds, to choose from; few enough to read while a session starts. */
const MIN_OBSERVATIONS_READ = 100
/** Newest of each type, however old: a decision of last month is not displaced by the work since then. */
const READ_PER_TYPE = 10
const PINNED_READ = 50
/** Newest observations of other people: more than their share of a budget holds. */
const OTHERS_READ = 60
/** Turns of the last sessions: most have a few, some have fifty. */
const SUMMARIES_READ = 60
/** More than a budget holds; of commands and edits only the newest of each subject counts. */
const PASSAGES_READ = [
  { kinds: ['prompt', 'answer', 'closing', 'commit'], limit: 240 },
  { kinds: ['command', 'edit'], limit: 120 },
] as const

export async function buildContext(
  reader: ContextReader,
  project: Project,
  options: ContextOptions,
): Promise<BuiltContext> {
  const material = await reader.contextMaterial({
    project: project.key,
    types: options.types,
    observations: Math.max(MIN_OBSERVATIONS_READ, options.observations * 2),
    ofEachType: READ_PER_TYPE,
    summaries: SUMMARIES_READ,
    pinned: PINNED_READ,
    passages: PASSAGES_READ,
    me: options.me ?? null,
    others: OTHERS_READ,
  })
  const selection = material === null ? null : selectContext(material, options)
  const rendered = selection === null ? null : renderContext(selection)
  const context = rendered?.text ?? ''
  return {
    project: material?.project ?? project,
    context,
    tokens: estimateTokens(context),
    totals: material?.totals ?? null,
    report: rendered?.report ?? null,
    material: material === null ? null : { ...ownMaterial(material, options.me ?? null), passages: [] },
  }
}

/** Adds the message, which also depends on how the observer is doing now. */
export function withMessage(
  { material, ...built }: BuiltContext,
  { message: kind, now }: Pick<ContextOptions, 'message' | 'now'>,
  problems: ObserverProblems,
): ContextPreview {
  return { ...built, message: renderMessage({ material, tokens: built.tokens, problems, kind, now }) }
}
