/** What every store does with memories that come from another one. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type {
  ImportBatch,
  ImportedSession,
  ObservationRecord,
  PromptRecord,
  SummaryRecord,
} from '../../src/store/exchange-records.ts'
import type { Store } from '../../src/store/port.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf, summaryOf } from './samples.ts'

const OTHER = { key: 'git:/home/me/blog', name: 'blog' }

export function sessionOf(id: string, over: Partial<ImportedSession> = {}): ImportedSession {
  const times = { startedAt: NOW - 60_000, heardAt: NOW }
  return { id, project: PROJECT, client: 'claude-code', cwd: '/home/me/shop', prompts: 2, ...times, ...over }
}

export function observationRecord(session: string, over: Partial<ObservationRecord> = {}): ObservationRecord {
  const { contentHash: _, ...observation } = observationOf(['event-1'])
  return { kind: 'observation', id: 7, session, project: PROJECT.key, ...observation, ...over }
}

export function summaryRecord(session: string, over: Partial<SummaryRecord> = {}): SummaryRecord {
  const { effectId: _, ...summary } = summaryOf()
  return { kind: 'summary', session, project: PROJECT.key, ...summary, ...over }
}

export function promptRecord(session: string, number: number): PromptRecord {
  return { kind: 'prompt', session, number, text: `prompt ${number}`, at: NOW + number }
}

export function importContract(current: () => Store): void {
  const take = async (records: ImportBatch['records'], over: Partial<ImportBatch> = {}) =>
    await current().importBatch({ sessions: [sessionOf('s')], records, dryRun: false, ...over }, NOW)
  const whatBecame = async (...args: Parameters<typeof take>) => (await take(...args)).outcomes.map(({ is }) => is)
  const idOf = async (record: ObservationRecord) => {
    const [outcome] = (await take([record])).outcomes
    return outcome !== undefined && 'id' in outcome ? (outcome.id ?? 0) : 0
  }

  describe('import', () => {
    test('import.leavesOutTheFuture_andClampsTheTimesOfItsSession', async () => {
      const year255479 = 8_000_000_000_000_000
      const session = sessionOf('s', { startedAt: year255479, heardAt: year255479 })
      const records = [
        observationRecord('s', { createdAt: year255479 }),
        summaryRecord('s', { createdAt: year255479 }),
        { ...promptRecord('s', 1), at: year255479 },
        observationRecord('s'),
      ]
      const { outcomes } = await take(records, { sessions: [session] })
      expect(outcomes.map((outcome) => ('because' in outcome ? outcome.because : outcome.is))).toEqual([
        'future',
        'future',
        'future',
        'added',
      ])
      expect((await current().session('s'))?.heardAt).toBeLessThan(NOW + 2 * 86_400_000)
      const id = (await current().observations({}))[0]?.id ?? 0
      await take([{ kind: 'pin', observation: id, at: year255479 }])
      await current().pin([id], false, NOW)
    })

    test('import.leavesOutErasedSessions_unlessTheyAreWanted', async () => {
      await take([observationRecord('s')])
      await current().eraseSession('s', NOW)
      expect(await take([observationRecord('s'), promptRecord('s', 1)])).toMatchObject({
        outcomes: Array(2).fill({ is: 'left_out', because: 'forgotten' }),
        projects: [],
      })
      expect(await current().session('s')).toBeNull()
      expect(await whatBecame([observationRecord('s')], { forgotten: true })).toEqual(['added'])
      expect(await current().sessionErasedAt('s')).toBeNull()
    })

    test('import.keepsEverythingInAClosedSession', async () => {
      const records = [promptRecord('s', 1), observationRecord('s'), summaryRecord('s')]
      const { outcomes, projects } = await take(records)
      expect(outcomes.map(({ is }) => is)).toEqual(['added', 'added', 'added'])
      expect(projects).toEqual([PROJECT.key])
      expect(await current().session('s')).toMatchObject({
        project: PROJECT,
        client: 'claude-code',
        status: 'completed',
        state: 'closed',
        prompts: 2,
        createdAt: NOW - 60_000,
        heardAt: NOW,
        wakeAt: null,
        effect: null,
      })
      const { kind: _, id: __, ...observation } = observationRecord('s')
      expect(await current().observations({ session: 's' })).toMatchObject([observation])
      const { kind: ___, ...summary } = summaryRecord('s')
      expect(await current().summaries({ session: 's' })).toMatchObject([summary])
      expect(await current().turnMaterial('s', 1)).toMatchObject({ prompt: { text: 'prompt 1', private: false } })
    })

    test('import.ofTheSameAgainAddsNothing', async () => {
      const records = [promptRecord('s', 1), observationRecord('s'), summaryRecord('s')]
      const first = await take(records)
      const before = await current().session('s')
      const again = await take(records, { sessions: [sessionOf('s', { heardAt: NOW + 5 })] })
      expect(again.outcomes.map(({ is }) => is)).toEqual(['known', 'known', 'known'])
      expect(again.projects).toEqual([])
      expect(again.outcomes[1]).toEqual({ ...first.outcomes[1], is: 'known' })
      expect(await current().session('s')).toEqual(before)
    })

    test('import.tellsApartByTimeAndContent', async () => {
      const one = observationRecord('s')
      const others = [{ ...one, createdAt: NOW + 1 }, { ...one, narrative: 'Something else.' }, one]
      expect(await whatBecame([one, ...others])).toEqual(['added', 'added', 'added', 'known'])
      const summary = summaryRecord('s')
      const later = { ...summary, createdAt: NOW + 99 }
      expect(await whatBecame([summary, later, { ...summary, promptNumber: 2 }, summary])).toEqual([
        'added',
        'added',
        'added',
        'known',
      ])
    })

    test('import.keepsTheNewestSummaryOfAWholeSession', async () => {
      const whole = summaryRecord('s', { whole: true, createdAt: NOW + 5 })
      const older = { ...whole, createdAt: NOW + 1, request: 'older' }
      const newer = { ...whole, createdAt: NOW + 9, request: 'newer' }
      expect(await whatBecame([summaryRecord('s'), whole, older, newer, newer])).toEqual([
        'added',
        'added',
        'known',
        'added',
        'known',
      ])
      const stored = await current().summaries({ session: 's' })
      expect(stored).toHaveLength(2)
      expect(stored.filter((one) => 'whole' in one)).toMatchObject([{ whole: true, request: 'newer' }])
    })

    test('import.knowsAnObservationByTheWordsItHadBefore', async () => {
      const id = await idOf(observationRecord('s'))
      const [stored] = await current().observations({ session: 's' })
      const masked = { ...observationRecord('s', { narrative: 'masked' }), knownAs: [stored?.contentHash ?? ''] }
      expect((await take([masked])).outcomes).toEqual([{ is: 'known', id }])
    })

    test('import.addsToALiveSessionAndChangesNothingOfIt', async () => {
      const live = commitOf('s', 1, { state: stateOf({ project: OTHER }), observations: [observationOf([])] })
      await current().commit([live])
      const before = await current().session('s')
      const records = [
        observationRecord('s', { narrative: 'From elsewhere.' }),
        promptRecord('s', 1),
        promptRecord('s', 2),
      ]
      const { outcomes, projects } = await take(records)
      // Its next prompt will be the second: that number has to stay free.
      expect(outcomes).toMatchObject([{ is: 'added' }, { is: 'added' }, { is: 'refused' }])
      expect(projects).toEqual([OTHER.key])
      expect(await current().session('s')).toEqual(before)
      expect(await current().observations({ project: OTHER.key })).toHaveLength(2)
    })

    test('import.letsASessionThatWasOnlyEverImportedGrow', async () => {
      await take([promptRecord('s', 2)])
      expect(await whatBecame([promptRecord('s', 3)])).toEqual(['refused'])
      const grown = { sessions: [sessionOf('s', { prompts: 3, heardAt: NOW + 9 })] }
      expect(await whatBecame([promptRecord('s', 3)], grown)).toEqual(['added'])
      expect(await current().session('s')).toMatchObject({ prompts: 3, heardAt: NOW + 9, revision: 2, state: 'closed' })
    })

    test('import.refusesWhatHasNoSessionAndTakesTheRest', async () => {
      const { outcomes } = await take([observationRecord('lost'), observationRecord('s'), promptRecord('lost', 1)])
      expect(outcomes.map(({ is }) => is)).toEqual(['refused', 'added', 'refused'])
      expect(await current().session('lost')).toBeNull()
    })

    test('import.filesWhatASessionLearnedInAnotherProjectThere', async () => {
      const records = [observationRecord('s'), observationRecord('s', { project: OTHER.key, createdAt: NOW })]
      const { projects } = await take(records)
      expect(projects.sort()).toEqual([OTHER.key, PROJECT.key])
      expect(await current().observations({ project: OTHER.key })).toHaveLength(1)
    })

    test('import.ofLinksAndPinsNeedsTheirObservations', async () => {
      const old = await idOf(observationRecord('s'))
      const newer = await idOf(observationRecord('s', { createdAt: NOW + 99 }))
      const link = { kind: 'link', from: newer, to: old, link: 'supersedes', by: 'person', at: NOW } as const
      const pin = { kind: 'pin', observation: old, at: NOW } as const
      const back = { ...link, from: old, to: newer }
      const records = [link, link, pin, pin, { ...pin, observation: 999 }, { ...link, to: 999 }, back]
      expect(await whatBecame(records)).toEqual(['added', 'known', 'added', 'known', 'refused', 'refused', 'refused'])
      expect(await current().unlink(newer, old, 'supersedes')).toMatchObject({ changed: true })
      expect(await current().pin([old], false, NOW)).toMatchObject({ changed: 1 })
    })

    test('import.asADryRunSaysWhatWouldBeAndKeepsNothing', async () => {
      const records = [promptRecord('s', 1), observationRecord('s')]
      expect((await take(records, { dryRun: true })).outcomes).toEqual([
        { is: 'added', id: null },
        { is: 'added', id: null },
      ])
      expect(await current().session('s')).toBeNull()
      expect(await whatBecame(records)).toEqual(['added', 'added'])
      expect(await whatBecame(records, { dryRun: true })).toEqual(['known', 'known'])
    })
  })
}
