import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../../src/cli/cli.ts'
import { providersCommand } from '../../src/cli/commands/providers.ts'
import { exitCodeFor, failureMessage, parse } from '../../src/cli/parse.ts'
import { jsonLine } from '../../src/cli/text.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import type { Handler } from '../observer/servers/fault.ts'
import { GeminiServer } from '../observer/servers/gemini-server.ts'
import { MessagesServer } from '../observer/servers/messages-server.ts'
import { OpenAiServer } from '../observer/servers/openai-server.ts'
import { Program, type ProgramResult } from './program.ts'

const KEY = 'sk-ant-0123456789-secret-wxyz'
const SKIP = '<skip reason="test"/>'
/** An environment without keys and without a `claude` program. */
const BARE = {
  CLAUDE_MEM_PROVIDER: 'auto',
  CLAUDE_CODE_PATH: '',
  ANTHROPIC_API_KEY: '',
  ANTHROPIC_BASE_URL: '',
  GEMINI_API_KEY: '',
  GOOGLE_API_KEY: '',
  OPENROUTER_API_KEY: '',
  OPENAI_API_KEY: '',
  OPENAI_BASE_URL: '',
  PATH: '',
}

let program: Program
const closing: { close(): Promise<void> }[] = []

beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(() => program.end(), 60_000)
afterEach(async () => {
  for (const server of closing.splice(0)) await server.close()
  rmSync(join(program.dataDir, 'settings.json'), { force: true })
})

/** Runs the built program in its own process. */
function runBuilt(args: string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<ProgramResult> {
  return program.run(args, { env: { ...BARE, ...env }, input })
}

/** Runs the command in this process, which is faster. */
async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  let stdout = ''
  let stderr = ''
  const cli: Cli = {
    ...createCli(import.meta.url),
    paths: dataPaths(program.dataDir),
    env: { ...BARE, ...env },
    print: (...lines) => {
      stdout += `${lines.join('\n')}\n`
    },
    printJson: (value) => {
      stdout += `${jsonLine(value)}\n`
    },
    printStderr: (line) => {
      stderr += `${line}\n`
    },
  }
  const code = await parse(args, [providersCommand], cli).catch((error: unknown) => {
    cli.printStderr(failureMessage(error, cli.env))
    return exitCodeFor(error)
  })
  return { code, stdout, stderr }
}

async function json(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { code, stdout, stderr } = await run([...args, '--json'], env)
  expect(stderr).toBe('')
  return { code, ...JSON.parse(stdout) }
}

async function messages(handler: Handler, options: { models?: string[] } = {}) {
  const server = await MessagesServer.listen(handler, { apiKey: KEY, ...options })
  closing.push(server)
  const env = { CLAUDE_MEM_ANTHROPIC_API_KEY: KEY, CLAUDE_MEM_ANTHROPIC_BASE_URL: server.url }
  return { server, env }
}

describe('config.secret', () => {
  it('is read from stdin, stored and never printed', async () => {
    const outputs = [
      await runBuilt(['config', 'set', 'anthropic-api-key', '-'], {}, `${KEY}\n`),
      await runBuilt(['config', 'set', 'anthropic-api-key', '-'], { CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, KEY),
      await runBuilt(['config', 'get', 'anthropic-api-key']),
      await runBuilt(['config']),
      await runBuilt(['config', '--json']),
      await runBuilt(['providers']),
    ]
    expect(JSON.parse(readFileSync(join(program.dataDir, 'settings.json'), 'utf8'))).toMatchObject({
      CLAUDE_MEM_ANTHROPIC_API_KEY: KEY,
    })
    expect(outputs.map(({ code }) => code)).toEqual(outputs.map(() => 0))
    expect(outputs[0]?.stdout).toContain('CLAUDE_MEM_ANTHROPIC_API_KEY is now …wxyz\n')
    expect(outputs[1]?.stdout).toContain('CLAUDE_MEM_ANTHROPIC_API_KEY=…wxyz overrides this setting')
    expect(outputs[2]?.stdout).toBe('…wxyz\n')
    for (const { stdout, stderr } of outputs) {
      expect(stdout).toContain('…wxyz')
      expect(stdout + stderr).not.toContain('secret')
    }
    expect((await runBuilt(['config', 'unset', 'anthropic-api-key'])).stdout).toContain('is now (none)')
  })

  it.each([
    [['anthropic-api-key'], '', 'or - to read it from stdin'],
    [['anthropic-api-key', '-'], '\n', 'stdin is empty'],
    [['anthropic-api-key', '-'], 'two words', 'must be a key: letters, digits and signs without blanks'],
    [['anthropic-api-key', '-'], `${KEY}\n${KEY}`, 'must be one line of text'],
    [['model'], '', 'config set needs a value'],
  ])('config set %j with %j on stdin is refused', async (args, input, message) => {
    const { code, stderr } = await runBuilt(['config', 'set', ...args], {}, input)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('secret')
    expect(code).toBe(2)
  })

  it('other settings can be read from stdin too', async () => {
    expect((await runBuilt(['config', 'set', 'model', '-'], {}, 'mine\n')).stdout).toContain(
      'CLAUDE_MEM_MODEL is now mine',
    )
  })
})

describe('providers list', () => {
  it('without settings prints that offline is the observer and how to configure the others', async () => {
    const { stdout, code } = await run(['providers'])
    expect(code).toBe(0)
    expect(stdout).toContain('offline is the observer: no model is set up')
    for (const line of [
      'claude-mem config set anthropic-api-key',
      'claude-mem config set claude-code-path',
      'claude-mem config set gemini-api-key',
      'claude-mem config set openrouter-api-key',
      'it always works',
    ]) {
      expect(stdout).toContain(line)
    }
    expect((await runBuilt(['providers', '--help'])).stdout).toContain('config set openrouter-base-url ollama')
  })

  it('offers keys and programs that it finds, without using them', async () => {
    const view = await json(['providers'], { ANTHROPIC_API_KEY: KEY })
    expect(view).toMatchObject({ chosen: 'offline', offers: [{ found: 'ANTHROPIC_API_KEY' }] })
    const { stdout } = await run(['providers'], { ANTHROPIC_API_KEY: KEY })
    expect(stdout).toContain('ANTHROPIC_API_KEY is in your environment and is not used; to use it:')
    expect(stdout).toContain('claude-mem config set provider anthropic')
    expect(JSON.stringify(view) + stdout).not.toContain('secret')
  })

  it('prints the chosen provider, the reason and the price', async () => {
    const env = { CLAUDE_MEM_GEMINI_API_KEY: KEY, CLAUDE_MEM_MODEL: 'gemini-2.5-flash', ANTHROPIC_API_KEY: KEY }
    const view = await json(['providers'], env)
    expect(view).toMatchObject({ chosen: 'gemini', why: expect.stringContaining('CLAUDE_MEM_GEMINI_API_KEY is set') })
    expect(view.providers.map(({ provider }: { provider: string }) => provider)).toEqual([
      'anthropic',
      'claude-code',
      'gemini',
      'openrouter',
      'offline',
    ])
    expect(view.providers[2]).toMatchObject({
      chosen: true,
      model: 'gemini-2.5-flash',
      key: { shown: '…wxyz', source: 'CLAUDE_MEM_GEMINI_API_KEY' },
      price: { input: 0.3, output: 2.5 },
      problems: [],
      notes: [expect.stringContaining('only in the environment')],
    })
    const dearer = await json(['providers'], { ...env, CLAUDE_MEM_PRICES: 'gemini-2.5-flash=3/25' })
    expect(dearer.providers[2].price.input).toBe(3)
  })

  it('prints problems of settings and of own prompts', async () => {
    const own = join(program.dataDir, 'own')
    mkdirSync(own)
    writeFileSync(join(own, 'observation.md'), '---\nversion: 1\n---\nNo placeholder at all.\n')
    const { server, env } = await messages(() => SKIP)
    const wrong = { CLAUDE_MEM_PROMPT_DIR: own, CLAUDE_MEM_GEMINI_BASE_URL: 'nonsense' }
    const { stdout } = await run(['providers'], wrong)
    expect(stdout).toContain('! CLAUDE_MEM_GEMINI_BASE_URL must be an address')
    expect(stdout).toMatch(/^! .*observation\.md: .*Ours is used meanwhile/m)
    const tested = await run(['providers', 'test'], { ...wrong, ...env })
    expect(tested.stderr).toMatch(/^! .*observation\.md: .*Ours is used meanwhile/m)
    expect(tested.code).toBe(0)
    expect(server.requests).toHaveLength(1)
  })

  it.each([
    [['providers', 'tset'], 'did you mean test?'],
    [['providers', 'test', 'antropic'], 'did you mean anthropic?'],
    [['providers', 'list', 'gemini'], 'takes no name'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })
})

describe('providers test', () => {
  it.each([[[]], [['offline']]])('without a model makes no call (%j)', async (name) => {
    const { code, stdout } = await run(['providers', 'test', ...name])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('offline uses no model') })
  })

  it('announces the call and prints the reply', async () => {
    const { server, env } = await messages(() => `Sure:\n${SKIP}\x1b[2J`)
    const { code, stdout, stderr } = await runBuilt(['providers', 'test'], env)
    expect(code).toBe(0)
    expect(stderr).toContain('One small call to claude-haiku-4-5 through anthropic')
    expect(stdout).toMatch(/✓ anthropic answers\n +model +claude-haiku-4-5\n +time +\S+.*\n +tokens +\d+ in, \d+ out/)
    expect(stdout).toMatch(/cost +<?\$0\.0\d+\n/)
    expect(stdout).toContain('<skip reason="test"/>\\x1b[2J')
    expect(server.requests).toHaveLength(1)
  })

  it('by name uses the settings of that provider', async () => {
    const { server } = await messages(() => SKIP)
    const around = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url }
    expect(await json(['providers', 'test'], around)).toMatchObject({ provider: 'offline', called: false })
    expect(server.requests).toHaveLength(0)
    expect(await json(['providers', 'test', 'anthropic'], around)).toMatchObject({
      code: 0,
      ok: true,
      called: true,
      model: 'claude-haiku-4-5',
      usage: { input: expect.any(Number), output: expect.any(Number) },
      cost: expect.any(Number),
      reply: SKIP,
      notes: [expect.stringContaining('store it: claude-mem config set')],
    })
  })

  it('calls Gemini, and a local server without a key, which is free', async () => {
    const gemini = await GeminiServer.listen(() => SKIP, { apiKey: KEY })
    const local = await OpenAiServer.listen(() => SKIP, { keyless: true })
    closing.push(gemini, local)
    const geminiEnv = { CLAUDE_MEM_GEMINI_API_KEY: KEY, CLAUDE_MEM_GEMINI_BASE_URL: gemini.url }
    expect(await json(['providers', 'test'], geminiEnv)).toMatchObject({ code: 0, ok: true, provider: 'gemini' })
    const localEnv = { CLAUDE_MEM_OPENROUTER_BASE_URL: local.url, CLAUDE_MEM_MODEL: 'qwen3:8b' }
    expect(await json(['providers', 'test'], localEnv)).toMatchObject({ ok: true, provider: 'openrouter', cost: 0 })
    expect((await run(['providers'], localEnv)).stdout).toContain('free: it runs on this machine')
  })

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['no key', { CLAUDE_MEM_PROVIDER: 'anthropic' }, ['there is no key', 'claude-mem config set anthropic-api-key']],
    ['no model', { CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama' }, ['no model is named', 'claude-mem config set model']],
    ['no program', { CLAUDE_MEM_PROVIDER: 'claude-code' }, ['claude is not on the PATH', 'claude-code-path']],
    [
      'an address without a server',
      // A port that nothing can listen on.
      { CLAUDE_MEM_OPENROUTER_BASE_URL: 'http://127.0.0.1:1/v1', CLAUDE_MEM_MODEL: 'm' },
      ['127.0.0.1:1', 'openrouter-base-url'],
    ],
  ])('with %s fails and prints what to do', async (_name, env, words) => {
    const { code, stdout } = await run(['providers', 'test'], env)
    expect(code).toBe(1)
    for (const word of words) expect(stdout).toContain(word)
    expect(await json(['providers', 'test'], env)).toMatchObject({ code: 1, ok: false })
  })

  it('with a wrong key fails without printing it', async () => {
    const { env } = await messages(() => SKIP)
    const wrong = { ...env, CLAUDE_MEM_ANTHROPIC_API_KEY: 'sk-ant-another-secret-0123' }
    const { code, stdout, stderr } = await run(['providers', 'test'], wrong)
    expect(code).toBe(1)
    expect(stdout).toContain('rejected the key')
    expect(stdout).toContain('claude-mem config set anthropic-api-key')
    expect(stdout + stderr).not.toContain('secret')
  })

  it('with an unknown model prints its name', async () => {
    const { env } = await messages(() => SKIP, { models: ['claude-haiku-4-5'] })
    const { code, stdout } = await run(['providers', 'test'], { ...env, CLAUDE_MEM_MODEL: 'claude-haiku-9' })
    expect(code).toBe(1)
    expect(stdout).toContain('claude-haiku-9')
    expect(stdout).toContain('claude-mem config set model')
  })

  it.each<[string, ReturnType<Handler>, string]>([
    [
      'answers in another format',
      'I would be happy to help!',
      'not with the XML that it was asked for: I would be happy',
    ],
    ['refuses', { fault: 'refusal' }, 'refused to answer'],
    ['is cut off', { fault: 'truncated', text: 'Let me think' }, 'was cut off'],
    ['says nothing', { fault: 'no-text' }, 'without any text'],
    ['is overloaded', { fault: 'status', status: 529 }, '529'],
    ['breaks off', { fault: 'reset-mid-body' }, 'broke off'],
    ['is a page', { fault: 'html', status: 200 }, 'claude-mem config set anthropic-base-url'],
  ])('of a provider that %s fails', async (_name, said, message) => {
    const { env } = await messages(() => said)
    const { code, stdout } = await run(['providers', 'test'], env)
    expect(stdout).toContain(message)
    expect(code).toBe(1)
  })

  it('of a provider that never answers fails after the timeout', async () => {
    const { env } = await messages(() => ({ fault: 'hang' }))
    const { code, stdout } = await run(['providers', 'test'], { ...env, CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS: '1' })
    expect(stdout).toContain('there was no answer within 1 s (CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS)')
    expect(code).toBe(1)
  })
})
