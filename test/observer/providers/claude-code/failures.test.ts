import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClaudeReply } from '../../../../src/observer/providers/claude-code/reply.ts'
import { chatRequest, complete, failure, fake, model, useFakeClaude } from './fake-claude.ts'
import { answerOutput, FAKE_CLAUDE, failureOutput, jsonLines } from './fake-claude-server.ts'

useFakeClaude()

describe('claude-code.failure', () => {
  const HOUR = 3_600_000
  it.each([
    ['Not logged in · Please run /login', {}, 'authentication_failed', 'provider', 'type /login'],
    ['Invalid API key · Please run /login', {}, undefined, 'provider', 'type /login'],
    ['Failed to authenticate. API Error: 403 no', { api_error_status: 403 }, undefined, 'provider', 'type /login'],
    ['Credit balance is too low', { api_error_status: 400 }, 'billing_error', 'provider', 'no credit left'],
    [
      "There's an issue with the selected model (nope). It may not exist or you may not have access to it.",
      { api_error_status: 404 },
      'invalid_request',
      'provider',
      'claude-mem config set model',
    ],
    [
      'API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}',
      {},
      undefined,
      'provider',
      'Overloaded|529',
    ],
    ['API Error: Connection error.', {}, undefined, 'provider', 'Connection error'],
    ['API Error: 400 messages.0.content: nope', { api_error_status: 400 }, undefined, 'message', 'nope'],
    ['API Error: 400 {"error":{"message":"nope"}}', {}, undefined, 'message', 'nope'],
    ['Context limit reached', {}, undefined, 'context', 'too long'],
    ['Prompt is too long', {}, undefined, 'context', 'too long'],
    ['Too much', { terminal_reason: 'prompt_too_long', api_error_status: 400 }, undefined, 'context', 'too long'],
    ['', { subtype: 'error_during_execution', result: undefined }, undefined, 'provider', 'error_during_execution'],
  ] as const)('"%s" is classified and says what to do', (words, extra, error, owner, says) => {
    const ending = {
      kind: 'ended',
      code: 1,
      signal: null,
      stdout: failureOutput(words, extra, error),
      stderr: '',
    } as const
    const reply = () => readClaudeReply(ending, { program: 'claude', model: 'haiku', request: chatRequest('a batch') })
    expect(reply).toThrow(expect.objectContaining({ owner, message: expect.stringMatching(says) }))
  })

  it('contains the wait until the usage limit ends', async () => {
    const inTenMinutes = Math.floor(Date.now() / 1_000) + 600
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: inTenMinutes } }
    fake.behaviour = {
      do: 'print',
      code: 1,
      stdout: jsonLines(event) + failureOutput("You've hit your session limit · resets 5:20am (UTC)"),
    }
    const thrown = await failure()
    expect(thrown).toMatchObject({ owner: 'provider', message: expect.stringContaining('resets 5:20am') })
    expect(thrown.retryAfterMs).toBeGreaterThan(0)
    expect(thrown.retryAfterMs).toBeLessThanOrEqual(600_000)
  })

  it('limits a wait of days to an hour', async () => {
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 9_999_999_999 } }
    fake.behaviour = { do: 'print', code: 1, stdout: jsonLines(event) + failureOutput("You've hit your weekly limit") }
    expect((await failure()).retryAfterMs).toBe(HOUR)
  })

  it('shows one short line without secrets', async () => {
    const key = 'sk-ant-api03-Jq8fKx2LmP0vRtY7wZcB4nHsD9gUeA6iO1kNbV3xCzQpTyWuE5rGhMj'
    fake.behaviour = {
      do: 'print',
      code: 1,
      stdout: failureOutput(`API Error: 500 \u001b[31m${key}\nwords ${'x'.repeat(100_000)}`),
    }
    const { message } = await failure()
    expect(message).not.toContain('Jq8fKx2L')
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message.length).toBeLessThan(500)
  })

  it.each([
    ['nothing', {}, 'exit code 0'],
    ['garbage', { stdout: 'Segmentation fault\n{"type":"result"\n\u0000\n', code: 139 }, 'exit code 139.*Segmentation'],
    ['other JSON', { stdout: '[]\n{"type":"result"' }, 'no answer'],
    ['its last words', { stderr: 'at x\nError: the disk is full\n', code: 1 }, 'the disk is full'],
    ['that it is too old', { stderr: "error: unknown option '--tools'\n", code: 1 }, 'too old.*claude update'],
  ])('of a program that prints %s belongs to the provider', async (_, printed, says) => {
    fake.behaviour = { do: 'print', ...printed }
    const thrown = await failure()
    expect(thrown.owner).toBe('provider')
    expect(thrown.message).toMatch(new RegExp(says))
  })

  it.skipIf(process.platform === 'win32')('of a program that crashes names the signal', async () => {
    fake.behaviour = { do: 'die', signal: 'SIGSEGV' }
    expect(await failure()).toMatchObject({ owner: 'provider', message: expect.stringContaining('SIGSEGV') })
  })

  it('of a program that writes too much kills it', async () => {
    fake.behaviour = { do: 'flood' }
    expect(await failure()).toMatchObject({ owner: 'provider', message: expect.stringContaining('more than 16 MB') })
  })

  it('of a model without text belongs to the message', async () => {
    fake.behaviour = { do: 'print', stdout: answerOutput('  ') }
    expect(await failure()).toMatchObject({ owner: 'message', usage: { input: 100, output: 20 } })
  })
})

describe('claude-code.program', () => {
  it.each(['nowhere/claude', 'nowhere/cli.js'])('that is missing is named: %s', async (path) => {
    const program = join(fake.directory, path)
    const thrown = await failure(model({ program }))
    expect(thrown).toMatchObject({ owner: 'provider' })
    expect(thrown.message).toBe(
      `there is no program ${program}; set the path of claude: claude-mem config set claude-code-path FILE`,
    )
  })

  it('that is not configured is reported with the command to set it', async () => {
    expect((await failure(model({ program: '' }))).message).toContain('claude-mem config set claude-code-path')
  })

  it('that is not on the PATH is named', async () => {
    expect((await failure(model({ program: 'no-such-claude' }))).message).toContain(
      'there is no program no-such-claude',
    )
  })

  it.skipIf(process.platform === 'win32')('that is not executable is named', async () => {
    const program = join(fake.directory, 'claude')
    writeFileSync(program, 'no program', { mode: 0o644 })
    expect((await failure(model({ program }))).message).toContain('is not executable')
  })

  it.skipIf(process.platform === 'win32')('may be a link to a script, without node on the PATH', async () => {
    const program = join(fake.directory, 'claude')
    symlinkSync(FAKE_CLAUDE, program)
    expect(await complete(model({ program, env: { PATH: '' } }))).toMatchObject({ stop: 'end' })
  })

  it('is not started if the guard is missing', async () => {
    expect(await failure(model({ guard: join(fake.directory, 'gone.js') }))).toMatchObject({ owner: 'provider' })
    expect(fake.server.calls).toEqual([])
  })

  it('is not started if its directory cannot be created', async () => {
    writeFileSync(join(fake.directory, 'file'), '')
    expect(await failure(model({ workDir: join(fake.directory, 'file', 'work') }))).toMatchObject({
      owner: 'provider',
    })
    expect(existsSync(join(fake.directory, 'file', 'work'))).toBe(false)
  })
})

describe('claude-code.several calls', () => {
  it('run one after the other, and one that is aborted while it waits never starts', async () => {
    fake.behaviour = { do: 'hang', grandchild: false }
    const chat = model()
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
    const hanging = chat.complete(chatRequest('one'), first.signal)
    const given = chat.complete(chatRequest('two'), second.signal)
    const last = chat.complete(chatRequest('three'), third.signal)
    await fake.server.until(() => fake.server.hangs(0))
    second.abort(new Error('no longer wanted'))
    await expect(given).rejects.toThrow('no longer wanted')
    expect(fake.server.calls).toHaveLength(1)
    fake.behaviour = { do: 'print', stdout: answerOutput('late') }
    first.abort(new Error('took too long'))
    await expect(hanging).rejects.toThrow('took too long')
    expect(await last).toMatchObject({ text: 'late' })
    expect(fake.server.calls.map(({ stdin }) => stdin.includes('two'))).toEqual([false, false])
  })

  it('are not made for an aborted signal', async () => {
    const reason = new Error('stopping')
    await expect(model().complete(chatRequest('x'), AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(fake.server.calls).toEqual([])
  })
})
