/**
 * The life of the daemon. `restoring -> serving -> draining -> stopped`
 *
 * 1. Pure like the session machine: `src/daemon/actors/supervisor.ts` sends it events and acts on its state.
 * 2. `restoring`: the store is open, the spool is read, unfinished effects are found. The server does not listen yet.
 * 3. `serving`: events are accepted.
 * 4. `draining`: new events are refused (their hooks spool them); effects in flight may finish until `deadline`,
 *    unfinished ones are released. A second reason to drain changes nothing.
 * 5. FAILED: what the daemon needs to start or to stop in order did not work. While serving, a failed step is retried on
 *    the next tick, and a dead store thread ends the process at once.
 * 6. `stopped` is final: a daemon that has released its data directory never uses it again.
 */
import { assign, setup } from 'xstate'

/** How long effects in flight may take to finish once the daemon stops, in ms. */
export const DRAIN_MS = 5_000

export interface SupervisorContext {
  startedAt: number
  /** Numbers of unfinished effects, of sessions with messages that no snapshot counts, and of spooled events. */
  restored: { effects: number; stranded: number; spooled: number } | null
  drain: { reason: string; deadline: number } | null
  failure: string | null
}

export type SupervisorEvent =
  | { type: 'RESTORED'; effects: number; stranded: number; spooled: number }
  | { type: 'DRAIN'; reason: string; at: number }
  | { type: 'DRAINED' }
  | { type: 'FAILED'; reason: string }

export const supervisorMachine = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    input: {} as { at: number },
  },
  actions: {
    recordRestored: assign(({ event }) =>
      event.type === 'RESTORED'
        ? { restored: { effects: event.effects, stranded: event.stranded, spooled: event.spooled } }
        : {},
    ),
    recordDrain: assign(({ event }) =>
      event.type === 'DRAIN' ? { drain: { reason: event.reason, deadline: event.at + DRAIN_MS } } : {},
    ),
    recordFailure: assign(({ event }) => (event.type === 'FAILED' ? { failure: event.reason } : {})),
  },
}).createMachine({
  id: 'supervisor',
  context: ({ input }) => ({ startedAt: input.at, restored: null, drain: null, failure: null }),
  initial: 'restoring',
  states: {
    restoring: {
      on: {
        RESTORED: { target: 'serving', actions: 'recordRestored' },
        DRAIN: { target: 'draining', actions: 'recordDrain' },
        FAILED: { target: 'stopped', actions: 'recordFailure' },
      },
    },
    serving: {
      on: {
        DRAIN: { target: 'draining', actions: 'recordDrain' },
      },
    },
    draining: {
      on: {
        DRAINED: { target: 'stopped' },
        FAILED: { target: 'stopped', actions: 'recordFailure' },
      },
    },
    stopped: { type: 'final' },
  },
})
