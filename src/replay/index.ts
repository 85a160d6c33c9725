/** A stored session once more, with the observer that somebody wants to try. The memory is only read. */
import type { Policy } from '../../machines/session/types.ts'
import { Budget } from '../actors/budget.ts'
import { type Estimate, estimateOf } from '../backfill/estimate.ts'
import { priceOf } from '../observer/prices.ts'
import type { Paths } from '../paths.ts'
import type { LoadedSettings } from '../settings.ts'
import type { Spent } from '../store/accounting.ts'
import { budgetSpent } from './guard.ts'
import { type Loaded, loadSession, type ReplaySource } from './load.ts'
import { type Chosen, chosenObserver, type Wish } from './observer.ts'
import { replayed } from './run.ts'
import { type ReplayView, replayView } from './view.ts'

export interface ReplayPlace {
  settings: LoadedSettings
  paths: Paths
  env: NodeJS.ProcessEnv
  /** What models cost today, by the memory's own account. */
  spentToday(): Promise<Spent>
}

export interface Prepared {
  session: Loaded
  chosen: Chosen
  observer: ReplayView['observer']
  /** Null where no model is asked. */
  cost: { estimate: Estimate; budget: Budget } | null
}

/** Everything that can go wrong before anything is run, or paid for, goes wrong here. */
export async function prepareReplay(
  source: ReplaySource,
  prefix: string,
  wish: Wish,
  { settings, paths, env, spentToday }: ReplayPlace,
): Promise<Prepared> {
  const session = await loadSession(source, prefix)
  const chosen = await chosenObserver(settings, wish, paths, env)
  const { provider, setUp } = chosen.choice
  const model = setUp?.model ?? null
  return {
    session,
    chosen,
    observer: { provider, model, promptDir: wish.promptDir },
    cost: model === null ? null : await costOf(session, model, chosen.loaded, spentToday),
  }
}

async function costOf(
  { toolUses }: Loaded,
  model: string,
  { values }: LoadedSettings,
  spentToday: ReplayPlace['spentToday'],
): Promise<Prepared['cost']> {
  const budget = new Budget({
    limits: () => ({ usd: values.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: values.CLAUDE_MEM_DAILY_BUDGET_TOKENS }),
    now: Date.now,
    spentSince: spentToday,
  })
  await budget.load()
  if (budget.reason !== null) throw budgetSpent(budget.reason)
  return { estimate: estimateOf([{ toolUses }], priceOf(model, values.CLAUDE_MEM_PRICES)), budget }
}

export interface Watching {
  policy: Policy
  signal: AbortSignal
  moved(done: number, of: number): void
}

export async function runReplay(
  { session, chosen, observer, cost }: Prepared,
  watching: Watching,
): Promise<ReplayView> {
  const { told, story } = session
  const outcome = await replayed(told, {
    observer: chosen.make,
    policy: watching.policy,
    budget: cost?.budget ?? null,
    signal: watching.signal,
    moved: (done) => watching.moved(done, told.length),
    until: Date.now(),
    flush: story.messages.length === 0,
  })
  return replayView(session, outcome, observer)
}
