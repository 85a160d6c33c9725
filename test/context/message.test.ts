import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MessageInput, NO_OBSERVER_PROBLEMS, renderMessage } from '../../src/context/rendering.ts'
import { stripColors } from '../../src/lib/format.ts'
import { MEMORIES, material, NOW, SHOP, summary } from './samples.ts'

const KNOWN = material({ observations: MEMORIES, summaries: [summary()] })
const painted = (over: Partial<MessageInput> = {}) =>
  renderMessage({ material: KNOWN, tokens: 1_940, problems: NO_OBSERVER_PROBLEMS, kind: 'full', now: NOW, ...over })
const message = (over: Partial<MessageInput> = {}) => stripColors(painted(over))

describe('the message for the user', () => {
  test('message.full: how much is known, when it was last worked on, what comes next', () => {
    expect(message()).toBe(
      'claude-mem: 5 memories of shop, last worked on Nov 16, ~1.9k tokens given to the session, ' +
        'next: migrate the stored carts; remove toFixed from the invoice template',
    )
    expect(painted()).toContain('\u001b[1m')
    expect(message({ material: material({ observations: MEMORIES.slice(0, 1) }) })).toBe(
      'claude-mem: 1 memory of shop, last worked on Nov 16, ~1.9k tokens given to the session',
    )
  })

  test('message.problems: what waits and why, what failed, what is observed without the model', () => {
    const problems = { pending: 12, failed: 3, reason: 'key rejected.', offline: false }
    expect(message({ problems, kind: 'problems' })).toBe(
      'claude-mem: 12 messages wait: key rejected (claude-mem status); 3 messages failed (claude-mem queue)',
    )
    expect(message({ problems })).toContain('invoice template; 12 messages wait: key rejected')
    expect(message({ problems: { ...problems, pending: 1, failed: 1 }, kind: 'problems' })).toBe(
      'claude-mem: 1 message waits: key rejected (claude-mem status); 1 message failed (claude-mem queue)',
    )
    const offline = { pending: 4, failed: 0, reason: 'the budget of $2 is spent', offline: true }
    expect(message({ problems: offline, kind: 'problems' })).toBe(
      'claude-mem: observed without the model: the budget of $2 is spent (claude-mem status)',
    )
  })

  test('message.empty if there is nothing to report', () => {
    expect(message({ material: null })).toBe('')
    expect(message({ tokens: 0 })).toBe('')
    expect(message({ kind: 'problems' })).toBe('')
    expect(message({ kind: 'off', problems: { pending: 9, failed: 9, reason: 'down', offline: false } })).toBe('')
    // Messages of an open turn are queued until it ends.
    expect(message({ kind: 'problems', problems: { ...NO_OBSERVER_PROBLEMS, pending: 9 } })).toBe('')
  })

  test('message.ofAnyText is one line in which only our colours have an effect', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('\u001b]0;title\u0007\u001b[2J\n'))
    fc.assert(
      fc.property(text, text, text, (name, nextSteps, reason) => {
        const known = material({ project: { ...SHOP, name }, summaries: [summary({ nextSteps })] })
        const problems = { pending: 1, failed: 0, reason, offline: false }
        expect(message({ material: known, problems })).not.toMatch(/\p{Cc}|\p{Cf}/u)
      }),
      { numRuns: 200 },
    )
  })
})
