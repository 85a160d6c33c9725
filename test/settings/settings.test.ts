import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { dataDirectory, dataPaths, shortHash } from '../../src/lib/paths.ts'
import { compareVersions } from '../../src/lib/version.ts'
import { displayedValue, loadSettings, parseSetting, SETTING_NAMES, SETTINGS } from '../../src/settings/settings.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
beforeEach(() => {
  directory = temporaryDirectory('settings')
})
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

  test('an address without encryption is used and warned of, unless it is on this machine', () => {
    const warnings = (address: string) => {
      write(JSON.stringify({ CLAUDE_MEM_OPENROUTER_BASE_URL: address }))
      const { values, problems } = loadSettings(directory, {})
      expect(values.CLAUDE_MEM_OPENROUTER_BASE_URL).toBe(address)
      return problems
    }
    for (const address of [
      'http://models.example/v1',
      'http://192.168.1.5:11434/v1',
      'http://127.0.0.1.evil.example',
    ]) {
      expect(warnings(address)).toEqual([
        { name: 'CLAUDE_MEM_OPENROUTER_BASE_URL', message: expect.stringContaining('unencrypted'), isWarning: true },
      ])
    }
    for (const address of [
      'https://models.example',
      'ollama',
      'http://localhost:1234',
      'http://[::1]:1',
      'http://127.0.0.1:1',
    ]) {
      expect(warnings(address)).toEqual([])
    }
  })

  test('an invalid value is reported, and the next lower source is used', () => {
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

  test('an unknown name is reported', () => {
    write('{"CLAUDE_MEM_BACH": 1}')
    expect(loadSettings(directory, {}).problems).toMatchObject([{ name: 'CLAUDE_MEM_BACH' }])
  })

  test('every default is one that may be set', () => {
    for (const name of SETTING_NAMES) {
      const { default: value } = SETTINGS[name].rule
      expect(parseSetting(name, value)).toEqual({ ok: true, value })
      expect(parseSetting(name, Array.isArray(value) ? value.join(',') : String(value))).toEqual({ ok: true, value })
    }
  })
})

describe('settings.secrets', () => {
  const KEY = 'sk-ant-0123456789-secret-wxyz'

  test.each([
    [KEY, '…wxyz'],
    ['short-key', '…'],
    ['', ''],
  ])('%j is shown as %j', (key, shown) => {
    expect(displayedValue('CLAUDE_MEM_GEMINI_API_KEY', key)).toBe(shown)
  })

  test('no other setting is masked', () => {
    expect(displayedValue('CLAUDE_MEM_MODEL', KEY)).toBe(KEY)
    expect(displayedValue('CLAUDE_MEM_SKIP_TOOLS', ['A'])).toEqual(['A'])
  })

  test.each([
    ['{"CLAUDE_MEM_ANTHROPIC_API_KEY": "two words"}', {}],
    [`{"CLAUDE_MEM_ANTHROPIC_API_KEY": ["${KEY}"]}`, {}],
    [`{"CLAUDE_MEM_ANTHROPIC_API_KEY": "${KEY}" "more": 1}`, {}],
    [`{"CLAUDE_MEM_ANTHROPIC_API_KEY": ${KEY}}`, {}],
    ['{}', { CLAUDE_MEM_OPENROUTER_API_KEY: `${KEY}\n${KEY}` }],
    ['{}', { CLAUDE_MEM_OPENROUTER_API_KEY: `${KEY}é` }],
    ['{"CLAUDE_MEM_ANTHROPIC_BASE_URL": "https://me:secret@host"}', {}],
    ['{"CLAUDE_MEM_ANTHROPIC_BASE_URL": "ftp://me:secret@host"}', {}],
  ])('a problem with %s and %j quotes nothing of it', (text, env) => {
    write(text)
    const { problems, values } = loadSettings(directory, env)
    expect(problems.length).toBeGreaterThan(0)
    expect(JSON.stringify(problems)).not.toMatch(/secret|words|sk-ant|wxyz/)
    expect(values.CLAUDE_MEM_ANTHROPIC_API_KEY + values.CLAUDE_MEM_OPENROUTER_API_KEY).toBe('')
  })

  test.skipIf(process.platform === 'win32')('a file that holds one and is open to others is reported', () => {
    const file = join(directory, 'settings.json')
    write(`{"CLAUDE_MEM_ANTHROPIC_API_KEY": "${KEY}"}`)
    for (const mode of [0o644, 0o640, 0o604]) {
      chmodSync(file, mode)
      expect(loadSettings(directory, {}).problems).toEqual([
        { name: 'settings.json', message: `settings.json holds a key and is open to others: chmod 600 '${file}'` },
      ])
    }
    chmodSync(file, 0o600)
    expect(loadSettings(directory, {}).problems).toEqual([])
    write('{"CLAUDE_MEM_ANTHROPIC_API_KEY": "", "CLAUDE_MEM_LOG_LEVEL": "warn"}')
    chmodSync(file, 0o644)
    expect(loadSettings(directory, {}).problems).toEqual([])
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
    ['CLAUDE_MEM_DAILY_BUDGET_USD', ' 0.5 ', 0.5],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', '.25', 0.25],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', 0, 0],
    ['CLAUDE_MEM_MODEL', '  claude-haiku-4-5\n', 'claude-haiku-4-5'],
    ['CLAUDE_MEM_MODEL', '', ''],
    ['CLAUDE_MEM_ANTHROPIC_API_KEY', ' sk-ant-1 ', 'sk-ant-1'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', '', ''],
    ['CLAUDE_MEM_OPENROUTER_BASE_URL', 'ollama', 'ollama'],
    ['CLAUDE_MEM_PRICES', 'a=1/2, b/c:d=0.5/1/0.05/0.6', ['a=1/2', 'b/c:d=0.5/1/0.05/0.6']],
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
    ['CLAUDE_MEM_SKIP_TOOLS', { 0: 'A' }],
    ['CLAUDE_MEM_SKIP_TOOLS', ['a\nb']],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', -1],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', ''],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', '2 dollars'],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', '1e3'],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', '0x10'],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', 'Infinity'],
    ['CLAUDE_MEM_DAILY_BUDGET_USD', [2]],
    ['CLAUDE_MEM_MODEL', 5],
    ['CLAUDE_MEM_MODEL', 'two\nlines'],
    ['CLAUDE_MEM_MODEL', 'x'.repeat(4_097)],
    ['CLAUDE_MEM_ANTHROPIC_API_KEY', 'a b'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', 'localhost:8080'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', 'ollama'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', 'file:///etc/passwd'],
    ['CLAUDE_MEM_OPENROUTER_BASE_URL', 'llama'],
    ['CLAUDE_MEM_PRICES', 'claude-haiku-4-5'],
    ['CLAUDE_MEM_PRICES', 'claude-haiku-4-5=1'],
    ['CLAUDE_MEM_PRICES', 'claude-haiku-4-5=-1/2'],
    ['CLAUDE_MEM_PRICES', ['a=1/2', 'b']],
    ['CLAUDE_MEM_PROVIDER', 'Anthropic'],
  ] as const)('%s refuses %j', (name, raw) => {
    expect(parseSetting(name, raw)).toMatchObject({ ok: false, message: expect.stringContaining(name) })
  })
})

test('settings.values: a huge value is refused with a short sentence', () => {
  const parsed = parseSetting('CLAUDE_MEM_MODEL', 'x'.repeat(1_000_000))
  expect(parsed).toMatchObject({ ok: false })
  expect(JSON.stringify(parsed).length).toBeLessThan(300)
})

describe('paths', () => {
  test('the data directory comes from the environment, else from the home directory', () => {
    expect(dataDirectory({ CLAUDE_MEM_DATA_DIR: '/x/y' })).toBe('/x/y')
    expect(dataDirectory({ CLAUDE_MEM_DATA_DIR: ' ' })).toMatch(/\.claude-mem$/)
  })

  test('the socket is in the data directory, in a short directory if that path is too long, or a named pipe', () => {
    expect(dataPaths('/x', 'linux').socket).toBe('/x/daemon.sock')
    const deep = dataPaths(`/${'x'.repeat(200)}`, 'darwin').socket
    expect(Buffer.byteLength(deep)).toBeLessThan(104)
    expect(deep).not.toBe(dataPaths(`/${'y'.repeat(200)}`, 'darwin').socket)
    expect(dataPaths('C:\\Users\\Me\\.claude-mem', 'win32').socket).toMatch(/^\\\\\.\\pipe\\claude-mem-[0-9a-f]{16}$/)
    expect(dataPaths('C:\\USERS\\me\\.claude-mem', 'win32').socket).toBe(
      dataPaths('C:\\Users\\Me\\.claude-mem', 'win32').socket,
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
