import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fileReader } from '../../src/cli/file-reader.ts'
import { pathsOf } from '../../src/paths.ts'
import { SqliteCore } from '../../src/store/sqlite/core.ts'
import { type Place, place } from '../store/place.ts'
import { accepting, toolUse } from '../store/samples.ts'

const NOBODY = 65_534
const isWindows = process.platform === 'win32'

let here: Place
let core: SqliteCore
let directory: string
/** Where copies are made. */
let copies: string

beforeEach(async () => {
  here = place()
  core = await SqliteCore.open(here.options)
  core.commit([accepting('s-1', 1, [toolUse('s-1', 'toolu_1')])])
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-read-only-'))
  copies = mkdtempSync(join(tmpdir(), 'claude-mem-copies-'))
  chmodSync(copies, 0o777)
  vi.stubEnv('TMPDIR', copies)
})
afterEach(async () => {
  await core.close()
  here.dispose()
  chmodSync(directory, 0o700)
  for (const made of [directory, copies]) rmSync(made, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

/** What a power cut leaves: the file and a log that nobody has taken in. */
function crashed(): void {
  for (const part of ['', '-wal']) copyFileSync(here.file + part, join(directory, `db.sqlite${part}`))
}

function lock(mode: number): void {
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), mode)
  chmodSync(directory, 0o555)
}

/** Root may write everywhere: its tests look as somebody who may not. */
async function asNobody<T>(look: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await look()
  // What is loaded on demand is loaded before.
  await (await fileReader(pathsOf(join(directory, 'nowhere')))).close()
  await (await fileReader({ ...pathsOf(directory), database: here.file })).close()
  process.seteuid?.(NOBODY)
  try {
    return await look()
  } finally {
    process.seteuid?.(0)
  }
}

it.skipIf(isWindows)(
  'reads a crashed database in a directory that cannot be written, and leaves nothing behind',
  async () => {
    crashed()
    lock(0o444)
    await asNobody(async () => {
      const reader = await fileReader(pathsOf(directory))
      try {
        expect(await reader.sessions({})).toMatchObject([{ session: 's-1' }])
        expect(await reader.eventView('toolu', null)).toMatchObject({ event: { eventId: 'toolu_1' } })
        expect(await reader.memory.observations([1])).toEqual({ observations: [], missing: [1] })
      } finally {
        await reader.close()
      }
    })
    expect(readdirSync(copies)).toEqual([])
    expect(readdirSync(directory).sort()).toEqual(['db.sqlite', 'db.sqlite-wal'])
  },
)

it.skipIf(isWindows)('says what to do where the file itself is not ours to read', async () => {
  crashed()
  lock(0o000)
  await asNobody(() =>
    expect(fileReader(pathsOf(directory))).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('Check that its directory exists and is yours'),
    }),
  )
})
