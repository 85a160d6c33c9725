/** The fast hook against a real daemon: rules P19 to P24 of docs/hook-protocol.md. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { listSpool, readSpool } from '../../src/hook/spool.ts'
import { DIST } from '../support/paths.ts'
import { finished, runProgram } from '../support/programs.ts'
import { CURL, FastHookPlace, SHELLS } from './fast-hook-place.ts'

const place = new FastHookPlace()
const EMPTY = '{"continue":true,"suppressOutput":true}\n'

/** What a killed script left. */
const stale = `/dev/shm/claude-mem-${process.pid}-1-0`

beforeAll(async () => {
  if (existsSync('/dev/shm')) {
    writeFileSync(stale, '', { mode: 0o600 })
    utimesSync(stale, 1, 1)
  }
  await place.start()
})
beforeEach(() => {
  place.nodeStarts()
})
afterAll(() => place.sandbox.dispose())

let count = 0
const newSession = (): string => `fast-session-${String(++count).padStart(4, '0')}`

function claude(session: string, event: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { session_id: session, cwd: place.cwd, hook_event_name: event, ...fields }
}

const bash = (session: string, fields: Record<string, unknown> = {}): Record<string, unknown> =>
  claude(session, 'PostToolUse', {
    tool_name: 'Bash',
    tool_input: { command: 'echo hi' },
    tool_response: { stdout: 'hi' },
    ...fields,
  })

function cursor(session: string, event: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    conversation_id: session,
    generation_id: 'generation-1',
    workspace_roots: [place.cwd],
    hook_event_name: event,
    ...fields,
  }
}

/** Without ids and times, which differ between two runs. */
const comparable = (events: Record<string, unknown>[]): unknown[] =>
  events.map(({ kind, tool, outcome, payload }) => ({
    kind,
    tool,
    outcome,
    payload: { ...Object(payload), id: '', at: 0, session: '' },
  }))

/** A payload posted as the script posts it. `sent`: the whole request is on its way. */
function post({ sandbox }: FastHookPlace, payload: object): { sent: Promise<unknown>; status: Promise<number> } {
  const sent = request({
    socketPath: sandbox.paths.socket,
    method: 'POST',
    path: `/hook?client=claude-code&version=0.0.1&seed=test-${++count}`,
  })
  const status = once(sent, 'response').then(([response]) => {
    response.resume()
    return response.statusCode
  })
  const body = Buffer.from(JSON.stringify(payload))
  sent.setHeader('content-length', body.length)
  sent.end(body)
  return { sent: once(sent, 'finish'), status }
}

const spooled = () => listSpool(place.sandbox.paths.spool).map((file) => readSpool(file))

describe('a daemon that answers', () => {
  it('gives both hooks the same bytes for every event of every client, and stores the same', async () => {
    await place.sandbox.ask((client) =>
      client.call('remember', {
        project: projectOfDirectory(place.cwd),
        cwd: place.cwd,
        title: 'The cart is rounded',
        text: 'Totals of the cart are "rounded" to cents: ü 😀 $(x) `y`',
        by: 'person',
      }),
    )
    const file = join(place.cwd, 'a.ts')
    writeFileSync(file, 'export {}')
    const events: [string, (session: string) => Record<string, unknown>][] = [
      ['claude-code', (s) => claude(s, 'SessionStart', { source: 'startup' })],
      ['cursor', (s) => cursor(s, 'sessionStart')],
      ['claude-code', (s) => claude(s, 'UserPromptSubmit', { prompt: 'How is the cart rounded?' })],
      ['claude-code', (s) => bash(s, { tool_use_id: 'toolu_1' })],
      ['claude-code', (s) => claude(s, 'PreToolUse', { tool_name: 'Read', tool_input: { file_path: file } })],
      [
        'claude-code',
        (s) =>
          claude(s, 'PostToolUseFailure', { tool_name: 'Bash', tool_input: {}, error: 'exit 1', tool_use_id: 'f' }),
      ],
      [
        'claude-code',
        (s) => claude(s, 'SubagentStop', { agent_id: 'a', agent_type: 'E', last_assistant_message: 'm' }),
      ],
      ['claude-code', (s) => claude(s, 'PreCompact', { trigger: 'auto' })],
      ['claude-code', (s) => claude(s, 'Stop', { last_assistant_message: 'done' })],
      ['claude-code', (s) => claude(s, 'StopFailure', { error: 'overloaded' })],
      ['claude-code', (s) => claude(s, 'SessionEnd', { reason: 'exit' })],
      ['claude-code', (s) => claude(s, 'Notification', { message: 'not observed' })],
      ['claude-code', () => claude('', 'Stop')],
      ['cursor', (s) => cursor(s, 'beforeSubmitPrompt', { prompt: 'go' })],
      ['cursor', (s) => cursor(s, 'afterShellExecution', { command: 'ls', output: 'a' })],
      ['cursor', (s) => cursor(s, 'afterFileEdit', { file_path: file, edits: [{ old_string: 'a', new_string: 'b' }] })],
      ['cursor', (s) => cursor(s, 'afterMCPExecution', { tool_name: 'x', tool_input: '{}', result_json: '{}' })],
      ['cursor', (s) => cursor(s, 'stop', { status: 'completed' })],
      ['cursor', (s) => cursor(s, 'stop', { status: 'error', error_message: 'boom' })],
      ['cursor', (s) => cursor(s, 'sessionEnd', { reason: 'closed' })],
      ['cursor', (s) => cursor(s, 'unknownEvent')],
    ]
    const one = newSession()
    const other = newSession()
    for (const [client, make] of events) {
      const args = client === 'claude-code' ? [] : ['--client', client]
      const expected = await place.plain(make(one), {}, args)
      const answered = await place.fast(make(other), { args })
      expect(answered, JSON.stringify(make(other))).toEqual(expected)
    }
    expect(place.nodeStarts()).toBe(0)
    const context = await place.fast(claude(newSession(), 'SessionStart', { source: 'startup' }))
    expect(context.stdout).toContain('Totals of the cart')
    expect(comparable(await place.stored(other))).toEqual(comparable(await place.stored(one)))
  }, 120_000)

  it('gives both hooks the same bytes for other clients, also none, and the context once', async () => {
    await place.sandbox.ask((client) =>
      client.call('remember', {
        project: projectOfDirectory(place.cwd),
        cwd: place.cwd,
        title: 'The cart is rounded',
        text: 'Totals of the cart are rounded to cents',
        by: 'person',
      }),
    )
    const events: [string, string, Record<string, unknown>, RegExp][] = [
      ['codex', 'SessionStart', { source: 'startup', model: 'm' }, /Totals of the cart/],
      ['codex', 'UserPromptSubmit', { turn_id: 't1', prompt: 'go' }, /^/],
      ['codex', 'Stop', { turn_id: 't1', last_assistant_message: 'done' }, /^$/],
      ['gemini', 'SessionStart', { source: 'startup', timestamp: 'a' }, /^(?!.*Totals)/],
      ['gemini', 'BeforeAgent', { prompt: 'go', timestamp: 'b' }, /Totals of the cart/],
      ['gemini', 'BeforeAgent', { prompt: 'go on', timestamp: 'c' }, /^(?!.*Totals)/],
      ['gemini', 'AfterAgent', { prompt: 'go', prompt_response: 'done', timestamp: 'd' }, /^/],
      ['qwen', 'SessionStart', { source: 'startup' }, /Totals of the cart/],
      ['copilot', 'SessionStart', { source: 'startup', timestamp: 1 }, /^/],
    ]
    const sessions = new Map<string, [string, string]>()
    for (const [client, event, fields, answer] of events) {
      const [one, other] = sessions.get(client) ?? [newSession(), newSession()]
      sessions.set(client, [one, other])
      const expected = await place.plain(claude(one, event, fields), {}, ['--client', client])
      expect(expected, `${client} ${event}`).toMatchObject({ code: 0, stdout: expect.stringMatching(answer) })
      expect(await place.fast(claude(other, event, fields), { args: ['--client', client] })).toEqual(expected)
    }
    expect(place.nodeStarts()).toBe(0)
  }, 120_000)

  it('gets each payload exactly, in every shell, kept in memory or in a variable', async () => {
    const hostile = `quotes " ' \\ \` $(touch /tmp/x) \${HOME} %s %d * ? [a] ~ & | ; < > \t é 😀 x\n\n`
    const scripts = [undefined, place.withoutSharedMemory()]
    for (const shell of SHELLS) {
      for (const script of scripts) {
        const session = newSession()
        const payload = `${JSON.stringify(bash(session, { tool_use_id: 'h', tool_response: { stdout: hostile } }))}\n\n`
        const ran = await place.fast(payload, { shell, ...(script === undefined ? {} : { script }) })
        expect({ ...ran, shell }).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
        expect(await place.stored(session)).toMatchObject([
          { eventId: 'h', payload: { response: { stdout: hostile } } },
        ])
      }
    }
    expect(place.nodeStarts()).toBe(0)
  }, 120_000)

  it('gets invalid UTF-8 and 5 MB like the other hook', async () => {
    const bytes = Buffer.from(Array.from({ length: 224 }, (_, i) => i + 32)).toString('latin1')
    const text = Buffer.from(bytes.replaceAll(/["\\]/g, ''), 'latin1')
    const [head = '', tail = ''] = JSON.stringify(bash('SESSION', { tool_use_id: 'b', tool_response: '@@' })).split(
      '@@',
    )
    const invalid = (session: string) =>
      Buffer.concat([Buffer.from(head.replace('SESSION', session)), text, Buffer.from(tail)])
    const large = (session: string) =>
      Buffer.from(
        JSON.stringify(bash(session, { tool_use_id: 'l', tool_response: { stdout: 'a line\n'.repeat(750_000) } })),
      )
    for (const script of [undefined, place.withoutSharedMemory()]) {
      for (const make of [invalid, large]) {
        const [one, other] = [newSession(), newSession()]
        const expected = await place.plain(make(one))
        expect(await place.fast(make(other), script === undefined ? {} : { script })).toEqual(expected)
        expect(comparable(await place.stored(other))).toEqual(comparable(await place.stored(one)))
      }
    }
    expect(place.nodeStarts()).toBe(0)
  }, 120_000)

  it('stores nothing of a payload with a zero byte, which is not JSON', async () => {
    const session = newSession()
    const text = JSON.stringify(bash(session, { tool_use_id: 'z' }))
    const before = await place.sessions()
    for (const at of [0, 1, 30, text.length]) {
      const payload = Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0]), Buffer.from(text.slice(at))])
      for (const script of [undefined, place.withoutSharedMemory()]) {
        const ran = await place.fast(payload, script === undefined ? {} : { script })
        expect(ran).toEqual(await place.plain(payload))
      }
    }
    expect(await place.sessions()).toEqual(before)
  }, 60_000)

  it('removes secrets and private parts before anything is stored', async () => {
    const session = newSession()
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
    await place.fast(bash(session, { tool_response: { stdout: `token ${secret} <private>my diary</private>` } }))
    const stored = JSON.stringify(await place.stored(session))
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain('diary')
    expect(stored).toContain('[secret')
  })

  it('records a private turn for a hook that runs without the daemon', async () => {
    const session = newSession()
    await place.fast(claude(session, 'UserPromptSubmit', { prompt: '<private>all of it</private>', prompt_id: 'p1' }))
    await place.fast(bash(session, { tool_use_id: 'in-private', prompt_id: 'p1' }))
    expect(existsSync(join(place.sandbox.paths.privateTurns, session))).toBe(true)
    expect((await place.stored(session)).map(({ eventId }) => eventId)).not.toContain('in-private')
    expect(place.nodeStarts()).toBe(0)
  })

  it('answers without colours where none are wanted', async () => {
    const start = () => claude(newSession(), 'SessionStart', { source: 'startup' })
    for (const NO_COLOR of ['1', '']) {
      expect((await place.fast(start(), { env: { NO_COLOR } })).stdout).toBe(
        (await place.plain(start(), { NO_COLOR })).stdout,
      )
    }
  })

  it('keeps the order of a session: a large event is not overtaken by a small one', async () => {
    const session = newSession()
    const stdout = 'a line of output that takes a while to clean\n'.repeat(100_000)
    const large = post(place, bash(session, { tool_use_id: 'large', tool_response: { stdout } }))
    await large.sent
    const small = post(place, bash(session, { tool_use_id: 'small' }))
    expect([await large.status, await small.status]).toEqual([200, 200])
    expect((await place.stored(session)).map(({ eventId }) => eventId)).toEqual(['large', 'small'])
  }, 60_000)
})

describe('what leads to the other hook', () => {
  const usesNode = async (run: Parameters<FastHookPlace['fast']>[1]): Promise<void> => {
    const session = newSession()
    expect(await place.fast(bash(session, { tool_use_id: 'n' }), run)).toMatchObject({
      code: 0,
      stdout: EMPTY,
      stderr: '',
    })
    expect(place.nodeStarts()).toBe(1)
    // What the other hook cannot post either is read from the spool.
    const stored = () => place.stored(session).catch(() => [])
    await expect.poll(stored, { timeout: 5_000 }).toMatchObject([{ eventId: 'n' }])
  }

  it('no curl', () => usesNode({ curl: '/nonexistent/curl' }))

  it('a curl without Unix sockets', () =>
    usesNode({
      curl: place.program('old-curl', 'echo "curl: option --unix-socket: is unknown" >&2; exit 2'),
    }))

  it.each([
    ['prints something and succeeds', 'echo hello'],
    ['prints JSON and succeeds', 'cat >/dev/null; printf \'{"continue":true}\\n\''],
    ['prints nothing and succeeds', 'exit 0'],
    ['is not a program', 'exec /nonexistent/program'],
    ['loses the end of the answer', `/usr/bin/curl "$@" | head -c 12`],
    ['dies', 'kill -9 $$'],
  ])('a broken curl that %s', (_, script) => usesNode({ curl: place.program('broken-curl', script) }))

  it('a curl that ends before it has read a large payload, in every shell: nothing of it is lost', async () => {
    const curl = place.program('hasty-curl', 'exit 7')
    const output = 'a line of output\n'.repeat(60_000)
    for (const shell of SHELLS) {
      const session = newSession()
      const payload = bash(session, { tool_use_id: 'h', tool_response: { stdout: output } })
      expect(await place.fast(payload, { curl, shell })).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
      const other = newSession()
      await place.plain({ ...payload, session_id: other })
      expect(comparable(await place.stored(session))).toEqual(comparable(await place.stored(other)))
    }
    expect(place.nodeStarts()).toBe(SHELLS.length)
  }, 60_000)

  it('a tee that a broken pipe ends: nothing of a large payload is lost', async () => {
    const script = place.changedScript('fragile-tee', (text) =>
      text.replace('exec tee', 'exec env --default-signal=PIPE tee'),
    )
    const curl = place.program('hasty-curl', 'exit 7')
    const output = 'a line of output\n'.repeat(60_000)
    for (const shell of SHELLS) {
      const session = newSession()
      await place.fast(bash(session, { tool_use_id: 'p', tool_response: { stdout: output } }), { curl, shell, script })
      expect([shell, (await place.stored(session)).length]).toEqual([shell, 1])
    }
  }, 60_000)

  it('an input that does not wait for its writer: nothing of it is lost', async () => {
    const fifo = join(place.home, 'input')
    execFileSync('mkfifo', [fifo])
    // The pipe stays as node has set it.
    const unblock = `'${process.execPath}' -e 'process.stdin; process.kill(process.pid, "SIGKILL")'`
    for (const script of [join(DIST, 'fast-hook.sh'), place.withoutSharedMemory()]) {
      for (const shell of SHELLS) {
        const session = newSession()
        const text = JSON.stringify(bash(session, { tool_use_id: 'n', tool_response: { stdout: 'x'.repeat(5_000) } }))
        const line = `exec <'${fifo}'; ${unblock}; ${shell.join(' ')} '${script}' '${place.node}' '${CURL}' --data-dir '${place.sandbox.dataDir}'; exit $?`
        const child = spawn('/bin/bash', ['-c', line], { env: place.env, cwd: place.cwd })
        const writer = await open(fifo, 'w')
        await writer.write(text.slice(0, 2_000))
        await sleep(400)
        await writer.write(text.slice(2_000))
        await writer.close()
        expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY })
        expect([shell, (await place.stored(session)).length]).toEqual([shell, 1])
      }
    }
  }, 120_000)

  it('a directory that is not absolute: only the hook knows its own', async () => {
    const session = newSession()
    await place.fast({ ...bash(session, { tool_use_id: 'r' }), cwd: 'sub' })
    expect(place.nodeStarts()).toBe(1)
    expect(await place.stored(session)).toMatchObject([{ eventId: 'r' }])
  })

  it('no tee', () =>
    usesNode({
      script: place.changedScript('no-tee', (text) => text.replace('exec tee', 'exec /nonexistent/tee')),
    }))

  it('an empty payload', async () => {
    for (const script of [join(DIST, 'fast-hook.sh'), place.withoutSharedMemory()]) {
      expect(await place.fast('', { script })).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
      expect(place.nodeStarts()).toBe(1)
    }
  })

  it('a newer version than the daemon has', () =>
    usesNode({
      script: place.changedScript('newer', (text) => text.replace(/^version='.*'$/m, "version='99.0.0'")),
    }))

  it('an argument that the script does not know', () => usesNode({ args: ['--client', 'claude-code', '--more'] }))
  it('a client that the daemon does not know', () => usesNode({ args: ['--client', 'no-such-client'] }))

  it('a payload without a directory: only the hook knows its own', async () => {
    const session = newSession()
    const { cwd: _, ...payload } = bash(session, { tool_use_id: 'c' })
    await place.fast(payload)
    expect(place.nodeStarts()).toBe(1)
    expect(await place.stored(session)).toMatchObject([{ eventId: 'c' }])
  })

  it('a variable that concerns only this session', async () => {
    for (const env of [{ CLAUDE_MEM_SKIP_TOOLS: 'Bash' }, { CLAUDE_MEM_HOOK_DISABLED: '1' }]) {
      const session = newSession()
      expect(await place.fast(bash(session), { env })).toMatchObject({ code: 0, stdout: EMPTY })
      expect(place.nodeStarts()).toBe(1)
      expect(await place.sessions()).not.toContain(session)
    }
  })
})

describe('the environment of a client', () => {
  it('may have profiles, a ~/.curlrc, a proxy and a strange locale', async () => {
    const noise = join(place.home, 'noise.sh')
    writeFileSync(noise, 'echo noise; alias cat=false\n')
    for (const name of ['.profile', '.bashrc', '.kshrc']) writeFileSync(join(place.home, name), 'echo noise\n')
    writeFileSync(join(place.home, '.curlrc'), 'verbose\ninclude\nproxy = "http://127.0.0.1:1"\nmax-time = 0.001\n')
    const env = {
      ENV: noise,
      BASH_ENV: noise,
      http_proxy: 'http://127.0.0.1:1',
      ALL_PROXY: 'http://127.0.0.1:1',
      LC_ALL: 'C.UTF-8',
      IFS: 'abc',
      CDPATH: '/',
    }
    for (const shell of SHELLS.filter(([name]) => name !== '/bin/bash')) {
      expect(await place.fast(bash(newSession()), { env, shell })).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
    }
    expect(place.nodeStarts()).toBe(0)
  }, 60_000)

  it('may have functions under the names of the tools', async () => {
    const names = ['rm', 'printf', 'true', 'read', 'command', 'tee', 'cd', '[']
    const env = Object.fromEntries(names.map((name) => [`BASH_FUNC_${name}%%`, '() { echo hijacked; return 1; }']))
    for (const shell of [['/bin/bash', '--posix'], ...SHELLS]) {
      const session = newSession()
      const ran = await place.fast(bash(session, { tool_use_id: 'f' }), { env, shell })
      if (shell[0] === '/bin/bash' && shell.length === 1) continue
      expect([shell, ran.stdout]).toEqual([shell, EMPTY])
      expect(await place.stored(session)).toMatchObject([{ eventId: 'f' }])
    }
  })

  it('may hide the tools of the system behind others', async () => {
    for (const name of ['tee', 'rm', 'tr', 'date']) place.program(name, 'echo hijacked')
    const env = { PATH: `${place.bin}:${process.env.PATH}` }
    for (const script of [undefined, place.withoutSharedMemory()]) {
      const session = newSession()
      const ran = await place.fast(bash(session, { tool_use_id: 't' }), { env, ...(script ? { script } : {}) })
      expect(ran).toMatchObject({ code: 0, stdout: EMPTY })
      expect(await place.stored(session)).toMatchObject([{ eventId: 't' }])
    }
    expect(place.nodeStarts()).toBe(0)
  })

  it('may name a program that node runs first: the hook runs without it', async () => {
    const marker = join(place.home, 'ran')
    const preload = join(place.home, 'preload.cjs')
    writeFileSync(preload, `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`)
    // The setting makes the script use node.
    const env = { NODE_OPTIONS: `--require=${preload}`, CLAUDE_MEM_MAX_FIELD_KB: '64' }
    expect(await place.fast(bash(newSession()), { env })).toMatchObject({ code: 0, stdout: EMPTY })
    expect(place.nodeStarts()).toBe(1)
    expect(existsSync(marker)).toBe(false)
  })

  it('may be one in which nothing is as usual', async () => {
    const large = bash(newSession(), { tool_response: { stdout: 'a line\n'.repeat(50_000) } })
    const shells = SHELLS.map((shell) => shell.join(' '))
    const cases: [what: string, before: string, after: string][] = [
      ['variables of its names are exported', 'export payload=1 answer=1 line=1 set=1;', ''],
      ['files may not grow', 'ulimit -f 100;', ''],
      ['its standard input is closed', '', '<&-'],
      ['its standard output is closed', '', '>&-'],
      ['its standard output is full', '', '>/dev/full'],
      ['nobody reads its standard output', '', '| true'],
    ]
    for (const script of [join(DIST, 'fast-hook.sh'), place.withoutSharedMemory()]) {
      for (const [what, before, after] of cases) {
        for (const shell of shells) {
          const session = newSession()
          const line = `${before} exec 3>&1; ${shell} '${script}' '${place.node}' '${CURL}' --data-dir '${place.sandbox.dataDir}' ${after}; exit $?`
          const { code, stderr } = await runProgram('/bin/bash', ['-c', line], {
            env: place.env,
            input: JSON.stringify({ ...large, session_id: session }),
            cwd: place.cwd,
          })
          expect([what, shell, code]).toEqual([what, shell, 0])
          expect([what, shell, stderr]).toEqual([what, shell, ''])
          // ksh keeps the output of a command in a file.
          if (after === '<&-' || (/ksh$/.test(shell) && before.startsWith('ulimit'))) continue
          const stored = await place.stored(session).catch(() => [])
          expect([what, shell, stored.length]).toEqual([what, shell, 1])
        }
      }
    }
  }, 120_000)

  it('may have put something in the place of the file in memory: it stays as it is', async () => {
    const victim = join(place.home, 'victim')
    writeFileSync(victim, 'of another')
    const link = join(place.home, 'link')
    symlinkSync(victim, link)
    const fifo = join(place.home, 'fifo')
    execFileSync('mkfifo', [fifo])
    for (const file of [victim, link, fifo, place.home]) {
      const script = place.changedScript('taken', (text) => text.replace(/^memory=.*$/m, `memory='${file}'`))
      for (const shell of SHELLS) {
        const session = newSession()
        const ran = await place.fast(bash(session, { tool_use_id: 'v' }), { shell, script })
        expect(ran).toMatchObject({ code: 0, stdout: EMPTY, stderr: '' })
        expect(await place.stored(session)).toMatchObject([{ eventId: 'v' }])
      }
    }
    expect(readFileSync(victim, 'utf8')).toBe('of another')
    expect(place.nodeStarts()).toBe(0)
  }, 60_000)

  it.runIf(existsSync('/dev/shm'))('leaves nothing in the memory file system', async () => {
    const child = spawn(
      '/bin/sh',
      [join(DIST, 'fast-hook.sh'), place.node, CURL, '--data-dir', place.sandbox.dataDir],
      { env: place.env },
    )
    child.stdin.end(JSON.stringify(bash(newSession())))
    expect(await finished(child)).toMatchObject({ code: 0, stdout: EMPTY })
    const left = readdirSync('/dev/shm').filter((name) => name.startsWith(`claude-mem-${child.pid}-`))
    expect(left).toEqual([])
  })
})

describe('an event that the daemon stored, but whose answer was lost', () => {
  it.each([
    ['the connection was closed', 52],
    ['the time was over', 28],
  ])('is stored once: %s', async (_, code) => {
    const session = newSession()
    const curl = place.program(`deaf-curl-${code}`, `/usr/bin/curl "$@" >/dev/null\nexit ${code}`)
    // No id of a tool use and none of a prompt: the id comes from the seed alone.
    expect(await place.fast(bash(session), { curl })).toMatchObject({ code: 0, stdout: EMPTY })
    expect(place.nodeStarts()).toBe(1)
    await place.sandbox.ask((client) => client.call('status', {}))
    while (spooled().length > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await place.stored(session)).toHaveLength(1)
  })

  it('and the same payload in another run is another event', async () => {
    const session = newSession()
    await place.fast(bash(session))
    await place.fast(bash(session))
    expect(await place.stored(session)).toHaveLength(2)
  })
})

it.runIf(existsSync('/dev/shm'))('the daemon removes the name that a killed script left there', async () => {
  await place.fast(bash(newSession()))
  expect(existsSync(stale)).toBe(false)
})

describe('settings', () => {
  it('of the file hold for the fast hook as soon as they are written', async () => {
    const file = join(place.sandbox.dataDir, 'settings.json')
    const before = readFileSync(file, 'utf8')
    const session = newSession()
    try {
      writeFileSync(file, JSON.stringify({ ...JSON.parse(before), CLAUDE_MEM_EXCLUDED_PROJECTS: place.cwd }))
      expect(await place.fast(bash(session))).toMatchObject({ code: 0, stdout: EMPTY })
    } finally {
      writeFileSync(file, before)
    }
    expect(place.nodeStarts()).toBe(0)
    expect(await place.sessions()).not.toContain(session)
    mkdirSync(place.cwd, { recursive: true })
  })
})
