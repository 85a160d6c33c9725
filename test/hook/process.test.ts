import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dataPaths, shortHash } from '../../src/lib/paths.ts'
import { buildHook, Door, fail, Hook, lineFor, tell, VERSION } from './hook-process.ts'

const PLAIN = '{"continue":true,"suppressOutput":true}\n'
const BASH = {
  hook_event_name: 'PostToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'echo hi' },
  tool_response: { stdout: 'hi' },
  tool_use_id: 'toolu_1',
}

let dist: string
let hook: Hook
let door: Door | null = null
const open = async (
  ...arguments_: Parameters<typeof Door.open> extends [string, ...infer Rest] ? Rest : never
): Promise<Door> => {
  door = await Door.open(hook.dataDir, ...arguments_)
  return door
}
const accept = (): Promise<Door> => open((request) => tell(request))

beforeAll(async () => {
  dist = await buildHook()
})
beforeEach(() => {
  hook = new Hook(dist)
})
afterEach(async () => {
  await door?.close()
  door = null
})

const quiet = { code: 0, stdout: PLAIN, stderr: '' }
const answer = (more: Record<string, unknown>): string =>
  `${JSON.stringify({ continue: true, suppressOutput: true, ...more })}\n`
const withContext = (text: string, event = 'SessionStart'): string =>
  answer({ hookSpecificOutput: { hookEventName: event, additionalContext: text } })

describe('a daemon that answers', () => {
  it('gets the event, and nothing is spooled', async () => {
    const { events, queries } = await accept()
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(events).toMatchObject([{ id: 'toolu_1', session: 'session-0001', kind: 'tool_use' }])
    expect(Object.fromEntries(queries[0] ?? [])).toMatchObject({
      client: 'claude-code',
      version: VERSION,
      cwd: hook.cwd,
    })
    expect(hook.spooled()).toEqual([])
    expect(hook.wasStarted()).toBe(false)
  })

  it('gives a starting session its context', async () => {
    const text = `# Memory\n"quoted" ${'ü😀'.repeat(40_000)}`
    await open((request) => tell(request, text))
    expect((await hook.run({ hook_event_name: 'SessionStart', source: 'startup' })).stdout).toBe(withContext(text))
    const prompted = await hook.run({ hook_event_name: 'UserPromptSubmit', prompt: 'x' })
    expect(prompted.stdout).toBe(withContext(text, 'UserPromptSubmit'))
    expect(await hook.run(BASH)).toEqual(quiet)
  })

  it('tells the user, with the context or alone', async () => {
    const said = [
      ['', 'two wait'],
      ['known', 'two wait'],
      ['', ''],
    ]
    await open((request) => tell(request, ...(said.shift() ?? [])))
    const started = async () => (await hook.run({ hook_event_name: 'SessionStart', source: 'resume' })).stdout
    expect(await started()).toBe(answer({ systemMessage: 'two wait' }))
    expect(JSON.parse(await started())).toMatchObject({
      hookSpecificOutput: { additionalContext: 'known' },
      systemMessage: 'two wait',
    })
    expect(await started()).toBe(PLAIN)
  })

  it('tells it without colours where none are wanted', async () => {
    await open((request) => tell(request, '', '\u001b[1mtwo\u001b[22m wait'))
    const start = { hook_event_name: 'SessionStart', source: 'startup' }
    const told = async (env: NodeJS.ProcessEnv) => JSON.parse((await hook.run(start, env)).stdout).systemMessage
    expect(await told({ NO_COLOR: '1' })).toBe('two wait')
    expect(await told({ NO_COLOR: '' })).toBe('\u001b[1mtwo\u001b[22m wait')
  })

  it('may have no context', async () => {
    await open((request) => tell(request))
    expect(await hook.run({ hook_event_name: 'SessionStart', source: 'startup' })).toEqual(quiet)
  })

  it('may answer in pieces of any size', async () => {
    await open((request) => {
      const text = `${lineFor(request)}\n${request.seed}\n`
      request.response.writeHead(200, { 'content-length': text.length })
      const send = (at: number): void => {
        if (at === text.length) return void request.response.end()
        request.response.write(text.charAt(at), () => send(at + 1))
      }
      send(0)
    })
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(hook.spooled()).toEqual([])
  })

  it('gets 50 MB of output cut to its bound', async () => {
    const { events } = await accept()
    const stdout = 'a line of output that goes on and on\n'.repeat(1_400_000)
    expect(await hook.run({ ...BASH, tool_response: { stdout } })).toEqual(quiet)
    const length = JSON.stringify(events[0]).length
    expect(length).toBeGreaterThan(60_000)
    expect(length).toBeLessThan(90_000)
  })

  it('does not get a payload of more than 64 MB, and the user is told', async () => {
    const { events } = await accept()
    const lines = Array.from({ length: 70 }, (_, i) => `${i}${'x'.repeat(1_000_000)}`)
    const { code, stdout } = await hook.run({ ...BASH, tool_response: lines })
    expect({ code, answer: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      answer: { continue: true, systemMessage: expect.stringContaining('did not store this event') },
    })
    expect(events).toEqual([])
  })

  it('gets a whole event of half a megabyte', async () => {
    const { events } = await accept()
    const parts = Array.from({ length: 7 }, (_, i) => `${i}${'x'.repeat(60_000)}`)
    await hook.run({ ...BASH, tool_response: parts })
    expect(events[0]).toMatchObject({ response: parts })
  })

  it('gets valid text for invalid UTF-8', async () => {
    const { events } = await accept()
    const [head, tail] = JSON.stringify({ session_id: 's', cwd: '/', ...BASH, tool_response: 'a@b' }).split('@')
    await hook.run(Buffer.concat([Buffer.from(head ?? ''), Buffer.from([0xff, 0xc3]), Buffer.from(`\\ud800${tail}`)]))
    expect(events[0]).toMatchObject({ response: expect.stringMatching(/^a\ufffd+b$/) })
  })

  it.each([
    { code: 'storage', started: false },
    { code: 'bad_request', started: false },
    { code: 'draining', started: true },
    // The daemon is older than the hook: a new one takes over.
    { code: 'conflict', started: true },
  ])('that answers $code leaves the event to the spool', async ({ code, started }) => {
    await open(({ response }) => fail(response, code))
    expect(await hook.run({ ...BASH, tool_use_id: code })).toEqual(quiet)
    expect(hook.spooled().map((event) => event.id)).toEqual([code])
    if (started) await expect.poll(() => hook.wasStarted()).toBe(true)
    else expect(hook.wasStarted()).toBe(false)
  })

  it('whose ack is lost: the event is spooled with the same id', async () => {
    const { events } = await open(({ response }) => response.destroy())
    expect(await hook.run({ hook_event_name: 'Stop', last_assistant_message: 'no ids at all' })).toEqual(quiet)
    expect(hook.spooled().map(({ id, kind }) => ({ id, kind }))).toEqual(events.map(({ id, kind }) => ({ id, kind })))
    expect(hook.spooled()).toHaveLength(1)
  })

  it('that never answers delays the hook by two seconds at most', async () => {
    await open(() => {})
    const began = Date.now()
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(Date.now() - began).toBeGreaterThan(1_900)
    expect(hook.spooled().map((event) => event.id)).toEqual(['toolu_1'])
    expect(hook.wasStarted()).toBe(false)
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'leaves the event to the spool when %s ends the wait',
    async (signal) => {
      let end = (): void => {}
      await open(() => end())
      const ran = await hook.run(BASH, {}, (child) => {
        end = () => child.kill(signal)
      })
      expect(ran).toEqual(quiet)
      expect(hook.spooled().map((event) => event.id)).toEqual(['toolu_1'])
    },
  )

  it.each([
    ['nothing', ''],
    ['no', 'HTTP/1.1 403 Forbidden\r\n\r\n'],
    ['half an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{"continue":true'],
    ['an answer without the seed', 'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n{"continue":true}\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n\r\n'],
    ['noise', '\0\xff'.repeat(20_000)],
  ])('that says %s leaves the event to the spool', async (_what, text) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write(text, 'latin1')
    })
    await new Promise<void>((resolve) => server.listen(join(hook.dataDir, 'daemon.sock'), resolve))
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(hook.spooled()).toHaveLength(1)
    server.close()
  })
})

describe('no daemon', () => {
  it('spools the event and starts one', async () => {
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(hook.spooled()).toMatchObject([{ id: 'toolu_1', kind: 'tool_use' }])
    expect(await hook.started()).toBe(1)
    const spool = join(hook.dataDir, 'spool')
    const [name = ''] = readdirSync(spool)
    expect(name).toMatch(new RegExp(`^\\d{15}-\\d+-0-${shortHash('toolu_1')}\\.json$`))
    expect(statSync(spool).mode & 0o777).toBe(0o700)
    expect(statSync(join(spool, name)).mode & 0o777).toBe(0o600)
  })

  it.skipIf(process.platform !== 'linux')(
    'makes the names of new directories durable before the event counts',
    async () => {
      const data = join(hook.dataDir, 'new', 'data')
      const note = join(hook.cwd, 'synced')
      const preload = join(hook.cwd, 'preload.cjs')
      // What the real calls of the hook sync, in their order.
      writeFileSync(
        preload,
        `const fs = require('node:fs')
const sync = fs.fsyncSync
fs.fsyncSync = (fd) => { fs.appendFileSync(${JSON.stringify(note)}, fs.readlinkSync('/proc/self/fd/' + fd) + '\\n'); sync(fd) }`,
      )
      const env = { NODE_OPTIONS: `--require ${preload}` }
      expect(await hook.run(BASH, env, undefined, ['--data-dir', data])).toEqual(quiet)
      const synced = readFileSync(note, 'utf8').trim().split('\n')
      expect(synced).toEqual(
        expect.arrayContaining([hook.dataDir, join(hook.dataDir, 'new'), data, join(data, 'spool')]),
      )
    },
  )

  it('makes a data directory that is not there yet, for its owner only', async () => {
    rmSync(hook.dataDir, { recursive: true })
    await hook.run(BASH)
    expect(hook.spooled()).toHaveLength(1)
    expect(statSync(hook.dataDir).mode & 0o777).toBe(0o700)
  })

  it('gives a starting session what was rendered last', async () => {
    const name = shortHash(`dir:${hook.cwd}`)
    const started = async () => (await hook.run({ hook_event_name: 'SessionStart', source: 'startup' })).stdout
    hook.context(`${name}.json`, JSON.stringify({ v: 1, context: 'what was known', message: 'two wait' }))
    expect(JSON.parse(await started())).toEqual({
      continue: true,
      suppressOutput: true,
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'what was known' },
      systemMessage: 'two wait',
    })
    for (const broken of ['{"v":1,"context":"half', '[]', '{"v":2,"context":"newer"}', '{"v":1,"context":{}}', '']) {
      hook.context(`${name}.json`, broken)
      expect(await started()).toBe(PLAIN)
    }
    expect(hook.spooled()).toHaveLength(6)
  })

  describe('with a team', () => {
    beforeEach(() => writeFileSync(join(hook.dataDir, 'team.json'), '{"url":"postgres://ana@127.0.0.1/memory"}'))

    /** A daemon answers only after the hook has started one. */
    async function startedSession(env: NodeJS.ProcessEnv = {}): Promise<string> {
      const running = hook.run({ hook_event_name: 'SessionStart', source: 'startup' }, env)
      await hook.started()
      await open((request) => tell(request, 'from the team'))
      return (await running).stdout
    }

    it('waits for the daemon that it starts if there is no database yet, after the event was spooled', async () => {
      expect(await startedSession()).toBe(withContext('from the team'))
      expect(hook.spooled().map(({ id }) => id)).toEqual(door?.events.map(({ id }) => id))
    })

    it('does not wait once there is a database', async () => {
      writeFileSync(dataPaths(hook.dataDir).database, '')
      expect(await startedSession()).toBe(PLAIN)
    })

    it.each(['CLAUDE_MEM_TEAM_START_WAIT_MS', 'CLAUDE_MEM_CONTEXT_TOKENS'])(
      'does not wait if %s is 0',
      async (name) => {
        expect(await startedSession({ [name]: '0' })).toBe(PLAIN)
      },
    )
  })

  it('gives nothing that was switched off since it was rendered', async () => {
    const kept = JSON.stringify({ v: 1, context: 'what was known', message: 'two wait' })
    hook.context(`${shortHash(`dir:${hook.cwd}`)}.json`, kept)
    const start = { hook_event_name: 'SessionStart', source: 'startup' }
    expect((await hook.run(start, { CLAUDE_MEM_CONTEXT_TOKENS: '0' })).stdout).toBe(
      answer({ systemMessage: 'two wait' }),
    )
    expect((await hook.run(start, { CLAUDE_MEM_CONTEXT_MESSAGE: 'off' })).stdout).toBe(withContext('what was known'))
  })

  it("is started without the project's environment, except for the data directory", async () => {
    writeFileSync(join(hook.dataDir, 'settings.json'), '{"CLAUDE_MEM_CA_CERTS":"/etc/ssl/own.pem"}')
    const hostile = {
      CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://evil.example',
      CLAUDE_MEM_PROVIDER: 'anthropic',
      CLAUDE_MEM_LOG_LEVEL: 'trace',
      CLAUDE_MEM_FAULT: 'anything',
      CLAUDE_MEM_CA_CERTS: '/tmp/evil.pem',
      ANTHROPIC_API_KEY: 'not-a-real-key',
      ANTHROPIC_BASE_URL: 'https://evil.example',
      ANTHROPIC_CUSTOM_HEADERS: 'x: y',
      OPENAI_BASE_URL: 'https://evil.example',
      CLAUDE_CODE_PATH: '/tmp/evil',
      CLAUDE_CONFIG_DIR: '/tmp/evil',
      HF_ENDPOINT: 'https://evil.example',
      HTTPS_PROXY: 'http://evil.example',
      https_proxy: 'http://evil.example',
      NODE_EXTRA_CA_CERTS: '/tmp/evil.pem',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_OPTIONS: '--no-warnings',
      NODE_PATH: '/tmp/evil',
      SSL_CERT_FILE: '/tmp/evil.pem',
      LD_PRELOAD: '',
    }
    expect(await hook.run(BASH, { ...hostile, LC_TIME: 'de_DE.UTF-8', TZ: 'Europe/Berlin' })).toMatchObject({ code: 0 })
    await hook.started()
    const environment = JSON.parse(readFileSync(join(hook.dataDir, 'environment'), 'utf8'))
    expect(JSON.stringify(environment)).not.toContain('evil')
    const names = Object.keys(environment)
    expect(names.filter((name) => Object.hasOwn(hostile, name))).toEqual(['NODE_EXTRA_CA_CERTS'])
    expect(names.filter((name) => name.startsWith('CLAUDE_MEM_'))).toEqual(['CLAUDE_MEM_DATA_DIR'])
    expect(environment).toMatchObject({
      CLAUDE_MEM_DATA_DIR: hook.dataDir,
      NODE_EXTRA_CA_CERTS: '/etc/ssl/own.pem',
      LC_TIME: 'de_DE.UTF-8',
      TZ: 'Europe/Berlin',
      PATH: process.env.PATH,
    })
  })

  it('is started without what leads into the project: no program on its PATH is there', async () => {
    const { cwd, dataDir } = hook
    const PATH = [join(cwd, 'node_modules', '.bin'), cwd, './bin', process.env.PATH].join(delimiter)
    await hook.run(BASH, { PATH, HOME: cwd, XDG_CONFIG_HOME: join(cwd, 'config'), SHELL: './sh' })
    await hook.started()
    const environment = readFileSync(join(dataDir, 'environment'), 'utf8')
    expect(environment).not.toContain(cwd)
    expect(environment).not.toContain('./')
    expect(JSON.parse(environment).PATH).toBe(process.env.PATH)
  })

  it('is started once by many hooks at the same time', async () => {
    const runs = Array.from({ length: 40 }, (_, i) => hook.run({ ...BASH, tool_use_id: `toolu_${i}` }))
    for (const ran of await Promise.all(runs)) expect(ran).toEqual(quiet)
    expect(hook.spooled()).toHaveLength(40)
    expect(await hook.started()).toBe(1)
  }, 60_000)

  it('is started anew when the one who tried has failed', async () => {
    const lock = join(hook.dataDir, 'starting')
    writeFileSync(lock, '{}')
    await hook.run(BASH)
    expect(existsSync(join(hook.dataDir, 'started'))).toBe(false)
    utimesSync(lock, new Date(Date.now() - 20_000), new Date(Date.now() - 20_000))
    await hook.run(BASH)
    expect(await hook.started()).toBe(1)
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: expect.any(Number), at: expect.any(Number) })
  })
})

describe('whatever comes', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['half a JSON', '{"session_id":"s","hook_event_name":"Stop"'],
    ['an unknown event', '{"session_id":"s","hook_event_name":"Whatever"}'],
    ['no session id', '{"hook_event_name":"Stop"}'],
    ['a nest of arrays', '['.repeat(1_000_000)],
  ])('%s: answers, keeps nothing', async (_what, input) => {
    expect(await hook.run(input)).toEqual(quiet)
    expect(readdirSync(hook.dataDir)).toEqual([])
  })

  it('a tool result nested very deeply', async () => {
    const { events } = await accept()
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const text = JSON.stringify({ session_id: 's', cwd: '/', ...BASH, tool_response: 0 }).replace(
      '"tool_response":0',
      `"tool_response":${nested}`,
    )
    expect(await hook.run(text)).toEqual(quiet)
    expect(JSON.stringify(events[0])).toContain('nested too deep')
  })

  it('a file where the data directory should be', async () => {
    rmSync(hook.dataDir, { recursive: true })
    writeFileSync(hook.dataDir, '')
    expect(await hook.run(BASH)).toEqual(quiet)
    const told = { continue: true, suppressOutput: true, systemMessage: expect.stringContaining('could not store') }
    for (const payload of [
      { hook_event_name: 'SessionStart', source: 'startup' },
      { hook_event_name: 'UserPromptSubmit', prompt: '<private>s</private>' },
    ]) {
      const { code, stdout, stderr } = await hook.run(payload)
      expect({ code, stderr, answer: JSON.parse(stdout) }).toEqual({ code: 0, stderr: '', answer: told })
    }
  })

  it('a spool that is a file: the user is told that nothing is remembered, with each prompt', async () => {
    writeFileSync(join(hook.dataDir, 'spool'), '')
    expect(await hook.run(BASH)).toEqual(quiet)
    const { stdout } = await hook.run({ hook_event_name: 'UserPromptSubmit', prompt: 'fix it' })
    expect(JSON.parse(stdout).systemMessage).toMatch(/could not store this event.*EEXIST.*nothing of this session/)
  })

  it('a working directory that does not exist any more', async () => {
    await hook.run({ ...BASH, cwd: join(hook.cwd, 'gone') })
    expect(hook.spooled()).toHaveLength(1)
  })

  it('settings that are no settings', async () => {
    writeFileSync(join(hook.dataDir, 'settings.json'), '{"CLAUDE_MEM_MAX_FIELD_KB":')
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(hook.spooled()).toHaveLength(1)
  })

  it('a daemon that cannot be started', async () => {
    mkdirSync(join(hook.dataDir, 'starting'))
    expect(await hook.run(BASH)).toEqual(quiet)
    expect(hook.spooled()).toHaveLength(1)
  })

  it('a disabled hook does nothing', async () => {
    expect(await hook.run(BASH, { CLAUDE_MEM_HOOK_DISABLED: '1' })).toEqual(quiet)
    expect(readdirSync(hook.dataDir)).toEqual([])
  })

  it('an excluded project is not observed', async () => {
    const { events } = await accept()
    expect(await hook.run(BASH, { CLAUDE_MEM_EXCLUDED_PROJECTS: hook.cwd })).toEqual(quiet)
    expect(
      await hook.run(
        { hook_event_name: 'UserPromptSubmit', prompt: '<private>s' },
        { CLAUDE_MEM_EXCLUDED_PROJECTS: hook.cwd },
      ),
    ).toEqual(quiet)
    expect(events).toEqual([])
    expect(readdirSync(hook.dataDir)).toEqual(['daemon.sock'])
  })
})

it('the environment of a project can exclude more, and never less', async () => {
  const { events } = await accept()
  const stored = { CLAUDE_MEM_EXCLUDED_PROJECTS: [hook.cwd], CLAUDE_MEM_SKIP_TOOLS: ['Bash'] }
  writeFileSync(join(hook.dataDir, 'settings.json'), JSON.stringify(stored))
  await hook.run(BASH, { CLAUDE_MEM_EXCLUDED_PROJECTS: '', CLAUDE_MEM_SKIP_TOOLS: '' })
  await hook.run(BASH, { CLAUDE_MEM_EXCLUDED_PROJECTS: '/elsewhere', CLAUDE_MEM_SKIP_TOOLS: 'Glob' })
  writeFileSync(join(hook.dataDir, 'settings.json'), JSON.stringify({ CLAUDE_MEM_SKIP_TOOLS: ['Bash'] }))
  await hook.run(BASH, { CLAUDE_MEM_SKIP_TOOLS: 'Glob' })
  expect(events).toEqual([])
})

describe('a private turn', () => {
  const prompt = (text: string): Record<string, unknown> => ({ hook_event_name: 'UserPromptSubmit', prompt: text })

  it('is not observed, and the next one is', async () => {
    const { events } = await accept()
    await hook.run(prompt('<private>the whole of it</private>'))
    expect(readdirSync(join(hook.dataDir, 'private-turns'))).toEqual(['session-0001'])
    await hook.run(BASH)
    await hook.run({ hook_event_name: 'Stop', last_assistant_message: 'whole' })
    await hook.run({ hook_event_name: 'SessionStart', source: 'compact' })
    await hook.run({ ...BASH, session_id: 'session-0002' })
    await hook.run(BASH)
    await hook.run(prompt('and now <private>x</private>'))
    await hook.run(BASH)
    const seen = events.map(({ session, kind }) => [session, kind])
    expect(seen).toEqual([
      ['session-0001', 'prompt'],
      ['session-0001', 'session_start'],
      ['session-0002', 'tool_use'],
      ['session-0001', 'prompt'],
      ['session-0001', 'tool_use'],
    ])
    expect(events[0]).toMatchObject({ text: '', private: true })
    expect(events[3]).toMatchObject({ text: 'and now [private]', private: false })
    expect(JSON.stringify(events)).not.toContain('whole')
  })

  it.each([
    ['SessionEnd', { hook_event_name: 'SessionEnd', reason: 'other' }],
    ['SessionStart', { hook_event_name: 'SessionStart', source: 'clear' }],
  ])('ends with %s', async (_name, end) => {
    const { events } = await accept()
    await hook.run(prompt('<private>x'))
    await hook.run(end)
    await hook.run(BASH)
    expect(events.map(({ kind }) => kind)).toEqual(['prompt', expect.any(String), 'tool_use'])
  })

  it('keeps a session id from naming another file', async () => {
    await hook.run({ ...prompt('<private>x'), session_id: '../../evil' })
    expect(readdirSync(join(hook.dataDir, 'private-turns'))).toEqual([`s-${shortHash('../../evil')}`])
  })
})
