/**
 * Which provider observes, and why. `auto` takes the first that the user set up for claude-mem, else the rules without a
 * model. A key that happens to be in the environment, or an installed `claude`, is offered, never spent unasked: it is used
 * only by a provider that the user named.
 */

import { findProgram } from '../find-program.ts'
import type { LoadedSettings, SettingName } from '../settings.ts'
import {
  APIS,
  type ApiProvider,
  addressFor,
  MODEL_PROVIDERS,
  type ModelProvider,
  type SetUp,
  type Surroundings,
  setUpOf,
} from './set-up.ts'

export type Choice =
  | { provider: 'offline' | 'plain'; why: string; setUp: null }
  | { provider: ModelProvider; why: string; setUp: SetUp }

export async function surroundingsOf(env: NodeJS.ProcessEnv): Promise<Surroundings> {
  return { env, claude: await findProgram('claude', env) }
}

export function chooseProvider(loaded: LoadedSettings, around: Surroundings): Choice {
  const named = loaded.values.CLAUDE_MEM_PROVIDER
  if (named === 'offline' || named === 'plain') return { provider: named, why: NAMED, setUp: null }
  const model = MODEL_PROVIDERS.find((provider) => provider === named)
  if (model !== undefined) {
    return { provider: model, why: NAMED, setUp: setUpOf(model, loaded, around, { named: true }) }
  }
  for (const provider of MODEL_PROVIDERS) {
    const setting = configuredBy(provider, loaded)
    if (setting === null) continue
    const setUp = setUpOf(provider, loaded, around, { named: false })
    return { provider, why: `it is the first that is set up: ${setting} is set`, setUp }
  }
  return { provider: 'offline', why: 'no model is set up', setUp: null }
}

const NAMED = 'CLAUDE_MEM_PROVIDER says so'

const CONFIGURING: Readonly<Record<ModelProvider, readonly (SettingName & `CLAUDE_${string}`)[]>> = {
  anthropic: ['CLAUDE_MEM_ANTHROPIC_API_KEY', 'CLAUDE_MEM_ANTHROPIC_BASE_URL'],
  'claude-code': ['CLAUDE_CODE_PATH'],
  gemini: ['CLAUDE_MEM_GEMINI_API_KEY'],
  openrouter: ['CLAUDE_MEM_OPENROUTER_API_KEY', 'CLAUDE_MEM_OPENROUTER_BASE_URL'],
}

/** The setting that makes a provider one that the user set up for claude-mem. */
export function configuredBy(provider: ModelProvider, { values, sources }: LoadedSettings): SettingName | null {
  // Its name is not ours alone: in the environment it may be meant for another program.
  const isOurs = (name: SettingName) => name !== 'CLAUDE_CODE_PATH' || sources[name] === 'file'
  return CONFIGURING[provider].find((name) => values[name] !== '' && isOurs(name)) ?? null
}

/** Something that is there and is not used. */
export interface Offer {
  provider: ModelProvider
  /** `ANTHROPIC_API_KEY`, or where `claude` lies. */
  found: string
  text: string
  /** What to type to use it. */
  commands: string[]
}

export function offersOf(loaded: LoadedSettings, around: Surroundings): Offer[] {
  const { setUp } = chooseProvider(loaded, around)
  return MODEL_PROVIDERS.filter((provider) => configuredBy(provider, loaded) === null).flatMap((provider) => {
    if (provider === 'claude-code') return setUp?.provider === provider ? [] : programOffers(around)
    const used = setUp?.provider === provider ? (setUp.key?.source ?? null) : null
    return keyOffers(provider, around.env, used)
  })
}

function programOffers({ claude }: Surroundings): Offer[] {
  if (claude === null) return []
  return [
    {
      provider: 'claude-code',
      found: claude,
      text: `${claude} is installed and is not used`,
      commands: ['claude-mem config set provider claude-code'],
    },
  ]
}

/** One for each service: where two variables hold its key, the first is the one that would be used. */
function keyOffers(provider: ApiProvider, env: NodeJS.ProcessEnv, used: string | null): Offer[] {
  const { baseUrl, wellKnown } = APIS[provider]
  const there = wellKnown.filter(({ variable }) => (env[variable] ?? '').trim() !== '')
  const services = new Set(there.map(({ address }) => address))
  return [...services].flatMap((address) => {
    const [first, ...others] = there.filter((known) => known.address === address)
    if (first === undefined || [first, ...others].some(({ variable }) => variable === used)) return []
    const elsewhere =
      address === baseUrl
        ? []
        : [`claude-mem config set ${provider}-base-url ${addressFor(first, env)}`, 'claude-mem config set model NAME']
    return [
      {
        provider,
        found: first.variable,
        text: `${first.variable} is in your environment and is not used`,
        commands: [...elsewhere, `claude-mem config set provider ${provider}`],
      },
    ]
  })
}
