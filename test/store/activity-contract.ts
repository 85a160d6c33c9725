/** How much was learned each day, and how long the queue was. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import {
  accepting,
  claim,
  clear,
  commitOf,
  DAY_MS,
  failMessages,
  NOW,
  observationOf,
  stateOf,
  summaryOf,
  toolUse,
} from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const DAYS = [NOW - 2 * DAY_MS, NOW - DAY_MS, NOW]
const UNTIL = NOW + DAY_MS
const NO_TYPES = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }

export function activityContract(current: () => Store, committed: Committed): void {
  const learn = (session: string, key: string, times: readonly number[]) =>
    committed(
      current(),
      commitOf(session, 1, {
        state: stateOf({ project: { key, name: `${key}'s name` } }),
        observations: times.map((createdAt) => observationOf([], { createdAt })),
      }),
    )

  describe('activity', () => {
    test('activity.countsEachDayAndProject_fromItsFirstMomentToTheNextDays', async () => {
      await learn('a', 'git:/a', [DAYS[0] ?? 0, NOW - 1, NOW, UNTIL - 1, UNTIL, (DAYS[0] ?? 0) - 1])
      await learn('b', 'git:/b', [NOW + 1])
      await current().updateProjects([{ key: 'git:/a', name: 'Shop' }], NOW)
      await committed(
        current(),
        commitOf('c', 1, {
          summaries: [summaryOf({ createdAt: NOW })],
          prompts: [
            { eventId: 'p', number: 1, text: 'fix it', private: false, at: NOW - 5 },
            { eventId: 'q', number: 2, text: '', private: true, at: NOW },
          ],
        }),
      )
      const activity = await current().activity(DAYS, UNTIL)
      expect(activity.dayStarts).toEqual(DAYS)
      expect(activity.days).toEqual([
        { observations: 1, summaries: 0, prompts: 0, types: { ...NO_TYPES, bugfix: 1 }, discoveryTokens: 120 },
        { observations: 1, summaries: 0, prompts: 1, types: { ...NO_TYPES, bugfix: 1 }, discoveryTokens: 120 },
        { observations: 3, summaries: 1, prompts: 1, types: { ...NO_TYPES, bugfix: 3 }, discoveryTokens: 360 },
      ])
      expect(activity.projects).toEqual([
        { key: 'git:/a', name: 'Shop', observations: 4, days: [1, 1, 2] },
        { key: 'git:/b', name: "git:/b's name", observations: 1, days: [0, 0, 1] },
      ])
    })

    test('activity.ofNoDaysAndOfAnEmptyMemoryIsEmpty', async () => {
      expect(await current().activity([], NOW)).toEqual({ dayStarts: [], days: [], projects: [], queue: [] })
      expect(await current().activity([NOW], UNTIL)).toEqual({
        dayStarts: [NOW],
        days: [{ observations: 0, summaries: 0, prompts: 0, types: NO_TYPES, discoveryTokens: 0 }],
        projects: [],
        queue: [],
      })
    })
  })

  describe('queue depth', () => {
    const depth = async () => (await current().activity([NOW], UNTIL)).queue

    test('queue.isWrittenDownWhereItChanged', async () => {
      await current().sampleQueue(NOW + 1)
      expect(await depth()).toEqual([])
      await committed(current(), accepting('s', 1, [toolUse('s', '1'), toolUse('s', '2')]))
      await current().sampleQueue(NOW + 2)
      await current().sampleQueue(NOW + 3)
      await committed(current(), commitOf('s', 2, { inbox: [claim('e1', 'observe', 1)] }))
      await current().sampleQueue(NOW + 4)
      await committed(current(), commitOf('s', 3, { inbox: [failMessages('e1', 'x')] }))
      // At the same moment the newer one counts.
      await current().sampleQueue(NOW + 4)
      expect(await depth()).toEqual([
        { at: NOW + 2, pending: 2, processing: 0, failed: 0 },
        { at: NOW + 4, pending: 1, processing: 0, failed: 1 },
      ])
    })

    test('queue.keepsThePeakBetweenTwoSamples', async () => {
      await current().sampleQueue(NOW + 1)
      await committed(current(), accepting('s', 1, [toolUse('s', '1')]))
      await current().sampleQueue(NOW + 10, { at: NOW + 5, waiting: 1_530 })
      // Lower than what was stored before: it adds nothing.
      await current().sampleQueue(NOW + 20, { at: NOW + 15, waiting: 1 })
      expect(await depth()).toEqual([
        { at: NOW + 5, pending: 1_530, processing: 0, failed: 0 },
        { at: NOW + 10, pending: 1, processing: 0, failed: 0 },
      ])
    })

    test('queue.beginsWithWhatItWasWhenThePeriodBegan_andOldSamplesGo', async () => {
      await committed(current(), accepting('s', 1, [toolUse('s', '1')]))
      await current().sampleQueue(NOW - DAY_MS)
      await committed(current(), commitOf('s', 2, { inbox: [clear(true)] }))
      await current().sampleQueue(NOW + 5)
      expect(await depth()).toEqual([
        { at: NOW, pending: 1, processing: 0, failed: 0 },
        { at: NOW + 5, pending: 0, processing: 0, failed: 0 },
      ])
      const rules = {
        payloadDays: 9,
        payloadBytes: 1e9,
        passageDays: 3_650,
        passageBytes: 1e9,
        traceDays: 1,
        tracePerSession: 9,
        observerTurnDays: 9,
      }
      expect(await current().applyRetention(rules, NOW)).toBe(1)
      expect(await depth()).toEqual([{ at: NOW + 5, pending: 0, processing: 0, failed: 0 }])
    })

    test('queue.goesOnAfterAClockThatWentBack', async () => {
      await committed(current(), accepting('s', 1, [toolUse('s', '1')]))
      await current().sampleQueue(UNTIL + DAY_MS)
      await current().sampleQueue(NOW + 1)
      await current().sampleQueue(NOW + 2)
      expect(await depth()).toEqual([{ at: NOW + 1, pending: 1, processing: 0, failed: 0 }])
    })
  })
}
