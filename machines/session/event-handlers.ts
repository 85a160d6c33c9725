/** Handlers for events from hooks, from users and for DEADLINE. Each returns the new context. */

import {
  belongsToPrivateTurn,
  type EventOwner,
  withPrivateAgent,
  withPrivatePrompt,
} from '../../src/domain/private-turns.ts'
import {
  decide,
  dropFinishedTurns,
  type EventOf,
  markFlush,
  pendingOf,
  recordActivity,
  withoutPending,
  withSummaryDue,
  withTurn,
  withWholeSummaryDue,
} from './context.ts'
import { releaseEffect } from './failures.ts'
import type { SessionContext, Turn, TurnCount } from './types.ts'

/** The number of the turn an event belongs to: the previous one if a late event has its prompt id, else the newest. */
function promptNumberFor(context: SessionContext, promptId: string | null): number {
  const late = promptId !== null && promptId !== context.promptId && promptId === context.previousPromptId
  return late ? context.prompt - 1 : context.prompt
}

/** In doubt yes: the rules are in `src/domain/private-turns.ts`. */
export function isPrivate(context: SessionContext, owner: EventOwner): boolean {
  const { promptId, previousPromptId, turnPrivate } = context
  const publicPromptIds = turnPrivate ? [previousPromptId] : [promptId, previousPromptId]
  return belongsToPrivateTurn(context.privateTurns, { isPrivate: turnPrivate, publicPromptIds }, owner)
}

export function onSessionStart(context: SessionContext, { env }: EventOf<'SESSION_START'>): SessionContext {
  return decide(recordActivity(context, env), env, 'session started')
}

export function onPrompt(context: SessionContext, event: EventOf<'PROMPT'>): SessionContext {
  const opened = openTurn(context, event)
  const turns = withTurn(opened.turns, opened.prompt, (turn) => turn)
  return decidePrompt(context, { ...opened, turns }, event, `prompt ${opened.prompt}`)
}

/** Nothing of its turn is observed: it is not in `turns`. */
export function onPrivatePrompt(context: SessionContext, event: EventOf<'PROMPT'>): SessionContext {
  const opened = openTurn(context, event)
  const privateTurns = withPrivatePrompt(context.privateTurns, event.promptId)
  const reason = `prompt ${opened.prompt} is private: its turn is not observed`
  return decidePrompt(context, { ...opened, privateTurns }, event, reason)
}

function openTurn(context: SessionContext, event: EventOf<'PROMPT'>): SessionContext {
  return {
    ...recordActivity(context, event.env),
    prompt: context.prompt + 1,
    promptId: event.promptId,
    previousPromptId: context.promptId,
    turnOpen: true,
    turnPrivate: event.private,
    ended: false,
    outcome: 'active',
    turns: markFlush(context.turns),
  }
}

function decidePrompt(
  before: SessionContext,
  next: SessionContext,
  event: EventOf<'PROMPT'>,
  reason: string,
): SessionContext {
  const leftOver = pendingOf(before)
  const why = leftOver > 0 ? `${reason}; ${leftOver} left over from before` : reason
  const change = { do: 'add_prompt', number: next.prompt, private: event.private } as const
  return decide(dropFinishedTurns(next), event.env, why, change)
}

export function onMessage(context: SessionContext, event: EventOf<'MESSAGE'>): SessionContext {
  const prompt = promptNumberFor(context, event.promptId)
  const next = recordActivity(context, event.env)
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, pending: turn.pending + 1 }))
  const changed = dropFinishedTurns({ ...next, turns })
  return decide(changed, event.env, `queued, ${pendingOf(changed)} waiting`, { do: 'add_message', prompt })
}

export function onTurnEnd(context: SessionContext, event: EventOf<'TURN_END'>): SessionContext {
  const prompt = promptNumberFor(context, event.promptId)
  const current = prompt === context.prompt
  const next: SessionContext = { ...recordActivity(context, event.env), turnOpen: context.turnOpen && !current }
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, flush: true, summary: true }))
  return decide(dropFinishedTurns({ ...next, turns }), event.env, `turn ${prompt} ended`, {
    do: 'add_turn_end',
    prompt,
  })
}

/** An agent that is seen in a private turn stays private: it may report again in a later turn. */
export function skipPrivateMessage(context: SessionContext, event: EventOf<'MESSAGE'>): SessionContext {
  const privateTurns = withPrivateAgent(context.privateTurns, event.agentId)
  const next = { ...recordActivity(context, event.env), privateTurns }
  return decide(next, event.env, 'not observed: private turn', SKIP_PRIVATE)
}

/** The end of an earlier private turn leaves the newest one open. */
export function endPrivateTurn(context: SessionContext, event: EventOf<'TURN_END'>): SessionContext {
  const isNewest = context.turnPrivate && (event.promptId === null || event.promptId === context.promptId)
  const next = { ...recordActivity(context, event.env), turnOpen: context.turnOpen && !isNewest }
  return decide(dropFinishedTurns(next), event.env, 'private turn ended', SKIP_PRIVATE)
}

const SKIP_PRIVATE = { do: 'skip_event', reason: 'private turn' } as const

export function onPreCompact(context: SessionContext, { env }: EventOf<'PRE_COMPACT'>): SessionContext {
  return decide(
    { ...recordActivity(context, env), turns: markFlush(context.turns) },
    env,
    'the client is about to compact',
  )
}

export function onSessionEnd(context: SessionContext, { env }: EventOf<'SESSION_END'>): SessionContext {
  return decide(endSession(recordActivity(context, env), 'completed'), env, 'session ended')
}

/** Idle time restarts now. */
export function onReopen(context: SessionContext, { env }: EventOf<'REOPEN'>): SessionContext {
  return decide({ ...recordActivity(context, env), ended: false, outcome: 'active' }, env, 'reopened by hand')
}

/** Pending work is observed and summarised, then the session closes. The open turn is in `turns` unless it is private. */
function endSession(context: SessionContext, outcome: 'completed' | 'interrupted'): SessionContext {
  const isOpen = (turn: Turn) => context.turnOpen && turn.prompt === context.prompt
  const turns = context.turns.map((turn) => (isOpen(turn) ? { ...turn, flush: true, summary: true } : turn))
  return dropFinishedTurns({ ...context, ended: true, outcome, turnOpen: false, turns })
}

export function onFlush(context: SessionContext, { env }: EventOf<'FLUSH'>): SessionContext {
  return decide({ ...context, waiting: null, turns: markFlush(context.turns) }, env, 'flushed by hand')
}

/** Pending messages are observed first. A private turn has no summary; the whole session has one without it. */
export function onSummarize(context: SessionContext, { env, prompt }: EventOf<'SUMMARIZE'>): SessionContext {
  const next: SessionContext = { ...context, waiting: null, turns: markFlush(context.turns) }
  if (prompt === null) {
    const turns = withWholeSummaryDue(next.turns, context.prompt)
    return decide({ ...next, turns }, env, 'summary of the whole session requested by hand')
  }
  if (prompt > context.prompt || (prompt === context.prompt && context.turnPrivate)) {
    return decide(context, env, `turn ${prompt} has nothing to summarise`)
  }
  return decide(
    { ...next, turns: withSummaryDue(next.turns, prompt) },
    env,
    `summary of turn ${prompt} requested by hand`,
  )
}

/** Idle for `sessionIdleMs`: the session ends. Idle for `idleFlushMs`: its pending messages are flushed. */
export function onIdle(context: SessionContext, { env }: EventOf<'DEADLINE'>): SessionContext {
  const idleMs = env.at - context.lastEventAt
  if (idleMs >= env.policy.sessionIdleMs) {
    const outcome = context.turnOpen ? 'interrupted' : 'completed'
    return decide(endSession(context, outcome), env, `no event for ${hours(idleMs)}: ${outcome}`)
  }
  return decide({ ...context, turns: markFlush(context.turns) }, env, 'idle: what waits is observed')
}

/** Restarts the idle time: after the clock was set back, the last event is in the future. */
export function resetIdleClock(context: SessionContext, { env }: EventOf<'DEADLINE'>): SessionContext {
  return decide({ ...context, lastEventAt: env.at }, env, 'the clock went back')
}

/**
 * The session is not idle long enough: the wake-up was set with a shorter idle setting. The decision stores the new
 * wake-up; the old one would be due at every tick.
 */
export function rescheduleWakeUp(context: SessionContext, { env }: EventOf<'DEADLINE'>): SessionContext {
  return decide(context, env, 'not silent long enough yet')
}

export function onRetry(context: SessionContext, event: EventOf<'RETRY'>): SessionContext {
  const count = sum(event.messages)
  const messages = event.messages.reduce<Turn[]>(
    (all, { prompt, count: added }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: turn.pending + added, flush: true })),
    context.turns,
  )
  const turns = event.summaries.reduce<Turn[]>(withSummaryDue, messages)
  const next = dropFinishedTurns({ ...context, failed: Math.max(0, context.failed - count), turns })
  const reason = `tried again: ${count} messages, ${event.summaries.length} summaries`
  return decide(next, event.env, reason, { do: 'retry_failed' })
}

export function onClear(context: SessionContext, event: EventOf<'CLEAR'>): SessionContext {
  const pending = event.pending ?? []
  // The turn ends are dropped too: without them no summary is due.
  const dropped = event.pending === null ? context.turns : context.turns.map((turn) => ({ ...turn, summary: false }))
  const turns = pending.reduce<Turn[]>(
    (all, { prompt, count }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: Math.max(0, turn.pending - count) })),
    dropped,
  )
  const next = dropFinishedTurns({ ...context, failed: Math.max(0, context.failed - event.failed), split: null, turns })
  return decide(next, event.env, `${event.failed + sum(pending)} messages dropped by hand`, {
    do: 'clear',
    pending: event.pending !== null,
  })
}

/** The effect in flight may have read what is forgotten: it is cancelled, and started again if work is left. */
export function onForget(context: SessionContext, event: EventOf<'FORGET'>): SessionContext {
  const [released, changes] = releaseEffect(context, false, 'memories were forgotten')
  const isForgotten = (prompt: number) => event.summaries === null || event.summaries.includes(prompt)
  const turns = event.messages
    .reduce<Turn[]>((all, { prompt, count }) => withoutPending(all, prompt, count), released.turns)
    .map((turn) => (isForgotten(turn.prompt) ? { ...turn, summary: false } : turn))
  const next: SessionContext = {
    ...released,
    turns,
    failed: Math.max(0, context.failed - event.failed),
    split: null,
    // The reason of the provider may quote what it was sent.
    waiting: context.waiting === null ? null : { ...context.waiting, reason: 'the provider failed' },
    // The observer conversation is deleted with the memories.
    contextTokens: 0,
  }
  const reason = `${event.rows.length} messages forgotten`
  return decide(dropFinishedTurns(next), event.env, reason, ...changes, { do: 'forget', rows: event.rows })
}

function sum(counts: readonly TurnCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

function hours(ms: number): string {
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
