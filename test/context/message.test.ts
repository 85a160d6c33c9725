import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MessageInput, messageOf, NO_TROUBLE } from '../../src/context/message.ts'
import { withoutColours } from '../../src/memory/colours.ts'
import { MEMORIES, material, NOW, SHOP, summary } from './samples.ts'

const KNOWN = material({ observations: MEMORIES, summaries: [summary()] })
const painted = (over: Partial<MessageInput> = {}) =>
  messageOf({ material: KNOWN, tokens: 1_940, trouble: NO_TROUBLE, how: 'full', now: NOW, ...over })
const said = (over: Partial<MessageInput> = {}) => withoutColours(painted(over))

describe('what the person is told', () => {
  test('message.full: how much is known, when it was last worked on, what comes next', () => {
    expect(said()).toBe(
      'claude-mem: 5 memories of shop, last worked on Nov 16, ~1.9k tokens given to the session, ' +
        'next: migrate the stored carts; remove toFixed from the invoice template',
    )
    expect(painted()).toContain('\u001b[1m')
    expect(said({ material: material({ observations: MEMORIES.slice(0, 1) }) })).toBe(
      'claude-mem: 1 memory of shop, last worked on Nov 16, ~1.9k tokens given to the session',
    )
  })

  test('message.troubles: what waits and why, what was set aside, what goes on without the model', () => {
    const trouble = { pending: 12, failed: 3, reason: 'key rejected.', offline: false }
    expect(said({ trouble, how: 'problems' })).toBe(
      'claude-mem: 12 messages wait: key rejected (claude-mem status); 3 messages set aside (claude-mem queue)',
    )
    expect(said({ trouble })).toContain('invoice template; 12 messages wait: key rejected')
    expect(said({ trouble: { ...trouble, pending: 1, failed: 1 }, how: 'problems' })).toBe(
      'claude-mem: 1 message waits: key rejected (claude-mem status); 1 message set aside (claude-mem queue)',
    )
    const offline = { pending: 4, failed: 0, reason: 'the budget of $2 is spent', offline: true }
    expect(said({ trouble: offline, how: 'problems' })).toBe(
      'claude-mem: observed without the model: the budget of $2 is spent (claude-mem status)',
    )
  })

  test('message.nothing where there is nothing to say', () => {
    expect(said({ material: null })).toBe('')
    expect(said({ tokens: 0 })).toBe('')
    expect(said({ how: 'problems' })).toBe('')
    expect(said({ how: 'off', trouble: { pending: 9, failed: 9, reason: 'down', offline: false } })).toBe('')
    // Messages of a turn that is not over wait for its end.
    expect(said({ how: 'problems', trouble: { ...NO_TROUBLE, pending: 9 } })).toBe('')
  })

  test('message.ofAnyText is one line in which only our colours act', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('\u001b]0;title\u0007\u001b[2J\n'))
    fc.assert(
      fc.property(text, text, text, (name, nextSteps, reason) => {
        const known = material({ project: { ...SHOP, name }, summaries: [summary({ nextSteps })] })
        const trouble = { pending: 1, failed: 0, reason, offline: false }
        expect(said({ material: known, trouble })).not.toMatch(/\p{Cc}|\p{Cf}/u)
      }),
      { numRuns: 200 },
    )
  })
})
