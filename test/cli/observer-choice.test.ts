/** Who observes: what is set for whom, and how it is asked at a terminal. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { chooseObserver, costText, OBSERVERS, planObserver } from '../../src/cli/observer-choice.ts'
import type { Surroundings } from '../../src/observer/set-up.ts'
import { type LoadedSettings, loadSettings } from '../../src/settings.ts'

const NOWHERE = '/nonexistent/claude-mem'
const KEY = 'sk-ant-api03-abcdefghijklmnop'
const settings = (env: NodeJS.ProcessEnv = {}): LoadedSettings => loadSettings(NOWHERE, env)
const around = (more: Partial<Surroundings> = {}): Surroundings => ({ env: {}, claude: null, ...more })
const nobody = { always: false, ask: null }
const answering = (value: string) => ({ always: false, ask: async () => value })

describe('an observer that is named', () => {
  it('offline needs nothing', async () => {
    const plan = await planObserver('offline', settings(), around(), nobody)
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'offline']])
  })

  it('the subscription needs the program, whose place is noted', async () => {
    const plan = await planObserver('claude-code', settings(), around({ claude: '/usr/bin/claude' }), nobody)
    expect(plan.settings).toEqual([
      ['CLAUDE_CODE_PATH', '/usr/bin/claude'],
      ['CLAUDE_MEM_PROVIDER', 'claude-code'],
    ])
    const own = settings({ CLAUDE_CODE_PATH: '/opt/claude' })
    const again = await planObserver('claude-code', own, around({ claude: '/usr/bin/claude' }), nobody)
    expect(again.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'claude-code']])
    await expect(planObserver('claude-code', settings(), around(), nobody)).rejects.toThrow('claude is not on the PATH')
  })

  it('a model needs a key: asked for, kept where it is, never guessed', async () => {
    const plan = await planObserver('gemini', settings(), around(), answering(KEY))
    expect(plan.settings).toEqual([
      ['CLAUDE_MEM_GEMINI_API_KEY', KEY],
      ['CLAUDE_MEM_PROVIDER', 'gemini'],
    ])
    await expect(planObserver('gemini', settings(), around(), nobody)).rejects.toThrow('--provider gemini --key-stdin')
    const set = settings({ CLAUDE_MEM_GEMINI_API_KEY: KEY })
    const kept = await planObserver('gemini', set, around(), answering('another'))
    expect(kept.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'gemini']])
    const replaced = await planObserver('gemini', set, around(), { ...answering('another'), always: true })
    expect(replaced.settings[0]).toEqual(['CLAUDE_MEM_GEMINI_API_KEY', 'another'])
  })

  it('a key of the environment serves, with a word about it', async () => {
    const plan = await planObserver('anthropic', settings(), around({ env: { ANTHROPIC_API_KEY: KEY } }), nobody)
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'anthropic']])
    expect(plan.notes.join()).toContain('only in the environment')
  })

  it('a server on this machine needs a model rather than a key', async () => {
    const local = settings({ CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama' })
    await expect(planObserver('openrouter', local, around(), answering(KEY))).rejects.toThrow('no model is named')
    const named = settings({ CLAUDE_MEM_OPENROUTER_BASE_URL: 'ollama', CLAUDE_MEM_MODEL: 'qwen3:8b' })
    const plan = await planObserver('openrouter', named, around(), nobody)
    expect(plan.settings).toEqual([['CLAUDE_MEM_PROVIDER', 'openrouter']])
  })
})

describe('asked at a terminal', () => {
  function asked(typed: string, loaded = settings()) {
    const input = new PassThrough()
    const output = new PassThrough()
    const answer = chooseObserver(loaded, around({ claude: '/usr/bin/claude' }), { input, output })
    // Each line when it is asked for: readline drops what comes while nobody asks.
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
  ])('%j means %s', async (typed, observer) => {
    expect(await asked(typed).answer).toBe(observer)
  })

  it('it says what each costs, and what stays with Enter', async () => {
    const { answer, shown } = asked('', settings({ CLAUDE_MEM_PROVIDER: 'claude-code' }))
    await answer
    expect(shown()).toContain('rules, no model: costs nothing')
    expect(shown()).toContain('/usr/bin/claude): counts against its limits')
    expect(shown()).toContain('about $0.29 for 300 tool uses, at most $2 a day')
    expect(shown()).toContain('Enter for claude-code')
    for (const name of OBSERVERS) expect(costText(name, settings(), around())).not.toBe('')
  })

  it('whoever ends it has changed nothing', async () => {
    const input = new PassThrough()
    const answer = chooseObserver(settings(), around(), { input, output: new PassThrough() })
    input.end()
    await expect(answer).rejects.toThrow('nothing was changed')
  })
})
