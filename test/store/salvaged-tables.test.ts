import { expect, test } from 'vitest'
import { migrate } from '../../src/store/migrations/index.ts'
import { NOT_SALVAGED, SALVAGED } from '../../src/store/recovery/salvage.ts'
import { Database } from '../../src/store/sqlite/database.ts'

test('salvage.decidesAboutEveryTable', () => {
  const db = new Database(':memory:')
  migrate(db)
  const tables = db.ids<string>`SELECT name AS id FROM sqlite_schema WHERE type = 'table'`
  db.close()
  // Full-text tables have only what is in others.
  const own = tables.filter((name) => !name.startsWith('sqlite_') && !/_fts(_[a-z]+)?$/.test(name))
  expect([...SALVAGED, ...Object.keys(NOT_SALVAGED)].sort()).toEqual(own.sort())
})
