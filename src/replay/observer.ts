/** Who observes in a replay: what the settings say, changed for this once. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MemError, messageOf } from '../errors.ts'
import { type Choice, chooseProvider, surroundingsOf } from '../observer/choose.ts'
import { makeObserver } from '../observer/make.ts'
import { MAX_PROMPT_BYTES, PROMPT_NAMES, parsePrompt } from '../observer/model/prompt-file.ts'
import type { Observer } from '../observer/port.ts'
import { MODEL_PROVIDERS } from '../observer/set-up.ts'
import type { Paths } from '../paths.ts'
import type { LoadedSettings } from '../settings.ts'
import type { ReplayProvider } from './providers.ts'

export interface Wish {
  /** Null: what the settings say. */
  provider: ReplayProvider | null
  model: string | null
  promptDir: string | null
}

export interface Chosen {
  /** As they hold for this replay. */
  loaded: LoadedSettings
  choice: Choice
  make(workDir: string): Promise<Observer>
}

export async function chosenObserver(
  loaded: LoadedSettings,
  wish: Wish,
  paths: Paths,
  env: NodeJS.ProcessEnv,
): Promise<Chosen> {
  const around = await surroundingsOf(env)
  const usual = chooseProvider(loaded, around)
  const changed = wishedFor(loaded, wish, usual)
  const choice = chooseProvider(changed, around)
  const { setUp, provider } = choice
  if (setUp === null && (wish.model !== null || wish.promptDir !== null)) {
    throw new MemError(
      'bad_request',
      `${provider} asks no model: --model and --prompt-dir go with --provider ${MODEL_PROVIDERS.join(' | ')}`,
    )
  }
  if (setUp !== null && setUp.problems.length > 0) {
    throw new MemError('bad_setting', `${provider} cannot be asked: ${setUp.problems.join('; ')}`)
  }
  if (wish.promptDir !== null) checkPrompts(resolve(wish.promptDir))
  return {
    loaded: changed,
    choice,
    make: async (workDir) => {
      mkdirSync(workDir, { mode: 0o700 })
      return (await makeObserver(changed, { ...paths, observer: workDir }, env)).observer
    },
  }
}

function wishedFor(loaded: LoadedSettings, { provider, model, promptDir }: Wish, usual: Choice): LoadedSettings {
  // The model that is set belongs to the provider that is used otherwise.
  const another = provider !== null && provider !== usual.provider
  return {
    ...loaded,
    values: {
      ...loaded.values,
      CLAUDE_MEM_PROVIDER: provider ?? usual.provider,
      CLAUDE_MEM_MODEL: model ?? (another ? '' : loaded.values.CLAUDE_MEM_MODEL),
      CLAUDE_MEM_PROMPT_DIR: promptDir === null ? loaded.values.CLAUDE_MEM_PROMPT_DIR : resolve(promptDir),
    },
  }
}

/** Whoever compares prompts wants these and no others: what the daemon would pass over is an error here. */
function checkPrompts(folder: string): void {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (cause) {
    throw new MemError('not_found', `${folder} cannot be read (${messageOf(cause)}); --prompt-dir takes a directory`, {
      cause,
    })
  }
  const files = names.filter((name) => name.endsWith('.md') && name.toLowerCase() !== 'readme.md')
  const known = PROMPT_NAMES.filter((name) => files.includes(`${name}.md`))
  const stray = files.find((file) => !known.some((name) => file === `${name}.md`))
  const all = PROMPT_NAMES.map((name) => `${name}.md`).join(', ')
  if (stray !== undefined)
    throw new MemError('bad_request', `${join(folder, stray)}: no prompt is called so; the names are ${all}`)
  if (known.length === 0) throw new MemError('bad_request', `${folder} holds no prompt; the names are ${all}`)
  for (const name of known) {
    const file = join(folder, `${name}.md`)
    const { size } = statSync(file)
    if (!statSync(file).isFile()) throw new MemError('bad_request', `${file} is not a file`)
    const bytes = size > MAX_PROMPT_BYTES ? Buffer.alloc(MAX_PROMPT_BYTES + 1) : readFileSync(file)
    const parsed = parsePrompt(name, bytes)
    if (!parsed.ok) throw new MemError('bad_request', `${file}: ${parsed.fault}`)
  }
}
