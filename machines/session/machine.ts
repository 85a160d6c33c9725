/**
 * The life of one session, as two regions side by side. `life`: what happens to its events (`init`, `observing`, `batching`,
 * `summarizing`, `compacting`, `closed`). `turn`: whether a turn is open (`none`, `open`, `private`). The tests cite these rules.
 *
 * 1. Pure: no `invoke`, no `after`, no clock. Every event carries its time, a fresh id and the policy in `env`. An action
 *    assigns the next context and emits what changes besides the snapshot, and why (`SessionAction`); the session actor makes
 *    one commit of it. An event that no state handles emits nothing.
 * 2. Events of hooks are handled in every state. The context only counts prompts, messages and turns; their content is in
 *    the inbox, so a snapshot stays small however busy the session is.
 * 3. `observing` starts the oldest work that is due, and all work leads back to it. While none is due, messages collect. A
 *    batch has messages of one turn. It is flushed when the turn or the session ends, when it is full, at the next prompt,
 *    before the client compacts, after some idle time, by `claude-mem flush` or a retry, and at once when batching is off.
 * 4. `batching`, `summarizing` and `compacting` have one effect in flight (`calling`) or wait for the next attempt
 *    (`waiting`). Only a result that names the current effect counts; a late one is ignored. FORGET cancels the effect.
 * 5. CALL_BEGUN is committed before a model is called: an effect that a crash cuts off again and again counts as failed (the
 *    supervisor sends FAILED when it restores it).
 * 6. Failures have an owner. The provider: nothing is counted, the session waits. The message: counted, the batch is split
 *    until the failing message is alone and has used up its attempts (those in larger batches count), then its status is
 *    `failed`. If a model was called, the session waits before the next attempt.
 * 7. "Too long" is owned by the context: the conversation is compacted and the batch is sent again. The second time in a row
 *    the message owns it. Without a failure, the conversation is compacted between two turns once it is half as large as it
 *    may become, or within a turn that makes it too large.
 * 8. Past the daily budget, and with CLAUDE_MEM_WHEN_UNAVAILABLE=offline while the provider fails, a session continues
 *    without a model: each event says whether one may be called, each effect carries the answer, and `offline` records since
 *    when.
 * 9. A session ends with SESSION_END (`completed`) or after a day without an event (`interrupted` in an open turn, else
 *    `completed`). It closes when no work is left, and opens again with a prompt, with new work or by a user.
 * 10. SUMMARIZE is a user's wish for a summary now, of a turn or of the whole session. Pending messages are observed first. A
 *    closed session makes it and closes again: its end is not changed.
 * 11. A turn whose whole prompt is private is not observed, and neither are its late events. It lasts until the next prompt.
 * 12. All time limits are in timeouts.ts. The daemon sends DEADLINE when the one of the current state has passed.
 */
import type { Snapshot } from 'xstate'
import { sessionSetup } from './action.ts'
import { newContext } from './context.ts'
import { effectActions, isCompactionDue, nextWork, RESULTS, startActions } from './effects.ts'
import { hookActions, idleActions, isOfNewestTurn, isOfPrivateTurn, userActions } from './event-handlers.ts'
import { areAttemptsUsedUp, failureActions } from './failures.ts'
import { migrateSnapshot } from './migrations.ts'
import { isEffectOverdue, isInboxIdle, isSessionIdle, isWaitOver } from './timeouts.ts'
import type { Effect, SessionContext, SessionEvent, TurnState } from './types.ts'

const isResult = ({ effect }: SessionContext, event: SessionEvent) =>
  'effectId' in event && event.effectId === effect?.id

const isOfTurn = (context: SessionContext, event: SessionEvent, newest: TurnState) =>
  (event.type === 'MESSAGE' || event.type === 'TURN_END') && isOfPrivateTurn(context, event, newest)

const isOver = (context: SessionContext, { env }: SessionEvent) =>
  context.outcome !== 'active' && nextWork(context, env.policy) === null

const session = sessionSetup.extend({
  guards: {
    'has begun': ({ context }) => context.prompt > 0 || context.turns.length > 0 || context.outcome !== 'active',
    'has ended': ({ context }) => context.outcome !== 'active',
    'conversation too large': ({ context, event: { env } }) =>
      // Without a model the conversation is not read; it is compacted when a model is used again.
      env.offline === null && isCompactionDue(context, env.policy),
    'batch due': ({ context, event: { env } }) => nextWork(context, env.policy)?.kind === 'observe',
    'summary due': ({ context, event: { env } }) => nextWork(context, env.policy)?.kind === 'summarize',
    'ended and no work due': ({ context, event }) => isOver(context, event),
    'reopened or work due': ({ context, event }) => !isOver(context, event),
    'result is current': ({ context, event }) => isResult(context, event),
    'provider failed': ({ context, event }) =>
      isResult(context, event) && event.type === 'FAILED' && event.owner === 'provider',
    'too long': ({ context, event }) =>
      isResult(context, event) &&
      event.type === 'FAILED' &&
      event.owner === 'context' &&
      context.effect?.kind !== 'compact' &&
      !context.compacted,
    'attempts used up': ({ context, event }) =>
      isResult(context, event) && areAttemptsUsedUp(context, event.env.policy),
    'a model was called': ({ context, event }) => isResult(context, event) && (context.effect?.starts ?? 0) > 0,
    'effect is overdue': ({ context, event }) => isEffectOverdue(context, event.env),
    'wait is over': ({ context, event }) =>
      isWaitOver(context, event.env) || (event.type === 'DEADLINE' && event.clockSetBack === true),
    'clock set back': ({ context, event }) => context.lastEventAt > event.env.at,
    'session idle': ({ context, event }) => isSessionIdle(context, event.env),
    'inbox idle': ({ context, event }) => isInboxIdle(context, event.env),
    'prompt is private': ({ event }) => event.type === 'PROMPT' && event.private,
    'of an earlier private turn': ({ context, event }) => isOfTurn(context, event, 'none'),
    'of the private turn': ({ context, event }) => isOfTurn(context, event, 'private'),
    'of this turn': ({ context, event }) =>
      event.type === 'TURN_END' && !isOfTurn(context, event, 'open') && isOfNewestTurn(context, event),
    'no such turn': ({ context, event }) =>
      event.type === 'SUMMARIZE' && event.prompt !== null && event.prompt > context.prompt,
    'summary of this turn': ({ context, event }) => event.type === 'SUMMARIZE' && event.prompt === context.prompt,
  },
  actions: { ...hookActions, ...idleActions, ...userActions, ...startActions, ...effectActions, ...failureActions },
})

/** A state that works: one effect is in flight, or the next attempt waits. `observing` then starts the work that is due. */
const working = (start: keyof typeof startActions, kind: Effect['kind'], description: string) =>
  session.createStateConfig({
    description,
    initial: 'calling',
    states: {
      calling: {
        description: 'The effect is in flight: its messages are claimed, and its result is awaited.',
        tags: 'calling',
        entry: start,
        on: {
          CALL_BEGUN: { guard: 'result is current', actions: 'countStart' },
          [RESULTS[kind]]: { guard: 'result is current', target: '#observing', actions: 'settle' },
          FAILED: [
            { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
            { guard: 'too long', target: '#observing', actions: 'requestCompaction' },
            { guard: 'attempts used up', target: '#observing', actions: 'giveUp' },
            { guard: 'a model was called', target: 'waiting', actions: 'retry' },
            { guard: 'result is current', target: '#observing', actions: 'retry' },
          ],
          DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterTimeout' },
          DRAIN: { target: 'waiting', actions: 'releaseClaims' },
          FORGET: { target: '#observing', actions: 'forget' },
        },
      },
      waiting: {
        description: 'An attempt failed or was cut off; the next one comes at a known time.',
        tags: 'waiting',
        on: {
          DEADLINE: { guard: 'wait is over', target: '#observing', actions: 'tryAgain' },
          FLUSH: { target: '#observing', actions: 'flush' },
          SUMMARIZE: '#observing',
        },
      },
    },
  })

const idle = {
  DEADLINE: [
    { guard: 'clock set back', actions: 'resetIdleClock' },
    { guard: 'session idle', actions: 'endIdleSession' },
    { guard: 'inbox idle', actions: 'flushIdleInbox' },
    { actions: 'rescheduleWakeUp' },
  ],
} as const

const nextTurn = {
  PROMPT: [
    { guard: 'prompt is private', target: 'private', actions: 'openTurn' },
    { target: 'open', actions: 'openTurn' },
  ],
} as const

export const sessionMachine = session.createMachine({
  id: 'session',
  type: 'parallel',
  context: ({ input }) => newContext(input.at),
  states: {
    life: {
      initial: 'init',
      on: {
        SESSION_START: { actions: 'recordSessionStart' },
        PRE_COMPACT: { actions: 'flushBeforeCompaction' },
        SESSION_END: { actions: 'endSession' },
        REOPEN: { guard: 'has ended', actions: 'reopen' },
        FLUSH: { actions: 'flush' },
        RETRY: { actions: 'retryFailed' },
        CLEAR: { actions: 'clear' },
        FORGET: { actions: 'forget' },
      },
      states: {
        init: {
          description: 'The session is known, and nothing has happened in it yet.',
          tags: 'idle',
          always: { guard: 'has begun', target: 'observing' },
          on: idle,
        },
        observing: {
          id: 'observing',
          description: 'Tool uses collect in the inbox until there is a reason to work on them.',
          tags: 'idle',
          always: [
            { guard: 'conversation too large', target: 'compacting' },
            { guard: 'batch due', target: 'batching' },
            { guard: 'summary due', target: 'summarizing' },
            { guard: 'ended and no work due', target: 'closed' },
          ],
          on: idle,
        },
        batching: working(
          'startBatch',
          'observe',
          'A batch of tool uses is with the observer, which makes observations of it.',
        ),
        summarizing: working(
          'startSummary',
          'summarize',
          'The observer writes the summary of a turn, or of the session.',
        ),
        compacting: working('startCompaction', 'compact', 'A digest replaces the conversation with the observer.'),
        closed: {
          description: 'The session has ended, and all of its work is done.',
          always: { guard: 'reopened or work due', target: 'observing' },
        },
      },
    },
    turn: {
      initial: 'none',
      on: {
        MESSAGE: [{ guard: 'of an earlier private turn', actions: 'skipMessage' }, { actions: 'queueMessage' }],
        TURN_END: [{ guard: 'of an earlier private turn', actions: 'skipTurnEnd' }, { actions: 'endTurn' }],
        SUMMARIZE: [{ guard: 'no such turn', actions: 'refuseSummary' }, { actions: 'requestSummary' }],
      },
      states: {
        none: { description: 'The newest turn has ended, or there was none.', on: nextTurn },
        open: {
          description: 'The agent works on a prompt.',
          on: {
            ...nextTurn,
            TURN_END: { guard: 'of this turn', target: 'none', actions: 'endTurn' },
            SESSION_END: { target: 'none', actions: 'endTurnWithSession' },
            DEADLINE: { guard: 'session idle', target: 'none', actions: 'interruptTurn' },
          },
        },
        private: {
          description: 'The newest prompt is private: nothing of its turn is kept, however late it comes.',
          on: {
            ...nextTurn,
            MESSAGE: { guard: 'of the private turn', actions: 'skipMessage' },
            TURN_END: { guard: 'of the private turn', actions: 'skipTurnEnd' },
            SUMMARIZE: { guard: 'summary of this turn', actions: 'refuseSummary' },
          },
        },
      },
    },
  },
})

/** The machine's state from a stored snapshot. Throws if it cannot be loaded: the session is then quarantined. */
export function readSnapshot(json: string): Snapshot<unknown> {
  const { value, context } = migrateSnapshot(JSON.parse(json))
  return sessionMachine.resolveState({ value, context })
}
