/** What each provider would be asked with: model, address, key or program, where they come from, and what is missing. */
import { parseByRule } from '../setting-rules.ts'
import { type LoadedSettings, parseSetting, SETTINGS, type SettingName } from '../settings.ts'
import * as anthropic from './providers/anthropic.ts'
import * as claudeCode from './providers/claude-code.ts'
import * as gemini from './providers/gemini.ts'
import * as openrouter from './providers/openrouter.ts'

/** In the order in which `auto` looks for one that is set up. */
export const MODEL_PROVIDERS = ['anthropic', 'claude-code', 'gemini', 'openrouter'] as const
export type ModelProvider = (typeof MODEL_PROVIDERS)[number]
export type ApiProvider = Exclude<ModelProvider, 'claude-code'>

/** What happens to be around: it may be offered, and is used only by a provider that the user named. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  /** The `claude` on the PATH. */
  claude: string | null
}

interface Common {
  /** Empty where none is named and there is no default: a problem. */
  model: string
  /** Why it cannot work yet, each with what to do. */
  problems: string[]
  /** It works, but there is something to know. */
  notes: string[]
}

export interface ApiSetUp extends Common {
  provider: ApiProvider
  baseUrl: string
  /** Null where none is needed, or it is missing: then that is a problem. */
  key: { value: string; source: string } | null
}

export interface ProgramSetUp extends Common {
  provider: 'claude-code'
  program: string | null
}

export type SetUp = ApiSetUp | ProgramSetUp

/** A variable that other programs use for a key, and the address that the key belongs to. */
export interface WellKnown {
  variable: string
  address: string
  /** Another variable that may name another address. */
  addressVariable: string | null
}

interface Api {
  key: SettingName & `CLAUDE_MEM_${string}_API_KEY`
  address: SettingName & `CLAUDE_MEM_${string}_BASE_URL`
  keyCommand: string
  model: string
  baseUrl: string
  wellKnown: readonly WellKnown[]
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1'

export const APIS: Readonly<Record<ApiProvider, Api>> = {
  anthropic: {
    key: 'CLAUDE_MEM_ANTHROPIC_API_KEY',
    address: 'CLAUDE_MEM_ANTHROPIC_BASE_URL',
    keyCommand: 'claude-mem config set anthropic-api-key',
    model: anthropic.DEFAULT_MODEL,
    baseUrl: anthropic.DEFAULT_BASE_URL,
    wellKnown: [
      { variable: 'ANTHROPIC_API_KEY', address: anthropic.DEFAULT_BASE_URL, addressVariable: 'ANTHROPIC_BASE_URL' },
    ],
  },
  gemini: {
    key: 'CLAUDE_MEM_GEMINI_API_KEY',
    address: 'CLAUDE_MEM_GEMINI_BASE_URL',
    keyCommand: 'claude-mem config set gemini-api-key',
    model: gemini.DEFAULT_MODEL,
    baseUrl: gemini.DEFAULT_BASE_URL,
    wellKnown: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'].map((variable) => ({
      variable,
      address: gemini.DEFAULT_BASE_URL,
      addressVariable: null,
    })),
  },
  openrouter: {
    key: 'CLAUDE_MEM_OPENROUTER_API_KEY',
    address: 'CLAUDE_MEM_OPENROUTER_BASE_URL',
    keyCommand: 'claude-mem config set openrouter-api-key',
    model: openrouter.DEFAULT_MODEL,
    baseUrl: openrouter.DEFAULT_BASE_URL,
    wellKnown: [
      { variable: 'OPENROUTER_API_KEY', address: openrouter.DEFAULT_BASE_URL, addressVariable: null },
      { variable: 'OPENAI_API_KEY', address: OPENAI_BASE_URL, addressVariable: 'OPENAI_BASE_URL' },
    ],
  },
}

/** `named`: the user asked for this very provider, and so for what is around for it. */
export function setUpOf(
  provider: ModelProvider,
  loaded: LoadedSettings,
  around: Surroundings,
  { named }: { named: boolean },
): SetUp {
  return provider === 'claude-code' ? programSetUp(loaded, around, named) : apiSetUp(provider, loaded, around, named)
}

function programSetUp({ values }: LoadedSettings, { claude }: Surroundings, named: boolean): ProgramSetUp {
  const program = values.CLAUDE_CODE_PATH || (named ? claude : null)
  const missing =
    claude === null
      ? 'claude is not on the PATH; install Claude Code, or say where it is: claude-mem config set claude-code-path FILE'
      : 'it is not set up; to use it: claude-mem config set provider claude-code'
  return {
    provider: 'claude-code',
    model: values.CLAUDE_MEM_MODEL || claudeCode.DEFAULT_MODEL,
    program,
    problems: program === null ? [missing] : [],
    notes: [],
  }
}

function apiSetUp(provider: ApiProvider, loaded: LoadedSettings, { env }: Surroundings, named: boolean): ApiSetUp {
  const { values, sources } = loaded
  const api = APIS[provider]
  const ownAddress = addressNamed(values[api.address])
  const ownKey = values[api.key]
  const found = ownKey === '' && named ? wellKnownKey(api, ownAddress, env) : null
  const key = ownKey === '' ? (found?.key ?? null) : { value: ownKey, source: api.key }
  const baseUrl = (ownAddress ?? found?.address ?? api.baseUrl).replace(/\/+$/, '')
  const problems: string[] = found === null || found.fault === null ? [] : [found.fault]
  const notes: string[] = []
  const server = provider === 'openrouter' ? openrouter.chatServerAt(baseUrl) : null
  const wantsKey = server === null || server === 'openrouter' || server === 'openai'
  if (key === null && wantsKey) {
    const any = ownAddress === null ? '' : ` (any word, where ${hostOf(baseUrl)} wants none)`
    problems.push(`there is no key; set one${any}: ${api.keyCommand}`)
  }
  // A default is a model of the service that is the default too; other servers have others.
  const model = values.CLAUDE_MEM_MODEL || (server === null || server === 'openrouter' ? api.model : '')
  if (model === '')
    problems.push(`no model is named; one that ${hostOf(baseUrl)} has: claude-mem config set model NAME`)
  if (key !== null && (found !== null || sources[api.key] === 'environment')) {
    notes.push(
      `${key.source} is only in the environment, and a daemon has that of whoever started it; set it for good: ${api.keyCommand}`,
    )
  }
  return { provider, model, baseUrl, key, problems, notes }
}

/** The address itself, for a setting that may name one by a word; null: it is not set. */
function addressNamed(given: string): string | null {
  const presets: Readonly<Record<string, string>> = openrouter.PRESETS
  return given === '' ? null : Object.hasOwn(presets, given) ? (presets[given] ?? given) : given
}

/** A key goes nowhere but to the address it belongs to. */
function wellKnownKey(
  { address: setting, baseUrl, key, wellKnown }: Api,
  ownAddress: string | null,
  env: NodeJS.ProcessEnv,
): { key: { value: string; source: string }; address: string; fault: string | null } | null {
  for (const known of wellKnown) {
    const { variable, address } = known
    const parsed = parseSetting(key, env[variable])
    if (!parsed.ok || typeof parsed.value !== 'string' || parsed.value === '') continue
    const its = addressFor(known, env)
    const fits = ownAddress === null ? address === baseUrl : sameOrigin(its, ownAddress)
    if (!fits) continue
    const checked = parseByRule(known.addressVariable ?? variable, SETTINGS[setting].rule, its)
    return {
      key: { value: parsed.value, source: variable },
      // One that is none may hold a password, and is not shown as it is.
      address: checked.ok ? its : address,
      fault: checked.ok ? null : `${checked.message} (from the environment)`,
    }
  }
  return null
}

/** Where the key in a well-known variable belongs. */
export function addressFor({ address, addressVariable }: WellKnown, env: NodeJS.ProcessEnv): string {
  return (addressVariable === null ? '' : (env[addressVariable] ?? '').trim()) || address
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address
}
