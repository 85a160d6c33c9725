import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findProgram, programFiles } from '../../src/find-program.ts'
import { chooseProvider, offersOf } from '../../src/observer/choose.ts'
import { type ModelProvider, type SetUp, setUpOf } from '../../src/observer/set-up.ts'
import { loadSettings } from '../../src/settings.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'claude-mem-choose-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const KEY = 'sk-test-0123456789abcdef'
const OTHER = 'sk-other-0123456789abcdef'
/** Keys of every kind, and a `claude`: all there, none asked for. */
const LYING_AROUND = {
  ANTHROPIC_API_KEY: OTHER,
  ANTHROPIC_BASE_URL: 'https://gateway.example',
  GEMINI_API_KEY: OTHER,
  GOOGLE_API_KEY: OTHER,
  OPENROUTER_API_KEY: OTHER,
  OPENAI_API_KEY: OTHER,
}
const CLAUDE = '/usr/local/bin/claude'

/** Settings in the file; the environment is what is around. */
function given(settings: Record<string, string>, env: NodeJS.ProcessEnv = {}, claude: string | null = null) {
  writeFileSync(join(directory, 'settings.json'), JSON.stringify(settings), { mode: 0o600 })
  const loaded = loadSettings(directory, env)
  expect(loaded.problems).toEqual([])
  const around = { env, claude }
  return {
    choice: chooseProvider(loaded, around),
    offers: offersOf(loaded, around),
    setUp: (provider: ModelProvider, named: boolean) => setUpOf(provider, loaded, around, { named }),
  }
}

const key = (setUp: SetUp | null) => (setUp === null || setUp.provider === 'claude-code' ? null : setUp.key)

describe('choose.auto', () => {
  test('is offline where nothing was set up, whatever lies around', () => {
    const { choice } = given({}, LYING_AROUND, CLAUDE)
    expect(choice).toEqual({ provider: 'offline', why: 'no model is set up', setUp: null })
  })

  test.each<[Record<string, string>, string]>([
    [{ CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, 'anthropic'],
    [{ CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://gateway.example' }, 'anthropic'],
    [{ CLAUDE_CODE_PATH: CLAUDE }, 'claude-code'],
    [{ CLAUDE_MEM_GEMINI_API_KEY: KEY }, 'gemini'],
    [{ CLAUDE_MEM_GEMINI_BASE_URL: 'https://gateway.example' }, 'offline'],
    [{ CLAUDE_MEM_OPENROUTER_API_KEY: KEY }, 'openrouter'],
    [{ CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama' }, 'openrouter'],
    [{ CLAUDE_MEM_OPENROUTER_API_KEY: KEY, CLAUDE_MEM_GEMINI_API_KEY: KEY }, 'gemini'],
    [{ CLAUDE_MEM_GEMINI_API_KEY: KEY, CLAUDE_CODE_PATH: CLAUDE }, 'claude-code'],
    [{ CLAUDE_CODE_PATH: CLAUDE, CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, 'anthropic'],
    [{ CLAUDE_MEM_MODEL: 'claude-haiku-4-5' }, 'offline'],
  ])('with %j is %s', (settings, provider) => {
    expect(given(settings, LYING_AROUND, CLAUDE).choice.provider).toBe(provider)
  })

  test('says which setting decided, and has what is needed', () => {
    expect(given({ CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, LYING_AROUND).choice).toEqual({
      provider: 'anthropic',
      why: 'it is the first that is set up: CLAUDE_MEM_ANTHROPIC_API_KEY is set',
      setUp: {
        provider: 'anthropic',
        model: 'claude-haiku-4-5',
        baseUrl: 'https://api.anthropic.com',
        key: { value: KEY, source: 'CLAUDE_MEM_ANTHROPIC_API_KEY' },
        problems: [],
        notes: [],
      },
    })
  })

  test('an address of ours never gets a key that lies around', () => {
    for (const settings of [
      { CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://gateway.example' },
      { CLAUDE_MEM_OPENROUTER_BASE_URL: 'openrouter' },
    ]) {
      const { choice } = given(settings, LYING_AROUND)
      expect(key(choice.setUp)).toBeNull()
      expect(choice.setUp?.problems[0]).toContain('there is no key; set one')
    }
  })
})

describe('choose.named', () => {
  test.each(['offline', 'plain'])('%s is itself', (provider) => {
    const { choice } = given({ CLAUDE_MEM_PROVIDER: provider, CLAUDE_MEM_ANTHROPIC_API_KEY: KEY })
    expect(choice).toEqual({ provider, why: 'CLAUDE_MEM_PROVIDER says so', setUp: null })
  })

  test('a provider takes the key that is around for it, with the address that the key belongs to, and says so', () => {
    const { choice, offers } = given({ CLAUDE_MEM_PROVIDER: 'anthropic' }, LYING_AROUND)
    expect(choice.setUp).toMatchObject({
      baseUrl: 'https://gateway.example',
      key: { value: OTHER, source: 'ANTHROPIC_API_KEY' },
      problems: [],
      notes: [expect.stringContaining('set it for good: claude-mem config set anthropic-api-key')],
    })
    expect(offers.map(({ provider }) => provider)).not.toContain('anthropic')
  })

  test('our key goes first, and then not to an address from the environment', () => {
    const { choice } = given({ CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, LYING_AROUND)
    expect(choice.setUp).toMatchObject({ baseUrl: 'https://api.anthropic.com', key: { value: KEY }, notes: [] })
  })

  test('a key that is around goes to no other address than its own', () => {
    const named = { CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://another.example' }
    expect(key(given(named, LYING_AROUND).choice.setUp)).toBeNull()
    const its = { ...named, CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://gateway.example/' }
    expect(key(given(its, LYING_AROUND).choice.setUp)?.source).toBe('ANTHROPIC_API_KEY')
  })

  test.each([
    [{ GEMINI_API_KEY: KEY, GOOGLE_API_KEY: OTHER }, 'GEMINI_API_KEY'],
    [{ GOOGLE_API_KEY: OTHER }, 'GOOGLE_API_KEY'],
    [{ GEMINI_API_KEY: '  ', GOOGLE_API_KEY: OTHER }, 'GOOGLE_API_KEY'],
    [{ GEMINI_API_KEY: 'two words' }, undefined],
    [{ ANTHROPIC_API_KEY: OTHER }, undefined],
  ])('gemini with %j uses %s', (env, source) => {
    const { choice, offers } = given({ CLAUDE_MEM_PROVIDER: 'gemini' }, env)
    expect(key(choice.setUp)?.source).toBe(source)
    expect(choice.setUp?.problems).toHaveLength(source === undefined ? 1 : 0)
    if (source !== undefined) expect(offers).toEqual([])
  })

  test('OpenAI is an address of openrouter, with its own key and no default model', () => {
    const settings = { CLAUDE_MEM_PROVIDER: 'openrouter', CLAUDE_MEM_OPENROUTER_BASE_URL: 'https://api.openai.com/v1' }
    expect(given(settings, LYING_AROUND).choice.setUp).toMatchObject({
      key: { source: 'OPENAI_API_KEY' },
      model: '',
      problems: [expect.stringContaining('one that api.openai.com has: claude-mem config set model NAME')],
    })
    expect(key(given({ CLAUDE_MEM_PROVIDER: 'openrouter' }, LYING_AROUND).choice.setUp)?.source).toBe(
      'OPENROUTER_API_KEY',
    )
  })

  test.each([
    ['ollama', 'http://127.0.0.1:11434/v1'],
    ['lmstudio', 'http://127.0.0.1:1234/v1'],
    ['http://192.168.1.5:8000/v1/', 'http://192.168.1.5:8000/v1'],
  ])('%s needs no key, but the name of a model', (address, baseUrl) => {
    const settings = { CLAUDE_MEM_PROVIDER: 'openrouter', CLAUDE_MEM_OPENROUTER_BASE_URL: address }
    expect(given(settings, LYING_AROUND).choice.setUp).toMatchObject({ baseUrl, key: null, problems: [{}] })
    const complete = { ...settings, CLAUDE_MEM_MODEL: 'qwen3:8b' }
    expect(given(complete, LYING_AROUND).choice.setUp).toMatchObject({ model: 'qwen3:8b', key: null, problems: [] })
  })

  test('claude-code takes the claude on the PATH, or says that there is none', () => {
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }, {}, CLAUDE).choice.setUp).toMatchObject({
      program: CLAUDE,
      problems: [],
    })
    expect(
      given({ CLAUDE_MEM_PROVIDER: 'claude-code', CLAUDE_CODE_PATH: '/x' }, {}, CLAUDE).choice.setUp,
    ).toMatchObject({ program: '/x' })
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }).choice.setUp).toMatchObject({
      program: null,
      problems: [expect.stringContaining('claude-mem config set claude-code-path')],
    })
  })

  test.each(['nonsense', 'ftp://host', 'https://me:password@host'])(
    'an address in the environment that is %s is a problem, not a request',
    (address) => {
      const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: address }
      const { setUp } = given({ CLAUDE_MEM_PROVIDER: 'anthropic' }, env).choice
      expect(setUp?.problems[0]).toContain('ANTHROPIC_BASE_URL must be an address')
      expect(JSON.stringify(setUp)).not.toContain('password@')
    },
  )

  test('the named model is asked for, whoever answers', () => {
    for (const provider of ['anthropic', 'claude-code', 'gemini', 'openrouter'] as const) {
      expect(given({ CLAUDE_MEM_MODEL: 'mine' }).setUp(provider, true).model).toBe('mine')
    }
  })

  test('a key of ours that is only in the environment is used, with the same note', () => {
    const { choice } = given({}, { CLAUDE_MEM_GEMINI_API_KEY: KEY })
    expect(choice.provider).toBe('gemini')
    expect(choice.setUp?.notes[0]).toContain('a daemon has that of whoever started it')
  })
})

describe('offers', () => {
  test('name everything that is there and not used, and what to type', () => {
    const { offers } = given({}, LYING_AROUND, CLAUDE)
    expect(offers.map(({ found }) => found)).toEqual([
      'ANTHROPIC_API_KEY',
      CLAUDE,
      'GEMINI_API_KEY',
      'OPENROUTER_API_KEY',
      'OPENAI_API_KEY',
    ])
    expect(offers[0]).toMatchObject({
      text: 'ANTHROPIC_API_KEY is in your environment and is not used',
      commands: ['claude-mem config set provider anthropic'],
    })
    expect(offers[4]?.commands[0]).toBe('claude-mem config set openrouter-base-url https://api.openai.com/v1')
    expect(JSON.stringify(offers)).not.toContain(OTHER)
  })

  test('leave out a provider that is set up, and an empty variable', () => {
    expect(
      given({ CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, { ANTHROPIC_API_KEY: OTHER, GEMINI_API_KEY: '' }).offers,
    ).toEqual([])
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }, {}, CLAUDE).offers).toEqual([])
  })
})

describe('a program on the PATH', () => {
  test.skipIf(process.platform === 'win32')('is the first file that can be run', async () => {
    const [notRunnable = '', folder = '', real = '', later = ''] = ['a', 'b', 'c', 'd'].map((name) => {
      mkdirSync(join(directory, name))
      return join(directory, name)
    })
    writeFileSync(join(notRunnable, 'claude'), '')
    chmodSync(join(notRunnable, 'claude'), 0o644)
    mkdirSync(join(folder, 'claude'))
    for (const place of [real, later]) writeFileSync(join(place, 'claude'), '', { mode: 0o755 })
    const PATH = ['', '.', 'relative', join(directory, 'missing'), notRunnable, folder, real, later].join(delimiter)
    expect(await findProgram('claude', { PATH })).toBe(join(real, 'claude'))
    expect(await findProgram('nobody', { PATH })).toBeNull()
    expect(await findProgram('claude', {})).toBeNull()
  })

  test('has one of the endings that Windows runs', () => {
    const env = { Path: 'C:\\npm;"C:\\Program Files\\claude";relative', PATHEXT: '.EXE;.CMD;junk' }
    expect(programFiles('claude', env, 'win32')).toEqual([
      'C:\\npm\\claude.exe',
      'C:\\npm\\claude.cmd',
      'C:\\Program Files\\claude\\claude.exe',
      'C:\\Program Files\\claude\\claude.cmd',
    ])
    expect(programFiles('claude', { PATH: 'C:\\npm' }, 'win32')).toHaveLength(4)
  })
})
