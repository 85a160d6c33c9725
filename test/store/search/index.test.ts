import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrate, SCHEMA_VERSION } from '../../../src/store/migrations/index.ts'
import { checkIntegrity } from '../../../src/store/recovery/database-files.ts'
import { commitGroup } from '../../../src/store/sqlite/commit.ts'
import { Database, isIndexDamage, selectMeta, setMeta } from '../../../src/store/sqlite/database.ts'
import { INDEX_VERSION } from '../../../src/store/sqlite/full-text-index.ts'
import { backTo } from '../older.ts'
import { type Place, place } from '../place.ts'
import { commitOf, NOW, promptOf, record, summaryOf } from '../samples.ts'
import { ALL, bareObservation, chunksOf, EVEN_WEIGHTS, SearchPlace } from './place.ts'

let here: Place
let at: SearchPlace
beforeEach(async () => {
  here = place()
  at = await SearchPlace.open(here)
})
afterEach(() => at.dispose())

const WORDS = ['amber', 'birch', 'cedar', 'getUserById', '认证失败', 'src/auth/jwt.ts', 'ember', 'fern']

/** Sessions that grew side by side, with all kinds of memories. */
function fill(sessions: number, rounds: number): void {
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < sessions; n += 1) {
      const word = (offset: number) => WORDS[(round * 3 + n * 5 + offset) % WORDS.length] ?? ''
      const drafts = [0, 1, 2].map((k) => ({
        title: `${word(k)} ${word(k + 2)}`,
        narrative: `${word(k + 3)} ${round}`,
      }))
      const prompts = [{ eventId: `p${round}`, number: round, text: word(1), private: false, at: NOW }]
      at.commit(`s${n}`, {
        observations: drafts.map((draft, k) => bareObservation(draft, NOW + round * 10 + k)),
        summaries: [summaryOf()],
        prompts,
        events: [record(promptOf(`s${n}`, `p${round}`))],
      })
    }
  }
  // Prompts are indexed later than their commit.
  at.indexAll()
}

/** Every answer there is; chunks by what is in them, since their numbers mean nothing. */
function answers(): unknown {
  const ids = at.core.observations({}).map(({ id }) => id)
  const places = chunksOf(at.reader, ids)
  const members = (chunk: number) => ids.filter((id) => places.get(id) === chunk)
  return WORDS.flatMap((word, n) => {
    const text = `${word} ${WORDS[(n + 1) % WORDS.length]}`
    return [
      at.reader.lexical({ text, how: 'any' }, ALL, EVEN_WEIGHTS, 1_000),
      at.reader.lexical({ text, how: 'every' }, ALL, EVEN_WEIGHTS, 1_000),
      at.reader.chunks(text, null, 100).map(({ chunk, score }) => ({ score, members: members(chunk) })),
    ]
  })
}

describe('the index', () => {
  test('index.isInStepWithEveryCommit, and prompts follow', () => {
    const left = () => at.core.indexState().total - at.core.indexState().done
    at.commit('s', { observations: [bareObservation({ title: 'amber' })], summaries: [summaryOf()] })
    expect(left()).toBe(0)
    const prompts = [{ eventId: 'p', number: 1, text: 'birch', private: false, at: NOW }]
    at.commit('s', { prompts, events: [record(promptOf('s', 'p'))] })
    expect(left()).toBe(1)
    at.indexAll()
    expect(at.find('birch')).toEqual([1])
  })

  test('index.failsWithItsCommitAndNothingOfItIsStored', () => {
    at.learn('s', { title: 'amber' })
    // A neighbour that cannot be read: the index fails with an error that is not damage of the index.
    at.core.db.exec(`UPDATE observations SET functions_changed = '[null]'`)
    const before = at.core.db.number`SELECT count(*) AS n FROM observations`
    const [failed, other] = at.core.commit([
      commitOf('s', 2, { observations: [bareObservation({ title: 'birch' }, NOW + 1)] }),
      commitOf('t', 1, { observations: [bareObservation({ title: 'cedar' }, NOW + 2)] }),
    ])
    expect(failed).toMatchObject({ ok: false, why: 'failed' })
    expect(other).toMatchObject({ ok: true })
    expect(at.core.db.number`SELECT count(*) AS n FROM observations`).toBe(before + 1)
    expect(at.core.session('s')?.revision).toBe(1)
  })

  test('index.madeAnewGivesTheSameAnswers', () => {
    fill(4, 15)
    const before = answers()
    const state = at.core.rebuildSearch()
    expect(state.done).toBeLessThan(state.total)
    expect(at.find('amber', 'any')).toEqual([])
    at.indexAll(37)
    expect(answers()).toEqual(before)
  })

  test('index.isMadeInPiecesNewestFirstAndGoesOnAfterARestart', async () => {
    const ids = at.learn('s', ...Array.from({ length: 10 }, () => ({ title: 'quokka' })))
    at.core.rebuildSearch()
    const { done } = at.core.indexNext(3)
    expect(at.find('quokka')).toEqual(ids.slice(-3).reverse())
    await at.reopen()
    expect(at.core.indexState().done).toBe(done)
    at.indexAll(1)
    expect(at.find('quokka')).toHaveLength(10)
  })

  test('index.whileItIsBeingMadeTakesInWhatIsNew', () => {
    fill(2, 6)
    at.core.rebuildSearch()
    at.core.indexNext(5)
    at.learn('s0', { title: 'numbat' })
    expect(at.find('numbat')).toHaveLength(1)
    at.indexAll(7)
    const before = answers()
    at.core.rebuildSearch()
    at.indexAll()
    expect(answers()).toEqual(before)
  })

  test('index.ofAnOlderProgramIsMadeAnew', () => {
    at.learn('s', { title: 'quokka' })
    setMeta(at.core.db, 'index_version', INDEX_VERSION + 1)
    at.core.indexNext(1)
    expect(selectMeta(at.core.db, 'index_version')).toBe(INDEX_VERSION)
    at.indexAll()
    expect(at.find('quokka')).toHaveLength(1)
  })

  test('index.aWriteTouchesTheSameNumberOfRowsHoweverLongTheSession', () => {
    const touched: string[] = []
    const db = new Database(':memory:', { verbose: (sql) => touched.push(String(sql)) })
    migrate(db)
    const add = (revision: number, count: number): number => {
      touched.length = 0
      const observations = Array.from({ length: count }, (_, n) => bareObservation({ title: `n${revision} ${n}` }))
      expect(commitGroup(db, [commitOf('s', revision, { observations })])).toMatchObject([{ ok: true }])
      return touched.filter((sql) => /(INTO|FROM) (memory|chunk)_fts\b/.test(sql)).length
    }
    const counts = Array.from({ length: 10 }, (_, n) => add(n + 1, 1))
    for (let n = 0; n < 10; n += 1) add(11 + n, 500)
    expect(db.prepare('SELECT count(*) AS n FROM observations').get()).toEqual({ n: 5_010 })
    expect(add(21, 1)).toBe(counts.at(-1))
    // Itself, the two before it, and its chunk: each taken out and put in.
    expect(counts.at(-1)).toBe(8)
    db.close()
  })
})

describe('a database from before there was search', () => {
  test('migration.keepsFiltersExactAtOnceAndIndexesInTheBackground', async () => {
    fill(2, 4)
    const before = answers()
    const filters = { ...ALL, files: ['A.TS'] }
    const passing = at.reader.listFiltered(filters, 100, 0)
    expect(passing.length).toBeGreaterThan(0)
    backTo(2, at.core.db)
    await at.reopen()
    expect(at.core.startupNotes().join(' ')).toContain(`from version 2 to ${SCHEMA_VERSION}`)
    expect(at.reader.listFiltered(filters, 100, 0)).toEqual(passing)
    expect(at.core.indexState().done).toBe(0)
    at.indexAll(11)
    expect(answers()).toEqual(before)
  })
})

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  return null
}

describe('a damaged index', () => {
  function damage(): void {
    at.core.db.unsafeMode(true)
    at.core.db.exec('UPDATE memory_fts_data SET block = zeroblob(length(block)) WHERE id > 1000')
    at.core.db.unsafeMode(false)
  }

  test('index.thatIsDamagedSaysSoAndIsMadeAnew', () => {
    fill(2, 3)
    damage()
    const [id] = at.learn('s0', { title: 'quokka' })
    expect(at.core.observations({})).toHaveLength(19)
    const failure = thrownBy(() => at.find('amber'))
    expect(failure).toMatchObject({ code: 'storage', message: expect.stringContaining('claude-mem reindex') })
    expect(isIndexDamage(failure)).toBe(true)
    expect(checkIntegrity(at.core.db)).toEqual({ problems: [], indexDamaged: true })
    at.core.rebuildSearch()
    at.indexAll()
    expect(at.find('quokka')).toEqual([id])
    expect(at.find('amber').length).toBeGreaterThan(0)
  })

  test('index.thatIsDamagedNeverKeepsAMemoryFromBeingStored', () => {
    fill(1, 1)
    at.core.db.unsafeMode(true)
    at.core.db.exec('UPDATE memory_fts_data SET block = zeroblob(4) WHERE id = 10')
    at.core.db.unsafeMode(false)
    const [id] = at.learn('s0', { title: 'quokka' })
    expect(selectMeta(at.core.db, 'index_version')).toBe(0)
    expect(at.core.observations({})).toHaveLength(4)
    at.core.indexNext(10)
    at.indexAll()
    expect(at.find('quokka')).toEqual([id])
  })

  test('index.thatIsDamagedIsNoReasonToRestoreABackup', async () => {
    fill(2, 3)
    const before = answers()
    await at.core.backup('daily', 7)
    damage()
    await at.reopen()
    expect(at.core.startupNotes().join(' ')).toMatch(/search index was damaged/)
    expect(at.core.startupNotes().join(' ')).not.toContain('restored')
    at.core.indexNext(10)
    at.indexAll()
    expect(answers()).toEqual(before)
  })

  test('index.thatIsDamagedIsNoReasonNotToForget', async () => {
    fill(2, 3)
    damage()
    const [{ id } = { id: 0 }] = at.core.observations({})
    expect(await at.core.forget({ ids: [id], filters: null, dryRun: false, at: NOW })).toMatchObject({
      observations: 1,
    })
    at.indexAll()
    expect(at.find('amber', 'any')).not.toContain(id)
  })
})

describe('a session that is erased', () => {
  test('erased.isFoundByNoPath', () => {
    fill(2, 3)
    at.core.db.prepare('DELETE FROM sdk_sessions WHERE content_session_id = ?').run('s0')
    at.indexAll()
    expect(at.reader.count({ ...ALL, session: 's0' })).toBe(0)
    const rows = at.reader.lexical({ text: WORDS.join(' '), how: 'any' }, ALL, EVEN_WEIGHTS, 1_000)
    expect(at.reader.loadMemories(rows.map(({ row }) => row)).every(({ session }) => session === 's1')).toBe(true)
    expect(at.core.db.prepare('SELECT count(*) AS n FROM session_chunks').get()).toEqual({ n: 1 })
    expect(at.core.db.prepare('SELECT count(*) AS n FROM chunk_fts').get()).toEqual({ n: 1 })
  })
})
