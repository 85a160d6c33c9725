import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { noteRecovery, recentRecoveryNotes, takeRecoveryNotes } from '../../src/store/recovery/recovery-notes.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'

const DAY_MS = 86_400_000

let here: Place
beforeEach(() => {
  here = place()
})
afterEach(() => here.dispose())

test('recovery.notesAreKeptWhateverTheClockSays', () => {
  const file = here.file
  mkdirSync(dirname(file), { recursive: true })
  const listed = (at: number) => recentRecoveryNotes(file, at).map(({ text }) => text)
  noteRecovery(file, 0, ['The first was damaged.'])
  noteRecovery(file, 400 * DAY_MS, ['The second was damaged.'])
  expect(listed(0)).toEqual(['The first was damaged.'])
  expect(listed(6 * DAY_MS)).toEqual(['The first was damaged.'])
  expect(listed(7 * DAY_MS)).toEqual([])
  expect(takeRecoveryNotes(file)).toEqual(['The first was damaged.', 'The second was damaged.'])
  expect(takeRecoveryNotes(file)).toEqual([])
  expect(listed(401 * DAY_MS)).toEqual(['The second was damaged.'])
})

test('recovery.notesThatAreDamagedThemselvesDoNotKeepTheDatabaseFromOpening', async () => {
  mkdirSync(dirname(here.file), { recursive: true })
  writeFileSync(here.file, 'not a database, and longer than the header of one')
  for (const damaged of ['{}', '[1, null]', '[{']) {
    writeFileSync(`${here.file}.recovery-notes.json`, damaged)
    expect(takeRecoveryNotes(here.file)).toEqual([])
  }
  const store = await openSqliteStore(here.options)
  await store.close()
  expect(takeRecoveryNotes(here.file)[0]).toContain('The database was damaged')
})
