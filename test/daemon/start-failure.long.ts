/** Daemons that cannot start, and what the person is told by the hooks of the next session. */
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { encodeRenderedContext, renderedContextPath } from '../../src/domain/rendered-context.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { readStartFailure } from '../../src/lib/start-failure.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { exited, type Finished, finished } from '../support/programs.ts'
import { canMount, smallDisk } from '../support/small-disk.ts'
import { waitUntil } from '../support/waiting.ts'

let place: DaemonSandbox | null = null
afterEach(async () => {
  await place?.dispose()
  place = null
})

const start = { session_id: 'session-one', cwd: '/nowhere/shop', hook_event_name: 'SessionStart', source: 'startup' }
const prompt = { ...start, hook_event_name: 'UserPromptSubmit', prompt: 'sort the shelf', prompt_id: 'p1' }

function setSchema(file: string, change: (version: number) => number): void {
  const db = new Database(file)
  db.pragma(`user_version = ${change(Number(db.pragma('user_version', { simple: true })))}`)
  db.close()
}

async function endedDaemon(sandbox: DaemonSandbox): Promise<void> {
  const daemon = await sandbox.start()
  await sandbox.hook(start)
  await sandbox.hook(prompt)
  daemon.kill('SIGTERM')
  await exited(daemon)
  mkdirSync(sandbox.paths.context, { recursive: true })
  const last = encodeRenderedContext({ context: 'what was known', message: 'all is well' })
  writeFileSync(renderedContextPath(sandbox.paths.context, projectOfDirectory(start.cwd).key), last)
}

/** Events of this session wait in the spool; a hook starts the next daemon, which fails. */
async function failedStart(sandbox: DaemonSandbox): Promise<void> {
  rmSync(sandbox.paths.starting, { force: true })
  await sandbox.hook(start)
  await waitUntil('the failure is recorded', () => existsSync(sandbox.paths.startFailure))
}

/** What a client shows to the person and gives to the agent. */
async function told(sandbox: DaemonSandbox, client: string, fields: object = start) {
  const { code, stdout, stderr } = await sandbox.hook(fields, {}, { args: ['--client', client] })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { systemMessage = '', hookSpecificOutput, ...other } = JSON.parse(stdout || '{}')
  return { message: String(systemMessage || other.message || ''), context: hookSpecificOutput ?? other.context ?? '' }
}

const CLIENTS = ['claude-code', 'codex', 'gemini', 'qwen', 'opencode']

describe('a newer schema', () => {
  test('is reported by every client with a message, never to the agent, until a daemon started', async () => {
    place = new DaemonSandbox()
    await endedDaemon(place)
    setSchema(place.paths.database, (version) => version + 900)
    await failedStart(place)
    for (const client of CLIENTS) {
      const { message, context } = await told(place, client, client === 'opencode' ? openCodeStart : start)
      expect(message, client).toMatch(/cannot start.*newer claude-mem.*claude-mem (start|doctor)/)
      expect(message, client).toContain(place.paths.spool)
      expect(context, client).toBe('')
    }
    // Only at a start: a person who works on is not told with every prompt.
    expect(await told(place, 'claude-code', prompt)).toEqual({ message: '', context: '' })
    // The other clients take no message.
    for (const client of ['cursor', 'copilot']) expect(await told(place, client)).toEqual({ message: '', context: '' })

    setSchema(place.paths.database, (version) => version - 900)
    const daemon = await place.start()
    expect(existsSync(place.paths.startFailure)).toBe(false)
    daemon.kill('SIGTERM')
    await exited(daemon)
    expect((await told(place, 'claude-code')).message).not.toMatch(/cannot start/)
  })

  test('is not reported where the person switched messages off', async () => {
    place = new DaemonSandbox()
    await endedDaemon(place)
    setSchema(place.paths.database, (version) => version + 900)
    await failedStart(place)
    const { stdout } = await place.hook(start, { CLAUDE_MEM_CONTEXT_MESSAGE: 'off' })
    expect(JSON.parse(stdout)).toEqual({ continue: true, suppressOutput: true })
  })
})

const openCodeStart = { ...start, hook_event_name: 'session.start' }

test('a reason that could not be written, on a full disk, is still a failure', async () => {
  place = new DaemonSandbox()
  mkdirSync(place.dataDir)
  writeFileSync(place.paths.startFailure, '')
  writeFileSync(place.paths.starting, '')
  expect((await told(place, 'claude-code')).message).toMatch(/cannot start.*claude-mem doctor/)
})

test('a reason is one short line without control characters', async () => {
  place = new DaemonSandbox()
  mkdirSync(place.dataDir)
  const reason = `bad \u001b[31m\nfile ${'x'.repeat(5_000)}`
  writeFileSync(place.paths.startFailure, JSON.stringify({ at: Date.now(), reason }))
  writeFileSync(place.paths.starting, '')
  const { message } = await told(place, 'claude-code')
  expect(message).toMatch(/cannot start: bad \[31m file x{500}/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(message).not.toMatch(/[\u0000-\u001f]/)
  expect(message.length).toBeLessThan(1_500)
})

test('a database driver that another version of node built', async () => {
  place = new DaemonSandbox()
  const program = temporaryDirectory('program')
  const driver = join(program, 'node_modules', 'better-sqlite3')
  mkdirSync(driver, { recursive: true })
  writeFileSync(join(driver, 'index.js'), "throw new Error('built for NODE_MODULE_VERSION 1')")
  cpSync(DIST, join(program, 'dist'), { recursive: true, filter: (file) => file !== join(DIST, 'plugin') })
  // There is no registry: what is fetched fails at once.
  writeFileSync(join(program, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n')
  const run = { dist: join(program, 'dist') }
  await place.hook(start, { HOME: program }, run)
  const { paths } = place
  const reason = () => readStartFailure(paths)
  await waitUntil('the failure is recorded', () => reason().includes('NODE_MODULE_VERSION 1'))
  await waitUntil('fetching failed', () => reason().includes('every ten minutes'), 60_000)
  const { stdout } = await place.hook(start, { HOME: program }, run)
  expect(JSON.parse(stdout).systemMessage).toMatch(/cannot start: the database driver does not run with Node/)
})

test.each(['lock', 'database'] as const)('something else in place of the %s', async (name) => {
  place = new DaemonSandbox()
  mkdirSync(place.paths[name], { recursive: true })
  await failedStart(place)
  expect((await told(place, 'claude-code')).message).toMatch(/cannot start.*is not a file; .*move it away/)
})

test.skipIf(process.platform === 'win32')('a pipe in place of the log', async () => {
  place = new DaemonSandbox()
  mkdirSync(place.paths.logs, { recursive: true })
  execFileSync('mkfifo', [join(place.paths.logs, 'daemon.log')])
  await failedStart(place)
  expect((await told(place, 'claude-code')).message).toMatch(/cannot start.*daemon\.log is not a file/)
})

test('a file in place of the logs', async () => {
  place = new DaemonSandbox()
  mkdirSync(place.dataDir, { recursive: true })
  writeFileSync(place.paths.logs, '')
  await failedStart(place)
  expect((await told(place, 'claude-code')).message).toMatch(/cannot start.*logs is not a directory/)
})

describe.skipIf(!canMount)('no space for the backup of a migration', () => {
  test('is reported with the space that is needed', async () => {
    place = new DaemonSandbox(smallDisk(36))
    await endedDaemon(place)
    setSchema(place.paths.database, (version) => version - 1)
    await failedStart(place)
    expect((await told(place, 'claude-code')).message).toMatch(/cannot start.*not enough space.*MB are free/)
  })
})

/** Hooks and daemons of a user who is not root, whose file permissions count. */
class OtherUser {
  static readonly ID = 65_534
  readonly home = temporaryDirectory('other-user')
  readonly dataDir = join(this.home, 'data')
  readonly paths = dataPaths(this.dataDir)

  constructor() {
    for (const directory of [this.home, this.dataDir]) {
      mkdirSync(directory, { recursive: true })
      chownSync(directory, OtherUser.ID, OtherUser.ID)
      chmodSync(directory, 0o700)
    }
    // Where no port is free a daemon warns, and must not be taken for one that failed.
    writeFileSync(join(this.dataDir, 'settings.json'), JSON.stringify({ CLAUDE_MEM_WORKER_PORT: 0 }), { mode: 0o644 })
  }

  run(program: string, args: readonly string[], input = ''): Promise<Finished> {
    const env = { PATH: process.env.PATH, HOME: this.home, CLAUDE_MEM_DATA_DIR: this.dataDir }
    const child = spawn(program, args, { env, cwd: this.home, uid: OtherUser.ID, gid: OtherUser.ID, stdio: 'pipe' })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    return finished(child)
  }

  async sessionStarts(): Promise<string> {
    const ran = await this.run(
      process.execPath,
      [join(DIST, 'hook.cjs'), '--data-dir', this.dataDir],
      JSON.stringify(start),
    )
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const { systemMessage = '', hookSpecificOutput } = JSON.parse(ran.stdout)
    expect(hookSpecificOutput).toBeUndefined()
    return systemMessage
  }

  /** The message of the first session after a daemon that failed. */
  async messageAfterFailure(): Promise<string> {
    await this.sessionStarts()
    await waitUntil('the failure is recorded', () => existsSync(this.paths.startFailure))
    return await this.sessionStarts()
  }

  async stop(): Promise<void> {
    await this.run(process.execPath, [join(DIST, 'cli.js'), 'stop'])
  }
}

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

describe.skipIf(!isRoot)('what belongs to root after one run with sudo', () => {
  test.each([
    ['the database', 'database', (file: string) => writeFileSync(file, 'x', { mode: 0o600 })],
    ['the lock', 'lock', (file: string) => writeFileSync(file, '', { mode: 0o600 })],
    ['the logs', 'logs', (file: string) => mkdirSync(file, { mode: 0o700 })],
  ] as const)('%s is named, and how to get it back', async (_what, name, make) => {
    const user = new OtherUser()
    make(user.paths[name])
    const message = await user.messageAfterFailure()
    expect(message).toContain(`${user.paths[name]} belongs to another user (0)`)
    expect(message).toContain(`sudo chown -R ${OtherUser.ID} "${user.dataDir}"`)
    rmSync(user.paths[name], { recursive: true })
    rmSync(user.paths.starting, { force: true })
    await user.sessionStarts()
    await waitUntil('a daemon started', () => !existsSync(user.paths.startFailure) && existsSync(user.paths.socket))
    await user.stop()
  })

  test('a log file', async () => {
    const user = new OtherUser()
    mkdirSync(user.paths.logs, { mode: 0o700 })
    chownSync(user.paths.logs, OtherUser.ID, OtherUser.ID)
    writeFileSync(join(user.paths.logs, 'daemon.log'), '', { mode: 0o600 })
    expect(await user.messageAfterFailure()).toContain('daemon.log belongs to another user (0)')
  })
})

describe.skipIf(!isRoot)('a data directory that cannot be written', () => {
  test.each([
    ['with a spool that can', true],
    ['with nothing in it', false],
  ])('%s: the hook finds out itself', async (_what, withSpool) => {
    const user = new OtherUser()
    if (withSpool) {
      mkdirSync(user.paths.spool, { mode: 0o700 })
      chownSync(user.paths.spool, OtherUser.ID, OtherUser.ID)
    }
    chmodSync(user.dataDir, 0o500)
    const message = await user.sessionStarts()
    expect(message).toContain('cannot start')
    expect(message).toContain(`chmod -R u+rwX "${user.dataDir}"`)
    if (withSpool) expect(readdirSync(user.paths.spool)).toHaveLength(1)
    chmodSync(user.dataDir, 0o700)
    await user.sessionStarts()
    await waitUntil('a daemon started', () => existsSync(user.paths.socket))
    await user.stop()
  })

  test('also where an old start mark is in it', async () => {
    const user = new OtherUser()
    mkdirSync(user.paths.spool, { mode: 0o700 })
    chownSync(user.paths.spool, OtherUser.ID, OtherUser.ID)
    writeFileSync(user.paths.starting, '{}')
    utimesSync(user.paths.starting, 1, 1)
    chmodSync(user.dataDir, 0o500)
    expect(await user.sessionStarts()).toContain('cannot start')
  })
})
