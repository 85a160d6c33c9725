/** What goes wrong between a machine and the database of its team: hooks, search and stopping go on as without one. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { selfSignedCertificate } from '../support/certificate.ts'
import { startPostgres, type TestDatabase, usePostgres, usesEmbeddedServer, withParts } from '../support/postgres.ts'
import { repository } from '../support/repository.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/waiting.ts'
import { Machine, SHOP_KEY } from './machines.ts'

const postgres = usePostgres()
const cleanUp: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

async function machine(env: NodeJS.ProcessEnv = {}, of: Machine | null = null): Promise<Machine> {
  const made = new Machine().prepare(of)
  cleanUp.push(() => made.dispose())
  await made.start(env)
  return made
}

async function proxyTo(database: TestDatabase): Promise<{ proxy: TcpProxy; url: string }> {
  const target = new URL(database.url)
  const proxy = await TcpProxy.start(target.hostname, Number(target.port))
  cleanUp.push(() => proxy.close())
  const url = new URL(database.url)
  url.port = String(proxy.port)
  return { proxy, url: url.href }
}

/** A whole turn of a session; every hook must get its ack, so that nothing is spooled. */
async function turn(on: Machine, words: string): Promise<void> {
  const edit = {
    tool_name: 'Edit',
    tool_input: { file_path: join(on.repository, 'a.ts') },
    tool_response: { ok: true },
  }
  for (const payload of [
    { hook_event_name: 'SessionStart', source: 'startup' },
    { hook_event_name: 'UserPromptSubmit', prompt: words },
    { hook_event_name: 'PostToolUse', tool_use_id: `use of ${words}`, ...edit },
    { hook_event_name: 'Stop', last_assistant_message: `done: ${words}` },
  ]) {
    expect(await on.hook(payload)).toMatchObject({ code: 0 })
  }
  expect((await on.sandbox.status()).spooled).toBe(0)
}

const observations = async (database: TestDatabase): Promise<string[]> => {
  const rows = await database.sql<{ title: string }>(
    "SELECT body ->> 'title' AS title FROM claude_mem.records WHERE kind = 'observation' ORDER BY seq",
  )
  return rows.map(({ title }) => title)
}

async function untilWaiting(on: Machine, message: RegExp): Promise<void> {
  await waitUntil(`the status says ${message}`, async () => {
    const { sync } = await on.status()
    return sync?.phase.is === 'waiting' && message.test(sync.phase.failure.message)
  })
}

describe('faults of a team', () => {
  test('nothing of a project that is not shared is on the wire', async () => {
    const database = await postgres.database()
    const { proxy, url } = await proxyTo(database)
    const laptop = await machine()
    await laptop.connect(url, { init: true })
    const secret = repository(join(laptop.sandbox.directory, 'secretplan'))
    await laptop.remember('The zanzibar acquisition closes in May.', secret)
    await laptop.remember('The open roadmap is in the wiki.')
    await laptop.hook({ hook_event_name: 'UserPromptSubmit', prompt: 'walrus prompt', cwd: secret, session_id: 's2' })
    await laptop.hook({ hook_event_name: 'Stop', last_assistant_message: 'pelican', cwd: secret, session_id: 's2' })
    await laptop.call('flush', { session: null, wait: true })
    await laptop.pushed()
    const wire = proxy.sent.toString('latin1')
    expect(wire).toContain('open roadmap')
    for (const word of ['zanzibar', 'walrus', 'pelican', 'secretplan', laptop.sandbox.directory]) {
      expect(wire).not.toContain(word)
    }
  })

  test('a dry run says exactly what leaves later', async () => {
    const database = await postgres.database()
    const { proxy, url } = await proxyTo(database)
    const laptop = await machine()
    await laptop.connect(url, { init: true, share: false })
    for (const text of ['First rule.', 'Second rule.', 'Third rule.']) await laptop.remember(text)
    const project = projectOfDirectory(laptop.repository).key
    const { report } = await laptop.call('team_share', { project, dryRun: true })
    expect(report.shared[0]?.counts).toMatchObject({ observation: 3, passage: 0 })
    const first = await laptop.call('team_preview', { project, limit: 2 })
    const second = await laptop.call('team_preview', { project, limit: 2, after: first.next ?? 0 })
    const previewed = [...first.records, ...second.records]
    expect((await laptop.status()).projects).toEqual([])
    expect(proxy.sent.toString('latin1')).not.toContain('First rule')
    await laptop.share()
    await laptop.pushed()
    const ids = (await database.sql<{ id: string }>('SELECT id::text AS id FROM claude_mem.records')).map(({ id }) =>
      id.replaceAll('-', ''),
    )
    expect(previewed.map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  test('a server that is down, silent or slow delays no hook; what waits is sent later', async () => {
    const database = await postgres.database()
    const { proxy, url } = await proxyTo(database)
    const laptop = await machine()
    await laptop.connect(url, { init: true })
    await laptop.pushed()
    proxy.silence(true)
    await turn(laptop, 'while the server is silent')
    await laptop.remember('Learned in silence.')
    expect(await laptop.found('silence')).toContain('Learned in silence')
    proxy.cutAll()
    proxy.silence(false)
    proxy.delay(200)
    await turn(laptop, 'while the server is slow')
    await laptop.pushed()
    expect(await observations(database)).toContain('Learned in silence')
  })

  test('a connection that is cut in the middle of batches loses and duplicates nothing', async () => {
    const database = await postgres.database()
    const { proxy, url } = await proxyTo(database)
    const laptop = await machine()
    await laptop.connect(url, { init: true, share: false })
    const titles = Array.from({ length: 60 }, (_, i) => `Number ${i} of the rules`)
    for (const title of titles) await laptop.remember(title)
    await laptop.share()
    for (const bytes of [3_000, 20_000, 9_000]) {
      proxy.cutAfter(bytes)
      await waitUntil('it is cut, or everything is sent', async () => {
        const { sync } = await laptop.status()
        return sync?.phase.is === 'waiting' || sync?.outbox.waiting === 0
      })
    }
    await laptop.pushed()
    expect((await observations(database)).sort()).toEqual([...titles].sort())
  })

  test('a wrong password is not saved, and one that was changed later is said in the status', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    const { role, url } = await database.role('ana', 'SUPERUSER')
    await expect(laptop.connect(withParts(url, { password: 'wrong' }))).rejects.toThrow(/password/i)
    expect((await laptop.status()).connection).toBeNull()
    await laptop.connect(url, { init: true })
    await laptop.pushed()
    await database.sql(`ALTER ROLE ${role} PASSWORD 'another'`)
    await database.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`)
    await laptop.remember('Waits for the password.')
    await untilWaiting(laptop, /password/i)
    const { team } = (await laptop.sandbox.status()) ?? {}
    expect(team).toMatchObject({ state: 'problem' })
    await laptop.connect(withParts(url, { password: 'another' }))
    await laptop.pushed()
    expect(await observations(database)).toEqual(['Waits for the password'])
  })

  test('the password is in no log, status or file but its own, which only the owner can read', async () => {
    const database = await postgres.database()
    const laptop = await machine({ CLAUDE_MEM_LOG_LEVEL: 'trace' })
    const { url } = await database.role('ana', 'SUPERUSER')
    await laptop.connect(url, { init: true })
    const wrong = withParts(url, { password: 'wr0ng-w0rd' })
    await expect(laptop.connect(wrong)).rejects.toThrow(/password/i)
    const status = JSON.stringify([await laptop.status(), await laptop.sandbox.status()])
    const log = laptop.sandbox.log()
    for (const text of [status, log]) {
      expect(text).not.toContain('secret of ana')
      expect(text).not.toContain('secret%20of%20ana')
      expect(text).not.toContain('wr0ng-w0rd')
    }
    expect(statSync(laptop.sandbox.paths.team).mode & 0o777).toBe(0o600)
    expect(readFileSync(laptop.sandbox.paths.team, 'utf8')).toContain('secret%20of%20ana')
  })

  test('a role that may only read receives, and its own memories are refused with the reason', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    const ana = await machine()
    await ana.connect(owner.url)
    await ana.remember('From ana.')
    await ana.pushed()
    const eve = await database.member('eve', owner.log, SHOP_KEY, { mayWrite: false })
    const other = await machine({}, ana)
    await other.connect(eve.url)
    await other.hears('ana', 'From ana')
    await other.remember('From eve.')
    await other.pushed()
    const { sync } = await other.status()
    expect(sync?.refusedPushed).toBeGreaterThan(0)
    expect(sync?.refused.at(-1)?.reason).toContain('may only read')
    expect(await observations(database)).toEqual(['From ana'])
    const { findings } = await other.call('team_doctor', {})
    expect(findings.find(({ what }) => what === SHOP_KEY)).toMatchObject({ state: 'advice' })
    await ana.call('team_grant', { role: eve.role, repository: SHOP_KEY })
    expect((await ana.call('team_members', {})).members.map(({ role }) => role)).toContain(eve.role)
    await other.share()
    await waitUntil('it is sent', async () => (await observations(database)).includes('From eve'))
  })

  test('a database without the tables, and one of the future, are not connected; nothing is lost', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await expect(laptop.connect(database.url)).rejects.toThrow(/claude-mem team init/)
    expect((await laptop.status()).connection).toBeNull()
    await laptop.connect(database.url, { init: true })
    await laptop.pushed()
    await database.sql('UPDATE claude_mem.log SET version = 999, oldest_program = 999')
    await laptop.remember('The newer schema is noticed with the next request.')
    await untilWaiting(laptop, /newer claude-mem/)
    await laptop.remember('Stays here.')
    expect(await laptop.found('Stays')).toContain('Stays here')
    expect((await laptop.status()).sync?.outbox.waiting).toBeGreaterThan(0)
    await expect(laptop.connect(database.url)).rejects.toThrow(/newer claude-mem/)
  })

  test('a stop with a silent server ends, and the next daemon sends what was left', async () => {
    const database = await postgres.database()
    const { proxy, url } = await proxyTo(database)
    const laptop = await machine()
    await laptop.connect(url, { init: true })
    await laptop.pushed()
    proxy.silence(true)
    await laptop.remember('Left over.')
    const { pid } = await laptop.sandbox.status()
    await laptop.call('stop', {})
    await waitUntil('the daemon has ended', async () => (await laptop.sandbox.status().catch(() => null))?.pid !== pid)
    expect(laptop.sandbox.log()).not.toContain('did not stop in time')
    proxy.silence(false)
    proxy.cutAll()
    await laptop.start()
    await laptop.pushed()
    expect(await observations(database)).toEqual(['Left over'])
  })

  test('a daemon that is stopped sends what it learned last', async () => {
    const database = await postgres.database()
    const laptop = await machine()
    await laptop.connect(database.url, { init: true })
    await laptop.pushed()
    await laptop.remember('The last word.')
    await laptop.call('stop', {})
    await waitUntil('it is in the database', async () => (await observations(database)).includes('The last word'))
  })

  test('a damaged connection file is a notice, and the daemon works', async () => {
    const laptop = new Machine().prepare()
    cleanUp.push(() => laptop.dispose())
    await laptop.start()
    await laptop.call('stop', {})
    await waitUntil('it has ended', async () => (await laptop.sandbox.status().catch(() => null)) === null)
    writeFileSync(laptop.sandbox.paths.team, '{"url": "postgres://ana:s3cret@')
    await laptop.start()
    await turn(laptop, 'with a damaged file')
    const status = await laptop.sandbox.status()
    expect(status.team).toMatchObject({ state: 'problem' })
    expect(JSON.stringify(status)).toContain('claude-mem team connect')
    expect(JSON.stringify(status)).not.toContain('s3cret')
    await expect(laptop.share()).rejects.toThrow(/cannot be used/)
  })

  test.runIf(usesEmbeddedServer)('a certificate that nobody vouches for is refused with what to do', async () => {
    const { certificate, key } = selfSignedCertificate('db.example.com')
    const server = await startPostgres({ tls: { certificate, key } })
    cleanUp.push(() => server.dispose())
    const laptop = await machine()
    const url = `${server.url()}?sslmode=verify-full`
    await expect(laptop.connect(url, { init: true })).rejects.toThrow(/certificate/i)
    expect((await laptop.status()).connection).toBeNull()
  })
})
