/** `claude-mem providers`: lists the observers and tests one. */
import { errorMessage } from '../../lib/errors.ts'
import { loadSettings } from '../../settings/settings.ts'
import { oneOf, UsageError } from '../arguments.ts'
import type { Cli } from '../cli.ts'
import { withInterruptSignal } from '../cli.ts'
import { defineCommand, EXIT_FAILED, jsonOption } from '../command.ts'
import type { ProvidersView } from '../render/providers.ts'
import { sanitize } from '../text.ts'

const ACTIONS = ['list', 'test'] as const

export const providersCommand = defineCommand({
  usage: 'providers [action] [name]',
  group: 'Connect it',
  summary: 'Observers: which model, what it costs, what is missing; test one',
  about:
    'Lists every provider: the chosen one and why, its model, address and key, what is missing and how to set it. test makes ' +
    'one small call. A key in your environment or an installed claude is only used after you have chosen its provider. ' +
    'After each change: claude-mem restart.',
  examples: [
    ['claude-mem providers', 'all of them'],
    ['claude-mem providers test', 'one small call to the chosen one'],
    ['claude-mem providers test gemini', 'to another one, with its current settings'],
    ['claude-mem config set anthropic-api-key', 'anthropic: asks for the key'],
    ['claude-mem config set provider claude-code', 'claude-code: your subscription, through the installed claude'],
    ['claude-mem config set gemini-api-key', 'gemini: asks for the key'],
    ['claude-mem config set openrouter-api-key', 'openrouter: asks for the key'],
    ['claude-mem config set openrouter-base-url ollama', 'Ollama, without any key (or lmstudio, or any address) …'],
    ['claude-mem config set model qwen3:8b', '… and one of its models: ollama list'],
    ['claude-mem config set provider offline', 'offline: rules without a model; sends nothing'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list or test', default: 'list' },
    name: { type: 'string', describe: 'test: anthropic, claude-code, gemini, openrouter or offline' },
  },
  options: { json: jsonOption },
  run: async ({ action, name, json }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    if (chosen === 'test') return await testObserver(cli, name, json)
    if (name !== undefined) throw new UsageError('providers list takes no name; to test one: claude-mem providers test')
    return await listProviders(cli, json)
  },
})

async function listProviders(cli: Cli, json: boolean): Promise<number> {
  const view = await loadProviders(cli)
  const { providerLines } = await import('../render/providers.ts')
  if (json) cli.printJson(view)
  else cli.print(...providerLines(view, cli.display()))
  return 0
}

async function loadProviders(cli: Cli): Promise<ProvidersView> {
  const [observers, { modelPrice }, { offlineView, providerView }] = await Promise.all([
    import('../../observer/provider-choice.ts'),
    import('../../observer/prices.ts'),
    import('../render/providers.ts'),
  ])
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const environment = await observers.readProviderEnvironment(cli.env)
  const choice = observers.chooseProvider(loaded, environment)
  const models = observers.MODEL_PROVIDERS.map((provider) => {
    const chosen = choice.provider === provider
    const config =
      (chosen ? choice.config : null) ?? observers.providerConfig(provider, loaded, environment, { named: false })
    const price = config.model === '' ? null : modelPrice(config.model, loaded.values.CLAUDE_MEM_PRICES)
    return providerView(config, { chosen, configuredBy: observers.configuringSetting(provider, loaded), price })
  })
  return {
    chosen: choice.provider,
    why: choice.why,
    providers: [...models, offlineView(choice.provider === 'offline')],
    offers: observers.findProviderOffers(loaded, environment),
    problems: [...loaded.problems.map(({ message }) => message), ...(await findPromptProblems(cli))],
  }
}

async function findPromptProblems(cli: Cli): Promise<string[]> {
  const { builtInPromptFolder, loadPrompts, userPromptFolder } = await import('../../observer/model/prompts.ts')
  const { values } = loadSettings(cli.paths.dataDir, cli.env)
  const override = userPromptFolder(cli.paths.dataDir, values.CLAUDE_MEM_PROMPT_DIR)
  try {
    return loadPrompts({ folder: builtInPromptFolder(), override }).problems
  } catch (error) {
    // The built-in prompts are missing; the rest of the list is still useful.
    return [errorMessage(error)]
  }
}

async function testObserver(cli: Cli, name: string | undefined, json: boolean): Promise<number> {
  const observers = await import('../../observer/provider-choice.ts')
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const environment = await observers.readProviderEnvironment(cli.env)
  const choice = observers.chooseProvider(loaded, environment)
  const names = [...observers.MODEL_PROVIDERS, 'offline', 'plain'] as const
  const provider = name === undefined ? choice.provider : oneOf('provider', name, names)
  if (provider === 'offline' || provider === 'plain') {
    if (json) cli.printJson({ provider, ok: true, called: false })
    else cli.print(`${provider} uses no model: there is nothing to call, and it always works`)
    return 0
  }
  const chosen = choice.provider === provider ? choice.config : null
  const config = chosen ?? observers.providerConfig(provider, loaded, environment, { named: true })
  const problems = await findPromptProblems(cli)
  const called = config.problems.length === 0
  if (!json) {
    for (const note of [...config.notes, ...problems])
      cli.printStderr(cli.display().style.yellow(`! ${sanitize(note)}`))
    if (called) cli.printStderr(`One small call to ${sanitize(config.model)} through ${provider} …`)
  }
  const [{ testProvider }, { providerTestLines }] = await Promise.all([
    import('../provider-test.ts'),
    import('../render/providers.ts'),
  ])
  const { CLAUDE_MEM_PRICES: prices, CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS } = loaded.values
  const timeoutMs = CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000
  // A provider that is a program must exit with this process.
  const answer = await withInterruptSignal((signal) => testProvider(config, { prices, timeoutMs, signal }))
  if (json) cli.printJson({ provider, called, ...answer, notes: config.notes, problems })
  else cli.print(...providerTestLines(provider, answer, cli.display()))
  return answer.ok ? 0 : EXIT_FAILED
}
