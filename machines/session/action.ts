/** What actions of the session machine have in common: each decides about an event. */
import { setup } from 'xstate'
import { addUsage } from '../../src/domain/observation.ts'
import { dropFinishedTurns } from './context.ts'
import type { TimedTag } from './timeouts.ts'
import type { Change, SessionAction, SessionContext, SessionEvent } from './types.ts'

export const sessionSetup = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as { at: number },
    emitted: {} as SessionAction,
    tags: {} as TimedTag,
  },
})

/** The next context, why, and what changes besides the snapshot. */
interface Decision {
  next: SessionContext
  reason: string
  changes: Change[]
}

export function decide(context: SessionContext, reason: string, ...changes: Change[]): Decision {
  return { next: dropFinishedTurns(context), reason, changes }
}

type EventOf<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>

/** An entry action: it runs with whatever event led to the state. */
export function onEntry(decideOn: (context: SessionContext, event: SessionEvent) => Decision | null) {
  return sessionSetup.enqueueActions(({ context, event, enqueue }) => {
    const decision = decideOn(context, event)
    if (decision === null) return
    enqueue.assign(decision.next)
    enqueue.emit({ type: 'explain', reason: decision.reason })
    for (const change of decision.changes) enqueue.emit(change)
  })
}

/** An action for events of these types only. */
export function on<T extends SessionEvent['type']>(
  types: T | readonly T[],
  decideOn: (context: SessionContext, event: EventOf<T>) => Decision | null,
) {
  const known: readonly string[] = typeof types === 'string' ? [types] : types
  const isKnown = (event: SessionEvent): event is EventOf<T> => known.includes(event.type)
  return onEntry((context, event) => (isKnown(event) ? decideOn(context, event) : null))
}

/** The cost of a failed effect counts, whoever owns the failure. */
export function onFailure(decideOn: (context: SessionContext, event: EventOf<'FAILED'>) => Decision | null) {
  return on('FAILED', (context, event) => {
    return decideOn({ ...context, usage: addUsage(context.usage, event.usage) }, event)
  })
}
