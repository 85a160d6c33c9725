/** The fast hook without a daemon that answers, and with signals while it waits: nothing is lost. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createNetServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listSpool, readSpool } from '../../src/hook/spool.ts'
import { DIST } from '../support/paths.ts'
import { finished } from '../support/programs.ts'
import { CURL, FastHookPlace, SHELLS } from './fast-hook-place.ts'

const EMPTY = '{"continue":true,"suppressOutput":true}\n'
let place: FastHookPlace
let server: Server | null = null
let stuck: ServerResponse[] = []

beforeEach(() => {
  place = new FastHookPlace()
  mkdirSync(place.sandbox.dataDir, { recursive: true, mode: 0o700 })
})
afterEach(async () => {
  for (const response of stuck) response.destroy()
  stuck = []
  server?.closeAllConnections()
  server?.close()
  server = null
  rmSync(place.sandbox.paths.socket, { force: true })
  await place.sandbox.dispose()
})

const payload = () => ({
  session_id: 'down-session-0001',
  cwd: place.cwd,
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_response: { stdout: 'a' },
})
const spooled = () => listSpool(place.sandbox.paths.spool).map((file) => readSpool(file))

/** A program on the daemon's socket that takes requests and answers as `answer` says, or never. */
async function listen(answer: (response: ServerResponse, url: string) => void): Promise<void> {
  server = createServer((request, response) => {
    stuck.push(response)
    request.resume().on('end', () => answer(response, request.url ?? ''))
  })
  server.listen(place.sandbox.paths.socket)
  await once(server, 'listening')
  // As the daemon leaves it: the script posts nothing into any other directory.
  chmodSync(place.sandbox.dataDir, 0o1700)
}

/** In a process group of its own, with nothing on its standard input yet. */
function startEmpty(script = join(DIST, 'fast-hook.sh'), [shell = '/bin/sh', ...options]: readonly string[] = []) {
  return spawn(shell, [...options, script, place.node, CURL, '--data-dir', place.sandbox.dataDir], {
    env: place.env,
    cwd: place.cwd,
    detached: true,
  })
}

function start(): ChildProcess {
  const child = startEmpty()
  child.stdin.end(JSON.stringify(payload()))
  return child
}

describe('without a daemon', () => {
  it('the event is spooled and a daemon is started, as by the other hook', async () => {
    expect(await place.fast(payload())).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    expect(place.nodeStarts()).toBe(1)
    await expect.poll(() => place.sandbox.status().catch(() => null), { timeout: 15_000 }).not.toBeNull()
    await expect.poll(() => spooled().length, { timeout: 15_000 }).toBe(0)
    expect(await place.stored('down-session-0001')).toHaveLength(1)
  })

  it('the same with the socket that a killed daemon left', async () => {
    const listener = createNetServer().listen(place.sandbox.paths.socket)
    await once(listener, 'listening')
    const left = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(`${place.sandbox.paths.socket}.old`)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    await once(left, 'exit')
    listener.close()
    renameSync(`${place.sandbox.paths.socket}.old`, place.sandbox.paths.socket)
    expect(await place.fast(payload())).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    expect(place.nodeStarts()).toBe(1)
    await expect.poll(() => place.sandbox.status().catch(() => null), { timeout: 15_000 }).not.toBeNull()
    await expect.poll(() => spooled().length, { timeout: 15_000 }).toBe(0)
    expect(await place.stored('down-session-0001')).toHaveLength(1)
  })

  it('without node either it still answers with exit code 0', async () => {
    const none = await place.fast(payload(), {
      env: { PATH: '/nonexistent' },
      script: place.changedScript('no-node', (text) => text.replace(/^node=\S+/m, 'node=/nonexistent/node')),
    })
    expect(none).toMatchObject({ code: 0, stdout: '{"continue":true}\n' })
  })
})

describe('a daemon that does not answer', () => {
  it('the event is spooled after the timeout, and not sent again', async () => {
    let asked = 0
    await listen(() => {
      asked += 1
    })
    expect(await place.fast(payload())).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    expect(asked).toBe(1)
    expect(spooled()).toMatchObject([{ session: 'down-session-0001', kind: 'tool_use' }])
  })

  it.each([
    ['an error', (response: ServerResponse) => response.writeHead(503).end('{}')],
    [
      'half an answer',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('{"continue":true}\n', () => response.destroy())
      },
    ],
    [
      'an answer without the seed',
      (response: ServerResponse) => response.writeHead(200).end('{"continue":true,"evil":1}\n'),
    ],
    ['something else', (response: ServerResponse) => response.writeHead(200).end('<html></html>')],
  ])('prints nothing of %s, and spools the event', async (_, answer) => {
    await listen(answer)
    expect(await place.fast(payload())).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    expect(place.nodeStarts()).toBe(1)
    expect(spooled()).toHaveLength(1)
  })
})

describe('a signal while it waits', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s to the script: the event is spooled', async (signal) => {
    let child: ChildProcess | null = null
    await listen(() => child?.kill(signal))
    child = start()
    expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY })
    expect(spooled()).toHaveLength(1)
  })

  it('SIGTERM to all its processes: the same, at once', async () => {
    let pid = 0
    await listen(() => process.kill(-pid, 'SIGTERM'))
    const child = start()
    pid = child.pid ?? 0
    expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY })
    expect(spooled()).toHaveLength(1)
  })

  // ksh runs the end of a pipeline itself, and goes on when it is ended.
  const shells = SHELLS.filter(([shell]) => shell !== '/bin/ksh')
  it.each([
    ['a file', () => join(DIST, 'fast-hook.sh')],
    ['a variable', () => place.withoutSharedMemory()],
  ])(
    'to all its processes, in the middle of a payload that is kept in %s: nothing of it is lost',
    async (_, script) => {
      await listen((response) => response.writeHead(503).end('{}'))
      for (const [i, shell] of shells.entries()) {
        const child = startEmpty(script(), shell)
        const text = JSON.stringify({ ...payload(), tool_response: { stdout: 'a line\n'.repeat(2_000) } })
        child.stdin.write(text.slice(0, 7_000))
        await sleep(300)
        process.kill(-(child.pid ?? 0), 'SIGTERM')
        await sleep(100)
        child.stdin.end(text.slice(7_000))
        expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
        expect(spooled()).toHaveLength(i + 1)
      }
    },
  )

  it('that ends the other hook while it starts: it is started once more', async () => {
    await listen((response) => response.writeHead(503).end('{}'))
    const once = join(place.bin, 'once')
    const node = place.program(
      'ended-node',
      `[ -e '${once}' ] || { : >'${once}'; head -c 10 >'${once}'; kill $$; }\nexec '${place.node}' "$@"`,
    )
    for (const script of [join(DIST, 'fast-hook.sh'), place.withoutSharedMemory()]) {
      rmSync(once, { force: true })
      const args = [script, node, CURL, '--data-dir', place.sandbox.dataDir]
      const child = spawn('/bin/sh', args, { env: place.env, cwd: place.cwd })
      child.stdin.end(JSON.stringify(payload()))
      expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    }
    expect(spooled()).toHaveLength(2)
  })

  it('an answer that arrives all the same is printed, and nothing is spooled', async () => {
    let child: ChildProcess | null = null
    await listen((response, url) => {
      child?.kill('SIGTERM')
      const seed = new URL(url, 'http://localhost').searchParams.get('seed')
      response.end(`{"continue":true,"late":true}\n${seed}\n`)
    })
    child = start()
    expect(await finished(child)).toMatchObject({ code: 0, stdout: '{"continue":true,"late":true}\n' })
    expect(spooled()).toEqual([])
  })
})

it('leaves a data directory with a long path to the other hook', async () => {
  const long = new FastHookPlace()
  const dataDir = join(long.sandbox.directory, 'd'.repeat(100))
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(
    join(dataDir, 'settings.json'),
    JSON.stringify({ CLAUDE_MEM_WORKER_PORT: '0', CLAUDE_MEM_PROVIDER: 'plain' }),
  )
  // Another hook is starting a daemon: this one only spools.
  writeFileSync(join(dataDir, 'starting'), '{}')
  expect(await long.fast(payload(), { dataDir })).toMatchObject({
    code: 0,
    stdout: EMPTY,
  })
  expect(long.nodeStarts()).toBe(1)
  expect(listSpool(join(dataDir, 'spool'))).toHaveLength(1)
})
