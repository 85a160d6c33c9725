import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LiveSettings } from '../../src/daemon/live-settings.ts'
import { type LoadedSettings, loadSettings, SETTING_NAMES } from '../../src/settings/settings.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Served, served } from './served.ts'

let dataDir: string
let loaded: LoadedSettings
let live: LiveSettings
const taken: string[][] = []

beforeEach(() => {
  dataDir = temporaryDirectory('settings')
  taken.length = 0
})
function start(file: Record<string, unknown> = {}, env: NodeJS.ProcessEnv = {}): void {
  writeFileSync(join(dataDir, 'settings.json'), JSON.stringify(file))
  loaded = loadSettings(dataDir, env)
  live = new LiveSettings({ dataDir, loaded, env, changed: (names) => taken.push([...names]) })
}
const file = () => JSON.parse(readFileSync(join(dataDir, 'settings.json'), 'utf8'))
const info = (name: string) => live.list('local').settings.find((setting) => setting.name === name)

describe('settings of a running daemon', () => {
  test('are all there, with what they may be; of a key only its end', () => {
    start({ CLAUDE_MEM_ANTHROPIC_API_KEY: 'sk-ant-0123456789-abcdefgh', CLAUDE_MEM_BATCH_MAX_SIZE: 7, NOT_OURS: 1 })
    const { settings, problems } = live.list('local')
    expect(settings.map(({ name }) => name)).toEqual(SETTING_NAMES)
    expect(JSON.stringify(settings)).not.toContain('0123456789')
    expect(info('CLAUDE_MEM_ANTHROPIC_API_KEY')).toMatchObject({ value: '…efgh', secret: true, holds: 'restart' })
    expect(info('CLAUDE_MEM_BATCH_MAX_SIZE')).toMatchObject({
      value: 7,
      default: 20,
      source: 'file',
      kind: 'integer',
      min: 1,
      max: 500,
      holds: 'now',
      locked: null,
    })
    expect(info('CLAUDE_MEM_VERBOSITY')).toMatchObject({ choices: ['minimal', 'normal', 'verbose'], min: null })
    expect(problems.map(({ name }) => name)).toContain('NOT_OURS')
  })

  test('hold at once where they can, and everything else in the file stays', () => {
    start({ NOT_OURS: { deep: 1 } })
    live.set('CLAUDE_MEM_BATCH_MAX_SIZE', '5', 'local')
    live.set('CLAUDE_MEM_CONTEXT_PARTS', ['story', 'more'], 'local')
    expect(loaded.values).toMatchObject({
      CLAUDE_MEM_BATCH_MAX_SIZE: 5,
      CLAUDE_MEM_CONTEXT_PARTS: ['story', 'more'],
    })
    expect(loaded.sources.CLAUDE_MEM_BATCH_MAX_SIZE).toBe('file')
    expect(file()).toEqual({
      NOT_OURS: { deep: 1 },
      CLAUDE_MEM_BATCH_MAX_SIZE: 5,
      CLAUDE_MEM_CONTEXT_PARTS: ['story', 'more'],
    })
    expect(taken).toEqual([['CLAUDE_MEM_BATCH_MAX_SIZE'], ['CLAUDE_MEM_CONTEXT_PARTS']])
    if (process.platform !== 'win32') expect(statSync(join(dataDir, 'settings.json')).mode & 0o777).toBe(0o600)
    live.set('CLAUDE_MEM_BATCH_MAX_SIZE', null, 'local')
    expect(loaded.values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(20)
    expect(file()).not.toHaveProperty('CLAUDE_MEM_BATCH_MAX_SIZE')
  })

  test('that are read only once wait for the next start, and are shown as they will be', () => {
    start()
    live.set('CLAUDE_MEM_PROVIDER', 'plain', 'local')
    expect(loaded.values.CLAUDE_MEM_PROVIDER).toBe('auto')
    expect(info('CLAUDE_MEM_PROVIDER')).toMatchObject({ value: 'plain', source: 'file', holds: 'restart' })
    expect(taken).toEqual([])
  })

  test('are refused with what they may be, and nothing is written', () => {
    start({ CLAUDE_MEM_BATCH_MAX_SIZE: 7 })
    const before = file()
    expect(() => live.set('CLAUDE_MEM_BATCH_MAX_SIZE', '501', 'local')).toThrow('a whole number from 1 to 500')
    expect(() => live.set('CLAUDE_MEM_LOG_LEVEL', 'loud', 'local')).toThrow('one of fatal')
    expect(() => live.set('CLAUDE_MEM_CONTEXT_PARTS', ['nonsense'], 'local')).toThrow('some of')
    expect(() => live.set('CLAUDE_MEM_NOTHING', '1', 'local')).toThrow('there is no setting')
    expect(() => live.set('__proto__', '1', 'local')).toThrow('there is no setting')
    expect(file()).toEqual(before)
  })

  test('are locked where the environment has them', () => {
    start({}, { CLAUDE_MEM_BATCH_MAX_SIZE: '9' })
    expect(info('CLAUDE_MEM_BATCH_MAX_SIZE')).toMatchObject({ value: 9, source: 'environment' })
    expect(() => live.set('CLAUDE_MEM_BATCH_MAX_SIZE', '5', 'local')).toThrow("the daemon's environment")
    expect(file()).toEqual({})
  })

  test.each([
    ['CLAUDE_MEM_PROVIDER', 'anthropic'],
    ['CLAUDE_MEM_MODEL', 'other'],
    ['CLAUDE_MEM_ANTHROPIC_API_KEY', 'not-a-real-key'],
    ['CLAUDE_MEM_GEMINI_API_KEY', 'not-a-real-key'],
    ['CLAUDE_MEM_OPENROUTER_API_KEY', 'not-a-real-key'],
    ['CLAUDE_MEM_ANTHROPIC_BASE_URL', 'https://evil.example'],
    ['CLAUDE_MEM_GEMINI_BASE_URL', 'https://evil.example'],
    ['CLAUDE_MEM_OPENROUTER_BASE_URL', 'https://evil.example'],
    ['CLAUDE_CODE_PATH', '/tmp/anything'],
    ['CLAUDE_MEM_PROMPT_DIR', '/tmp/anything'],
    ['CLAUDE_MEM_NEVER_SEND_TOOLS', ''],
    ['CLAUDE_MEM_NEVER_SEND_PATHS', '!.env'],
    ['CLAUDE_MEM_EXCLUDED_PROJECTS', ''],
    ['CLAUDE_MEM_EMBEDDER', 'someone/model'],
  ])('of which %s can be changed at the local door only, and the others say how', (name, value) => {
    start()
    for (const door of ['viewer', 'rest', 'mcp'] as const) {
      expect(() => live.set(name, value, door)).toThrow(`claude-mem config set ${name}`)
      expect(() => live.set(name, null, door)).toThrow('in a terminal')
      const listed = live.list(door).settings.find((setting) => setting.name === name)
      expect(listed?.locked).toContain(`claude-mem config set ${name}`)
    }
    expect(file()).toEqual({})
    expect(info(name)?.locked).toBeNull()
    live.set(name, value, 'local')
    expect(file()).toHaveProperty(name)
  })

  test('that cannot be read or written are left as they are', () => {
    start()
    writeFileSync(join(dataDir, 'settings.json'), '{"half":')
    expect(() => live.set('CLAUDE_MEM_BATCH_MAX_SIZE', '5', 'local')).toThrow('repair or remove it')
    expect(readFileSync(join(dataDir, 'settings.json'), 'utf8')).toBe('{"half":')
    if (process.platform === 'win32' || process.getuid?.() === 0) return
    writeFileSync(join(dataDir, 'settings.json'), '{}')
    chmodSync(dataDir, 0o500)
    expect(() => live.set('CLAUDE_MEM_BATCH_MAX_SIZE', '5', 'local')).toThrow('cannot be written')
    chmodSync(dataDir, 0o700)
    expect(loaded.values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(20)
  })
})

describe('settings over the channel', () => {
  let s: Served
  beforeEach(async () => {
    start()
    s = await served({ settings: live })
  })
  afterEach(() => s.close())

  test('are listed and set by message', async () => {
    const { settings } = await s.client.call('settings')
    expect(settings).toEqual(live.list('local').settings)
    const set = { name: 'CLAUDE_MEM_CONTEXT_TOKENS', value: '500' } as const
    const after = (await s.client.call('setting_set', set)).settings
    expect(after.find(({ name }) => name === set.name)).toMatchObject({ value: 500, source: 'file' })
    await expect(s.client.call('setting_set', { ...set, value: '-1' })).rejects.toMatchObject({ code: 'bad_setting' })
    await expect(s.client.call('setting_set', { ...set, name: 'x' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('are listed and set over HTTP', async () => {
    const put = async (name: string, body: string) => {
      const headers = { authorization: `Bearer ${s.token}` }
      const url = `http://127.0.0.1:${s.port}/api/settings/${name}`
      const response = await fetch(url, { method: 'PUT', headers, body })
      return { status: response.status, text: await response.text() }
    }
    expect(await s.rest('/api/settings')).toEqual(JSON.parse(JSON.stringify(live.list('rest'))))
    expect((await put('CLAUDE_MEM_BATCH_MAX_SIZE', '{"value":5}')).status).toBe(200)
    expect((await put('CLAUDE_MEM_BATCHING_ENABLED', '{"value":false}')).status).toBe(200)
    expect(file()).toEqual({ CLAUDE_MEM_BATCH_MAX_SIZE: 5, CLAUDE_MEM_BATCHING_ENABLED: false })
    expect((await put('CLAUDE_MEM_BATCH_MAX_SIZE', '{"value":null}')).status).toBe(200)
    expect(file()).toEqual({ CLAUDE_MEM_BATCHING_ENABLED: false })
    const wrong = await put('CLAUDE_MEM_BATCH_MAX_SIZE', '{"value":"many"}')
    expect(wrong).toMatchObject({ status: 422 })
    expect(wrong.text).toContain('a whole number from 1 to 500')
    expect((await put('CLAUDE_MEM_BATCH_MAX_SIZE', '{"value":{}}')).status).toBe(422)
    expect((await put('CLAUDE_MEM_BATCH_MAX_SIZE', '7')).status).toBe(422)
    expect((await put('CLAUDE_CODE_PATH', '{"value":"/tmp/x"}')).status).toBe(403)
    expect((await put('NOTHING', '{"value":"x"}')).status).toBe(404)
  })
})
