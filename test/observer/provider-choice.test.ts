import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { findProgram, programFiles } from '../../src/lib/find-program.ts'
import {
  chooseProvider,
  findProviderOffers,
  type ModelProvider,
  type ProviderConfig,
  providerConfig,
} from '../../src/observer/provider-choice.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { temporaryDirectory } from '../support/directories.ts'

let directory: string
beforeEach(() => {
  directory = temporaryDirectory('choose')
})
const KEY = 'sk-test-0123456789abcdef'
const OTHER = 'sk-other-0123456789abcdef'
/** A key of every service, none of them configured for claude-mem. */
const ENVIRONMENT_KEYS = {
  ANTHROPIC_API_KEY: OTHER,
  ANTHROPIC_BASE_URL: 'https://gateway.example',
  GEMINI_API_KEY: OTHER,
  GOOGLE_API_KEY: OTHER,
  OPENROUTER_API_KEY: OTHER,
  OPENAI_API_KEY: OTHER,
}
const CLAUDE = '/usr/local/bin/claude'

/** Settings are in the file, `env` is the environment. */
function given(settings: Record<string, string>, env: NodeJS.ProcessEnv = {}, claude: string | null = null) {
  writeFileSync(join(directory, 'settings.json'), JSON.stringify(settings), { mode: 0o600 })
  const loaded = loadSettings(directory, env)
  expect(loaded.problems.filter(({ isWarning }) => isWarning !== true)).toEqual([])
  const environment = { env, claude }
  return {
    choice: chooseProvider(loaded, environment),
    offers: findProviderOffers(loaded, environment),
    config: (provider: ModelProvider, named: boolean) => providerConfig(provider, loaded, environment, { named }),
  }
}

const key = (config: ProviderConfig | null) =>
  config === null || config.provider === 'claude-code' ? null : config.key

test('provider-choice.a key from the file is not sent to an address from the environment', () => {
  const evil = { CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://evil.example' }
  const stored = { CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }
  expect(given(stored, evil).choice.config?.problems).toEqual([
    expect.stringContaining('claude-mem config set anthropic-base-url'),
  ])
  expect(given({ ...stored, ...evil }).choice.config?.problems).toEqual([])
  expect(given({}, { ...stored, ...evil }).choice.config?.problems).toEqual([])
  expect(given(evil, stored).choice.config?.problems).toEqual([])
})

describe('provider-choice.auto', () => {
  test('is offline if nothing is configured, whatever the environment has', () => {
    const { choice } = given({}, ENVIRONMENT_KEYS, CLAUDE)
    expect(choice).toEqual({ provider: 'offline', why: 'no model is set up', config: null })
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
    expect(given(settings, ENVIRONMENT_KEYS, CLAUDE).choice.provider).toBe(provider)
  })

  test('names the setting that decided, and is complete', () => {
    expect(given({ CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, ENVIRONMENT_KEYS).choice).toEqual({
      provider: 'anthropic',
      why: 'it is the first that is set up: CLAUDE_MEM_ANTHROPIC_API_KEY is set',
      config: {
        provider: 'anthropic',
        model: 'claude-haiku-4-5',
        baseUrl: 'https://api.anthropic.com',
        key: { value: KEY, source: 'CLAUDE_MEM_ANTHROPIC_API_KEY' },
        problems: [],
        notes: [],
      },
    })
  })

  test('a configured address never gets a key from the environment', () => {
    for (const settings of [
      { CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://gateway.example' },
      { CLAUDE_MEM_OPENROUTER_BASE_URL: 'openrouter' },
    ]) {
      const { choice } = given(settings, ENVIRONMENT_KEYS)
      expect(key(choice.config)).toBeNull()
      expect(choice.config?.problems[0]).toContain('there is no key; set one')
    }
  })
})

describe('provider-choice.named', () => {
  test.each(['offline', 'plain'])('%s is itself', (provider) => {
    const { choice } = given({ CLAUDE_MEM_PROVIDER: provider, CLAUDE_MEM_ANTHROPIC_API_KEY: KEY })
    expect(choice).toEqual({ provider, why: 'CLAUDE_MEM_PROVIDER says so', config: null })
  })

  test('a named provider uses the key of the environment with the address of that key, and notes it', () => {
    const { choice, offers } = given({ CLAUDE_MEM_PROVIDER: 'anthropic' }, ENVIRONMENT_KEYS)
    expect(choice.config).toMatchObject({
      baseUrl: 'https://gateway.example',
      key: { value: OTHER, source: 'ANTHROPIC_API_KEY' },
      problems: [],
      notes: [expect.stringContaining('store it: claude-mem config set anthropic-api-key')],
    })
    expect(offers.map(({ provider }) => provider)).not.toContain('anthropic')
  })

  test('a configured key wins, and is not sent to an address from the environment', () => {
    const { choice } = given({ CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, ENVIRONMENT_KEYS)
    expect(choice.config).toMatchObject({ baseUrl: 'https://api.anthropic.com', key: { value: KEY }, notes: [] })
  })

  test('a key from the environment is sent only to its own address', () => {
    const named = { CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://another.example' }
    expect(key(given(named, ENVIRONMENT_KEYS).choice.config)).toBeNull()
    const its = { ...named, CLAUDE_MEM_ANTHROPIC_BASE_URL: 'https://gateway.example/' }
    expect(key(given(its, ENVIRONMENT_KEYS).choice.config)?.source).toBe('ANTHROPIC_API_KEY')
  })

  test.each([
    [{ GEMINI_API_KEY: KEY, GOOGLE_API_KEY: OTHER }, 'GEMINI_API_KEY'],
    [{ GOOGLE_API_KEY: OTHER }, 'GOOGLE_API_KEY'],
    [{ GEMINI_API_KEY: '  ', GOOGLE_API_KEY: OTHER }, 'GOOGLE_API_KEY'],
    [{ GEMINI_API_KEY: 'two words' }, undefined],
    [{ ANTHROPIC_API_KEY: OTHER }, undefined],
  ])('gemini with %j uses %s', (env, source) => {
    const { choice, offers } = given({ CLAUDE_MEM_PROVIDER: 'gemini' }, env)
    expect(key(choice.config)?.source).toBe(source)
    expect(choice.config?.problems).toHaveLength(source === undefined ? 1 : 0)
    if (source !== undefined) expect(offers).toEqual([])
  })

  test('OpenAI is an address of openrouter, with its own key and no default model', () => {
    const settings = { CLAUDE_MEM_PROVIDER: 'openrouter', CLAUDE_MEM_OPENROUTER_BASE_URL: 'https://api.openai.com/v1' }
    expect(given(settings, ENVIRONMENT_KEYS).choice.config).toMatchObject({
      key: { source: 'OPENAI_API_KEY' },
      model: '',
      problems: [expect.stringContaining('one that api.openai.com has: claude-mem config set model NAME')],
    })
    expect(key(given({ CLAUDE_MEM_PROVIDER: 'openrouter' }, ENVIRONMENT_KEYS).choice.config)?.source).toBe(
      'OPENROUTER_API_KEY',
    )
  })

  test.each([
    ['ollama', 'http://127.0.0.1:11434/v1'],
    ['lmstudio', 'http://127.0.0.1:1234/v1'],
    ['http://192.168.1.5:8000/v1/', 'http://192.168.1.5:8000/v1'],
  ])('%s needs no key, but a model name', (address, baseUrl) => {
    const settings = { CLAUDE_MEM_PROVIDER: 'openrouter', CLAUDE_MEM_OPENROUTER_BASE_URL: address }
    expect(given(settings, ENVIRONMENT_KEYS).choice.config).toMatchObject({ baseUrl, key: null, problems: [{}] })
    const complete = { ...settings, CLAUDE_MEM_MODEL: 'qwen3:8b' }
    expect(given(complete, ENVIRONMENT_KEYS).choice.config).toMatchObject({
      model: 'qwen3:8b',
      key: null,
      problems: [],
    })
  })

  test('claude-code uses the claude on the PATH, or reports that there is none', () => {
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }, {}, CLAUDE).choice.config).toMatchObject({
      program: CLAUDE,
      problems: [],
    })
    expect(
      given({ CLAUDE_MEM_PROVIDER: 'claude-code', CLAUDE_CODE_PATH: '/x' }, {}, CLAUDE).choice.config,
    ).toMatchObject({ program: '/x' })
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }).choice.config).toMatchObject({
      program: null,
      problems: [expect.stringContaining('claude-mem config set claude-code-path')],
    })
  })

  test.each(['nonsense', 'ftp://host', 'https://me:password@host'])(
    'an address in the environment that is %s is a problem, not a request',
    (address) => {
      const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: address }
      const { config } = given({ CLAUDE_MEM_PROVIDER: 'anthropic' }, env).choice
      expect(config?.problems[0]).toContain('ANTHROPIC_BASE_URL must be an address')
      expect(JSON.stringify(config)).not.toContain('password@')
    },
  )

  test('the configured model is used with any provider', () => {
    for (const provider of ['anthropic', 'claude-code', 'gemini', 'openrouter'] as const) {
      expect(given({ CLAUDE_MEM_MODEL: 'mine' }).config(provider, true).model).toBe('mine')
    }
  })

  test('a key setting in the environment is used, with the same note', () => {
    const { choice } = given({}, { CLAUDE_MEM_GEMINI_API_KEY: KEY })
    expect(choice.provider).toBe('gemini')
    expect(choice.config?.notes[0]).toContain('the daemon sees only the environment it was started from')
  })
})

describe('provider-choice.offers', () => {
  test('name every unused key and program, and the commands to use it', () => {
    const { offers } = given({}, ENVIRONMENT_KEYS, CLAUDE)
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

  test('leave out a configured provider and an empty variable', () => {
    expect(
      given({ CLAUDE_MEM_ANTHROPIC_API_KEY: KEY }, { ANTHROPIC_API_KEY: OTHER, GEMINI_API_KEY: '' }).offers,
    ).toEqual([])
    expect(given({ CLAUDE_MEM_PROVIDER: 'claude-code' }, {}, CLAUDE).offers).toEqual([])
  })
})

describe('find-program', () => {
  test.skipIf(process.platform === 'win32')('finds the first executable file', async () => {
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

  test('tries the extensions that Windows executes', () => {
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
