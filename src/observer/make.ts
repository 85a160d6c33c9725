/** From settings to the observer that they ask for. */
import { mkdirSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import type { Paths } from '../paths.ts'
import type { LoadedSettings } from '../settings.ts'
import { type Choice, chooseProvider, surroundingsOf } from './choose.ts'
import { modelObserver } from './model/observer.ts'
import { loadPrompts, promptFolder, systemPrompt } from './model/prompts.ts'
import { makeWithheld } from './model/withheld.ts'
import { offlineObserver } from './offline/index.ts'
import { ownPromptFolder } from './own-prompts.ts'
import { plainObserver } from './plain.ts'
import type { Observer } from './port.ts'
import { priceOf } from './prices.ts'
import { makeChat } from './providers/index.ts'

export interface Made {
  observer: Observer
  choice: Choice
  /** What the user should know: a prompt of theirs that cannot be used, a key that is missing. */
  problems: string[]
}

export async function makeObserver(loaded: LoadedSettings, paths: Paths, env: NodeJS.ProcessEnv): Promise<Made> {
  const choice = chooseProvider(loaded, await surroundingsOf(env))
  if (choice.setUp === null) {
    return { observer: choice.provider === 'plain' ? plainObserver : offlineObserver, choice, problems: [] }
  }
  const { values } = loaded
  const override = ownPromptFolder(paths.dataDir, values.CLAUDE_MEM_PROMPT_DIR)
  const { prompts, problems } = loadPrompts({ folder: promptFolder(), override })
  const { setUp } = choice
  const observer = modelObserver({
    chat: makeChat(setUp, { workDir: workDirectory(paths, problems) }),
    prompts,
    system: systemPrompt(prompts, { verbosity: values.CLAUDE_MEM_VERBOSITY, language: values.CLAUDE_MEM_LANGUAGE }),
    compactTokens: values.CLAUDE_MEM_COMPACT_TOKENS,
    novelty: values.CLAUDE_MEM_NOVELTY_ENABLED,
    withheld: makeWithheld({
      tools: values.CLAUDE_MEM_NEVER_SEND_TOOLS,
      paths: values.CLAUDE_MEM_NEVER_SEND_PATHS,
    }),
    priceOf: (model) => priceOf(model, values.CLAUDE_MEM_PRICES),
  })
  return { observer, choice, problems: [...problems, ...setUp.problems.map((text) => `${setUp.provider}: ${text}`)] }
}

/** Where a provider that is a program runs: no project's files lie there. */
function workDirectory(paths: Paths, problems: string[]): string {
  try {
    mkdirSync(paths.observer, { recursive: true, mode: 0o700 })
  } catch (error) {
    problems.push(`${paths.observer} cannot be made: ${messageOf(error)}`)
  }
  return paths.observer
}
