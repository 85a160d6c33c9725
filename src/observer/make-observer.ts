/** Builds the observer that the settings ask for, and the chat model behind it. */
import { mkdirSync } from 'node:fs'
import { errorMessage } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import type { LoadedSettings } from '../settings/settings.ts'
import type { ChatModel } from './model/chat.ts'
import { offlineObserver } from './offline/index.ts'
import { plainObserver } from './plain.ts'
import { type Observer, ObserverError } from './port.ts'
import { modelPrice } from './prices.ts'
import { chooseProvider, type ProviderChoice, type ProviderConfig, readProviderEnvironment } from './provider-choice.ts'

export interface ConfiguredObserver {
  observer: Observer
  choice: ProviderChoice
  /** For the user: a missing key, a prompt of their own that cannot be used. */
  problems: string[]
}

export async function makeObserver(
  loaded: LoadedSettings,
  paths: Paths,
  env: NodeJS.ProcessEnv,
): Promise<ConfiguredObserver> {
  const choice = chooseProvider(loaded, await readProviderEnvironment(env))
  const { config } = choice
  if (config === null) {
    return { observer: choice.provider === 'plain' ? plainObserver : offlineObserver, choice, problems: [] }
  }
  // Loaded only with a model: without one the daemon takes less memory.
  const [
    { ModelObserver },
    { builtInPromptFolder, loadPrompts, systemPrompt, userPromptFolder },
    { makeWithheldFilter },
  ] = await Promise.all([import('./model/observer.ts'), import('./model/prompts.ts'), import('./model/withheld.ts')])
  const { values } = loaded
  const override = userPromptFolder(paths.dataDir, values.CLAUDE_MEM_PROMPT_DIR)
  const { prompts, problems } = loadPrompts({ folder: builtInPromptFolder(), override })
  const observer = new ModelObserver({
    chat: makeChatModel(config, { workDir: makeWorkDirectory(paths, problems) }),
    prompts,
    system: systemPrompt(prompts, { verbosity: values.CLAUDE_MEM_VERBOSITY, language: values.CLAUDE_MEM_LANGUAGE }),
    compactTokens: values.CLAUDE_MEM_COMPACT_TOKENS,
    novelty: values.CLAUDE_MEM_NOVELTY_ENABLED,
    withheld: makeWithheldFilter({
      tools: values.CLAUDE_MEM_NEVER_SEND_TOOLS,
      paths: values.CLAUDE_MEM_NEVER_SEND_PATHS,
    }),
    priceOf: (model) => modelPrice(model, values.CLAUDE_MEM_PRICES),
  })
  return { observer, choice, problems: [...problems, ...config.problems.map((text) => `${config.provider}: ${text}`)] }
}

/** The working directory of a provider that is a program: it contains no project files. */
function makeWorkDirectory(paths: Paths, problems: string[]): string {
  try {
    mkdirSync(paths.observer, { recursive: true, mode: 0o700 })
  } catch (error) {
    problems.push(`${paths.observer} cannot be created: ${errorMessage(error)}`)
  }
  return paths.observer
}

/**
 * The provider's code is loaded with the first call. An incomplete configuration fails each call with what is missing,
 * so that sessions wait and show the reason. `workDir`: a private directory for a provider that is a program.
 */
export function makeChatModel(config: ProviderConfig, { workDir }: { workDir: string }): ChatModel {
  const { provider, model, problems } = config
  let loaded: Promise<ChatModel> | null = null
  return {
    provider,
    model,
    complete: async (request, signal) => {
      if (problems.length > 0) throw new ObserverError('provider', `${provider}: ${problems.join('; ')}`)
      loaded ??= loadProvider(config, workDir).catch((error: unknown) => {
        loaded = null
        throw error
      })
      return await (await loaded).complete(request, signal)
    },
  }
}

async function loadProvider(config: ProviderConfig, workDir: string): Promise<ChatModel> {
  const { model } = config
  if (config.provider === 'claude-code') {
    const { claudeCodeModel } = await import('./providers/claude-code/index.ts')
    return claudeCodeModel({ program: config.program ?? '', model, workDir })
  }
  const options = { apiKey: config.key?.value ?? '', baseUrl: config.baseUrl, model }
  switch (config.provider) {
    case 'anthropic':
      return (await import('./providers/anthropic.ts')).anthropicModel(options)
    case 'gemini':
      return (await import('./providers/gemini.ts')).geminiModel(options)
    case 'openrouter':
      return (await import('./providers/openrouter.ts')).openrouterModel(options)
  }
}
