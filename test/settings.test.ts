import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dataDirectory, pathsOf, shortHash } from '../src/paths.ts'
import { loadSettings, parseSetting } from '../src/settings.ts'
import { compareVersions } from '../src/version.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-settings-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))
const write = (text: string) => writeFileSync(join(directory, 'settings.json'), text)

describe('settings.sources', () => {
  test('defaults, then the file, then the environment', () => {
    write('\uFEFF{"CLAUDE_MEM_BATCH_MAX_SIZE": 5, "CLAUDE_MEM_BATCHING_ENABLED": false}')
    const { values, sources, problems } = loadSettings(directory, { CLAUDE_MEM_BATCH_MAX_SIZE: '7' })
    expect(values).toMatchObject({
      CLAUDE_MEM_BATCH_MAX_SIZE: 7,
      CLAUDE_MEM_BATCHING_ENABLED: false,
      CLAUDE_MEM_WORKER_PORT: 37777,
    })
    expect(sources).toMatchObject({
      CLAUDE_MEM_BATCH_MAX_SIZE: 'environment',
      CLAUDE_MEM_BATCHING_ENABLED: 'file',
      CLAUDE_MEM_WORKER_PORT: 'default',
    })
    expect(problems).toEqual([])
  })

  test('a value that is not valid is reported, and the one below it holds', () => {
    write('{"CLAUDE_MEM_BATCH_MAX_SIZE": 5}')
    const { values, problems } = loadSettings(directory, { CLAUDE_MEM_BATCH_MAX_SIZE: 'many' })
    expect(values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(5)
    expect(problems[0]?.message).toBe(
      'CLAUDE_MEM_BATCH_MAX_SIZE must be a whole number from 1 to 500, not "many" (from the environment)',
    )
  })

  test.each(['{"half', '[]', '"text"', '', 'null'])('a file with %s is ignored and reported', (text) => {
    write(text)
    const { values, problems } = loadSettings(directory, {})
    expect(values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(20)
    expect(problems).toHaveLength(1)
  })

  test('a name nobody knows is reported', () => {
    write('{"CLAUDE_MEM_BACH": 1}')
    expect(loadSettings(directory, {}).problems).toMatchObject([{ name: 'CLAUDE_MEM_BACH' }])
  })
})

describe('settings.values', () => {
  test.each([
    ['CLAUDE_MEM_BATCHING_ENABLED', 'off', false],
    ['CLAUDE_MEM_BATCHING_ENABLED', true, true],
    ['CLAUDE_MEM_WORKER_PORT', ' 80 ', 80],
    ['CLAUDE_MEM_LOG_LEVEL', 'warn', 'warn'],
    ['CLAUDE_MEM_SKIP_TOOLS', 'A, B,,', ['A', 'B']],
    ['CLAUDE_MEM_SKIP_TOOLS', [], []],
  ] as const)('%s takes %j', (name, raw, value) => {
    expect(parseSetting(name, raw)).toEqual({ ok: true, value })
  })

  test.each([
    ['CLAUDE_MEM_BATCHING_ENABLED', 'maybe'],
    ['CLAUDE_MEM_WORKER_PORT', 1.5],
    ['CLAUDE_MEM_WORKER_PORT', '80x'],
    ['CLAUDE_MEM_WORKER_PORT', 65_536],
    ['CLAUDE_MEM_WORKER_PORT', null],
    ['CLAUDE_MEM_LOG_LEVEL', 'loud'],
    ['CLAUDE_MEM_SKIP_TOOLS', [1]],
  ] as const)('%s refuses %j', (name, raw) => {
    expect(parseSetting(name, raw)).toMatchObject({ ok: false, message: expect.stringContaining(name) })
  })
})

describe('paths', () => {
  test('the data directory comes from the environment, else from the home directory', () => {
    expect(dataDirectory({ CLAUDE_MEM_DATA_DIR: '/x/y' })).toBe('/x/y')
    expect(dataDirectory({ CLAUDE_MEM_DATA_DIR: ' ' })).toMatch(/\.claude-mem$/)
  })

  test('a socket lies in the data directory, in a short one of its own where that is too deep, or is a named pipe', () => {
    expect(pathsOf('/x', 'linux').socket).toBe('/x/daemon.sock')
    const deep = pathsOf(`/${'x'.repeat(200)}`, 'darwin').socket
    expect(Buffer.byteLength(deep)).toBeLessThan(104)
    expect(deep).not.toBe(pathsOf(`/${'y'.repeat(200)}`, 'darwin').socket)
    expect(pathsOf('C:\\Users\\Me\\.claude-mem', 'win32').socket).toMatch(/^\\\\\.\\pipe\\claude-mem-[0-9a-f]{16}$/)
    expect(pathsOf('C:\\USERS\\me\\.claude-mem', 'win32').socket).toBe(
      pathsOf('C:\\Users\\Me\\.claude-mem', 'win32').socket,
    )
  })

  test('shortHash is 64-bit FNV-1a', () => {
    expect([shortHash(''), shortHash('a'), shortHash('foobar')]).toEqual([
      'cbf29ce484222325',
      'af63dc4c8601ec8c',
      '85944171f73967e8',
    ])
  })
})

test.each([
  ['0.1.0', '0.1.0', 0],
  ['0.1.0', '0.2.0', -1],
  ['0.10.0', '0.9.9', 1],
  ['1.0.0-beta', '1.0.0', -1],
  ['1.0.0-beta', '1.0.0-alpha', 1],
])('version.order: %s against %s', (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign)
})
