import { beforeEach, describe, expect, test } from 'vitest'
import { QueueWatch } from '../../src/daemon/queue-watch.ts'
import { loadSettings } from '../../src/settings/settings.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000
let waiting: { since: number; reason: string } | null
let budget: string | null
let notices: string[]
let watch: QueueWatch
let at: number

const watchWith = (env: NodeJS.ProcessEnv = {}) =>
  new QueueWatch({
    settings: loadSettings('/nowhere', env).values,
    waiting: () => waiting,
    budgetReason: () => budget,
    notice: (level, text) => void notices.push(`${level}: ${text}`),
  })

beforeEach(() => {
  waiting = null
  budget = null
  notices = []
  at = START
  watch = watchWith()
})

/** One sample every ten seconds. */
function samples(depths: readonly number[], oldestDueAt: number | null = null): void {
  for (const pending of depths) {
    at += 10_000
    watch.sample({ pending, processing: 0, failed: 0, sessions: 1, oldestAt: null, oldestDueAt }, 0, at)
  }
}
const steps = (count: number, depth: (n: number) => number) => Array.from({ length: count }, (_, n) => depth(n))

describe('queue watch', () => {
  test('tells a queue that grows from one that shrinks, and from the coming and going of batches', () => {
    samples(steps(30, (n) => n * 5))
    expect(watch.trend).toBe('growing')
    samples(steps(30, (n) => 150 - n * 5))
    expect(watch.trend).toBe('shrinking')
    samples(steps(30, (n) => (n % 4) * 5))
    expect(watch.trend).toBe('steady')
  })

  test('a peak between two samples counts', () => {
    for (let n = 0; n < 30; n++) {
      at += 10_000
      watch.sample({ pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null, oldestDueAt: null }, n * 5, at)
    }
    expect(watch.trend).toBe('growing')
  })

  test('a long queue that grows is an alert until it is short again; a user is told once', () => {
    samples(steps(30, (n) => n * 10))
    expect(watch.alert).toBeNull()
    samples(steps(30, (n) => 300 + n * 10))
    expect(watch.alert?.text).toContain('the queue is long')
    expect(watch.alert?.text).toContain('events arrive faster than the observer answers')
    samples(steps(5, () => 610))
    expect(watch.alert?.text).toContain('610 messages')
    expect(notices).toHaveLength(1)
    samples([10])
    expect(watch.alert).toBeNull()
    expect(notices).toEqual([expect.stringMatching(/^warn: the queue is long/), 'info: the queue is back to normal'])
  })

  test('a long queue that does not grow is none', () => {
    samples(steps(30, () => 900))
    expect(watch.alert).toBeNull()
  })

  test('a message that is due for long is an alert that says why and what to do', () => {
    waiting = { since: START, reason: 'the API key is not valid (401)' }
    samples([3], START - 29 * MINUTE)
    expect(watch.alert).toBeNull()
    samples([3], START - 31 * MINUTE)
    expect(watch.alert?.text).toMatch(
      /3 messages in the queue, the oldest one due for 31 min; the provider does not answer since/,
    )
    expect(watch.alert?.text).toContain('the API key is not valid (401)')
    expect(watch.alert?.fix).toContain('claude-mem providers test')
    expect(notices).toHaveLength(1)
  })

  test('the bounds are settings, and 0 turns them off', () => {
    watch = watchWith({ CLAUDE_MEM_QUEUE_ALERT_MINUTES: '0', CLAUDE_MEM_QUEUE_ALERT_MESSAGES: '0' })
    samples(
      steps(30, (n) => n * 100),
      START - 1_000 * MINUTE,
    )
    expect(watch.alert).toBeNull()
    watch = watchWith({ CLAUDE_MEM_QUEUE_ALERT_MINUTES: '5' })
    samples([1], at - 6 * MINUTE)
    expect(watch.alert).not.toBeNull()
  })
})
