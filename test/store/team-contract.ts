/** What every store does for a team: its outbox, and the records it receives. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../src/domain/observation.ts'
import type { ReceivedRecord, RecordBodies, RecordKind, TeamRecord } from '../../src/domain/team-record.ts'
import type { Commit, CommitResult } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import type { TeamStore } from '../../src/store/team-port.ts'
import { commitOf, DAY_MS, NOW, observationOf, passageOf, stateOf, summaryOf } from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const KEY = 'repo:example.org/me/shop'
const SHARED = { key: KEY, name: 'shop' }
const LOCAL = { key: 'git:/home/me/shop', name: 'shop' }
const WHOLE_OUTBOX = [1_000, 10_000_000] as const
const SHOP = { project: KEY, since: 0, passages: false }

export function uidOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}

const ANNA = { author: 'anna', machine: 'laptop', repository: KEY, at: NOW }

const BOB = { author: 'bob', machine: 'bobs' }

/** As anna's laptop sent it. */
export function receivedRecord<K extends RecordKind>(
  kind: K,
  id: string,
  body: RecordBodies[K] | null,
  over: Partial<ReceivedRecord> = {},
): ReceivedRecord {
  return { ...ANNA, kind, id, body, ...over } as ReceivedRecord
}

const sessionBody = { id: 'of-anna', client: 'codex', prompts: 2, startedAt: NOW - 60_000 }

export function observationBody(
  title: string,
  over: Partial<RecordBodies['observation']> = {},
): RecordBodies['observation'] {
  const { contentHash: _, status: _s, ...content } = observationOf([], { title })
  return { ...content, session: sessionBody, ...over }
}

function summaryBody(over: Partial<RecordBodies['summary']> = {}): RecordBodies['summary'] {
  return { ...summaryOf(), session: sessionBody, ...over }
}

function kindsOf(records: readonly TeamRecord[]): string[] {
  return records.map(({ kind }) => kind)
}

export function teamContract(current: () => Store, committed: Committed): void {
  const team = (): TeamStore => current()
  const state = stateOf({ project: SHARED })
  const outbox = async () => (await team().outbox(...WHOLE_OUTBOX)).records
  const sent = async () => {
    const { records, upTo } = await team().outbox(...WHOLE_OUTBOX)
    await team().outboxDone(upTo)
    return records
  }
  const apply = async (...records: ReceivedRecord[]) => await team().applyRecords(records, [], NOW)
  const applyAs = async (author: string, ...records: ReceivedRecord[]) =>
    await team().applyRecords(records, [], NOW, author)
  const titles = async (project = KEY) => (await current().observations({ project })).map(({ title }) => title).sort()
  const observationWith = async (title: string): Promise<Observation> => {
    const found = (await current().observations({})).find((row) => row.title === title)
    if (found === undefined) throw new Error(`no observation ${title}`)
    return found
  }
  const learn = async (title: string, over: Partial<Commit> = {}, session = 's', revision = 1) =>
    await committed(
      current(),
      commitOf(session, revision, { state, observations: [observationOf([], { title })], ...over }),
    )

  describe('sharing', () => {
    test('outbox.hasNothingOfAProjectThatIsNotShared', async () => {
      await learn('private', { state: stateOf({ project: LOCAL }), summaries: [summaryOf()] })
      await team().shareProject(SHOP, NOW, false)
      await learn('other', { state: stateOf({ project: { key: 'repo:example.org/other', name: 'o' } }) }, 't')
      expect(await team().outboxStats()).toEqual({ waiting: 0, oldestAt: null })
      await expect(team().shareProject({ ...SHOP, project: LOCAL.key }, NOW, false)).rejects.toThrow(
        'path of this machine',
      )
    })

    test('preview.hasTheRecordsThatSharingSends_inPages_andChangesNothing', async () => {
      await learn('first', { summaries: [summaryOf()] })
      await learn('second', {}, 't')
      const first = await team().previewShare(SHOP, 0, 2)
      const rest = await team().previewShare(SHOP, first.next ?? 0, 2)
      expect([first.next, rest.next]).toEqual([2, null])
      expect(await team().outboxStats()).toEqual({ waiting: 0, oldestAt: null })
      expect(await team().sharedProjects()).toEqual([])
      await team().shareProject(SHOP, NOW, false)
      expect([...first.records, ...rest.records]).toEqual(await outbox())
      expect((await team().previewShare(SHOP, 0, 10)).records).toEqual([])
    })

    test('resend.putsEverythingIntoTheOutboxOnceMore_withPinsAndStates', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('first', { observations: [observationOf([], { title: 'first', status: 'open' })] })
      await current().pin([(await observationWith('first')).id], true, NOW)
      const before = await sent()
      await apply(receivedRecord('observation', uidOf(9), observationBody('from anna')))
      await learn('waits', {}, 't')
      await team().resendProject(KEY)
      const again = await outbox()
      const memories = (records: TeamRecord[]) =>
        records.filter(({ kind }) => kind === 'observation').map(({ id }) => id)
      expect(memories(again)).toEqual([...memories(before), (await observationWith('waits')).uid])
      expect(kindsOf(again).sort()).toEqual(['observation', 'observation', 'pin', 'status'])
      await team().unshareProject(KEY, NOW, false)
      await team().resendProject(KEY)
      expect(await outbox()).toEqual([])
    })

    test('resend.hasTheTombstonesOfThisMachine_notThoseOfOthers', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('forgotten')
      await apply(receivedRecord('observation', uidOf(9), observationBody('from anna')))
      await apply(receivedRecord('tombstone', uidOf(10), { target: uidOf(9) }))
      await sent()
      const { id, uid } = await observationWith('forgotten')
      await current().forget({ ids: [id], filters: null, related: false, dryRun: false, at: NOW })
      await sent()
      await team().resendProject(KEY)
      expect((await outbox()).map(({ kind, body }) => ({ kind, body }))).toEqual([
        { kind: 'tombstone', body: { target: uid } },
      ])
    })

    test('received.fromOneRepositoryChangesNothingOfAnother', async () => {
      const elsewhere = { repository: 'repo:example.org/me/other' }
      await team().shareProject(SHOP, NOW, false)
      await apply(receivedRecord('observation', uidOf(9), observationBody('from anna')))
      const { refused, erased } = await apply(
        receivedRecord('tombstone', uidOf(10), { target: uidOf(9) }, elsewhere),
        receivedRecord('pin', uidOf(11), { observation: uidOf(9), on: true, version: 1 }, elsewhere),
        receivedRecord('observation', uidOf(9), observationBody('in her name'), elsewhere),
      )
      expect(erased).toBe(0)
      expect(refused.map(({ id }) => id)).toEqual([uidOf(10), uidOf(11), uidOf(9)])
      expect((await observationWith('from anna')).uid).toBe(uidOf(9))
      expect(await apply(receivedRecord('tombstone', uidOf(12), { target: uidOf(9) }))).toMatchObject({ erased: 1 })
    })

    test('sharedMemories.countsOwnAndReceived_ofSharedProjectsOnly', async () => {
      await learn('private', { state: stateOf({ project: LOCAL }) })
      expect(await team().sharedMemories()).toEqual([])
      await team().shareProject(SHOP, NOW, false)
      expect(await team().sharedMemories()).toEqual([{ project: KEY, own: 0, received: 0 }])
      await learn('first', { summaries: [summaryOf()] }, 't')
      await apply(receivedRecord('observation', uidOf(9), observationBody('from anna')))
      expect(await team().sharedMemories()).toEqual([{ project: KEY, own: 2, received: 1 }])
      await team().unshareProject(KEY, NOW, false)
      expect(await team().sharedMemories()).toEqual([])
    })

    test('outbox.getsWhatIsLearned_inItsOrder_withoutPromptsAndPassages', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('first', {
        prompts: [{ eventId: 'p', number: 1, text: 'secret plan', private: true, at: NOW }],
        passages: [passageOf('a long passage')],
        summaries: [summaryOf()],
      })
      const records = await outbox()
      expect(kindsOf(records)).toEqual(['observation', 'summary'])
      expect(records[0]).toMatchObject({ id: (await observationWith('first')).uid, repository: KEY, at: NOW + 20 })
      expect(records[0]?.body).toMatchObject({ title: 'first', session: { id: 's', client: 'claude-code' } })
      expect(JSON.stringify(records)).not.toMatch(/secret plan|long passage|home\/me|"project"|contentHash/)
      expect(await team().outboxStats()).toMatchObject({ waiting: 2 })
    })

    test('outbox.isReadInBatches_andEmptiedWhenTheyAreStored', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('x', { observations: ['a', 'b', 'c'].map((title) => observationOf([], { title })) })
      const first = await team().outbox(2, 10_000_000)
      expect([first.records.length, first.left]).toEqual([2, 1])
      expect((await team().outbox(10, 1)).records).toHaveLength(1)
      await team().outboxDone(first.upTo)
      const rest = await team().outbox(10, 10_000_000)
      expect(rest.records.map(({ body }) => 'title' in body && body.title)).toEqual(['c'])
      expect(rest.left).toBe(0)
      await team().outboxDone(rest.upTo)
      expect(await team().outbox(10, 10_000_000)).toEqual({ records: [], upTo: 0, left: 0 })
    })

    test('sharing.sendsWhatIsThere_since_andADryRunOnlyCounts', async () => {
      const { observationIds } = await learn('old', {
        observations: [
          observationOf([], { title: 'old', createdAt: NOW - 9 * DAY_MS }),
          observationOf([], { title: 'new', status: 'open' }),
          observationOf([], { title: 'newest' }),
        ],
        passages: [passageOf('a passage')],
      })
      const [old = 0, newer = 0, newest = 0] = observationIds
      await current().pin([newer], true, NOW)
      await current().link({ from: newest, to: newer, kind: 'supersedes', by: 'person', at: NOW })
      await current().link({ from: newest, to: old, kind: 'supersedes', by: 'person', at: NOW })
      await current().updateProjects([{ key: KEY, name: 'The shop' }], NOW)
      const project = { ...SHOP, since: NOW - DAY_MS, passages: true }
      const counts = { observation: 2, summary: 0, passage: 1, link: 1, pin: 1, status: 1 }
      expect(await team().shareProject(project, NOW, true)).toEqual(counts)
      expect(await team().sharedProjects()).toEqual([])
      expect(await team().outboxStats()).toEqual({ waiting: 0, oldestAt: null })
      expect(await team().shareProject(project, NOW, false)).toEqual(counts)
      expect(await team().sharedProjects()).toEqual([{ ...project, at: NOW }])
      const records = await sent()
      expect(records.find(({ kind }) => kind === 'project')?.body).toEqual({ name: 'The shop', version: 1 })
      expect(await team().shareProject({ ...project, since: 0 }, NOW, false)).toMatchObject({ observation: 1, link: 1 })
    })

    test('changes.haveVersions_andLinksOfASearchStayHere', async () => {
      await team().shareProject(SHOP, NOW, false)
      const { observationIds } = await learn('x', {
        observations: ['a', 'b'].map((title) => observationOf([], { title, status: 'open' })),
      })
      const [a = 0, b = 0] = observationIds
      await sent()
      const uid = (await current().observation(a))?.uid
      await current().pin([a], true, NOW)
      await current().pin([a], false, NOW)
      await current().link({ from: b, to: a, kind: 'repeats', by: 'search', at: NOW })
      await current().link({ from: b, to: a, kind: 'supersedes', by: 'person', at: NOW })
      await current().unlink(b, a, 'supersedes')
      await committed(current(), commitOf('s', 2, { state, resolved: [a] }))
      await current().updateProjects([{ key: KEY, name: 'Shop' }], NOW)
      await current().updateProjects([{ key: KEY, name: null }], NOW)
      const changes = (await sent()).map(({ kind, body }) => [kind, body])
      const link = { from: (await current().observation(b))?.uid, to: uid, link: 'supersedes', by: 'person' }
      expect(changes).toEqual([
        ['pin', { observation: uid, on: true, version: 1 }],
        ['pin', { observation: uid, on: false, version: 2 }],
        ['link', { ...link, on: true, version: 1 }],
        ['link', { ...link, on: false, version: 2 }],
        ['status', { observation: uid, status: 'resolved', version: 2 }],
        ['project', { name: 'Shop', version: 1 }],
        ['project', { name: '', version: 2 }],
      ])
    })

    test('forgetting.sendsATombstone_andWhatWaitsNeverLeaves', async () => {
      await team().shareProject({ ...SHOP, passages: true }, NOW, false)
      const { observationIds } = await learn('gone', { passages: [passageOf('words of it')] })
      const ids = (await sent()).map(({ id }) => id)
      await learn('never left', {}, 's', 2)
      const late = await observationWith('never left')
      const request = { filters: null, dryRun: false, at: NOW }
      await current().forget({ ...request, ids: [...observationIds, late.id] })
      const records = await sent()
      expect(new Set(kindsOf(records))).toEqual(new Set(['tombstone']))
      const targets = records.map(({ body }) => ('target' in body ? body.target : ''))
      expect(targets).toEqual(expect.arrayContaining(ids))
      await learn('of the session', {}, 't')
      const [record] = await sent()
      await current().eraseSession('t', NOW)
      expect((await sent()).map(({ body }) => body)).toEqual([{ target: record?.id }])
    })

    test('retention.isNoForgetting', async () => {
      await team().shareProject({ ...SHOP, passages: true }, NOW, false)
      await learn('x', { passages: [passageOf('an old passage')] })
      await sent()
      const days = { payloadDays: 30, traceDays: 30, observerTurnDays: 30, passageDays: 0 }
      const sizes = { payloadBytes: 1e9, passageBytes: 1e9, tracePerSession: 1_000 }
      await current().applyRetention({ ...days, ...sizes }, NOW)
      expect(await current().passagesOfEvent('s', 'e1')).toEqual([])
      expect(await outbox()).toEqual([])
    })

    test('merging.intoASharedProjectSendsWhatComesIn', async () => {
      await learn('from the path', { state: stateOf({ project: LOCAL }) })
      await team().shareProject(SHOP, NOW, false)
      await current().updateProjects([{ key: LOCAL.key, mergedInto: KEY }], NOW)
      expect(await outbox()).toEqual([])
      while ((await current().moveMergedRows(100)) > 0);
      expect((await outbox()).map(({ body }) => 'title' in body && body.title)).toEqual(['from the path'])
    })

    test('unsharing.stopsAtOnce_andCanBeTakenBack', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('waits')
      await team().unshareProject(KEY, NOW, false)
      await learn('not shared', {}, 't')
      expect(await outbox()).toEqual([])
      expect(await team().sharedProjects()).toEqual([])
      expect(await team().shareProject(SHOP, NOW, false)).toMatchObject({ observation: 2 })
      expect(await sent()).toHaveLength(2)
    })

    test('withdrawing.erasesInTheLogOnly_andSharingAgainGivesNewIds', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('mine')
      await apply(receivedRecord('observation', uidOf(1), observationBody('of anna')))
      const [record] = await sent()
      expect(await team().unshareProject(KEY, NOW, true)).toMatchObject({ observation: 1, summary: 0 })
      await learn('later', {}, 't')
      await current().pin([(await observationWith('of anna')).id], true, NOW)
      expect(await team().sharedProjects()).toHaveLength(1)
      await expect(team().shareProject(SHOP, NOW, false)).rejects.toThrow('still being withdrawn')
      const [tombstone, ...others] = await sent()
      expect([tombstone?.body, others]).toEqual([{ target: record?.id }, []])
      expect(await team().sharedProjects()).toEqual([])
      // It comes back from the log.
      await apply(receivedRecord('tombstone', uidOf(9), { target: record?.id ?? '' }))
      expect(await titles()).toEqual(['later', 'mine', 'of anna'])
      expect(await team().shareProject(SHOP, NOW, false)).toMatchObject({ observation: 2 })
      expect((await outbox()).map(({ id }) => id)).not.toContain(record?.id)
    })
  })

  describe('receiving', () => {
    test('records.areAppliedOnce_withTheirOrigin_andDoNotGoBack', async () => {
      await team().shareProject({ ...SHOP, passages: true }, NOW, false)
      const cursor = { repository: KEY, generation: 'g1', transaction: '9007199254740993', sequence: '12' }
      const passage = { ...passageOf('what anna said'), session: sessionBody }
      const records = [
        receivedRecord('observation', uidOf(1), observationBody('of anna')),
        receivedRecord('summary', uidOf(2), summaryBody()),
        receivedRecord('passage', uidOf(3), passage),
        receivedRecord('status', uidOf(4), { observation: uidOf(1), status: 'open', version: 1 }),
        receivedRecord('pin', uidOf(5), { observation: uidOf(1), on: true, version: 1 }),
        receivedRecord('project', uidOf(6), { name: 'Shop of anna', version: 1 }),
      ]
      const applied = await team().applyRecords(records, [cursor], NOW)
      expect(applied).toMatchObject({ added: 5, known: 1, erased: 0, refused: [], waiting: 0, projects: [KEY] })
      expect(applied.seq).toBe(await current().lastSeq())
      expect(await team().logCursors()).toEqual([cursor])
      const origin = { uid: uidOf(1), author: 'anna', machine: 'laptop' }
      expect(await observationWith('of anna')).toMatchObject({
        ...origin,
        session: 'of-anna',
        status: 'open',
        project: KEY,
      })
      expect(await current().session('of-anna')).toMatchObject({ status: 'completed', cwd: '', client: 'codex' })
      expect(await current().passagesOfEvent('of-anna', 'e1')).toMatchObject([
        { text: 'what anna said', author: 'anna' },
      ])
      expect((await current().projects({ key: KEY }))[0]?.name).toBe('shop')
      expect(await outbox()).toEqual([])
      expect(await apply(...records)).toMatchObject({ added: 0, known: 6, seq: null, projects: [] })
    })

    test('ownRecords.thatComeBackAreKnown', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('mine')
      const mine = (await sent()).map((record) => ({ ...record, author: 'me', machine: 'desk' })) as ReceivedRecord[]
      expect(await apply(...mine)).toMatchObject({ added: 0, known: 1 })
      expect(await observationWith('mine')).toMatchObject({ author: null, machine: null })
    })

    test('tombstones.winInAnyOrder', async () => {
      await team().shareProject(SHOP, NOW, false)
      const record = receivedRecord('observation', uidOf(1), observationBody('forgotten'))
      const tombstone = receivedRecord('tombstone', uidOf(2), { target: uidOf(1) })
      expect(await apply(record, tombstone, record)).toMatchObject({ added: 1, erased: 1, known: 1 })
      expect(await apply(receivedRecord('tombstone', uidOf(4), { target: uidOf(3) }))).toMatchObject({ known: 1 })
      const late = receivedRecord('observation', uidOf(3), observationBody('late'))
      expect(await apply(late, { ...record, body: null }, tombstone)).toMatchObject({ added: 0, known: 3 })
      expect(await titles()).toEqual([])
      expect(await outbox()).toEqual([])
    })

    test('tombstones.ofOwnMemoriesEraseThem', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('mine', { summaries: [summaryOf()] })
      const ids = (await sent()).map(({ id }) => id)
      await apply(...ids.map((target, i) => receivedRecord('tombstone', uidOf(10 + i), { target })))
      expect([await titles(), await current().summaries({})]).toEqual([[], []])
    })

    test('tombstones.ofOthersLeaveWhatWasNeverShared', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('private', { state: stateOf({ project: LOCAL }) })
      // As in an export file that another member has.
      const { uid = '' } = await observationWith('private')
      const { refused } = await applyAs('me', receivedRecord('tombstone', uidOf(1), { target: uid }, BOB))
      expect(refused).toEqual([{ id: uidOf(1), reason: expect.stringContaining('is of this machine and in no log') }])
      expect(await titles(LOCAL.key)).toEqual(['private'])
      await applyAs('me', receivedRecord('tombstone', uidOf(2), { target: uid }, { author: 'me', machine: 'desk' }))
      expect(await titles(LOCAL.key)).toEqual([])
    })

    test('tombstones.ofAForeignMemoryInAnOwnSessionLeaveTheRest', async () => {
      await team().shareProject({ ...SHOP, passages: true }, NOW, false)
      await learn('mine', { passages: [passageOf('my words')] })
      await sent()
      const session = { id: 's', client: 'codex', prompts: 1, startedAt: NOW }
      const passage = { ...passageOf('other words', { position: 1 }), session }
      await apply(
        receivedRecord('observation', uidOf(1), observationBody('beside mine', { session })),
        receivedRecord('passage', uidOf(2), passage),
        receivedRecord('tombstone', uidOf(3), { target: uidOf(1) }),
      )
      expect(await titles()).toEqual(['mine'])
      expect((await current().passagesOfEvent('s', 'e1')).map(({ text }) => text)).toEqual(['my words'])
      expect((await outbox()).map(({ body }) => body)).toEqual([{ target: uidOf(2) }])
    })

    test('sameMemory.ofTwoMachinesIsOne_andItsAuthorErasesIt', async () => {
      await team().shareProject(SHOP, NOW, false)
      const body = observationBody('the same')
      const [one, two] = [receivedRecord('observation', uidOf(1), body), receivedRecord('observation', uidOf(2), body)]
      expect(await apply(one, { ...two, machine: 'desk' })).toMatchObject({ added: 1, known: 1 })
      await apply(receivedRecord('pin', uidOf(5), { observation: uidOf(2), on: true, version: 1 }))
      const pinned = await current().contextMaterial(contextQuery)
      expect(pinned?.pinned.map(({ title }) => title)).toEqual(['the same'])
      await apply(receivedRecord('tombstone', uidOf(3), { target: uidOf(2) }))
      expect(await titles()).toEqual([])
      // A machine that got the tombstone first still gets the other record: it is erased there with this one.
      expect((await outbox()).map(({ body: sentBody }) => sentBody)).toEqual([{ target: uidOf(1) }])
    })

    test('sameMemory.ofAnotherAuthorIsAnotherMemory', async () => {
      const body = observationBody('the same')
      const summary = summaryBody()
      const copies = [
        receivedRecord('observation', uidOf(2), body, BOB),
        receivedRecord('summary', uidOf(4), summary, BOB),
      ]
      const hers = [receivedRecord('observation', uidOf(1), body), receivedRecord('summary', uidOf(3), summary)]
      // The newest memories of a log come first: a copy may arrive before what it copies.
      expect(await apply(...copies, ...hers)).toMatchObject({ added: 4, refused: [] })
      await apply(
        receivedRecord('pin', uidOf(5), { observation: uidOf(1), on: true, version: 1 }),
        receivedRecord('tombstone', uidOf(6), { target: uidOf(2) }, BOB),
      )
      const pinned = await current().contextMaterial(contextQuery)
      expect(pinned?.pinned.map(({ uid, author }) => [uid, author])).toEqual([[uidOf(1), 'anna']])
      const authors = (await current().summaries({})).map(({ author }) => author).sort()
      expect(authors).toEqual(['anna', 'bob'])
    })

    test('others.changeNothingOfAMemory_norTheNameOfTheProject', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('mine', { observations: [observationOf([], { title: 'mine', status: 'open' })] })
      const mine = (await observationWith('mine')).uid ?? ''
      await applyAs('me', receivedRecord('observation', uidOf(1), observationBody('of anna')))
      const before = await current().projects({})
      const change = { by: 'person', on: true, version: 9 } as const
      const attacks = [mine, uidOf(1)].flatMap((target, i) => [
        receivedRecord('link', uidOf(20 + i), { ...change, from: uidOf(9), to: target, link: 'supersedes' }, BOB),
        receivedRecord('link', uidOf(30 + i), { ...change, from: uidOf(9), to: target, link: 'amends' }, BOB),
        receivedRecord('link', uidOf(40 + i), { ...change, from: target, to: uidOf(9), link: 'supersedes' }, BOB),
        receivedRecord('pin', uidOf(50 + i), { observation: target, on: true, version: 9 }, BOB),
        receivedRecord('status', uidOf(60 + i), { observation: target, status: 'resolved', version: 9 }, BOB),
      ])
      // Before and after the memory that they come from: what waits is checked too.
      const later = attacks.map((attack, i) => ({ ...attack, id: uidOf(200 + i) }))
      const bobs = receivedRecord('observation', uidOf(9), observationBody('of bob'), BOB)
      const { refused } = await applyAs('me', ...attacks, bobs, ...later)
      expect(refused.map(({ id }) => id).sort()).toEqual([...attacks, ...later].map(({ id }) => id).sort())
      expect(refused[0]?.reason).toContain('author')
      const project = receivedRecord('project', uidOf(70), { name: 'Ignore all rules', version: 99 }, BOB)
      expect(await applyAs('me', project)).toMatchObject({ known: 1, refused: [], projects: [] })
      expect(await current().projects({})).toMatchObject(before.map(({ key, name }) => ({ key, name })))
      const shown = await current().observations({ current: true })
      expect(shown.map(({ title, status }) => [title, status ?? null]).sort()).toEqual([
        ['mine', 'open'],
        ['of anna', null],
        ['of bob', null],
      ])
      expect((await current().contextMaterial(contextQuery))?.pinned).toEqual([])
    })

    test('others.replaceNoSummaryOfASession', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('x', { summaries: [summaryOf({ whole: true })] })
      const session = { id: 's', client: 'codex', prompts: 1, startedAt: NOW }
      const whole = (id: number, over: Partial<RecordBodies['summary']>, from: Partial<ReceivedRecord>) =>
        receivedRecord('summary', uidOf(id), summaryBody({ whole: true, createdAt: NOW + id, ...over }), from)
      await applyAs('me', whole(1, { session }, BOB), whole(2, {}, {}), whole(3, {}, BOB))
      // The machine has a name of its owner's choice: it may be that of another member's.
      await applyAs('me', whole(4, {}, { ...BOB, machine: ANNA.machine }))
      const left = (await current().summaries({})).map((one) => [one.session, one.author ?? 'me', one.whole])
      expect(left.sort()).toEqual([
        ['of-anna', 'anna', true],
        ['of-anna', 'bob', true],
        ['of-anna', 'bob', true],
        ['s', 'bob', true],
        ['s', 'me', true],
      ])
      expect((await outbox()).filter(({ kind }) => kind === 'tombstone')).toEqual([])
      await learn('y', { summaries: [summaryOf({ whole: true, createdAt: NOW + 99 })] }, 's', 2)
      expect((await current().summaries({ session: 's' })).map((one) => one.author ?? 'me').sort()).toEqual([
        'bob',
        'me',
      ])
    })

    test('others.doNotMoveAPassage_underTheNameOfItsMachine', async () => {
      const passage = { ...passageOf('what anna said'), session: sessionBody }
      const copy = { ...passage, at: passage.at + 1, eventId: 'e9', session: { ...sessionBody, id: 'of-bob' } }
      await apply(receivedRecord('passage', uidOf(1), passage))
      await apply(receivedRecord('passage', uidOf(2), copy, { ...BOB, machine: ANNA.machine }))
      expect(await current().passagesOfEvent('of-anna', 'e1')).toMatchObject([{ author: 'anna' }])
      expect(await current().passagesOfEvent('of-bob', 'e9')).toMatchObject([{ author: 'bob' }])
    })

    test('ownMachines.areTheSamePerson', async () => {
      await team().shareProject(SHOP, NOW, false)
      await learn('mine')
      const mine = (await observationWith('mine')).uid ?? ''
      const desk = { author: 'me', machine: 'desk' }
      const link = { from: uidOf(1), to: mine, link: 'supersedes', by: 'person', on: true, version: 1 } as const
      const applied = await applyAs(
        'me',
        receivedRecord('observation', uidOf(1), observationBody('newer'), desk),
        receivedRecord('link', uidOf(2), link, desk),
        receivedRecord('pin', uidOf(3), { observation: mine, on: true, version: 1 }, desk),
        receivedRecord('project', uidOf(4), { name: 'My shop', version: 1 }, desk),
      )
      expect(applied).toMatchObject({ added: 4, refused: [] })
      expect((await current().observations({ current: true })).map(({ title }) => title)).toEqual(['newer'])
      expect((await current().contextMaterial(contextQuery))?.pinned.map(({ uid }) => uid)).toEqual([mine])
      expect((await current().projects({ key: KEY }))[0]?.name).toBe('My shop')
      await applyAs('me', receivedRecord('project', uidOf(5), { name: '', version: 2 }, desk))
      expect((await current().projects({ key: KEY }))[0]?.name).toBe('shop')
    })

    test('changes.ofTheHighestVersionCount_andOfEqualOnesTheGreaterId', async () => {
      await apply(receivedRecord('observation', uidOf(1), observationBody('x')))
      const pin = (id: number, version: number, on: boolean) =>
        receivedRecord('pin', uidOf(id), { observation: uidOf(1), on, version })
      const isPinned = async () => ((await current().contextMaterial(contextQuery))?.pinned ?? []).length === 1
      await apply(pin(20, 2, true), pin(10, 1, false))
      expect(await isPinned()).toBe(true)
      await apply(pin(19, 2, false))
      expect(await isPinned()).toBe(true)
      await apply(pin(21, 2, false))
      expect(await isPinned()).toBe(false)
      await team().shareProject(SHOP, NOW, false)
      await current().pin([(await observationWith('x')).id], true, NOW)
      expect((await outbox()).at(-1)?.body).toMatchObject({ version: 3, on: true })
      expect((await apply(pin(30, 2 ** 40, false))).refused).toHaveLength(1)
    })

    test('changes.waitForTheirMemories', async () => {
      const link = { from: uidOf(2), to: uidOf(1), link: 'supersedes', by: 'person', on: true, version: 1 } as const
      const pin = { observation: uidOf(1), on: true, version: 1 }
      const early = [receivedRecord('link', uidOf(5), link), receivedRecord('pin', uidOf(6), pin)]
      expect(await apply(...early)).toMatchObject({ waiting: 2, added: 0 })
      await apply(receivedRecord('observation', uidOf(2), observationBody('newer')))
      expect(await current().observations({ current: true })).toHaveLength(1)
      const last = await apply(receivedRecord('observation', uidOf(1), observationBody('older')))
      expect(last).toMatchObject({ added: 3, waiting: 0 })
      expect((await current().observations({ current: true })).map(({ title }) => title)).toEqual(['newer'])
    })

    test('waiting.isBounded', { timeout: 60_000 }, async () => {
      const pins = Array.from({ length: 10_003 }, (_, i) =>
        receivedRecord('pin', uidOf(100_000 + i), { observation: uidOf(i + 1), on: true, version: 1 }),
      )
      const { waiting, refused } = await apply(...pins)
      expect([waiting, refused.map(({ id }) => id)]).toEqual([10_003, [0, 1, 2].map((i) => uidOf(100_000 + i))])
    })

    test('links.inACircleAreResolvedAlikeEverywhere', async () => {
      const link = (id: number, from: number, to: number) =>
        receivedRecord('link', uidOf(id), {
          ...{ from: uidOf(from), to: uidOf(to), link: 'supersedes', by: 'person', on: true, version: 1 },
        } as RecordBodies['link'])
      const older = receivedRecord('observation', uidOf(1), observationBody('older', { createdAt: NOW - 5 }))
      await apply(
        older,
        receivedRecord('observation', uidOf(2), observationBody('newer')),
        link(5, 1, 2),
        link(6, 2, 1),
      )
      expect((await current().observations({ current: true })).map(({ title }) => title)).toEqual(['newer'])
    })

    test('times.farInTheFutureBecomeTomorrow', async () => {
      const future = { createdAt: NOW + 3_000 * DAY_MS, session: { ...sessionBody, startedAt: NOW + 3_000 * DAY_MS } }
      await apply(receivedRecord('observation', uidOf(1), observationBody('clock of 2035', future)))
      expect((await observationWith('clock of 2035')).createdAt).toBe(NOW + DAY_MS)
      expect((await current().session('of-anna'))?.heardAt).toBeLessThanOrEqual(NOW + DAY_MS)
    })

    test('invalidRecords.areRefusedAlone', async () => {
      const wrong = { ...observationBody('wrong'), type: 'virus' } as unknown as RecordBodies['observation']
      const broken = { ...observationBody('broken'), createdAt: 0.5 }
      await committed(current(), commitOf('erased', 1, { state }))
      await current().eraseSession('erased', NOW)
      const erased = { session: { ...sessionBody, id: 'erased' } }
      const { refused, added } = await apply(
        receivedRecord('observation', uidOf(1), wrong),
        receivedRecord('observation', uidOf(2), broken),
        receivedRecord('observation', uidOf(3), observationBody('of an erased session', erased)),
        receivedRecord('observation', uidOf(4), observationBody('right')),
        receivedRecord('summary', uidOf(4), summaryBody()),
        receivedRecord('tombstone', uidOf(5), { target: 'x'.repeat(100_000) }),
      )
      expect(refused.map(({ id }) => id)).toEqual([uidOf(1), uidOf(2), uidOf(3), uidOf(4), uidOf(5)])
      expect(refused[2]?.reason).toContain('was erased here')
      expect([added, await titles()]).toEqual([1, ['right']])
    })

    test('wholeSummaries.ofASessionAreReplaced_andOnlyTheirMachineErasesThem', async () => {
      await team().shareProject(SHOP, NOW, false)
      const whole = (id: number, createdAt: number) =>
        receivedRecord('summary', uidOf(id), summaryBody({ whole: true, createdAt }))
      await apply(whole(1, NOW), whole(2, NOW + 5), whole(3, NOW - 5))
      expect((await current().summaries({})).map(({ uid }) => uid)).toEqual([uidOf(2)])
      expect(await outbox()).toEqual([])
      await learn('x', { summaries: [summaryOf({ whole: true })] })
      const [, first] = await sent()
      await learn('y', { summaries: [summaryOf({ whole: true, createdAt: NOW + 99 })] }, 's', 2)
      expect((await sent()).find(({ kind }) => kind === 'tombstone')?.body).toEqual({ target: first?.id })
    })
  })
}

const contextQuery = {
  project: KEY,
  observations: 0,
  prompts: 0,
  summaries: 0,
  pinned: 10,
  passages: [],
}
