import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MIGRATIONS, migrate, SCHEMA_VERSION, schemaVersion } from '../../src/store/migrations/index.ts'
import { listBackups } from '../../src/store/recovery/backup.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { type Bundle, bundle } from './bundle.ts'
import { committed } from './contract.ts'
import { type Place, place } from './place.ts'
import { commitOf } from './samples.ts'

/** A child that hangs is ended: a synchronous call has no other timeout. */
const HANG_MS = 60_000

let child: Bundle
let here: Place
beforeAll(() => {
  child = bundle('test/store/crash-child.ts', 'child.mjs')
})
afterAll(() => child.dispose())
beforeEach(() => {
  here = place()
})
afterEach(() => here.dispose())

function run(fault: string, step: string) {
  const { signal, stderr } = spawnSync(
    process.execPath,
    [child.file, here.options.databaseFile, here.options.backupsDir, step],
    { env: { ...process.env, CLAUDE_MEM_FAULT: fault }, encoding: 'utf8', timeout: HANG_MS },
  )
  return { signal, stderr }
}

function killedAt(fault: string, step: string): void {
  expect(run(fault, step)).toEqual({ signal: 'SIGKILL', stderr: '' })
}

test('sabotage.losesACommitThatItReportsAsDone', async () => {
  expect(run('commit.lose:1', 'commit')).toEqual({ signal: null, stderr: '' })
  const store = await openLocalStore(here.options)
  expect(await store.sessions({})).toEqual([])
  await store.close()
})

describe('a process killed', () => {
  test.each(['commit.begin:1', 'commit.member:1', 'commit.member:2', 'commit.before:1'])(
    'kill at %s leaves nothing of the group',
    async (fault) => {
      killedAt(fault, 'commit')
      const store = await openLocalStore(here.options)
      expect(await store.sessions({})).toEqual([])
      expect(await store.queue({})).toEqual([])
      expect(await store.lastSeq()).toBe(0)
      expect(await store.startupNotes()).toEqual([])
      await committed(store, commitOf('a', 1))
      await store.close()
    },
  )

  test('kill at commit.after:1 leaves the whole group', async () => {
    killedAt('commit.after:1', 'commit')
    const store = await openLocalStore(here.options)
    expect((await store.sessions({})).map(({ session }) => session).sort()).toEqual(['a', 'b'])
    expect(await store.queue({})).toHaveLength(1)
    expect(await store.lastSeq()).toBe(2)
    await store.close()
  })

  test('kill at backup.written:1 leaves no half backup and the next one clears up', async () => {
    killedAt('backup.written:1', 'backup')
    const store = await openLocalStore(here.options)
    expect(await store.backups()).toEqual([])
    await store.backup('daily', 7)
    expect(await store.backups()).toHaveLength(1)
    await store.close()
  })

  test('kill at migrate.step:1 leaves a database that the next start makes', async () => {
    killedAt('migrate.step:1', 'commit')
    expect(existsSync(here.file)).toBe(true)
    const store = await openLocalStore(here.options)
    await committed(store, commitOf('a', 1))
    expect(await store.startupNotes()).toEqual([])
    await store.close()
  })

  test('kill at migrate.step:3, five upgrades in a row, leaves a database and backups that the old version opens', async () => {
    const old = MIGRATIONS.slice(0, 1)
    mkdirSync(dirname(here.file), { recursive: true })
    const db = new Database(here.file)
    db.pragma('journal_mode = WAL')
    migrate(db, old)
    db.close()
    // More than are kept of these backups.
    for (let attempt = 0; attempt < 5; attempt += 1) killedAt('migrate.step:3', 'commit')
    const backups = listBackups(here.options.backupsDir)
    expect(backups.length).toBeGreaterThan(0)
    for (const file of [here.file, ...backups.map((backup) => backup.file)]) {
      const left = new Database(file)
      expect(schemaVersion(left), file).toBe(1)
      left.close()
    }
    const store = await openLocalStore(here.options)
    expect((await store.startupNotes()).join(' ')).toContain(`from version 1 to ${SCHEMA_VERSION}`)
    await store.close()
  })
})
