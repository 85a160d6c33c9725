/** Passages in databases of older versions and in damaged ones. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { SCHEMA_VERSION, schemaVersion } from '../../src/store/migrations/index.ts'
import { checkIntegrity } from '../../src/store/recovery/database-files.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { openSearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { backTo } from './older.ts'
import { type Place, place } from './place.ts'
import { commitOf, NOW, observationOf, passageOf } from './samples.ts'

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

async function reopen(change: () => void): Promise<void> {
  await store.close()
  change()
  store = await openSqliteStore(here.options)
}

function overwriteHeader(): void {
  const file = openSync(here.file, 'r+')
  writeSync(file, Buffer.alloc(100, 0xa5), 0, 100, 0)
  closeSync(file)
}

function keep(revision: number, ...texts: string[]): void {
  const passages = texts.map((text, position) =>
    passageOf(text, { position, promptNumber: revision, eventId: `e${revision}`, at: NOW + revision }),
  )
  const [result] = store.commit([commitOf('s', revision, { observations: [observationOf([])], passages })])
  expect(result).toMatchObject({ ok: true })
}

const textsOf = (turn: number) => store.passagesOfTurn('s', turn).map(({ text }) => text)

function found(word: string): number {
  for (let state = store.indexState(); state.done < state.total; state = store.indexNext(100));
  const reader = openSearchDatabase(here.file)
  try {
    return reader.passages({ text: word, how: 'every' }, NO_FILTERS, { text: 1, around: 0 }, 10).length
  } finally {
    reader.close()
  }
}

test('passages.areStoredAfterTheMigrationOfVersionTen', async () => {
  keep(1, 'lost with the table')
  await reopen(() => {
    const db = new Database(here.file)
    backTo(10, db)
    expect(schemaVersion(db)).toBe(10)
    db.close()
  })
  expect(schemaVersion(store.db)).toBe(SCHEMA_VERSION)
  expect(store.observations({})).toHaveLength(1)
  expect(textsOf(1)).toEqual([])
  keep(2, 'one', 'two')
  expect(textsOf(2)).toEqual(['one', 'two'])
  expect(found('two')).toBe(1)
  expect(checkIntegrity(store.db).problems).toEqual([])
})

test('passages.areSalvagedFromADamagedDatabase_andIndexedAgain', async () => {
  keep(1, 'before the backup', 'repeated later')
  found('x')
  await store.backup('daily', 7)
  keep(2, 'after the backup', 'repeated later')
  found('x')
  await reopen(overwriteHeader)
  expect(store.startupNotes().join(' ')).toContain('passages')
  expect(textsOf(1)).toEqual(['before the backup'])
  expect(textsOf(2)).toEqual(['after the backup', 'repeated later'])
  expect(found('before')).toBe(1)
  expect(found('after')).toBe(1)
  expect(found('repeated')).toBe(1)
})

test('passages.withADamagedTextAreNotSalvaged', async () => {
  const long = 'a long text that is deflated, because it says the same again, a long text that is deflated'
  keep(1, long, 'intact')
  await reopen(() => {
    const db = new Database(here.file)
    db.exec('UPDATE passages SET text = zeroblob(length(text)) WHERE position = 0')
    db.close()
    overwriteHeader()
  })
  expect(textsOf(1)).toEqual(['intact'])
})

test('passages.thatWereForgottenAreNotSalvagedFromTheBackup', async () => {
  keep(1, 'forgotten')
  keep(2, 'kept')
  await store.backup('daily', 7)
  const filters = { ...NO_FILTERS, kinds: [], session: 's', until: NOW + 1 }
  expect(await store.forget({ ids: [], filters, dryRun: false, at: NOW + 9 })).toMatchObject({ passages: 1 })
  await reopen(overwriteHeader)
  expect(textsOf(1)).toEqual([])
  expect(textsOf(2)).toEqual(['kept'])
})
