/** What a team shares in databases of older versions, in damaged and in restored ones; and where memories come from. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_FILTERS, ownAuthorFilter } from '../../src/domain/search-query.ts'
import type { TeamRecord } from '../../src/domain/team-record.ts'
import { restoreBackup } from '../../src/store/recovery/recover.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { openSearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { observationRecord, sessionOf } from './import-contract.ts'
import { backTo } from './older.ts'
import { type Place, place } from './place.ts'
import { commitOf, NOW, observationOf, passageOf, stateOf, summaryOf } from './samples.ts'
import { observationBody, receivedRecord, uidOf } from './team-contract.ts'

const KEY = 'repo:example.org/me/shop'
const SHOP = { project: KEY, since: 0, passages: true }

let here: Place
let store: SqliteStore
beforeEach(async () => {
  here = place()
  store = await openSqliteStore(here.options)
})
afterEach(async () => {
  await store.close()
  here.dispose()
})

async function reopen(change: () => void | Promise<void>): Promise<void> {
  await store.close()
  await change()
  store = await openSqliteStore(here.options)
}

function overwriteHeader(): void {
  const file = openSync(here.file, 'r+')
  writeSync(file, Buffer.alloc(100, 0xa5), 0, 100, 0)
  closeSync(file)
}

function learn(title: string, revision = 1): number {
  const state = stateOf({ project: { key: KEY, name: 'shop' }, prompts: revision })
  const place = { promptNumber: revision, createdAt: NOW + revision }
  const [result] = store.commit([
    commitOf('s', revision, {
      state,
      observations: [observationOf([], { title, ...place })],
      summaries: [summaryOf(place)],
      passages: [passageOf(`words of ${title}`, { promptNumber: revision, eventId: title, at: NOW + revision })],
    }),
  ])
  return result?.ok === true ? (result.observationIds[0] ?? 0) : 0
}

function sent(): TeamRecord[] {
  const { records, upTo } = store.outbox(1_000, 10_000_000)
  store.outboxDone(upTo)
  return records
}

const titlesOf = (records: readonly TeamRecord[]) =>
  records.flatMap(({ kind, body }) => (kind === 'observation' ? [body.title] : [])).sort()
const uids = () => store.observations({}).map(({ title, uid }) => [title, uid])
const targets = (records: readonly TeamRecord[]) =>
  records.flatMap(({ kind, body }) => (kind === 'tombstone' ? [body.target] : []))

test('migration.givesEveryMemoryAnId', async () => {
  learn('old')
  await reopen(() => {
    const db = new Database(here.file)
    backTo(12, db)
    db.close()
  })
  const rows = [...store.observations({}), ...store.summaries({}), ...store.passagesOfTurn('s', 1)]
  expect(rows.map(({ uid }) => uid)).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)))
  expect(new Set(rows.map(({ uid }) => uid)).size).toBe(3)
  expect(store.shareProject(SHOP, NOW, false)).toMatchObject({ observation: 1, summary: 1, passage: 1 })
})

test('recovery.keepsIdsThatWereSent_alsoWithABackupOfAnOlderVersion', async () => {
  learn('before')
  const backup = await store.backup('daily', 7)
  store.shareProject(SHOP, NOW, false)
  learn('after', 2)
  const before = uids()
  expect(sent()).toHaveLength(6)
  await reopen(() => {
    const db = new Database(backup.file)
    backTo(12, db)
    db.close()
    overwriteHeader()
  })
  expect(uids()).toEqual(before)
  // What was sent is not known any more: everything is sent again.
  expect(titlesOf(sent())).toEqual(['after', 'before'])
})

test('recovery.keepsWhatWasReceived_asksForTheRest_andSendsTombstonesAgain', async () => {
  store.shareProject(SHOP, NOW, false)
  const forgotten = learn('forgotten')
  const cursor = { repository: KEY, generation: 'g', transaction: '7', sequence: '8' }
  const pin = receivedRecord('pin', uidOf(2), { observation: uidOf(1), on: true, version: 1 })
  store.applyRecords([receivedRecord('observation', uidOf(1), observationBody('of anna')), pin], [cursor], NOW)
  await store.backup('daily', 7)
  const target = store.observation(forgotten)?.uid
  sent()
  await store.forget({ ids: [forgotten], filters: null, dryRun: false, at: NOW + 9 })
  await reopen(overwriteHeader)
  expect(uids()).toEqual([['of anna', uidOf(1)]])
  expect(store.observations({})[0]).toMatchObject({ author: 'anna', machine: 'laptop' })
  expect(store.logCursors()).toEqual([])
  const again = sent()
  expect(targets(again)).toContain(target)
  expect(titlesOf(again)).toEqual([])
  expect(again.filter(({ kind }) => kind === 'pin')).toEqual([])
})

test('recovery.doesNotShareAgainWhatIsNoLongerShared', async () => {
  store.shareProject(SHOP, NOW, false)
  await store.backup('daily', 7)
  store.unshareProject(KEY, NOW + 1, false)
  learn('not shared')
  await reopen(overwriteHeader)
  expect(store.sharedProjects()).toEqual([])
  expect(sent()).toEqual([])
})

test('restore.keepsWhatWasWithdrawnFromTheLog', async () => {
  store.shareProject(SHOP, NOW, false)
  learn('mine')
  sent()
  const backup = await store.backup('daily', 7)
  store.unshareProject(KEY, NOW + 1, true)
  const tombstones = sent().map((record) => ({ ...record, author: 'me', machine: 'desk' }))
  await reopen(async () => {
    await restoreBackup({ database: here.file, backups: here.options.backupsDir }, backup.file)
  })
  store.applyRecords(tombstones, [], NOW + 2)
  expect(store.observations({}).map(({ title }) => title)).toEqual(['mine'])
})

test('copies.areCleanedOfWhatATombstoneErased', async () => {
  store.shareProject(SHOP, NOW, false)
  store.applyRecords([receivedRecord('observation', uidOf(1), observationBody('of anna'))], [], NOW)
  const backup = await store.backup('daily', 7)
  store.applyRecords([receivedRecord('tombstone', uidOf(2), { target: uidOf(1) })], [], NOW)
  expect(await store.cleanCopy(backup.file)).toBe('rewritten')
  const copy = new Database(backup.file, { readonly: true })
  expect(copy.number`SELECT count(*) AS n FROM observations`).toBe(0)
  copy.close()
})

test('import.keepsTheIdAndTheAuthorOfAFile_unlessTheIdIsTaken', () => {
  const origin = { uid: uidOf(7), author: 'anna', machine: 'laptop' }
  const records = [
    observationRecord('s', { title: 'first', ...origin }),
    observationRecord('s', { title: 'second', uid: uidOf(7) }),
  ]
  store.importBatch({ sessions: [sessionOf('s')], records, dryRun: false }, NOW)
  const [second, first] = store.observations({})
  expect(first).toMatchObject({ title: 'first', ...origin })
  expect(second).toMatchObject({ title: 'second', author: null })
  expect(second?.uid).not.toBe(uidOf(7))
})

test('search.filtersByAuthor', () => {
  learn('mine')
  const bob = { author: 'bob', machine: 'desk' }
  const of = (id: number, title: string) => receivedRecord('observation', uidOf(id), observationBody(title))
  const passage = { ...passageOf('words of bob'), session: { id: 'b', client: 'codex', prompts: 1, startedAt: NOW } }
  store.applyRecords(
    [of(1, 'of anna'), { ...of(2, 'of bob'), ...bob }, receivedRecord('passage', uidOf(3), passage, bob)],
    [],
    NOW,
  )
  const reader = openSearchDatabase(here.file)
  const titles = (author: string) => {
    const filters = { ...NO_FILTERS, author }
    const found = reader.loadMemories(reader.listFiltered(filters, 10, 0)).filter(({ kind }) => kind === 'observation')
    return [found.map(({ title }) => title).sort(), reader.countPassages(filters)]
  }
  expect(titles('anna')).toEqual([['of anna'], 0])
  expect(titles('bob')).toEqual([['of bob'], 1])
  expect(titles(ownAuthorFilter(null))).toEqual([['mine'], 1])
  expect(titles(ownAuthorFilter('bob'))).toEqual([['mine', 'of bob'], 2])
  expect(titles('claude-haiku-4-5')).toEqual([['mine'], 0])
  const [hit] = reader.loadMemories(reader.listFiltered({ ...NO_FILTERS, author: 'bob' }, 10, 0))
  expect(hit).toMatchObject({ author: 'bob', machine: 'desk', uid: uidOf(2) })
  reader.close()
})
