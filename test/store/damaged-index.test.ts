/** An index that disagrees with its table finds wrong rows, and nothing in its pages looks damaged. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Database } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'
import { accepting, commitOf, observationOf, toolUse } from './samples.ts'

let here: Place
beforeEach(async () => {
  here = place()
  const store = await openSqliteStore(here.options)
  store.commit([
    ...Array.from({ length: 30 }, (_, n) => accepting(`session-${n}`, 1, [toolUse(`session-${n}`, `t${n}`)])),
    commitOf('session-1', 2, { observations: [observationOf([], { title: 'kept' })] }),
  ])
  await store.close()
})
afterEach(() => here.dispose())

/** Changes one byte of a text in the pages of an index. */
function damageIndex(index: string, from: string, to: string): void {
  const db = new Database(here.file, { readonly: true })
  const pages = db.ids`SELECT pageno AS id FROM dbstat WHERE name = ${index}`
  db.close()
  const bytes = readFileSync(here.file)
  for (const page of pages) {
    const at = bytes.subarray((page - 1) * 4096, page * 4096).indexOf(from)
    if (at < 0) continue
    bytes.write(to, (page - 1) * 4096 + at)
    writeFileSync(here.file, bytes)
    return
  }
  throw new Error(`${from} is not in ${index}`)
}

function check(): string[] {
  const db = new Database(here.file, { readonly: true })
  const problems = db.all<{ integrity_check: string }>`PRAGMA integrity_check`
  db.close()
  return problems.map((row) => row.integrity_check)
}

const asideFiles = () => readdirSync(dirname(here.file)).filter((name) => name.includes('.corrupt-'))

test('index.thatDisagreesWithItsTableIsBuiltAgainAndNothingElseChanges', async () => {
  damageIndex('sqlite_autoindex_sdk_sessions_1', 'session-17', 'session-zz')
  expect(check().join(' ')).toContain('sqlite_autoindex_sdk_sessions_1')
  const store = await openSqliteStore(here.options)
  expect(store.session('session-17')?.revision).toBe(1)
  expect(store.observations({}).map(({ title }) => title)).toEqual(['kept'])
  const notes = store.startupNotes().join(' ')
  await store.close()
  expect(notes).toBe('An index of the database was damaged and has been built again; nothing is lost.')
  expect(check()).toEqual(['ok'])
  expect(asideFiles()).toEqual([])
})

test('index.thatLetTheSameValueInTwiceIsRecoveredWithTheTable', async () => {
  damageIndex('sqlite_autoindex_sdk_sessions_1', 'session-17', 'session-zz')
  const db = new Database(here.file)
  const columns = db.ids<string>`SELECT name AS id FROM pragma_table_info('sdk_sessions') WHERE name <> 'id'`.join(', ')
  db.exec(
    `INSERT INTO sdk_sessions (${columns}) SELECT ${columns} FROM sdk_sessions NOT INDEXED WHERE content_session_id = 'session-17'`,
  )
  db.close()
  const store = await openSqliteStore(here.options)
  expect(store.sessions({ limit: 100 })).toHaveLength(30)
  expect(store.session('session-17')?.revision).toBe(1)
  const notes = store.startupNotes().join(' ')
  await store.close()
  expect(notes).toContain('The database was damaged')
  expect(check()).toEqual(['ok'])
  expect(asideFiles()).toHaveLength(1)
})
