/** What every store does with passages: they are kept by age and size, once per project. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { PassageDraft } from '../../src/domain/passage.ts'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { PassageRecord } from '../../src/store/exchange-records.ts'
import type { Store } from '../../src/store/port.ts'
import { passageDiskBytes } from '../../src/store/sqlite/passages.ts'
import { sessionOf } from './import-contract.ts'
import { commitOf, DAY_MS, NOW, PROJECT, passageOf, stateOf } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const OLD = { key: 'git:/home/me/old-shop/.git', name: 'old-shop' }
const KEEP = {
  payloadDays: 9,
  payloadBytes: 1e9,
  passageDays: 100,
  passageBytes: 1e9,
  traceDays: 9,
  tracePerSession: 99,
  observerTurnDays: 9,
}

export function passageContract(current: () => Store, committed: Committed): void {
  const keep = async (session: string, passages: PassageDraft[], project = PROJECT) => {
    const revision = ((await current().session(session))?.revision ?? 0) + 1
    await committed(current(), commitOf(session, revision, { state: stateOf({ project }), passages }))
  }
  const textsOf = async (session: string) => (await current().passagesOfTurn(session, 1)).map(({ text }) => text)
  const retain = async (rules: Partial<typeof KEEP>, now = NOW) => {
    let removed = 0
    for (;;) {
      const rows = await current().applyRetention({ ...KEEP, ...rules }, now)
      if (rows === 0) return removed
      removed += rows
    }
  }

  describe('passages', () => {
    test('passages.areDeletedByAge', async () => {
      await keep('s', [passageOf('old', { at: NOW - 10 * DAY_MS }), passageOf('new', { eventId: 'e2' })])
      expect(await retain({ passageDays: 11 })).toBe(0)
      expect(await retain({ passageDays: 10 })).toBe(1)
      expect(await textsOf('s')).toEqual(['new'])
    })

    test('passages.areDeletedBySizeOldestFirst_inBoundedSteps', async () => {
      const many = Array.from({ length: 1_500 }, (_, n) =>
        passageOf(String(n).padStart(10), { position: n, at: NOW + n }),
      )
      await keep('s', many)
      const passageBytes = passageDiskBytes(500, 500 * 10)
      expect(await current().applyRetention({ ...KEEP, passageBytes }, NOW)).toBe(250)
      expect(await retain({ passageBytes })).toBe(750)
      const left = await textsOf('s')
      expect(left).toHaveLength(500)
      expect(left[0]).toBe('      1000')
    })

    test.each([{ passageDays: 0 }, { passageBytes: 0 }])('passages.areAllDeletedWith %o', async (off) => {
      await keep('s', [passageOf('one'), passageOf('of a clock that is ahead', { at: NOW + DAY_MS, position: 1 })])
      await current().indexNext(100)
      expect(await retain(off)).toBe(2)
      expect(await textsOf('s')).toEqual([])
    })

    test('passages.ofMergedProjectsAreOnceInTheTarget', async () => {
      await keep('old', [passageOf('in both, newer'), passageOf('in both, older', { position: 1 })], OLD)
      await keep('old', [passageOf('only old', { position: 2 })], OLD)
      const at = (offset: number) => ({ at: NOW + offset, eventId: 'e2' })
      await keep('new', [passageOf('in both, newer', at(-1)), passageOf('in both, older', { ...at(1), position: 1 })])
      await current().indexNext(100)
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key }], NOW)
      while ((await current().moveMergedRows(2)) > 0);
      expect(await textsOf('old')).toEqual(['in both, newer', 'only old'])
      expect(await textsOf('new')).toEqual(['in both, older'])
      const all = await current().newestPassages({ project: PROJECT.key, kinds: ['words'], limit: 9 })
      expect(all).toHaveLength(3)
      for (let n = 0; n < 10; n += 1) await current().indexNext(100)
      const { done, total } = await current().indexState()
      expect(done).toBe(total)
    })

    test('passages.areImportedOnce_butNotOfAnErasedSessionOrOfTheFuture', async () => {
      const { kind: passage, ...rest } = passageOf('imported')
      const given: PassageRecord = { kind: 'passage', session: 's', project: PROJECT.key, passage, ...rest }
      const become = async (record: PassageRecord, forgotten = false) => {
        const batch = { sessions: [sessionOf('s')], records: [record], forgotten, dryRun: false }
        const [outcome] = (await current().importBatch(batch, NOW)).outcomes
        return outcome?.is === 'left_out' ? outcome.because : outcome?.is
      }
      expect(await become(given)).toBe('added')
      expect(await become(given)).toBe('known')
      expect(await become({ ...given, text: '' })).toBe('refused')
      expect(await become({ ...given, text: 'later', at: NOW + 9 * DAY_MS })).toBe('future')
      await current().eraseSession('s', NOW)
      expect(await become(given)).toBe('forgotten')
      expect(await become(given, true)).toBe('added')
      expect(await textsOf('s')).toEqual(['imported'])
    })
  })
}
