/** Actions for the events of hooks and users, and for an idle session. */

import {
  belongsToPrivateTurn,
  type EventOwner,
  withPrivateAgent,
  withPrivatePrompt,
} from '../../src/domain/private-turns.ts'
import { decide, on } from './action.ts'
import {
  markFlush,
  pendingOf,
  recordActivity,
  withoutPending,
  withSummaryDue,
  withTurn,
  withWholeSummaryDue,
} from './context.ts'
import { releaseEffect } from './failures.ts'
import type { SessionContext, Turn, TurnCount, TurnState } from './types.ts'

/** The number of the turn an event belongs to: the previous one if a late event has its prompt id, else the newest. */
function promptNumberFor(context: SessionContext, promptId: string | null): number {
  const late = promptId !== null && promptId !== context.promptId && promptId === context.previousPromptId
  return late ? context.prompt - 1 : context.prompt
}

/** In doubt yes: the rules are in `src/domain/private-turns.ts`. `newest`: the state of the newest turn. */
export function isOfPrivateTurn(context: SessionContext, owner: EventOwner, newest: TurnState): boolean {
  const { promptId, previousPromptId } = context
  const isPrivate = newest === 'private'
  const publicPromptIds = isPrivate ? [previousPromptId] : [promptId, previousPromptId]
  return belongsToPrivateTurn(context.privateTurns, { isPrivate, publicPromptIds }, owner)
}

export function isOfNewestTurn(context: SessionContext, { promptId }: EventOwner): boolean {
  return promptNumberFor(context, promptId) === context.prompt
}

const SKIP_PRIVATE = { type: 'skip_event', reason: 'private turn' } as const

export const hookActions = {
  recordSessionStart: on('SESSION_START', (context, { env }) =>
    decide(recordActivity(context, env), 'session started'),
  ),

  openTurn: on('PROMPT', (context, { promptId, private: isPrivate, env }) => {
    const prompt = context.prompt + 1
    const next: SessionContext = {
      ...recordActivity(context, env),
      prompt,
      promptId,
      previousPromptId: context.promptId,
      privateTurns: isPrivate ? withPrivatePrompt(context.privateTurns, promptId) : context.privateTurns,
      outcome: 'active',
      turns: markFlush(context.turns),
    }
    const reason = isPrivate ? `prompt ${prompt} is private: its turn is not observed` : `prompt ${prompt}`
    const leftOver = pendingOf(context)
    const why = leftOver > 0 ? `${reason}; ${leftOver} left over from before` : reason
    return decide(next, why, { type: 'add_prompt', number: prompt, private: isPrivate })
  }),

  queueMessage: on('MESSAGE', (context, { promptId, env }) => {
    const prompt = promptNumberFor(context, promptId)
    const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, pending: turn.pending + 1 }))
    const next = { ...recordActivity(context, env), turns }
    return decide(next, `queued, ${pendingOf(next)} waiting`, { type: 'add_message', prompt })
  }),

  /** An agent that is seen in a private turn stays private: it may report again in a later turn. */
  skipMessage: on('MESSAGE', (context, { agentId, env }) => {
    const privateTurns = withPrivateAgent(context.privateTurns, agentId)
    return decide({ ...recordActivity(context, env), privateTurns }, 'not observed: private turn', SKIP_PRIVATE)
  }),

  endTurn: on('TURN_END', (context, { promptId, env }) => {
    const prompt = promptNumberFor(context, promptId)
    const next = { ...recordActivity(context, env), turns: withEndedTurn(context.turns, prompt) }
    return decide(next, `turn ${prompt} ended`, { type: 'add_turn_end', prompt })
  }),

  skipTurnEnd: on('TURN_END', (context, { env }) =>
    decide(recordActivity(context, env), 'private turn ended', SKIP_PRIVATE),
  ),

  flushBeforeCompaction: on('PRE_COMPACT', (context, { env }) => {
    const next = { ...recordActivity(context, env), turns: markFlush(context.turns) }
    return decide(next, 'the client is about to compact')
  }),

  endSession: on('SESSION_END', (context, { env }) =>
    decide({ ...recordActivity(context, env), outcome: 'completed' }, 'session ended'),
  ),

  endTurnWithSession: on('SESSION_END', (context) => {
    const turns = withEndedTurn(context.turns, context.prompt)
    return decide({ ...context, turns }, `turn ${context.prompt} ended with it`)
  }),
}

function withEndedTurn(turns: readonly Turn[], prompt: number): Turn[] {
  return withTurn(turns, prompt, (turn) => ({ ...turn, flush: true, summary: true }))
}

export const idleActions = {
  endIdleSession: on('DEADLINE', (context, { env }) => {
    const idle = hours(env.at - context.lastEventAt)
    return decide({ ...context, outcome: 'completed' }, `no event for ${idle}: the session ends`)
  }),

  interruptTurn: on('DEADLINE', (context) => {
    const turns = withEndedTurn(context.turns, context.prompt)
    return decide({ ...context, turns, outcome: 'interrupted' }, `turn ${context.prompt} was interrupted`)
  }),

  flushIdleInbox: on('DEADLINE', (context) =>
    decide({ ...context, turns: markFlush(context.turns) }, 'idle: what waits is observed'),
  ),

  /** Idle time restarts: after the clock was set back, the last event is in the future. */
  resetIdleClock: on('DEADLINE', (context, { env }) =>
    decide({ ...context, lastEventAt: env.at }, 'the clock went back'),
  ),

  /**
   * The session is not idle long enough: the wake-up was set with a shorter idle setting. The decision stores the new
   * wake-up; the old one would be due at every tick.
   */
  rescheduleWakeUp: on('DEADLINE', (context) => decide(context, 'not silent long enough yet')),
}

export const userActions = {
  /** Idle time restarts now. */
  reopen: on('REOPEN', (context, { env }) =>
    decide({ ...recordActivity(context, env), outcome: 'active' }, 'reopened by hand'),
  ),

  flush: on('FLUSH', (context) =>
    decide({ ...context, waiting: null, turns: markFlush(context.turns) }, 'flushed by hand'),
  ),

  /** Pending messages are observed first. The whole session has a summary without its private turns. */
  requestSummary: on('SUMMARIZE', (context, { prompt }) => {
    const flushed = markFlush(context.turns)
    const turns = prompt === null ? withWholeSummaryDue(flushed, context.prompt) : withSummaryDue(flushed, prompt)
    const subject = prompt === null ? 'the whole session' : `turn ${prompt}`
    return decide({ ...context, waiting: null, turns }, `summary of ${subject} requested by hand`)
  }),

  refuseSummary: on('SUMMARIZE', (context, { prompt }) => decide(context, `turn ${prompt} has nothing to summarise`)),

  retryFailed: on('RETRY', (context, event) => {
    const count = sum(event.messages)
    const messages = event.messages.reduce<Turn[]>(
      (all, { prompt, count: added }) =>
        withTurn(all, prompt, (turn) => ({ ...turn, pending: turn.pending + added, flush: true })),
      context.turns,
    )
    const turns = event.summaries.reduce<Turn[]>(withSummaryDue, messages)
    const reason = `tried again: ${count} messages, ${event.summaries.length} summaries`
    return decide({ ...context, failed: Math.max(0, context.failed - count), turns }, reason, { type: 'retry_failed' })
  }),

  clear: on('CLEAR', (context, { pending, failed }) => {
    // The turn ends are dropped too: without them no summary is due.
    const dropped = pending === null ? context.turns : context.turns.map((turn) => ({ ...turn, summary: false }))
    const turns = (pending ?? []).reduce<Turn[]>(
      (all, { prompt, count }) =>
        withTurn(all, prompt, (turn) => ({ ...turn, pending: Math.max(0, turn.pending - count) })),
      dropped,
    )
    const next = { ...context, failed: Math.max(0, context.failed - failed), split: null, turns }
    const reason = `${failed + sum(pending ?? [])} messages dropped by hand`
    return decide(next, reason, { type: 'clear', pending: pending !== null })
  }),

  /** The effect in flight may have read what is forgotten: it is cancelled, and started again if work is left. */
  forget: on('FORGET', (context, { messages, failed, summaries, rows }) => {
    const [released, changes] = releaseEffect(context, false, 'memories were forgotten')
    const isForgotten = (prompt: number) => summaries === null || summaries.includes(prompt)
    const turns = messages
      .reduce<Turn[]>((all, { prompt, count }) => withoutPending(all, prompt, count), released.turns)
      .map((turn) => (isForgotten(turn.prompt) ? { ...turn, summary: false } : turn))
    const next: SessionContext = {
      ...released,
      turns,
      failed: Math.max(0, context.failed - failed),
      split: null,
      // The reason of the provider may quote what it was sent.
      waiting: context.waiting === null ? null : { ...context.waiting, reason: 'the provider failed' },
      // The observer conversation is deleted with the memories.
      contextTokens: 0,
    }
    return decide(next, `${rows.length} messages forgotten`, ...changes, { type: 'forget', rows })
  }),
}

function sum(counts: readonly TurnCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

function hours(ms: number): string {
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
