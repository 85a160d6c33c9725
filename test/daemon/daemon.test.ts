/** The whole program as processes: hook, daemon, database. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeSpool } from '../../src/hook/spool.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'
import { events } from './actors/harness.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

const ANSWER = '{"continue":true,"suppressOutput":true}\n'
const base = { session_id: 'demo', cwd: '/nowhere/shop', transcript_path: '/nowhere/t.jsonl' }
const prompt = { ...base, hook_event_name: 'UserPromptSubmit', prompt: 'add a cart', prompt_id: 'p1' }
const tool = (id: string, more: object = {}) => ({
  ...base,
  hook_event_name: 'PostToolUse',
  tool_name: 'Edit',
  tool_input: { file_path: '/nowhere/shop/cart.ts' },
  tool_response: { ok: true },
  tool_use_id: id,
  prompt_id: 'p1',
  ...more,
})
const stop = { ...base, hook_event_name: 'Stop', prompt_id: 'p1', last_assistant_message: 'done' }

const spool = () => readdirSync(place.paths.spool).filter((name) => name.endsWith('.json'))

describe('daemon.loop', () => {
  test('a turn reported by hooks is observed and summarised', async () => {
    await place.start()
    for (const payload of [prompt, tool('t1'), tool('t2'), stop]) {
      expect(await place.hook(payload)).toMatchObject({ code: 0, stdout: ANSWER, stderr: '' })
    }
    await expect
      .poll(async () => (await place.status()).queue.pending + (await place.status()).queue.processing)
      .toBe(0)
    const view = await place.ask((client) => client.call('session', { session: 'demo', trace: 50 }))
    expect(view.view).toMatchObject({ observations: 2, summaries: 1, row: { state: 'observing', status: 'active' } })
  })

  test('a hook starts the daemon, once for many hooks at once, and nothing is lost', async () => {
    const ids = Array.from({ length: 25 }, (_, i) => `t${i}`)
    const answers = await Promise.all(ids.map((id) => place.hook(tool(id))))
    expect(answers.every((answer) => answer.code === 0 && answer.stdout === ANSWER)).toBe(true)
    await expect
      .poll(
        () =>
          place.status().then(
            (s) => s.state,
            () => 'down',
          ),
        { timeout: 15_000 },
      )
      .toBe('serving')
    await place.drained()
    expect((await place.stored('demo')).sort()).toEqual([...ids].sort())
    expect(place.log().match(/"listening"/g)).toHaveLength(1)
  })

  test('data is private', async () => {
    await place.start()
    await place.hook(prompt)
    expect(statSync(place.dataDir).mode & 0o777).toBe(0o700)
    for (const file of [place.paths.database, place.paths.token, place.paths.socket, place.paths.lock]) {
      expect(statSync(file).mode & 0o077).toBe(0)
    }
  })

  test('the log has no payload content', async () => {
    await place.start()
    await place.hook({ ...prompt, prompt: 'sesame opens the cave' })
    await place.hook(tool('t1', { tool_response: { stdout: 'sesame' } }))
    expect(place.log()).not.toContain('sesame')
  })
})

describe('daemon.kill', () => {
  test('after kill -9 a stale socket and lock prevent nothing, and what was accepted goes on', async () => {
    const first = await place.start()
    await place.hook(prompt)
    await place.hook(tool('t1'))
    first.kill('SIGKILL')
    await exited(first)
    expect(statSync(place.paths.socket).isSocket()).toBe(true)
    writeFileSync(place.paths.port, JSON.stringify({ port: 1, pid: process.pid }))
    await place.start()
    await place.hook(stop)
    await expect.poll(async () => (await place.status()).observations).toBe(1)
  })

  test('SIGTERM drains and leaves no process, socket or claim behind', async () => {
    const daemon = await place.start()
    await place.hook(prompt)
    daemon.kill('SIGTERM')
    expect(await exited(daemon)).toBe(0)
    expect(() => statSync(place.paths.socket)).toThrow()
    expect(await place.stored('demo')).toHaveLength(1)
  })
})

describe('daemon.second', () => {
  test('on the same data directory is refused, and says why', async () => {
    await place.start()
    const second = place.spawn()
    expect(await exited(second)).toBe(3)
    expect(place.log()).toContain('already serves')
    expect((await place.status()).state).toBe('serving')
  })

  test('started at the same moment: one serves, the other leaves', async () => {
    const children = [place.spawn(), place.spawn(), place.spawn()]
    await expect.poll(() => children.filter((child) => child.exitCode === 3).length, { timeout: 20_000 }).toBe(2)
    expect((await place.status()).state).toBe('serving')
  })
})

describe('daemon.trouble', () => {
  test('a database from a newer version is left alone; hooks spool and lose nothing', async () => {
    mkdirSync(place.dataDir, { recursive: true })
    const db = new Database(place.paths.database)
    db.pragma('user_version = 999')
    db.close()
    const before = readFileSync(place.paths.database)
    expect(await exited(place.spawn())).toBe(1)
    expect(place.log()).toContain('newer')
    expect(await place.hook(prompt)).toMatchObject({ code: 0, stdout: ANSWER })
    expect(spool()).toHaveLength(1)
    expect(readFileSync(place.paths.database)).toEqual(before)
    // One attempt, not one for every tool use.
    const attempts = () => place.log().match(/could not start/g)?.length
    await expect.poll(attempts, { timeout: 10_000 }).toBe(2)
    await place.hook(tool('t1'))
    await place.hook(tool('t2'))
    expect(attempts()).toBe(2)
    expect(spool()).toHaveLength(3)
  })

  test('a corrupt database is set aside, status says so, and the daemon serves', async () => {
    const first = await place.start()
    await place.hook(prompt)
    await place.ask((client) => client.call('backup'))
    await place.hook(tool('t1'))
    first.kill('SIGTERM')
    await exited(first)
    const bytes = readFileSync(place.paths.database)
    bytes.fill(0x5a, 0, 100)
    writeFileSync(place.paths.database, bytes)
    await place.start()
    expect((await place.status()).notices.map((notice) => notice.text).join('\n')).toMatch(/damaged|corrupt/)
    expect(await place.stored('demo')).toEqual(expect.arrayContaining(['t1']))
    expect(readdirSync(place.dataDir).some((name) => name.includes('corrupt'))).toBe(true)
  })

  test('a port that is in use is replaced', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const busy = (other.address() as { port: number }).port
    await place.start({ CLAUDE_MEM_WORKER_PORT: String(busy) })
    const status = await place.status()
    expect(status.port).not.toBe(busy)
    expect(status.notices.map((notice) => notice.text).join()).toContain(`port ${busy} is in use`)
    other.close()
  })

  test('status says which settings come from the file and which from the environment', async () => {
    mkdirSync(place.dataDir, { recursive: true })
    writeFileSync(
      join(place.dataDir, 'settings.json'),
      '{"CLAUDE_MEM_BATCH_MAX_SIZE": 9, "CLAUDE_MEM_PROVIDER": "offline"}',
    )
    await place.start()
    expect((await place.status()).settings).toEqual([
      { name: 'CLAUDE_MEM_WORKER_PORT', source: 'environment' },
      { name: 'CLAUDE_MEM_PROVIDER', source: 'environment' },
      { name: 'CLAUDE_MEM_BATCH_MAX_SIZE', source: 'file' },
    ])
  })

  test('bad settings are reported and the defaults hold', async () => {
    mkdirSync(place.dataDir, { recursive: true })
    writeFileSync(join(place.dataDir, 'settings.json'), '{"CLAUDE_MEM_BATCH_MAX_SIZE": 0, "CLAUDE_MEM_BACH": 1}')
    await place.start()
    const text = (await place.status()).notices.map((notice) => notice.text).join('\n')
    expect(text).toContain('CLAUDE_MEM_BATCH_MAX_SIZE must be a whole number from 1 to 500')
    expect(text).toContain('CLAUDE_MEM_BACH is not a setting')
  })

  test('a spool file that cannot be read is set aside and reported; the others are taken', async () => {
    await place.hook(tool('t1'), { PATH: '' })
    await place.hook(tool('t2'))
    await expect
      .poll(
        () =>
          place.status().then(
            (s) => s.state,
            () => 'down',
          ),
        { timeout: 15_000 },
      )
      .toBe('serving')
    writeFileSync(join(place.paths.spool, '000-bad.json'), '{"v":1,"event":{"half')
    await place.drained()
    expect((await place.status()).notices.map((notice) => notice.text).join()).toContain('set aside')
    expect(readdirSync(join(place.paths.spool, 'bad'))).toEqual(['000-bad.json'])
    expect((await place.stored('demo')).sort()).toEqual(['t1', 't2'])
  })

  test('a directory and a FIFO in the spool prevent neither the start nor a tick', async () => {
    mkdirSync(join(place.paths.spool, '000.json'), { recursive: true })
    await place.start()
    mkdirSync(join(place.paths.spool, '001.json'))
    if (process.platform !== 'win32') execFileSync('mkfifo', [join(place.paths.spool, '002.json')])
    writeSpool(place.paths.spool, events.prompt('demo', 'p'))
    await place.drained()
    expect(await place.stored('demo')).toEqual(['p'])
    expect(readdirSync(join(place.paths.spool, 'bad'))).toContain('000.json')
  })

  test('a data directory whose path is too long for a socket works', async () => {
    const deep = new DaemonSandbox('deep'.repeat(50))
    try {
      await deep.start()
      expect(await deep.hook(prompt)).toMatchObject({ code: 0, stdout: ANSWER })
      expect((await deep.status()).sessions).toBe(1)
    } finally {
      await deep.dispose()
    }
  })

  test('a data directory with characters that mean something in an address works', async () => {
    const odd = new DaemonSandbox('a:b#c%20d?e')
    try {
      await odd.start()
      expect(await odd.hook(prompt)).toMatchObject({ code: 0, stdout: ANSWER })
      expect((await odd.status()).sessions).toBe(1)
    } finally {
      await odd.dispose()
    }
  })

  test('a read-only data directory: hooks answer, the daemon says what is wrong', async () => {
    writeFileSync(place.dataDir, 'a file where the directory should be')
    expect(await place.hook(tool('t1'))).toMatchObject({ code: 0, stdout: ANSWER, stderr: '' })
    expect(await exited(place.spawn())).toBe(1)
    rmSync(place.dataDir)
    mkdirSync(place.dataDir)
    chmodSync(place.dataDir, 0o777)
    expect(await exited(place.spawn())).toBe(1)
    chmodSync(place.dataDir, 0o755)
    await place.start()
    expect(statSync(place.dataDir).mode & 0o777).toBe(0o700)
  })
})
