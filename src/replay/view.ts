/** What a replay came to, for people and programs. */
import { addUsage, NO_USAGE, type Usage } from '../memory/observation.ts'
import type { CallFigures } from '../store/origin-port.ts'
import { type Comparison, compare } from './compare.ts'
import type { Loaded } from './load.ts'
import type { Outcome } from './run.ts'

export interface Figures {
  observations: number
  summaries: number
  calls: number
  usage: Usage
  /** US dollars, of the calls whose price is known. */
  cost: number
  /** Calls that used tokens at a price that is not known. */
  unpriced: number
  /** Observations for a hundred tool uses. */
  perHundred: number
}

export interface ReplayView extends Comparison {
  session: string
  project: string
  projectName: string
  observer: { provider: string; model: string | null; promptDir: string | null }
  /** Tool uses and ends of subagents that the observer was told of, and how much of that is kept. */
  payloads: { total: number; kept: number; goneFrom: number | null; goneTo: number | null }
  toolUses: number
  prompts: number
  /** What is stored: of the whole session, also where not all of it could be told again. */
  before: Figures
  after: Figures
  failed: Outcome['failed']
}

export function replayView(loaded: Loaded, outcome: Outcome, observer: ReplayView['observer']): ReplayView {
  const { session, story, payloads, gone, toolUses } = loaded
  const stored = { observations: story.observationRows, summaries: story.summaryRows }
  const { project } = story.row
  const usedThen = story.outcomes
    .filter(({ kind }) => kind === 'tool_use' || kind === 'tool_failure')
    .reduce((sum, { count }) => sum + count, 0)
  return {
    session,
    project: project.key,
    projectName: project.name,
    observer,
    payloads: { ...payloads, goneFrom: gone?.from ?? null, goneTo: gone?.to ?? null },
    toolUses,
    prompts: loaded.told.filter(({ event }) => event.kind === 'prompt').length,
    before: figuresOf({ ...stored, calls: story.calls }, usedThen),
    after: figuresOf(outcome, toolUses),
    failed: outcome.failed,
    ...compare(stored, outcome, gone?.ids ?? new Set()),
  }
}

function figuresOf(
  made: { observations: readonly unknown[]; summaries: readonly unknown[]; calls: readonly CallFigures[] },
  toolUses: number,
): Figures {
  const isPriced = ({ cost }: CallFigures) => cost !== null
  return {
    observations: made.observations.length,
    summaries: made.summaries.length,
    calls: made.calls.length,
    usage: made.calls.reduce((sum, call) => addUsage(sum, call.usage), NO_USAGE),
    cost: made.calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    unpriced: made.calls.filter((call) => !isPriced(call)).length,
    perHundred: toolUses === 0 ? 0 : (made.observations.length / toolUses) * 100,
  }
}
