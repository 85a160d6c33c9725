/** Handlers for events of hooks, users and time: context and event in, new context out. */
import { decide, type EventOf, flushed, pendingOf, recordActivity, tidy, withSummaryDue, withTurn } from './context.ts'
import type { SessionContext, Turn, TurnCount } from './types.ts'

/** The turn a late event belongs to: the one before, where the client says so; else the newest. */
function promptFor(context: SessionContext, promptId: string | null): number {
  const late = promptId !== null && promptId !== context.promptId && promptId === context.previousPromptId
  return late ? context.prompt - 1 : context.prompt
}

export function takeStart(context: SessionContext, { tick }: EventOf<'SESSION_START'>): SessionContext {
  return decide(recordActivity(context, tick), tick, 'session started')
}

export function takePrompt(context: SessionContext, event: EventOf<'PROMPT'>): SessionContext {
  const number = context.prompt + 1
  const leftovers = pendingOf(context)
  const reason = event.private ? `prompt ${number} is private: its turn is not observed` : `prompt ${number}`
  const next: SessionContext = {
    ...recordActivity(context, event.tick),
    prompt: number,
    promptId: event.promptId,
    previousPromptId: context.promptId,
    turnOpen: true,
    turnPrivate: event.private,
    ended: false,
    outcome: 'active',
    turns: withTurn(flushed(context.turns), number, (turn) => turn),
  }
  const why = leftovers > 0 ? `${reason}; ${leftovers} left over from before` : reason
  return decide(tidy(next), event.tick, why, { do: 'add_prompt', number, private: event.private })
}

export function takeMessage(context: SessionContext, event: EventOf<'MESSAGE'>): SessionContext {
  const prompt = promptFor(context, event.promptId)
  const next = recordActivity(context, event.tick)
  if (context.turnPrivate && prompt === context.prompt) {
    return decide(next, event.tick, 'not observed: private turn', { do: 'skip_event', reason: 'private turn' })
  }
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, pending: turn.pending + 1 }))
  const changed = tidy({ ...next, turns })
  return decide(changed, event.tick, `queued, ${pendingOf(changed)} waiting`, { do: 'add_message', prompt })
}

export function takeTurnEnd(context: SessionContext, event: EventOf<'TURN_END'>): SessionContext {
  const prompt = promptFor(context, event.promptId)
  const current = prompt === context.prompt
  const next: SessionContext = { ...recordActivity(context, event.tick), turnOpen: context.turnOpen && !current }
  if (current && context.turnPrivate) {
    return decide(tidy(next), event.tick, 'private turn ended', { do: 'skip_event', reason: 'private turn' })
  }
  const turns = withTurn(context.turns, prompt, (turn) => ({ ...turn, flush: true, summary: true }))
  return decide(tidy({ ...next, turns }), event.tick, `turn ${prompt} ended`, { do: 'add_turn_end', prompt })
}

export function takePreCompact(context: SessionContext, { tick }: EventOf<'PRE_COMPACT'>): SessionContext {
  return decide(
    { ...recordActivity(context, tick), turns: flushed(context.turns) },
    tick,
    'the client is about to compact',
  )
}

export function takeSessionEnd(context: SessionContext, { tick }: EventOf<'SESSION_END'>): SessionContext {
  return decide(ended(recordActivity(context, tick), 'completed'), tick, 'session ended')
}

/** Idle time is counted from now. */
export function takeReopen(context: SessionContext, { tick }: EventOf<'REOPEN'>): SessionContext {
  return decide({ ...recordActivity(context, tick), ended: false, outcome: 'active' }, tick, 'reopened by hand')
}

/** Pending work is observed and summarised, then the session closes. */
function ended(context: SessionContext, outcome: 'completed' | 'interrupted'): SessionContext {
  const summarise = context.turnOpen && !context.turnPrivate && context.prompt > 0
  const turns = summarise
    ? withTurn(context.turns, context.prompt, (turn) => ({ ...turn, flush: true, summary: true }))
    : context.turns
  return tidy({ ...context, ended: true, outcome, turnOpen: false, turns })
}

export function takeFlush(context: SessionContext, { tick }: EventOf<'FLUSH'>): SessionContext {
  return decide({ ...context, waiting: null, turns: flushed(context.turns) }, tick, 'flushed by hand')
}

export function takeSilence(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  const silentMs = tick.at - context.lastEventAt
  if (silentMs >= tick.policy.silenceMs) {
    const outcome = context.turnOpen ? 'interrupted' : 'completed'
    return decide(ended(context, outcome), tick, `no event for ${hours(silentMs)}: ${outcome}`)
  }
  return decide({ ...context, turns: flushed(context.turns) }, tick, 'idle: what waits is observed')
}

/** Counts idle time from now: after the clock was set back, the last activity is in the future. */
export function rebase(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  return decide({ ...context, lastEventAt: tick.at }, tick, 'the clock went back')
}

/** The wake-up was set with a shorter idle setting: it is set again, or it would be due with every tick. */
export function wakeLater(context: SessionContext, { tick }: EventOf<'DEADLINE'>): SessionContext {
  return decide(context, tick, 'not silent long enough yet')
}

export function takeRetry(context: SessionContext, event: EventOf<'RETRY'>): SessionContext {
  const count = sum(event.messages)
  const messages = event.messages.reduce<Turn[]>(
    (all, { prompt, count: added }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: turn.pending + added, flush: true })),
    context.turns,
  )
  const turns = event.summaries.reduce<Turn[]>(withSummaryDue, messages)
  const next = tidy({ ...context, failed: Math.max(0, context.failed - count), turns })
  const reason = `tried again: ${count} messages, ${event.summaries.length} summaries`
  return decide(next, event.tick, reason, { do: 'retry_failed' })
}

export function takeClear(context: SessionContext, event: EventOf<'CLEAR'>): SessionContext {
  const pending = event.pending ?? []
  const turns = pending.reduce<Turn[]>(
    (all, { prompt, count }) =>
      withTurn(all, prompt, (turn) => ({ ...turn, pending: Math.max(0, turn.pending - count) })),
    context.turns,
  )
  const next = tidy({ ...context, failed: Math.max(0, context.failed - event.failed), split: null, turns })
  const dropped = event.failed + sum(pending)
  return decide(next, event.tick, `${dropped} messages dropped by hand`, {
    do: 'clear',
    pending: event.pending !== null,
  })
}

function sum(counts: readonly TurnCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}

function hours(ms: number): string {
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
