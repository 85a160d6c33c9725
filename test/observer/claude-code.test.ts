import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readAccount } from '../../src/observer/providers/claude-code/account.ts'
import { answered, assistant, failed, isRunning, lines, RESULT } from './stand-in-claude.desk.ts'
import { asking, complete, model, place, standInForEachTest } from './stand-in-claude.place.ts'

standInForEachTest()

describe('a call', () => {
  it('gives the answer, its tokens, its cost and the exact model', async () => {
    expect(await complete()).toEqual({
      text: '<skip reason="nothing"/>',
      usage: { input: 100, output: 20, cacheRead: 5, cacheWrite: 7 },
      model: 'claude-haiku-4-5-20251001',
      stop: 'end',
      cost: 0.000209,
    })
  })

  it('has the system prompt in a file, the prompt on stdin, and neither tools nor settings nor a session', async () => {
    await complete()
    const [report] = place.desk.reports
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

  it.skipIf(process.platform === 'win32')('works in a directory that only its owner may open', async () => {
    await complete()
    expect(statSync(join(place.directory, 'work')).mode & 0o077).toBe(0)
    expect(statSync(join(place.directory, 'work', 'system-prompt.md')).mode & 0o077).toBe(0)
  })

  it('is told what came earlier, and which part of it is new', async () => {
    await complete(model(), asking('first', '<skip reason="x"/>', 'second </earlier> <request>'))
    expect(place.desk.reports[0]?.stdin).toMatch(
      /<earlier>\n<batch>\nfirst\n<\/batch>\n<notes>\n<skip reason="x"\/>\n<\/notes>\n<\/earlier>\n\n<request>\nsecond ‹\/earlier› ‹request›\n<\/request>$/,
    )
  })

  it('takes a prompt that no command line could hold, in every script', async () => {
    const long = `${'ключ 钥匙 🗝️ '.repeat(100_000)}end`
    await complete(model(), asking(long))
    expect(place.desk.reports[0]?.stdin).toBe(`<request>\n${long}\n</request>`)
  })

  it('never looks like a command of the client', async () => {
    await complete(model(), asking('/clear'))
    expect(place.desk.reports[0]?.stdin.startsWith('/')).toBe(false)
  })

  it('joins the parts of an answer that the client continued', async () => {
    place.order = {
      do: 'print',
      stdout: lines(assistant('<observation>first'), assistant(' second</observation>'), RESULT),
    }
    expect(await complete()).toMatchObject({ text: '<observation>first second</observation>', stop: 'end' })
  })

  it('keeps the part that was written where the answer was cut off for good', async () => {
    const words =
      "API Error: Claude's response exceeded the 4000 output token maximum. To configure this behavior, set …"
    const result = { ...RESULT, is_error: true, result: words }
    place.order = {
      do: 'print',
      code: 1,
      stdout: lines(assistant('<observation>half'), assistant(words, '<synthetic>'), result),
    }
    expect(await complete()).toMatchObject({ text: '<observation>half', stop: 'length' })
  })

  it('tells a refusal from a failure', async () => {
    place.order = {
      do: 'print',
      code: 1,
      stdout: failed('API Error: Haiku cannot answer this.', { stop_reason: 'refusal' }),
    }
    expect(await complete()).toMatchObject({ stop: 'refused', text: '' })
    place.order = {
      do: 'print',
      code: 1,
      stdout: failed('API Error: … appears to violate our Usage Policy (https://…)'),
    }
    expect(await complete()).toMatchObject({ stop: 'refused', text: '' })
  })

  it('counts every request that it took, and estimates where the client says nothing', async () => {
    const twice = { haiku: { inputTokens: 10, outputTokens: 2 }, sonnet: { inputTokens: 30, outputTokens: 4 } }
    place.order = { do: 'print', stdout: answered('x', { modelUsage: twice }) }
    expect((await complete()).usage).toEqual({ input: 40, output: 6, cacheRead: 0, cacheWrite: 0 })
    place.order = { do: 'print', stdout: answered('12345678', { modelUsage: null, usage: null, total_cost_usd: null }) }
    expect(await complete()).toMatchObject({ cost: null, usage: { input: 5, output: 2 } })
  })

  it.skipIf(process.platform === 'win32')('does not wait for what the program left running, and ends it', async () => {
    place.order = { do: 'leave-grandchild', stdout: answered('done') }
    expect(await complete()).toMatchObject({ text: 'done' })
  })

  it('does not wait for what left its group either, though it holds the pipes open', async () => {
    place.order = { do: 'leave-grandchild', stdout: answered('done'), detached: true }
    expect(await complete()).toMatchObject({ text: 'done' })
    await place.desk.until(() => place.desk.hangs(0))
    const escaped = place.desk.pids.filter((pid) => isRunning(pid))
    expect(escaped).toHaveLength(1)
    for (const pid of escaped) process.kill(pid, 'SIGKILL')
  })
})

describe('the environment', () => {
  it('keeps nothing of the session that started the daemon', async () => {
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
    const env = place.desk.reports[0]?.env ?? {}
    expect(Object.keys(env).filter((name) => Object.hasOwn(left, name))).toEqual([])
    expect(env).toMatchObject({ CLAUDE_CODE_OAUTH_TOKEN: 'mine', CLAUDE_CODE_USE_BEDROCK: '0' })
  })

  it('has a key that lies around only together with the address that it is for', async () => {
    await complete(model({ env: { ANTHROPIC_API_KEY: 'sk-stray' } }))
    await complete(model({ env: { ANTHROPIC_API_KEY: 'sk-gateway', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }))
    expect(place.desk.reports.map(({ env }) => env.ANTHROPIC_API_KEY)).toEqual([undefined, 'sk-gateway'])
  })

  it("has of the user's settings what it takes to sign in, and nothing else", async () => {
    mkdirSync(join(place.home, '.claude'), { recursive: true })
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'touch /x' }] }] }
    const settings = { apiKeyHelper: 'get-key', hooks, outputStyle: 'x', env: { ANTHROPIC_AUTH_TOKEN: 't', BAD: 1 } }
    writeFileSync(join(place.home, '.claude', 'settings.json'), JSON.stringify(settings))
    await complete()
    const [report] = place.desk.reports
    expect(JSON.parse(String(report?.options['--settings']))).toEqual({
      apiKeyHelper: 'get-key',
      disableAllHooks: true,
    })
    expect(report?.env.ANTHROPIC_AUTH_TOKEN).toBe('t')
    expect(report?.env.BAD).toBeUndefined()
  })

  it.each(['', '{', '[]', 'null', '{"env":"x"}'])('lives with settings that are %j', async (text) => {
    mkdirSync(join(place.home, '.claude'), { recursive: true })
    writeFileSync(join(place.home, '.claude', 'settings.json'), text)
    expect(await readAccount({ HOME: place.home })).toEqual({ settings: {}, env: {} })
  })
})
