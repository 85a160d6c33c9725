import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { flush } from '../../src/cli/commands/flush.ts'
import { forget } from '../../src/cli/commands/forget.ts'
import { inspect } from '../../src/cli/commands/inspect.ts'
import { viewer } from '../../src/cli/commands/viewer.ts'
import { DIST, exited, Place } from '../daemon-process.ts'
import { Here } from './here.ts'

const place = new Place()
const program = new Here(place.dataDir, [inspect, viewer, flush, forget])
let daemon: ChildProcess

beforeAll(async () => {
  daemon = await place.start()
}, 60_000)
afterAll(() => place.dispose(), 60_000)

/** For what goes on until it is interrupted. */
function spawned(...args: string[]): ChildProcess & { stdout: NonNullable<ChildProcess['stdout']> } {
  return spawn(process.execPath, [join(DIST, 'cli.js'), ...args], {
    env: place.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Where is the port read?', prompt_id: 'turn-1' }
const hook = (payload: object) => place.hook({ session_id: 'session-one', cwd: place.dataDir, ...payload })
const toolUse = (id: string) => ({
  hook_event_name: 'PostToolUse',
  tool_name: 'Read',
  tool_use_id: id,
  prompt_id: 'turn-1',
  tool_input: { file_path: `/repo/${id}.ts` },
  tool_response: { content: `the text of ${id}` },
})

describe('a machine', () => {
  it('is drawn and exported without a daemon and a data directory', async () => {
    const directory = join(tmpdir(), 'claude-mem-nowhere', 'data')
    const nowhere = new Here(directory, [inspect])
    const text = async (...args: string[]) => (await nowhere.run(['inspect', '--machine', ...args])).stdout
    expect(await text('session')).toContain('│ observing │')
    expect(await text('session')).toMatch(/observing → batching +when batch due/)
    expect(await text('supervisor', '--format', 'mermaid')).toMatch(/^stateDiagram-v2\n/)
    expect(JSON.parse(await text('supervisor', '--format', 'json'))).toMatchObject({ id: 'supervisor' })
    expect(await text('session', '--format', 'xstate')).toContain('createMachine({')
    expect(await nowhere.json('inspect', '--machine', 'session')).toMatchObject({ id: 'session' })
    expect(existsSync(directory)).toBe(false)
  })
})

describe('what does not go together', () => {
  it.each([
    [['--machine', 'sesion'], 'unknown machine "sesion"; did you mean session?'],
    [['--machine', 'session', '--format', 'svg'], 'unknown format "svg"'],
    [['--format', 'json'], '--format goes with --machine'],
    [['--trace'], '--trace needs a session'],
    [['--trace', '5f1c'], 'a session goes before it'],
    [['--message', 'a', '--observation', '1'], '--message and --observation do not go together'],
    [['--observation', 'one'], '"one" is no id of an observation'],
    [['5f1c', '--stately'], '--stately takes no session'],
    [['--port', '8080'], '--port goes with --stately'],
    [['5f1c', '--full'], '--full goes with'],
  ])('is refused: %j', async (args, message) => {
    const { code, stdout, stderr } = await program.run(['inspect', ...args])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('a tool use', () => {
  it('is followed from the hook to its observation and back', async () => {
    await hook(prompt)
    for (const id of ['toolu_one', 'toolu_two']) await hook(toolUse(id))
    const waiting = await program.json('inspect', '--message', 'toolu_o')
    expect(waiting).toMatchObject({
      running: true,
      event: { eventId: 'toolu_one', outcome: null, payload: { tool: 'Read' } },
      message: { status: 'pending' },
    })
    const byNumber = await program.json('inspect', '--message', String(waiting.message.id))
    expect(byNumber.event.eventId).toBe('toolu_one')

    await program.json('flush')
    const settled = await program.json('inspect', 'session-one', '--message', 'toolu_one')
    expect(settled).toMatchObject({ event: { outcome: 'observed' }, message: null, observations: [{}] })
    expect(settled.trace.map(({ event }: { event: string }) => event)).toEqual(['MESSAGE', 'FLUSH', 'OBSERVED'])

    const id = settled.observations[0].id
    const origin = await program.json('inspect', '--observation', `#${id}`)
    expect(origin).toMatchObject({
      observation: { id, session: 'session-one' },
      origin: { prompt: { text: prompt.prompt }, events: [{ eventId: 'toolu_one' }], effectId: settled.event.effectId },
    })
    const { stdout } = await program.run(['inspect', '--observation', String(id)])
    expect(stdout).toContain('│ {"file_path":"/repo/toolu_one.ts"}')
  })

  it('that nobody knows is an error that says what to do', async () => {
    for (const [args, message] of [
      [['--message', 'toolu'], 'several events start with "toolu"; type more of it'],
      [['--message', 'nope'], 'no event starts with "nope"'],
      [['--observation', '999'], 'there is no observation'],
    ] as const) {
      const { code, stderr } = await program.run(['inspect', ...args])
      expect(stderr).toContain(message)
      expect(code).toBe(1)
    }
  })

  it('shows up in the trace, alone, as much as is asked for', async () => {
    const all = await program.run(['inspect', 'session-one', '--trace'])
    expect(all.stdout).toMatch(/PROMPT[\s\S]*MESSAGE[\s\S]*FLUSH[\s\S]*OBSERVED/)
    expect(all.stdout).not.toContain('Context')
    const last = await program.run(['inspect', 'session-one', '--trace', '1'])
    expect(last.stdout).toContain('the last 1 transition')
    expect(last.stdout).not.toContain('FLUSH')
    expect((await program.json('inspect', 'session-one', '--trace', '100')).row.session).toBe('session-one')
  })
})

describe('what is watched', () => {
  it('changes with the memory, without a commit of the session', async () => {
    const watching = spawned('inspect', 'session-one', '--watch', '--json')
    const lines = createInterface({ input: watching.stdout })
    try {
      const next = async () => JSON.parse(String((await once(lines, 'line'))[0]))
      const { observations } = await next()
      const changed = next()
      await program.json('forget', '2', '--yes')
      expect((await changed).observations).toBe(observations - 1)
    } finally {
      const ended = once(watching, 'exit')
      watching.kill('SIGINT')
      await ended
    }
  })

  it('reaches the Stately inspector as live actors', async () => {
    const serving = spawned('inspect', '--stately', '--port', '0', '--json')
    try {
      const { socket } = JSON.parse(String((await once(createInterface({ input: serving.stdout }), 'line'))[0]))
      const inspector = new WebSocket(socket)
      const seen: { type: string; sessionId: string; event?: { type: string } }[] = []
      const told = (type: string) =>
        new Promise<void>((resolve) => {
          inspector.on('message', (data) => {
            const message = JSON.parse(String(data))
            seen.push(message)
            if (message.type === type) resolve()
          })
        })
      await told('@xstate.actor')
      const moved = told('@xstate.snapshot')
      await hook(toolUse('toolu_three'))
      await moved
      expect(seen).toContainEqual(
        expect.objectContaining({ type: '@xstate.event', sessionId: 'session-one', event: expect.anything() }),
      )
      expect(JSON.stringify(seen)).not.toMatch(/toolu|repo|port read/)
      inspector.terminate()
    } finally {
      const ended = once(serving, 'exit')
      serving.kill('SIGINT')
      expect((await ended)[0]).toBe(0)
    }
  })
})

describe.skipIf(process.platform === 'win32')('the viewer', () => {
  const bin = mkdtempSync(join(tmpdir(), 'claude-mem-bin-'))
  const opened = join(bin, 'opened')
  afterAll(() => rmSync(bin, { recursive: true, force: true }))
  const display = () => ({
    ...process.env,
    BROWSER: '',
    DISPLAY: ':0',
    WSL_DISTRO_NAME: '',
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  })

  function browser(lines: string): void {
    // The default browser is none of those that may not read our files.
    for (const [name, script] of [
      ['xdg-open', lines],
      ['open', lines],
      ['xdg-settings', 'echo plain.desktop'],
    ] as const) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
  }

  it('is opened by a file that only its owner can read: a process list shows no code', async () => {
    browser(`printf '%s' "$1" > '${opened}'`)
    const { code, stdout } = await program.run(['viewer'], { env: display() })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('opens in your browser') })
    const target = readFileSync(opened, 'utf8')
    const page = join(place.dataDir, 'open-viewer.html')
    expect(target).toBe(pathToFileURL(page).href)
    expect(statSync(page).mode & 0o777).toBe(0o600)
    const link = /location\.replace\("([^"]+)"\)/.exec(readFileSync(page, 'utf8'))?.[1]
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#open=[\w-]{20,}$/)
    expect(stdout).not.toContain('#open')
  })

  it('is a link where no browser is, or where only a link is asked for', async () => {
    browser('exit 3')
    const failed = await program.run(['viewer'], { env: display() })
    expect(failed.stdout).toContain('ended with 3')
    expect(failed.stdout).toContain('/#open=')
    const printed = await program.run(['viewer', '--print'], { env: display() })
    expect(printed.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#open=[\w-]+\n$/)
    if (process.platform === 'linux') {
      const blind = { ...display(), DISPLAY: '', WAYLAND_DISPLAY: '' }
      expect((await program.run(['viewer'], { env: blind })).stdout).toContain('there is no display here')
    }
    expect(await program.json('viewer', '--print')).toMatchObject({ opened: false, url: expect.any(String) })
  })
})

describe('a daemon that was killed', () => {
  it('leaves a database that is looked into as it is', async () => {
    daemon.kill('SIGKILL')
    await exited(daemon)
    expect(statSync(join(place.dataDir, 'db.sqlite-wal')).size).toBeGreaterThan(0)
    expect(await program.json('inspect')).toMatchObject({ running: false, sessions: [{ session: 'session-one' }] })
    expect(await program.json('inspect', '--message', 'toolu_three')).toMatchObject({
      running: false,
      event: { payload: { input: { file_path: '/repo/toolu_three.ts' } } },
      message: { status: 'pending' },
    })
    expect(await program.json('inspect', '--observation', '1')).toMatchObject({
      observation: { id: 1 },
      origin: { events: [{ eventId: 'toolu_one' }] },
    })
    expect((await program.json('inspect', 'session-one', '--trace')).trace.length).toBeGreaterThan(5)
  })
})
