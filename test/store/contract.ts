/** What every store does. Each implementation runs this suite. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transcriptEndId, transcriptStartId } from '../../src/domain/event.ts'
import { UNKNOWN_OUTCOME } from '../../src/domain/model-call.ts'
import { NO_USAGE } from '../../src/domain/observation.ts'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { CallFilter, Retention, Store } from '../../src/store/port.ts'
import { activityContract } from './activity-contract.ts'
import { contextContract } from './context-contract.ts'
import { importContract } from './import-contract.ts'
import { memoryContract } from './memory-contract.ts'
import { numberContract } from './number-contract.ts'
import { originContract } from './origin-contract.ts'
import { passageContract } from './passage-contract.ts'
import { payloadContract } from './payload-contract.ts'
import { projectContract } from './project-contract.ts'
import {
  accepting,
  add,
  callOf,
  claim,
  clear,
  commitOf,
  DAY_MS,
  effectOf,
  failMessages,
  NOW,
  observationOf,
  PROJECT,
  promptOf,
  record,
  release,
  retryFailed,
  settle,
  stateOf,
  summaryOf,
  toolUse,
  traceOf,
  turnEnd,
  turnOf,
} from './samples.ts'
import { shownContract } from './shown-contract.ts'
import { teamContract } from './team-contract.ts'

/** The origin of a memory that this machine made. */
const OWN = { uid: expect.stringMatching(/^[0-9a-f]{32}$/), author: null, machine: null }

export interface OpenedStore {
  store: Store
  dispose(): Promise<void>
}

const KEEP_ALL: Retention = {
  payloadDays: 7,
  payloadBytes: 1_000_000_000,
  passageDays: 3_650,
  passageBytes: 1e9,
  traceDays: 30,
  tracePerSession: 1_000,
  observerTurnDays: 30,
}

type Success = Extract<CommitResult, { ok: true }>

export async function committed(store: Store, commit: Commit): Promise<Success> {
  const [result] = await store.commit([commit])
  if (result?.ok !== true) throw new Error(`the commit did not land: ${JSON.stringify(result)}`)
  return result
}

export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name}: the store contract`, () => {
    let store: Store
    let dispose: () => Promise<void>
    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      dispose = () => opened.dispose()
    })
    afterEach(() => dispose())

    const statuses = async (session = 's') =>
      (await store.queue({ session })).map((message) => `${message.eventId}:${message.status}`)
    const outcomes = async (session = 's') =>
      Object.fromEntries((await store.events(session, 100)).map((event) => [event.eventId, event.outcome]))

    describe('sessions', () => {
      test('session.firstRevisionCreatesTheRow', async () => {
        const effect = effectOf('e1')
        const state = stateOf({
          effect,
          wakeAt: NOW + 5_000,
          waiting: 'key rejected',
          generation: 2,
          usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
        })
        const { seq } = await committed(store, commitOf('s', 1, { state }))
        expect(await store.session('s')).toEqual({
          ...state,
          session: 's',
          revision: 1,
          memorySession: 's:2',
          createdAt: NOW + 1,
          heardAt: NOW + 1,
          quarantine: null,
          seq,
        })
      })

      test('session.laterRevisionReplacesTheRowAndKeepsItsBirth', async () => {
        await committed(store, commitOf('s', 1))
        await committed(store, commitOf('s', 2, { state: stateOf({ status: 'completed', snapshot: '{"n":2}' }) }))
        expect(await store.session('s')).toMatchObject({
          revision: 2,
          status: 'completed',
          snapshot: '{"n":2}',
          createdAt: NOW + 1,
          heardAt: NOW + 2,
        })
      })

      test('session.unknownIsNull', async () => {
        expect(await store.session('nobody')).toBeNull()
        expect(await store.sessionView('nobody', 10)).toBeNull()
        expect(await store.observation(1)).toBeNull()
      })

      test.each([1, 3, 7])('session.revision %i on a row at 1 is stale', async (revision) => {
        await committed(store, commitOf('s', 1))
        const [result] = await store.commit([commitOf('s', revision)])
        expect(result).toMatchObject({ ok: false, why: 'stale' })
        expect((await store.session('s'))?.revision).toBe(1)
      })

      test('session.revisionTwoWithoutARowIsStale', async () => {
        expect(await store.commit([commitOf('s', 2)])).toMatchObject([{ ok: false, why: 'stale' }])
        expect(await store.session('s')).toBeNull()
      })

      test('sessions.listedNewestFirstWithTheirCounts', async () => {
        await committed(store, accepting('a', 1, [toolUse('a', '1'), toolUse('a', '2')]))
        await committed(store, commitOf('b', 1, { at: NOW + 50, state: stateOf({ status: 'completed' }) }))
        const other = stateOf({ project: { key: 'other', name: 'other' } })
        await committed(store, commitOf('c', 1, { at: NOW + 60, state: other }))
        expect((await store.sessions({})).map((item) => item.session)).toEqual(['c', 'b', 'a'])
        expect((await store.sessions({ limit: 1 })).map((item) => item.session)).toEqual(['c'])
        expect((await store.sessions({ status: 'completed' })).map((item) => item.session)).toEqual(['b'])
        expect(await store.sessions({ project: PROJECT.key, status: 'active' })).toMatchObject([
          { session: 'a', projectName: 'shop', pending: 2, processing: 0, failed: 0, observations: 0 },
        ])
      })

      test('sessions.sayWhatWasAskedAndWhatCameOfIt', async () => {
        const prompt = (number: number, text: string, isPrivate: boolean) => ({
          ...{ number, text, private: isPrivate, eventId: `e${number}`, at: NOW },
        })
        const prompts = [prompt(1, 'my password', true), prompt(2, 'mend the login', false)]
        await committed(store, commitOf('a', 1, { prompts, observations: [observationOf([])] }))
        await committed(store, commitOf('b', 1, { summaries: [summaryOf()] }))
        const listed = async () =>
          Object.fromEntries((await store.sessions({})).map(({ session, ...row }) => [session, row]))
        expect(await listed()).toMatchObject({
          a: { request: 'mend the login', outcome: 'Login fixed', given: 0 },
          b: { request: null, outcome: 'fixed' },
        })
        await committed(store, commitOf('b', 2, { summaries: [summaryOf({ whole: true, request: 'all of it' })] }))
        expect(await listed()).toMatchObject({ b: { request: 'all of it' } })
      })

      test('projects.areKnownByTheirNewestNameWithTheirCounts', async () => {
        const named = (key: string, name: string) => stateOf({ project: { key, name } })
        await committed(store, commitOf('a', 1, { state: named('git:/1', 'old'), observations: [observationOf([])] }))
        await committed(store, commitOf('b', 1, { at: NOW + 50, state: named('git:/1', 'shop') }))
        await committed(store, commitOf('c', 1, { at: NOW + 40, state: named('git:/2', 'shop') }))
        const first = { key: 'git:/1', name: 'shop', observations: 1, since: NOW + 20, updatedAt: NOW + 50 }
        const second = { key: 'git:/2', name: 'shop', observations: 0, since: null, updatedAt: NOW + 40 }
        expect(await store.projects({})).toEqual([first, second])
        expect(await store.projects({ limit: 1 })).toEqual([first])
        expect(await store.projects({ key: 'git:/2' })).toEqual([second])
        expect(await store.projects({ name: 'shop' })).toEqual([first, second])
        expect(await store.projects({ name: 'old' })).toEqual([])
      })

      test('findSessions.matchesBeginnings', async () => {
        for (const id of ['abc-1', 'abc-2', 'ab_3', 'xyz']) await committed(store, commitOf(id, 1))
        expect(await store.findSessions('abc')).toEqual(['abc-1', 'abc-2'])
        expect(await store.findSessions('ab_')).toEqual(['ab_3'])
        expect(await store.findSessions('%')).toEqual([])
      })

      test('findEvents.matchesBeginningsOfEventIdsOnce', async () => {
        await committed(store, accepting('a', 1, [toolUse('a', 'toolu_1'), toolUse('a', 'toolu_2')]))
        await committed(store, accepting('b', 1, [toolUse('b', 'toolu_1'), toolUse('b', 'tool%')]))
        expect(await store.findEvents('toolu_', null)).toEqual(['toolu_1', 'toolu_2'])
        expect(await store.findEvents('toolu_', 'b')).toEqual(['toolu_1'])
        expect(await store.findEvents('tool%', null)).toEqual(['tool%'])
        expect(await store.findEvents('TOOLU', null)).toEqual([])
      })
    })

    describe('a group', () => {
      test('group.resultsInOrderAndSeqGrowsByOne', async () => {
        expect(await store.lastSeq()).toBe(0)
        const results = await store.commit([commitOf('a', 1), commitOf('b', 1), commitOf('a', 2)])
        expect(results.map((result) => result.ok && result.seq)).toEqual([1, 2, 3])
        expect((await committed(store, commitOf('b', 2))).seq).toBe(4)
        expect(await store.lastSeq()).toBe(4)
        expect((await store.session('a'))?.seq).toBe(3)
      })

      test('group.failingMemberFallsAlone', async () => {
        await committed(store, commitOf('old', 1))
        const broken = accepting('broken', 1, [toolUse('broken', 'x')])
        broken.inbox.push(add(toolUse('broken', 'x')))
        const results = await store.commit([
          accepting('a', 1, [toolUse('a', '1')]),
          broken,
          commitOf('old', 1),
          accepting('b', 1, [toolUse('b', '1')]),
        ])
        expect(results).toMatchObject([
          { ok: true, seq: 2 },
          { ok: false, why: 'failed', retryable: false },
          { ok: false, why: 'stale' },
          { ok: true, seq: 3 },
        ])
        expect(await store.session('broken')).toBeNull()
        expect(await store.events('broken', 10)).toEqual([])
        expect(await statuses('a')).toEqual(['1:pending'])
        expect(await statuses('b')).toEqual(['1:pending'])
      })

      test('group.emptyIsNothing', async () => {
        expect(await store.commit([])).toEqual([])
        expect(await store.lastSeq()).toBe(0)
      })

      test('commit.appliesWholeOrNotAtAll', async () => {
        await committed(store, accepting('s', 1, [toolUse('s', '1')]))
        const [result] = await store.commit([
          commitOf('s', 2, {
            state: stateOf({ snapshot: '{"never":true}' }),
            events: [record(promptOf('s', 'p1'), { kind: 'noted', reason: null })],
            prompts: [
              { eventId: 'p1', number: 1, text: 'one', private: false, at: NOW },
              { eventId: 'p1', number: 1, text: 'same number', private: false, at: NOW },
            ],
            inbox: [claim('e1')],
            observations: [observationOf(['1'])],
            turns: [turnOf('user', 'hello')],
            trace: [traceOf('never')],
          }),
        ])
        expect(result).toMatchObject({ ok: false, why: 'failed' })
        const view = await store.sessionView('s', 10)
        expect(view).toMatchObject({ row: { revision: 1, seq: 1 }, trace: [], observations: 0 })
        expect(view?.row.snapshot).not.toContain('never')
        expect(await statuses()).toEqual(['1:pending'])
        expect(await store.observerTurns('s', 0)).toEqual([])
        expect(await outcomes()).toEqual({ '1': null })
        expect(await store.lastSeq()).toBe(1)
      })
    })

    describe('events', () => {
      test('event.acceptedTwiceNamesAllItsDuplicates', async () => {
        await committed(store, accepting('s', 1, [toolUse('s', '1'), toolUse('s', '2')]))
        const again = accepting('s', 2, [toolUse('s', '2'), toolUse('s', '3'), toolUse('s', '1')])
        const [result] = await store.commit([again])
        expect(result).toEqual({ ok: false, why: 'duplicate', eventIds: ['2', '1'] })
        expect(await statuses()).toEqual(['1:pending', '2:pending'])
        await committed(store, accepting('s', 2, [toolUse('s', '3')]))
      })

      test('event.sameIdInAnotherSessionIsAnotherEvent', async () => {
        await committed(store, accepting('a', 1, [toolUse('a', '1')]))
        await committed(store, accepting('b', 1, [toolUse('b', '1')]))
      })

      test('event.staysKnownAfterItIsSettled', async () => {
        await committed(store, accepting('s', 1, [toolUse('s', '1')]))
        await committed(store, commitOf('s', 2, { inbox: [claim('e')] }))
        await committed(store, commitOf('s', 3, { inbox: [settle('e')] }))
        const [result] = await store.commit([accepting('s', 4, [toolUse('s', '1')])])
        expect(result).toEqual({ ok: false, why: 'duplicate', eventIds: ['1'] })
      })

      test('event.outcomeGivenAtAcceptIsKept', async () => {
        const events = [
          record(promptOf('s', 'p'), { kind: 'noted', reason: null }),
          record(toolUse('s', 't'), { kind: 'skipped', reason: 'private turn' }),
          record(toolUse('s', 'u')),
        ]
        await committed(store, commitOf('s', 1, { events }))
        const rows = await store.events('s', 2)
        expect(rows).toMatchObject([
          { eventId: 't', kind: 'tool_use', tool: 'Read', outcome: 'skipped', reason: 'private turn', at: NOW },
          { eventId: 'u', outcome: null, receivedAt: NOW + 5, observationIds: [] },
        ])
      })

      test('event.tellsHooksAndTranscriptsApart', async () => {
        const start = (session: string) => record({ ...promptOf(session, transcriptStartId(session)) })
        const end = (session: string) => ({ session, end: transcriptEndId(session, 'last') })
        await committed(store, commitOf('hooked', 1, { events: [record(promptOf('hooked', 'UserPromptSubmit:1'))] }))
        await committed(store, commitOf('begun', 1, { events: [start('begun'), record(toolUse('begun', 'toolu_1'))] }))
        const read = [start('read'), record(promptOf('read', transcriptEndId('read', 'last')))]
        await committed(store, commitOf('read', 1, { events: read }))
        const both = [start('both'), record(promptOf('both', 'random:2'))]
        await committed(store, commitOf('both', 1, { events: both }))
        expect(await store.storedSessionStates(['read', 'nowhere', 'hooked', 'begun', 'both'].map(end))).toEqual([
          { session: 'read', hooks: false, transcript: true, finished: true, forgotten: false },
          { session: 'hooked', hooks: true, transcript: false, finished: false, forgotten: false },
          { session: 'begun', hooks: false, transcript: true, finished: false, forgotten: false },
          { session: 'both', hooks: true, transcript: true, finished: false, forgotten: false },
        ])
        expect(
          await store.storedSessionStates([{ session: 'read', end: transcriptEndId('read', 'a later line') }]),
        ).toMatchObject([{ transcript: true, finished: false }])
      })
    })

    describe('the inbox', () => {
      beforeEach(async () => {
        await committed(store, accepting('s', 1, [toolUse('s', '1'), turnEnd('s', 'end1'), toolUse('s', '2')]))
        await committed(store, accepting('s', 2, [toolUse('s', '3'), turnEnd('s', 'end2')], 2))
      })

      test('claim.observeTakesTheOldestMessagesUpToAPrompt', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 20, 1)] }))
        expect(await store.claimedMessages('s', 'e1')).toEqual([
          { event: toolUse('s', '1'), prompt: 1 },
          { event: toolUse('s', '2'), prompt: 1 },
        ])
        const [first] = await store.queue({ session: 's' })
        expect(first).toMatchObject({ status: 'processing', claimedAt: NOW + 10, effectId: 'e1', attempts: 0 })
        expect(await statuses()).toEqual(['1:processing', 'end1:pending', '2:processing', '3:pending', 'end2:pending'])
      })

      test('claim.observeStopsAtItsLimit', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 2, 2)] }))
        await committed(store, commitOf('s', 4, { inbox: [claim('e2', 'observe', 2, 2)] }))
        expect((await store.claimedMessages('s', 'e1')).map(({ event }) => event.id)).toEqual(['1', '2'])
        expect((await store.claimedMessages('s', 'e2')).map(({ event }) => event.id)).toEqual(['3'])
      })

      test('claim.summarizeTakesAllTurnEndsUpToAPromptAndNothingElse', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'summarize', 1, 1)] }))
        expect((await store.claimedMessages('s', 'e1')).map(({ event }) => event.id)).toEqual(['end1'])
        await committed(
          store,
          commitOf('s', 4, {
            inbox: [release('e1', false, 'down'), claim('e2', 'summarize', 1, 2)],
          }),
        )
        expect((await store.claimedMessages('s', 'e2')).map(({ event }) => event.id)).toEqual(['end1', 'end2'])
      })

      test('claim.leavesOtherSessionsAlone', async () => {
        await committed(store, accepting('t', 1, [toolUse('t', '1')]))
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 20, 9)] }))
        expect(await statuses('t')).toEqual(['1:pending'])
        expect(await store.claimedMessages('t', 'e1')).toEqual([])
      })

      test('release.countedAddsAnAttemptAndItsError', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        await committed(store, commitOf('s', 4, { inbox: [release('e1', true, 'not XML')] }))
        expect((await store.queue({ session: 's', limit: 1 }))[0]).toMatchObject({
          eventId: '1',
          status: 'pending',
          attempts: 1,
          error: 'not XML',
          effectId: null,
          claimedAt: null,
        })
        await committed(store, commitOf('s', 5, { inbox: [claim('e2', 'observe', 1)] }))
        expect((await store.claimedMessages('s', 'e2')).map(({ event }) => event.id)).toEqual(['1'])
      })

      test('release.notCountedKeepsTheAttempts', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        await committed(store, commitOf('s', 4, { inbox: [release('e1', false, '503')] }))
        expect((await store.queue({ session: 's' }))[0]).toMatchObject({ status: 'pending', attempts: 0, error: null })
      })

      test('settle.setsOutcomesAndEmptiesTheClaim', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 20, 2)] }))
        const result = await committed(
          store,
          commitOf('s', 4, {
            inbox: [
              settle(
                'e1',
                [
                  { eventId: '1', kind: 'observed', reason: null },
                  { eventId: '2', kind: 'folded', reason: null },
                  { eventId: '3', kind: 'skipped', reason: 'nothing new' },
                ],
                NOW + 20,
              ),
            ],
            observations: [observationOf(['1']), observationOf(['1', 'elsewhere']), observationOf(['elsewhere'])],
          }),
        )
        expect(result.observationIds).toHaveLength(3)
        const rows = new Map((await store.events('s', 10)).map((row) => [row.eventId, row]))
        expect(rows.get('1')).toMatchObject({ outcome: 'observed', observationIds: result.observationIds.slice(0, 2) })
        expect(rows.get('2')).toMatchObject({ outcome: 'folded', observationIds: [] })
        expect(rows.get('3')).toMatchObject({ outcome: 'skipped', reason: 'nothing new' })
        expect(await statuses()).toEqual(['end1:pending', 'end2:pending'])
        expect(await store.claimedMessages('s', 'e1')).toEqual([])
      })

      test('settle.messageWithoutAnOutcomeIsStillDoneWith', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 2, 1), claim('e2', 'summarize')] }))
        await committed(
          store,
          commitOf('s', 4, {
            inbox: [settle('e1'), settle('e2')],
            observations: [observationOf(['2'])],
            summaries: [summaryOf()],
          }),
        )
        expect(await outcomes()).toEqual({ '1': 'folded', '2': 'observed', end1: 'folded', '3': null, end2: null })
        expect(await statuses()).toEqual(['3:pending', 'end2:pending'])
      })

      test('failMessages.failsTheClaimVisiblyAndRetryBringsItBack', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        const aside = failMessages('e1', 'bad reply')
        await committed(store, commitOf('s', 4, { inbox: [aside] }))
        expect(await store.queue({ status: 'failed' })).toMatchObject([
          { eventId: '1', attempts: 1, error: 'bad reply', effectId: null, claimedAt: null },
        ])
        expect((await outcomes())['1']).toBe('failed')
        await committed(store, commitOf('s', 5, { inbox: [claim('e2', 'observe', 1)] }))
        expect((await store.claimedMessages('s', 'e2')).map(({ event }) => event.id)).toEqual(['2'])

        await committed(store, commitOf('s', 6, { inbox: [retryFailed()] }))
        expect(await store.queue({ status: 'failed' })).toEqual([])
        expect((await store.queue({ session: 's' }))[0]).toMatchObject({ eventId: '1', status: 'pending', attempts: 0 })
        expect((await outcomes())['1']).toBeNull()
      })

      test('clear.dropsWhatWasSetAside', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        await committed(store, commitOf('s', 4, { inbox: [failMessages('e1', 'bad')] }))
        await committed(store, commitOf('s', 5, { inbox: [clear(false)] }))
        expect(await statuses()).toEqual(['end1:pending', '2:pending', '3:pending', 'end2:pending'])
        expect(await outcomes()).toMatchObject({ '1': 'dropped', '2': null })
      })

      test('clear.dropsWhatWaitsTooButNotWhatIsBeingObserved', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        await committed(store, commitOf('s', 4, { inbox: [clear(true)] }))
        expect(await statuses()).toEqual(['1:processing'])
        expect(await outcomes()).toMatchObject({ '1': null, '2': 'dropped', end1: 'dropped', '3': 'dropped' })
      })

      test('countByPrompt.countsMessagesNotTurnEnds', async () => {
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        expect(await store.countMessagesByPrompt('s', 'pending')).toEqual([
          { prompt: 1, count: 1 },
          { prompt: 2, count: 1 },
        ])
        expect(await store.countMessagesByPrompt('s', 'processing')).toEqual([{ prompt: 1, count: 1 }])
        expect(await store.countMessagesByPrompt('s', 'failed')).toEqual([])
      })

      test('queue.filtersAndCounts', async () => {
        await committed(store, accepting('t', 1, [toolUse('t', '1')]))
        await committed(store, commitOf('s', 3, { inbox: [claim('e1', 'observe', 1)] }))
        expect((await store.queue({ status: 'processing' })).map((message) => message.eventId)).toEqual(['1'])
        expect(await store.queue({ limit: 2 })).toHaveLength(2)
        expect(await store.queueStats()).toEqual({ pending: 5, processing: 1, failed: 0, sessions: 2, oldestAt: NOW })
      })
    })

    describe('waking up', () => {
      test('dueSessions.areDueOrImpossiblyFarAway', async () => {
        const at = (wakeAt: number | null) => ({ state: stateOf({ wakeAt }) })
        await store.commit([
          commitOf('due', 1, at(NOW)),
          commitOf('overdue', 1, at(NOW - 10)),
          commitOf('later', 1, at(NOW + 1_000)),
          commitOf('clock went back', 1, at(NOW + 2 * DAY_MS)),
          commitOf('asleep', 1, at(null)),
        ])
        expect(await store.dueSessions(NOW, DAY_MS, 10)).toEqual(['overdue', 'due', 'clock went back'])
        expect(await store.dueSessions(NOW, DAY_MS, 1)).toEqual(['overdue'])
        expect(await store.nextWakeAt()).toBe(NOW - 10)
      })

      test('nextWakeAt.isNullWhenAllSleep', async () => {
        await committed(store, commitOf('s', 1))
        expect(await store.nextWakeAt()).toBeNull()
      })

      test('unfinishedEffects.areWhatTheRowsSay', async () => {
        const effect = effectOf('e1')
        await committed(store, commitOf('s', 1, { state: stateOf({ effect }) }))
        await committed(store, commitOf('t', 1))
        expect(await store.unfinishedEffects()).toEqual([{ session: 's', effect }])
        await committed(store, commitOf('s', 2))
        expect(await store.unfinishedEffects()).toEqual([])
      })

      test('strandedSessions.haveMessagesAndNothingThatWakesThem', async () => {
        await store.commit([
          accepting('stranded', 1, [toolUse('stranded', '1')]),
          { ...accepting('waked', 1, [toolUse('waked', '1')]), state: stateOf({ wakeAt: NOW }) },
          { ...accepting('acting', 1, [toolUse('acting', '1')]), state: stateOf({ effect: effectOf('e') }) },
          commitOf('idle', 1),
        ])
        expect(await store.strandedSessions()).toEqual(['stranded'])
      })
    })

    describe('what was learned', () => {
      test('memories.comeBackAsTheyWereStored', async () => {
        const observation = observationOf(['1'], { saidBy: 'web', saidIn: null, status: 'open' })
        const { effectId: _, ...summary } = summaryOf()
        const { observationIds, summaryIds } = await committed(
          store,
          commitOf('s', 1, {
            events: [record(promptOf('s', 'p'), { kind: 'noted', reason: null })],
            prompts: [{ eventId: 'p', number: 1, text: 'fix it', private: false, at: NOW }],
            observations: [observation, observationOf([], { promptNumber: 2, createdAt: NOW + 99 })],
            summaries: [{ ...summary, effectId: 'effect' }],
          }),
        )
        const expected = { ...observation, ...OWN, id: observationIds[0], session: 's', project: PROJECT.key }
        expect(await store.observation(observationIds[0] ?? 0)).toEqual(expected)
        expect(await store.turnMaterial('s', 1)).toEqual({
          prompt: { number: 1, text: 'fix it', private: false, at: NOW },
          observations: [expected],
        })
        expect(await store.turnMaterial('s', 7)).toEqual({ prompt: null, observations: [] })
        expect((await store.observations({ session: 's' })).map((row) => row.id)).toEqual([...observationIds].reverse())
        expect(await store.observations({ project: 'other' })).toEqual([])
        expect(await store.observations({ project: PROJECT.key, limit: 1 })).toHaveLength(1)
        expect(await store.summaries({ session: 's' })).toEqual([
          { ...summary, ...OWN, id: summaryIds[0], session: 's', project: PROJECT.key },
        ])
        expect(await store.summaries({ project: 'other' })).toEqual([])
      })

      test('conversation.isKeptByGeneration', async () => {
        const usage = { input: 10, output: 5, cacheRead: 1, cacheWrite: 2 }
        const turns = [turnOf('user', 'look'), turnOf('assistant', '<skip/>', { model: 'm', usage })]
        const next = turnOf('user', 'digest', { generation: 1 })
        await committed(store, commitOf('s', 1, { turns: [...turns, next] }))
        expect(await store.observerTurns('s', 0)).toEqual(turns)
        expect(await store.observerTurns('s', 1)).toEqual([next])
      })

      test('stats.countTodayAndAll', async () => {
        const observations = [observationOf([], { createdAt: NOW - DAY_MS }), observationOf([])]
        await committed(store, commitOf('s', 1, { observations }))
        const stats = await store.stats(NOW - 1_000)
        expect(stats).toMatchObject({ observationsToday: 1, observations: 2, sessionsTotal: 1, pending: 0 })
      })

      test('view.showsTheNewestTraceInOrder', async () => {
        const trace = [traceOf('one'), traceOf('two'), traceOf('three')]
        await committed(store, { ...accepting('s', 1, [toolUse('s', '1')]), trace })
        const view = await store.sessionView('s', 2)
        expect(view?.trace.map((entry) => entry.reason)).toEqual(['two', 'three'])
        expect(view?.trace[0]).toMatchObject(traceOf('two'))
        expect(view?.messages.map((message) => message.eventId)).toEqual(['1'])
        expect(view).toMatchObject({ traceDropped: 0, observations: 0, summaries: 0, row: { session: 's' } })
      })
    })

    describe('calls to a model', () => {
      const other = stateOf({ project: { key: 'git:/other', name: 'other' } })

      test('calls.comeBackAsTheyWereMade', async () => {
        const calls = [
          callOf('e1', { error: 'no XML in it' }),
          callOf('e1', { at: NOW + 1, promptVersion: null, cost: null }),
          callOf('e2', { at: NOW + 2, kind: 'compact', error: 'connection reset', received: null }),
        ]
        const observations = [observationOf([]), observationOf([], { model: null })]
        await committed(store, commitOf('s', 1, { calls, inbox: [settle('e1')], observations }))
        const kept = { session: 's', project: PROJECT.key, projectName: PROJECT.name, observations: 0 }
        const rows = await store.calls({})
        const [first, second, third] = calls.map(({ callId: _, ...call }) => call)
        expect(rows.map(({ id: _, ...row }) => row)).toEqual([
          { ...first, ...kept },
          { ...second, ...kept, observations: 1 },
          { ...third, ...kept },
        ])
        const ids = rows.map(({ id }) => id)
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
      })

      test('calls.theResultReplacesTheEstimate', async () => {
        const usage = { input: 2_010, output: 0, cacheRead: 0, cacheWrite: 0 }
        const begun = callOf('e1', { usage, cost: 1, error: UNKNOWN_OUTCOME, received: null, durationMs: 0 })
        await committed(store, commitOf('s', 1, { calls: [begun, callOf('e2')] }))
        expect((await store.spentSince(0)).usage.input).toBe(2_010 + callOf('x').usage.input)
        const ended = callOf('e1', { callId: begun.callId, usage: { ...usage, input: 7 }, cost: 0.5 })
        await committed(store, commitOf('s', 2, { calls: [ended] }))
        const rows = await store.calls({ effectId: 'e1' })
        expect(rows).toMatchObject([{ usage: { input: 7 }, cost: 0.5, error: null, received: ended.received }])
      })

      test('calls.areFilteredAndTheNewestComeLast', async () => {
        const calls = [callOf('e1'), callOf('e2', { at: NOW + 5 }), callOf('e2', { at: NOW + 6 })]
        await committed(store, commitOf('s', 1, { calls }))
        await committed(store, commitOf('t', 1, { calls: [callOf('e3', { at: NOW + 7 })] }))
        const times = async (filter: CallFilter) => (await store.calls(filter)).map(({ at }) => at - NOW)
        expect(await times({ session: 's' })).toEqual([0, 5, 6])
        expect(await times({ session: 's', limit: 2 })).toEqual([5, 6])
        expect(await times({ effectId: 'e2' })).toEqual([5, 6])
        expect(await times({ since: NOW + 6 })).toEqual([6, 7])
        expect(await times({ session: 'nobody' })).toEqual([])
      })

      test('calls.ofACommitThatFailsAreNotCounted', async () => {
        await committed(store, commitOf('s', 1))
        const duplicate = { eventId: 'p', number: 1, text: 'one', private: false, at: NOW }
        const broken = commitOf('s', 2, {
          calls: [callOf('e1')],
          seen: [{ subject: 'a.ts', digest: '1' }],
          prompts: [duplicate, duplicate],
        })
        expect(await store.commit([broken])).toMatchObject([{ ok: false, why: 'failed' }])
        expect(await store.calls({})).toEqual([])
        expect(await store.seenDigests('s', ['a.ts'])).toEqual(new Map())
      })

      test('usage.isAddedUpByWhatIsAsked', async () => {
        const local = { provider: 'openrouter', model: 'llama', cost: null }
        const nothing = { usage: NO_USAGE, cost: null, error: 'refused', received: null }
        await committed(
          store,
          commitOf('s', 1, {
            calls: [callOf('e1'), callOf('e2', { at: NOW + 10, cost: 0.5 })],
            inbox: [settle('e1')],
            observations: [observationOf([]), observationOf([])],
          }),
        )
        await committed(
          store,
          commitOf('t', 1, {
            state: other,
            calls: [callOf('e3', { ...local, at: NOW + 20 }), callOf('e4', { ...local, ...nothing, at: NOW + 30 })],
          }),
        )
        const once = callOf('').usage
        const twice = { input: 200, output: 40, cacheRead: 2_000, cacheWrite: 100 }
        const paid = { at: NOW + 10, calls: 2, failed: 0, usage: twice, cost: 0.75, unpriced: 0, observations: 2 }
        const unpaid = { at: NOW + 30, calls: 2, failed: 1, usage: once, cost: 0, unpriced: 1, observations: 0 }
        expect(await store.usage({ by: 'project', since: NOW })).toEqual([
          { key: PROJECT.key, name: PROJECT.name, ...paid },
          { key: 'git:/other', name: 'other', ...unpaid },
        ])
        expect(await store.usage({ by: 'session', since: NOW })).toEqual([
          { key: 's', name: PROJECT.name, ...paid },
          { key: 't', name: 'other', ...unpaid },
        ])
        expect(await store.usage({ by: 'model', since: NOW })).toEqual([
          { key: 'claude-haiku-4-5', name: 'anthropic', ...paid },
          { key: 'llama', name: 'openrouter', ...unpaid },
        ])
        expect(await store.usage({ by: 'model', since: NOW + 10, until: NOW + 20 })).toMatchObject([
          { key: 'claude-haiku-4-5', calls: 1, cost: 0.5 },
        ])
        expect(await store.usage({ by: 'session', since: NOW + 31 })).toEqual([])
      })

      test('usage.ofAProjectHasItsNewestName', async () => {
        const named = (name: string) => stateOf({ project: { key: 'git:/1', name } })
        await committed(store, commitOf('a', 1, { state: named('new'), calls: [callOf('e1', { at: NOW + 9 })] }))
        await committed(store, commitOf('b', 1, { state: named('old'), calls: [callOf('e2')] }))
        expect(await store.usage({ by: 'project', since: 0 })).toMatchObject([{ key: 'git:/1', name: 'new', calls: 2 }])
      })

      test('usage.ofDaysFollowsTheirBoundaries', async () => {
        const hour = 3_600_000
        const calls = [NOW - 1, NOW, NOW + 23 * hour - 1, NOW + 23 * hour, NOW + 90 * hour].map((at) =>
          callOf('e', { at }),
        )
        await committed(store, commitOf('s', 1, { calls }))
        // Clocks went forward on the first of them; on the third nothing was asked.
        const dayStarts = [NOW, NOW + 23 * hour, NOW + 47 * hour, NOW + 71 * hour]
        const rows = await store.usage({ by: 'day', dayStarts })
        expect(rows.map(({ key, name, at, calls }) => ({ key, name, at, calls }))).toEqual([
          { key: `${NOW}`, name: null, at: NOW, calls: 2 },
          { key: `${NOW + 23 * hour}`, name: null, at: NOW + 23 * hour, calls: 1 },
          { key: `${NOW + 71 * hour}`, name: null, at: NOW + 71 * hour, calls: 1 },
        ])
        expect(await store.usage({ by: 'day', dayStarts: [] })).toEqual([])
      })

      test('spentSince.countsFromThatMomentOn', async () => {
        expect(await store.spentSince(0)).toEqual({ cost: 0, usage: NO_USAGE })
        const calls = [callOf('e1', { at: NOW - 1 }), callOf('e2'), callOf('e3', { cost: null, error: 'cut off' })]
        await committed(store, commitOf('s', 1, { calls }))
        expect(await store.spentSince(NOW)).toEqual({
          cost: 0.25,
          usage: { input: 200, output: 40, cacheRead: 2_000, cacheWrite: 100 },
        })
      })
    })

    describe('what was seen', () => {
      test('seen.isTheNewestDigestOfASubjectInItsSession', async () => {
        const seen = (...pairs: [string, string][]) => pairs.map(([subject, digest]) => ({ subject, digest }))
        await committed(store, commitOf('s', 1, { seen: seen(['a.ts', '1'], ['b.ts', '1'], ['a.ts', '2']) }))
        await committed(store, commitOf('s', 2, { seen: seen(['b.ts', '2']) }))
        await committed(store, commitOf('t', 1, { seen: seen(['a.ts', '9']) }))
        expect(await store.seenDigests('s', ['a.ts', 'b.ts', 'a.ts', 'never.ts'])).toEqual(
          new Map([
            ['a.ts', '2'],
            ['b.ts', '2'],
          ]),
        )
        expect(await store.seenDigests('s', [])).toEqual(new Map())
        expect(await store.seenDigests('nobody', ['a.ts'])).toEqual(new Map())
      })

      test('seen.takesAnyTextForASubject', async () => {
        const subjects = ['', 'it\'s "quoted"', 'żółw 🐢', 'x'.repeat(20_000), 'a\nb']
        const seen = subjects.map((subject, i) => ({ subject, digest: `${i}` }))
        await committed(store, commitOf('s', 1, { seen }))
        expect([...(await store.seenDigests('s', subjects)).entries()].sort()).toEqual(
          subjects.map((subject, i) => [subject, `${i}`]).sort(),
        )
      })
    })

    describe('retention', () => {
      test('callTexts.growOldAndTheirCostStays', async () => {
        const calls = [callOf('old', { at: NOW - 31 * DAY_MS }), callOf('new')]
        await committed(store, commitOf('s', 1, { calls }))
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(1)
        expect(await store.calls({})).toMatchObject([
          { effectId: 'old', sent: null, received: null, cost: 0.25, usage: calls[0]?.usage },
          { effectId: 'new', sent: 'what happened', received: '<skip/>' },
        ])
        expect(await store.spentSince(0)).toMatchObject({ cost: 0.5 })
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(0)
      })

      test('seen.ofSessionsThatAreLongOverIsForgotten', async () => {
        const seen = [{ subject: 'a.ts', digest: '1' }]
        const over = stateOf({ status: 'completed' })
        await committed(store, commitOf('active', 1, { at: NOW - 31 * DAY_MS, seen }))
        await committed(store, commitOf('over', 1, { at: NOW - 29 * DAY_MS, seen, state: over }))
        await committed(store, commitOf('long over', 1, { at: NOW - 31 * DAY_MS, seen, state: over }))
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(1)
        expect((await store.seenDigests('active', ['a.ts'])).size).toBe(1)
        expect((await store.seenDigests('over', ['a.ts'])).size).toBe(1)
        expect((await store.seenDigests('long over', ['a.ts'])).size).toBe(0)
      })

      test('seen.isBoundedPerSession', async () => {
        const subjects = (from: number, to: number) =>
          Array.from({ length: to - from }, (_, i) => ({ subject: `${from + i}`, digest: 'x' }))
        await committed(store, commitOf('s', 1, { seen: subjects(0, 3_000) }))
        await committed(store, commitOf('s', 2, { seen: subjects(3_000, 5_002) }))
        await committed(store, commitOf('s', 3, { seen: subjects(0, 2_999) }))
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(2)
        const left = await store.seenDigests('s', ['0', '2999', '3000', '3001', '5001'])
        expect([...left.keys()].sort()).toEqual(['0', '3001', '5001'])
      })

      test('trace.isBoundedPerSessionAndSaysWhatIsGone', async () => {
        const trace = ['1', '2', '3', '4', '5'].map((reason) => traceOf(reason))
        await committed(store, commitOf('s', 1, { trace }))
        await committed(store, commitOf('t', 1, { trace: trace.slice(0, 2) }))
        expect(await store.applyRetention({ ...KEEP_ALL, tracePerSession: 2 }, NOW)).toBe(3)
        const view = await store.sessionView('s', 10)
        expect(view?.trace.map((entry) => entry.reason)).toEqual(['4', '5'])
        expect(view?.traceDropped).toBe(3)
        expect((await store.sessionView('t', 10))?.traceDropped).toBe(0)
        expect(await store.applyRetention({ ...KEEP_ALL, tracePerSession: 2 }, NOW)).toBe(0)
      })

      test('trace.growsOld', async () => {
        await committed(store, commitOf('s', 1, { trace: [traceOf('old', NOW - 31 * DAY_MS), traceOf('new')] }))
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(1)
        const view = await store.sessionView('s', 10)
        expect(view).toMatchObject({ traceDropped: 1, trace: [{ reason: 'new' }] })
      })

      test('observerTurns.ofSessionsThatAreOverGrowOld', async () => {
        const turns = [turnOf('user', 'old', { at: NOW - 31 * DAY_MS }), turnOf('user', 'new')]
        await committed(store, commitOf('active', 1, { turns }))
        await committed(store, commitOf('over', 1, { turns, state: stateOf({ status: 'completed' }) }))
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(1)
        expect(await store.observerTurns('active', 0)).toHaveLength(2)
        expect((await store.observerTurns('over', 0)).map((turn) => turn.content)).toEqual(['new'])
      })

      test('payloads.goByAgeThenBySize', async () => {
        await committed(
          store,
          accepting(
            's',
            1,
            ['1', '2', '3'].map((id) => toolUse('s', id, 'x'.repeat(1_000))),
          ),
        )
        for (const [index, at] of [NOW - 8 * DAY_MS, NOW - 2, NOW - 1].entries()) {
          const effectId = `e${index}`
          const inbox = [claim(effectId, 'observe', 1), settle(effectId, [], at)]
          await committed(store, commitOf('s', index + 2, { inbox }))
        }
        expect(await store.applyRetention(KEEP_ALL, NOW)).toBe(1)
        expect(await store.applyRetention({ ...KEEP_ALL, payloadBytes: 2_000 }, NOW)).toBe(1)
        expect(await store.applyRetention({ ...KEEP_ALL, payloadBytes: 2_000 }, NOW)).toBe(0)
        expect(await store.applyRetention({ ...KEEP_ALL, payloadDays: 0 }, NOW)).toBe(1)
      })

      test('retention.leavesWhatWaitsAndWhatWasLearned', async () => {
        const commit = accepting('s', 1, [toolUse('s', '1')])
        await committed(store, { ...commit, observations: [observationOf([])], summaries: [summaryOf()] })
        const nothing = {
          payloadDays: 0,
          payloadBytes: 0,
          passageDays: 3_650,
          passageBytes: 1e9,
          traceDays: 0,
          tracePerSession: 0,
          observerTurnDays: 0,
        }
        expect(await store.applyRetention(nothing, NOW + 365 * DAY_MS)).toBe(0)
        expect(await statuses()).toEqual(['1:pending'])
        expect(await store.sessionView('s', 1)).toMatchObject({ observations: 1, summaries: 1 })
      })
    })

    describe('erase', () => {
      test('erase.takesEverythingOfTheSessionAndLeavesWhatItCost', async () => {
        for (const session of ['s', 'other']) {
          await committed(store, {
            ...accepting(session, 1, [toolUse(session, '1')]),
            calls: [callOf('e1', { cost: 0.5 })],
          })
        }
        const erased = await store.eraseSession('s', NOW)
        expect(erased).toMatchObject({ seq: await store.lastSeq(), messages: 1, project: PROJECT.key })
        expect(await store.sessionErasedAt('s')).toBe(NOW)
        expect(await store.eraseSession('s', NOW)).toBeNull()
        expect(await store.session('s')).toBeNull()
        expect(await store.events('s', 10)).toEqual([])
        expect(await store.queue({ session: 's' })).toEqual([])
        expect(await store.session('other')).not.toBeNull()
        expect(await store.events('other', 10)).toHaveLength(1)
        expect((await store.spentSince(0)).cost).toBe(1)
        await committed(store, accepting('s', 1, [toolUse('s', '1')]))
        expect(await store.events('s', 10)).toHaveLength(1)
      })
    })

    describe('quarantine', () => {
      const state = stateOf({ effect: effectOf('e1'), wakeAt: NOW - 1, prompts: 3 })

      test('quarantine.keepsTheRowAndWakesItNoMore', async () => {
        await committed(store, { ...accepting('s', 1, [toolUse('s', '1')]), state })
        await store.quarantine('s', 'state "dreaming" does not exist', NOW + 9)
        expect(await store.session('s')).toMatchObject({
          ...state,
          status: 'failed',
          quarantine: 'state "dreaming" does not exist',
          revision: 1,
          heardAt: NOW + 9,
          seq: 2,
        })
        expect(await store.unfinishedEffects()).toEqual([])
        expect(await store.dueSessions(NOW, DAY_MS, 10)).toEqual([])
        expect(await store.nextWakeAt()).toBeNull()
        expect(await store.strandedSessions()).toEqual([])
        expect(await statuses()).toEqual(['1:pending'])
      })

      test('quarantine.acceptsEventsOnce', async () => {
        await committed(store, commitOf('s', 1, { state }))
        await store.quarantine('s', 'broken', NOW)
        expect(await store.acceptQuarantined('s', toolUse('s', '1'), NOW)).toBe('accepted')
        expect(await store.acceptQuarantined('s', toolUse('s', '1'), NOW)).toBe('duplicate')
        expect(await store.acceptQuarantined('s', promptOf('s', 'p'), NOW)).toBe('accepted')
        expect(await store.queue({ session: 's' })).toMatchObject([{ eventId: '1', status: 'pending', prompt: 3 }])
        expect(await outcomes()).toEqual({ '1': null, p: 'noted' })
      })

      test('quarantine.endsWithTheNextCommit', async () => {
        await committed(store, commitOf('s', 1, { state }))
        await store.quarantine('s', 'broken', NOW)
        await committed(store, commitOf('s', 2))
        expect(await store.session('s')).toMatchObject({ quarantine: null, status: 'active' })
      })

      test('quarantine.ofAnUnknownSessionIsRefused', async () => {
        await expect(store.quarantine('nobody', 'x', NOW)).rejects.toMatchObject({ code: 'not_found' })
        await expect(store.acceptQuarantined('nobody', toolUse('nobody', '1'), NOW)).rejects.toMatchObject({
          code: 'not_found',
        })
      })
    })

    memoryContract(() => store, committed)
    projectContract(() => store, committed)
    contextContract(() => store, committed)
    importContract(() => store)
    shownContract(() => store, committed)
    originContract(() => store, committed)
    payloadContract(() => store, committed)
    passageContract(() => store, committed)
    activityContract(() => store, committed)
    numberContract(() => store, committed)
    teamContract(() => store, committed)

    test('startNotes.areEmptyAfterAnOrdinaryStart', async () => {
      expect(await store.startupNotes()).toEqual([])
    })
  })
}
