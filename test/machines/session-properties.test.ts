/** Random events in random order, with a crash of the process anywhere. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SessionInput } from '../../machines/session/types.ts'
import { POLICY, Session } from './inbox-model.ts'

type Step =
  | { do: 'input'; input: SessionInput }
  | { do: 'begin' }
  | { do: 'answer'; tokens: number }
  | { do: 'fail'; owner: 'provider' | 'message' | 'context' }
  | { do: 'retry' }
  | { do: 'clear'; pending: boolean }
  | { do: 'forget'; prompts: number[] | null }
  | { do: 'time'; ms: number }
  | { do: 'budget'; spent: boolean }

const promptId = fc.constantFrom(null, 'a', 'b', 'c')
const agentId = fc.constantFrom(null, null, 'x', 'y')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .oneof(
        {
          weight: 2,
          arbitrary: fc.record({
            type: fc.constant('PROMPT' as const),
            promptId,
            private: fc.nat(9).map((n) => n === 0),
          }),
        },
        { weight: 6, arbitrary: fc.record({ type: fc.constant('MESSAGE' as const), promptId, agentId }) },
        { weight: 2, arbitrary: fc.record({ type: fc.constant('TURN_END' as const), promptId, agentId }) },
        fc.constantFrom<SessionInput>(
          { type: 'SESSION_START' },
          { type: 'PRE_COMPACT' },
          { type: 'SESSION_END' },
          { type: 'REOPEN' },
          { type: 'FLUSH' },
          { type: 'SUMMARIZE', prompt: null },
          { type: 'SUMMARIZE', prompt: 1 },
          { type: 'DEADLINE' },
          { type: 'DRAIN' },
        ),
      )
      .map((input): Step => ({ do: 'input', input })),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'begin' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      tokens: fc.constantFrom(0, 10, POLICY.compactTokens + 1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      owner: fc.constantFrom('provider' as const, 'message' as const, 'context' as const),
    }),
  },
  fc.constant<Step>({ do: 'retry' }),
  fc.record({ do: fc.constant('clear' as const), pending: fc.boolean() }),
  fc.record({
    do: fc.constant('forget' as const),
    prompts: fc.option(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 })),
  }),
  fc.record({ do: fc.constant('budget' as const), spent: fc.boolean() }),
  fc.record({
    do: fc.constant('time' as const),
    ms: fc.constantFrom(1, 1_000, 200_000, 700_000, 90_000_000, -5_000_000),
  }),
)

function apply(session: Session, { ...step }: Step): void {
  switch (step.do) {
    case 'input':
      session.send(step.input)
      return
    case 'begin':
      session.send({ type: 'CALL_BEGUN', effectId: session.effectId })
      return
    case 'answer': {
      const kind = session.context.effect?.kind
      if (kind === 'observe') session.observed(step.tokens)
      if (kind === 'summarize') session.summarized(step.tokens)
      if (kind === 'compact') session.compacted(step.tokens)
      return
    }
    case 'fail':
      session.failed(step.owner)
      return
    case 'budget':
      session.offline = step.spent ? 'spent' : null
      return
    case 'retry':
      session.send({
        type: 'RETRY',
        messages: session.inbox.counts('failed'),
        summaries: session.inbox.failedSummaries(),
      })
      return
    case 'clear':
      session.send({
        type: 'CLEAR',
        failed: session.inbox.rows.filter((row) => row.status === 'failed').length,
        pending: step.pending ? session.inbox.counts('pending') : null,
      })
      return
    case 'forget':
      session.send({ type: 'FORGET', ...session.inbox.toForget(step.prompts) })
      return
    case 'time':
      session.now += step.ms
  }
}

describe('session.properties (rules 1 and 2)', () => {
  test('no order of events loses, duplicates or miscounts a message', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.boolean(), (steps, batching) => {
        const session = new Session(1e9, { ...POLICY, batching })
        for (const one of steps) apply(session, one)
        session.check()
      }),
      { numRuns: 500 },
    )
  })

  test('a crash anywhere gives the same final state as none', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 100 }), (steps) => {
        const plain = new Session(1e9)
        const crashing = new Session(1e9)
        for (const [one, crash] of steps) {
          apply(plain, one)
          apply(crashing, one)
          if (crash) crashing.crash()
        }
        expect(crashing.snapshot).toBe(plain.snapshot)
        expect(crashing.inbox.rows).toEqual(plain.inbox.rows)
      }),
      { numRuns: 300 },
    )
  })

  test('if the provider answers, every session closes with nothing pending', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const session = new Session(1e9)
        for (const one of steps) apply(session, one)
        session.send({ type: 'SESSION_END' })
        for (let i = 0; i < 300 && session.state !== 'closed'; i++) {
          session.settle()
          session.now = Math.max(session.now, session.wakeAt ?? 0)
          session.send({ type: 'DEADLINE' })
        }
        expect(session.state).toBe('closed')
        expect(session.inbox.rows.every((row) => row.status === 'failed')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
