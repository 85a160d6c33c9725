/** What sessions were given is given once. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { commitOf, NOW, observationOf } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

export function shownContract(current: () => Store, committed: Committed): void {
  const learn = async (session: string, count: number) =>
    (await committed(current(), commitOf(session, 1, { observations: Array(count).fill(observationOf([])) })))
      .observationIds
  const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b)

  describe('what was shown', () => {
    test('shown.onlyWhatIsNewIsMarked_andEachSessionHasItsOwn', async () => {
      const ids = await learn('a', 3)
      await learn('b', 0)
      expect(await current().shownObservations('a')).toEqual([])
      expect(sorted(await current().markShown('a', ids.slice(0, 2), NOW))).toEqual(ids.slice(0, 2))
      expect(await current().markShown('a', [...ids, ...ids], NOW + 1)).toEqual(ids.slice(2))
      expect(await current().markShown('a', [], NOW)).toEqual([])
      expect(sorted(await current().shownObservations('a'))).toEqual(ids)
      expect(await current().shownObservations('b')).toEqual([])
      expect(sorted(await current().markShown('b', ids, NOW))).toEqual(ids)
    })

    test('shown.isListedWithItsSession', async () => {
      const ids = await learn('a', 2)
      await current().markShown('a', ids, NOW)
      expect(await current().sessions({})).toMatchObject([{ session: 'a', given: 2 }])
      const story = await current().sessionHistory('a', { trace: 0, rows: 0 })
      expect(story?.given).toMatchObject(ids.map((id) => ({ id, type: 'bugfix', title: 'Login fixed', at: NOW })))
    })

    test('shown.ofTwoAtOnceOneGetsIt', async () => {
      const ids = await learn('a', 2)
      const both = await Promise.all([current().markShown('a', ids, NOW), current().markShown('a', ids, NOW)])
      expect(sorted(both.flat())).toEqual(ids)
    })

    test('shown.startsOverWhereTheConversationDoes', async () => {
      const ids = await learn('a', 1)
      await current().markShown('a', ids, NOW)
      await current().clearShown('a')
      expect(await current().shownObservations('a')).toEqual([])
      expect(await current().markShown('a', ids, NOW)).toEqual(ids)
    })

    test('shown.whatNobodyKnowsIsNotMarked_andWhatIsForgottenGoes', async () => {
      const ids = await learn('a', 2)
      expect(await current().markShown('nobody', ids, NOW)).toEqual([])
      expect(await current().markShown('a', [999_999], NOW)).toEqual([])
      await current().markShown('a', ids, NOW)
      await current().forget({ ids: ids.slice(0, 1), filters: null, dryRun: false, at: NOW })
      expect(await current().shownObservations('a')).toEqual(ids.slice(1))
      await current().eraseSession('a', NOW)
      expect(await current().shownObservations('a')).toEqual([])
    })
  })
}
