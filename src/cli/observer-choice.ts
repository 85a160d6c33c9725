/** Chooses the observer during `claude-mem install`: by name or by a question, and the settings that it needs. */
import { MemError } from '../lib/errors.ts'
import { modelPrice } from '../observer/prices.ts'
import { API_PROVIDERS, chooseProvider, type ProviderEnvironment, providerConfig } from '../observer/provider-choice.ts'
import { type LoadedSettings, parseSetting, type SettingName } from '../settings/settings.ts'
import { oneOf, UsageError } from './arguments.ts'
import { askLine, type PromptStreams } from './input.ts'
import { terminalSafe } from './text.ts'

export const OBSERVER_NAMES = ['offline', 'claude-code', 'anthropic', 'gemini', 'openrouter'] as const
type ObserverName = (typeof OBSERVER_NAMES)[number]

export interface ObserverChange {
  provider: ObserverName
  /** In the order in which they are written. */
  settings: readonly (readonly [name: SettingName, value: string])[]
  notes: readonly string[]
}

/** Reads an API key; null if nothing can be asked. */
type ApiKeySource = ((setting: SettingName) => Promise<string>) | null

export function parseObserverName(given: string): ObserverName {
  return oneOf('provider', given, OBSERVER_NAMES)
}

/** Changes nothing. `key.always`: read a key even if one is set. */
export async function planObserverChange(
  provider: ObserverName,
  loaded: LoadedSettings,
  environment: ProviderEnvironment,
  key: { always: boolean; ask: ApiKeySource },
): Promise<ObserverChange> {
  const choice = ['CLAUDE_MEM_PROVIDER', provider] as const
  if (provider === 'offline') return { provider, settings: [choice], notes: [] }
  if (provider === 'claude-code') {
    const { program, problems, notes } = claudeCodeConfig(loaded, environment)
    if (program === null) throw unchangedError(problems.join('; '))
    // The daemon may be started with another PATH.
    const path = ['CLAUDE_CODE_PATH', program] as const
    return { provider, settings: loaded.values.CLAUDE_CODE_PATH === '' ? [path, choice] : [choice], notes }
  }
  const { keySetting: setting } = API_PROVIDERS[provider]
  const config = providerConfig(provider, loaded, environment, { named: true })
  const isKeyMissing = config.problems.length > 0 && 'key' in config && config.key === null
  const given = (key.always || isKeyMissing) && key.ask !== null ? await key.ask(setting) : null
  if (given === null) {
    if (config.problems.length === 0) return { provider, settings: [choice], notes: config.notes }
    const hint = isKeyMissing ? `, or pipe it in: claude-mem install --provider ${provider} --key-stdin` : ''
    throw unchangedError(`${provider}: ${config.problems.join('; ')}${hint}`)
  }
  const parsed = parseSetting(setting, given)
  if (!parsed.ok) throw new UsageError(parsed.message)
  const withKey = { ...loaded, values: { ...loaded.values, [setting]: given } }
  const { problems, notes } = providerConfig(provider, withKey, environment, { named: true })
  if (problems.length > 0) throw unchangedError(`${provider}: ${problems.join('; ')}`)
  return { provider, settings: [[setting, given], choice], notes }
}

function unchangedError(problem: string): MemError {
  return new MemError('bad_setting', `${problem}. Nothing was changed.`)
}

function claudeCodeConfig(loaded: LoadedSettings, environment: ProviderEnvironment) {
  const config = providerConfig('claude-code', loaded, environment, { named: true })
  return { ...config, program: 'program' in config ? config.program : null }
}

/** Wrong answers before the question is given up. */
const MAX_ATTEMPTS = 3

/** Null: the observer stays as it is. */
export async function promptForObserver(
  loaded: LoadedSettings,
  environment: ProviderEnvironment,
  streams: PromptStreams,
): Promise<ObserverName | null> {
  const current = chooseProvider(loaded, environment).provider
  const print = (line: string) => streams.output.write(`${line}\n`)
  const width = Math.max(...OBSERVER_NAMES.map((name) => name.length))
  print('Which observer should watch your sessions and write down what was learned?')
  OBSERVER_NAMES.forEach((name, index) => {
    print(`  ${index + 1}  ${name.padEnd(width)}  ${observerCostText(name, loaded, environment)}`)
  })
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const answer = await askLine(`1 to ${OBSERVER_NAMES.length}, or Enter for ${current}: `, streams)
    if (answer === '') return null
    const found = OBSERVER_NAMES.find((name, index) => name === answer.toLowerCase() || String(index + 1) === answer)
    if (found !== undefined) return found
    print(`"${terminalSafe(answer)}" is not one of them`)
  }
  return null
}

/** Tokens of a session in docs/benchmarks.md (`tokens`), with cache reads and writes weighted by their price. */
const BENCH_SESSION = { toolUses: 300, inputTokens: 214_000, outputTokens: 15_200 }

export function observerCostText(
  observer: ObserverName,
  loaded: LoadedSettings,
  environment: ProviderEnvironment,
): string {
  if (observer === 'offline') return 'rules, no model: costs nothing, sends nothing anywhere'
  if (observer === 'claude-code') {
    const { program } = claudeCodeConfig(loaded, environment)
    const which = program === null ? 'no claude was found' : terminalSafe(program)
    return `your Claude subscription (${which}): counts against its limits`
  }
  const { model } = providerConfig(observer, loaded, environment, { named: true })
  const price = modelPrice(model, loaded.values.CLAUDE_MEM_PRICES)
  const { toolUses, inputTokens, outputTokens } = BENCH_SESSION
  const usd = price === null ? null : (inputTokens * price.input + outputTokens * price.output) / 1_000_000
  const cost = usd === null ? 'the price is unknown' : `about $${usd.toFixed(2)} for ${toolUses} tool uses`
  const limit = `at most $${loaded.values.CLAUDE_MEM_DAILY_BUDGET_USD} a day`
  return `${terminalSafe(model) || 'a model'} with your API key: ${cost}, ${limit}`
}
