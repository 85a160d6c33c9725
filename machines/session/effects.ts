/** Which effect is started next, and what its result changes. */
import { addUsage, type Usage } from '../../src/domain/observation.ts'
import { decide, type EventOf, tidy, withoutPending, withTurn } from './context.ts'
import type { Effect, Policy, SessionContext, SessionEvent, Tick, Turn } from './types.ts'

export type Work = { kind: 'observe' | 'summarize'; turn: Turn }

/** The oldest work that is due while nothing is in flight. */
export function nextWork(context: SessionContext, policy: Policy): Work | null {
  for (const turn of context.turns) {
    if (turn.pending > 0) return flushReason(context, turn, policy) === null ? null : { kind: 'observe', turn }
    if (turn.summary) return { kind: 'summarize', turn }
  }
  return null
}

/** Why the messages of a turn are flushed now; null: they keep collecting. */
function flushReason(context: SessionContext, turn: Turn, policy: Policy): string | null {
  if (!policy.batching) return 'batching is off'
  if (turn.flush) return 'flush'
  if (context.ended) return 'session ended'
  if (turn.prompt < context.prompt) return 'an earlier turn'
  if (turn.pending >= policy.batchMaxSize) return 'overflow'
  return null
}

function effectBase(tick: Tick, prompt: number) {
  return {
    id: tick.freshId,
    prompt,
    timeoutMs: tick.policy.effectTimeoutMs,
    deadline: tick.at + tick.policy.effectTimeoutMs,
    offline: tick.offline,
  }
}

function started(context: SessionContext, tick: Tick, effect: Effect, reason: string): SessionContext {
  const offline = tick.offline === null ? null : { since: context.offline?.since ?? tick.at, reason: tick.offline }
  const how = tick.offline === null ? reason : `${reason}, offline: ${tick.offline}`
  return decide({ ...context, effect, offline }, tick, how, { do: 'claim', effect })
}

export function startBatch(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const work = nextWork(context, tick.policy)
  if (work === null) return context
  const most = tick.policy.batching ? Math.min(tick.policy.batchMaxSize, context.split?.limit ?? Infinity) : 1
  const limit = Math.min(work.turn.pending, most)
  const why =
    context.split === null ? flushReason(context, work.turn, tick.policy) : 'split to find the failing message'
  const effect: Effect = { ...effectBase(tick, work.turn.prompt), kind: 'observe', limit }
  return started(context, tick, effect, `batch of ${limit} (${why})`)
}

export function startSummary(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const work = nextWork(context, tick.policy)
  if (work === null) return context
  const effect: Effect = { ...effectBase(tick, work.turn.prompt), kind: 'summarize' }
  const turns = withTurn(context.turns, work.turn.prompt, (turn) => ({ ...turn, summary: false }))
  return started({ ...context, turns }, tick, effect, `summary of turn ${work.turn.prompt}`)
}

export function startCompaction(context: SessionContext, { tick }: SessionEvent): SessionContext {
  const effect: Effect = { ...effectBase(tick, context.prompt), kind: 'compact' }
  const why = context.compaction === 'asked' ? 'too long for the provider' : `${context.contextTokens} tokens`
  return started(context, tick, effect, `compaction (${why})`)
}

interface Result {
  usage: Usage
  contextTokens: number
}

function answered(context: SessionContext, result: Result): SessionContext {
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
    ...answered(context, event),
    split: context.split !== null && left > 0 ? { ...context.split, left } : null,
    turns: withoutPending(context.turns, effect.prompt, effect.limit),
  }
  return decide(tidy(next), event.tick, `${effect.limit} observed`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

export function settleSummary(context: SessionContext, event: EventOf<'SUMMARIZED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const next = tidy({ ...answered(context, event), summaryAttempts: 0 })
  return decide(next, event.tick, `turn ${effect.prompt} summarised`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}

export function settleCompaction(context: SessionContext, event: EventOf<'COMPACTED'>): SessionContext {
  const effect = context.effect
  if (effect === null) return context
  const next = { ...answered(context, event), compaction: 'done' as const, generation: context.generation + 1 }
  return decide(next, event.tick, `generation ${next.generation} of the memory session`, {
    do: 'settle',
    effectId: effect.id,
    prompt: effect.prompt,
    kind: effect.kind,
  })
}
