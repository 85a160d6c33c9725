/**
 * The life of one session. States: `init`, `observing` (messages collect), `batching` (a batch is with the observer),
 * `summarizing`, `compacting`, `closed`.
 *
 * 1. The machine is pure. It has no `invoke`, no `after`, no clock and no random numbers: every event carries its time, a
 *    fresh id and the policy in `tick`. Actions only assign. What must happen outside is data in the context: the one
 *    `effect` that may be in flight, and `decided`, the changes that this event makes besides the snapshot.
 * 2. An event that a state does not handle changes nothing and writes no decision; the host sees that by the key.
 * 3. Hooks report in every state. Prompts, messages and ends of turns are counted where they arrive (the root's
 *    handlers); their content is in the inbox, never in here, so a snapshot stays small however busy the session is.
 * 4. `observing` is the hub: whenever nothing is in flight it starts the oldest work that is due, else messages collect.
 *    A batch contains messages of one turn. It is flushed when the turn or the session ends, on overflow, at the next
 *    prompt, before the client compacts, after some idle time, by `claude-mem flush` or a retry, and at once when
 *    batching is off. Most of these set `flush` of the turn (reports.ts; failures.ts when a batch is split);
 *    `flushReason` in effects.ts decides.
 * 5. `batching`, `summarizing` and `compacting` have one effect in flight (`calling`) or wait for the provider
 *    (`waiting`). Only a result that names the current effect counts; a late one is ignored.
 * 6. Failures have an owner. The provider: nothing is counted, the session waits. The message: counted, the batch is
 *    split until the failing message is alone and has used up its attempts (attempts in larger batches count), then
 *    its status is `failed`. The context ("too long"): the conversation is compacted and the batch is sent again; if that
 *    fails with "too long" again, the message owns it.
 * 7. Past the daily budget, and with CLAUDE_MEM_WHEN_UNAVAILABLE=offline while the provider fails, a session continues
 *    without a model: each event says whether a model may be called, each effect carries the answer, and `offline` in
 *    the context holds since when.
 * 8. Idle time ends a session: `interrupted` with an open turn, else `completed`. So does its own end. Work that is
 *    still due is done first.
 * 9. `closed` is an ordinary state: a prompt or a user reopens it, and a late message is still observed. A session that
 *    has ended but still has work is reopened by clearing its end.
 */
import { assign, type Snapshot, setup } from 'xstate'
import { type EventOf, MAX_WAKE_MS, newContext, pendingOf } from './context.ts'
import {
  nextWork,
  settleBatch,
  settleCompaction,
  settleSummary,
  startBatch,
  startCompaction,
  startSummary,
} from './effects.ts'
import {
  blameMessage,
  blameTurn,
  giveUpCompaction,
  recordUsage,
  releaseClaims,
  requestCompaction,
  resumeAfterWait,
  waitAfterSilence,
  waitForProvider,
} from './failures.ts'
import { liftSnapshot } from './migrations.ts'
import {
  rebase,
  takeClear,
  takeFlush,
  takeMessage,
  takePreCompact,
  takePrompt,
  takeReopen,
  takeRetry,
  takeSessionEnd,
  takeSilence,
  takeStart,
  takeTurnEnd,
  wakeLater,
} from './reports.ts'
import type { SessionContext, SessionEvent } from './types.ts'

/** A rule applies to events of its own type only; `machine` below hands it no other. */
function rule<T extends SessionEvent['type']>(
  types: T | readonly T[],
  apply: (context: SessionContext, event: EventOf<T>) => SessionContext,
) {
  const known: readonly string[] = Array.isArray(types) ? types : [types]
  const isKnown = (event: SessionEvent): event is EventOf<T> => known.includes(event.type)
  return assign<SessionContext, SessionEvent, undefined, SessionEvent, never>(({ context, event }) =>
    isKnown(event) ? apply(context, event) : context,
  )
}

function failure(apply: (context: SessionContext, event: EventOf<'FAILED'>) => SessionContext) {
  return rule('FAILED', (context, event: EventOf<'FAILED'>) => apply(recordUsage(context, event), event))
}

function start(apply: (context: SessionContext, event: SessionEvent) => SessionContext) {
  return assign<SessionContext, SessionEvent, undefined, SessionEvent, never>(({ context, event }) =>
    apply(context, event),
  )
}

const isCurrent = (context: SessionContext, event: SessionEvent) =>
  'effectId' in event && event.effectId === context.effect?.id

/** The provider does not answer; time or a person tries again, by way of the hub. */
const waiting = {
  on: {
    DEADLINE: { guard: 'wait is over', target: '#session.observing', actions: 'resumeAfterWait' },
    FLUSH: { target: '#session.observing', actions: 'takeFlush' },
  },
} as const

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as { at: number },
  },
  guards: {
    'result is current': ({ context, event }) => isCurrent(context, event),
    'provider failed': ({ context, event }) =>
      event.type === 'FAILED' && isCurrent(context, event) && event.owner === 'provider',
    'too long': ({ context, event }) =>
      event.type === 'FAILED' &&
      isCurrent(context, event) &&
      event.owner === 'context' &&
      context.compaction === 'none',
    'effect is overdue': ({ context, event: { tick } }) =>
      context.effect !== null &&
      // A deadline further away than the effect may take was set before the clock went back.
      (tick.at >= context.effect.deadline || context.effect.deadline - tick.at > context.effect.timeoutMs),
    'wait is over': ({ context, event: { tick } }) =>
      context.waiting === null || tick.at >= context.waiting.until || context.waiting.until - tick.at > MAX_WAKE_MS,
    'clock went back': ({ context, event: { tick } }) => context.lastEventAt > tick.at,
    'silent for long': ({ context, event: { tick } }) => tick.at - context.lastEventAt >= tick.policy.silenceMs,
    'messages are idle': ({ context, event: { tick } }) =>
      pendingOf(context) > 0 && tick.at - context.lastEventAt >= tick.policy.idleFlushMs,
    'conversation too large': ({ context, event: { tick } }) =>
      // Without a model the conversation is not read; it is compacted when a model is used again.
      tick.offline === null &&
      (context.compaction === 'asked' ||
        (context.compaction === 'none' &&
          context.contextTokens > tick.policy.compactTokens &&
          nextWork(context, tick.policy) !== null)),
    'batch due': ({ context, event: { tick } }) => nextWork(context, tick.policy)?.kind === 'observe',
    'summary due': ({ context, event: { tick } }) => nextWork(context, tick.policy)?.kind === 'summarize',
    'has ended': ({ context }) => context.ended,
    'over and done': ({ context, event: { tick } }) => context.ended && nextWork(context, tick.policy) === null,
  },
  actions: {
    takeStart: rule('SESSION_START', takeStart),
    takePrompt: rule('PROMPT', takePrompt),
    takeMessage: rule('MESSAGE', takeMessage),
    takeTurnEnd: rule('TURN_END', takeTurnEnd),
    takePreCompact: rule('PRE_COMPACT', takePreCompact),
    takeSessionEnd: rule('SESSION_END', takeSessionEnd),
    takeReopen: rule('REOPEN', takeReopen),
    takeFlush: rule('FLUSH', takeFlush),
    takeSilence: rule('DEADLINE', takeSilence),
    rebase: rule('DEADLINE', rebase),
    wakeLater: rule('DEADLINE', wakeLater),
    takeRetry: rule('RETRY', takeRetry),
    takeClear: rule('CLEAR', takeClear),
    startBatch: start(startBatch),
    startSummary: start(startSummary),
    startCompaction: start(startCompaction),
    settleBatch: rule('OBSERVED', settleBatch),
    settleSummary: rule('SUMMARIZED', settleSummary),
    settleCompaction: rule('COMPACTED', settleCompaction),
    waitForProvider: failure(waitForProvider),
    waitAfterSilence: rule('DEADLINE', waitAfterSilence),
    resumeAfterWait: rule('DEADLINE', resumeAfterWait),
    releaseClaims: rule('DRAIN', releaseClaims),
    blameMessage: failure(blameMessage),
    blameTurn: failure(blameTurn),
    requestCompaction: failure(requestCompaction),
    giveUpCompaction: failure(giveUpCompaction),
  },
}).createMachine({
  id: 'session',
  context: ({ input }) => newContext(input.at),
  initial: 'init',
  on: {
    SESSION_START: { actions: 'takeStart' },
    PROMPT: { actions: 'takePrompt' },
    MESSAGE: { actions: 'takeMessage' },
    TURN_END: { actions: 'takeTurnEnd' },
    PRE_COMPACT: { actions: 'takePreCompact' },
    SESSION_END: { actions: 'takeSessionEnd' },
    REOPEN: { guard: 'has ended', actions: 'takeReopen' },
    FLUSH: { actions: 'takeFlush' },
    RETRY: { actions: 'takeRetry' },
    CLEAR: { actions: 'takeClear' },
  },
  states: {
    init: {
      on: {
        PROMPT: { target: 'observing', actions: 'takePrompt' },
        MESSAGE: { target: 'observing', actions: 'takeMessage' },
        TURN_END: { target: 'observing', actions: 'takeTurnEnd' },
        SESSION_END: { target: 'observing', actions: 'takeSessionEnd' },
        DEADLINE: [
          { guard: 'clock went back', actions: 'rebase' },
          { guard: 'silent for long', target: 'observing', actions: 'takeSilence' },
          { actions: 'wakeLater' },
        ],
      },
    },
    observing: {
      always: [
        { guard: 'conversation too large', target: 'compacting' },
        { guard: 'batch due', target: 'batching' },
        { guard: 'summary due', target: 'summarizing' },
        { guard: 'over and done', target: 'closed' },
      ],
      on: {
        DEADLINE: [
          { guard: 'clock went back', actions: 'rebase' },
          { guard: 'silent for long', actions: 'takeSilence' },
          { guard: 'messages are idle', actions: 'takeSilence' },
          { actions: 'wakeLater' },
        ],
      },
    },
    batching: {
      initial: 'calling',
      states: {
        calling: {
          entry: 'startBatch',
          on: {
            OBSERVED: { guard: 'result is current', target: '#session.observing', actions: 'settleBatch' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'too long', target: '#session.observing', actions: 'requestCompaction' },
              { guard: 'result is current', target: '#session.observing', actions: 'blameMessage' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterSilence' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
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
            SUMMARIZED: { guard: 'result is current', target: '#session.observing', actions: 'settleSummary' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'too long', target: '#session.observing', actions: 'requestCompaction' },
              { guard: 'result is current', target: '#session.observing', actions: 'blameTurn' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterSilence' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
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
            COMPACTED: { guard: 'result is current', target: '#session.observing', actions: 'settleCompaction' },
            FAILED: [
              { guard: 'provider failed', target: 'waiting', actions: 'waitForProvider' },
              { guard: 'result is current', target: '#session.observing', actions: 'giveUpCompaction' },
            ],
            DEADLINE: { guard: 'effect is overdue', target: 'waiting', actions: 'waitAfterSilence' },
            DRAIN: { target: 'waiting', actions: 'releaseClaims' },
          },
        },
        waiting,
      },
    },
    closed: {
      on: {
        PROMPT: { target: 'observing', actions: 'takePrompt' },
        MESSAGE: { target: 'observing', actions: 'takeMessage' },
        TURN_END: { target: 'observing', actions: 'takeTurnEnd' },
        REOPEN: { target: 'observing', actions: 'takeReopen' },
        RETRY: { target: 'observing', actions: 'takeRetry' },
      },
    },
  },
})

/** The machine's state from a stored snapshot. Throws where it cannot be used, with the reason: the session is then quarantined. */
export function readSnapshot(json: string): Snapshot<unknown> {
  const stored = liftSnapshot(JSON.parse(json))
  return sessionMachine.resolveState({ value: stored.value, context: stored.context })
}
