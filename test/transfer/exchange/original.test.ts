import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/store/port.ts'
import { OriginalDatabase } from '../../../src/store/sqlite/original-database.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { originalSource } from '../../../src/transfer/exchange/original.ts'
import { commitOf, PROJECT, stateOf } from '../../store/samples.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { type Importing, importInto, NOTHING } from './exchange.ts'
import { AT, originalDatabase } from './original-database.ts'

let directory: string
let file: string
let store: Store
beforeEach(async () => {
  directory = temporaryDirectory('original')
  file = join(directory, 'claude-mem.db')
  const own = temporaryDirectory('imported')
  store = await openLocalStore({ databaseFile: join(own, 'db.sqlite'), backupsDir: join(own, 'backups') })
})
afterEach(async () => {
  await store.close()
})

async function imported(options: Importing = {}) {
  const source = originalSource(OriginalDatabase.open(file, temporaryDirectory('original')))
  try {
    return await importInto(store, source, options)
  } finally {
    source.close()
  }
}

/** Everything that could show that a file was touched, but the lock that readers share. */
const state = () =>
  readdirSync(directory)
    .filter((name) => !name.endsWith('-shm'))
    .map((name) => {
      const { size, mtimeMs } = statSync(join(directory, name))
      return [name, size, mtimeMs, readFileSync(join(directory, name)).toString('base64')]
    })

describe('exchange.original', () => {
  test('is taken in once, with its prompts, times and provenance', async () => {
    originalDatabase(file).close()
    const report = await imported()
    expect(report.problems).toEqual([])
    expect(report.added).toEqual({ ...NOTHING, observation: 4, summary: 1, prompt: 2 })
    expect(await store.session('content-1')).toMatchObject({
      project: { key: 'import:shop', name: 'shop' },
      client: 'claude-code',
      status: 'completed',
      prompts: 2,
      createdAt: AT,
      heardAt: AT + 6_000,
    })
    const [second, first] = await store.observations({ session: 'content-1' })
    expect(first).toMatchObject({
      type: 'bugfix',
      title: 'Login fixed',
      subtitle: 'Expiry',
      narrative: 'The token had expired.',
      facts: ['one hour', 'UTC'],
      concepts: ['how-it-works'],
      filesRead: ['src/a.ts'],
      filesModified: ['src/b.ts'],
      agent: 'explorer',
      model: 'a-model',
      discoveryTokens: 1_234,
      promptNumber: 1,
      createdAt: AT + 1_000,
    })
    // A type of somebody's own becomes a change that can still be found by it.
    expect(second).toMatchObject({ type: 'change', concepts: ['security_alert'], facts: ['not json'], filesRead: [] })
    expect(await store.summaries({})).toMatchObject([{ request: 'Fix the login', filesEdited: ['src/b.ts'] }])
    expect((await store.turnMaterial('content-1', 2)).prompt?.text).toBe('and test it')
    // Of a worktree that was merged, and of a session that is gone.
    expect(await store.observations({ project: 'import:blog' })).toMatchObject([{ session: 'content-2' }])
    expect(await store.observations({ session: 'memory-lost' })).toMatchObject([{ title: 'No ORM' }])
    expect((await imported()).added).toEqual(NOTHING)
  })

  test('of its first version gives what it has', async () => {
    originalDatabase(file, 'first').close()
    const { added, problems } = await imported()
    expect(added).toEqual({ ...NOTHING, observation: 1, prompt: 1 })
    expect(problems).toMatchObject([{ at: 'observation 2', problem: expect.stringContaining('createdAt') }])
    expect(await store.observations({})).toMatchObject([
      { title: null, narrative: 'The token had expired.', createdAt: AT + 1_000, session: 'content-1' },
    ])
    expect((await store.turnMaterial('content-1', 1)).prompt?.text).toBe('fix the login')
  })

  test('goes to the one project here that has its name, or where it is told to', async () => {
    originalDatabase(file).close()
    await store.commit([commitOf('live', 1, { state: stateOf({ project: PROJECT }) })])
    const blog = { key: 'git:/home/me/blog', name: 'blog' }
    const { projects } = await imported({ map: { blog } })
    expect(projects.map(({ from, to }) => [from.name, to.key])).toEqual([
      ['shop', PROJECT.key],
      ['blog', blog.key],
    ])
    expect(await store.observations({ project: PROJECT.key })).toHaveLength(3)
    expect(await store.observations({ project: blog.key })).toHaveLength(1)
  })

  test('stays apart where two projects have its name', async () => {
    originalDatabase(file).close()
    const other = { ...PROJECT, key: 'git:/elsewhere/shop' }
    await store.commit([commitOf('a', 1), commitOf('b', 1, { state: stateOf({ project: other }) })])
    await imported()
    expect(await store.observations({ project: 'import:shop' })).toHaveLength(3)
  })

  test('brings what came later when it is imported again', async () => {
    const original = originalDatabase(file)
    await imported()
    original.exec(`UPDATE sdk_sessions SET prompt_counter = 3 WHERE id = 1;
      INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)
      VALUES ('content-1', 3, 'one more', '', ${AT + 20_000})`)
    expect(await imported()).toMatchObject({ added: { ...NOTHING, prompt: 1 }, refused: 0 })
    expect(await store.session('content-1')).toMatchObject({ prompts: 3 })
    original.close()
  })

  test('is not changed, neither closed nor open nor after a crash', async () => {
    const original = originalDatabase(file)
    const open = state()
    expect(open.map(([name]) => name)).toEqual(['claude-mem.db', 'claude-mem.db-wal'])
    expect((await imported()).added.observation).toBe(4)
    expect(state()).toEqual(open)
    const log = readFileSync(`${file}-wal`)
    const main = readFileSync(file)
    original.close()
    const closed = state()
    expect(closed.map(([name]) => name)).toEqual(['claude-mem.db'])
    expect((await imported()).known.observation).toBe(4)
    expect(state()).toEqual(closed)
    // The process was killed: everything is still in the log.
    writeFileSync(file, main)
    writeFileSync(`${file}-wal`, log)
    const crashed = state()
    expect((await imported()).known.observation).toBe(4)
    expect(state()).toEqual(crashed)
  })

  test('is told from other databases', async () => {
    const foreign = new BetterSqlite3(file)
    foreign.exec('CREATE TABLE observations (id INTEGER PRIMARY KEY, planet TEXT)')
    foreign.close()
    await expect(imported()).rejects.toThrow('not one of the original claude-mem')
    const ours = join(directory, 'ours', 'db.sqlite')
    await (await openLocalStore({ databaseFile: ours, backupsDir: join(directory, 'backups') })).close()
    file = ours
    await expect(imported()).rejects.toThrow('is a database of this claude-mem')
  })

  test('whose schema is damaged gives what can still be read', async () => {
    const original = originalDatabase(file)
    original.exec('ALTER TABLE observations RENAME COLUMN project TO prjeoct')
    original.exec('ALTER TABLE session_summaries RENAME COLUMN id TO i')
    original.close()
    const { added, problems } = await imported()
    expect(added).toMatchObject({ prompt: 2, observation: 4, summary: 0 })
    expect(problems).toMatchObject([{ at: 'session_summaries', problem: expect.stringContaining('damaged') }])
  })

  test('that is damaged gives what can still be read, or says that nothing can', async () => {
    const original = originalDatabase(file)
    const insert = original.prepare(`INSERT INTO observations (memory_session_id, project, type, narrative, created_at,
      created_at_epoch) VALUES ('memory-1', 'shop', 'change', ?, '', ?)`)
    for (let i = 0; i < 200; i += 1) insert.run(`memory ${i} ${'x'.repeat(400)}`, AT + 10_000 + i)
    original.close()
    const whole = readFileSync(file)
    // A page in the middle of the table.
    const page = Math.floor(whole.length / 4096 / 2)
    writeFileSync(
      file,
      Buffer.concat([whole.subarray(0, page * 4096), Buffer.alloc(4096, 1), whole.subarray((page + 1) * 4096)]),
    )
    const { added, problems } = await imported()
    expect(added.observation).toBeGreaterThan(150)
    expect(added.observation).toBeLessThan(204)
    expect(problems).toContainEqual({ at: 'observations', problem: expect.stringContaining('damaged') })
    truncateSync(file, 2_000)
    await expect(imported()).rejects.toThrow(/damaged database|is a database, but not/)
  })
})
