/** Which observer a replay uses: the configured one, with the changes of the request. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { readRegularFileSync } from '../../lib/files.ts'
import type { Paths } from '../../lib/paths.ts'
import { makeObserver } from '../../observer/make-observer.ts'
import { MAX_PROMPT_BYTES, PROMPT_NAMES, parsePromptFile } from '../../observer/model/prompts.ts'
import type { Observer } from '../../observer/port.ts'
import {
  chooseProvider,
  MODEL_PROVIDERS,
  type ProviderChoice,
  readProviderEnvironment,
} from '../../observer/provider-choice.ts'
import type { LoadedSettings } from '../../settings/settings.ts'
import type { ReplayProvider } from './providers.ts'

export interface ReplayRequest {
  /** Null: as configured. */
  provider: ReplayProvider | null
  model: string | null
  promptDir: string | null
}

export interface ReplayObserver {
  /** The settings of this replay. */
  loaded: LoadedSettings
  choice: ProviderChoice
  make(workDir: string): Promise<Observer>
}

export async function chooseReplayObserver(
  loaded: LoadedSettings,
  request: ReplayRequest,
  paths: Paths,
  env: NodeJS.ProcessEnv,
): Promise<ReplayObserver> {
  const around = await readProviderEnvironment(env)
  const configured = chooseProvider(loaded, around)
  const changed = applyRequest(loaded, request, configured)
  const choice = chooseProvider(changed, around)
  const { config, provider } = choice
  if (config === null && (request.model !== null || request.promptDir !== null)) {
    throw new MemError(
      'bad_request',
      `${provider} uses no model: --model and --prompt-dir need --provider ${MODEL_PROVIDERS.join(' | ')}`,
    )
  }
  if (config !== null && config.problems.length > 0) {
    throw new MemError('bad_setting', `${provider} cannot be used: ${config.problems.join('; ')}`)
  }
  if (request.promptDir !== null) checkPrompts(resolve(request.promptDir))
  return {
    loaded: changed,
    choice,
    make: async (workDir) => {
      mkdirSync(workDir, { mode: 0o700 })
      return (await makeObserver(changed, { ...paths, observer: workDir }, env)).observer
    },
  }
}

function applyRequest(
  loaded: LoadedSettings,
  { provider, model, promptDir }: ReplayRequest,
  configured: ProviderChoice,
): LoadedSettings {
  // The configured model belongs to the configured provider.
  const isOtherProvider = provider !== null && provider !== configured.provider
  return {
    ...loaded,
    values: {
      ...loaded.values,
      CLAUDE_MEM_PROVIDER: provider ?? configured.provider,
      CLAUDE_MEM_MODEL: model ?? (isOtherProvider ? '' : loaded.values.CLAUDE_MEM_MODEL),
      CLAUDE_MEM_PROMPT_DIR: promptDir === null ? loaded.values.CLAUDE_MEM_PROMPT_DIR : resolve(promptDir),
    },
  }
}

/** Stricter than the daemon: a prompt file that the daemon would ignore is an error, because the comparison depends on it. */
function checkPrompts(folder: string): void {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (cause) {
    const text = `${folder} cannot be read (${errorMessage(cause)}); --prompt-dir takes a directory`
    throw new MemError('not_found', text, { cause })
  }
  const files = names.filter((name) => name.endsWith('.md') && name.toLowerCase() !== 'readme.md')
  const known = PROMPT_NAMES.filter((name) => files.includes(`${name}.md`))
  const stray = files.find((file) => !known.some((name) => file === `${name}.md`))
  const all = PROMPT_NAMES.map((name) => `${name}.md`).join(', ')
  if (stray !== undefined)
    throw new MemError('bad_request', `${join(folder, stray)}: there is no prompt of this name; the names are ${all}`)
  if (known.length === 0) throw new MemError('bad_request', `${folder} contains no prompt; the names are ${all}`)
  for (const name of known) {
    const file = join(folder, `${name}.md`)
    const parsed = parsePromptFile(name, readRegularFileSync(file, MAX_PROMPT_BYTES))
    if (!parsed.ok) throw new MemError('bad_request', `${file}: ${parsed.problem}`)
  }
}
