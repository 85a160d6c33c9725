import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkIntegrity } from '../../../src/store/recovery/database-files.ts'
import { restoreBackup } from '../../../src/store/recovery/recover.ts'
import type { ForgetOptions } from '../../../src/store/search-port.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { purge, startPurge } from '../../../src/store/sqlite/full-text-index.ts'
import { accepting, callOf, claim, NOW, observationOf, settle, summaryOf, toolUse, turnOf } from '../samples.ts'
import { ALL, bareObservation, SearchPlace } from './place.ts'

let at: SearchPlace
beforeEach(async () => {
  at = await SearchPlace.open()
})
afterEach(() => at.dispose())

const forget = (over: Partial<ForgetOptions>) =>
  at.core.forget({ ids: [], filters: null, dryRun: false, at: NOW, ...over })

/** How often a word stands in the database's files. The full-text index leaves out how a word begins. */
function occurrences(word: string): number {
  const directory = dirname(at.here.file)
  const files = readdirSync(directory).filter((name) => name.startsWith('db.sqlite'))
  return files.reduce(
    (sum, name) => sum + readFileSync(join(directory, name)).toString('latin1').split(word).length - 1,
    0,
  )
}

describe('forgetting', () => {
  test('forget.leavesNoWordInTheFiles', async () => {
    const filler = (from: number) =>
      Array.from({ length: 30 }, (_, n) => ({ title: `filler ${from + n}`, narrative: 'so it goes' }))
    at.learn('s', ...filler(0))
    const event = toolUse('s', '1', 'the quokkavlatigo was seen')
    const { events, inbox } = accepting('s', 1, [event])
    at.commit('s', { events, inbox })
    at.commit('s', { inbox: [claim('e1')] })
    const secret = bareObservation({
      title: 'quokkavlatigo',
      narrative: 'where quokkavlatigo lives',
      facts: ['quokkavlatigo bites'],
      concepts: ['quokkavlatigo'],
      filesRead: ['src/quokkavlatigo.ts'],
    })
    const [id = 0] = at.commit('s', {
      observations: [{ ...secret, sources: ['1'] }],
      inbox: [settle('e1')],
      turns: [turnOf('user', 'quokkavlatigo'), turnOf('assistant', 'quokkavlatigo')],
      calls: [callOf('e1', { sent: 'quokkavlatigo', received: 'quokkavlatigo', error: 'quokkavlatigo' })],
    })
    // Its neighbours are indexed again and again: older versions of them hold the word, too.
    for (let n = 0; n < 5; n += 1) at.learn('s', ...filler(100 * n).slice(0, 3))
    expect(occurrences('vlatigo')).toBeGreaterThan(10)
    expect(at.find('quokkavlatigo', 'any').length).toBeGreaterThan(1)
    expect(await forget({ ids: [id] })).toMatchObject({ observations: 1, cleared: true, copies: [] })
    expect(occurrences('vlatigo')).toBe(0)
    expect(at.find('quokkavlatigo', 'any')).toEqual([])
    expect(at.reader.chunks('quokkavlatigo', null, 9)).toEqual([])
    expect(at.core.indexState()).toMatchObject({ done: at.core.indexState().total })
    expect(at.find('filler')).toHaveLength(45)
  })

  test('forget.aSummaryLeavesNoWordInTheFiles', async () => {
    at.commit('s', { summaries: [summaryOf({ learned: 'the quokkavlatigo' })] })
    expect(await forget({ filters: { ...ALL, kinds: ['summary'] } })).toMatchObject({ summaries: 1, cleared: true })
    expect(occurrences('vlatigo')).toBe(0)
  })

  test('forget.whileSomebodyReadsIsFinishedAfterwards', async () => {
    const [id = 0] = at.learn('s', { title: 'quokkavlatigo' }, { title: 'other' })
    const reader = new Database(at.here.file, { readonly: true })
    reader.run`BEGIN`
    expect(reader.number`SELECT count(*) AS n FROM observations`).toBe(2)
    expect(await forget({ ids: [id] })).toMatchObject({ observations: 1, cleared: false })
    const { done, total } = at.core.indexState()
    expect(done).toBe(total - 1)
    reader.run`COMMIT`
    reader.close()
    at.indexAll()
    expect(occurrences('vlatigo')).toBe(0)
  })

  test('forget.inALargeMemoryGoesOnStepByStepAndAfterARestart', async () => {
    const words = (n: number) => Array.from({ length: 40 }, (_, k) => `w${(n * 31 + k * 17) % 900}`).join(' ')
    for (let n = 0; n < 20; n += 1) {
      at.learn(`s${n}`, ...Array.from({ length: 20 }, (_, k) => ({ title: words(n * 20 + k), narrative: words(k) })))
    }
    startPurge(at.core.db)
    expect(purge(at.core.db, 1)).toBe(false)
    await at.reopen()
    let steps = 0
    while (!purge(at.core.db, 1)) steps += 1
    expect(steps).toBeGreaterThan(3)
    expect(checkIntegrity(at.core.db).problems).toEqual([])
    expect(at.find('w31', 'any').length).toBeGreaterThan(0)
  })

  test('forget.manyAtOnceMakesTheIndexAnew', async () => {
    for (let n = 0; n < 4; n += 1) {
      at.learn(`s${n}`, ...Array.from({ length: 300 }, () => ({ title: 'quokkavlatigo' })))
    }
    const kept = at.learn('t', { title: 'numbat' })
    expect(await forget({ filters: { ...ALL, session: 's0' } })).toMatchObject({ observations: 300 })
    expect(at.find('quokkavlatigo')).toHaveLength(900)
    at.learn('u', ...Array.from({ length: 200 }, () => ({ title: 'quokkavlatigo' })))
    const ids = at.core.observations({}).flatMap(({ id }) => (kept.includes(id) ? [] : [id]))
    expect(await forget({ ids })).toMatchObject({ observations: 1_100 })
    expect(occurrences('vlatigo')).toBe(0)
    at.indexAll()
    expect(at.find('numbat')).toEqual(kept)
    expect(at.core.observations({})).toHaveLength(1)
  })

  test('forget.namesTheBackupsThatMayStillHoldIt', async () => {
    const before = await at.core.backup('daily', 7)
    const [id = 0] = at.commit('s', { observations: [bareObservation({ title: 'x' }, before.at + 1)] })
    expect((await forget({ ids: [id], dryRun: true })).copies).toEqual([])
    const after = await at.core.backup('manual', 7)
    const { file, at: made, reason } = after
    expect((await forget({ ids: [id] })).copies).toEqual(made > before.at ? [{ file, at: made, reason }] : [])
  })

  test('forget.nothingIsNoChange', async () => {
    at.learn('s', { title: 'x' })
    const none = { observations: 0, summaries: 0, prompts: 0, ids: [], missing: [7, -1], copies: [], cleared: true }
    expect(await forget({ ids: [7, -1] })).toMatchObject(none)
    expect(await forget({ filters: { ...ALL, project: 'nowhere' } })).toMatchObject({ observations: 0, cleared: true })
  })
})

describe('what was forgotten stays so', () => {
  async function forgottenAfterABackup(): Promise<{ id: number; kept: number; backup: string }> {
    const [id = 0, kept = 0] = at.learn('s', { title: 'quokkavlatigo' }, { title: 'numbat' })
    at.commit('s', { summaries: [summaryOf({ notes: 'quokkavlatigo' })] })
    const { file } = await at.core.backup('daily', 7)
    await forget({ ids: [id], filters: { ...ALL, kinds: ['summary'] } })
    return { id, kept, backup: file }
  }

  function expectForgotten(id: number, kept: number): void {
    at.indexAll()
    expect(at.core.observation(id)).toBeNull()
    expect(at.core.observation(kept)).toMatchObject({ title: 'numbat' })
    expect(at.core.summaries({})).toEqual([])
    expect(at.find('quokkavlatigo', 'any')).toEqual([])
    expect(at.find('numbat')).toEqual([kept])
  }

  test('forgotten.doesNotComeBackWithARecovery', async () => {
    const { id, kept } = await forgottenAfterABackup()
    at.learn('s', { title: 'later' })
    await at.close()
    const descriptor = openSync(at.here.file, 'r+')
    writeSync(descriptor, Buffer.alloc(100, 0xa5), 0, 100, 0)
    closeSync(descriptor)
    await at.reopen()
    expect(at.core.startupNotes().join(' ')).toContain('was restored')
    expectForgotten(id, kept)
    expect(at.find('later')).toHaveLength(1)
  })

  test('forgotten.doesNotComeBackWithARestoredBackup', async () => {
    const { id, kept, backup } = await forgottenAfterABackup()
    await at.close()
    await restoreBackup({ database: at.here.file, backups: at.here.options.backupsDir }, backup)
    await at.reopen()
    expectForgotten(id, kept)
  })

  test('forgotten.canBeLearnedAgain', async () => {
    const { kept } = await forgottenAfterABackup()
    const [again = 0] = at.learn('s', { title: 'quokkavlatigo' })
    await at.core.backup('daily', 7)
    await at.close()
    const descriptor = openSync(at.here.file, 'r+')
    writeSync(descriptor, Buffer.alloc(100, 0xa5), 0, 100, 0)
    closeSync(descriptor)
    await at.reopen()
    at.indexAll()
    expect(at.find('quokkavlatigo')).toEqual([again])
    expect(at.find('numbat')).toEqual([kept])
  })
})

describe('an erased session', () => {
  /** Erased after the backup; a client continued it afterwards. */
  async function erasedAfterABackup(): Promise<string> {
    at.learn('s', { title: 'quokkavlatigo' })
    for (let n = 0; n < 5; n += 1) at.commit('s', {})
    at.learn('t', { title: 'numbat' })
    const { file } = await at.core.backup('daily', 7)
    await at.core.eraseSession('s', NOW + 10)
    at.commit('s', {
      at: NOW + 20,
      observations: [bareObservation({ title: 'continued' }, NOW + 20)],
    })
    return file
  }

  const titles = () => at.core.observations({}).map(({ title }) => title)

  test('erased.doesNotComeBackWithARecovery_whatFollowedDoes', async () => {
    await erasedAfterABackup()
    await at.close()
    const descriptor = openSync(at.here.file, 'r+')
    writeSync(descriptor, Buffer.alloc(100, 0xa5), 0, 100, 0)
    closeSync(descriptor)
    await at.reopen()
    expect(at.core.startupNotes().join(' ')).toContain('was restored')
    expect(titles().sort()).toEqual(['continued', 'numbat'])
    expect(at.core.session('s')).toMatchObject({ revision: 1 })
    expect(at.core.sessionErasedAt('s')).toBe(NOW + 10)
    at.indexAll()
    expect(at.find('quokkavlatigo', 'any')).toEqual([])
  })

  test('erased.doesNotComeBackWithARestoredBackup', async () => {
    const backup = await erasedAfterABackup()
    await at.close()
    await restoreBackup({ database: at.here.file, backups: at.here.options.backupsDir }, backup)
    await at.reopen()
    expect(titles()).toEqual(['numbat'])
    expect(at.core.sessionErasedAt('s')).toBe(NOW + 10)
  })

  test('forgotten.aTurnThatABackupHasInItsInboxIsNotObservedAgain', async () => {
    const event = toolUse('s', '1', 'the quokkavlatigo was seen')
    at.commit('s', accepting('s', 1, [event]))
    const { file } = await at.core.backup('daily', 7)
    at.commit('s', { inbox: [claim('e1')] })
    const [id = 0] = at.commit('s', { observations: [observationOf(['1'])], inbox: [settle('e1')] })
    await forget({ ids: [id] })
    await at.close()
    await restoreBackup({ database: at.here.file, backups: at.here.options.backupsDir }, file)
    await at.reopen()
    expect(at.core.queue({})).toEqual([])
    expect(at.core.events('s', 9)).toMatchObject([{ outcome: 'dropped', reason: 'forgotten' }])
  })
})

describe('what was forgotten, in copies', () => {
  const directory = () => dirname(at.here.file)

  /** Files of the data directory, at any depth, that contain the word. */
  function filesWith(word: string): string[] {
    return readdirSync(directory(), { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const file = join(entry.parentPath, entry.name)
      return entry.isFile() && readFileSync(file).toString('latin1').includes(word) ? [entry.name] : []
    })
  }

  async function cleanAll(): Promise<Record<string, string>> {
    const done: Record<string, string> = {}
    for (const file of at.core.copies()) done[basename(file)] = await at.core.cleanCopy(file)
    return done
  }

  test('copies.areRewrittenWithoutIt_andKeepTheRest', async () => {
    const event = toolUse('s', '1', 'the quokkavlatigo was seen')
    at.commit('s', accepting('s', 1, [event]))
    const inInbox = await at.core.backup('daily', 7)
    at.commit('s', { inbox: [claim('e1')] })
    const made = bareObservation({ title: 'quokkavlatigo', narrative: 'where quokkavlatigo lives' })
    const [id = 0] = at.commit('s', { observations: [{ ...made, sources: ['1'] }], inbox: [settle('e1')] })
    const kept = at.learn('t', { title: 'numbat' })
    const observed = await at.core.backup('manual', 7)
    at.learn('gone', { title: 'quokkavlatigo again' })
    const before = await at.core.backup('migration', 7)
    writeFileSync(`${at.here.file}.corrupt-20261130T101112345Z`, 'half of a page with quokkavlatigo')
    writeFileSync(`${at.here.file}.corrupt-20261130T101112345Z-wal`, 'quokkavlatigo')
    writeFileSync(`${at.here.file}-wal.corrupt-20261130T101112345Z`, 'quokkavlatigo')
    writeFileSync(
      join(at.here.options.backupsDir, 'db-000001-20261130T101112345Z-daily.sqlite.partial'),
      'quokkavlatigo',
    )
    await forget({ ids: [id] })
    await at.core.eraseSession('gone', NOW + 10)
    expect(filesWith('vlatigo').length).toBe(7)
    expect(await cleanAll()).toEqual({
      [basename(inInbox.file)]: 'rewritten',
      [basename(observed.file)]: 'rewritten',
      [basename(before.file)]: 'rewritten',
      'db.sqlite.corrupt-20261130T101112345Z': 'removed',
      'db.sqlite-wal.corrupt-20261130T101112345Z': 'removed',
    })
    expect(filesWith('vlatigo')).toEqual([])
    expect(Object.values(await cleanAll())).toEqual(['unchanged', 'unchanged', 'unchanged'])
    await at.close()
    await restoreBackup({ database: at.here.file, backups: at.here.options.backupsDir }, before.file)
    await at.reopen()
    at.indexAll()
    expect(at.find('numbat')).toEqual(kept)
    expect(
      at.core
        .sessions({})
        .map(({ session }) => session)
        .sort(),
    ).toEqual(['s', 't'])
  })

  test('copies.ofAnOlderSchemaAreRewrittenAsTheyAre', async () => {
    const [id = 0] = at.learn('s', { title: 'quokkavlatigo' }, { title: 'numbat' })
    const { file } = await at.core.backup('migration', 7)
    const copy = new Database(file)
    copy.exec(`DROP TABLE forgotten_sessions; DROP INDEX forgotten_turn; ALTER TABLE forgotten DROP COLUMN content_session_id;
      ALTER TABLE forgotten DROP COLUMN prompt_number; PRAGMA user_version = 6`)
    copy.close()
    await forget({ ids: [id] })
    expect(await cleanAll()).toEqual({ [basename(file)]: 'rewritten' })
    expect(filesWith('vlatigo')).toEqual([])
    const cleaned = new Database(file)
    expect(cleaned.pragma('user_version', { simple: true })).toBe(6)
    expect(cleaned.ids`SELECT title AS id FROM observations`).toEqual(['numbat'])
    cleaned.close()
  })
})
