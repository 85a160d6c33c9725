/** The choice of the observer: the settings for each, and the question at a terminal. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import {
  OBSERVER_NAMES,
  observerCostText,
  planObserverChange,
  promptForObserver,
} from '../../src/cli/observer-choice.ts'
import type { ProviderEnvironment } from '../../src/observer/provider-choice.ts'
import { type LoadedSettings, loadSettings } from '../../src/settings/settings.ts'

const NOWHERE = '/nonexistent/claude-mem'
const KEY = 'sk-ant-api03-abcdefghijklmnop'
const settings = (env: NodeJS.ProcessEnv = {}): LoadedSettings => loadSettings(NOWHERE, env)
const environmentWith = (more: Partial<ProviderEnvironment> = {}): ProviderEnvironment => ({
  env: {},
  claude: null,
  ...more,
})
const noPrompt = { always: false, ask: null }
const promptAnswering = (value: string) => ({ always: false, ask: async () => value })

describe('observer choice.by name', () => {
  it('offline needs no settings', async () => {
    const plan = await planObserverChange('offline', settings(), environmentWith(), noPrompt)
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'offline']])
  })

  it('claude-code needs the program and stores its path', async () => {
    const plan = await planObserverChange(
      'claude-code',
      settings(),
      environmentWith({ claude: '/usr/bin/claude' }),
      noPrompt,
    )
    expect(plan.settings).toEqual([
      ['CLAUDE_CODE_PATH', '/usr/bin/claude'],
      ['CLAUDE_MEM_PROVIDER', 'claude-code'],
    ])
    const own = settings({ CLAUDE_CODE_PATH: '/opt/claude' })
    const again = await planObserverChange('claude-code', own, environmentWith({ claude: '/usr/bin/claude' }), noPrompt)
    expect(again.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'claude-code']])
    await expect(planObserverChange('claude-code', settings(), environmentWith(), noPrompt)).rejects.toThrow(
      'claude is not on the PATH',
    )
  })

  it('a model needs a key, which is asked for, kept if it is set, and never guessed', async () => {
    const plan = await planObserverChange('gemini', settings(), environmentWith(), promptAnswering(KEY))
    expect(plan.settings).toEqual([
      ['CLAUDE_MEM_GEMINI_API_KEY', KEY],
      ['CLAUDE_MEM_PROVIDER', 'gemini'],
    ])
    await expect(planObserverChange('gemini', settings(), environmentWith(), noPrompt)).rejects.toThrow(
      '--provider gemini --key-stdin',
    )
    const set = settings({ CLAUDE_MEM_GEMINI_API_KEY: KEY })
    const kept = await planObserverChange('gemini', set, environmentWith(), promptAnswering('another'))
    expect(kept.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'gemini']])
    const replaced = await planObserverChange('gemini', set, environmentWith(), {
      ...promptAnswering('another'),
      always: true,
    })
    expect(replaced.settings[0]).toEqual(['CLAUDE_MEM_GEMINI_API_KEY', 'another'])
  })

  it('a key from the environment is used, with a note', async () => {
    const plan = await planObserverChange(
      'anthropic',
      settings(),
      environmentWith({ env: { ANTHROPIC_API_KEY: KEY } }),
      noPrompt,
    )
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'anthropic']])
    expect(plan.notes.join()).toContain('only in the environment')
  })

  it('a local server needs a model instead of a key', async () => {
    const local = settings({ CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama' })
    await expect(planObserverChange('openrouter', local, environmentWith(), promptAnswering(KEY))).rejects.toThrow(
      'no model is named',
    )
    const named = settings({ CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama', CLAUDE_MEM_MODEL: 'qwen3:8b' })
    const plan = await planObserverChange('openrouter', named, environmentWith(), noPrompt)
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'openrouter']])
  })
})

describe('observer choice.by a question', () => {
  function asked(typed: string, loaded = settings()) {
    const input = new PassThrough()
    const output = new PassThrough()
    const answer = promptForObserver(loaded, environmentWith({ claude: '/usr/bin/claude' }), { input, output })
    // Writes each line only after its question: readline drops input before a question.
    const lines = typed.split('\n')
    let shown = ''
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString()
      if (!/: $/.test(shown)) return
      shown += '\n'
      const line = lines.shift()
      if (line === undefined) input.end()
      else input.write(`${line}\n`)
    })
    return { answer, shown: () => shown }
  }

  it.each([
    ['', null],
    ['1', 'offline'],
    ['3', 'anthropic'],
    ['Gemini', 'gemini'],
    ['9\nx\n2', 'claude-code'],
    ['9\n9\n9', null],
  ])('%j selects %s', async (typed, observer) => {
    expect(await asked(typed).answer).toBe(observer)
  })

  it('prints the cost of each observer and the default for Enter', async () => {
    const { answer, shown } = asked('', settings({ CLAUDE_MEM_PROVIDER: 'claude-code' }))
    await answer
    expect(shown()).toContain('rules, no model: costs nothing')
    expect(shown()).toContain('/usr/bin/claude): counts against its limits')
    expect(shown()).toContain('about $0.29 for 300 tool uses, at most $2 a day')
    expect(shown()).toContain('Enter for claude-code')
    for (const name of OBSERVER_NAMES) expect(observerCostText(name, settings(), environmentWith())).not.toBe('')
  })

  it('ended with Ctrl-C or Ctrl-D changes nothing', async () => {
    const input = new PassThrough()
    const answer = promptForObserver(settings(), environmentWith(), { input, output: new PassThrough() })
    input.end()
    await expect(answer).rejects.toThrow('nothing was changed')
  })
})
