import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { inspectCommand } from '../../src/cli/commands/inspect.ts'
import { flushCommand } from '../../src/cli/commands/queue.ts'
import { forgetCommand } from '../../src/cli/commands/remember.ts'
import { viewerCommand } from '../../src/cli/commands/viewer.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { DIST } from '../support/paths.ts'
import { exited } from '../support/programs.ts'
import { InProcessProgram } from './in-process-program.ts'

const sandbox = new DaemonSandbox()
const program = new InProcessProgram(sandbox.dataDir, [inspectCommand, viewerCommand, flushCommand, forgetCommand])
let daemon: ChildProcess

beforeAll(async () => {
  daemon = await sandbox.start()
}, 60_000)
afterAll(() => sandbox.dispose(), 60_000)

/** For commands that run until they are interrupted. */
function spawnProgram(...args: string[]): ChildProcess & { stdout: NonNullable<ChildProcess['stdout']> } {
  return spawn(process.execPath, [join(DIST, 'cli.js'), ...args], {
    env: sandbox.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'Where is the port read?', prompt_id: 'turn-1' }
const hook = (payload: object) => sandbox.hook({ session_id: 'session-one', cwd: sandbox.dataDir, ...payload })
const toolUse = (id: string) => ({
  hook_event_name: 'PostToolUse',
  tool_name: 'Read',
  tool_use_id: id,
  prompt_id: 'turn-1',
  tool_input: { file_path: `/repo/${id}.ts` },
  tool_response: { content: `the text of ${id}` },
})

describe('inspect --machine', () => {
  it('draws and exports the machine without a daemon and a data directory', async () => {
    const directory = join(tmpdir(), 'claude-mem-nowhere', 'data')
    const nowhere = new InProcessProgram(directory, [inspectCommand])
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

describe('inspect.option combinations', () => {
  it.each([
    [['--machine', 'sesion'], 'unknown machine "sesion"; did you mean session?'],
    [['--machine', 'session', '--format', 'svg'], 'unknown format "svg"'],
    [['--format', 'json'], '--format is an option of --machine'],
    [['--trace'], '--trace needs a session'],
    [['--trace', '5f1c'], 'a session comes before it'],
    [['--message', 'a', '--observation', '1'], '--message and --observation cannot be combined'],
    [['--observation', 'one'], '"one" is not the id of an observation'],
    [['5f1c', '--stately'], '--stately takes no session'],
    [['--port', '8080'], '--port is an option of --stately'],
    [['5f1c', '--full'], '--full is an option of'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await program.run(['inspect', ...args])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('inspect.tool use', () => {
  it('follows a tool use from the hook to its observation and back', async () => {
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

  it('unknown and ambiguous ids fail with a hint', async () => {
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

  it('--trace prints only the transitions, up to the limit', async () => {
    const all = await program.run(['inspect', 'session-one', '--trace'])
    expect(all.stdout).toMatch(/PROMPT[\s\S]*MESSAGE[\s\S]*FLUSH[\s\S]*OBSERVED/)
    expect(all.stdout).not.toMatch(/^State$/m)
    const last = await program.run(['inspect', 'session-one', '--trace', '1'])
    expect(last.stdout).toContain('the last 1 transition')
    expect(last.stdout).not.toContain('FLUSH')
    expect((await program.json('inspect', 'session-one', '--trace', '100')).row.session).toBe('session-one')
  })
})

describe('inspect.live output', () => {
  it('--watch prints again when the memory changes without a commit of the session', async () => {
    const watching = spawnProgram('inspect', 'session-one', '--watch', '--json')
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

  it('--stately sends live actors to the Stately inspector', async () => {
    const serving = spawnProgram('inspect', '--stately', '--port', '0', '--json')
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

describe.skipIf(process.platform === 'win32')('viewer', () => {
  const bin = temporaryDirectory('bin')
  const opened = join(bin, 'opened')
  const display = () => ({
    ...process.env,
    BROWSER: '',
    DISPLAY: ':0',
    WSL_DISTRO_NAME: '',
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  })

  function browser(lines: string): void {
    // The default browser is not a snap, which could not read the file.
    for (const [name, script] of [
      ['xdg-open', lines],
      ['open', lines],
      ['xdg-settings', 'echo plain.desktop'],
    ] as const) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
  }

  it('opens a private file, so that the process list does not contain the code', async () => {
    browser(`printf '%s' "$1" > '${opened}'`)
    const { code, stdout } = await program.run(['viewer'], { env: display() })
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('opens in your browser') })
    const target = readFileSync(opened, 'utf8')
    const page = join(sandbox.dataDir, 'open-viewer.html')
    expect(target).toBe(pathToFileURL(page).href)
    expect(statSync(page).mode & 0o777).toBe(0o600)
    const link = /location\.replace\("([^"]+)"\)/.exec(readFileSync(page, 'utf8'))?.[1]
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#open=[\w-]{20,}$/)
    expect(stdout).not.toContain('#open')
  })

  it('prints the link without a browser or with --print', async () => {
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

describe('viewer.access', () => {
  it('--list shows the pages that have access, --revoke ends it', async () => {
    expect((await program.run(['viewer', '--list'])).stdout).toBe('No page has access.\n')
    const { url } = await program.json('viewer', '--print')
    const [origin = '', code] = url.split('/#open=')
    const redeem = { method: 'POST', headers: { origin }, body: JSON.stringify({ code }) }
    expect((await fetch(`${origin}/api/viewer/open`, redeem)).status).toBe(200)
    const { viewers } = await program.json('viewer', '--list')
    expect(viewers).toMatchObject([{ id: expect.any(String), connected: false }])
    expect((await program.run(['viewer', '--list'])).stdout).toContain(viewers[0].id)
    const unknown = await program.run(['viewer', '--revoke', 'unknown'])
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('claude-mem viewer --list') })
    expect((await program.run(['viewer', '--revoke', viewers[0].id])).stdout).toBe('Ended the access of 1 page.\n')
    expect(await program.json('viewer', '--revoke')).toEqual({ affected: 0 })
    expect((await program.run(['viewer', '--list', '--print'])).code).toBe(2)
    expect((await program.run(['viewer', 'page'])).code).toBe(2)
  })
})

describe('inspect.after a crash of the daemon', () => {
  it('does not change the database', async () => {
    daemon.kill('SIGKILL')
    await exited(daemon)
    expect(statSync(join(sandbox.dataDir, 'db.sqlite-wal')).size).toBeGreaterThan(0)
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
