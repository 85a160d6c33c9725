/** Every path that `xstate/graph` finds through the session machine, repeated on a machine with an inbox. */

import { describe, expect, test } from 'vitest'
import { getShortestPaths } from 'xstate/graph'
import { pendingOf } from '../../machines/session/context.ts'
import { sessionMachine } from '../../machines/session/machine.ts'
import { stateName } from '../../machines/session/snapshot.ts'
import { SESSION_IDLE_MS } from '../../machines/session/timeouts.ts'
import type { SessionContext, SessionEvent, SessionInput } from '../../machines/session/types.ts'
import { NO_USAGE } from '../../src/domain/observation.ts'
import { POLICY, Session } from './inbox-model.ts'

const START = 1_000_000
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }

/** All inputs in a state; times are chosen so that a deadline is due. */
function inputsIn(state: { value: unknown; context: SessionContext }): (SessionInput & { at: number })[] {
  const { context } = state
  const at = Math.max(START, context.lastEventAt)
  const effectId = context.effect?.id ?? 'stale'
  const due = context.effect?.deadline ?? context.waiting?.until ?? at + POLICY.idleFlushMs
  const inputs: SessionInput[] = [
    { type: 'SESSION_START' },
    { type: 'PROMPT', promptId: null, private: false },
    { type: 'PROMPT', promptId: null, private: true },
    { type: 'MESSAGE', promptId: null, agentId: null },
    { type: 'TURN_END', promptId: null, agentId: null },
    { type: 'PRE_COMPACT' },
    { type: 'SESSION_END' },
    { type: 'REOPEN' },
    { type: 'FLUSH' },
    { type: 'SUMMARIZE', prompt: null },
    { type: 'DRAIN' },
    { type: 'CALL_BEGUN', effectId },
    { type: 'OBSERVED', effectId, usage, contextTokens: 0 },
    { type: 'OBSERVED', effectId, usage, contextTokens: POLICY.compactTokens + 1 },
    { type: 'SUMMARIZED', effectId, usage, contextTokens: 0 },
    { type: 'COMPACTED', effectId, usage, contextTokens: 0 },
    ...(['provider', 'message', 'context'] as const).map(
      (owner) => ({ type: 'FAILED', effectId, owner, reason: owner, usage: NO_USAGE, retryAt: at + 1 }) as const,
    ),
  ]
  return [
    ...inputs.map((input) => ({ ...input, at })),
    { type: 'DEADLINE', at: due },
    { type: 'DEADLINE', at: at + SESSION_IDLE_MS },
    { type: 'DEADLINE', at: at - 1 },
  ]
}

/** What distinguishes two states of the search; counters only as far as they change what happens next. */
function stateKey(state: { value: unknown; context: SessionContext }): string {
  const { context } = state
  return JSON.stringify([
    state.value,
    Math.min(pendingOf(context), POLICY.batchMaxSize + 1),
    context.turns.length > 1,
    context.turns.some((turn) => turn.summary),
    context.outcome,
    context.compacted,
    context.contextTokens > POLICY.compactTokens,
    Math.min(context.split?.attempts ?? 0, POLICY.maxAttempts),
    context.summaryAttempts > 0,
    context.failed > 0,
  ])
}

let key = 0
const paths = getShortestPaths(sessionMachine, {
  input: { at: START },
  events: (state) =>
    inputsIn(state).map(({ at, ...input }) => {
      key++
      const env = { at, freshId: `e${key}`, policy: POLICY, offline: null }
      return { ...input, env } as SessionEvent
    }),
  serializeState: stateKey,
  stopWhen: (state) => state.context.failed > 0 || state.context.prompt > 2,
  limit: 400_000,
})

describe('session.paths', () => {
  test('reach every state', () => {
    const reached = new Set(paths.map((path) => stateName(path.state.value)))
    expect([...reached].sort()).toEqual([
      'batching.calling',
      'batching.waiting',
      'closed',
      'compacting.calling',
      'compacting.waiting',
      'init',
      'observing',
      'summarizing.calling',
      'summarizing.waiting',
    ])
  })

  test('keep the invariants, and end in the same state with a crash after every step', () => {
    expect(paths.length).toBeGreaterThan(500)
    for (const path of paths) {
      const plain = new Session(START)
      const crashed = new Session(START)
      for (const step of path.steps) {
        if (step.event.type.startsWith('xstate.')) continue
        const { env, ...input } = step.event as SessionEvent
        for (const session of [plain, crashed]) {
          session.now = env.at
          // Effect ids differ from those of the path: the current one there is the current one here.
          const effectId = 'effectId' in input && input.effectId !== 'stale' ? session.effectId : 'stale'
          session.send('effectId' in input ? { ...input, effectId } : input)
        }
        crashed.crash()
      }
      expect(crashed.snapshot).toBe(plain.snapshot)
      expect(plain.state).toBe(stateName(path.state.value))
    }
  })

  test('every session can still finish its work and close', () => {
    for (const path of paths) {
      const session = new Session(START)
      for (const step of path.steps) {
        if (step.event.type.startsWith('xstate.')) continue
        const { env, ...input } = step.event as SessionEvent
        session.now = env.at
        session.send('effectId' in input ? { ...input, effectId: session.effectId } : input)
      }
      for (let i = 0; i < 50 && session.state !== 'closed'; i++) {
        session.settle()
        session.now = Math.max(session.now, session.wakeAt ?? 0)
        session.send({ type: 'SESSION_END' })
        session.send({ type: 'DEADLINE' })
      }
      expect(session.state).toBe('closed')
    }
  })
})
