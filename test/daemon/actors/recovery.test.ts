/** Sessions after the recovery of a damaged database: their rows are of different times, or lost. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import { ObserverError } from '../../../src/observer/port.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { events, Harness } from './harness.ts'

const PAGE_BYTES = 4096
const SESSIONS = Array.from({ length: 40 }, (_, i) => `s${String(i).padStart(2, '0')}`)

let h: Harness
beforeEach(async () => {
  h = await new Harness().start()
})
afterEach(() => h.dispose())

async function accept(...list: MemoryEvent[]): Promise<void> {
  for (const event of list) await h.supervisor.accept(event)
}

/** Overwrites one leaf of a table in the middle of its rows. */
function overwriteLeaf(table: string): void {
  const file = join(h.directory, 'db.sqlite')
  const db = new Database(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const leaves = db.ids`SELECT pageno AS id FROM dbstat WHERE name = ${table} AND pagetype = 'leaf' ORDER BY path`
  db.close()
  expect(leaves.length).toBeGreaterThan(2)
  const page = leaves[Math.floor(leaves.length / 2)] ?? 0
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
  closeSync(descriptor)
}

async function damageAndRecover(table: string): Promise<string> {
  await h.store.close()
  overwriteLeaf(table)
  await h.start()
  return (await h.store.startupNotes()).join(' ')
}

const prompts = async (session: string) =>
  (await h.store.sessionHistory(session, { trace: 10, rows: 100 }))?.prompts.map((row) => row.number)

describe('recovery.sessions', () => {
  test.each(['a backup from before the last prompts', 'no backup'])(
    'further prompts are accepted and numbered on, with %s',
    async (what) => {
      for (const session of SESSIONS) await accept(events.prompt(session, 'p1'), events.tool(session, 't1'))
      if (what !== 'no backup') await h.store.backup('daily', 7)
      for (const session of SESSIONS) await accept(events.prompt(session, 'p2'), events.tool(session, 't2'))
      await h.settle()
      expect(await damageAndRecover('sdk_sessions')).toContain('sessions')
      for (const session of SESSIONS) {
        await accept(events.prompt(session, 'p3'), events.tool(session, 't3'), events.turnEnd(session, 'z'))
      }
      await h.settle()
      for (const session of SESSIONS) {
        expect(await prompts(session), session).toEqual([1, 2, 3])
        expect(await h.store.session(session), session).toMatchObject({
          prompts: 3,
          quarantine: null,
          project: { key: 'dir:/w/shop' },
        })
        const titles = (await h.store.observations({ session })).map((row) => row.title).sort()
        expect(titles, session).toEqual(['Edit t1.ts', 'Edit t2.ts', 'Edit t3.ts'])
      }
      expect(await h.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
    },
  )

  test('a session that counts lost messages does not wait for them', async () => {
    h.observer = { ...plainObserver, observe: () => Promise.reject(new ObserverError('provider', 'overloaded')) }
    for (const session of SESSIONS) {
      await accept(events.prompt(session, 'p1'), events.tool(session, 't1'), events.turnEnd(session, 'z'))
    }
    await h.settle()
    h.observer = plainObserver
    await damageAndRecover('pending_messages')
    h.clockOffset += 600_000
    await h.supervisor.tick()
    await h.settle()
    expect(await h.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
    for (const session of SESSIONS) {
      expect(await h.store.session(session), session).toMatchObject({ state: 'observing', effect: null, waiting: null })
    }
  })
})
