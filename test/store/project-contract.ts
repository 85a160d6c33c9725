/** What every store does with the settings of projects. Part of the contract. */
import { describe, expect, test } from 'vitest'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { callOf, commitOf, NOW, observationOf, PROJECT, promptOf, record, stateOf, summaryOf } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const OLD = { key: 'git:/home/me/old-shop/.git', name: 'old-shop' }
const NO_SETTINGS = { name: null, mergedInto: null, root: null, fingerprint: null, files: [] }

export function projectContract(current: () => Store, committed: Committed): void {
  const refiled = async (limit: number): Promise<number[]> => {
    const pieces: number[] = []
    for (;;) {
      const moved = await current().moveMergedRows(limit)
      if (moved === 0) return pieces
      pieces.push(moved)
    }
  }

  /** Two observations, a summary, a prompt and a call in the old project, one observation in the other. */
  async function twoProjects(): Promise<void> {
    const prompt = { eventId: 'p', number: 1, text: 'fix the login', private: false, at: NOW }
    await committed(
      current(),
      commitOf('old', 1, {
        state: stateOf({ project: OLD }),
        events: [record(promptOf('old', 'p'))],
        prompts: [prompt],
        observations: [observationOf([]), observationOf([])],
        summaries: [summaryOf()],
        calls: [callOf('effect-1')],
      }),
    )
    await committed(current(), commitOf('new', 1, { observations: [observationOf([])] }))
  }

  describe('projects', () => {
    test('settings.keepsWhatIsNotGiven', async () => {
      await current().updateProjects([{ key: OLD.key, name: 'Shop', root: '/home/me/old-shop' }], NOW)
      await current().updateProjects(
        [
          { key: OLD.key, fingerprint: 'f' },
          { key: PROJECT.key, files: ['project'] },
        ],
        NOW,
      )
      expect(await current().projectSettings()).toEqual([
        { ...NO_SETTINGS, key: OLD.key, name: 'Shop', root: '/home/me/old-shop', fingerprint: 'f' },
        { ...NO_SETTINGS, key: PROJECT.key, files: ['project'] },
      ])
    })

    test('directories.areChangedInTheTransactionOfTheSettings', async () => {
      const directory = {
        key: OLD.key,
        repository: 'repo:host/shop',
        state: 'joined',
        told: false,
        createdAt: 17,
      } as const
      await current().updateProjects([{ key: OLD.key, mergedInto: 'repo:host/shop' }], NOW, [directory])
      expect(await current().projectDirectories()).toEqual([directory])
      const bad = { ...directory, state: 'nonsense' as 'joined' }
      await expect(current().updateProjects([{ key: OLD.key, mergedInto: null }], NOW, [bad])).rejects.toThrow()
      expect(await current().projectSettings()).toMatchObject([{ mergedInto: 'repo:host/shop' }])
      await current().updateProjects([], NOW, [{ ...directory, state: 'unconfirmed', told: true }])
      expect(await current().projectDirectories()).toEqual([{ ...directory, state: 'unconfirmed', told: true }])
      await current().updateProjects([], NOW, [{ ...directory, state: null }])
      expect(await current().projectDirectories()).toEqual([])
    })

    test('name.ofARepositoryIsTheLastPartOfItsPath', async () => {
      await twoProjects()
      await current().updateProjects([{ key: OLD.key, mergedInto: 'repo:host/acme/shop', root: '/old' }], NOW)
      await refiled(100)
      await committed(current(), commitOf('later', 1, { state: stateOf({ project: OLD }) }))
      expect(await current().projects({ key: OLD.key })).toMatchObject([{ key: 'repo:host/acme/shop', name: 'shop' }])
      const listed = (await current().listProjects()).find(({ key }) => key === 'repo:host/acme/shop')
      expect(listed).toMatchObject({ name: 'shop', sessions: 2, roots: ['/old'] })
    })

    test('name.byHandWinsWhereverOneIsShown', async () => {
      await twoProjects()
      await current().updateProjects([{ key: OLD.key, name: 'Museum' }], NOW)
      expect(await current().projects({ name: 'old-shop' })).toEqual([])
      expect(await current().projects({ name: 'Museum' })).toMatchObject([{ key: OLD.key, observations: 2 }])
      expect((await current().sessions({ project: OLD.key }))[0]?.projectName).toBe('Museum')
      expect((await current().sessionView('old', 0))?.row.project.name).toBe('Museum')
      expect((await current().calls({ session: 'old' }))[0]?.projectName).toBe('Museum')
      expect(await current().usage({ by: 'project', since: 0 })).toMatchObject([{ key: OLD.key, name: 'Museum' }])
      expect((await current().listProjects()).map(({ name, named }) => [name, named])).toEqual(
        expect.arrayContaining([
          ['Museum', true],
          ['shop', false],
        ]),
      )
      // What an actor is restored from keeps the name that its session said: it must not come to be stored.
      expect((await current().session('old'))?.project.name).toBe('old-shop')
      await current().updateProjects([{ key: OLD.key, name: null }], NOW)
      expect((await current().sessionView('old', 0))?.row.project.name).toBe('old-shop')
    })

    test.each([1, 2, 100])('merge.movesEverythingInPiecesOf%i', async (limit) => {
      await twoProjects()
      const contents = { sessions: 1, observations: 2, summaries: 1, prompts: 1 }
      expect(await current().projectContents(OLD.key)).toEqual(contents)
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key }], NOW)
      const pieces = await refiled(limit)
      expect(Math.max(...pieces)).toBeLessThanOrEqual(limit)
      expect(await current().projectContents(OLD.key)).toEqual({
        sessions: 0,
        observations: 0,
        summaries: 0,
        prompts: 0,
      })
      expect(await current().projectContents(PROJECT.key)).toEqual({
        sessions: 2,
        observations: 3,
        summaries: 1,
        prompts: 1,
      })
      expect(await current().projects({})).toMatchObject([{ ...PROJECT, observations: 3 }])
      expect((await current().session('old'))?.project).toEqual(PROJECT)
      expect(await current().calls({ session: 'old' })).toMatchObject([{ project: PROJECT.key, projectName: 'shop' }])
      expect(await current().aliases(PROJECT.key)).toEqual([{ key: OLD.key, moved: true }])
      expect(await current().listProjects()).toMatchObject([{ key: PROJECT.key, sessions: 2, merged: [OLD.key] }])
      const gone = { ids: [], filters: { ...NO_FILTERS, project: PROJECT.key }, dryRun: true, at: NOW }
      expect((await current().forget(gone)).observations).toBe(3)
    })

    test('merge.byHandIsToldFromAMove', async () => {
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key, root: '/old' }], NOW)
      await current().updateProjects([{ key: 'git:/left', mergedInto: PROJECT.key }], NOW)
      expect(await current().aliases(PROJECT.key)).toEqual(
        expect.arrayContaining([
          { key: OLD.key, moved: false },
          { key: 'git:/left', moved: true },
        ]),
      )
    })

    test('merge.ofAKeyIsFoundByIt', async () => {
      await twoProjects()
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key }], NOW)
      expect(await current().projects({ key: OLD.key })).toMatchObject([PROJECT])
      expect(await current().projects({ name: 'old-shop' })).toEqual([])
    })

    test('merge.filesWhatAnActorStillCallsByTheOldKey', async () => {
      await twoProjects()
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key }], NOW)
      await refiled(100)
      await committed(
        current(),
        commitOf('old', 2, {
          state: stateOf({ project: OLD }),
          observations: [observationOf([])],
          summaries: [summaryOf()],
          calls: [callOf('effect-2')],
        }),
      )
      await committed(current(), commitOf('newer', 1, { state: stateOf({ project: OLD }) }))
      expect(await current().projectContents(OLD.key)).toEqual({
        sessions: 0,
        observations: 0,
        summaries: 0,
        prompts: 0,
      })
      expect((await current().session('newer'))?.project).toEqual(PROJECT)
      expect((await current().calls({})).map(({ project }) => project)).toEqual([PROJECT.key, PROJECT.key])
      expect(await refiled(100)).toEqual([])
    })

    test('merge.thatIsTakenBackLetsTheKeyStandAlone', async () => {
      await current().updateProjects([{ key: OLD.key, mergedInto: PROJECT.key }], NOW)
      await current().updateProjects([{ key: OLD.key, mergedInto: null }], NOW)
      await committed(current(), commitOf('s', 1, { state: stateOf({ project: OLD }) }))
      expect((await current().session('s'))?.project).toEqual(OLD)
    })
  })
}
