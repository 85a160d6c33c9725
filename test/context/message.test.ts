import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MessageInput, NO_OBSERVER_PROBLEMS, renderMessage } from '../../src/context/message.ts'
import { stripColors } from '../../src/lib/format.ts'
import { at, NOW, SHOP } from './samples.ts'

const STATE = {
  ...{ ended: 'Finished: the last request has its closing message.', isFinished: true },
  ...{ at: at(16, 14, 52), lines: [] },
}
const painted = (over: Partial<MessageInput> = {}) =>
  renderMessage({
    ...{ project: SHOP, state: STATE, tokens: 1_940, problems: NO_OBSERVER_PROBLEMS, kind: 'full', now: NOW },
    ...over,
  })
const message = (over: Partial<MessageInput> = {}) => stripColors(painted(over))

describe('the message for the user', () => {
  test('message.full: how the last session ended, in one sentence', () => {
    expect(message()).toBe(
      'claude-mem: `shop`, last session ended Nov 16 14:52. Finished: the last request has its closing message. ' +
        '~1.9k tokens given to this session',
    )
    expect(painted()).toContain('\u001b[1m')
    expect(message({ state: null })).toBe('claude-mem: `shop`: ~1.9k tokens given to this session')
  })

  test('message.problems: what waits and why, what failed, what is observed without the model', () => {
    const problems = { pending: 12, failed: 3, reason: 'key rejected.', offline: false }
    expect(message({ problems, kind: 'problems' })).toBe(
      'claude-mem: 12 messages wait: key rejected (claude-mem status); 3 messages failed (claude-mem queue)',
    )
    expect(message({ problems })).toContain('given to this session; 12 messages wait: key rejected')
    expect(message({ problems: { ...problems, pending: 1, failed: 1 }, kind: 'problems' })).toBe(
      'claude-mem: 1 message waits: key rejected (claude-mem status); 1 message failed (claude-mem queue)',
    )
    const offline = { pending: 4, failed: 0, reason: 'the budget of $2 is spent', offline: true }
    expect(message({ problems: offline, kind: 'problems' })).toBe(
      'claude-mem: observed without the model: the budget of $2 is spent (claude-mem status)',
    )
  })

  test('message.empty if there is nothing to report', () => {
    expect(message({ tokens: 0 })).toBe('')
    expect(message({ kind: 'problems' })).toBe('')
    expect(message({ kind: 'off', problems: { pending: 9, failed: 9, reason: 'down', offline: false } })).toBe('')
    // Messages of an open turn are queued until it ends.
    expect(message({ kind: 'problems', problems: { ...NO_OBSERVER_PROBLEMS, pending: 9 } })).toBe('')
  })

  test('message.ofAnyText is one line in which only our colours have an effect', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('\u001b]0;title\u0007\u001b[2J\n'))
    fc.assert(
      fc.property(text, text, (name, reason) => {
        const problems = { pending: 1, failed: 0, reason, offline: false }
        expect(message({ project: { ...SHOP, name }, problems })).not.toMatch(/\p{Cc}|\p{Cf}/u)
      }),
      { numRuns: 200 },
    )
  })
})
