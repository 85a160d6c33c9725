/** Replays a stored session with another observer and compares the results. Of the memory only the cost changes. */
import type { Policy } from '../../../machines/session/types.ts'
import type { Call } from '../../api/index.ts'
import { DailyBudget } from '../../daemon/actors/model-calls.ts'
import type { ModelCall } from '../../domain/model-call.ts'
import { addUsage, NO_USAGE, type Usage } from '../../domain/observation.ts'
import type { Project } from '../../domain/project.ts'
import type { Paths } from '../../lib/paths.ts'
import { modelPrice } from '../../observer/prices.ts'
import type { LoadedSettings } from '../../settings/settings.ts'
import type { CallFigures } from '../../store/port.ts'
import { type CostEstimate, estimateCost } from '../backfill/plan.ts'
import { compareMemories, type ReplayComparison } from './compare.ts'
import { type LoadedSession, loadSession } from './load.ts'
import { chooseReplayObserver, type ReplayObserver, type ReplayRequest } from './observer.ts'
import { budgetSpentError, type ReplayOutcome, replayEvents } from './run.ts'

interface ReplayEnvironment {
  settings: LoadedSettings
  paths: Paths
  env: NodeJS.ProcessEnv
}

export interface PreparedReplay {
  session: LoadedSession
  chosen: ReplayObserver
  observer: ReplayView['observer']
  /** Null if no model is used. */
  cost: { estimate: CostEstimate; budget: DailyBudget } | null
}

/** Everything that can fail before the first model call fails here. */
export async function prepareReplay(
  call: Call,
  prefix: string,
  request: ReplayRequest,
  { settings, paths, env }: ReplayEnvironment,
): Promise<PreparedReplay> {
  const session = await loadSession(call, prefix)
  const chosen = await chooseReplayObserver(settings, request, paths, env)
  const { provider, config } = chosen.choice
  const model = config?.model ?? null
  return {
    session,
    chosen,
    observer: { provider, model, promptDir: request.promptDir },
    cost: model === null ? null : await estimateReplay(session, model, chosen.loaded, call),
  }
}

async function estimateReplay(
  { toolUses }: LoadedSession,
  model: string,
  { values }: LoadedSettings,
  call: Call,
): Promise<PreparedReplay['cost']> {
  const budget = new DailyBudget({
    limits: () => ({ usd: values.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: values.CLAUDE_MEM_DAILY_BUDGET_TOKENS }),
    now: Date.now,
    spentSince: async () => (await call('usage', { by: 'model', days: 1 })).usage.today,
  })
  await budget.load()
  if (budget.reason !== null) throw budgetSpentError(budget.reason)
  return { estimate: estimateCost([{ toolUses }], modelPrice(model, values.CLAUDE_MEM_PRICES)), budget }
}

interface ReplayCallbacks {
  policy: Policy
  signal: AbortSignal
  onProgress(done: number, total: number): void
  recordCost(project: Project, calls: readonly ModelCall[]): Promise<void>
  temporary: string
}

export async function runReplay(
  { session, chosen, observer, cost }: PreparedReplay,
  { policy, signal, onProgress, recordCost, temporary }: ReplayCallbacks,
): Promise<ReplayView> {
  const { events, story } = session
  const outcome = await replayEvents(events, {
    observer: chosen.make,
    policy,
    budget: cost?.budget ?? null,
    // Its clock is that of the stored session; the calls are made now.
    recordCost: (calls) =>
      recordCost(
        story.row.project,
        calls.map((call) => ({ ...call, at: Date.now() })),
      ),
    temporary,
    signal,
    onProgress: (done) => onProgress(done, events.length),
    until: Date.now(),
    flush: story.messages.length === 0,
  })
  return replayView(session, outcome, observer)
}

export interface ReplayFigures {
  observations: number
  summaries: number
  calls: number
  usage: Usage
  /** US dollars, for the calls whose price is known. */
  cost: number
  /** Number of calls whose price is not known. */
  unpriced: number
  /** Observations per hundred tool uses. */
  perHundred: number
}

export interface ReplayView extends ReplayComparison {
  session: string
  project: string
  projectName: string
  observer: { provider: string; model: string | null; promptDir: string | null }
  /** Number of observed tool uses and subagent ends, and of how many the payload is kept. */
  payloads: { total: number; kept: number; goneFrom: number | null; goneTo: number | null }
  toolUses: number
  prompts: number
  /** Of the stored session as a whole, even if not all of it could be replayed. */
  before: ReplayFigures
  after: ReplayFigures
  failed: ReplayOutcome['failed']
}

function replayView(loaded: LoadedSession, outcome: ReplayOutcome, observer: ReplayView['observer']): ReplayView {
  const { session, story, payloads, gone, toolUses } = loaded
  // A replay makes the summaries of turns; the one of the whole session was made on demand.
  const stored = {
    observations: story.observationRows,
    summaries: story.summaryRows.filter(({ whole }) => whole !== true),
  }
  const { project } = story.row
  const storedToolUses = story.outcomes
    .filter(({ kind }) => kind === 'tool_use' || kind === 'tool_failure')
    .reduce((sum, { count }) => sum + count, 0)
  return {
    session,
    project: project.key,
    projectName: project.name,
    observer,
    payloads: { ...payloads, goneFrom: gone?.from ?? null, goneTo: gone?.to ?? null },
    toolUses,
    prompts: loaded.events.filter(({ event }) => event.kind === 'prompt').length,
    before: replayFigures({ ...stored, calls: story.calls }, storedToolUses),
    after: replayFigures(outcome, toolUses),
    failed: outcome.failed,
    ...compareMemories(stored, outcome, gone?.ids ?? new Set()),
  }
}

function replayFigures(
  result: { observations: readonly unknown[]; summaries: readonly unknown[]; calls: readonly CallFigures[] },
  toolUses: number,
): ReplayFigures {
  return {
    observations: result.observations.length,
    summaries: result.summaries.length,
    calls: result.calls.length,
    usage: result.calls.reduce((sum, call) => addUsage(sum, call.usage), NO_USAGE),
    cost: result.calls.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    unpriced: result.calls.filter(({ cost }) => cost === null).length,
    perHundred: toolUses === 0 ? 0 : (result.observations.length / toolUses) * 100,
  }
}
