/** Machines of a team as processes, with a real PostgreSQL between them. */
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { usePostgres } from '../support/postgres.ts'
import { repository } from '../support/repository.ts'
import { waitUntil } from '../support/waiting.ts'
import { Machine, SHOP_KEY } from './machines.ts'

const postgres = usePostgres()
const machines: Machine[] = []

afterEach(async () => {
  await Promise.all(machines.splice(0).map((machine) => machine.dispose()))
})

async function machine(of: Machine | null = null, env: NodeJS.ProcessEnv = {}): Promise<Machine> {
  const made = new Machine().prepare(of)
  machines.push(made)
  await made.start(env)
  return made
}

describe('machines of a team', () => {
  test('what one learned is found by the search of another, and its sessions start with it', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true })
    const desktop = await machine(laptop)
    await desktop.connect(database.url)
    await laptop.remember('Sessions expire after fifteen minutes because the gateway drops idle sockets.')
    await laptop.pushed()
    await desktop.hears('gateway', 'Sessions expire after fifteen minutes because the gateway drops idle sockets')
    expect(await desktop.context()).toContain('gateway drops idle sockets')
    const started = await desktop.hook({ hook_event_name: 'SessionStart', source: 'startup' })
    expect(started.stdout).toContain('gateway drops idle sockets')
  })

  test('what one forgets is erased at the other, and in the database', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true })
    const desktop = await machine(laptop)
    await desktop.connect(database.url)
    const id = await laptop.remember('The marmalade password rule is obsolete.')
    await laptop.pushed()
    await desktop.hears('marmalade', 'The marmalade password rule is obsolete')
    await laptop.call('forget', { ids: [id], confirm: true })
    await laptop.pushed()
    await waitUntil('the other machine has forgotten it', async () => (await desktop.found('marmalade')).length === 0)
    expect(await desktop.context()).not.toContain('marmalade')
    const rows = await database.sql<{ n: string }>(
      "SELECT count(*) AS n FROM claude_mem.records WHERE body::text LIKE '%marmalade%'",
    )
    expect(Number(rows[0]?.n)).toBe(0)
  })

  test('a machine with an empty disk has the memory in its first session', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true })
    for (let i = 0; i < 30; i++) await laptop.remember(`Rule ${i}: the build number ${i * 17} needs a clean cache.`)
    await laptop.pushed()
    const container = await machine(laptop)
    await container.connect(database.url)
    const started = await container.hook({ hook_event_name: 'SessionStart', source: 'startup' })
    expect(started.stdout).toContain('needs a clean cache')
  })

  test('the log counts what a machine has not received yet', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true })
    for (let i = 0; i < 5; i++) await laptop.remember(`Rule number ${i} of five.`)
    await laptop.pushed()
    const log = await database.open(database.url)
    const [start] = await log.start([SHOP_KEY])
    if (start === undefined) throw new Error('there is no start')
    const total = await log.behind([start])
    const { cursors } = await log.pull([start], 2)
    expect([total, await log.behind(cursors)]).toEqual([5, 3])
  })

  test('all projects: one that is opened later is shared too', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true, share: false })
    await laptop.call('team_share', { project: null })
    expect((await laptop.status()).projects).toEqual([])
    await laptop.hook({ hook_event_name: 'SessionStart', source: 'startup' })
    await laptop.remember('Opened later.')
    await waitUntil('it is shared', async () => (await laptop.status()).projects.length === 1)
    await laptop.pushed()
    expect((await laptop.status()).projects[0]?.project).toBe(SHOP_KEY)
    const rows = await database.sql<{ n: string }>(
      "SELECT count(*) AS n FROM claude_mem.records WHERE kind = 'observation'",
    )
    expect(Number(rows[0]?.n)).toBe(1)
  })

  test('a directory without a remote cannot be shared, and the message says what to do', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true, share: false })
    const plain = repository(join(laptop.sandbox.directory, 'plain'))
    await laptop.remember('A plain note.', plain)
    await expect(laptop.share(`git:${join(plain, '.git')}`)).rejects.toThrow(/claude-mem projects link/)
  })
})
