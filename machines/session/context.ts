/** Operations on a session's context. Pure functions. */
import { NO_PRIVATE_TURNS } from '../../src/domain/private-turns.ts'
import type { EventEnvironment, SessionContext, Turn } from './types.ts'

/** Unfinished turns in a snapshot; beyond that the two oldest are merged. Keeps the snapshot small. */
export const MAX_TURNS = 32

export function newContext(at: number): SessionContext {
  return {
    prompt: 0,
    promptId: null,
    previousPromptId: null,
    privateTurns: NO_PRIVATE_TURNS,
    turns: [],
    lastEventAt: at,
    outcome: 'active',
    failed: 0,
    effect: null,
    waiting: null,
    offline: null,
    split: null,
    summaryAttempts: 0,
    compacted: false,
    unsummarized: null,
    generation: 1,
    contextTokens: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  }
}

export function withTurn(turns: readonly Turn[], prompt: number, change: (turn: Turn) => Turn): Turn[] {
  if (turns.some((turn) => turn.prompt === prompt)) {
    return turns.map((turn) => (turn.prompt === prompt ? change(turn) : turn))
  }
  const added = change({ prompt, pending: 0, flush: false, summary: false })
  return [...turns, added].sort((a, b) => a.prompt - b.prompt)
}

export function withSummaryDue(turns: readonly Turn[], prompt: number): Turn[] {
  return withTurn(turns, prompt, (turn) => ({ ...turn, summary: true }))
}

export function withWholeSummaryDue(turns: readonly Turn[], prompt: number): Turn[] {
  return withTurn(turns, prompt, (turn) => ({ ...turn, whole: true }))
}

/** Merges the two oldest turns until at most MAX_TURNS are left. */
function mergeOldestTurns(turns: Turn[]): Turn[] {
  const [oldest, second, ...rest] = turns
  if (turns.length <= MAX_TURNS || oldest === undefined || second === undefined) return turns
  const merged: Turn = {
    prompt: second.prompt,
    pending: oldest.pending + second.pending,
    flush: oldest.flush || second.flush,
    summary: oldest.summary || second.summary,
    ...(oldest.whole === true || second.whole === true ? { whole: true } : {}),
  }
  return mergeOldestTurns([merged, ...rest])
}

/** Drops turns without work left. Keeps to MAX_TURNS. */
export function dropFinishedTurns(context: SessionContext): SessionContext {
  const unfinished = context.turns.filter((turn) => turn.pending > 0 || turn.summary || turn.whole === true)
  const turns = mergeOldestTurns(unfinished)
  const { unsummarized } = context
  const isUnfinished = unfinished.some((turn) => turn.prompt === unsummarized)
  if (unsummarized === null || !isUnfinished) return { ...context, turns }
  return { ...context, turns, unsummarized: promptAfterMerge(turns, unsummarized) }
}

export function recordActivity(context: SessionContext, env: EventEnvironment): SessionContext {
  return { ...context, lastEventAt: env.at }
}

/** All pending messages are flushed now. */
export function markFlush(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => (turn.pending > 0 ? { ...turn, flush: true } : turn))
}

/** The number a turn has now: it may have been merged into the next one while its batch was in flight. */
export function promptAfterMerge(turns: readonly Turn[], prompt: number): number {
  return turns.find((turn) => turn.prompt >= prompt)?.prompt ?? prompt
}

export function withoutPending(turns: readonly Turn[], prompt: number, count: number): Turn[] {
  return withTurn(turns, promptAfterMerge(turns, prompt), (turn) => {
    const pending = Math.max(0, turn.pending - count)
    return { ...turn, pending, flush: turn.flush && pending > 0 }
  })
}

export function pendingOf(context: SessionContext): number {
  return context.turns.reduce((total, turn) => total + turn.pending, 0)
}
