import { messageOf } from '../../errors.ts'
import { loadSettings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { EXIT_FAILED, oneOf, UsageError } from '../failure.ts'
import { interruptible } from '../interruptible.ts'
import type { ProvidersView } from '../render/providers.ts'
import { clean } from '../text.ts'

const ACTIONS = ['list', 'test'] as const

export const providers = command({
  usage: 'providers [action] [name]',
  group: 'Connect it',
  summary: 'Who observes: which model, what it costs, what is missing; test it',
  about:
    'Lists every provider: the chosen one and why, its model, address and key, what is missing and how to set it. test makes ' +
    'one tiny call. Nothing is spent unasked: a key in your environment or an installed claude is only used by a provider ' +
    'that you name. After each change: claude-mem restart.',
  examples: [
    ['claude-mem providers', 'all of them'],
    ['claude-mem providers test', 'one tiny call to the chosen one'],
    ['claude-mem providers test gemini', 'or to another, with what is there for it'],
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
    if (chosen === 'test') return await test(cli, name, json === true)
    if (name !== undefined) throw new UsageError('providers list takes no name; to test one: claude-mem providers test')
    return await list(cli, json === true)
  },
})

async function list(cli: Cli, json: boolean): Promise<number> {
  const view = await viewOfAll(cli)
  const { providerLines } = await import('../render/providers.ts')
  if (json) cli.printJson(view)
  else cli.print(...providerLines(view, cli.look()))
  return 0
}

async function viewOfAll(cli: Cli): Promise<ProvidersView> {
  const { chooseProvider, configuredBy, offersOf, surroundingsOf } = await import('../../observer/choose.ts')
  const { MODEL_PROVIDERS, setUpOf } = await import('../../observer/set-up.ts')
  const { priceOf } = await import('../../observer/prices.ts')
  const { offlineView, viewOf } = await import('../render/providers.ts')
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const around = await surroundingsOf(cli.env)
  const choice = chooseProvider(loaded, around)
  const models = MODEL_PROVIDERS.map((provider) => {
    const isChosen = choice.provider === provider
    const setUp = isChosen && choice.setUp !== null ? choice.setUp : setUpOf(provider, loaded, around, { named: false })
    const price = setUp.model === '' ? null : priceOf(setUp.model, loaded.values.CLAUDE_MEM_PRICES)
    return viewOf(setUp, { chosen: isChosen, configuredBy: configuredBy(provider, loaded), price })
  })
  return {
    chosen: choice.provider,
    why: choice.why,
    providers: [...models, offlineView(choice.provider === 'offline')],
    offers: offersOf(loaded, around),
    problems: [...loaded.problems.map(({ message }) => message), ...(await promptProblems(cli))],
  }
}

async function promptProblems(cli: Cli): Promise<string[]> {
  const { loadPrompts, promptFolder } = await import('../../observer/model/prompts.ts')
  const { ownPromptFolder } = await import('../../observer/own-prompts.ts')
  const { values } = loadSettings(cli.paths.dataDir, cli.env)
  const override = ownPromptFolder(cli.paths.dataDir, values.CLAUDE_MEM_PROMPT_DIR)
  try {
    return loadPrompts({ folder: promptFolder(), override }).problems
  } catch (error) {
    // Ours are missing: worth to be said, and no reason to say nothing else.
    return [messageOf(error)]
  }
}

async function test(cli: Cli, name: string | undefined, json: boolean): Promise<number> {
  const { chooseProvider, surroundingsOf } = await import('../../observer/choose.ts')
  const { MODEL_PROVIDERS, setUpOf } = await import('../../observer/set-up.ts')
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const around = await surroundingsOf(cli.env)
  const choice = chooseProvider(loaded, around)
  const provider =
    name === undefined ? choice.provider : oneOf('provider', name, [...MODEL_PROVIDERS, 'offline', 'plain'])
  if (provider === 'offline' || provider === 'plain') {
    if (json) cli.printJson({ provider, ok: true, called: false })
    else cli.print(`${provider} asks no model: there is nothing to call, and it always works`)
    return 0
  }
  // Whoever tests a provider by name asks for what is there for it.
  const setUp =
    choice.provider === provider && choice.setUp !== null
      ? choice.setUp
      : setUpOf(provider, loaded, around, { named: true })
  const problems = await promptProblems(cli)
  if (!json)
    for (const problem of [...setUp.notes, ...problems]) cli.tell(cli.look().style.yellow(`! ${clean(problem)}`))
  const { testProvider } = await import('../provider-test.ts')
  const { answerLines } = await import('../render/providers.ts')
  if (!json && setUp.problems.length === 0) cli.tell(`One tiny call to ${clean(setUp.model)} through ${provider} …`)
  // A provider that is a program must be ended with us.
  const answer = await interruptible((signal) =>
    testProvider(setUp, {
      prices: loaded.values.CLAUDE_MEM_PRICES,
      timeoutMs: loaded.values.CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000,
      signal,
    }),
  )
  if (json) cli.printJson({ provider, called: setUp.problems.length === 0, ...answer, notes: setUp.notes, problems })
  else cli.print(...answerLines(provider, answer, cli.look()))
  return answer.ok ? 0 : EXIT_FAILED
}
