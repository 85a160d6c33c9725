/** What makes an acknowledged commit survive a power failure. `fullfsync` matters on macOS and is ignored elsewhere. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'

let here: Place
beforeEach(() => {
  here = place()
})
afterEach(() => here.dispose())

test.each([
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['fullfsync', 1],
  ['checkpoint_fullfsync', 1],
])('open.durableModes: %s is %s on every system', async (name, value) => {
  const core = await openSqliteStore(here.options)
  try {
    expect(core.db.pragma(name, { simple: true })).toBe(value)
  } finally {
    await core.close()
  }
})
