/** The data directory is the user's choice: neither the environment of a client nor the files of a repository decide it. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { foreignDirectoryReason, sessionDirectoryReason } from '../../src/lib/own-directory.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { runProgram } from '../support/programs.ts'
import { CURL, SHELLS } from './fast-hook-place.ts'

const SECRET = 'private-words-of-the-user'
const IS_ROOT = process.getuid?.() === 0
let repository: string
let home: string
let dataDir: string
let evil: string
let server: Server | null = null
let received: string

beforeEach(() => {
  repository = temporaryDirectory('repository')
  home = temporaryDirectory('home')
  dataDir = join(home, '.claude-mem')
  mkdirSync(dataDir, { mode: 0o700 })
  chmodSync(dataDir, 0o1700)
  // A hook is starting the daemon: no other one starts a real one.
  writeFileSync(join(dataDir, 'starting'), '{}')
  evil = join(repository, 'evil')
  mkdirSync(evil, { mode: 0o700 })
  received = ''
})
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)))
  server = null
})

/** What a daemon would answer, from whoever listens there. */
async function listen(directory: string): Promise<void> {
  server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    request.on('data', (chunk) => {
      received += chunk
    })
    request.on('end', () => response.end(`{"continue":true}\n${searchParams.get('seed')}\n`))
  })
  const socket = join(directory, 'daemon.sock')
  await new Promise<void>((resolve) => server?.listen(socket, resolve))
}

const start = { hook_event_name: 'SessionStart', source: 'startup' }
const prompt = { hook_event_name: 'UserPromptSubmit', prompt: SECRET }

function plain(payload: object, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = repository) {
  return runProgram(process.execPath, [join(DIST, 'hook.cjs'), ...args], {
    env: { ...process.env, HOME: home, ...env },
    input: JSON.stringify({ session_id: 'data-dir-0001', cwd, ...payload }),
    cwd,
  })
}

function fast(payload: object, directory: string, shell: readonly string[] = ['/bin/sh'], cwd = repository) {
  const [program = '', ...options] = shell
  const script = join(DIST, 'fast-hook.sh')
  return runProgram(program, [...options, script, process.execPath, CURL, '--data-dir', directory], {
    env: { ...process.env, HOME: home, CLAUDE_MEM_DATA_DIR: evil },
    input: JSON.stringify({ session_id: 'data-dir-0001', cwd, ...payload }),
    cwd,
  })
}

const messageOf = (stdout: string): unknown => JSON.parse(stdout).systemMessage

describe.skipIf(process.platform === 'win32')('the environment of a hook', () => {
  it.each(['evil', './evil', () => evil])('cannot move the data directory: CLAUDE_MEM_DATA_DIR=%s', async (named) => {
    writeFileSync(join(evil, 'settings.json'), '{"CLAUDE_MEM_PROVIDER":"claude-code"}')
    const env = { CLAUDE_MEM_DATA_DIR: typeof named === 'string' ? named : named() }
    expect(await plain(prompt, ['--data-dir', dataDir], env)).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(evil)).toEqual(['settings.json'])
    expect(readdirSync(join(dataDir, 'spool'))).toHaveLength(1)
  })

  it('has no say without a registered directory either, as in a plugin', async () => {
    await plain(prompt, [], { CLAUDE_MEM_DATA_DIR: evil })
    expect(readdirSync(evil)).toEqual([])
    expect(existsSync(join(dataDir, 'spool'))).toBe(true)
  })

  it('cannot move the data directory with the home directory into the repository either', async () => {
    mkdirSync(join(repository, '.claude-mem'), { mode: 0o755 })
    writeFileSync(join(repository, '.claude-mem', 'settings.json'), '{"CLAUDE_MEM_PROVIDER":"claude-code"}')
    for (const named of ['..', '.', '/proc/self/cwd/..', '//proc/self/cwd/..']) {
      const { stdout } = await plain(prompt, [], { HOME: named }, evil)
      expect([named, messageOf(stdout)]).toEqual([named, expect.stringContaining('depends on where a program runs')])
    }
    mkdirSync(join(repository, '.git'))
    writeFileSync(join(repository, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    expect(messageOf((await plain(prompt, [], { HOME: repository }, evil)).stdout)).toContain('lies in')
    expect(readdirSync(join(repository, '.claude-mem'))).toEqual(['settings.json'])
    expect(readdirSync(evil)).toEqual([])
  })

  it('cannot move the data directory of a command into the repository', async () => {
    writeFileSync(join(evil, 'settings.json'), '{"CLAUDE_MEM_PROVIDER":"claude-code"}')
    const env = { ...process.env, HOME: home, CLAUDE_MEM_DATA_DIR: './evil' }
    const ran = await runProgram(process.execPath, [join(DIST, 'cli.js'), 'remember', 'a note'], {
      env,
      cwd: repository,
    })
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toContain('its files may have come with a repository. If it is yours: claude-mem --data-dir')
    expect(readdirSync(evil)).toEqual(['settings.json'])
  })

  it('has no say for `claude-mem hook` and the MCP server', async () => {
    const env = { ...process.env, HOME: home, CLAUDE_MEM_DATA_DIR: evil }
    const input = JSON.stringify({ session_id: 'data-dir-0001', cwd: repository, ...prompt })
    await runProgram(process.execPath, [join(DIST, 'cli.js'), 'hook'], { env, input, cwd: repository })
    const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }
    await runProgram(process.execPath, [join(DIST, 'cli.js'), 'mcp'], {
      env,
      input: `${JSON.stringify(hello)}\n`,
      cwd: repository,
    })
    expect(readdirSync(evil)).toEqual([])
  })

  it('moves nothing for the fast hook: the socket of the registered directory gets the payload', async () => {
    await listen(dataDir)
    for (const shell of SHELLS) {
      received = ''
      expect(await fast(prompt, dataDir, shell)).toMatchObject({ code: 0, stdout: '{"continue":true}\n', stderr: '' })
      expect([shell, received]).toEqual([shell, expect.stringContaining(SECRET)])
    }
  })
})

describe.skipIf(process.platform === 'win32')('a data directory in which others may write', () => {
  it.each([0o770, 0o702, 0o1777])('is refused by both hooks before a byte is sent: mode %o', async (mode) => {
    await listen(dataDir)
    chmodSync(dataDir, mode)
    const { code, stdout } = await plain(prompt, ['--data-dir', dataDir])
    expect(code).toBe(0)
    expect(messageOf(stdout)).toContain(`others may write in ${dataDir}; to change that: chmod go-w`)
    if ((mode & 0o1000) === 0) {
      for (const shell of SHELLS)
        expect(messageOf((await fast(prompt, dataDir, shell)).stdout)).toContain('others may write')
      expect(received).toBe('')
    }
    expect(existsSync(join(dataDir, 'spool'))).toBe(false)
  })

  it('is named on standard error to a client that shows no message', async () => {
    chmodSync(dataDir, 0o777)
    const { code, stdout, stderr } = await plain(start, ['--data-dir', dataDir, '--client', 'copilot'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{}\n' })
    expect(stderr).toMatch(/^claude-mem remembers nothing here: others may write in .*\n$/)
  })

  it('is refused by the daemon and by a command', async () => {
    chmodSync(dataDir, 0o777)
    const env = { ...process.env, CLAUDE_MEM_DATA_DIR: dataDir }
    const ran = await runProgram(process.execPath, [join(DIST, 'cli.js'), 'start'], { env })
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toContain('others may write')
    const daemon = await runProgram(process.execPath, [join(DIST, 'daemon.js')], { env, timeoutMs: 10_000 })
    expect(daemon.code).not.toBe(0)
    expect(existsSync(join(dataDir, 'db.sqlite'))).toBe(false)
  })
})

describe.skipIf(process.platform === 'win32')('a data directory below the directory of the session', () => {
  it('is refused by both hooks', async () => {
    chmodSync(evil, 0o1700)
    await listen(evil)
    expect(messageOf((await plain(start, ['--data-dir', evil])).stdout)).toContain('lies in')
    for (const shell of SHELLS) expect(messageOf((await fast(prompt, evil, shell)).stdout)).toContain('lies in')
    expect(received).toBe('')
    expect(readdirSync(evil)).toEqual(['daemon.sock'])
  })

  it("is the user's own where the home directory lies there, too", () => {
    expect(sessionDirectoryReason(dataDir, home, home)).toBeNull()
    expect(sessionDirectoryReason(dataDir, '/', home)).toBeNull()
    expect(sessionDirectoryReason(dataDir, home, null)).toContain('lies in')
    expect(sessionDirectoryReason(dataDir, repository, home)).toBeNull()
    expect(sessionDirectoryReason(evil, repository, home)).toContain('lies in')
  })
})

/** Only root can make a directory of another user. */
describe.runIf(IS_ROOT)('a data directory of another user', () => {
  it('is refused by both hooks before a byte is sent, and so is a socket of another user', async () => {
    await listen(dataDir)
    const theirs = (path: string, user: string) => spawnSync('chown', ['-h', user, path])
    theirs(dataDir, '65534')
    expect(foreignDirectoryReason(dataPaths(dataDir))).toContain('belongs to another user')
    for (const shell of SHELLS)
      expect(messageOf((await fast(prompt, dataDir, shell)).stdout)).toContain('belongs to another')
    theirs(dataDir, '0')
    theirs(join(dataDir, 'daemon.sock'), '65534')
    for (const shell of SHELLS)
      expect(messageOf((await fast(prompt, dataDir, shell)).stdout)).toContain('belongs to another')
    expect(messageOf((await plain(prompt, ['--data-dir', dataDir])).stdout)).toContain('belongs to another')
    expect(received).toBe('')
  })
})

it.runIf(!IS_ROOT && process.platform === 'linux')("a directory of root is not this user's", () => {
  const shared = mkdtempSync(join(tmpdir(), 'claude-mem-shared-'))
  expect(foreignDirectoryReason({ dataDir: '/usr', socket: join(shared, 'daemon.sock') })).toContain(
    'belongs to another',
  )
  rmSync(shared, { recursive: true })
})
