/** From the store to what a session that starts is given, and what its person is told. */
import { estimateTokens } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { ContextMaterial, ProjectTotals } from '../store/context-port.ts'
import type { Reader } from '../store/port.ts'
import { messageOf, type Trouble } from './message.ts'
import type { ContextOptions } from './options.ts'
import { type ContextReport, renderContext } from './render.ts'
import { selectContext } from './select.ts'

/** What a session of a project would get, and what it costs. */
export interface ContextView {
  project: Project
  tokens: number
  context: string
}

/** The same for somebody who wants to know how it came about. */
export interface ContextPreview extends ContextView {
  message: string
  /** Null where nothing is known. */
  totals: ProjectTotals | null
  /** Null where there is no text. */
  report: ContextReport | null
}

export type ContextReader = Pick<Reader, 'contextMaterial'>

/** Far more than a budget holds, so that the best can be chosen; few enough to read while a session starts. */
const LEAST_READ = 100
/** Of each type, however old: what was decided weeks ago is not hidden by what was done since. */
const OF_EACH_TYPE = 10
const PINNED_READ = 50
/** Turns that came to nothing are passed over. */
const IDLE_SUMMARIES = 5

export async function previewOf(
  reader: ContextReader,
  project: Project,
  options: ContextOptions,
  trouble: Trouble,
): Promise<ContextPreview> {
  const material = await reader.contextMaterial({
    project: project.key,
    types: options.types,
    observations: Math.max(LEAST_READ, options.observations * 2),
    ofEachType: OF_EACH_TYPE,
    summaries: options.summaries + IDLE_SUMMARIES,
    pinned: PINNED_READ,
  })
  const rendered = render(material, options)
  const context = rendered?.text ?? ''
  const tokens = estimateTokens(context)
  return {
    project: material?.project ?? project,
    tokens,
    context,
    message: messageOf({ material, tokens, trouble, how: options.message, now: options.now }),
    totals: material?.totals ?? null,
    report: rendered?.report ?? null,
  }
}

function render(material: ContextMaterial | null, options: ContextOptions) {
  const selection = material === null ? null : selectContext(material, options)
  return selection === null ? null : renderContext(selection)
}

/** Of a project in a memory that holds nothing yet. */
export function nothingKnown({ key, name }: Project): ContextPreview {
  return { project: { key, name }, tokens: 0, context: '', message: '', totals: null, report: null }
}
