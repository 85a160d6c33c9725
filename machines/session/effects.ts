/** Which effect is started next, and what its result changes. */
import { addUsage, type Usage } from '../../src/domain/observation.ts'
import { decide, dropFinishedTurns, type EventOf, promptAfterMerge, withoutPending, withTurn } from './context.ts'
import type { Effect, EventEnvironment, Policy, SessionContext, SessionEvent, Turn } from './types.ts'

export type Work = { kind: 'observe' | 'summarize'; turn: Turn }

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
  if (context.ended) return 'session ended'
  if (turn.prompt < context.prompt) return 'an earlier turn'
  if (turn.pending >= policy.batchMaxSize) return 'overflow'
  return null
}

/** Shares of `compactTokens` from which the conversation is compacted: between two turns, so that the next one has room. */
const RENEW_SHARE = 0.5
/** Before a summary: so large that the request for it may not fit into the model's context any more. */
const OVERFLOW_SHARE = 1.5

/**
 * Whether the conversation is so large that it is compacted before the next work. A summary is made of the tool uses that
 * the conversation still has: so the place to renew it is after a summary. Within a turn it is compacted before a batch if
 * it is over the limit, and before the summary only if it is far over it.
 */
export function isCompactionDue(context: SessionContext, policy: Policy): boolean {
  const work = nextWork(context, policy)
  if (work === null) return false
  const isInTurn = context.unsummarized === work.turn.prompt
  const share = !isInTurn ? RENEW_SHARE : work.kind === 'observe' ? 1 : OVERFLOW_SHARE
  return context.contextTokens > policy.compactTokens * share
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
function withEffect(context: SessionContext, env: EventEnvironment, effect: Effect, reason: string): SessionContext {
  const offline = env.offline === null ? null : { since: context.offline?.since ?? env.at, reason: env.offline }
  const how = env.offline === null ? reason : `${reason}, offline: ${env.offline}`
  return decide({ ...context, effect, offline }, env, how, { do: 'claim', effect })
}

export function startBatch(context: SessionContext, { env }: SessionEvent): SessionContext {
  const work = nextWork(context, env.policy)
  if (work === null) return context
  const most = env.policy.batching ? Math.min(env.policy.batchMaxSize, context.split?.limit ?? Infinity) : 1
  const limit = Math.min(work.turn.pending, most)
  const why = context.split === null ? flushReason(context, work.turn, env.policy) : 'split to find the failing message'
  const effect: Effect = { ...effectBase(env, work.turn.prompt), kind: 'observe', limit }
  return withEffect(context, env, effect, `batch of ${limit} (${why})`)
}

export function startSummary(context: SessionContext, { env }: SessionEvent): SessionContext {
  const work = nextWork(context, env.policy)
  if (work === null) return context
  const { prompt, summary } = work.turn
  const base = effectBase(env, prompt)
  if (summary) {
    const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, summary: false }))
    return withEffect({ ...context, turns }, env, { ...base, kind: 'summarize' }, `summary of turn ${prompt}`)
  }
  const turns = withTurn(context.turns, prompt, ({ whole: _, ...turn }) => turn)
  const effect: Effect = { ...base, kind: 'summarize', whole: true }
  return withEffect({ ...context, turns }, env, effect, 'summary of the whole session')
}

export function startCompaction(context: SessionContext, { env }: SessionEvent): SessionContext {
  // The turn that is worked on next: while a transcript is read, the newest one is far ahead of it.
  const prompt = nextWork(context, env.policy)?.turn.prompt ?? context.prompt
  const effect: Effect = { ...effectBase(env, prompt), kind: 'compact' }
  const why = context.compaction === 'asked' ? 'too long for the provider' : `${context.contextTokens} tokens`
  return withEffect(context, env, effect, `compaction (${why})`)
}

/** "Call begun": part of the snapshot before the request is sent, so a call that a crash cuts off is counted. */
export function countStart(context: SessionContext, event: EventOf<'CALL_BEGUN'>): SessionContext {
  const { effect } = context
  if (effect === null) return context
  const starts = effect.starts + 1
  return decide({ ...context, effect: { ...effect, starts } }, event.env, `model call ${starts} of this effect begun`)
}

interface Result {
  usage: Usage
  contextTokens: number
}

/** Ends the effect with a result, and adds its usage. */
function settleEffect(context: SessionContext, result: Result): SessionContext {
  return {
    ...context,
    effect: null,
    waiting: null,
    compaction: 'none',
    contextTokens: result.contextTokens,
    usage: addUsage(context.usage, result.usage),
  }
}

export function settleBatch(context: SessionContext, event: EventOf<'OBSERVED'>): SessionContext {
  const effect = context.effect
  if (effect?.kind !== 'observe') return context
  const left = (context.split?.left ?? 0) - effect.limit
  const next: SessionContext = {
    ...settleEffect(context, event),
    split: context.split !== null && left > 0 ? { ...context.split, left } : null,
    turns: withoutPending(context.turns, effect.prompt, effect.limit),
    unsummarized: promptAfterMerge(context.turns, effect.prompt),
  }
  return decide(dropFinishedTurns(next), event.env, `${effect.limit} observed`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

export function settleSummary(context: SessionContext, event: EventOf<'SUMMARIZED'>): SessionContext {
  const effect = context.effect
  if (effect?.kind !== 'summarize') return context
  const next = dropFinishedTurns({ ...settleEffect(context, event), summaryAttempts: 0, unsummarized: null })
  const subject = effect.whole === true ? 'the whole session' : `turn ${effect.prompt}`
  return decide(next, event.env, `${subject} summarised`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

export function settleCompaction(context: SessionContext, event: EventOf<'COMPACTED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const next = { ...settleEffect(context, event), compaction: 'done' as const, generation: context.generation + 1 }
  return decide(next, event.env, `generation ${next.generation} of the memory session`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}
