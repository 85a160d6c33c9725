/** Which effect is started next, and what its result changes. */
import { addUsage } from '../../src/domain/observation.ts'
import { decide, on, onEntry } from './action.ts'
import { promptAfterMerge, withoutPending, withTurn } from './context.ts'
import type { Effect, EventEnvironment, Policy, SessionContext, Turn } from './types.ts'

type Work = { kind: 'observe' | 'summarize'; turn: Turn }

/** The oldest work that is due while nothing is in flight. */
export function nextWork(context: SessionContext, policy: Policy): Work | null {
  for (const turn of context.turns) {
    if (turn.pending > 0) return flushReason(context, turn, policy) === null ? null : { kind: 'observe', turn }
    if (turn.summary || turn.whole === true) return { kind: 'summarize', turn }
  }
  return null
}

/** Why the messages of a turn are flushed now; null: they wait for more. */
function flushReason(context: SessionContext, turn: Turn, policy: Policy): string | null {
  if (!policy.batching) return 'batching is off'
  if (turn.flush) return 'flush'
  if (context.outcome !== 'active') return 'session ended'
  if (turn.prompt < context.prompt) return 'an earlier turn'
  if (turn.pending >= policy.batchMaxSize) return 'overflow'
  return null
}

/** Shares of `compactTokens` from which the conversation is compacted: between two turns, so that the next one has room. */
const RENEW_SHARE = 0.5
/** Before a summary, and after "too long": so large that the request for it may not fit into the model's context any more. */
const OVERFLOW_SHARE = 1.5

/**
 * Whether the conversation is so large that it is compacted before the next work. A summary is made of the tool uses that
 * the conversation still has: so the place to renew it is after a summary. Within a turn it is compacted before a batch if
 * it is over the limit, and before the summary only if it is far over it.
 */
export function isCompactionDue(context: SessionContext, policy: Policy): boolean {
  const work = nextWork(context, policy)
  if (work === null || context.compacted) return false
  const isInTurn = context.unsummarized === work.turn.prompt
  const share = !isInTurn ? RENEW_SHARE : work.kind === 'observe' ? 1 : OVERFLOW_SHARE
  return context.contextTokens > policy.compactTokens * share
}

/** The size of a conversation that the provider calls too long, whatever was counted: it is compacted before any work. */
export function tooManyTokens(context: SessionContext, policy: Policy): number {
  return Math.max(context.contextTokens, Math.ceil(policy.compactTokens * OVERFLOW_SHARE) + 1)
}

function effectBase(env: EventEnvironment, prompt: number) {
  return {
    id: env.freshId,
    prompt,
    timeoutMs: env.policy.effectTimeoutMs,
    deadline: env.at + env.policy.effectTimeoutMs,
    offline: env.offline,
    starts: 0,
  }
}

/** Puts the effect into the snapshot, and claims its messages. */
function withEffect(context: SessionContext, env: EventEnvironment, effect: Effect, reason: string) {
  const offline = env.offline === null ? null : { since: context.offline?.since ?? env.at, reason: env.offline }
  const how = env.offline === null ? reason : `${reason}, offline: ${env.offline}`
  return decide({ ...context, effect, offline }, how, { type: 'claim', effect })
}

/** What puts an effect in flight. */
export const startActions = {
  startBatch: onEntry((context, { env }) => {
    const work = nextWork(context, env.policy)
    if (work === null) return null
    const { split } = context
    const most = env.policy.batching ? Math.min(env.policy.batchMaxSize, split?.limit ?? Infinity) : 1
    const limit = Math.min(work.turn.pending, most)
    const why = split === null ? flushReason(context, work.turn, env.policy) : 'split to find the failing message'
    const effect: Effect = { ...effectBase(env, work.turn.prompt), kind: 'observe', limit }
    return withEffect(context, env, effect, `batch of ${limit} (${why})`)
  }),

  startSummary: onEntry((context, { env }) => {
    const work = nextWork(context, env.policy)
    if (work === null) return null
    const { prompt, summary } = work.turn
    const base = effectBase(env, prompt)
    if (summary) {
      const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, summary: false }))
      return withEffect({ ...context, turns }, env, { ...base, kind: 'summarize' }, `summary of turn ${prompt}`)
    }
    const turns = withTurn(context.turns, prompt, ({ whole: _, ...turn }) => turn)
    const effect: Effect = { ...base, kind: 'summarize', whole: true }
    return withEffect({ ...context, turns }, env, effect, 'summary of the whole session')
  }),

  startCompaction: onEntry((context, { env }) => {
    // The turn that is worked on next: while a transcript is read, the newest one is far ahead of it.
    const prompt = nextWork(context, env.policy)?.turn.prompt ?? context.prompt
    const effect: Effect = { ...effectBase(env, prompt), kind: 'compact' }
    return withEffect(context, env, effect, `compaction (${context.contextTokens} tokens)`)
  }),
}

/** The events that end an effect with its result. */
export const RESULTS = { observe: 'OBSERVED', summarize: 'SUMMARIZED', compact: 'COMPACTED' } as const

export const effectActions = {
  /** "Call begun": part of the snapshot before the request is sent, so a call that a crash cuts off is counted. */
  countStart: on('CALL_BEGUN', (context) => {
    const { effect } = context
    if (effect === null) return null
    const starts = effect.starts + 1
    return decide({ ...context, effect: { ...effect, starts } }, `model call ${starts} of this effect begun`)
  }),

  settle: on(Object.values(RESULTS), (context, { contextTokens, usage }) => {
    const { effect } = context
    if (effect === null) return null
    const settled: SessionContext = {
      ...context,
      effect: null,
      waiting: null,
      compacted: false,
      contextTokens,
      usage: addUsage(context.usage, usage),
    }
    const { next, reason } = settleKind(settled, effect)
    return decide(next, reason, { type: 'settle', effectId: effect.id, prompt: effect.prompt, kind: effect.kind })
  }),
}

function settleKind(context: SessionContext, effect: Effect): { next: SessionContext; reason: string } {
  const { split, turns, generation } = context
  switch (effect.kind) {
    case 'observe': {
      const left = (split?.left ?? 0) - effect.limit
      const next = {
        ...context,
        split: split !== null && left > 0 ? { ...split, left } : null,
        turns: withoutPending(turns, effect.prompt, effect.limit),
        unsummarized: promptAfterMerge(turns, effect.prompt),
      }
      return { next, reason: `${effect.limit} observed` }
    }
    case 'summarize': {
      const subject = effect.whole === true ? 'the whole session' : `turn ${effect.prompt}`
      return { next: { ...context, summaryAttempts: 0, unsummarized: null }, reason: `${subject} summarised` }
    }
    case 'compact': {
      const next = { ...context, compacted: true, generation: generation + 1 }
      return { next, reason: `generation ${next.generation} of the memory session` }
    }
  }
}
