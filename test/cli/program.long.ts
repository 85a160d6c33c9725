import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program } from './program.ts'

let program: Program

beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(() => program.end(), 60_000)

const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Where is the port read?', prompt_id: 'turn-1' }
const toolUse = (n: number) => ({
  hook_event_name: 'PostToolUse',
  tool_name: 'Read',
  tool_use_id: `tool-${n}`,
  prompt_id: 'turn-1',
  tool_input: { file_path: `/repo/${n}.ts` },
  tool_response: { content: `line ${n}` },
})

describe('command line', () => {
  it('prints help', async () => {
    const { code, stdout } = await program.run(['--help'])
    expect(code).toBe(0)
    for (const name of [
      'start',
      'stop',
      'restart',
      'status',
      'inspect',
      'queue',
      'flush',
      'logs',
      'config',
      'backup',
      'hook',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
    }
    expect((await program.run([])).stdout).toBe(stdout)
    const help = await program.run(['inspect', '--help'])
    expect(help.stdout).toContain('claude-mem inspect 5f1c --watch')
    expect((await program.run(['help', 'inspect'])).stdout).toBe(help.stdout)
    expect((await program.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/)
  })

  it.each([
    [['statuss'], 'unknown command "statuss"; did you mean status?'],
    [['status', '--jsn'], 'unknown option --jsn; did you mean --json?'],
    [['queue', 'rety'], 'unknown action "rety"; did you mean retry?'],
    [['config', 'get', 'batch-max-sise'], 'did you mean CLAUDE_MEM_BATCH_MAX_SIZE?'],
    [['config', 'set', 'batch-max-size', '0'], 'must be a whole number from 1 to 500'],
    [['inspect', '--limit', 'many'], '--limit takes a whole number from 1 to 9999'],
    [['inspect', '--limit'], '--limit needs a value'],
    [['inspect', 'a', 'b'], 'unexpected argument "b"'],
    [['queue', 'clear', '--all'], 'pass --yes'],
    [['backup', 'restore'], 'needs a file'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await program.run(args)
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^claude-mem: [^\n]+\n$/)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('without a daemon', () => {
  it('status reports that it is not running', async () => {
    expect(await program.json('status')).toMatchObject({ running: false, stats: null, problem: null })
    expect((await program.run(['status'])).stdout).toContain('is not running; start it with: claude-mem start')
    expect(await program.json('inspect')).toEqual({ running: false, sessions: [] })
    expect(await program.run(['stop'])).toMatchObject({ code: 0, stdout: 'claude-mem is not running\n' })
  })

  it.each([['flush'], ['queue', 'retry'], ['backup', 'now']])('cannot %s %s', async (...args) => {
    const { code, stderr } = await program.run(args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^claude-mem: .*start it with: claude-mem start\n$/)
  })

  it('prints a stack only at the log level debug', async () => {
    const { stderr } = await program.run(['flush'], { env: { CLAUDE_MEM_LOG_LEVEL: 'debug' } })
    expect(stderr).toMatch(/\n\s+at /)
  })
})

describe('config', () => {
  it('sets, prints and unsets a setting', async () => {
    expect((await program.run(['config', 'set', 'keep-backups', '3'])).stdout).toContain('claude-mem restart')
    expect((await program.run(['config', 'get', 'keep-backups'])).stdout).toBe('3\n')
    const { settings } = await program.json('config')
    expect(settings).toContainEqual(
      expect.objectContaining({ name: 'CLAUDE_MEM_KEEP_BACKUPS', value: 3, source: 'file', default: 7 }),
    )
    expect(await program.json('config', 'unset', 'keep-backups')).toMatchObject({ removed: true, value: 7 })
  })

  it('names the environment variable that overrides a setting', async () => {
    const { stdout } = await program.run(['config', 'set', 'worker-port', '4000'])
    expect(stdout).toContain('CLAUDE_MEM_WORKER_PORT=0 overrides this setting')
    await program.run(['config', 'unset', 'worker-port'])
  })
})

it('config set warns of an address without encryption', async () => {
  const { code, stderr } = await program.run(['config', 'set', 'gemini-base-url', 'http://models.example'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('models.example unencrypted') })
  await program.run(['config', 'unset', 'gemini-base-url'])
})

describe('with a daemon', () => {
  it('start starts one daemon', async () => {
    const started = await program.json('start')
    expect(started).toMatchObject({ running: true, started: true, dataDir: program.dataDir })
    expect(await program.json('start')).toMatchObject({ started: false, pid: started.pid })
    expect(await program.json('status')).toMatchObject({ running: true, pid: started.pid, state: 'serving' })
    const second = await program.run(['start', '--foreground'])
    expect(second.code).toBe(3)
    expect(second.stderr).toContain(`pid ${started.pid}`)
  })

  it('queue lists the messages that hooks report', async () => {
    await program.hook(prompt)
    for (const n of [1, 2, 3]) await program.hook(toolUse(n))
    const { sessions } = await program.json('inspect')
    expect(sessions).toMatchObject([{ session: 'session-one', prompts: 1, pending: 3, state: 'observing' }])
    const { messages, stats } = await program.json('queue')
    expect(stats).toMatchObject({ pending: 3, failed: 0 })
    expect(messages).toMatchObject([{ eventId: 'tool-1', tool: 'Read', status: 'pending' }, {}, {}])
    expect((await program.json('queue', '--session', 'sess')).messages).toHaveLength(3)
  })

  it('inspect accepts the start of a session id', async () => {
    const view = await program.json('inspect', 'session-o')
    expect(view).toMatchObject({ running: true, row: { session: 'session-one', snapshot: { context: { prompt: 1 } } } })
    expect(view.messages).toHaveLength(3)
    const { stdout } = await program.run(['inspect', 'session-o'], { env: { LC_ALL: 'C.UTF-8', TERM: 'xterm' } })
    expect(stdout).toMatch(/┏━ ● ━+┓[\s\S]*┃ observing ┃/)
    const plain = await program.run(['inspect', 'session-o'], { env: { LC_ALL: 'C' } })
    expect(plain.stdout).toContain('init → [observing] → batching')
    expect(stdout).toMatch(/PROMPT +init → observing/)
    expect(stdout).not.toContain('\x1b')
    expect((await program.run(['inspect', 'session-o'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\x1b[')
    expect(await program.run(['inspect', 'nobody'])).toMatchObject({ code: 1, stdout: '' })
  })

  it('flush observes waiting messages', async () => {
    expect(await program.json('flush')).toMatchObject({ sessions: 1, left: 0 })
    expect(await program.json('inspect', 'session-one')).toMatchObject({ messages: [], observations: 3 })
    expect((await program.run(['flush'])).stdout).toBe('No messages are waiting\n')
  })

  it('queue clear --all drops messages only with --yes', async () => {
    await program.hook(toolUse(4))
    expect(await program.json('queue', 'clear')).toEqual({ dropped: 0 })
    expect(await program.json('queue', 'clear', '--all', '--yes')).toEqual({ dropped: 1 })
    expect(await program.json('queue', 'retry')).toEqual({ retried: 0 })
  })

  it('hook reports an event whatever its arguments are', async () => {
    const input = JSON.stringify({ session_id: 'session-two', cwd: program.dataDir, ...prompt })
    const { code, stdout } = await program.run(['hook', '--unknown', '--data-dir', program.dataDir], { input })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ continue: true })
    expect(await program.json('inspect', 'session-two')).toMatchObject({ row: { prompts: 1 } })
    expect(await program.run(['hook', '--data-dir', program.dataDir], { input: 'not json' })).toMatchObject({ code: 0 })
  })

  it('logs prints text or JSON', async () => {
    const entries = await program.json('logs', '-n', '100')
    expect(entries).toContainEqual(expect.objectContaining({ msg: 'listening' }))
    expect((await program.run(['logs', '-n', '1'])).stdout.trimEnd().split('\n')).toHaveLength(1)
    expect((await program.run(['logs'])).stdout).toMatch(/^\d\d:\d\d:\d\d info {2}/)
  })

  it('logs exits quietly when the reader of its pipe exits', async () => {
    const reading = program.spawn(['logs'])
    let stderr = ''
    reading.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    reading.stdout.destroy()
    expect((await once(reading, 'close'))[0]).toBe(0)
    expect(stderr).toBe('')
  })

  it('inspect --watch prints each change', async () => {
    const watching = program.spawn(['inspect', 'session-one', '--watch', '--json'])
    const lines = createInterface({ input: watching.stdout })
    try {
      const next = async () => JSON.parse(String((await once(lines, 'line'))[0]))
      expect((await next()).running).toBe(true)
      const changed = next()
      await program.hook(toolUse(5))
      expect((await changed).messages).toMatchObject([{ eventId: 'tool-5' }])
    } finally {
      const ended = once(watching, 'exit')
      watching.kill('SIGINT')
      expect((await ended)[0]).toBe(0)
    }
  })
})

describe('backup', () => {
  it('is made, listed and restored', async () => {
    const made = await program.json('backup', 'now')
    expect(existsSync(made.file)).toBe(true)
    expect((await program.json('backup', 'list')).backups).toMatchObject([{ file: made.file, reason: 'manual' }])
    await program.hook({ ...prompt, session_id: 'session-three' })
    expect((await program.json('inspect')).sessions).toHaveLength(3)

    const restored = await program.json('backup', 'restore', basename(made.file))
    expect(restored).toMatchObject({ restored: made.file, running: true })
    expect(existsSync(restored.before)).toBe(true)
    expect((await program.json('inspect')).sessions).toHaveLength(2)
    expect(await program.json('status')).toMatchObject({ running: true })

    await program.json('backup', 'restore', restored.before)
    expect((await program.json('inspect')).sessions).toHaveLength(3)
  })

  it('that is not a database changes nothing', async () => {
    const { pid } = await program.json('status')
    expect(await program.run(['backup', 'restore', 'missing.sqlite'])).toMatchObject({ code: 1 })
    const noBackup = join(program.dataDir, 'no-backup')
    writeFileSync(noBackup, 'text')
    expect((await program.json('status')).pid).toBe(pid)
    expect((await program.run(['backup', 'restore', noBackup])).code).toBe(1)
    expect(await program.json('inspect')).toMatchObject({ running: true, sessions: [{}, {}, {}] })
  })
})

describe('stop and restart', () => {
  it('restart starts another process', async () => {
    const { pid } = await program.json('status')
    expect((await program.json('restart')).pid).not.toBe(pid)
  })

  it('the memory can be read after stop', async () => {
    expect(await program.json('stop')).toMatchObject({ running: false, stopped: true })
    expect(await program.json('status')).toMatchObject({ running: false, stats: { sessionsTotal: 3, observations: 3 } })
    expect(await program.json('inspect', 'session-one')).toMatchObject({ running: false, observations: 3 })
    expect((await program.run(['inspect', 'session-one'])).stdout).toContain('No daemon is running')
    expect((await program.json('queue', '--session', 'session-one')).messages).toMatchObject([{ eventId: 'tool-5' }])
  })

  it('start --foreground runs until interrupted and prints what to do next', async () => {
    const daemon = program.spawn(['start', '--foreground'])
    const ended = once(daemon, 'exit')
    let said = ''
    for await (const line of createInterface({ input: daemon.stdout })) {
      said += `${line}\n`
      if (line.includes('cli.js status')) break
    }
    expect(said).toMatch(/\| CLAUDE_MEM_DATA_DIR=\S+ node \S+cli\.js hook/)
    expect(said).toMatch(/node \S+cli\.js inspect demo/)
    expect(said).toContain('Ctrl-C stops it')
    daemon.stdout.resume()
    daemon.kill('SIGINT')
    expect((await ended)[0]).toBe(0)
    expect(await program.json('status')).toMatchObject({ running: false })
  })

  it('start prints why the daemon cannot start', async () => {
    writeFileSync(join(program.dataDir, 'logs-file'), '')
    const { code, stderr } = await program.run(['start'], {
      env: { CLAUDE_MEM_DATA_DIR: join(program.dataDir, 'logs-file') },
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^claude-mem: [^\n]+\n$/)
  })
})
