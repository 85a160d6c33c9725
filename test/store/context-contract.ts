/** What the context of a session is chosen from. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { ObservationType } from '../../src/domain/observation.ts'
import type { PassageDraft, PassageKind } from '../../src/domain/passage.ts'
import type { Commit, CommitResult, NewObservation } from '../../src/store/commit.ts'
import type { ContextQuery, Store } from '../../src/store/port.ts'
import { commitOf, NOW, observationOf, PROJECT, promptOf, record, stateOf, summaryOf, toolUse } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const MINUTE_MS = 60_000
const QUERY: ContextQuery = {
  project: PROJECT.key,
  observations: 100,
  summaries: 5,
  pinned: 5,
  passages: [],
  prompts: 10,
}

export function contextContract(current: () => Store, committed: Committed): void {
  const made = (type: ObservationType, minute: number): NewObservation => {
    return observationOf([], { type, createdAt: NOW + minute * MINUTE_MS })
  }
  const learn = async (observations: NewObservation[], over: Partial<Commit> = {}, session = 's') =>
    (await committed(current(), commitOf(session, 1, { observations, ...over }))).observationIds
  const asked = async (over: Partial<ContextQuery> = {}) => {
    const material = await current().contextMaterial({ ...QUERY, ...over })
    if (material === null) throw new Error('nothing is known')
    return material
  }
  const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)

  describe('context material', () => {
    test('material.ofAProjectThatNobodyKnowsIsNull', async () => {
      expect(await current().contextMaterial(QUERY)).toBeNull()
      await committed(current(), commitOf('s', 1))
      expect(await asked()).toEqual({
        project: PROJECT,
        totals: { observations: 0, discoveryTokens: 0, since: null },
        observations: [],
        pinned: [],
        summaries: [],
        passages: [],
        prompts: [],
        idle: [],
        repeats: [],
        amends: [],
      })
      expect(await current().aliases(PROJECT.key)).toEqual([])
    })

    test('material.passagesAreTheNewestOfTheirKinds', async () => {
      const said = (kind: PassageKind, minute: number, position = 0): PassageDraft => ({
        ...{ kind, subject: null, outcome: null, text: `${kind} ${minute} ${position}`, promptNumber: minute },
        ...{ eventId: `e${minute}`, position, at: NOW + minute * MINUTE_MS },
      })
      const passages = [
        said('closing', 1),
        said('closing', 3, 1),
        said('closing', 3, 0),
        said('words', 4),
        said('edit', 2),
      ]
      await committed(current(), commitOf('s', 1, { passages }))
      const groups = [
        { kinds: ['closing'], limit: 2 },
        { kinds: ['edit', 'command'], limit: 9 },
      ] as const
      const { passages: found } = await asked({ passages: groups })
      expect(found.map(({ text }) => text)).toEqual(['closing 3 0', 'closing 3 1', 'edit 2 0'])
      expect((await asked()).passages).toEqual([])
    })

    test('material.isTheProjectsOwnNewestFirstWithItsTotals', async () => {
      const [a = 0, b = 0, c = 0] = await learn([made('change', 3), made('bugfix', 1), made('change', 2)], {
        summaries: [summaryOf(), summaryOf({ createdAt: NOW + 99 })],
      })
      const other = stateOf({ project: { key: 'git:/other', name: 'other' } })
      await learn([made('change', 9)], { state: other }, 'o')
      const material = await asked({ summaries: 1 })
      expect(idsOf(material.observations)).toEqual([a, c, b])
      expect(material.totals).toEqual({ observations: 3, discoveryTokens: 360, since: NOW + MINUTE_MS })
      expect(material.summaries).toMatchObject([{ createdAt: NOW + 99 }])
      expect(material.observations[0]).toEqual(await current().observation(a))
    })

    test('material.hasTheNewestPromptsButNoPrivateOne', async () => {
      const prompt = (number: number, over = {}) => ({
        ...{ eventId: `p${number}`, number, text: `prompt ${number}`, private: false, at: NOW + number },
        ...over,
      })
      const prompts = [prompt(1), prompt(2, { private: true, text: '' }), prompt(3)]
      await committed(current(), commitOf('s', 1, { prompts }))
      expect((await asked()).prompts).toEqual([
        { session: 's', promptNumber: 3, text: 'prompt 3', at: NOW + 3, imported: false },
        { session: 's', promptNumber: 1, text: 'prompt 1', at: NOW + 1, imported: false },
      ])
      expect((await asked({ prompts: 1 })).prompts).toHaveLength(1)
    })

    test('material.namesSessionsWithoutAnyToolUse', async () => {
      await committed(current(), commitOf('asked', 1, { events: [record(promptOf('asked', 'p'))] }))
      await committed(current(), commitOf('worked', 1, { events: [record(toolUse('worked', 't'))] }))
      expect((await asked()).idle).toEqual(['asked'])
    })

    test('material.leavesOutWhatWasReplacedAndTellsWhatRepeatsAndWhatIsAmended', async () => {
      const [a = 0, b = 0, c = 0] = await learn([made('change', 1), made('change', 2), made('change', 3)])
      await current().link({ from: c, to: a, kind: 'supersedes', by: 'person', at: NOW })
      await current().link({ from: c, to: b, kind: 'repeats', by: 'search', at: NOW })
      await current().link({ from: c, to: b, kind: 'amends', by: 'person', at: NOW })
      expect(await asked()).toMatchObject({
        observations: [{ id: c }, { id: b }],
        repeats: [{ from: c, to: b }],
        amends: [{ from: c, to: b }],
        totals: { observations: 3 },
      })
      await current().unlink(c, a, 'supersedes')
      expect(await asked()).toMatchObject({ observations: [{ id: c }, { id: b }, { id: a }] })
    })

    test('material.hasWhatIsPinnedApartHoweverOldItIs', async () => {
      const [a = 0, b = 0, c = 0, d = 0] = await learn([1, 2, 3, 4].map((minute) => made('change', minute)))
      await current().link({ from: d, to: b, kind: 'supersedes', by: 'model', at: NOW })
      await current().pin([b], true, NOW + 1)
      await current().pin([a], true, NOW + 2)
      const material = await asked({ observations: 1 })
      expect(idsOf(material.pinned)).toEqual([a, b])
      expect(idsOf(material.observations)).toEqual([d])
      expect(idsOf((await asked({ pinned: 1 })).pinned)).toEqual([a])
      expect(idsOf((await asked()).observations)).toEqual([d, c])
    })

    test('material.totalsFollowWhatIsForgottenAndErased', async () => {
      const [a = 0] = await learn([made('change', 1), made('change', 2)])
      await learn([made('change', 3)], {}, 't')
      await current().forget({ ids: [a], filters: null, dryRun: false, at: NOW })
      expect((await asked()).totals).toEqual({ observations: 2, discoveryTokens: 240, since: NOW + 2 * MINUTE_MS })
      await current().eraseSession('s', NOW)
      expect((await asked()).totals).toEqual({ observations: 1, discoveryTokens: 120, since: NOW + 3 * MINUTE_MS })
    })
  })
}
