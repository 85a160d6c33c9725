/** What every store does with memories beside storing them: vectors, links, pins, forgetting. Part of the contract. */
import { describe, expect, test } from 'vitest'
import { commitByHand, rememberedSession } from '../../src/daemon/memory-changes.ts'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import type { Commit, CommitResult, TraceEntry } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import type { ForgetOptions, Link } from '../../src/store/search-port.ts'
import {
  accepting,
  callOf,
  claim,
  commitOf,
  NOW,
  observationOf,
  PROJECT,
  promptOf,
  record,
  settle,
  stateOf,
  summaryOf,
  toolUse,
  turnOf,
} from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

export function memoryContract(current: () => Store, committed: Committed): void {
  const learn = async (session: string, count: number, over: Partial<Commit> = {}) =>
    (
      await committed(
        current(),
        commitOf(session, 1, { observations: Array.from({ length: count }, () => observationOf([])), ...over }),
      )
    ).observationIds
  const first = (ids: readonly number[]) => ids[0] ?? 0
  const forget = (over: Partial<ForgetOptions>) =>
    current().forget({ ids: [], filters: null, dryRun: false, at: NOW, ...over })

  describe('vectors', () => {
    const vectorOf = (observationId: number, embedder = 'static-1') => {
      return { observationId, fragment: 'narrative' as const, embedder, vector: new Float32Array([1, 0]) }
    }

    test('vectors.areMissingUntilTheyAreStored', async () => {
      const ids = await learn('s', 3)
      const [a = 0, b = 0, c = 0] = ids
      const missing = await current().missingEmbeddings('static-1', 0, 2)
      expect(missing.observations).toMatchObject([
        { id: a, project: PROJECT.key, title: 'Login fixed', facts: ['tokens live an hour'] },
        { id: b },
      ])
      expect(await current().missingEmbeddings('static-1', missing.next ?? 0, 2)).toMatchObject({
        observations: [{ id: c }],
        next: null,
      })
      expect(await current().putEmbeddings(ids.map((id) => vectorOf(id)))).toBe(3)
      expect(await current().missingEmbeddings('static-1', 0, 9)).toEqual({ observations: [], next: null })
      expect((await current().missingEmbeddings('other', 0, 9)).observations).toHaveLength(3)
    })

    test('vectors.thatSayNothingAreNotAskedForAgain', async () => {
      const id = first(await learn('s', 1))
      await current().putEmbeddings([{ ...vectorOf(id), vector: null }])
      expect((await current().missingEmbeddings('static-1', 0, 9)).observations).toEqual([])
    })

    test('vectors.ofAnObservationThatIsGoneAreLeftOut', async () => {
      expect(await current().putEmbeddings([vectorOf(99)])).toBe(0)
    })

    test('vectors.areDroppedByEmbedder', async () => {
      const id = first(await learn('s', 1))
      await current().putEmbeddings([vectorOf(id), vectorOf(id, 'other')])
      expect(await current().dropEmbeddings('other')).toBe(1)
      expect(await current().dropEmbeddings('other')).toBe(0)
      expect((await current().missingEmbeddings('static-1', 0, 9)).observations).toEqual([])
      expect(await current().dropEmbeddings(null)).toBe(1)
    })
  })

  describe('links and pins', () => {
    const linkOf = (from: number, to: number, over: Partial<Link> = {}): Link => {
      return { from, to, kind: 'supersedes', by: 'person', at: NOW, ...over }
    }

    test('link.isMadeOnceAndTakenBack', async () => {
      const [a = 0, b = 0] = await learn('s', 2)
      expect(await current().link(linkOf(b, a))).toMatchObject({ changed: true })
      expect(await current().link(linkOf(b, a))).toMatchObject({ changed: false })
      expect(await current().link(linkOf(b, a, { kind: 'repeats', by: 'search' }))).toMatchObject({ changed: true })
      expect(await current().unlink(b, a, 'supersedes')).toMatchObject({ changed: true })
      expect(await current().unlink(b, a, 'supersedes')).toMatchObject({ changed: false })
    })

    test('link.toItselfToNothingInACircleOrAcrossProjectsIsRefused', async () => {
      const [a = 0, b = 0, c = 0] = await learn('s', 3)
      const elsewhere = first(await learn('t', 1, { state: stateOf({ project: { key: 'other', name: 'other' } }) }))
      await current().link(linkOf(b, a))
      await current().link(linkOf(c, b))
      await expect(current().link(linkOf(a, c))).rejects.toMatchObject({ code: 'bad_request' })
      await expect(current().link(linkOf(a, a))).rejects.toMatchObject({ code: 'bad_request' })
      await expect(current().link(linkOf(a, 99))).rejects.toMatchObject({ code: 'not_found' })
      await expect(current().link(linkOf(a, b))).rejects.toMatchObject({ code: 'bad_request' })
      await expect(current().link(linkOf(a, elsewhere))).rejects.toMatchObject({ code: 'bad_request' })
    })

    test('link.ofANewObservationToWhatIsNotThereIsLeftOut', async () => {
      const old = first(await learn('s', 1))
      const elsewhere = first(await learn('t', 1, { state: stateOf({ project: { key: 'other', name: 'other' } }) }))
      const links = [old, elsewhere, 99].map((to) => ({ to, kind: 'supersedes' as const, by: 'model' as const }))
      const commit = commitOf('s', 2, { observations: [observationOf([], { links })] })
      const id = first((await committed(current(), commit)).observationIds)
      expect(await current().unlink(id, old, 'supersedes')).toMatchObject({ changed: true })
      expect(await current().unlink(id, elsewhere, 'supersedes')).toMatchObject({ changed: false })
      expect(await current().unlink(id, 99, 'supersedes')).toMatchObject({ changed: false })
    })

    test('link.takesASupersededObservationOutOfTheCurrentOnes', async () => {
      const [a = 0, b = 0] = await learn('s', 2)
      await current().link(linkOf(b, a))
      expect((await current().observations({ session: 's', current: true })).map(({ id }) => id)).toEqual([b])
      expect(await current().observations({ session: 's' })).toHaveLength(2)
    })

    test('resolved.setsOpenProblemsOfTheProjectAndNothingElse', async () => {
      const open = observationOf([], { status: 'open' })
      const [mine = 0, other = 0, plain = 0] = await learn('s', 1, {
        observations: [open, open, observationOf([])],
      })
      const elsewhere = first(
        await learn('t', 1, {
          state: stateOf({ project: { key: 'other', name: 'other' } }),
          observations: [open],
        }),
      )
      const openIds = async () => (await current().openProblems(PROJECT.key, 9)).map(({ id }) => id)
      expect(await openIds()).toEqual([other, mine])
      await committed(current(), commitOf('s', 2, { resolved: [mine, plain, elsewhere, 99] }))
      expect(await openIds()).toEqual([other])
      const statusOf = async (id: number) => (await current().observation(id))?.status
      expect(await Promise.all([mine, other, plain, elsewhere].map(statusOf))).toEqual([
        'resolved',
        'open',
        null,
        'open',
      ])
    })

    test('resolved.setsAnUntestedChangeThatWasTestedSince', async () => {
      const [change = 0] = await learn('s', 1, { observations: [observationOf([], { status: 'untested' })] })
      expect(await current().openProblems(PROJECT.key, 9)).toEqual([])
      await committed(current(), commitOf('s', 2, { resolved: [change] }))
      expect((await current().observation(change))?.status).toBe('resolved')
    })

    test('link.ofAnAmendmentLeavesTheOlderObservationCurrent', async () => {
      const old = first(await learn('s', 1))
      const links = [{ to: old, kind: 'amends' as const, by: 'model' as const }]
      const commit = commitOf('s', 2, { observations: [observationOf([], { links })] })
      const id = first((await committed(current(), commit)).observationIds)
      expect((await current().observations({ session: 's', current: true })).map((one) => one.id)).toEqual([id, old])
      expect(await current().unlink(id, old, 'amends')).toMatchObject({ changed: true })
    })

    test('resolved.doesNotReachTheObservationsOfItsOwnCommit', async () => {
      const [only = 0] = await learn('s', 1)
      const commit = commitOf('s', 2, { resolved: [only + 1], observations: [observationOf([], { status: 'open' })] })
      const id = first((await committed(current(), commit)).observationIds)
      expect(id).toBe(only + 1)
      expect((await current().observation(id))?.status).toBe('open')
    })

    test('pin.saysWhatChangedAndWhatIsNotThere', async () => {
      const [a = 0, b = 0] = await learn('s', 2)
      expect(await current().pin([a, b, 99], true, NOW)).toMatchObject({ changed: 2, missing: [99] })
      expect(await current().pin([a], true, NOW)).toMatchObject({ changed: 0, missing: [] })
      expect(await current().pin([a], false, NOW)).toMatchObject({ changed: 1, missing: [] })
    })
  })

  describe('forgetting', () => {
    const failedStep = (reason: string): TraceEntry => {
      const state = 'batching.calling'
      return { at: NOW, event: 'FAILED', eventId: null, from: state, to: state, reason, effectId: 'e2' }
    }

    /** One observation with everything that hangs on it. */
    async function known(): Promise<{ old: number; id: number }> {
      const old = first(await learn('s', 1))
      await committed(current(), accepting('s', 2, [toolUse('s', '1'), toolUse('s', '2')]))
      await committed(current(), commitOf('s', 3, { inbox: [claim('e1')] }))
      const { observationIds } = await committed(
        current(),
        commitOf('s', 4, {
          inbox: [settle('e1')],
          observations: [observationOf(['1'], { links: [{ to: old, kind: 'repeats', by: 'search' }] })],
          summaries: [summaryOf()],
          turns: [turnOf('user', 'what happened'), turnOf('assistant', 'the token')],
          calls: [callOf('e1'), callOf('e2', { error: 'not XML: the token' })],
          trace: [failedStep('attempt 1 failed: not XML: the token; batch of 1'), failedStep('gave up')],
        }),
      )
      const id = first(observationIds)
      const vector = new Float32Array([1])
      await current().putEmbeddings([{ observationId: id, fragment: 'fact_0', embedder: 'e', vector }])
      await current().pin([id], true, NOW)
      return { old, id }
    }

    test('forget.dryRunChangesNothing', async () => {
      const { id } = await known()
      expect(await forget({ ids: [id, 99], dryRun: true })).toMatchObject({
        dryRun: true,
        observations: 1,
        ids: [id],
        missing: [99],
      })
      expect(await current().observation(id)).not.toBeNull()
      expect(await current().observerTurns('s', 0)).toHaveLength(2)
    })

    test('forget.clearsEveryCopy', async () => {
      const { id, old } = await known()
      const report = await forget({ ids: [id] })
      expect(report).toMatchObject({ observations: 1, summaries: 0, prompts: 0, ids: [id], missing: [] })
      expect(report).toMatchObject({ embeddings: 1, links: 1, payloads: 2, observerTurns: 2, callTexts: 2 })
      expect(report.related.summaries).toHaveLength(1)
      expect(await current().observation(id)).toBeNull()
      expect(await current().observation(old)).not.toBeNull()
      expect(await current().observerTurns('s', 0)).toEqual([])
      expect(await current().calls({})).toMatchObject([
        { sent: null, received: null, error: null, cost: 0.25 },
        { sent: null, received: null, error: 'deleted with a forgotten memory' },
      ])
      expect((await current().sessionView('s', 2))?.trace).toMatchObject([
        { event: 'FAILED', reason: 'attempt 1 failed: deleted with a forgotten memory' },
        { event: 'FAILED', reason: 'gave up' },
      ])
      expect(await current().events('s', 10)).toMatchObject([
        { eventId: '1', outcome: 'observed', reason: 'forgotten', observationIds: [] },
        { eventId: '2', outcome: 'folded' },
      ])
      expect(await current().pin([id], false, NOW)).toMatchObject({ changed: 0, missing: [id] })
    })

    test('forget.byFiltersTakesSummariesAndPromptsToo', async () => {
      const prompts = [{ eventId: 'p', number: 1, text: 'fix the login', private: false, at: NOW }]
      await learn('s', 2, { events: [record(promptOf('s', 'p'))], prompts, summaries: [summaryOf()] })
      const kept = await learn('t', 1)
      const filters = { ...NO_FILTERS, kinds: [], session: 's' }
      expect(await forget({ filters })).toMatchObject({ observations: 2, summaries: 1, prompts: 1 })
      expect((await current().observations({})).map(({ id }) => id)).toEqual(kept)
      expect(await current().summaries({})).toEqual([])
      expect((await current().turnMaterial('s', 1)).prompt).toBeNull()
      expect(await forget({ filters })).toMatchObject({ observations: 0, summaries: 0, prompts: 0 })
    })

    test('forget.thePayloadsOfAQuarantinedSessionStayButThoseItCameFrom', async () => {
      const { id } = await known()
      await current().quarantine('s', 'broken', NOW)
      await current().acceptQuarantined('s', promptOf('s', 'p'), NOW)
      expect(await forget({ ids: [id] })).toMatchObject({ payloads: 1 })
    })
  })

  describe('remembering', () => {
    const draft = observationOf([], { title: 'Deploy on Fridays' })

    test('remember.makesAnObservationLikeAnyOther', async () => {
      const { id } = await commitByHand(current(), draft, PROJECT, '/home/me/shop', NOW)
      const { id: next } = await commitByHand(current(), draft, PROJECT, '/home/me/shop', NOW + 1)
      expect(await current().observation(id)).toMatchObject({ title: 'Deploy on Fridays', project: PROJECT.key })
      expect(next).toBeGreaterThan(id)
      const session = rememberedSession(PROJECT)
      expect(await current().session(session)).toMatchObject({ status: 'completed', state: 'closed', revision: 2 })
      expect(rememberedSession({ key: 'other', name: PROJECT.name })).not.toBe(session)
    })

    test('remember.atTheSameTimeKeepsAll', async () => {
      const four = await Promise.all([1, 2, 3, 4].map((n) => commitByHand(current(), draft, PROJECT, '', NOW + n)))
      expect(new Set(four.map(({ id }) => id)).size).toBe(4)
      expect(await current().observations({})).toHaveLength(4)
    })
  })
}
