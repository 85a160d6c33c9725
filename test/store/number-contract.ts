/** Every change that a follower may want to see has a number of its own, and nothing else has. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { ImportBatch } from '../../src/store/exchange-records.ts'
import type { Store } from '../../src/store/port.ts'
import { commitOf, NOW, observationOf } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

export function numberContract(current: () => Store, committed: Committed): void {
  const learn = async (count: number) =>
    (await committed(current(), commitOf('s', 1, { observations: Array(count).fill(observationOf([])) })))
      .observationIds

  /** The number that a change got, after checking that it is the next one. */
  async function next(change: () => Promise<{ seq: number | null } | null>): Promise<number | null> {
    const before = await current().lastSeq()
    const seq = (await change())?.seq ?? null
    expect(await current().lastSeq()).toBe(seq ?? before)
    if (seq !== null) expect(seq).toBe(before + 1)
    return seq
  }

  describe('numbers', () => {
    test('seq.isTakenByWhatPeopleChange_andOnlyWhereSomethingChanged', async () => {
      const [a = 0, b = 0] = await learn(2)
      const link = { from: b, to: a, kind: 'supersedes', by: 'person', at: NOW } as const
      const forget = { ids: [a], filters: null, dryRun: false, at: NOW }
      expect(await next(() => current().pin([a, 99], true, NOW))).not.toBeNull()
      expect(await next(() => current().pin([a, 99], true, NOW))).toBeNull()
      expect(await next(() => current().link(link))).not.toBeNull()
      expect(await next(() => current().link(link))).toBeNull()
      expect(await next(() => current().unlink(b, a, 'supersedes'))).not.toBeNull()
      expect(await next(() => current().unlink(b, a, 'supersedes'))).toBeNull()
      expect(await next(() => current().forget({ ...forget, dryRun: true }))).toBeNull()
      expect(await next(() => current().forget(forget))).not.toBeNull()
      expect(await next(() => current().forget(forget))).toBeNull()
      expect(await next(() => current().quarantine('s', 'broken', NOW))).not.toBeNull()
      expect(await next(() => current().eraseSession('s', NOW))).not.toBeNull()
      expect(await next(() => current().eraseSession('s', NOW))).toBeNull()
    })

    test('seq.isNotTakenByWhatSearchFindsOut', async () => {
      const [a = 0, b = 0] = await learn(2)
      const link = { from: b, to: a, kind: 'repeats', by: 'search', at: NOW } as const
      expect(await next(() => current().link(link))).toBeNull()
    })

    test('seq.ofProjectsIsTakenWherePeopleSeeTheDifference', async () => {
      const key = 'git:/old'
      expect(await next(() => current().updateProjects([{ key, root: '/old', fingerprint: 'f' }], NOW))).not.toBeNull()
      expect(await next(() => current().updateProjects([{ key, root: '/old' }], NOW + 1))).toBeNull()
      expect(await next(() => current().updateProjects([{ key, files: ['project'] }], NOW + 2))).toBeNull()
      expect(
        await next(() => current().updateProjects([{ key, name: 'Shop' }, { key: 'git:/x' }], NOW + 3)),
      ).not.toBeNull()
      expect(await next(() => current().updateProjects([], NOW + 4))).toBeNull()
    })

    test('seq.ofAnImportIsOneForTheBatch', async () => {
      const project = { key: 'git:/p', name: 'p' }
      const session = { id: 'i', project, client: 'x', cwd: '/', prompts: 1, startedAt: NOW, heardAt: NOW }
      const prompt = { kind: 'prompt', session: 'i', number: 1, text: 'fix it', at: NOW } as const
      const batch: ImportBatch = { sessions: [session], records: [prompt, prompt], dryRun: false }
      expect(await next(() => current().importBatch({ ...batch, dryRun: true }, NOW))).toBeNull()
      expect(await next(() => current().importBatch(batch, NOW))).not.toBeNull()
      expect(await next(() => current().importBatch(batch, NOW))).toBeNull()
    })

    test('commit.saysTheIdsOfItsPrompts', async () => {
      const prompts = [1, 2].map((number) => ({
        eventId: `p${number}`,
        number,
        text: 'x',
        private: number === 2,
        at: NOW,
      }))
      const { promptIds } = await committed(current(), commitOf('s', 1, { prompts }))
      expect(promptIds).toHaveLength(2)
      expect(promptIds[1]).toBeGreaterThan(promptIds[0] ?? Number.POSITIVE_INFINITY)
    })
  })
}
