/**
 * The life of one session. States: `init`, `observing` (messages collect), `batching` (a batch is with the observer),
 * `summarizing`, `compacting`, `closed`.
 *
 * 1. The machine is pure. It has no `invoke`, no `after` and no clock: every event carries its time, a fresh id and the
 *    policy in `env`. Actions only assign. What must happen outside is data in the context: the one `effect` that may be
 *    in flight, and `decided`, the changes that this event makes besides the snapshot.
 * 2. An event that a state does not handle changes nothing and writes no decision. The session actor
 *    recognises this: `decided` does not have the key of the event.
 * 3. Events of hooks are handled in every state, by the root's transitions. The context only counts prompts, messages and
 *    turns; their content is in the inbox, so a snapshot stays small however busy the session is.
 * 4. `observing` starts the oldest work that is due, and every effect leads back to it. While no work is due, messages
 *    collect. A batch contains messages of one turn. It is flushed when the turn or the session ends, when it is full, at
 *    the next prompt, before the client compacts, after some idle time, by `claude-mem flush` or a retry, and at once
 *    when batching is off. Most of these set `flush` of the turn (event-handlers.ts; failures.ts when a batch is split);
 *    `flushReason` in effects.ts decides.
 * 5. `batching`, `summarizing` and `compacting` have one effect in flight (`calling`) or wait for the next attempt
 *    (`waiting`). Only a result that names the current effect counts; a late one is ignored. FORGET cancels the effect.
 *    CALL_BEGUN is committed before a model is called: an effect that a crash cuts off again and again counts as failed
 *    (the supervisor sends FAILED when it restores it).
 * 6. Failures have an owner. The provider: nothing is counted, the session waits. The message: counted, the batch is
 *    split until the failing message is alone and has used up its attempts (attempts in larger batches count), then it
 *    is set aside: its status is `failed`. If a model was called, the session waits before the next attempt. The context
 *    ("too long"): the conversation is compacted and the batch is sent again; if that fails with "too long" again, the
 *    message owns it. Without a failure the conversation is compacted after a summary, once it is half as large as it
 *    may become, or within a turn that makes it too large: `isCompactionDue` in effects.ts.
 * 7. Past the daily budget, and with CLAUDE_MEM_WHEN_UNAVAILABLE=offline while the provider fails, a session continues
 *    without a model: each event says whether a model may be called, each effect carries the answer, and `offline` in
 *    the context records since when.
 * 8. A session ends with SESSION_END (`completed`) or after a long idle time (`interrupted` with an open turn, else
 *    `completed`). Work that is still due is done before it closes.
 * 9. SUMMARIZE is a user's wish for a summary now, of a turn or of the whole session. Pending messages are observed first. A
 *    closed session makes it and closes again: its end is not changed.
 * 10. `closed` is an ordinary state: a prompt or a user reopens it, and a late message is still observed. A session that
 *    has ended but still has work is reopened by clearing its end.
 * 10. A turn whose whole prompt is private is not observed, and neither are its late events: guard `turn is private`.
 */
import { assign, type Snapshot, setup } from 'xstate'
import { type EventOf, MAX_WAKE_MS, newContext, pendingOf } from './context.ts'
import {
  countStart,
  isCompactionDue,
  nextWork,
  settleBatch,
  settleCompaction,
  settleSummary,
  startBatch,
  startCompaction,
  startSummary,
} from './effects.ts'
import {
  endPrivateTurn,
  isPrivate,
  onClear,
  onFlush,
  onForget,
  onIdle,
  onMessage,
  onPreCompact,
  onPrivatePrompt,
  onPrompt,
  onReopen,
  onRetry,
  onSessionEnd,
  onSessionStart,
  onSummarize,
  onTurnEnd,
  rescheduleWakeUp,
  resetIdleClock,
  skipPrivateMessage,
} from './event-handlers.ts'
import {
  attemptsUsedUp,
  giveUpCompaction,
  recordUsage,
  releaseClaims,
  requestCompaction,
  resumeAfterWait,
  retryInHalves,
  retrySummary,
  setMessageAside,
  setSummaryAside,
  waitAfterTimeout,
  waitForProvider,
} from './failures.ts'
import { migrateSnapshot } from './migrations.ts'
import type { SessionContext, SessionEvent } from './types.ts'

/** An action for events of one type, typed as such. With an event of another type it changes nothing. */
function actionFor<T extends SessionEvent['type']>(
  types: T | readonly T[],
  apply: (context: SessionContext, event: EventOf<T>) => SessionContext,
) {
  const known: readonly string[] = Array.isArray(types) ? types : [types]
  const isKnown = (event: SessionEvent): event is EventOf<T> => known.includes(event.type)
  return assign<SessionContext, SessionEvent, undefined, SessionEvent, never>(({ context, event }) =>
    isKnown(event) ? apply(context, event) : context,
  )
}

/** As `actionFor`, and the usage of the failed effect is added. */
function actionForFailure(apply: (context: SessionContext, event: EventOf<'FAILED'>) => SessionContext) {
  return actionFor('FAILED', (context, event: EventOf<'FAILED'>) => apply(recordUsage(context, event), event))
}

/** An entry action: it runs with whatever event led to the state. */
function entryAction(apply: (context: SessionContext, event: SessionEvent) => SessionContext) {
  return assign<SessionContext, SessionEvent, undefined, SessionEvent, never>(({ context, event }) =>
    apply(context, event),
  )
}

const isCurrent = (context: SessionContext, event: SessionEvent) =>
  'effectId' in event && event.effectId === context.effect?.id

/** Waits for the provider, or until a failed message is tried again. After the wait, or when a user flushes, `observing` starts the work that is due. */
const waiting = {
  on: {
    DEADLINE: { guard: 'wait is over', target: '#session.observing', actions: 'resumeAfterWait' },
    FLUSH: { target: '#session.observing', actions: 'onFlush' },
    SUMMARIZE: { target: '#session.observing', actions: 'onSummarize' },
  },
} as const

/** The first prompt, message or turn end of a session, and the next one of a closed session. */
const openedByPrompt = [
  { guard: 'prompt is private', target: 'observing', actions: 'onPrivatePrompt' },
  { target: 'observing', actions: 'onPrompt' },
] as const
const openedByMessage = [
  { guard: 'turn is private', actions: 'skipPrivateMessage' },
  { target: 'observing', actions: 'onMessage' },
] as const
const openedByTurnEnd = [
  { guard: 'turn is private', actions: 'endPrivateTurn' },
  { target: 'observing', actions: 'onTurnEnd' },
] as const

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as { at: number },
  },
  guards: {
    'prompt is private': ({ event }) => event.type === 'PROMPT' && event.private,
    'turn is private': ({ context, event }) =>
      (event.type === 'MESSAGE' || event.type === 'TURN_END') && isPrivate(context, event),
    'result is current': ({ context, event }) => isCurrent(context, event),
    'provider failed': ({ context, event }) =>
      event.type === 'FAILED' && isCurrent(context, event) && event.owner === 'provider',
    'too long': ({ context, event }) =>
      event.type === 'FAILED' &&
      isCurrent(context, event) &&
      event.owner === 'context' &&
      context.compaction === 'none',
    'attempts used up': ({ context, event }) => isCurrent(context, event) && attemptsUsedUp(context, event.env.policy),
    'a model was called': ({ context, event }) => isCurrent(context, event) && (context.effect?.starts ?? 0) > 0,
    'effect is overdue': ({ context, event: { env } }) =>
      context.effect !== null &&
      // A deadline further away than the effect may take was set before the clock was set back.
      (env.at >= context.effect.deadline || context.effect.deadline - env.at > context.effect.timeoutMs),
    'wait is over': ({ context, event }) =>
      context.waiting === null ||
      event.env.at >= context.waiting.until ||
      context.waiting.until - event.env.at > MAX_WAKE_MS ||
      (event.type === 'DEADLINE' && event.clockSetBack === true),
    'clock set back': ({ context, event: { env } }) => context.lastEventAt > env.at,
    'session idle': ({ context, event: { env } }) => env.at - context.lastEventAt >= env.policy.sessionIdleMs,
    'inbox idle': ({ context, event: { env } }) =>
      pendingOf(context) > 0 && env.at - context.lastEventAt >= env.policy.idleFlushMs,
    'conversation too large': ({ context, event: { env } }) =>
      // Without a model the conversation is not read; it is compacted when a model is used again.
      env.offline === null &&
      (context.compaction === 'asked' || (context.compaction === 'none' && isCompactionDue(context, env.policy))),
    'batch due': ({ context, event: { env } }) => nextWork(context, env.policy)?.kind === 'observe',
    'summary due': ({ context, event: { env } }) => nextWork(context, env.policy)?.kind === 'summarize',
    'has ended': ({ context }) => context.ended,
    'ended and no work due': ({ context, event: { env } }) => context.ended && nextWork(context, env.policy) === null,
  },
  actions: {
    onSessionStart: actionFor('SESSION_START', onSessionStart),
    onPrompt: actionFor('PROMPT', onPrompt),
    onPrivatePrompt: actionFor('PROMPT', onPrivatePrompt),
    onMessage: actionFor('MESSAGE', onMessage),
    skipPrivateMessage: actionFor('MESSAGE', skipPrivateMessage),
    onTurnEnd: actionFor('TURN_END', onTurnEnd),
    endPrivateTurn: actionFor('TURN_END', endPrivateTurn),
    onPreCompact: actionFor('PRE_COMPACT', onPreCompact),
    onSessionEnd: actionFor('SESSION_END', onSessionEnd),
    onReopen: actionFor('REOPEN', onReopen),
    onFlush: actionFor('FLUSH', onFlush),
    onSummarize: actionFor('SUMMARIZE', onSummarize),
    onIdle: actionFor('DEADLINE', onIdle),
    resetIdleClock: actionFor('DEADLINE', resetIdleClock),
    rescheduleWakeUp: actionFor('DEADLINE', rescheduleWakeUp),
    onRetry: actionFor('RETRY', onRetry),
    onClear: actionFor('CLEAR', onClear),
    onForget: actionFor('FORGET', onForget),
    startBatch: entryAction(startBatch),
    startSummary: entryAction(startSummary),
    startCompaction: entryAction(startCompaction),
    countStart: actionFor('CALL_BEGUN', countStart),
    settleBatch: actionFor('OBSERVED', settleBatch),
    settleSummary: actionFor('SUMMARIZED', settleSummary),
    settleCompaction: actionFor('COMPACTED', settleCompaction),
    waitForProvider: actionForFailure(waitForProvider),
    waitAfterTimeout: actionFor('DEADLINE', waitAfterTimeout),
    resumeAfterWait: actionFor('DEADLINE', resumeAfterWait),
    releaseClaims: actionFor('DRAIN', releaseClaims),
    retryInHalves: actionForFailure(retryInHalves),
    retrySummary: actionForFailure(retrySummary),
    setMessageAside: actionForFailure(setMessageAside),
    setSummaryAside: actionForFailure(setSummaryAside),
    requestCompaction: actionForFailure(requestCompaction),
    giveUpCompaction: actionForFailure(giveUpCompaction),
  },
}).createMachine({
  id: 'session',
  context: ({ input }) => newContext(input.at),
  initial: 'init',
  on: {
    SESSION_START: { actions: 'onSessionStart' },
    PROMPT: [{ guard: 'prompt is private', actions: 'onPrivatePrompt' }, { actions: 'onPrompt' }],
    MESSAGE: [{ guard: 'turn is private', actions: 'skipPrivateMessage' }, { actions: 'onMessage' }],
    TURN_END: [{ guard: 'turn is private', actions: 'endPrivateTurn' }, { actions: 'onTurnEnd' }],
    PRE_COMPACT: { actions: 'onPreCompact' },
    SESSION_END: { actions: 'onSessionEnd' },
    REOPEN: { guard: 'has ended', actions: 'onReopen' },
    FLUSH: { actions: 'onFlush' },
    SUMMARIZE: { actions: 'onSummarize' },
    RETRY: { actions: 'onRetry' },
    CLEAR: { actions: 'onClear' },
    FORGET: { actions: 'onForget' },
  },
  states: {
    init: {
      on: {
        PROMPT: openedByPrompt,
        MESSAGE: openedByMessage,
        TURN_END: openedByTurnEnd,
        SESSION_END: { target: 'observing', actions: 'onSessionEnd' },
        SUMMARIZE: { target: 'observing', actions: 'onSummarize' },
        DEADLINE: [
          { guard: 'clock set back', actions: 'resetIdleClock' },
          { guard: 'session idle', target: 'observing', actions: 'onIdle' },
          { actions: 'rescheduleWakeUp' },
        ],
      },
    },
    observing: {
      always: [
        { guard: 'conversation too large', target: 'compacting' },
        { guard: 'batch due', target: 'batching' },
        { guard: 'summary due', target: 'summarizing' },
        { guard: 'ended and no work due', target: 'closed' },
      ],
      on: {
        DEADLINE: [
          { guard: 'clock set back', actions: 'resetIdleClock' },
          { guard: 'session idle', actions: 'onIdle' },
          { guard: 'inbox idle', actions: 'onIdle' },
          { actions: 'rescheduleWakeUp' },
        ],
      },
    },
    batching: {
      initial: 'calling',
      states: {
        calling: {
          entry: 'startBatch',
          on: {
            CALL_BEGUN: { guard: 'result is current', actions: 'countStart' },
            OBSERVED: { guard: 'result is current', target: '#session.observing', actions: 'settleBatch' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'too long', target: '#session.observing', actions: 'requestCompaction' },
              { guard: 'attempts used up', target: '#session.observing', actions: 'setMessageAside' },
              { guard: 'a model was called', target: 'waiting', actions: 'retryInHalves' },
              { guard: 'result is current', target: '#session.observing', actions: 'retryInHalves' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterTimeout' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
            FORGET: { target: '#session.observing', actions: 'onForget' },
          },
        },
        waiting,
      },
    },
    summarizing: {
      initial: 'calling',
      states: {
        calling: {
          entry: 'startSummary',
          on: {
            CALL_BEGUN: { guard: 'result is current', actions: 'countStart' },
            SUMMARIZED: { guard: 'result is current', target: '#session.observing', actions: 'settleSummary' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'too long', target: '#session.observing', actions: 'requestCompaction' },
              { guard: 'attempts used up', target: '#session.observing', actions: 'setSummaryAside' },
              { guard: 'a model was called', target: 'waiting', actions: 'retrySummary' },
              { guard: 'result is current', target: '#session.observing', actions: 'retrySummary' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterTimeout' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
            FORGET: { target: '#session.observing', actions: 'onForget' },
          },
        },
        waiting,
      },
    },
    compacting: {
      initial: 'calling',
      states: {
        calling: {
          entry: 'startCompaction',
          on: {
            CALL_BEGUN: { guard: 'result is current', actions: 'countStart' },
            COMPACTED: { guard: 'result is current', target: '#session.observing', actions: 'settleCompaction' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'result is current', target: '#session.observing', actions: 'giveUpCompaction' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterTimeout' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
            FORGET: { target: '#session.observing', actions: 'onForget' },
          },
        },
        waiting,
      },
    },
    closed: {
      on: {
        PROMPT: openedByPrompt,
        MESSAGE: openedByMessage,
        TURN_END: openedByTurnEnd,
        REOPEN: { target: 'observing', actions: 'onReopen' },
        SUMMARIZE: { target: 'observing', actions: 'onSummarize' },
        RETRY: { target: 'observing', actions: 'onRetry' },
      },
    },
  },
})

/** The machine's state from a stored snapshot. Throws if it cannot be loaded: the session is then quarantined. */
export function readSnapshot(json: string): Snapshot<unknown> {
  const stored = migrateSnapshot(JSON.parse(json))
  return sessionMachine.resolveState({ value: stored.value, context: stored.context })
}
