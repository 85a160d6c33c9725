import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, realpathSync, utimesSync, writeFileSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program } from './program.ts'

const PLAIN = { code: 0, stdout: '{"continue":true,"suppressOutput":true}\n', stderr: '' }
const ON = { CLAUDE_MEM_PROMPT_CONTEXT: '1', CLAUDE_MEM_FILE_CONTEXT: '1' }

let program: Program
let shop: string

beforeAll(async () => {
  program = await Program.make()
  Object.assign(program.env, ON)
  mkdirSync(join(program.dataDir, 'work', 'shop'), { recursive: true })
  shop = realpathSync(join(program.dataDir, 'work', 'shop'))
  await program.json('start')
}, 60_000)
afterAll(() => program.end(), 60_000)

const report = (command: string, payload: Record<string, unknown>, session = 'session-one') =>
  program.run([command, '--data-dir', program.dataDir], {
    input: JSON.stringify({ session_id: session, cwd: shop, ...payload }),
  })
const context = (stdout: string) => JSON.parse(stdout).hookSpecificOutput

describe('payload commands', () => {
  it('report a turn, whose observations reach the next session, its prompt and its file', async () => {
    const file = join(shop, 'gateway.ts')
    writeFileSync(file, 'const gatewayTimeout = 30')
    utimesSync(file, 1_700_000_000, 1_700_000_000)
    expect(await report('new', { prompt: 'Where does gatewayTimeout come from?', prompt_id: 'turn-1' })).toEqual(PLAIN)
    expect(
      await report('save', {
        tool_name: 'Read',
        tool_use_id: 'tool-1',
        prompt_id: 'turn-1',
        tool_input: { file_path: file },
        tool_response: { content: 'const gatewayTimeout = 30' },
      }),
    ).toEqual(PLAIN)
    expect(await report('summary', { prompt_id: 'turn-1', last_assistant_message: 'From gateway.ts.' })).toEqual(PLAIN)
    expect((await program.run(['flush'])).code).toBe(0)

    const { sessions } = await program.json('inspect')
    expect(sessions).toMatchObject([{ session: 'session-one', prompts: 1, observations: 1 }])

    const started = await report('context', { source: 'startup' }, 'session-two')
    expect(context(started.stdout)).toMatchObject({
      hookEventName: 'SessionStart',
      additionalContext: expect.stringContaining('gateway.ts'),
    })
    // Indexing is asynchronous, and on a busy machine the hook may time out before the answer.
    const eventually = async (payload: Record<string, unknown>): Promise<unknown> => {
      let answer: unknown
      await expect
        .poll(
          async () => {
            answer = context((await program.hook({ cwd: shop, ...payload })).stdout)
            return answer
          },
          { timeout: 20_000 },
        )
        .toBeDefined()
      return answer
    }
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'What is in gateway.ts?' }
    expect(await eventually({ ...prompt, session_id: 'session-two' })).toMatchObject({
      hookEventName: 'UserPromptSubmit',
      additionalContext: expect.stringMatching(/^<claude-mem-context>[\s\S]*\| #1 \|[\s\S]*<\/claude-mem-context>$/),
    })
    expect(await report('new', prompt, 'session-two')).toEqual(PLAIN)

    const reading = { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: file } }
    expect(await report('hook', reading, 'session-two')).toEqual(PLAIN)
    await report('new', { prompt: 'thanks' }, 'session-three')
    expect(await eventually({ ...reading, session_id: 'session-three' })).toEqual({
      hookEventName: 'PreToolUse',
      additionalContext: expect.stringContaining('about `gateway.ts`, newer than its last change'),
    })
  }, 60_000)

  it('prefer the event name of the payload', async () => {
    await report('summary', { hook_event_name: 'UserPromptSubmit', prompt: 'Hi' }, 'session-named')
    const { sessions } = await program.json('inspect')
    expect(sessions).toContainEqual(expect.objectContaining({ session: 'session-named', prompts: 1 }))
  })

  it('answer any input with exit code 0', async () => {
    for (const [command, input] of [
      ['new', ''],
      ['save', 'hello'],
      ['summary', '{"session_id":7}'],
    ] as const) {
      expect(await program.run([command, '--odd', 'arguments', '--data-dir', program.dataDir], { input })).toEqual(
        PLAIN,
      )
    }
  })
})

describe('context without a payload', () => {
  const printed = (stdin: 'pipe' | number): Promise<{ code: number | null; stdout: string }> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [join(program.dist, 'cli.js'), 'context'], {
        env: program.env,
        cwd: shop,
        stdio: [stdin, 'pipe', 'ignore'],
      })
      let stdout = ''
      child.stdout?.on('data', (chunk) => (stdout += chunk))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, stdout }))
    })
  const isContext = { code: 0, stdout: expect.stringMatching(/^<claude-mem-context>[\s\S]*gateway\.ts/) }

  it('prints the context for an empty pipe, an open pipe, a device, or other input', async () => {
    expect(await program.run(['context'], { cwd: shop })).toMatchObject(isContext)
    expect(await program.run(['context'], { cwd: shop, input: 'a line of a list' })).toMatchObject(isContext)
    // The pipe stays open without any data.
    expect(await printed('pipe')).toEqual(isContext)
    const nothing = openSync(devNull, 'r')
    expect(await printed(nothing)).toEqual(isContext)
    closeSync(nothing)
  }, 30_000)
})

describe.skipIf(process.platform === 'win32')('deleted working directory', () => {
  const ranThere = (words: string, input: string) => {
    const line = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" $2'
    const args = ['-c', line, process.execPath, join(program.dist, 'cli.js'), words]
    const { status, stdout, stderr } = spawnSync('/bin/sh', args, { env: program.env, cwd: shop, input })
    return { code: status, stdout: String(stdout), stderr: String(stderr) }
  }

  it('a payload is reported, and other commands fail with a clear message', async () => {
    const payload = JSON.stringify({ session_id: 'session-gone', cwd: join(shop, 'gone'), source: 'startup' })
    expect(ranThere('context', payload)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\{"continue":true/) })
    expect(ranThere('status --json', '')).toMatchObject({ code: 0, stderr: '' })
    expect(ranThere('doctor', '')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'claude-mem: the current directory was deleted; change to another one and try again\n',
    })
  }, 30_000)
})
