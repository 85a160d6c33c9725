/** Passages are forgotten with the memories and messages of their turns, in the database, its index and its copies. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkIntegrity } from '../../../src/store/recovery/database-files.ts'
import { restoreBackup } from '../../../src/store/recovery/recover.ts'
import type { ForgetOptions } from '../../../src/store/search-port.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { backTo } from '../older.ts'
import { accepting, NOW, observationOf, passageOf, record, summaryOf, toolUse } from '../samples.ts'
import { ALL, SearchPlace } from './place.ts'

let at: SearchPlace
beforeEach(async () => {
  at = await SearchPlace.open()
})
afterEach(() => at.dispose())

const forget = (over: Partial<ForgetOptions>) =>
  at.core.forget({ ids: [], filters: null, dryRun: false, at: NOW + 1_000, ...over })

const texts = () => at.core.db.ids<number>`SELECT id FROM passages ORDER BY id`.length

function found(word: string): number {
  at.indexAll()
  return at.reader.passages({ text: word, how: 'any' }, ALL, { text: 1, around: 1 }, 1_000).length
}

/** How often the end of a word is in the files of the database; the index leaves out how a word begins. */
function occurrences(word: string, directory = dirname(at.here.file)): number {
  const files = readdirSync(directory).filter((name) => name.startsWith('db.sqlite') || name.endsWith('.sqlite'))
  return files.reduce(
    (sum, name) => sum + readFileSync(join(directory, name)).toString('latin1').split(word).length - 1,
    0,
  )
}

/** A short text with many different letters is stored as it is, not deflated, so that it can be looked for. */
const SECRET = 'quokkavlatigo'

function damageIndex(): void {
  at.core.db.unsafeMode(true)
  at.core.db.exec('UPDATE passage_fts_data SET block = zeroblob(4) WHERE id = 10')
  at.core.db.unsafeMode(false)
}

describe('forgetting', () => {
  test('passages.ofTheTurnGoWithAMemory_andLeaveNoWord', async () => {
    const [id = 0] = at.commit('s', {
      observations: [observationOf([])],
      passages: [
        passageOf(SECRET),
        passageOf('beside it', { position: 1 }),
        passageOf('another turn', { promptNumber: 2 }),
      ],
    })
    at.commit('s', {
      passages: Array.from({ length: 200 }, (_, n) => passageOf(`filler ${n}`, { promptNumber: 3, position: n })),
    })
    expect(found(SECRET)).toBe(2)
    expect(occurrences('vlatigo')).toBeGreaterThan(1)
    expect(await forget({ ids: [id], dryRun: true })).toMatchObject({ passages: 2 })
    expect(await forget({ ids: [id] })).toMatchObject({ observations: 1, passages: 2, cleared: true })
    expect(occurrences('vlatigo')).toBe(0)
    expect(found(SECRET)).toBe(0)
    expect(texts()).toBe(201)
    expect(found('filler')).toBe(200)
    expect(checkIntegrity(at.core.db).problems).toEqual([])
  })

  test('passages.ofTheSourcesGoWithAnObservation', async () => {
    const [id = 0] = at.commit('s', {
      events: [record(toolUse('s', 'e9'))],
      observations: [observationOf(['e9'], { promptNumber: 5 })],
      passages: [passageOf('the source', { eventId: 'e9', promptNumber: 2 }), passageOf('other', { promptNumber: 2 })],
    })
    expect(await forget({ ids: [id] })).toMatchObject({ passages: 1 })
    expect(texts()).toBe(1)
  })

  test('passages.ofTheSessionGoWithASummaryOfTheWhole', async () => {
    at.commit('s', {
      summaries: [summaryOf({ whole: true, promptNumber: 9 })],
      passages: [passageOf('one'), passageOf('two', { promptNumber: 2 })],
    })
    expect(await forget({ filters: { ...ALL, kinds: ['summary'] } })).toMatchObject({ summaries: 1, passages: 2 })
  })

  test('passages.ofForgottenMessagesGoWithThem', async () => {
    const { events, inbox } = accepting('s', 1, [toolUse('s', 'e1'), toolUse('s', 'e2')])
    at.commit('s', { events, inbox, passages: [passageOf(SECRET), passageOf('kept', { eventId: 'e2' })] })
    const [first = 0] = at.core.queue({}).map(({ id }) => id)
    expect(found(SECRET)).toBe(1)
    at.commit('s', { inbox: [{ at: NOW, changes: [{ type: 'forget', rows: [first] }], event: null, outcomes: [] }] })
    expect(texts()).toBe(1)
    at.indexAll()
    expect(at.core.purgeForgotten(100)).toBe(true)
    expect(occurrences('vlatigo')).toBe(0)
  })

  test('passages.thatPassTheFiltersGoWithoutAnyMemory', async () => {
    at.commit('s', { passages: [passageOf('one'), passageOf('two', { at: NOW + 50, eventId: 'e2' })] })
    at.commit('t', { passages: [passageOf('three')] })
    expect(await forget({ filters: { ...ALL, session: 's', since: NOW + 1 } })).toMatchObject({ passages: 1 })
    expect(await forget({ filters: { ...ALL, kinds: ['observation'], session: 's' } })).toMatchObject({ passages: 0 })
    expect(await forget({ filters: { ...ALL, session: 's' } })).toMatchObject({ passages: 1 })
    expect(texts()).toBe(1)
  })

  test('passages.goWithTheirSession', async () => {
    at.commit('s', { passages: Array.from({ length: 1_200 }, (_, n) => passageOf(`${SECRET} ${n}`, { position: n })) })
    at.commit('t', { passages: [passageOf('kept')] })
    at.indexAll()
    expect(await at.core.eraseSession('s', NOW + 1)).toMatchObject({ passages: 1_200 })
    expect(found(SECRET)).toBe(0)
    for (let n = 0; n < 100 && !at.core.purgeForgotten(100); n += 1);
    expect(occurrences('vlatigo')).toBe(0)
    expect(found('kept')).toBe(1)
  })

  test('passages.canBeForgottenWhileTheirIndexIsDamaged', async () => {
    at.commit('s', { passages: [passageOf(SECRET)] })
    at.indexAll()
    damageIndex()
    expect(await forget({ filters: { ...ALL, session: 's' } })).toMatchObject({ passages: 1 })
    expect(found(SECRET)).toBe(0)
  })

  test('passages.areStoredWhileTheirIndexIsDamaged_whichIsRebuilt', () => {
    at.commit('s', { passages: [passageOf(SECRET), passageOf('beside it', { position: 1 })] })
    at.indexAll()
    damageIndex()
    const again = { eventId: 'e2', at: NOW + 1 }
    at.commit('t', { passages: [passageOf(SECRET, again), passageOf('more', { ...again, position: 1 })] })
    expect(texts()).toBe(3)
    at.core.indexNext(10)
    expect(found(SECRET)).toBeGreaterThan(0)
    expect(found('more')).toBeGreaterThan(0)
    expect(checkIntegrity(at.core.db)).toEqual({ problems: [], indexDamaged: false })
  })
})

describe('what was forgotten stays so', () => {
  test('passages.areForgottenAgainInARestoredBackup', async () => {
    const [id = 0] = at.commit('s', { observations: [observationOf([])], passages: [passageOf(SECRET)] })
    at.commit('s', { passages: [passageOf('kept', { promptNumber: 2 })] })
    const { file } = await at.core.backup('daily', 7)
    await forget({ ids: [id] })
    await at.close()
    await restoreBackup({ database: at.here.file, backups: at.here.options.backupsDir }, file)
    await at.reopen()
    expect(texts()).toBe(1)
  })

  test('passages.areRemovedFromABackup', async () => {
    at.commit('s', { passages: [passageOf(SECRET), passageOf('kept', { promptNumber: 2 })] })
    at.indexAll()
    const { file } = await at.core.backup('daily', 7)
    expect(occurrences('vlatigo', dirname(file))).toBeGreaterThan(0)
    await forget({ filters: { ...ALL, session: 's', until: NOW } })
    expect(await at.core.cleanCopy(file)).toBe('rewritten')
    expect(occurrences('vlatigo', dirname(file))).toBe(0)
    expect(await at.core.cleanCopy(file)).toBe('unchanged')
  })

  test('passages.doNotExistInABackupOfAnOlderSchema_whichIsCleanedAsItIs', async () => {
    const [id = 0] = at.learn('s', { title: SECRET }, { title: 'numbat' })
    const { file } = await at.core.backup('daily', 7)
    const old = new Database(file)
    backTo(10, old)
    old.close()
    await forget({ ids: [id] })
    expect(await at.core.cleanCopy(file)).toBe('rewritten')
    expect(occurrences('vlatigo', dirname(file))).toBe(0)
  })
})

test('passages.ofForgottenTurnsAreNowhere, whatever was committed and forgotten', async () => {
  const word = (turn: number) => `quokka${'abcdefghij'[turn] ?? ''}vlatigo`
  const step = fc.record({
    turn: fc.integer({ min: 0, max: 5 }),
    session: fc.constantFrom('s', 't'),
    words: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }),
    how: fc.constantFrom('commit', 'commit', 'index', 'forget', 'erase'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
      const fresh = await SearchPlace.open()
      try {
        let clock = NOW
        for (const { turn, session, words, how } of steps) {
          clock += 10
          if (how === 'commit') {
            const place = { eventId: `e${clock}`, promptNumber: turn, at: clock }
            fresh.commit(session, {
              at: clock,
              prompts: [{ eventId: `p${clock}`, number: clock, text: 'x', private: false, at: clock }],
              passages: words.map((n, position) => passageOf(word(n), { ...place, position })),
              observations: [observationOf([], { promptNumber: turn, createdAt: clock })],
            })
          } else if (how === 'index') fresh.core.indexNext(5)
          else if (how === 'erase') await fresh.core.eraseSession(session, clock)
          else {
            const ids = fresh.core.observations({ session }).flatMap((o) => (o.promptNumber === turn ? [o.id] : []))
            await fresh.core.forget({ ids, filters: null, dryRun: false, at: clock })
            expect(fresh.core.passagesOfTurn(session, turn).length === 0 || ids.length === 0).toBe(true)
          }
          expectNoOtherWords(fresh)
        }
        fresh.indexAll()
        expectNoOtherWords(fresh)
        expect(checkIntegrity(fresh.core.db).problems).toEqual([])
      } finally {
        await fresh.dispose()
      }
    }),
    { numRuns: 25 },
  )
}, 120_000)

/** The index finds a word only in passages that have it, or that are beside one that has it. */
function expectNoOtherWords(place: SearchPlace): void {
  const rows = place.core.db.ids`SELECT id FROM passages`
  const passages = place.reader.loadPassages(rows)
  const siblings = place.reader.passageSiblings(rows)
  const textOf = new Map(passages.map(({ id, text }) => [id, text]))
  for (const n of 'abcdefghij') {
    const wanted = `quokka${n}vlatigo`
    for (const { id } of place.reader.passages({ text: wanted, how: 'any' }, ALL, { text: 1, around: 1 }, 1_000)) {
      const { before = null, after = null } = siblings.get(id) ?? {}
      const around = [id, before, after].flatMap((one) => (one === null ? [] : (textOf.get(one) ?? [])))
      expect(around).toContain(wanted)
    }
  }
}
