/** A real daemon whose database is damaged while it runs. */
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestartLimit, StoreHealth } from '../../src/daemon/store-health.ts'
import { MemError } from '../../src/lib/errors.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { waitUntil } from '../support/waiting.ts'
import { events } from './actors/harness.ts'

const PAGE_BYTES = 4096

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

/** Overwrites the rows of a table behind the back of the daemon. */
function overwriteRows(file: string, table: string): void {
  const db = new Database(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const pages = db.ids`SELECT pageno AS id FROM dbstat WHERE name = ${table} AND pagetype = 'leaf'`
  db.close()
  const descriptor = openSync(file, 'r+')
  for (const page of pages)
    writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
  closeSync(descriptor)
}

describe('runtime damage', () => {
  test('the daemon recovers its database by itself and serves again', async () => {
    const daemon = await place.start()
    const send = (id: string) =>
      place.ask((client) => client.call('event', { event: events.prompt('demo-session', id), version: '0' }))
    for (const id of ['p1', 'p2', 'p3']) await send(id)
    await place.ask((client) => client.call('backup'))
    overwriteRows(place.paths.database, 'user_prompts')
    const story = place.ask((client) => client.call('story', { session: 'demo-session', trace: 10, rows: 10 }))
    await expect(story).rejects.toMatchObject({ code: 'corrupt_database' })

    const notices = async () => (await place.status()).notices.map(({ text }) => text).join('\n')
    await waitUntil('the database is recovered', async () =>
      (await notices().catch(() => '')).includes('The backup of'),
    )
    expect((await place.status()).pid).toBe(daemon.pid)
    await send('p4')
    const again = await place.ask((client) => client.call('story', { session: 'demo-session', trace: 10, rows: 10 }))
    expect(again.story.prompts.map(({ number }) => number)).toEqual([1, 2, 3, 4])
    expect(readdirSync(place.dataDir).some((name) => name.includes('.corrupt-'))).toBe(true)
  })
})

describe('store health', () => {
  const damaged = new MemError('corrupt_database', 'malformed')
  const diskFailure = new MemError('storage', 'failed', {
    cause: Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_READ' }),
  })

  test('tells of damage at once and only once, and passes every error on', async () => {
    const reasons: string[] = []
    const store = new StoreHealth((reason) => reasons.push(reason)).watch({ read: () => Promise.reject(damaged) })
    await expect(store.read()).rejects.toBe(damaged)
    await expect(store.read()).rejects.toBe(damaged)
    expect(reasons).toEqual(['malformed'])
  })

  test('tells of a failing disk after several failures in a row', async () => {
    const reasons: string[] = []
    let fails = true
    const store = new StoreHealth((reason) => reasons.push(reason)).watch({
      read: () => (fails ? Promise.reject(diskFailure) : Promise.resolve(1)),
    })
    const read = async (times: number) => {
      for (let i = 0; i < times; i++) await store.read().catch(() => undefined)
    }
    await read(4)
    fails = false
    await read(1)
    fails = true
    await read(4)
    expect(reasons).toEqual([])
    await read(1)
    expect(reasons).toEqual(['failed'])
  })

  test('a daemon starts again three times an hour at most', () => {
    const limit = new RestartLimit()
    const minute = 60_000
    expect([0, 1, 2, 3, 59].map((at) => limit.allows(at * minute))).toEqual([true, true, true, false, false])
    expect(limit.allows(61 * minute)).toBe(true)
  })
})
