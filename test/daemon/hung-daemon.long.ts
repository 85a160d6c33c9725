/** A daemon that hangs: its process lives and its socket takes connections, but nothing is answered. */
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { DIST } from '../support/paths.ts'
import { exited, isAlive, runProgram } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'

let place: DaemonSandbox
let daemon: ChildProcess

beforeEach(async () => {
  place = new DaemonSandbox()
  daemon = await place.start()
})
afterEach(async () => {
  daemon.kill('SIGCONT')
  await place.dispose()
})

/** A command takes a third of a second; with the second after which a daemon counts as hung, on a busy machine. */
const QUICK_MS = 4_000

async function command(...args: string[]) {
  const began = performance.now()
  const ran = await runProgram(process.execPath, [join(DIST, 'cli.js'), ...args], { env: place.env, timeoutMs: 60_000 })
  return { ...ran, ms: performance.now() - began }
}

const tool = (id: string, session = 'session-one') => ({
  session_id: session,
  cwd: '/nowhere/shop',
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: `echo ${id}` },
  tool_response: { stdout: id },
  tool_use_id: id,
})

const hang = () => daemon.kill('SIGSTOP')

describe.skipIf(process.platform === 'win32')('beside a hung daemon', () => {
  test.each([['status'], ['search', 'anything'], ['start']])('%s says so at once, and what to do', async (...args) => {
    hang()
    const { code, stderr, ms } = await command(...args)
    expect(stderr).toContain(`(pid ${daemon.pid}) does not answer`)
    expect(stderr).toContain('claude-mem restart')
    expect(code).toBe(1)
    expect(ms).toBeLessThan(QUICK_MS)
  })

  test('doctor names it', async () => {
    hang()
    const { stdout, ms } = await command('doctor', '--json')
    const { checks } = JSON.parse(stdout)
    const found = checks.filter(({ id }: { id: string }) => id === 'daemon')
    expect(found).toMatchObject([{ state: 'problem', detail: expect.stringContaining(`pid ${daemon.pid}`) }])
    expect(ms).toBeLessThan(20_000)
  })

  test('stop ends it, and one that was only suspended ends in order', async () => {
    hang()
    const { code, stdout } = await command('stop')
    expect(stdout).toContain(`(pid ${daemon.pid})`)
    expect(code).toBe(0)
    expect(isAlive(Number(daemon.pid))).toBe(false)
    expect(place.log()).toContain('"msg":"stopped"')
  })

  test('restart ends one whose thread is blocked, and starts another', async () => {
    await place.dispose()
    place = new DaemonSandbox()
    daemon = await place.start({}, DIST)
    await place.hook(tool('before'))
    hang()
    // It is suspended again as soon as it continues: no signal that it can handle ends it.
    const again = setInterval(() => daemon.kill('SIGSTOP'), 5)
    const { code, stderr } = await command('restart', '--json').finally(() => clearInterval(again))
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(daemon.signalCode ?? (await exited(daemon))).not.toBeNull()
    expect((await place.status()).pid).not.toBe(daemon.pid)
    expect(await place.stored('session-one')).toContain('before')
  })

  test('a process that is not surely the daemon is not ended', async () => {
    const file = place.paths.holder
    writeFileSync(file, readFileSync(file, 'utf8').replace(String(daemon.pid), String(process.pid)))
    hang()
    const { code, stderr } = await command('stop')
    expect(code).toBe(1)
    expect(stderr).toContain(place.paths.socket)
    expect(stderr).toMatch(/cannot tell which process/)
    expect(isAlive(Number(daemon.pid))).toBe(true)
  })
})

describe.skipIf(process.platform === 'win32')('hooks beside a hung daemon', () => {
  const spooled = () =>
    existsSync(place.paths.spool) ? readdirSync(place.paths.spool).filter((name) => name.endsWith('.json')) : []

  async function timed(id: string): Promise<number> {
    const began = performance.now()
    expect(await place.hook(tool(id))).toMatchObject({ code: 0, stderr: '' })
    return performance.now() - began
  }

  test('only the first one waits; nothing is lost, and the order is kept', async () => {
    hang()
    const ids = Array.from({ length: 12 }, (_, i) => `tool-${String(i).padStart(2, '0')}`)
    const times: number[] = []
    for (const id of ids) times.push(await timed(id))
    const [first = 0, ...others] = times
    const later = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? 0
    // A second for the acknowledgement; how long a start of node takes depends on the machine.
    expect(first - later).toBeGreaterThan(700)
    expect(spooled()).toHaveLength(ids.length)
    daemon.kill('SIGCONT')
    for (const id of ['after-1', 'after-2']) await timed(id)
    await place.drained()
    const reader = await openStoreReader(place.paths.database)
    const events = await reader.events('session-one', 100).finally(() => reader.close())
    // In the order in which they were stored.
    expect(events.map(({ eventId }) => eventId)).toEqual([...ids, 'after-1', 'after-2'])
  })

  test('a daemon that answers again gets the next events itself', async () => {
    hang()
    await timed('first')
    expect(existsSync(place.paths.hung)).toBe(true)
    daemon.kill('SIGCONT')
    await waitUntil('the daemon takes the mark away', () => !existsSync(place.paths.hung))
    await place.drained()
    await timed('second')
    expect(spooled()).toEqual([])
  })

  test('the mark is forgotten after a while, also where the clock was changed', async () => {
    for (const at of [Date.now() - 60_000, Date.now() + 3_600_000]) {
      writeFileSync(place.paths.hung, '')
      utimesSync(place.paths.hung, at / 1_000, at / 1_000)
      await timed(`tool-${at}`)
      expect(spooled()).toEqual([])
    }
  })

  test('the fast hook does not wait either', async () => {
    hang()
    const run = async (id: string) => {
      const began = performance.now()
      const payload = JSON.stringify(tool(id))
      const args = [join(DIST, 'fast-hook.sh'), process.execPath, '/usr/bin/curl', '--data-dir', place.dataDir]
      const { CLAUDE_MEM_WORKER_PORT: _, CLAUDE_MEM_PROVIDER: __, ...env } = place.env
      expect(await runProgram('/bin/sh', args, { env, input: payload })).toMatchObject({ code: 0, stderr: '' })
      return performance.now() - began
    }
    const first = await run('fast-1')
    expect(first - (await run('fast-2'))).toBeGreaterThan(1_500)
    expect(spooled()).toHaveLength(2)
  })
})
