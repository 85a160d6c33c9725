import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Mutex, resolveProgram, shimTarget } from '../../../../src/observer/providers/claude-code/index.ts'
import { parseClaudeStream } from '../../../../src/observer/providers/claude-code/reply.ts'
import { usageLimitWaitMs } from '../../../../src/observer/providers/retry-after.ts'
import { temporaryDirectory } from '../../../support/directories.ts'

const NPM_CMD = (target: string) =>
  `@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\nIF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\${target}" %*\r\n`

describe('claude-code.windows shim', () => {
  it.each([
    [
      'npm, a script',
      NPM_CMD('node_modules\\@anthropic-ai\\claude-code\\cli.js'),
      'node_modules\\@anthropic-ai\\claude-code\\cli.js',
    ],
    [
      'npm, a program',
      '@ECHO off\r\n"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe"   %*\r\n',
      'node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe',
    ],
    [
      'pnpm',
      '@IF EXIST "%~dp0\\node.exe" (\r\n  "%~dp0\\node.exe"  "%~dp0\\global\\5\\cli.js" %*\r\n)',
      'global\\5\\cli.js',
    ],
    ['PowerShell', '& "$basedir/node$exe"  "$basedir/node_modules/x/cli.js" $args', 'node_modules/x/cli.js'],
    ['anything else', '@echo off\r\nwsl claude %*', null],
    ['nothing', '', null],
  ])('of %s resolves to its target', (_, text, target) => {
    expect(shimTarget(text)).toBe(target)
  })

  let directory: string
  beforeAll(() => {
    directory = temporaryDirectory('shim')
  })
  it('is never started', async () => {
    const file = join(directory, 'claude.cmd')
    writeFileSync(file, NPM_CMD('pkg\\cli.js'))
    const { program, args } = await resolveProgram(file, 'win32')
    expect(program).toBe(process.execPath)
    expect(args[0]?.replaceAll('\\', '/')).toMatch(/\/pkg\/cli\.js$/)
    writeFileSync(file, 'wsl claude %*')
    await expect(resolveProgram(file, 'win32')).rejects.toMatchObject({
      owner: 'provider',
      message: expect.stringContaining('claude-mem config set claude-code-path'),
    })
  })
})

describe('claude-code.usage limit', () => {
  const now = Date.UTC(2026, 10, 16, 4, 50)
  const MINUTE = 60_000

  it.each([
    ["You've hit your session limit · resets 5:20am (UTC)", 30 * MINUTE],
    ["You've hit your 5-hour limit · resets 5am (UTC)", 10 * MINUTE],
    ['5-hour limit reached ∙ resets 5:35am (Africa/Nairobi)', 60 * MINUTE],
    ['5-hour limit reached ∙ resets 8:05am (Africa/Nairobi)', 15 * MINUTE],
    ["You've hit your weekly limit · resets Nov 20, 5am (UTC)", 60 * MINUTE],
    [`Claude AI usage limit reached|${now / 1_000 + 60}`, MINUTE],
    ["You've hit your limit · resets 5am (Nowhere/Land)", null],
    ['Overloaded', null],
    ['', null],
  ])('wait is read from "%s"', (words, wait) => {
    expect(usageLimitWaitMs(null, words, now)).toBe(wait)
  })

  it('the exact time of the client wins', () => {
    expect(usageLimitWaitMs(now + MINUTE, 'resets 5:20am (UTC)', now)).toBe(MINUTE)
    expect(usageLimitWaitMs(now - MINUTE, '', now)).toBeNull()
  })
})

describe('claude-code.stream', () => {
  it.each(['', '\n\n', 'not json', '{', 'null', '{"type":"result', '{"type":"unknown"}', '[{"type":"result"}]'])(
    '%j is no result',
    (text) => {
      expect(parseClaudeStream(text)).toMatchObject({ text: '', result: null })
    },
  )

  it('fields of unexpected types are ignored', () => {
    const result = {
      type: 'result',
      is_error: 'no',
      result: 7,
      usage: [],
      modelUsage: { x: 1 },
      total_cost_usd: 'free',
    }
    const assistant = { type: 'assistant', message: { model: 3, content: 'text' } }
    expect(parseClaudeStream(`${JSON.stringify(assistant)}\r\n${JSON.stringify(result)}\r\n`)).toMatchObject({
      text: '',
      model: null,
      result: { is_error: false, result: null, usage: null, modelUsage: null, total_cost_usd: null },
    })
  })
})

describe('claude-code.mutex', () => {
  const free = new AbortController().signal

  it('runs one task after the other, also after a failed one', async () => {
    const mutex = new Mutex()
    const order: string[] = []
    const failing = mutex.runExclusive(free, async () => {
      await Promise.resolve()
      order.push('first')
      throw new Error('no')
    })
    const next = mutex.runExclusive(free, async () => order.push('second'))
    await expect(failing).rejects.toThrow('no')
    await next
    expect(order).toEqual(['first', 'second'])
  })

  it('does not start the next task early when a waiting one is aborted', async () => {
    const mutex = new Mutex()
    const waiting = new AbortController()
    let leave = () => {}
    const inside = mutex.runExclusive(
      free,
      () =>
        new Promise<void>((resolve) => {
          leave = resolve
        }),
    )
    let entered = false
    const given = mutex.runExclusive(waiting.signal, async () => 'never')
    const last = mutex.runExclusive(free, async () => {
      entered = true
    })
    waiting.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')
    expect(entered).toBe(false)
    leave()
    await Promise.all([inside, last])
    expect(entered).toBe(true)
  })
})
