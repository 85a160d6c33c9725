import { chmodSync, copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openReadOnlyMemory } from '../../src/api/read-only.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from '../store/place.ts'
import { accepting, toolUse } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { Program } from './program.ts'

const NOBODY = 65_534
const isWindows = process.platform === 'win32'

let source: Place
let core: SqliteStore
let directory: string
/** The temporary directory for copies of the database. */
let copies: string

beforeEach(async () => {
  source = place()
  core = await openSqliteStore(source.options)
  core.commit([accepting('s-1', 1, [toolUse('s-1', 'toolu_1')])])
  directory = temporaryDirectory('read-only')
  copies = temporaryDirectory('copies')
  chmodSync(copies, 0o777)
  vi.stubEnv('TMPDIR', copies)
})
afterEach(async () => {
  await core.close()
  source.dispose()
  chmodSync(directory, 0o700)
  for (const made of [directory, copies]) rmSync(made, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

/** The files after a power failure: the database and a write-ahead log without a checkpoint. */
function copyCrashedDatabase(): void {
  for (const part of ['', '-wal']) copyFileSync(source.file + part, join(directory, `db.sqlite${part}`))
}

function makeReadOnly(mode: number): void {
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), mode)
  chmodSync(directory, 0o555)
}

/** Root ignores file permissions, so tests that run as root switch to another user. */
async function asUnprivilegedUser<T>(run: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await run()
  // Loads the modules that are imported on demand.
  await (await openReadOnlyMemory(dataPaths(join(directory, 'nowhere')))).close()
  await (await openReadOnlyMemory({ ...dataPaths(directory), database: source.file })).close()
  process.seteuid?.(NOBODY)
  try {
    return await run()
  } finally {
    process.seteuid?.(0)
  }
}

it.skipIf(isWindows)(
  'offline memory.reads a database after a crash in a read-only directory and leaves no files behind',
  async () => {
    copyCrashedDatabase()
    makeReadOnly(0o444)
    await asUnprivilegedUser(async () => {
      const memory = await openReadOnlyMemory(dataPaths(directory))
      try {
        expect(await memory.call('sessions', {})).toMatchObject({ sessions: [{ session: 's-1' }] })
        expect(await memory.call('event_view', { event: 'toolu' })).toMatchObject({
          view: { event: { eventId: 'toolu_1' } },
        })
        expect(await memory.call('observations', { ids: [1] })).toEqual({
          observations: [],
          passages: [],
          missing: [1],
        })
      } finally {
        await memory.close()
      }
    })
    expect(readdirSync(copies)).toEqual([])
    expect(readdirSync(directory).sort()).toEqual(['db.sqlite', 'db.sqlite-wal'])
  },
)

it.skipIf(isWindows)('offline memory.names the fix if the database file is not readable', async () => {
  copyCrashedDatabase()
  makeReadOnly(0o000)
  await asUnprivilegedUser(() =>
    expect(openReadOnlyMemory(dataPaths(directory))).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('Check that its directory exists and belongs to you'),
    }),
  )
})

it.skipIf(isWindows)('a data directory that cannot be made is named, with the fix', async () => {
  const program = await Program.make()
  const missing = join(program.dataDir, 'settings.json', 'data')
  const env = { CLAUDE_MEM_DATA_DIR: missing }
  for (const args of [['start'], ['remember', 'a fact'], ['config', 'set', 'log-level', 'debug']]) {
    const { code, stderr } = await program.run(args, { env })
    expect([args, code]).toEqual([args, 1])
    expect(stderr).toContain(`${missing} cannot be made`)
    expect(stderr).toContain('set CLAUDE_MEM_DATA_DIR to another directory')
  }
  const { stdout } = await program.run(['doctor'], { env })
  expect(stdout).toContain(`${missing} cannot be made`)
})
