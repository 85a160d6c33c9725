/** A real daemon and real hooks on a disk without space. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { RESERVE_BYTES } from '../../src/lib/disk-space.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'
import { canMount, fillDisk, smallDisk } from '../support/small-disk.ts'
import { waitUntil } from '../support/waiting.ts'

const MEGABYTE = 1024 * 1024

let place: DaemonSandbox | null = null
afterEach(async () => {
  await place?.dispose()
  place = null
})

const payload = (name: string, more: object) => ({
  session_id: 'demo-session',
  cwd: '/nowhere/shop',
  hook_event_name: name,
  prompt_id: 'p1',
  ...more,
})
const prompt = (text: string) => payload('UserPromptSubmit', { prompt: text, prompt_id: text })
const tool = (id: string, bytes: number) =>
  payload('PostToolUse', {
    tool_name: 'Bash',
    tool_input: { command: `echo ${id}` },
    tool_response: { stdout: `${id} `.repeat(bytes / (id.length + 1)) },
    tool_use_id: id,
  })

async function storedTools(sandbox: DaemonSandbox): Promise<string[]> {
  const reader = await openStoreReader(sandbox.paths.database)
  try {
    const events = await reader.events('demo-session', 10_000)
    return events.filter(({ kind }) => kind === 'tool_use').map(({ eventId }) => eventId)
  } finally {
    await reader.close()
  }
}

const why = canMount ? '' : ' (skipped: only root can mount a small disk)'

describe.skipIf(!canMount)(`full-disk${why}`, () => {
  test('events are kept with the reserve, the user is told when one is not, and the reserve comes back', async () => {
    place = new DaemonSandbox(smallDisk(48))
    const { paths } = place
    const daemon = await place.start()
    await waitUntil('the reserve is written', () => existsSync(paths.reserve))
    expect(statSync(paths.reserve).size).toBe(RESERVE_BYTES)
    await place.hook(prompt('first'))

    let giveBack = fillDisk(place.dataDir)
    const ids = Array.from({ length: 20 }, (_, i) => `kept-${i}`)
    for (const id of ids) {
      expect(await place.hook(tool(id, 60_000))).toMatchObject({ code: 0, stderr: '' })
    }
    expect(existsSync(paths.reserve)).toBe(false)
    const spooled = existsSync(paths.spool) ? readdirSync(paths.spool) : []
    expect((await storedTools(place)).length + spooled.length).toBeGreaterThanOrEqual(ids.length)

    // A running daemon may still have space in its write-ahead log.
    daemon.kill('SIGKILL')
    await exited(daemon)
    giveBack()
    giveBack = fillDisk(place.dataDir)
    const lost = await place.hook(prompt('lost'))
    expect(JSON.parse(lost.stdout)).toMatchObject({
      continue: true,
      systemMessage: expect.stringMatching(/could not store this event.*ENOSPC/),
    })
    // Not with every tool use.
    expect(JSON.parse((await place.hook(tool('lost', 60_000))).stdout)).toEqual({
      continue: true,
      suppressOutput: true,
    })
    giveBack()
    // A hook may already have started one.
    place.spawn()
    await waitUntil('the reserve is written again', () => existsSync(paths.reserve))

    const spool = () => readdirSync(paths.spool).filter((name) => name.endsWith('.json')).length
    await waitUntil('the spool is empty', () => spool() === 0, 60_000)
    expect(await storedTools(place)).toEqual(expect.arrayContaining(ids))
  })

  test('a backup never takes the last bytes', async () => {
    place = new DaemonSandbox(smallDisk(48))
    await place.start()
    for (let i = 0; i < 4; i++) await place.hook(tool(`t${i}`, 60_000))
    // Less the reserve of 8 MB and the database there is room for a copy and 32 MB.
    expect((await place.ask((client) => client.call('backup'))).backups).toHaveLength(1)
    const giveBack = fillDisk(place.dataDir)
    await expect(place.ask((client) => client.call('backup'))).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringMatching(/not enough space.*needs \d+ MB, and \d MB are free/),
    })
    expect(readdirSync(place.paths.backups).filter((name) => name.includes('partial'))).toEqual([])
    giveBack()
  })

  test('a migration without space for its backup changes nothing and says so', async () => {
    place = new DaemonSandbox(smallDisk(36))
    const first = await place.start()
    await place.hook(prompt('first'))
    first.kill('SIGTERM')
    await exited(first)
    const { Database } = await import('../../src/store/sqlite/database.ts')
    const db = new Database(place.paths.database)
    const version = Number(db.pragma('user_version', { simple: true }))
    db.pragma(`user_version = ${version - 1}`)
    db.close()
    expect(await exited(place.spawn())).toBe(1)
    expect(place.log()).toContain('not enough space')
    expect(existsSync(join(place.dataDir, 'backups'))).toBe(false)
    expect(statSync(place.paths.database).size).toBeLessThan(4 * MEGABYTE)
  })
})
