/**
 * The life of the daemon. Pure like the session machine: `src/daemon/actors/supervisor.ts` sends it events and acts on its state.
 *
 * 1. `restoring`: the store is open, the spool is read, unfinished effects are found.
 * 2. `draining`: effects in flight may finish for a few seconds, unfinished ones are released. A second DRAIN changes nothing.
 * 3. FAILED: what the daemon needs to start or to stop in order did not work. While serving, a failed step is retried on
 *    the next tick, and a dead store thread ends the process at once.
 * 4. `stopped` is final: a daemon that has released its data directory never uses it again.
 */
import { setup } from 'xstate'

type SupervisorEvent = { type: 'RESTORED' | 'DRAIN' | 'DRAINED' | 'FAILED' }

export const supervisorMachine = setup({ types: { events: {} as SupervisorEvent } }).createMachine({
  id: 'supervisor',
  initial: 'restoring',
  states: {
    restoring: {
      description: 'Continues what an earlier process left; the server does not listen yet.',
      on: { RESTORED: 'serving', DRAIN: 'draining', FAILED: 'stopped' },
    },
    serving: { description: 'Events are accepted.', on: { DRAIN: 'draining' } },
    draining: {
      description: 'New events are refused, and their hooks spool them; what is in flight may finish.',
      on: { DRAINED: 'stopped', FAILED: 'stopped' },
    },
    stopped: { description: 'The data directory is released.', type: 'final' },
  },
})
