/** A real daemon with a database in which some reads take long. */
import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { commitOf, NOW, observationOf } from '../store/samples.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { events } from './actors/harness.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

test('reads: events are acknowledged while long reads run', async () => {
  mkdirSync(place.dataDir, { recursive: true })
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  for (let revision = 1; revision <= 3; revision++) {
    const observations = Array.from({ length: 500 }, (_, i) =>
      observationOf([], { title: `n${revision}-${i}`, createdAt: NOW - i * 86_400_000 }),
    )
    await store.commit([commitOf('s', revision, { observations })])
  }
  await store.close()
  await place.start()

  await place.ask(async (client) => {
    const order: string[] = []
    const reads = Array.from({ length: 12 }, () =>
      client.call('activity', { days: 3_650 }).then(() => order.push('read')),
    )
    const event = client
      .call('event', { event: events.prompt('t', 'p'), version: '0' })
      .then(() => order.push('acknowledged'))
    await Promise.all([...reads, event])
    expect(order).toHaveLength(13)
    expect(order.indexOf('acknowledged')).toBeLessThan(6)
  })
})
