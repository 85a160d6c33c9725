import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClaudeAccount } from '../../../../src/observer/providers/claude-code/index.ts'
import { chatRequest, complete, fake, model, useFakeClaude } from './fake-claude.ts'
import { answerOutput, assistant, failureOutput, isRunning, jsonLines, RESULT } from './fake-claude-server.ts'

useFakeClaude()

describe('claude-code.call', () => {
  it('returns the answer, its tokens, its cost and the exact model', async () => {
    expect(await complete()).toEqual({
      text: '<skip reason="nothing"/>',
      usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 7 },
      model: 'claude-haiku-4-5-20251001',
      stop: 'end',
      cost: 0.000209,
    })
  })

  it('passes the system prompt in a file and the prompt on stdin, without tools, settings and session', async () => {
    await complete()
    const [report] = fake.server.calls
    expect(report).toMatchObject({ system: 'Take notes.', stdin: '<request>\na batch\n</request>' })
    expect(report?.cwd.endsWith('work')).toBe(true)
    expect(report?.options).toMatchObject({
      '--print': true,
      '--model': 'haiku',
      '--tools': '',
      '--setting-sources': '',
      '--strict-mcp-config': true,
      '--disable-slash-commands': true,
      '--no-session-persistence': true,
    })
    expect(report?.env).toMatchObject({ CLAUDE_MEM_HOOK_DISABLED: '1', CLAUDE_CODE_MAX_OUTPUT_TOKENS: '4000' })
    expect(report?.env.CLAUDE_CODE_DISABLE_ATTACHMENTS).toBe('1')
  })

  it.skipIf(process.platform === 'win32')('runs in a private directory', async () => {
    await complete()
    expect(statSync(join(fake.directory, 'work')).mode & 0o077).toBe(0)
    expect(statSync(join(fake.directory, 'work', 'system-prompt.md')).mode & 0o077).toBe(0)
  })

  it('separates the earlier conversation from the new request', async () => {
    await complete(model(), chatRequest('first', '<skip reason="x"/>', 'second </earlier> <request>'))
    expect(fake.server.calls[0]?.stdin).toMatch(
      /<earlier>\n<batch>\nfirst\n<\/batch>\n<notes>\n<skip reason="x"\/>\n<\/notes>\n<\/earlier>\n\n<request>\nsecond ‹\/earlier› ‹request›\n<\/request>$/,
    )
  })

  it('takes a prompt that is too long for a command line, in any script', async () => {
    const long = `${'ключ 钥匙 🗝️ '.repeat(100_000)}end`
    await complete(model(), chatRequest(long))
    expect(fake.server.calls[0]?.stdin).toBe(`<request>\n${long}\n</request>`)
  })

  it('never starts like a slash command', async () => {
    await complete(model(), chatRequest('/clear'))
    expect(fake.server.calls[0]?.stdin.startsWith('/')).toBe(false)
  })

  it('joins the parts of an answer that the client continued', async () => {
    fake.behaviour = {
      do: 'print',
      stdout: jsonLines(assistant('<observation>first'), assistant(' second</observation>'), RESULT),
    }
    expect(await complete()).toMatchObject({ text: '<observation>first second</observation>', stop: 'end' })
  })

  it('keeps the written part of an answer that was cut off', async () => {
    const text =
      "API Error: Claude's response exceeded the 4000 output token maximum. To configure this behavior, set …"
    const result = { ...RESULT, is_error: true, result: text }
    fake.behaviour = {
      do: 'print',
      code: 1,
      stdout: jsonLines(assistant('<observation>half'), assistant(text, '<synthetic>'), result),
    }
    expect(await complete()).toMatchObject({ text: '<observation>half', stop: 'length' })
  })

  it('distinguishes a refusal from a failure', async () => {
    fake.behaviour = {
      do: 'print',
      code: 1,
      stdout: failureOutput('API Error: Haiku cannot answer this.', { stop_reason: 'refusal' }),
    }
    expect(await complete()).toMatchObject({ stop: 'refused', text: '' })
    fake.behaviour = {
      do: 'print',
      code: 1,
      stdout: failureOutput('API Error: … appears to violate our Usage Policy (https://…)'),
    }
    expect(await complete()).toMatchObject({ stop: 'refused', text: '' })
  })

  it('counts every request of the call, and estimates if the client reports nothing', async () => {
    const twice = { haiku: { inputTokens: 10, outputTokens: 2 }, sonnet: { inputTokens: 30, outputTokens: 4 } }
    fake.behaviour = { do: 'print', stdout: answerOutput('x', { modelUsage: twice }) }
    expect((await complete()).usage).toEqual({ input: 40, output: 6, cacheRead: 0, cacheWrite: 0 })
    fake.behaviour = {
      do: 'print',
      stdout: answerOutput('12345678', { modelUsage: null, usage: null, total_cost_usd: null }),
    }
    expect(await complete()).toMatchObject({ cost: null, usage: { input: 5, output: 2 } })
  })

  it.skipIf(process.platform === 'win32')(
    'does not wait for processes that the program left behind, and kills them',
    async () => {
      fake.behaviour = { do: 'leave-grandchild', stdout: answerOutput('done') }
      expect(await complete()).toMatchObject({ text: 'done' })
    },
  )

  it('does not wait for processes outside of its group that keep the pipes open', async () => {
    fake.behaviour = { do: 'leave-grandchild', stdout: answerOutput('done'), detached: true }
    expect(await complete()).toMatchObject({ text: 'done' })
    await fake.server.until(() => fake.server.hangs(0))
    const escaped = fake.server.pids.filter((pid) => isRunning(pid))
    expect(escaped).toHaveLength(1)
    for (const pid of escaped) process.kill(pid, 'SIGKILL')
  })
})

describe('claude-code.environment', () => {
  it('contains no variables of the session that started the daemon', async () => {
    const left = {
      CLAUDECODE: '1',
      AI_AGENT: 'claude-code',
      CLAUDE_PID: '1',
      CLAUDE_EFFORT: 'high',
      CLAUDE_PROJECT_DIR: '/p',
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      CLAUDE_CODE_SESSION_ID: 's',
      CLAUDE_CODE_CHILD_SESSION: '1',
      CLAUDE_CODE_MESSAGING_SOCKET: '/s',
      CLAUDE_CODE_SSE_PORT: '1',
    }
    await complete(model({ env: { ...left, CLAUDE_CODE_OAUTH_TOKEN: 'mine', CLAUDE_CODE_USE_BEDROCK: '0' } }))
    const env = fake.server.calls[0]?.env ?? {}
    expect(Object.keys(env).filter((name) => Object.hasOwn(left, name))).toEqual([])
    expect(env).toMatchObject({ CLAUDE_CODE_OAUTH_TOKEN: 'mine', CLAUDE_CODE_USE_BEDROCK: '0' })
  })

  it('passes on an API key only together with its base URL', async () => {
    await complete(model({ env: { ANTHROPIC_API_KEY: 'sk-stray' } }))
    await complete(model({ env: { ANTHROPIC_API_KEY: 'sk-gateway', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }))
    expect(fake.server.calls.map(({ env }) => env.ANTHROPIC_API_KEY)).toEqual([undefined, 'sk-gateway'])
  })

  it("has of the user's settings what it takes to sign in, and nothing else", async () => {
    mkdirSync(join(fake.home, '.claude'), { recursive: true })
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'touch /x' }] }] }
    const settings = { apiKeyHelper: 'get-key', hooks, outputStyle: 'x', env: { ANTHROPIC_AUTH_TOKEN: 't', BAD: 1 } }
    writeFileSync(join(fake.home, '.claude', 'settings.json'), JSON.stringify(settings))
    await complete()
    const [report] = fake.server.calls
    expect(JSON.parse(String(report?.options['--settings']))).toEqual({
      apiKeyHelper: 'get-key',
      disableAllHooks: true,
    })
    expect(report?.env.ANTHROPIC_AUTH_TOKEN).toBe('t')
    expect(report?.env.BAD).toBeUndefined()
  })

  it.each(['', '{', '[]', 'null', '{"env":"x"}'])('ignores settings that are %j', async (text) => {
    mkdirSync(join(fake.home, '.claude'), { recursive: true })
    writeFileSync(join(fake.home, '.claude', 'settings.json'), text)
    expect(await readClaudeAccount({ HOME: fake.home })).toEqual({ settings: {}, env: {} })
  })
})
