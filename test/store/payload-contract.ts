/** A session's events with what is kept of each. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { accepting, add, claim, commitOf, DAY_MS, NOW, promptOf, record, settle, toolUse } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

export function payloadContract(current: () => Store, committed: Committed): void {
  const settled = settle('e', [], NOW + 20)

  describe('what is kept of events', () => {
    test('payloads.holdWhatWaitsAndWhatIsDone_inOrder_withThePrompt', async () => {
      const done = toolUse('s', 'done')
      const waits = toolUse('s', 'waits')
      const prompts = [{ eventId: 'asked', number: 1, text: 'fix the login', private: false, at: NOW }]
      const events = [record(promptOf('s', 'asked'), { kind: 'noted', reason: 'prompt' }), record(done)]
      await committed(current(), commitOf('s', 1, { events, prompts, inbox: [add(done)] }))
      await committed(current(), commitOf('s', 2, { inbox: [claim('e'), settled] }))
      await committed(current(), accepting('s', 3, [waits]))
      await committed(current(), accepting('other', 1, [toolUse('other', 'elsewhere')]))
      const kept = await current().recordedEvents('s', 0, 10)
      expect(kept.map(({ eventId, kind, payload, prompt }) => [eventId, kind, payload, prompt])).toEqual([
        ['asked', 'prompt', null, { number: 1, text: 'fix the login', private: false, at: NOW }],
        ['done', 'tool_use', done, null],
        ['waits', 'tool_use', waits, null],
      ])
      expect(kept.map(({ at, receivedAt }) => [at, receivedAt])).toEqual(Array(3).fill([NOW, NOW + 5]))
    })

    test('payloads.areReadPageByPage', async () => {
      await committed(
        current(),
        accepting(
          's',
          1,
          ['a', 'b', 'c'].map((id) => toolUse('s', id)),
        ),
      )
      const pages: string[][] = []
      for (let after = 0; ; ) {
        const page = await current().recordedEvents('s', after, 2)
        if (page.length === 0) break
        pages.push(page.map(({ eventId }) => eventId))
        after = page.at(-1)?.id ?? 0
      }
      expect(pages).toEqual([['a', 'b'], ['c']])
      expect(await current().recordedEvents('unknown', 0, 10)).toEqual([])
    })

    test('payloads.thatAreTooOldAreGone_theirEventsAreNot', async () => {
      await committed(current(), accepting('s', 1, [toolUse('s', 'old')]))
      await committed(current(), commitOf('s', 2, { inbox: [claim('e'), settled] }))
      const rules = {
        payloadDays: 7,
        payloadBytes: 1e9,
        passageDays: 3_650,
        passageBytes: 1e9,
        traceDays: 30,
        tracePerSession: 100,
        observerTurnDays: 30,
      }
      await current().applyRetention(rules, NOW + 8 * DAY_MS)
      expect(await current().recordedEvents('s', 0, 10)).toMatchObject([
        { eventId: 'old', kind: 'tool_use', payload: null },
      ])
    })
  })
}
