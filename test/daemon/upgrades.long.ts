/** Every database version, with a session in flight. */
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations/index.ts'
import { listBackups } from '../../src/store/recovery/backup.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { backTo } from '../store/older.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { exited } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'
import { events } from './actors/harness.ts'

const SESSION = 'in-flight'
const KEPT_EVENTS = ['p-1', 't-1', 'e-1', 'p-2', 't-2', 't-3']

const sandboxes: DaemonSandbox[] = []
function sandbox(): DaemonSandbox {
  const made = new DaemonSandbox()
  sandboxes.push(made)
  return made
}
afterEach(async () => {
  for (const made of sandboxes.splice(0)) await made.dispose()
})

const tell = (at: DaemonSandbox, list: readonly MemoryEvent[]) =>
  at.ask(async (client) => {
    for (const event of list) await client.call('event', { event, version: 'test' })
  })

/** A database of this version: one turn is observed, in the next two tool uses wait. */
let database: string
beforeAll(async () => {
  const at = sandbox()
  const child = await at.start()
  await tell(at, [events.prompt(SESSION, 'p-1'), events.tool(SESSION, 't-1'), events.turnEnd(SESSION, 'e-1')])
  await waitUntil('the first turn is observed', async () => (await at.status()).queue.pending === 0)
  await tell(at, [events.prompt(SESSION, 'p-2'), events.tool(SESSION, 't-2'), events.tool(SESSION, 't-3')])
  child.kill('SIGKILL')
  await exited(child)
  database = join(temporaryDirectory('upgrade'), 'db.sqlite')
  const db = new Database(at.paths.database)
  // Later versions delete what an observed event left behind; the file alone is copied.
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  cpSync(at.paths.database, database)
})

/** The database as that version left it. */
function olderMemory(at: DaemonSandbox, schema: number): void {
  mkdirSync(at.dataDir, { recursive: true })
  cpSync(database, at.paths.database)
  const db = new Database(at.paths.database)
  backTo(schema, db)
  db.close()
}

describe('an upgrade', () => {
  it.each(MIGRATIONS)('from schema $version: nothing is lost, the session goes on', async ({ version }) => {
    const at = sandbox()
    olderMemory(at, version)
    await at.start()
    await tell(at, [events.tool(SESSION, 't-4'), events.turnEnd(SESSION, 'e-2')])
    await waitUntil('the turn is observed', async () => {
      const { queue } = await at.status()
      return queue.pending + queue.processing === 0
    })
    const db = new Database(at.paths.database, { readonly: true })
    const stored = db.all<{ id: string; outcome: string | null }>`
      SELECT event_id AS id, outcome FROM events WHERE content_session_id = ${SESSION} ORDER BY events.id`
    const titles = db.all<{ title: string }>`SELECT title FROM observations ORDER BY id`.map(({ title }) => title)
    expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    db.close()
    expect(stored.map(({ id }) => id)).toEqual([...KEPT_EVENTS, 't-4', 'e-2'])
    const waiting = stored.filter(({ id }) => /^t-[234]$/.test(id))
    expect(waiting.map(({ outcome }) => outcome)).toEqual(['observed', 'observed', 'observed'])
    expect(titles).toEqual(['Edit t-1.ts', 'Edit t-2.ts', 'Edit t-3.ts', 'Edit t-4.ts'])
    const backups = listBackups(at.paths.backups).filter(({ reason }) => reason === 'migration')
    expect(backups).toHaveLength(version < SCHEMA_VERSION ? 1 : 0)
  })
})

describe('an older program with a newer database', () => {
  it('refuses without harm, says what to do, and keeps events', async () => {
    const at = sandbox()
    olderMemory(at, SCHEMA_VERSION)
    const db = new Database(at.paths.database)
    db.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
    db.close()
    const digest = () => createHash('sha256').update(readFileSync(at.paths.database)).digest('hex')
    const before = digest()
    expect(await exited(at.spawn())).toBe(1)
    expect(digest()).toBe(before)
    expect(at.log()).toMatch(
      /written by a newer claude-mem .* node dist\/cli\.js install .* claude-mem update --from FILE/,
    )
    const { stdout } = await at.hook({ hook_event_name: 'Stop', session_id: SESSION, cwd: at.dataDir })
    expect(JSON.parse(stdout)).toMatchObject({ continue: true })
    expect(readdirSync(at.paths.spool).filter((name) => name.endsWith('.json'))).toHaveLength(1)
    expect(digest()).toBe(before)
    writeFileSync(at.paths.starting, '')
  })
})
