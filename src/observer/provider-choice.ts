/**
 * Which provider observes, why, and with which model, address, key or program. `auto` takes the first provider that the
 * user configured for claude-mem, else the rules without a model. A key that is in the environment for other programs,
 * or an installed `claude`, is only offered; it is used only if the user named that provider.
 */

import { findProgram } from '../lib/find-program.ts'
import { trimEndMatching } from '../lib/trim.ts'
import { parseSettingValue } from '../settings/rules.ts'
import { type LoadedSettings, parseSetting, SETTINGS, type SettingName } from '../settings/settings.ts'

/** In the order in which `auto` looks for a configured one. */
export const MODEL_PROVIDERS = ['anthropic', 'claude-code', 'gemini', 'openrouter'] as const
export type ModelProvider = (typeof MODEL_PROVIDERS)[number]
type ApiProvider = Exclude<ModelProvider, 'claude-code'>

/** What the machine has to offer besides claude-mem's own settings. */
export interface ProviderEnvironment {
  env: NodeJS.ProcessEnv
  /** Path of the `claude` on the PATH. */
  claude: string | null
}

interface CommonConfig {
  /** Empty if none is named and there is no default; that is one of the `problems`. */
  model: string
  /** Why calls cannot work yet, each with what to do. */
  problems: string[]
  /** Advice about a configuration that works. */
  notes: string[]
}

interface ApiProviderConfig extends CommonConfig {
  provider: ApiProvider
  baseUrl: string
  /** Null if no key is needed, or if it is missing; a missing one is one of the `problems`. */
  key: { value: string; source: string } | null
}

interface ProgramProviderConfig extends CommonConfig {
  provider: 'claude-code'
  program: string | null
}

export type ProviderConfig = ApiProviderConfig | ProgramProviderConfig

export type ProviderChoice =
  | { provider: 'offline' | 'plain'; why: string; config: null }
  | { provider: ModelProvider; why: string; config: ProviderConfig }

/** A variable in which other programs keep a key, and the address that the key belongs to. */
interface WellKnownKey {
  variable: string
  address: string
  /** A variable that overrides `address`. */
  addressVariable: string | null
}

interface ApiDefaults {
  keySetting: SettingName & `CLAUDE_MEM_${string}_API_KEY`
  addressSetting: SettingName & `CLAUDE_MEM_${string}_BASE_URL`
  model: string
  baseUrl: string
  wellKnownKeys: readonly WellKnownKey[]
}

/** Words that CLAUDE_MEM_OPENROUTER_BASE_URL takes in place of an address. */
export const BASE_URL_PRESETS = {
  openrouter: 'https://openrouter.ai/api/v1',
  ollama: 'http://127.0.0.1:11434/v1',
  lmstudio: 'http://127.0.0.1:1234/v1',
} as const

const ANTHROPIC_BASE_URL = 'https://api.anthropic.com'
const GEMINI_BASE_URL = 'https://generativelanguage.googleapis.com'
const OPENAI_BASE_URL = 'https://api.openai.com/v1'

export const API_PROVIDERS: Readonly<Record<ApiProvider, ApiDefaults>> = {
  anthropic: {
    keySetting: 'CLAUDE_MEM_ANTHROPIC_API_KEY',
    addressSetting: 'CLAUDE_MEM_ANTHROPIC_BASE_URL',
    model: 'claude-haiku-4-5',
    baseUrl: ANTHROPIC_BASE_URL,
    wellKnownKeys: [
      { variable: 'ANTHROPIC_API_KEY', address: ANTHROPIC_BASE_URL, addressVariable: 'ANTHROPIC_BASE_URL' },
    ],
  },
  gemini: {
    keySetting: 'CLAUDE_MEM_GEMINI_API_KEY',
    addressSetting: 'CLAUDE_MEM_GEMINI_BASE_URL',
    model: 'gemini-3.5-flash-lite',
    baseUrl: GEMINI_BASE_URL,
    wellKnownKeys: [
      { variable: 'GEMINI_API_KEY', address: GEMINI_BASE_URL, addressVariable: null },
      { variable: 'GOOGLE_API_KEY', address: GEMINI_BASE_URL, addressVariable: null },
    ],
  },
  openrouter: {
    keySetting: 'CLAUDE_MEM_OPENROUTER_API_KEY',
    addressSetting: 'CLAUDE_MEM_OPENROUTER_BASE_URL',
    model: 'google/gemini-3.1-flash-lite',
    baseUrl: BASE_URL_PRESETS.openrouter,
    wellKnownKeys: [
      { variable: 'OPENROUTER_API_KEY', address: BASE_URL_PRESETS.openrouter, addressVariable: null },
      { variable: 'OPENAI_API_KEY', address: OPENAI_BASE_URL, addressVariable: 'OPENAI_BASE_URL' },
    ],
  },
}

/** An alias: every version of the client maps it to its newest small model, on Bedrock and Vertex too. */
const CLAUDE_CODE_MODEL = 'haiku'

/** A provider counts as configured if one of these settings is set. */
const CONFIGURING_SETTINGS: Readonly<Record<ModelProvider, readonly (SettingName & `CLAUDE_${string}`)[]>> = {
  anthropic: ['CLAUDE_MEM_ANTHROPIC_API_KEY', 'CLAUDE_MEM_ANTHROPIC_BASE_URL'],
  'claude-code': ['CLAUDE_CODE_PATH'],
  gemini: ['CLAUDE_MEM_GEMINI_API_KEY'],
  openrouter: ['CLAUDE_MEM_OPENROUTER_API_KEY', 'CLAUDE_MEM_OPENROUTER_BASE_URL'],
}

export async function readProviderEnvironment(env: NodeJS.ProcessEnv): Promise<ProviderEnvironment> {
  return { env, claude: await findProgram('claude', env) }
}

export function chooseProvider(loaded: LoadedSettings, environment: ProviderEnvironment): ProviderChoice {
  const named = loaded.values.CLAUDE_MEM_PROVIDER
  const byName = 'CLAUDE_MEM_PROVIDER says so'
  if (named === 'offline' || named === 'plain') return { provider: named, why: byName, config: null }
  const model = MODEL_PROVIDERS.find((provider) => provider === named)
  if (model !== undefined) {
    return { provider: model, why: byName, config: providerConfig(model, loaded, environment, { named: true }) }
  }
  for (const provider of MODEL_PROVIDERS) {
    const setting = configuringSetting(provider, loaded)
    if (setting === null) continue
    const config = providerConfig(provider, loaded, environment, { named: false })
    return { provider, why: `it is the first that is set up: ${setting} is set`, config }
  }
  return { provider: 'offline', why: 'no model is set up', config: null }
}

export function configuringSetting(provider: ModelProvider, { values, sources }: LoadedSettings): SettingName | null {
  // CLAUDE_CODE_PATH in the environment may be meant for another program.
  const isOurs = (name: SettingName) => name !== 'CLAUDE_CODE_PATH' || sources[name] === 'file'
  return CONFIGURING_SETTINGS[provider].find((name) => values[name] !== '' && isOurs(name)) ?? null
}

/** `named`: the user chose this provider, which allows the keys and programs found in the environment. */
export function providerConfig(
  provider: ModelProvider,
  loaded: LoadedSettings,
  environment: ProviderEnvironment,
  { named }: { named: boolean },
): ProviderConfig {
  return provider === 'claude-code'
    ? programConfig(loaded, environment, named)
    : apiConfig(provider, loaded, environment, named)
}

function programConfig({ values }: LoadedSettings, { claude }: ProviderEnvironment, named: boolean): ProviderConfig {
  const program = values.CLAUDE_CODE_PATH || (named ? claude : null)
  const missing =
    claude === null
      ? 'claude is not on the PATH; install Claude Code, or set its path: claude-mem config set claude-code-path FILE'
      : 'it is not set up; to use it: claude-mem config set provider claude-code'
  return {
    provider: 'claude-code',
    model: values.CLAUDE_MEM_MODEL || CLAUDE_CODE_MODEL,
    program,
    problems: program === null ? [missing] : [],
    notes: [],
  }
}

function apiConfig(
  provider: ApiProvider,
  { values, sources }: LoadedSettings,
  { env }: ProviderEnvironment,
  named: boolean,
): ProviderConfig {
  const defaults = API_PROVIDERS[provider]
  const setKeyCommand = `claude-mem config set ${provider}-api-key`
  const ownAddress = expandPreset(values[defaults.addressSetting])
  const ownKey = values[defaults.keySetting]
  const found = ownKey === '' && named ? findWellKnownKey(defaults, ownAddress, env) : null
  const key = ownKey === '' ? (found?.key ?? null) : { value: ownKey, source: defaults.keySetting }
  const baseUrl = trimEndMatching(ownAddress ?? found?.address ?? defaults.baseUrl, /\//)
  const problems: string[] = found === null || found.problem === null ? [] : [found.problem]
  const notes: string[] = []
  if (sources[defaults.keySetting] === 'file' && sources[defaults.addressSetting] === 'environment') {
    // An address in the environment may come from a project; it must not get the user's stored key.
    const setAddress = `claude-mem config set ${provider}-base-url ADDRESS`
    problems.push(
      `${defaults.keySetting} is in the settings file and ${defaults.addressSetting} in the environment, which does not get that key; store the address too: ${setAddress}`,
    )
  }
  const server = provider === 'openrouter' ? chatServerAt(baseUrl) : null
  const needsKey = server === null || server === 'openrouter' || server === 'openai'
  if (key === null && needsKey) {
    const hint = ownAddress === null ? '' : ` (any word, if ${hostOf(baseUrl)} needs none)`
    problems.push(`there is no key; set one${hint}: ${setKeyCommand}`)
  }
  // The default model belongs to the default service; other servers have other models.
  const model = values.CLAUDE_MEM_MODEL || (server === null || server === 'openrouter' ? defaults.model : '')
  if (model === '') {
    problems.push(`no model is named; set one that ${hostOf(baseUrl)} has: claude-mem config set model NAME`)
  }
  if (key !== null && (found !== null || sources[defaults.keySetting] === 'environment')) {
    notes.push(
      `${key.source} is only in the environment, and the daemon sees only the environment it was started from; store it: ${setKeyCommand}`,
    )
  }
  return { provider, model, baseUrl, key, problems, notes }
}

/** Null if the setting is empty. */
function expandPreset(given: string): string | null {
  const presets: Readonly<Record<string, string>> = BASE_URL_PRESETS
  return given === '' ? null : Object.hasOwn(presets, given) ? (presets[given] ?? given) : given
}

/** A key is sent only to the address that it belongs to. */
function findWellKnownKey(
  { addressSetting, baseUrl, keySetting, wellKnownKeys }: ApiDefaults,
  ownAddress: string | null,
  env: NodeJS.ProcessEnv,
): { key: { value: string; source: string }; address: string; problem: string | null } | null {
  for (const known of wellKnownKeys) {
    const parsed = parseSetting(keySetting, env[known.variable])
    if (!parsed.ok || typeof parsed.value !== 'string' || parsed.value === '') continue
    const address = keyAddress(known, env)
    if (!(ownAddress === null ? known.address === baseUrl : sameOrigin(address, ownAddress))) continue
    const checked = parseSettingValue(known.addressVariable ?? known.variable, SETTINGS[addressSetting].rule, address)
    return {
      key: { value: parsed.value, source: known.variable },
      // An invalid address may contain a password: it is neither used nor shown.
      address: checked.ok ? address : known.address,
      problem: checked.ok ? null : `${checked.message} (from the environment)`,
    }
  }
  return null
}

function keyAddress({ address, addressVariable }: WellKnownKey, env: NodeJS.ProcessEnv): string {
  return (addressVariable === null ? '' : (env[addressVariable] ?? '').trim()) || address
}

/** Which kind of server answers at an address: some accept request fields that others reject. */
export type ChatServer = 'openrouter' | 'openai' | 'local' | 'other'

export function chatServerAt(baseUrl: string): ChatServer {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  if (host === 'openrouter.ai' || host.endsWith('.openrouter.ai')) return 'openrouter'
  if (host === 'api.openai.com') return 'openai'
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host) ? 'local' : 'other'
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address
}

/** A key or program on this machine that claude-mem could use and does not. */
export interface ProviderOffer {
  provider: ModelProvider
  /** `ANTHROPIC_API_KEY`, or the path of `claude`. */
  found: string
  text: string
  /** What to type to use it. */
  commands: string[]
}

export function findProviderOffers(loaded: LoadedSettings, environment: ProviderEnvironment): ProviderOffer[] {
  const { config } = chooseProvider(loaded, environment)
  return MODEL_PROVIDERS.filter((provider) => configuringSetting(provider, loaded) === null).flatMap((provider) => {
    if (provider === 'claude-code') return config?.provider === provider ? [] : programOffers(environment)
    const used = config?.provider === provider ? (config.key?.source ?? null) : null
    return keyOffers(provider, environment.env, used)
  })
}

function programOffers({ claude }: ProviderEnvironment): ProviderOffer[] {
  if (claude === null) return []
  const text = `${claude} is installed and is not used`
  return [{ provider: 'claude-code', found: claude, text, commands: ['claude-mem config set provider claude-code'] }]
}

/** One offer per service: if two variables hold its key, the first one would be used. */
function keyOffers(provider: ApiProvider, env: NodeJS.ProcessEnv, used: string | null): ProviderOffer[] {
  const { baseUrl, wellKnownKeys } = API_PROVIDERS[provider]
  const present = wellKnownKeys.filter(({ variable }) => (env[variable] ?? '').trim() !== '')
  const services = new Set(present.map(({ address }) => address))
  return [...services].flatMap((address) => {
    const [first, ...others] = present.filter((known) => known.address === address)
    if (first === undefined || [first, ...others].some(({ variable }) => variable === used)) return []
    const setAddress =
      address === baseUrl
        ? []
        : [`claude-mem config set ${provider}-base-url ${keyAddress(first, env)}`, 'claude-mem config set model NAME']
    return [
      {
        provider,
        found: first.variable,
        text: `${first.variable} is in your environment and is not used`,
        commands: [...setAddress, `claude-mem config set provider ${provider}`],
      },
    ]
  })
}
