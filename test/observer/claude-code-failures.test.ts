import { existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { replyOf } from '../../src/observer/providers/claude-code/reply.ts'
import { answered, failed, lines, STAND_IN } from './stand-in-claude.desk.ts'
import { asking, complete, failure, model, place, standInForEachTest } from './stand-in-claude.place.ts'

standInForEachTest()

describe('a failure', () => {
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
  ] as const)('"%s" has an owner and says what to do', (words, extra, error, owner, says) => {
    const ending = { kind: 'ended', code: 1, signal: null, stdout: failed(words, extra, error), stderr: '' } as const
    const reply = () => replyOf(ending, { program: 'claude', model: 'haiku', request: asking('a batch') })
    expect(reply).toThrow(expect.objectContaining({ owner, message: expect.stringMatching(says) }))
  })

  it('says when a used-up allowance comes back', async () => {
    const inTenMinutes = Math.floor(Date.now() / 1_000) + 600
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: inTenMinutes } }
    place.order = {
      do: 'print',
      code: 1,
      stdout: lines(event) + failed("You've hit your session limit · resets 5:20am (UTC)"),
    }
    const thrown = await failure()
    expect(thrown).toMatchObject({ owner: 'provider', message: expect.stringContaining('resets 5:20am') })
    expect(thrown.retryAfterMs).toBeGreaterThan(0)
    expect(thrown.retryAfterMs).toBeLessThanOrEqual(600_000)
  })

  it('that would wait for days waits an hour', async () => {
    const event = { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 9_999_999_999 } }
    place.order = { do: 'print', code: 1, stdout: lines(event) + failed("You've hit your weekly limit") }
    expect((await failure()).retryAfterMs).toBe(HOUR)
  })

  it('shows no secret, one line, and not everything', async () => {
    const key = `sk-ant-api03-${'a'.repeat(80)}`
    place.order = {
      do: 'print',
      code: 1,
      stdout: failed(`API Error: 500 \u001b[31m${key}\nwords ${'x'.repeat(100_000)}`),
    }
    const { message } = await failure()
    expect(message).not.toContain('aaaaaaaa')
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message.length).toBeLessThan(500)
  })

  it.each([
    ['nothing', {}, 'exit code 0'],
    ['garbage', { stdout: 'Segmentation fault\n{"type":"result"\n\u0000\n', code: 139 }, 'exit code 139.*Segmentation'],
    ['other JSON', { stdout: '[]\n{"type":"result"' }, 'no answer'],
    ['its last words', { stderr: 'at x\nError: the disk is full\n', code: 1 }, 'the disk is full'],
    ['that it is too old', { stderr: "error: unknown option '--tools'\n", code: 1 }, 'too old.*claude update'],
  ])('of a program that prints %s is the provider’s', async (_, printed, says) => {
    place.order = { do: 'print', ...printed }
    const thrown = await failure()
    expect(thrown.owner).toBe('provider')
    expect(thrown.message).toMatch(new RegExp(says))
  })

  it.skipIf(process.platform === 'win32')('of a program that crashes names the signal', async () => {
    place.order = { do: 'die', signal: 'SIGSEGV' }
    expect(await failure()).toMatchObject({ owner: 'provider', message: expect.stringContaining('SIGSEGV') })
  })

  it('of a program that writes on and on ends it', async () => {
    place.order = { do: 'flood' }
    expect(await failure()).toMatchObject({ owner: 'provider', message: expect.stringContaining('more than 16 MB') })
  })

  it('of a model that says nothing is the message’s', async () => {
    place.order = { do: 'print', stdout: answered('  ') }
    expect(await failure()).toMatchObject({ owner: 'message', usage: { input: 100, output: 20 } })
  })
})

describe('the program', () => {
  it.each(['nowhere/claude', 'nowhere/cli.js'])('that is not there is named: %s', async (path) => {
    const program = join(place.directory, path)
    const thrown = await failure(model({ program }))
    expect(thrown).toMatchObject({ owner: 'provider' })
    expect(thrown.message).toBe(
      `there is no program ${program}; say where claude is: claude-mem config set claude-code-path FILE`,
    )
  })

  it('that was never named is asked for', async () => {
    expect((await failure(model({ program: '' }))).message).toContain('claude-mem config set claude-code-path')
  })

  it('that is not on the PATH is named', async () => {
    expect((await failure(model({ program: 'no-such-claude' }))).message).toContain(
      'there is no program no-such-claude',
    )
  })

  it.skipIf(process.platform === 'win32')('that may not be run is named', async () => {
    const program = join(place.directory, 'claude')
    writeFileSync(program, 'no program', { mode: 0o644 })
    expect((await failure(model({ program }))).message).toContain('may not be run')
  })

  it.skipIf(process.platform === 'win32')('may be a link to a script, with no node on the PATH', async () => {
    const program = join(place.directory, 'claude')
    symlinkSync(STAND_IN, program)
    expect(await complete(model({ program, env: { PATH: '' } }))).toMatchObject({ stop: 'end' })
  })

  it('is not started where the guard is missing', async () => {
    expect(await failure(model({ guard: join(place.directory, 'gone.js') }))).toMatchObject({ owner: 'provider' })
    expect(place.desk.reports).toEqual([])
  })

  it('is not started where its directory cannot be made', async () => {
    writeFileSync(join(place.directory, 'file'), '')
    expect(await failure(model({ workDir: join(place.directory, 'file', 'work') }))).toMatchObject({
      owner: 'provider',
    })
    expect(existsSync(join(place.directory, 'file', 'work'))).toBe(false)
  })
})

describe('several calls', () => {
  it('wait for each other, and one that is aborted while waiting never starts', async () => {
    place.order = { do: 'hang', grandchild: false }
    const chat = model()
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()]
    const hanging = chat.complete(asking('one'), first.signal)
    const given = chat.complete(asking('two'), second.signal)
    const last = chat.complete(asking('three'), third.signal)
    await place.desk.until(() => place.desk.hangs(0))
    second.abort(new Error('no longer wanted'))
    await expect(given).rejects.toThrow('no longer wanted')
    expect(place.desk.reports).toHaveLength(1)
    place.order = { do: 'print', stdout: answered('late') }
    first.abort(new Error('took too long'))
    await expect(hanging).rejects.toThrow('took too long')
    expect(await last).toMatchObject({ text: 'late' })
    expect(place.desk.reports.map(({ stdin }) => stdin.includes('two'))).toEqual([false, false])
  })

  it('are not made for a signal that is aborted already', async () => {
    const reason = new Error('stopping')
    await expect(model().complete(asking('x'), AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(place.desk.reports).toEqual([])
  })
})
